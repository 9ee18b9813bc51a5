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

TYPE = immutable(choice("type", default=of.TableKind.TABLE))
PATH = text("path")
BRANCH = text("branch", default="main")
PRIMARY_KEY = immutable(names("primary-key"))
PARTITION = immutable(names("partition"))
PRIMARY_KEY_NULLABLE = immutable(flag("primary-key.nullable"))
BUCKET = integer("bucket", default=DYNAMIC_BUCKET)
BUCKET_KEY = immutable(names("bucket-key"))
BUCKET_FUNCTION = immutable(choice("bucket-function.type", default=of.BucketFunction.DEFAULT))
BUCKET_APPEND_ORDERED = flag("bucket-append-ordered", default=True)
DYNAMIC_BUCKET_TARGET_ROW_NUM = integer("dynamic-bucket.target-row-num", default=2_000_000)
DYNAMIC_BUCKET_INITIAL_BUCKETS = immutable(integer("dynamic-bucket.initial-buckets"))
DYNAMIC_BUCKET_MAX_BUCKETS = integer("dynamic-bucket.max-buckets", default=-1)
CROSS_PARTITION_UPSERT_INDEX_TTL = duration("cross-partition-upsert.index-ttl")
POSTPONE_DEFAULT_BUCKET_NUM = integer("postpone.default-bucket-num", default=1)
POSTPONE_MERGE_ON_READ = flag("postpone.merge-on-read")
POSTPONE_TARGET_ROW_NUM_PER_BUCKET = integer("postpone.target-row-num-per-bucket")

# Merging

MERGE_ENGINE = immutable(choice("merge-engine", default=of.MergeEngine.DEDUPLICATE))
SEQUENCE_FIELD = names("sequence.field")
SEQUENCE_FIELD_SORT_ORDER = choice("sequence.field.sort-order", default=of.SortOrder.ASCENDING)
UPSERT_KEY = names("upsert-key")
SEQUENCE_SNAPSHOT_ORDERING = immutable(flag("sequence.snapshot-ordering"))
IGNORE_DELETE = with_fallback_keys(
    flag("ignore-delete"),
    "first-row.ignore-delete",
    "deduplicate.ignore-delete",
    "partial-update.ignore-delete",
)
IGNORE_UPDATE_BEFORE = flag("ignore-update-before")
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = immutable(flag("partial-update.remove-record-on-delete"))
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = immutable(
    names("partial-update.remove-record-on-sequence-group")
)
AGGREGATION_REMOVE_RECORD_ON_DELETE = immutable(flag("aggregation.remove-record-on-delete"))
DEFAULT_AGGREGATE_FUNCTION = text("fields.default-aggregate-function")
ROWKIND_FIELD = immutable(text("rowkind.field"))

# Changelog

CHANGELOG_PRODUCER = choice("changelog-producer", default=of.ChangelogProducer.NONE)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = flag("changelog-producer.row-deduplicate")
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = names(
    "changelog-producer.row-deduplicate-ignore-fields"
)
CHANGELOG_FILE_FORMAT = text("changelog-file.format")
CHANGELOG_FILE_COMPRESSION = text("changelog-file.compression")
CHANGELOG_FILE_STATS_MODE = text("changelog-file.stats-mode")
CHANGELOG_FILE_PREFIX = text("changelog-file.prefix", default="changelog-")

# Deletion vectors

DELETION_VECTORS_ENABLED = flag("deletion-vectors.enabled")
DELETION_VECTORS_MODIFIABLE = flag("deletion-vectors.modifiable")
DELETION_VECTORS_MERGE_ON_READ = flag("deletion-vectors.merge-on-read")
DELETION_VECTORS_BITMAP64 = flag("deletion-vectors.bitmap64")
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = size(
    "deletion-vector.index-file.target-size", default=2 * MIB
)

# Data files

