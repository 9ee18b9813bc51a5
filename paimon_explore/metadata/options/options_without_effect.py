"""Table options of Java Paimon 2.0 that have no effect in this library, with the reason.

The values are parsed and validated, and kept in the schema of the table for other engines.

Spec: maintenance/configurations.
"""

from collections.abc import Mapping
from enum import Enum

from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_definition import (
    Option,
    duration,
    flag,
    integer,
    number,
    one_of,
    size,
    text,
    unset_flag,
    with_fallback_keys,
)
from paimon_explore.metadata.options.table_options import GIB, HOUR_MS, KIB, MAX_INT64, MIB

_MIN_INT32 = -(2**31)
_SEARCH_MODES = ("fast", "full", "detail")


class NoEffect(Enum):
    """Why an option has no effect here."""

    MEMORY = "sizes buffers, caches or spilled files of Java; the rows are the same"
    PARALLELISM = "divides the work of Java, Flink or Spark; the rows are the same"
    ENGINE = "concerns only jobs of Flink or Spark, or objects that only they use"
    FORMAT_TABLE = (
        "concerns only how engines work with tables of type format-table; the rows are the same"
    )
    INDEX = "concerns indexes that speed up searches; this library finds the same rows without them"
    OPTIONAL = (
        "asks for optional work, which this library does not do; all rows and files are valid"
    )
    ALWAYS = "this library always behaves in the stricter of the ways that the option selects"
    INTERNAL = "is set by Java itself, not by users"
    ICEBERG_CATALOG = (
        "concerns the registration in an Iceberg catalog, which this library leaves out"
    )


