package oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.Snapshot;
import org.apache.paimon.append.dataevolution.DataEvolutionCompactTask;
import org.apache.paimon.append.dataevolution.DataEvolutionCompactionCommitPreparation;
import org.apache.paimon.append.dataevolution.DataEvolutionDeletionVectorMaterializeCoordinator;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.globalindex.GlobalIndexBuilderUtils;
import org.apache.paimon.globalindex.GlobalIndexKeyExtractor;
import org.apache.paimon.globalindex.GlobalIndexSingleColumnWriter;
import org.apache.paimon.globalindex.IndexedSplit;
import org.apache.paimon.globalindex.KeySerializer;
import org.apache.paimon.globalindex.ScanResult;
import org.apache.paimon.globalindex.generic.GenericGlobalIndexScanner;
import org.apache.paimon.globalindex.sorted.SortedGlobalIndexScanner;
import org.apache.paimon.globalindex.sorted.SortedGlobalIndexWriter;
import org.apache.paimon.index.DataEvolutionIndexSourceMeta;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.PostponeUtils;
import org.apache.paimon.table.SpecialFields;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.sink.RowPartitionKeyExtractor;
import org.apache.paimon.table.sink.TableCommitImpl;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.CloseableIterator;
import org.apache.paimon.utils.InternalRowUtils;
import org.apache.paimon.utils.Pair;
import org.apache.paimon.utils.Range;

/** What engines do with classes that only the next version has, compiled with that version alone. */
final class Next {
    private static final List<String> SORTED = List.of("btree", "bitmap", "multivalue");

    private Next() {}

    // ------------------------------------------------------------------ columns of known rows

    /** Writes some columns of rows that exist, from a row id on: an update of data evolution. */
    public static JsonNode writeColumns(JsonNode request) throws Exception {
        FileStoreTable table = Tables.dataWithOptions(request);
        RowType type = table.rowType().project(Tables.list(request.get("columns")));
        long first = request.get("first_row_id").asLong();
        String user = request.get("commit_user").asText();
        try (TableWriteImpl<?> write = table.newWrite(user)) {
            write.withIOManager(Reads.ioManager());
            write.withWriteType(type);
            RowFile.forEach(
                    request.get("rows").asText(), type, (row, line) -> write.write(row));
            List<CommitMessage> messages = write.prepareCommit(true, Long.MAX_VALUE);
            for (CommitMessage message : messages) {
                assign(((CommitMessageImpl) message).newFilesIncrement().newFiles(), first);
            }
            Writes.commit(table, request, messages);
        }
        return Writes.snapshotReply(table);
    }

    /** Gives row ids to new files, those of each group of columns one after the other. */
    private static void assign(List<DataFileMeta> files, long first) {
        Map<String, Long> next = new HashMap<>();
        for (int i = 0; i < files.size(); i++) {
            DataFileMeta file = files.get(i);
            String columns = String.valueOf(file.writeCols());
            long rowId = next.getOrDefault(columns, first);
            files.set(i, file.assignFirstRowId(rowId));
            next.put(columns, rowId + file.rowCount());
        }
    }

    /** Writes again the rows that deletion vectors leave, with new row ids. */
    public static JsonNode materializeDeletions(JsonNode request) throws Exception {
        FileStoreTable table = Tables.dataWithOptions(request);
        Snapshot snapshot = table.snapshotManager().latestSnapshot();
        DataEvolutionDeletionVectorMaterializeCoordinator coordinator =
                new DataEvolutionDeletionVectorMaterializeCoordinator(table, null, snapshot);
        String user = request.get("commit_user").asText();
        List<CommitMessage> messages = new ArrayList<>();
        try {
            for (List<DataEvolutionCompactTask> round = null;
                    round == null || !round.isEmpty(); ) {
                round = coordinator.plan();
                for (DataEvolutionCompactTask task : round) {
                    messages.add(task.doCompact(table, user));
                }
            }
        } catch (EndOfScanException e) {
            // all files are planned
        }
        messages.addAll(
                new DataEvolutionCompactionCommitPreparation(table, snapshot).prepare(messages));
        Writes.commit(table, request, messages);
        return Writes.snapshotReply(table);
    }

