package oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;

/** Deletes by row id in tables with data evolution, as Flink's action commits them; from 2.0. */
final class RowDeletes {
    private static final String VECTORS = "org.apache.paimon.deletionvectors.";
    private static final String INCREMENT = "org.apache.paimon.io.CompactIncrement";

    private RowDeletes() {}

    static JsonNode delete(JsonNode request) throws Exception {
        FileStoreTable table = Tables.dataWithOptions(request);
        Object snapshot = table.snapshotManager().latestSnapshot();
        Object handler = table.store().newIndexFileHandler();
        Map<BinaryRow, Object> maintainers = new LinkedHashMap<>();
        for (Split split : table.newReadBuilder().newScan().plan().splits()) {
            Object data = Reflect.has(split, "dataSplit", 0) ? Reflect.call(split, "dataSplit") : split;
            BinaryRow partition = ((DataSplit) data).partition();
            if (!maintainers.containsKey(partition)) {
                maintainers.put(
                        partition,
                        Reflect.callStatic(
                                VECTORS + "append.BaseAppendDeleteFileMaintainer",
                                "forUnawareAppend",
                                handler,
                                snapshot,
                                partition));
            }
            mark(maintainers.get(partition), (DataSplit) data, request.get("row_ids"));
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (Map.Entry<BinaryRow, Object> entry : maintainers.entrySet()) {
            messages.add(message(entry.getKey(), (List<?>) Reflect.call(entry.getValue(), "persist")));
        }
        Writes.commit(table, request, messages);
        return Writes.snapshotReply(table);
    }

    /** Marks the rows of a split in the vector of the anchor file of their range. */
    private static void mark(Object maintainer, DataSplit split, JsonNode rowIds) throws Exception {
        Map<Long, List<DataFileMeta>> ranges = new TreeMap<>();
        for (DataFileMeta file : split.dataFiles()) {
            if (!file.fileName().endsWith(".blob")) {
                Long first = (Long) Reflect.call(file, "nonNullFirstRowId");
                ranges.computeIfAbsent(first, key -> new ArrayList<>()).add(file);
            }
        }
        for (Map.Entry<Long, List<DataFileMeta>> range : ranges.entrySet()) {
            Function<DataFileMeta, DataFileMeta> same = file -> file;
            DataFileMeta anchor =
                    (DataFileMeta)
                            Reflect.callStatic(
                                    "org.apache.paimon.utils.DataEvolutionUtils",
                                    "retrieveAnchorFile",
                                    range.getValue(),
                                    same);
            Object vector = Reflect.create(VECTORS + "BitmapDeletionVector");
            for (JsonNode rowId : rowIds) {
                long position = rowId.asLong() - range.getKey();
                if (0 <= position && position < anchor.rowCount()) {
                    Reflect.call(vector, "delete", position);
                }
            }
            if (!(Boolean) Reflect.call(vector, "isEmpty")) {
                Reflect.call(maintainer, "notifyNewDeletionVector", anchor.fileName(), vector);
            }
        }
    }

    private static CommitMessage message(BinaryRow partition, List<?> entries) throws Exception {
        List<Object> added = new ArrayList<>();
        List<Object> deleted = new ArrayList<>();
        for (Object entry : entries) {
            boolean isAdded = "ADD".equals(Reflect.call(entry, "kind").toString());
            (isAdded ? added : deleted).add(Reflect.call(entry, "indexFile"));
        }
        List<Object> none = Collections.emptyList();
        Object increment =
                Reflect.create(
                        "org.apache.paimon.io.DataIncrement", none, none, none, added, deleted);
        return (CommitMessage)
                Reflect.create(
                        "org.apache.paimon.table.sink.CommitMessageImpl",
                        partition,
                        0,
                        null,
                        increment,
                        Reflect.callStatic(INCREMENT, "emptyIncrement"));
    }
}
