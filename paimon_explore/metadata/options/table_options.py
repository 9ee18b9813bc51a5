"""The table options that this library honours, and `TableOptions`, the options of one table.

Parsed durations are in milliseconds and sizes in bytes. A default of None means that there is no
value, or that it depends on other options (see `effective_options`).

Spec: maintenance/configurations.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import iceberg_options, tag_options
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import (
    Option,
    choice,
    duration,
    flag,
    immutable,
    integer,
    names,
    number,
    one_of,
    per_level,
    size,
    text,
    unset_flag,
    with_fallback_keys,
)

T = TypeVar("T")

KIB = 1024
MIB = 1024 * KIB
SECOND_MS = 1000
HOUR_MS = 3600 * SECOND_MS
MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1

DYNAMIC_BUCKET = -1
"""Value of `bucket`: dynamic buckets; for append tables, no buckets."""

POSTPONE_BUCKET = -2
"""Value of `bucket`: postpone mode, where a compaction assigns the buckets."""


# Keys, buckets and the table itself

TYPE = immutable(choice("type", "Kind of the table.", default=of.TableKind.TABLE))
PATH = text("path", "Path of the table, if the catalog supports custom paths.")
BRANCH = text("branch", "Branch to read and write.", default="main")
PRIMARY_KEY = immutable(names("primary-key", "Primary key, for DDL without a PRIMARY KEY clause."))
PARTITION = immutable(names("partition", "Partition columns, for DDL without such a clause."))
PRIMARY_KEY_NULLABLE = immutable(flag("primary-key.nullable", "Allow null in primary key columns."))
BUCKET = integer("bucket", "Buckets; -1 dynamic or none, -2 postponed.", default=DYNAMIC_BUCKET)
BUCKET_KEY = immutable(names("bucket-key", "Columns that determine the bucket of a row."))
BUCKET_FUNCTION = immutable(
    choice(
        "bucket-function.type", "Hash function of bucket keys.", default=of.BucketFunction.DEFAULT
    )
)
BUCKET_APPEND_ORDERED = flag("bucket-append-ordered", "Buckets keep the row order.", default=True)
DYNAMIC_BUCKET_TARGET_ROW_NUM = integer(
    "dynamic-bucket.target-row-num", "Target number of rows per dynamic bucket.", default=2_000_000
)
DYNAMIC_BUCKET_INITIAL_BUCKETS = immutable(
    integer("dynamic-bucket.initial-buckets", "Initial buckets of a partition.")
)
DYNAMIC_BUCKET_MAX_BUCKETS = integer(
    "dynamic-bucket.max-buckets", "Buckets that share all keys once full; -1 no limit.", default=-1
)
CROSS_PARTITION_UPSERT_INDEX_TTL = duration(
    "cross-partition-upsert.index-ttl", "Time to live of keys in the index."
)
POSTPONE_DEFAULT_BUCKET_NUM = integer(
    "postpone.default-bucket-num", "Buckets of a partition at its first compaction.", default=1
)
POSTPONE_MERGE_ON_READ = flag(
    "postpone.merge-on-read", "Batch reads merge the records of the postpone bucket."
)
POSTPONE_TARGET_ROW_NUM_PER_BUCKET = integer(
    "postpone.target-row-num-per-bucket", "Rows per bucket of such a partition."
)

# Merging

MERGE_ENGINE = immutable(
    choice("merge-engine", "Merge of rows with the same key.", default=of.MergeEngine.DEDUPLICATE)
)
SEQUENCE_FIELD = names("sequence.field", "Columns that order rows with the same key.")
SEQUENCE_FIELD_SORT_ORDER = choice(
    "sequence.field.sort-order", "Sort order of the sequence field.", default=of.SortOrder.ASCENDING
)
UPSERT_KEY = names(
    "upsert-key", "Key of an append table, by which INSERT INTO and upsert merge rows."
)
SEQUENCE_SNAPSHOT_ORDERING = immutable(flag("sequence.snapshot-ordering", "Later snapshots win."))
IGNORE_DELETE = with_fallback_keys(
    flag("ignore-delete", "Ignore -D rows."),
    "first-row.ignore-delete",
    "deduplicate.ignore-delete",
    "partial-update.ignore-delete",
)
IGNORE_UPDATE_BEFORE = flag("ignore-update-before", "Ignore -U rows.")
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = immutable(
    flag("partial-update.remove-record-on-delete", "A -D removes the row.")
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = immutable(
    names(
        "partial-update.remove-record-on-sequence-group",
        "Sequence fields of groups in which -D removes the row.",
    )
)
AGGREGATION_REMOVE_RECORD_ON_DELETE = immutable(
    flag("aggregation.remove-record-on-delete", "A -D removes the row.")
)
DEFAULT_AGGREGATE_FUNCTION = text(
    "fields.default-aggregate-function", "Default aggregate function of columns."
)
ROWKIND_FIELD = immutable(text("rowkind.field", "Column with the row kind."))

# Changelog

CHANGELOG_PRODUCER = choice(
    "changelog-producer", "How the changelog is produced.", default=of.ChangelogProducer.NONE
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = flag(
    "changelog-producer.row-deduplicate", "Omit -U/+U pairs of equal rows."
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = names(
    "changelog-producer.row-deduplicate-ignore-fields", "Columns ignored in this check."
)
CHANGELOG_FILE_FORMAT = text(
    "changelog-file.format", "Format of changelog files; default: of data files."
)
CHANGELOG_FILE_COMPRESSION = text("changelog-file.compression", "Compression of changelog files.")
CHANGELOG_FILE_STATS_MODE = text("changelog-file.stats-mode", "Statistics of changelog files.")
CHANGELOG_FILE_PREFIX = text(
    "changelog-file.prefix", "Prefix of changelog file names.", default="changelog-"
)

# Deletion vectors

DELETION_VECTORS_ENABLED = flag("deletion-vectors.enabled", "Use deletion vectors.")
DELETION_VECTORS_MODIFIABLE = flag(
    "deletion-vectors.modifiable", "Allow changing deletion-vectors.enabled."
)
DELETION_VECTORS_MERGE_ON_READ = flag(
    "deletion-vectors.merge-on-read", "Also merge level 0 on read."
)
DELETION_VECTORS_BITMAP64 = flag("deletion-vectors.bitmap64", "Use 64-bit bitmaps.")
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = size(
    "deletion-vector.index-file.target-size", "Target size of index files.", default=2 * MIB
)

# Data files

FILE_FORMAT = text("file.format", "Format of data files.", default="parquet")
FORMAT_TABLE_FILE_COMPRESSION = with_fallback_keys(
    text("format-table.file.compression", "Compression of files of a format table."),
    "file.compression",
)
FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = flag(
    "format-table.partition-path-only-value",
    "Folders of a format table are named after values only.",
)
FILE_FORMAT_PER_LEVEL = per_level("file.format.per.level", "File format per level.")
FILE_COMPRESSION = text("file.compression", "Compression of data files.", default="zstd")
FILE_COMPRESSION_PER_LEVEL = per_level("file.compression.per.level", "Compression per level.")
FILE_COMPRESSION_ZSTD_LEVEL = integer("file.compression.zstd-level", "Level of zstd.", default=1)
FILE_BLOCK_SIZE = size("file.block-size", "Size of a row group, stripe or block.")
FILE_SUFFIX_INCLUDE_COMPRESSION = flag(
    "file.suffix.include.compression", "Include the compression in file names."
)
TARGET_FILE_SIZE = size("target-file-size", "Target size of data files.")
TARGET_FILE_ROW_NUM = integer(
    "target-file-row-num", "Target number of rows of data files.", default=MAX_INT64
)
BLOB_TARGET_FILE_SIZE = size("blob.target-file-size", "Target size of blob files.")
BLOB_FIELD = immutable(names("blob-field", "Columns that Flink declares as BLOB."))
BLOB_DESCRIPTOR_FIELD = immutable(
    with_fallback_keys(
        names("blob-descriptor-field", "BLOB columns stored as descriptors in data files."),
        "blob.stored-descriptor-fields",
    )
)
BLOB_VIEW_FIELD = immutable(names("blob-view-field", "BLOB columns stored as references."))
BLOB_AS_DESCRIPTOR = flag(
    "blob-as-descriptor",
    "Read descriptors of BLOBs; copy the contents of written descriptors to blob files.",
)
BLOB_VIEW_RESOLVE_ENABLED = flag(
    "blob-view.resolve.enabled", "Resolve references; if true, they are not read.", default=True
)
VARIANT_SHREDDING_SCHEMA = with_fallback_keys(
    text("variant.shreddingSchema", "ROW type in JSON by which variants are shredded."),
    "parquet.variant.shreddingSchema",
)
VARIANT_INFER_SHREDDING_SCHEMA = flag(
    "variant.inferShreddingSchema", "The first rows of a file decide how variants are shredded."
)
VARIANT_MAX_SCHEMA_WIDTH = integer(
    "variant.shredding.maxSchemaWidth", "Maximum number of inferred columns.", default=300
)
VARIANT_MAX_SCHEMA_DEPTH = integer(
    "variant.shredding.maxSchemaDepth", "Maximum depth of inferred objects and arrays.", default=50
)
VARIANT_MIN_FIELD_CARDINALITY_RATIO = number(
    "variant.shredding.minFieldCardinalityRatio",
    "Minimum share of the values that have an inferred field.",
    default=0.1,
)
VARIANT_MAX_INFER_BUFFER_ROW = integer(
    "variant.shredding.maxInferBufferRow",
    "Number of rows that decide how variants are shredded.",
    default=4096,
)
VECTOR_FIELD = names("vector-field", "Columns that Flink declares as VECTOR.")
DATA_FILE_PREFIX = text("data-file.prefix", "Prefix of data file names.", default="data-")
DATA_FILE_PATH_DIRECTORY = immutable(
    text("data-file.path-directory", "Folder inside the table for data files.")
)
DATA_FILE_THIN_MODE = flag("data-file.thin-mode", "Do not store key columns twice.")
DATA_FILE_EXTERNAL_PATHS = names("data-file.external-paths", "External paths for data files.")
DATA_FILE_EXTERNAL_PATHS_STRATEGY = choice(
    "data-file.external-paths.strategy",
    "Selection of a path.",
    default=of.ExternalPathStrategy.NONE,
)
DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = text(
    "data-file.external-paths.specific-fs", "File system of the specific-fs strategy."
)
DATA_FILE_EXTERNAL_PATHS_WEIGHTS = names("data-file.external-paths.weights", "Weights of paths.")

# Statistics and manifests

METADATA_STATS_MODE = text("metadata.stats-mode", "Mode of statistics.", default="truncate(16)")
METADATA_STATS_MODE_PER_LEVEL = per_level(
    "metadata.stats-mode.per.level", "Mode of column statistics per level."
)
METADATA_STATS_DENSE_STORE = flag(
    "metadata.stats-dense-store", "Omit columns without statistics.", default=True
)
METADATA_STATS_KEEP_FIRST_N_COLUMNS = integer(
    "metadata.stats-keep-first-n-columns", "Columns with statistics; -1 all.", default=-1
)
MANIFEST_FORMAT = text("manifest.format", "Format of manifests, up to 2.0.", default="avro")
MANIFEST_COMPRESSION = text("manifest.compression", "Compression of manifests.", default="zstd")
MANIFEST_TARGET_FILE_SIZE = size(
    "manifest.target-file-size", "Target size of manifests.", default=8 * MIB
)
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = size(
    "manifest.full-compaction-threshold-size", "Size that triggers a full merge.", default=16 * MIB
)
MANIFEST_MERGE_MIN_COUNT = integer("manifest.merge-min-count", "Manifests for a merge.", default=30)
MANIFEST_SORT_ENABLED = flag("manifest-sort.enabled", "Sort manifest entries by partition.")
MANIFEST_SORT_PARTITION_FIELD = text(
    "manifest-sort.partition-field", "Partition column to sort by."
)
MANIFEST_DELETE_FILE_DROP_STATS = flag(
    "manifest.delete-file-drop-stats", "Omit statistics in DELETE entries."
)

# Writing and committing

WRITE_ONLY = with_fallback_keys(
    flag("write-only", "Skip compaction and expiration in writes."), "write.compaction-skip"
)
WRITE_BUFFER_SIZE = size("write-buffer-size", "Memory of the write buffer.", default=256 * MIB)
COMMIT_MAX_RETRIES = integer("commit.max-retries", "Maximum retries of a commit.", default=10)
COMMIT_TIMEOUT = duration("commit.timeout", "Maximum duration of commit retries.")
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", "Wait before first retry.", default=10)
COMMIT_MAX_RETRY_WAIT = duration(
    "commit.max-retry-wait", "Maximum wait between retries.", default=10 * SECOND_MS
)
COMMIT_FORCE_CREATE_SNAPSHOT = flag(
    "commit.force-create-snapshot", "Create a snapshot in streams without data, too."
)
COMMIT_USER_PREFIX = text("commit.user-prefix", "Prefix of commit users.")
COMMIT_DISCARD_DUPLICATE_FILES = flag(
    "commit.discard-duplicate-files", "Do not add existing files again."
)
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = integer(
    "commit.strict-mode.last-safe-snapshot", "Check later commits."
)
SNAPSHOT_IGNORE_EMPTY_COMMIT = unset_flag(
    "snapshot.ignore-empty-commit", "Create no snapshot for empty commits."
)
DYNAMIC_PARTITION_OVERWRITE = flag(
    "dynamic-partition-overwrite", "Overwrite only partitions of new rows.", default=True
)
OVERWRITE_UPGRADE = flag("overwrite-upgrade", "Write overwrites to the top level.", default=True)

# Compaction

NUM_SORTED_RUN_COMPACTION_TRIGGER = integer(
    "num-sorted-run.compaction-trigger", "Sorted runs that trigger a compaction.", default=5
)
NUM_SORTED_RUN_STOP_TRIGGER = integer(
    "num-sorted-run.stop-trigger", "Sorted runs at which writes wait."
)
NUM_LEVELS = integer("num-levels", "Number of levels of the LSM tree.")
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = integer(
    "compaction.max-size-amplification-percent", "Extra size for a full compaction.", default=200
)
COMPACTION_SIZE_RATIO = integer("compaction.size-ratio", "Tolerance of sizes, percent.", default=1)
COMPACTION_MIN_FILE_NUM = integer(
    "compaction.min.file-num", "Small files that trigger a compaction.", default=5
)
COMPACTION_SMALL_FILE_RATIO = number(
    "compaction.small-file-ratio", "Fraction of the target size for a small file.", default=0.7
)
COMPACTION_DELETE_RATIO_THRESHOLD = number(
    "compaction.delete-ratio-threshold", "Fraction of deleted rows for a rewrite.", default=0.2
)
COMPACTION_OPTIMIZATION_INTERVAL = duration(
    "compaction.optimization-interval", "Interval of full compactions."
)
COMPACTION_TOTAL_SIZE_THRESHOLD = size(
    "compaction.total-size-threshold", "Size below which compactions are always full."
)
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = size(
    "compaction.incremental-size-threshold", "New data for a full compaction."
)
COMPACTION_FORCE_UP_LEVEL_0 = flag(
    "compaction.force-up-level-0", "Always include level 0 in compactions."
)
COMPACTION_SKIP_EXPIRED_PARTITIONS = flag(
    "compaction.skip-expired-partitions", "Do not compact partitions that expire by their values."
)
COMPACTION_FORCE_REWRITE_ALL_FILES = flag(
    "compaction.force-rewrite-all-files", "Rewrite all files in full compactions."
)
FULL_COMPACTION_DELTA_COMMITS = integer(
    "full-compaction.delta-commits", "Commits between full compactions."
)
LOOKUP_COMPACT = choice("lookup-compact", "Compaction mode.", default=of.LookupCompact.RADICAL)
LOOKUP_COMPACT_MAX_INTERVAL = integer("lookup-compact.max-interval", "Maximum commit interval.")
LOOKUP_WAIT = with_fallback_keys(
    flag("lookup-wait", "Commits wait for lookup compaction.", default=True),
    "changelog-producer.lookup-wait",
)
FORCE_LOOKUP = immutable(flag("force-lookup", "Always use lookup compaction."))
CLUSTERING_COLUMNS = with_fallback_keys(
    names("clustering.columns", "Columns by which rows are clustered."),
    "sink.clustering.by-columns",
)
CLUSTERING_STRATEGY = with_fallback_keys(
    text("clustering.strategy", "Strategy: auto, zorder, hilbert or order.", default="auto"),
    "sink.clustering.strategy",
)
CLUSTERING_INCREMENTAL = flag("clustering.incremental", "Cluster in compactions.")
PK_CLUSTERING_OVERRIDE = immutable(
    flag("pk-clustering-override", "Sort files by clustering columns.")
)

# Expiration

SNAPSHOT_NUM_RETAINED_MIN = integer("snapshot.num-retained.min", "Minimum to keep.", default=10)
SNAPSHOT_NUM_RETAINED_MAX = integer(
    "snapshot.num-retained.max", "Maximum to keep.", default=MAX_INT32
)
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", "Maximum age.", default=HOUR_MS)
SNAPSHOT_EXPIRE_LIMIT = integer("snapshot.expire.limit", "Maximum per expiration.", default=50)
CHANGELOG_NUM_RETAINED_MIN = integer("changelog.num-retained.min", "Minimum to keep.")
CHANGELOG_NUM_RETAINED_MAX = integer("changelog.num-retained.max", "Maximum to keep.")
CHANGELOG_TIME_RETAINED = duration("changelog.time-retained", "Maximum age.")
RECORD_LEVEL_EXPIRE_TIME = duration(
    "record-level.expire-time", "Age after which compactions drop rows."
)
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field", "Column of a row's time.")

# Partitions

PARTITION_DEFAULT_NAME = text(
    "partition.default-name", "Folder of null and blank.", default="__DEFAULT_PARTITION__"
)
METASTORE_PARTITIONED_TABLE = flag("metastore.partitioned-table", "Add partitions to the catalog.")
METASTORE_TAG_TO_PARTITION = text(
    "metastore.tag-to-partition", "Partition column of tags in the catalog."
)
PARTITION_LEGACY_NAME = flag("partition.legacy-name", "Day numbers in folder names.", default=True)
PARTITION_EXPIRATION_TIME = duration("partition.expiration-time", "Maximum age of partitions.")
PARTITION_EXPIRATION_STRATEGY = choice(
    "partition.expiration-strategy",
    "Which time of a partition is compared.",
    default=of.PartitionExpirationStrategy.VALUES_TIME,
)
PARTITION_EXPIRATION_CHECK_INTERVAL = duration(
    "partition.expiration-check-interval", "Interval of expiration checks.", default=HOUR_MS
)
PARTITION_EXPIRATION_MAX_NUM = integer(
    "partition.expiration-max-num", "Maximum partitions per expiration.", default=100
)
PARTITION_TIMESTAMP_PATTERN = text(
    "partition.timestamp-pattern", "Pattern of a time from partition values."
)
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter", "Timestamp format.")
PARTITION_TIMESTAMP_FORMAT_STRICT = flag(
    "partition.timestamp-format.strict", "Refuse rows of partitions without a time."
)

# Reading

SCAN_MODE = with_fallback_keys(
    choice("scan.mode", "Start position of a scan.", default=of.StartupMode.DEFAULT), "log.scan"
)
SCAN_SNAPSHOT_ID = integer("scan.snapshot-id", "Snapshot to read.")
SCAN_TAG_NAME = text("scan.tag-name", "Tag to read.")
SCAN_VERSION = text("scan.version", "Tag or snapshot to read.")
SCAN_WATERMARK = integer("scan.watermark", "First snapshot with this watermark.")
SCAN_TIMESTAMP = text("scan.timestamp", "Last snapshot up to this local time.")
SCAN_TIMESTAMP_MILLIS = with_fallback_keys(
    integer("scan.timestamp-millis", "Last snapshot up to this time."), "log.scan.timestamp-millis"
)
SCAN_FILE_CREATION_TIME_MILLIS = integer(
    "scan.file-creation-time-millis", "Read only files created after this time."
)
SCAN_CREATION_TIME_MILLIS = integer(
    "scan.creation-time-millis", "Start time of mode from-creation-timestamp."
)
SCAN_BOUNDED_WATERMARK = integer("scan.bounded.watermark", "Watermark at which a stream ends.")
SCAN_BUCKET = integer("scan.bucket", "Read only this bucket.")
SCAN_FALLBACK_BRANCH = text("scan.fallback-branch", "Branch for partitions missing in this branch.")
SCAN_PRIMARY_BRANCH = text("scan.primary-branch", "Branch that is read first.")
SCAN_FALLBACK_SNAPSHOT_BRANCH = text(
    "scan.fallback-snapshot-branch", "Snapshot branch of a chain table."
)
SCAN_FALLBACK_DELTA_BRANCH = text("scan.fallback-delta-branch", "Delta branch of a chain table.")
SCAN_PLAN_SORT_PARTITION = flag("scan.plan-sort-partition", "Sort splits by partition.")
SCAN_IGNORE_CORRUPT_FILES = flag("scan.ignore-corrupt-files", "Skip files that cannot be read.")
SCAN_IGNORE_LOST_FILES = flag("scan.ignore-lost-files", "Skip missing files.")
CHAIN_TABLE_ENABLED = flag("chain-table.enabled", "The table is a chain table.")
CHAIN_TABLE_CHAIN_PARTITION_KEYS = names(
    "chain-table.chain-partition-keys",
    "Last partition columns, which order the partitions of a chain; all by default.",
)
CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = flag(
    "chain-table.streaming.merge-snapshot", "Streams start with merged chains."
)
INCREMENTAL_BETWEEN = names("incremental-between", "Range of snapshots or tags (start exclusive).")
INCREMENTAL_BETWEEN_TIMESTAMP = names(
    "incremental-between-timestamp", "Range of times (start exclusive)."
)
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode",
    "Files that an incremental read compares.",
    default=of.IncrementalBetweenScanMode.AUTO,
)
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag", "Last tag to read.")
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = flag(
    "incremental-between-tag-to-snapshot", "Use the snapshots of tags."
)
STREAMING_READ_OVERWRITE = flag("streaming-read-overwrite", "Stream overwritten rows.")
STREAMING_READ_APPEND_OVERWRITE = flag(
    "streaming-read-append-overwrite", "Streams read new files of overwrites."
)
STREAMING_READ_SNAPSHOT_DELAY = duration(
    "streaming.read.snapshot.delay", "Minimum age of snapshots in streams."
)
CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "continuous.discovery-interval",
    "Poll interval of streams; in Spark that of the trigger.",
    default=10 * SECOND_MS,
)
SOURCE_SPLIT_TARGET_SIZE = size("source.split.target-size", "Size of a split.", default=128 * MIB)
SOURCE_SPLIT_OPEN_FILE_COST = size(
    "source.split.open-file-cost", "Minimum size counted per file.", default=4 * MIB
)
QUERY_AUTH_ENABLED = flag(
    "query-auth.enabled", "Ask the catalog which rows and columns may be read."
)
TABLE_READ_SEQUENCE_NUMBER_ENABLED = flag(
    "table-read.sequence-number.enabled", "Show sequence numbers in the audit log."
)

# Indexes and row tracking

FILE_INDEX_IN_MANIFEST_THRESHOLD = size(
    "file-index.in-manifest-threshold", "Maximum size of file indexes in manifests.", default=500
)
FILE_INDEX_READ_ENABLED = flag("file-index.read.enabled", "Use file indexes.", default=True)
INDEX_FILE_IN_DATA_FILE_DIR = immutable(
    flag("index-file-in-data-file-dir", "Index files beside data files.")
)
PK_BTREE_INDEX_COLUMNS = names(
    "pk-btree.index.columns", "Columns with a btree index, which compactions build."
)
PK_BITMAP_INDEX_COLUMNS = names(
    "pk-bitmap.index.columns", "Columns with a bitmap index, which compactions build."
)
PK_VECTOR_INDEX_COLUMNS = names(
    "pk-vector.index.columns", "The column with a vector index, which compactions build."
)
PK_FULL_TEXT_INDEX_COLUMNS = names(
    "pk-full-text.index.columns", "The column with a full-text index, which compactions build."
)
PK_MULTIVALUE_INDEX_COLUMNS = names("pk-multivalue.index.columns", "Arrays; only Java builds it.")
ROW_TRACKING_ENABLED = immutable(flag("row-tracking.enabled", "Assign stable row ids."))
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = flag(
    "row-tracking.partition-group-on-commit", "Assign row ids by partition.", default=True
)
DATA_EVOLUTION_ENABLED = immutable(
    flag("data-evolution.enabled", "Write new columns to separate files.")
)
DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = integer(
    "data-evolution.reassign.skip-contiguous-row-count",
    "Rows of a partition with consecutive row ids that keep them if they are more than this; 0 for "
    "none.",
    default=1_000_000_000,
)
GLOBAL_INDEX_ENABLED = flag("global-index.enabled", "Use global indexes in scans.", default=True)
GLOBAL_INDEX_ROW_COUNT_PER_SHARD = integer(
    "global-index.row-count-per-shard", "Rows of a full-text or vector index.", default=100_000
)
_SEARCH_MODES = ("fast", "full", "detail")
GLOBAL_INDEX_SEARCH_MODE = one_of(
    "global-index.search-mode", "Search of rows without index, by default.", _SEARCH_MODES
)
FULL_TEXT_INDEX_SEARCH_MODE = one_of(
    "full-text-index.search-mode",
    "Searches of texts: `fast` leaves out rows without index, the others find them too.",
    _SEARCH_MODES,
    default="fast",
)
VECTOR_INDEX_SEARCH_MODE = one_of(
    "vector-index.search-mode", "The same for vectors.", _SEARCH_MODES, default="fast"
)
GLOBAL_INDEX_COLUMN_UPDATE_ACTION = choice(
    "global-index.column-update-action",
    "What an update of a column with a global index does.",
    default=of.GlobalIndexColumnUpdateAction.THROW_ERROR,
)

# Changing the schema

ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = flag(
    "alter-column-null-to-not-null.disabled", "Forbid changing NULL to NOT NULL.", default=True
)
DISABLE_EXPLICIT_TYPE_CASTING = flag(
    "disable-explicit-type-casting", "Allow only implicit casts of columns."
)
ADD_COLUMN_BEFORE_PARTITION = flag(
    "add-column-before-partition", "Add columns before the partition columns."
)

HONOURED_OPTIONS: Mapping[str, Option[object]] = {
    option.key: option
    for option in [
        *globals().values(),
        *vars(iceberg_options).values(),
        *vars(tag_options).values(),
    ]
    if isinstance(option, Option)
}
"""The options defined here, in `iceberg_options` and in `tag_options`, by key.

`option_reference` has all options.
"""


@dataclass(frozen=True, slots=True)
class TableOptions(Mapping[str, str]):
    """The options of a table, as texts by key; `value` returns typed values.

    >>> TableOptions({"bucket": "4"}).value(BUCKET)
    4
    """

    texts: Mapping[str, str]

    def value(self, option: Option[T]) -> T:
        """Return the value of an option, or its default.

        Raises:
            InvalidInputError: the value is invalid.
        """
        return option.value_in(self.texts)

    def has(self, option: Option[T]) -> bool:
        """Return whether an option is set, by its key or an older name."""
        return any(key in self.texts for key in (option.key, *option.fallback_keys))

    def changed(self, changes: Mapping[str, str]) -> "TableOptions":
        """Return a copy with changed options."""
        return TableOptions({**self.texts, **changes})

    def __getitem__(self, key: str) -> str:
        """Return the text of a key."""
        return self.texts[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(self.texts)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.texts)
