package oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.paimon.options.Options;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableCommitImpl;

/** Builds btree and bitmap indexes of row ids with Paimon's own builder, as its engines do. */
final class GlobalIndexes {
    private static final String BUILDER =
            "org.apache.paimon.globalindex.sorted.SortedGlobalIndexBuilder";

    private GlobalIndexes() {}

    /** Builds an index over the rows that have none, and commits it. */
    @SuppressWarnings("unchecked")
    static JsonNode create(JsonNode request) throws Exception {
        if (!Reflect.has(BUILDER)) {
            return Oracle.next("createGlobalIndex", request);
        }
        FileStoreTable table = Tables.dataWithOptions(request);
        Map<String, String> options = new HashMap<>(table.options());
        String type = request.get("index_type").asText();
        Object builder = Reflect.create(BUILDER, table, type, new Options(options));
        Reflect.call(builder, "withIndexField", request.get("column").asText());
        Optional<?> found = (Optional<?>) Reflect.call(builder, "incrementalScan");
        List<CommitMessage> messages = new ArrayList<>();
        if (found.isPresent()) {
            List<?> splits = (List<?>) Reflect.callStatic(
                    BUILDER, "splitByContiguousRowRange", Reflect.call(found.get(), "getRight"));
            for (Object split : splits) {
                Object built = Reflect.call(builder, "build", split, Reads.ioManager());
                messages.addAll((List<CommitMessage>) built);
            }
        }
        try (TableCommitImpl commit = table.newCommit(request.get("commit_user").asText())) {
            commit.commit(Long.MAX_VALUE, messages);
        }
        ObjectNode reply = Wire.JSON.createObjectNode();
        return reply.put("message_count", messages.size());
    }
}