FILE_FORMAT = text("file.format", default="parquet")
FORMAT_TABLE_FILE_COMPRESSION = with_fallback_keys(
    text("format-table.file.compression"), "file.compression"
)
FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = flag("format-table.partition-path-only-value")
FILE_FORMAT_PER_LEVEL = per_level("file.format.per.level")
FILE_COMPRESSION = text("file.compression", default="zstd")
FILE_COMPRESSION_PER_LEVEL = per_level("file.compression.per.level")
FILE_COMPRESSION_ZSTD_LEVEL = integer("file.compression.zstd-level", default=1)
FILE_BLOCK_SIZE = size("file.block-size")
FILE_SUFFIX_INCLUDE_COMPRESSION = flag("file.suffix.include.compression")
TARGET_FILE_SIZE = size("target-file-size")
TARGET_FILE_ROW_NUM = integer("target-file-row-num", default=MAX_INT64)
BLOB_TARGET_FILE_SIZE = size("blob.target-file-size")
BLOB_FIELD = immutable(names("blob-field"))
BLOB_DESCRIPTOR_FIELD = immutable(
    with_fallback_keys(names("blob-descriptor-field"), "blob.stored-descriptor-fields")
)
BLOB_VIEW_FIELD = immutable(names("blob-view-field"))
BLOB_AS_DESCRIPTOR = flag("blob-as-descriptor")
BLOB_VIEW_RESOLVE_ENABLED = flag("blob-view.resolve.enabled", default=True)
VARIANT_SHREDDING_SCHEMA = with_fallback_keys(
    text("variant.shreddingSchema"), "parquet.variant.shreddingSchema"
)
VARIANT_INFER_SHREDDING_SCHEMA = flag("variant.inferShreddingSchema")
VARIANT_MAX_SCHEMA_WIDTH = integer("variant.shredding.maxSchemaWidth", default=300)
VARIANT_MAX_SCHEMA_DEPTH = integer("variant.shredding.maxSchemaDepth", default=50)
VARIANT_MIN_FIELD_CARDINALITY_RATIO = number(
    "variant.shredding.minFieldCardinalityRatio", default=0.1
)
VARIANT_MAX_INFER_BUFFER_ROW = integer("variant.shredding.maxInferBufferRow", default=4096)
VECTOR_FIELD = names("vector-field")
DATA_FILE_PREFIX = text("data-file.prefix", default="data-")
DATA_FILE_PATH_DIRECTORY = immutable(text("data-file.path-directory"))
DATA_FILE_THIN_MODE = flag("data-file.thin-mode")
DATA_FILE_EXTERNAL_PATHS = names("data-file.external-paths")
DATA_FILE_EXTERNAL_PATHS_STRATEGY = choice(
    "data-file.external-paths.strategy", default=of.ExternalPathStrategy.NONE
)
DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = text("data-file.external-paths.specific-fs")
DATA_FILE_EXTERNAL_PATHS_WEIGHTS = names("data-file.external-paths.weights")

# Statistics and manifests

METADATA_STATS_MODE = text("metadata.stats-mode", default="truncate(16)")
METADATA_STATS_MODE_PER_LEVEL = per_level("metadata.stats-mode.per.level")
METADATA_STATS_DENSE_STORE = flag("metadata.stats-dense-store", default=True)
METADATA_STATS_KEEP_FIRST_N_COLUMNS = integer("metadata.stats-keep-first-n-columns", default=-1)
MANIFEST_FORMAT = text("manifest.format", default="avro")
MANIFEST_COMPRESSION = text("manifest.compression", default="zstd")
MANIFEST_TARGET_FILE_SIZE = size("manifest.target-file-size", default=8 * MIB)
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = size(
    "manifest.full-compaction-threshold-size", default=16 * MIB
)
MANIFEST_MERGE_MIN_COUNT = integer("manifest.merge-min-count", default=30)
MANIFEST_SORT_ENABLED = flag("manifest-sort.enabled")
MANIFEST_SORT_PARTITION_FIELD = text("manifest-sort.partition-field")
MANIFEST_DELETE_FILE_DROP_STATS = flag("manifest.delete-file-drop-stats")

# Writing and committing

WRITE_ONLY = with_fallback_keys(flag("write-only"), "write.compaction-skip")
WRITE_BUFFER_SIZE = size("write-buffer-size", default=256 * MIB)
COMMIT_MAX_RETRIES = integer("commit.max-retries", default=10)
COMMIT_TIMEOUT = duration("commit.timeout")
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", default=10)
COMMIT_MAX_RETRY_WAIT = duration("commit.max-retry-wait", default=10 * SECOND_MS)
COMMIT_FORCE_CREATE_SNAPSHOT = flag("commit.force-create-snapshot")
COMMIT_USER_PREFIX = text("commit.user-prefix")
COMMIT_DISCARD_DUPLICATE_FILES = flag("commit.discard-duplicate-files")
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = integer("commit.strict-mode.last-safe-snapshot")
SNAPSHOT_IGNORE_EMPTY_COMMIT = unset_flag("snapshot.ignore-empty-commit")
DYNAMIC_PARTITION_OVERWRITE = flag("dynamic-partition-overwrite", default=True)
OVERWRITE_UPGRADE = flag("overwrite-upgrade", default=True)

# Compaction