    /** Writes rows to buckets of a table with postponed buckets, as batch jobs do. */
    public static JsonNode writePostponed(JsonNode request) throws Exception {
        FileStoreTable table = Tables.dataWithOptions(request);
        String user = request.get("commit_user").asText();
        String rows = request.get("rows").asText();
        RowPartitionKeyExtractor keys = new RowPartitionKeyExtractor(table.schema());
        Map<BinaryRow, Long> counts = new HashMap<>();
        RowFile.forEach(
                rows,
                table.rowType(),
                (row, line) -> counts.merge(keys.partition(row).copy(), 1L, Long::sum));
        Map<BinaryRow, Integer> numbers = PostponeUtils.getKnownNumBuckets(table);
        counts.forEach(
                (partition, count) ->
                        numbers.put(
                                partition,
                                PostponeUtils.decideFixedBucketNum(
                                                count,
                                                0,
                                                numbers.get(partition),
                                                table.coreOptions())
                                        .targetBucketNum()));
        PostponeUtils.PostponeBucketRouter router =
                PostponeUtils.createPostponeBucketRouter(table, numbers);
        try (TableWriteImpl<?> write = table.newPostponeFixedBucketWrite(user, null)) {
            write.withIOManager(Reads.ioManager());
            RowFile.forEach(
                    rows,
                    table.rowType(),
                    (row, line) -> {
                        BinaryRow partition = keys.partition(row);
                        int bucket = router.bucket(partition, keys.trimmedPrimaryKey(row));
                        write.writeAndReturn(row, bucket, router.numBuckets(partition));
                    });
            Writes.commit(table, request, write.prepareCommit(true, Long.MAX_VALUE));
        }
        return Writes.snapshotReply(table);
    }

    // ------------------------------------------------------------------ indexes of row ids

    /** Builds an index over the rows that have none, and again where rows were updated. */
    public static JsonNode createGlobalIndex(JsonNode request) throws Exception {
        FileStoreTable table = Tables.dataWithOptions(request);
        String type = request.get("index_type").asText();
        String column = request.get("column").asText();
        List<CommitMessage> messages =
                SORTED.contains(type)
                        ? sorted(table, type, column)
                        : generic(table, type, column);
        try (TableCommitImpl commit = table.newCommit(request.get("commit_user").asText())) {
            commit.commit(Long.MAX_VALUE, messages);
        }
        return Wire.JSON.createObjectNode().put("message_count", messages.size());
    }