WITHOUT_EFFECT: Mapping[NoEffect, tuple[Option[object], ...]] = {
    NoEffect.MEMORY: (
        size("page-size", "Size of a page of buffers.", default=64 * KIB),
        size("cache-page-size", "Size of a page of caches.", default=64 * KIB),
        one_of(
            "sort-engine",
            "Algorithm for merging sorted runs.",
            ("loser-tree", "min-heap"),
            default="loser-tree",
        ),
        integer("sort-spill-threshold", "Sorted runs at which rows are spilled."),
        size("sort-spill-buffer-size", "Memory of a sort before it spills.", default=64 * MIB),
        flag("write-buffer-spillable", "Write buffers may spill to disk.", default=True),
        size(
            "write-buffer-spill.max-disk-size",
            "Maximum size of spilled write buffers.",
            default=MAX_INT64,
        ),
        flag("write-buffer-for-append", "Buffer rows of append tables."),
        integer(
            "write-max-writers-to-spill", "Open writers at which rows are spilled.", default=10
        ),
        with_fallback_keys(
            integer("write.batch-size", "Rows per batch of a file writer.", default=1024),
            "orc.write.batch-size",
        ),
        size("write.batch-memory", "Memory per batch of a file writer.", default=128 * MIB),
        integer("read.batch-size", "Rows per batch of a file reader.", default=1024),
        text("spill-compression", "Compression of spilled files.", default="zstd"),
        integer("spill-compression.zstd-level", "Level of zstd of spilled files.", default=1),
        integer(
            "local-sort.max-num-file-handles",
            "Open files of a merge of spilled files.",
            default=128,
        ),
        size("local-kv-db.block-size", "Block size of the local key-value store.", default=4 * KIB),
        size("local-merge-buffer-size", "Buffer that merges rows before a shuffle."),
        size("blob.copy-buffer-size", "Buffer for copying blobs.", default=4 * KIB),
        integer(
            "compaction.file-num-limit", "Files that one planned compaction holds.", default=100_000
        ),
        duration(
            "lookup.cache-file-retention", "Lifetime of cached lookup files.", default=HOUR_MS
        ),
        size("lookup.cache-max-disk-size", "Disk space of the lookup cache.", default=MAX_INT64),
        size("lookup.cache-max-memory-size", "Memory of the lookup cache.", default=256 * MIB),
        integer("lookup.cache-rows", "Rows of the lookup cache.", default=10_000),
        text("lookup.cache-spill-compression", "Compression of the lookup cache.", default="zstd"),
        flag(
            "lookup.cache.bloom.filter.enabled", "Bloom filter of the lookup cache.", default=True
        ),
        number("lookup.cache.bloom.filter.fpp", "False positives of that filter.", default=0.05),
        number(
            "lookup.cache.high-priority-pool-ratio", "Share of the cache for indexes.", default=0.25
        ),
        number("lookup.hash-load-factor", "Load factor of lookup files.", default=0.75),
        size("lookup.merge-buffer-size", "Buffer for merging one key.", default=8 * MIB),
        integer(
            "lookup.merge-records-threshold", "Records of a key that are buffered.", default=1024
        ),
        flag("lookup.remote-file.enabled", "Store lookup files beside data files."),
        integer("partition.expiration-batch-size", "Partitions that expire in one commit."),
        integer(
            "lookup.remote-file.level-threshold",
            "Lowest level with stored lookup files.",
            default=_MIN_INT32,
        ),
    ),
    NoEffect.PARALLELISM: (
        flag("async-file-write", "Write files in background threads.", default=True),
        with_fallback_keys(
            integer("file-operation.thread-num", "Threads for file operations."),
            "delete-file.thread-num",
        ),
        size("file-reader-async-threshold", "Size of files read ahead.", default=10 * MIB),
        integer("scan.manifest.parallelism", "Threads for reading manifests."),
        integer("scan.max-splits-per-task", "Splits that a source keeps per task.", default=10),
        integer("dynamic-bucket.assigner-parallelism", "Tasks that assign buckets."),
        opt.DYNAMIC_BUCKET_INITIAL_BUCKETS,
        integer(
            "cross-partition-upsert.bootstrap-parallelism", "Threads for loading keys.", default=10
        ),
        integer(
            "postpone.batch-write-fixed-bucket.max-parallelism",
            "Tasks of a batch write to a postpone table.",
            default=2048,
        ),
        integer("global-index.build.max-parallelism", "Tasks that build an index.", default=4096),
        integer("global-index.thread-num", "Threads for reading indexes.", default=32),
        one_of(
            "partition.sink-strategy",
            "Distribution of partitions among writing tasks.",
            ("none", "hash", "partition_dynamic"),
            default="none",
        ),
        integer(
            "sort-compaction.local-sample.magnification",
            "Sample size of a sort compaction.",
            default=1000,
        ),
        one_of(
            "sort-compaction.range-strategy",
            "How a sort compaction divides the rows among tasks.",
            ("size", "quantity"),
            default="size",
        ),
        flag("chain-table.split.key-range-enabled", "Split buckets by key range.", default=True),
        unset_flag("blob.split-by-file-size", "Count blob files in the size of splits."),
        flag(
            "data-evolution.merge-into.file-pruning",
            "Find the touched files before a MERGE INTO.",
            default=True,
        ),
        flag("data-evolution.merge-into.source-persist", "Keep the source rows of a MERGE INTO."),
        flag("vector-search.distribute.enabled", "Search vectors in several tasks."),
        integer(
            "vector-search.lateral-join.batch-size", "Vectors per search of a join.", default=256
        ),
    ),
    NoEffect.ENGINE: (
        flag("auto-create", "Create the table's storage on first use."),
        flag("blob-write-null-on-fetch-failure", "Write null for blobs that cannot be fetched."),
        flag("blob-write-null-on-missing-file", "Write null for blobs without file."),
        one_of(
            "consumer.mode",
            "Whether progress is stored with checkpoints.",
            ("exactly-once", "at-least-once"),
            default="exactly-once",
        ),
        flag("lookup.blob-as-descriptor", "Lookup joins keep descriptors of blobs."),
        duration("lookup.continuous.discovery-interval", "Poll interval of lookup joins."),
        flag("partition.end-input-to-done", "Mark partitions done at the end of a job."),
        text("partition.mark-done-action", "What marking done does.", default="success-file"),
        text("partition.mark-done-action.custom.class", "Class of a custom action."),
        text("partition.mark-done-action.http.url", "Address of an HTTP action."),
        text("partition.mark-done-action.http.params", "Body of an HTTP action."),
        duration(
            "partition.idle-time-to-report-statistic",
            "Idle time after which a job reports statistics of a partition.",
            default=0,
        ),
        flag(
            "postpone.batch-write-fixed-bucket",
            "Batch jobs write to real buckets; this library writes to the postpone bucket.",
            default=True,
        ),
        size(
            "postpone.target-size-per-bucket",
            "Size of a real bucket that a batch job creates.",
            default=GIB,
        ),
        flag("delete.force-produce-changelog", "DELETE of Flink writes a changelog."),
        opt.BLOB_FIELD,
        opt.VECTOR_FIELD,
        duration(
            "snapshot.watermark-idle-timeout", "Idle time after which a stream creates a snapshot."
        ),
        flag("visibility-callback.enabled", "Jobs wait until new rows are visible."),
        duration(
            "visibility-callback.check-interval",
            "Interval of the checks of such a wait.",
            default=10 * opt.SECOND_MS,
        ),
        duration(
            "visibility-callback.timeout", "Maximum time of such a wait.", default=HOUR_MS // 2
        ),
        text("materialized-table.definition-query", "Query of the table."),
        text("materialized-table.interval-freshness", "Maximum age of the rows."),
        one_of(
            "materialized-table.interval-freshness.time-unit",
            "Unit of that age.",
            ("second", "minute", "hour", "day"),
        ),
        one_of(
            "materialized-table.logical-refresh-mode",
            "Refresh mode that the user asks for.",
            ("continuous", "full", "automatic"),
        ),
        one_of(
            "materialized-table.refresh-mode",
            "Refresh mode in effect.",
            ("continuous", "full", "automatic"),
        ),
        one_of(
            "materialized-table.refresh-status",
            "State of the refresh.",
            ("initializing", "activated", "suspended"),
        ),
        text("materialized-table.refresh-handler-bytes", "Job of the refresh."),
        text("materialized-table.refresh-handler-description", "Description of that job."),
    ),
    NoEffect.FORMAT_TABLE: (
        text("format-table.commit-hive-sync-url", "Hive metastore to notify."),
        one_of(
            "format-table.implementation",
            "Who reads the files.",
            ("paimon", "engine"),
            default="paimon",
        ),
        integer("format-table.scan.list-parallelism", "Threads for listings.", default=64),
    ),
    NoEffect.INDEX: (
        text("global-index.external-path", "Folder of new global indexes."),
        one_of("global-index.search-mode", "Search of unindexed rows.", _SEARCH_MODES),
        one_of("scalar-index.search-mode", "The same for values.", _SEARCH_MODES, default="fast"),
        integer("global-index.build.max-shard", "Index files of a build.", default=32),
    ),
    NoEffect.OPTIONAL: (
        with_fallback_keys(
            flag(
                "snapshot.clean-empty-directories",
                "Remove folders that an expiration leaves empty.",
            ),
            "snapshot.expire.clean-empty-directories",
        ),
        flag("blob-compaction.enabled", "Compact blob files, too."),
        duration(
            "clustering.history-partition.idle-to-full-sort",
            "Idle time after which a partition is sorted fully.",
        ),
        integer("clustering.history-partition.limit", "Such partitions per compaction.", default=5),
        flag("clustering.incremental.optimize-write", "Sort rows before writing."),
        integer("compaction.offpeak-ratio", "Size ratio in off-peak hours, percent.", default=0),
        integer("compaction.offpeak.start.hour", "First off-peak hour.", default=-1),
        integer("compaction.offpeak.end.hour", "End of the off-peak hours.", default=-1),
        flag("compaction.skip-expired-partitions", "Do not compact partitions that will expire."),
        flag("data-evolution.compaction.rewrite-row-ids", "Compaction may assign new row ids."),
        integer(
            "data-evolution.reassign.skip-contiguous-row-count",
            "Rows of a run that keeps its ids when ids are assigned anew.",
            default=1_000_000_000,
        ),
        size(
            "data-evolution.row-id-conflict-rewrite.max-size",
            "Size of files that an update in conflict may rewrite.",
            default=256 * MIB,
        ),
        integer(
            "data-evolution.row-sidecar.max-selected-rows",
            "Rows up to which row files are read.",
            default=4096,
        ),
        number(
            "data-evolution.row-sidecar.max-selection-ratio",
            "Share of rows up to which row files are read.",
            default=0.05,
        ),
        flag("manifest-sort.enabled", "Sort manifest entries by partition."),
        size("manifest-sort.max-rewrite-size", "Manifests per sort.", default=256 * MIB),
        text("manifest-sort.partition-field", "Partition column to sort by."),
        text("parquet.enable.dictionary", "Dictionary encoding in Parquet files."),
        duration(
            "scan.plan-auto-tag-for-read.time-retained",
            "Lifetime of a tag that protects the snapshot of a scan.",
        ),
        one_of(
            "variant.shredding.inferenceMode",
            "Whether a shredding schema is reused for the next file.",
            ("per-file", "adaptive"),
            default="per-file",
        ),
        integer("variant.shredding.maxInferBufferRow", "Rows sampled per file.", default=4096),
        integer(
            "variant.shredding.adaptive.maxInferBufferRow",
            "Rows sampled of later files.",
            default=256,
        ),
        number(
            "variant.shredding.adaptive.retentionRatio",
            "Share of rows for which a path is kept.",
            default=0.05,
        ),
        integer("variant.shredding.maxSchemaDepth", "Depth of the sampled paths.", default=50),
        integer("variant.shredding.maxSchemaWidth", "Maximum number of paths.", default=300),
        number(
            "variant.shredding.minFieldCardinalityRatio",
            "Share of rows from which a path is shredded.",
            default=0.1,
        ),
        integer("zorder.var-length-contribution", "Bytes of texts in a z-order.", default=8),
    ),
    NoEffect.ALWAYS: (
        flag("commit.force-compact", "Commits wait for compactions; they always do."),
        one_of(
            "clustering.incremental.mode",
            "Whether files are sorted together or each by itself; here always together.",
            ("global-sort", "local-sort"),
            default="global-sort",
        ),
        flag(
            "scan.fallback-branch.read-fail-fast",
            "Errors of a fallback branch end the read; they always do.",
        ),
        one_of(
            "snapshot.expire.execution-mode",
            "Expire during or after a commit; here always during it.",
            ("sync", "async"),
            default="sync",
        ),
        one_of(
            "write.sequence-number-init-mode",
            "Where writers read the last sequence number; here always from the files.",
            ("scan", "snapshot"),
            default="scan",
        ),
        opt.BUCKET_APPEND_ORDERED,
        opt.NUM_SORTED_RUN_STOP_TRIGGER,
    ),
    NoEffect.INTERNAL: (
        one_of(
            "batch-scan-mode",
            "Scan mode of batch compaction jobs.",
            ("none", "compact"),
            default="none",
        ),
        one_of(
            "stream-scan-mode",
            "Scan mode of streaming compaction jobs.",
            ("none", "compact-bucket-table", "file-monitor"),
            default="none",
        ),
        flag(
            "key-value.sequence_number.enabled",
            "Sequence numbers in the audit log; see table-read.sequence-number.enabled.",
        ),
    ),
    NoEffect.ICEBERG_CATALOG: (
        text("metadata.iceberg.uri", "URI of the Hive metastore."),
        text("metadata.iceberg.hive-conf-dir", "Configuration folder of Hive."),
        text("metadata.iceberg.hadoop-conf-dir", "Configuration folder of Hadoop."),
        text(
            "metadata.iceberg.hive-client-class",
            "Class of the client of the Hive metastore.",
            default="org.apache.hadoop.hive.metastore.HiveMetaStoreClient",
        ),
        text("metadata.iceberg.database", "Databases in the catalog."),
        text("metadata.iceberg.table", "Name of the table in the catalog."),
        flag("metadata.iceberg.glue.skip-archive", "Keep no old versions in Glue."),
        flag(
            "metadata.iceberg.hive-skip-update-stats", "Keep the statistics in the Hive metastore."
        ),
    ),
}
"""The options without effect by reason."""