NUM_SORTED_RUN_COMPACTION_TRIGGER = integer("num-sorted-run.compaction-trigger", default=5)
NUM_SORTED_RUN_STOP_TRIGGER = integer("num-sorted-run.stop-trigger")
NUM_LEVELS = integer("num-levels")
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = integer(
    "compaction.max-size-amplification-percent", default=200
)
COMPACTION_SIZE_RATIO = integer("compaction.size-ratio", default=1)
COMPACTION_MIN_FILE_NUM = integer("compaction.min.file-num", default=5)
COMPACTION_SMALL_FILE_RATIO = number("compaction.small-file-ratio", default=0.7)
COMPACTION_DELETE_RATIO_THRESHOLD = number("compaction.delete-ratio-threshold", default=0.2)
COMPACTION_OPTIMIZATION_INTERVAL = duration("compaction.optimization-interval")
COMPACTION_TOTAL_SIZE_THRESHOLD = size("compaction.total-size-threshold")
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = size("compaction.incremental-size-threshold")
COMPACTION_FORCE_UP_LEVEL_0 = flag("compaction.force-up-level-0")
COMPACTION_SKIP_EXPIRED_PARTITIONS = flag("compaction.skip-expired-partitions")
COMPACTION_FORCE_REWRITE_ALL_FILES = flag("compaction.force-rewrite-all-files")
FULL_COMPACTION_DELTA_COMMITS = integer("full-compaction.delta-commits")
LOOKUP_COMPACT = choice("lookup-compact", default=of.LookupCompact.RADICAL)
LOOKUP_COMPACT_MAX_INTERVAL = integer("lookup-compact.max-interval")
LOOKUP_WAIT = with_fallback_keys(
    flag("lookup-wait", default=True), "changelog-producer.lookup-wait"
)
FORCE_LOOKUP = immutable(flag("force-lookup"))
CLUSTERING_COLUMNS = with_fallback_keys(names("clustering.columns"), "sink.clustering.by-columns")
CLUSTERING_STRATEGY = with_fallback_keys(
    text("clustering.strategy", default="auto"), "sink.clustering.strategy"
)
CLUSTERING_INCREMENTAL = flag("clustering.incremental")
PK_CLUSTERING_OVERRIDE = immutable(flag("pk-clustering-override"))

# Expiration

SNAPSHOT_NUM_RETAINED_MIN = integer("snapshot.num-retained.min", default=10)
SNAPSHOT_NUM_RETAINED_MAX = integer("snapshot.num-retained.max", default=MAX_INT32)
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", default=HOUR_MS)
SNAPSHOT_EXPIRE_LIMIT = integer("snapshot.expire.limit", default=50)
CHANGELOG_NUM_RETAINED_MIN = integer("changelog.num-retained.min")
CHANGELOG_NUM_RETAINED_MAX = integer("changelog.num-retained.max")
CHANGELOG_TIME_RETAINED = duration("changelog.time-retained")
RECORD_LEVEL_EXPIRE_TIME = duration("record-level.expire-time")
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field")

# Partitions

PARTITION_DEFAULT_NAME = text("partition.default-name", default="__DEFAULT_PARTITION__")
METASTORE_PARTITIONED_TABLE = flag("metastore.partitioned-table")
METASTORE_TAG_TO_PARTITION = text("metastore.tag-to-partition")
PARTITION_LEGACY_NAME = flag("partition.legacy-name", default=True)
PARTITION_EXPIRATION_TIME = duration("partition.expiration-time")
PARTITION_EXPIRATION_STRATEGY = choice(
    "partition.expiration-strategy", default=of.PartitionExpirationStrategy.VALUES_TIME
)
PARTITION_EXPIRATION_CHECK_INTERVAL = duration(
    "partition.expiration-check-interval", default=HOUR_MS
)
PARTITION_EXPIRATION_MAX_NUM = integer("partition.expiration-max-num", default=100)
PARTITION_TIMESTAMP_PATTERN = text("partition.timestamp-pattern")
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter")
PARTITION_TIMESTAMP_FORMAT_STRICT = flag("partition.timestamp-format.strict")

# Reading