    private static List<CommitMessage> sorted(FileStoreTable table, String type, String column)
            throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        Optional<ScanResult<DataSplit>> found =
                new SortedGlobalIndexScanner(table, type).withIndexField(column).incrementalScan();
        if (!found.isPresent()) {
            return messages;
        }
        deleted(found.get().deletedIndexEntries(), messages);
        SortedGlobalIndexWriter writer =
                new SortedGlobalIndexWriter(table, type).withIndexField(column);
        for (DataSplit split : found.get().entries()) {
            for (Map.Entry<Range, List<DataSplit>> part :
                    byRange(split, found.get()).entrySet()) {
                Range range = part.getKey();
                List<Pair<Object, Long>> keys = keys(table, writer.keyExtractor(), column, part);
                List<InternalRow> rows = new ArrayList<>();
                keys.forEach(key -> rows.add(GenericRow.of(key.getKey(), key.getValue())));
                messages.addAll(
                        writer.buildForSinglePartition(
                                range,
                                split.partition(),
                                rows.iterator(),
                                found.get().scanSnapshotId()));
            }
        }
        return messages;
    }

    /** The ranges of row ids of a split that are to be indexed. */
    private static Map<Range, List<DataSplit>> byRange(DataSplit split, ScanResult<?> found) {
        Map<Range, List<DataSplit>> ranges = new HashMap<>();
        Range rows = GlobalIndexBuilderUtils.calcRowRange(split);
        for (Range range :
                Range.and(Collections.singletonList(rows), found.rowRangeIndex().ranges())) {
            ranges.put(range, Collections.singletonList(split));
        }
        return ranges;
    }

    private static List<Pair<Object, Long>> keys(
            FileStoreTable table,
            GlobalIndexKeyExtractor extractor,
            String column,
            Map.Entry<Range, List<DataSplit>> part)
            throws Exception {
        InternalRow.FieldGetter getter =
                InternalRow.createFieldGetter(table.rowType().getField(column).type(), 0);
        List<Pair<Object, Long>> keys = new ArrayList<>();
        try (CloseableIterator<InternalRow> rows = rows(table, column, part.getValue().get(0))) {
            while (rows.hasNext()) {
                InternalRow row = rows.next();
                long rowId = row.getLong(1);
                if (part.getKey().from <= rowId && rowId <= part.getKey().to) {
                    extractor.extract(
                            getter.getFieldOrNull(row),
                            key ->
                                    keys.add(
                                            Pair.of(
                                                    InternalRowUtils.copy(key, extractor.keyType()),
                                                    rowId)));
                }
            }
        }
        Comparator<Object> order =
                Comparator.nullsFirst(KeySerializer.create(extractor.keyType()).createComparator());
        keys.sort(
                Comparator.comparing((Pair<Object, Long> pair) -> pair.getKey(), order)
                        .thenComparing(Pair::getValue));
        return keys;
    }

    private static CloseableIterator<InternalRow> rows(
            FileStoreTable table, String column, Split split) throws Exception {
        RowType type =
                SpecialFields.rowTypeWithRowId(table.rowType())
                        .project(Arrays.asList(column, SpecialFields.ROW_ID.name()));
        RecordReader<InternalRow> reader =
                table.newReadBuilder().withReadType(type).newRead().createReader(split);
        return reader.toCloseableIterator();
    }

    private static List<CommitMessage> generic(FileStoreTable table, String type, String column)
            throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        Options options = new Options(table.options());
        Optional<ScanResult<ManifestEntry>> found =
                new GenericGlobalIndexScanner(table)
                        .withIndex(type, Collections.singletonList(column), options)
                        .incrementalScan();
        if (!found.isPresent()) {
            return messages;
        }
        deleted(found.get().deletedIndexEntries(), messages);
        byte[] source = new DataEvolutionIndexSourceMeta(found.get().scanSnapshotId()).serialize();
        DataField field = table.rowType().getField(column);
        long shard = options.get(CoreOptions.GLOBAL_INDEX_ROW_COUNT_PER_SHARD);
        for (IndexedSplit split :
                GlobalIndexBuilderUtils.createShardIndexedSplits(
                        table,
                        found.get().entries(),
                        shard,
                        found.get().rowRangeIndex().ranges())) {
            Range range = split.rowRanges().get(0);
            GlobalIndexSingleColumnWriter writer =
                    (GlobalIndexSingleColumnWriter)
                            GlobalIndexBuilderUtils.createIndexWriter(table, type, field, options);
            InternalRow.FieldGetter getter = InternalRow.createFieldGetter(field.type(), 0);
            try (CloseableIterator<InternalRow> rows = rows(table, column, split)) {
                while (rows.hasNext()) {
                    InternalRow row = rows.next();
                    writer.write(getter.getFieldOrNull(row), row.getLong(1) - range.from);
                }
            }
            List<IndexFileMeta> files =
                    GlobalIndexBuilderUtils.toIndexFileMetas(
                            table.fileIO(),
                            table.store().pathFactory().globalIndexFileFactory(),
                            table.coreOptions(),
                            range,
                            Collections.singletonList(field),
                            type,
                            writer.finish(range.count()),
                            source);
            messages.add(
                    message(split.dataSplit().partition(), 0, DataIncrement.indexIncrement(files)));
        }
        return messages;
    }

    private static void deleted(List<IndexManifestEntry> entries, List<CommitMessage> messages) {
        for (IndexManifestEntry entry : entries) {
            DataIncrement gone =
                    DataIncrement.deleteIndexIncrement(
                            Collections.singletonList(entry.indexFile()));
            messages.add(message(entry.partition(), entry.bucket(), gone));
        }
    }

    private static CommitMessage message(
            BinaryRow partition, int bucket, DataIncrement increment) {
        return new CommitMessageImpl(
                partition, bucket, null, increment, CompactIncrement.emptyIncrement());
    }
}