SCAN_MODE = with_fallback_keys(choice("scan.mode", default=of.StartupMode.DEFAULT), "log.scan")
SCAN_SNAPSHOT_ID = integer("scan.snapshot-id")
SCAN_TAG_NAME = text("scan.tag-name")
SCAN_VERSION = text("scan.version")
SCAN_WATERMARK = integer("scan.watermark")
SCAN_TIMESTAMP = text("scan.timestamp")
SCAN_TIMESTAMP_MILLIS = with_fallback_keys(
    integer("scan.timestamp-millis"), "log.scan.timestamp-millis"
)
SCAN_FILE_CREATION_TIME_MILLIS = integer("scan.file-creation-time-millis")
SCAN_CREATION_TIME_MILLIS = integer("scan.creation-time-millis")
SCAN_BOUNDED_WATERMARK = integer("scan.bounded.watermark")
SCAN_BUCKET = integer("scan.bucket")
SCAN_FALLBACK_BRANCH = text("scan.fallback-branch")
SCAN_PRIMARY_BRANCH = text("scan.primary-branch")
SCAN_FALLBACK_SNAPSHOT_BRANCH = text("scan.fallback-snapshot-branch")
SCAN_FALLBACK_DELTA_BRANCH = text("scan.fallback-delta-branch")
SCAN_PLAN_SORT_PARTITION = flag("scan.plan-sort-partition")
SCAN_IGNORE_CORRUPT_FILES = flag("scan.ignore-corrupt-files")
SCAN_IGNORE_LOST_FILES = flag("scan.ignore-lost-files")
CHAIN_TABLE_ENABLED = flag("chain-table.enabled")
CHAIN_TABLE_CHAIN_PARTITION_KEYS = names("chain-table.chain-partition-keys")
CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = flag("chain-table.streaming.merge-snapshot")
INCREMENTAL_BETWEEN = names("incremental-between")
INCREMENTAL_BETWEEN_TIMESTAMP = names("incremental-between-timestamp")
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode", default=of.IncrementalBetweenScanMode.AUTO
)
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag")
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = flag("incremental-between-tag-to-snapshot")
STREAMING_READ_OVERWRITE = flag("streaming-read-overwrite")
STREAMING_READ_APPEND_OVERWRITE = flag("streaming-read-append-overwrite")
STREAMING_READ_SNAPSHOT_DELAY = duration("streaming.read.snapshot.delay")
CONTINUOUS_DISCOVERY_INTERVAL = duration("continuous.discovery-interval", default=10 * SECOND_MS)
SOURCE_SPLIT_TARGET_SIZE = size("source.split.target-size", default=128 * MIB)
SOURCE_SPLIT_OPEN_FILE_COST = size("source.split.open-file-cost", default=4 * MIB)
QUERY_AUTH_ENABLED = flag("query-auth.enabled")
TABLE_READ_SEQUENCE_NUMBER_ENABLED = flag("table-read.sequence-number.enabled")

# Indexes and row tracking

FILE_INDEX_IN_MANIFEST_THRESHOLD = size("file-index.in-manifest-threshold", default=500)
FILE_INDEX_READ_ENABLED = flag("file-index.read.enabled", default=True)
INDEX_FILE_IN_DATA_FILE_DIR = immutable(flag("index-file-in-data-file-dir"))
PK_BTREE_INDEX_COLUMNS = names("pk-btree.index.columns")
PK_BITMAP_INDEX_COLUMNS = names("pk-bitmap.index.columns")
PK_VECTOR_INDEX_COLUMNS = names("pk-vector.index.columns")
PK_FULL_TEXT_INDEX_COLUMNS = names("pk-full-text.index.columns")
PK_MULTIVALUE_INDEX_COLUMNS = names("pk-multivalue.index.columns")
ROW_TRACKING_ENABLED = immutable(flag("row-tracking.enabled"))
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = flag(
    "row-tracking.partition-group-on-commit", default=True
)
DATA_EVOLUTION_ENABLED = immutable(flag("data-evolution.enabled"))
DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = integer(
    "data-evolution.reassign.skip-contiguous-row-count", default=1_000_000_000
)
GLOBAL_INDEX_ENABLED = flag("global-index.enabled", default=True)
GLOBAL_INDEX_ROW_COUNT_PER_SHARD = integer("global-index.row-count-per-shard", default=100_000)
_SEARCH_MODES = ("fast", "full", "detail")
GLOBAL_INDEX_SEARCH_MODE = one_of("global-index.search-mode", _SEARCH_MODES)
FULL_TEXT_INDEX_SEARCH_MODE = one_of("full-text-index.search-mode", _SEARCH_MODES, default="fast")
VECTOR_INDEX_SEARCH_MODE = one_of("vector-index.search-mode", _SEARCH_MODES, default="fast")
GLOBAL_INDEX_COLUMN_UPDATE_ACTION = choice(
    "global-index.column-update-action", default=of.GlobalIndexColumnUpdateAction.THROW_ERROR
)

# Changing the schema

ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = flag(
    "alter-column-null-to-not-null.disabled", default=True
)
DISABLE_EXPLICIT_TYPE_CASTING = flag("disable-explicit-type-casting")
ADD_COLUMN_BEFORE_PARTITION = flag("add-column-before-partition")

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
