"""The options of a table, by their documented keys.

Durations are in milliseconds and sizes in bytes once read. A default of None means that the value
depends on other options or that there is none; `derived_options` knows the former.

Spec: maintenance/configurations.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options import tag_options
from paimon_explore.metadata.options.option_definition import (
    Option,
    also_called,
    choice,
    duration,
    flag,
    immutable,
    names,
    number,
    per_level,
    size,
    text,
    whole,
)

T = TypeVar("T")

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
SECOND_MS = 1000
HOUR_MS = 3600 * SECOND_MS
MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1

DYNAMIC_BUCKET = -1
"""Value of `bucket`: as many buckets as rows demand, or none on append tables."""

POSTPONE_BUCKET = -2
"""Value of `bucket`: rows wait in one folder until a compaction spreads them."""


# Keys, buckets and the table itself

TYPE = immutable(choice("type", "Kind of the table.", default=of.TableKind.TABLE))
PATH = text("path", "Folder of the table, where the catalog allows to choose it.", default=None)
BRANCH = text("branch", "Branch to read and write.", default="main")
AUTO_CREATE = flag("auto-create", "Create the table's storage at first use.", default=False)
OWNER = text("owner", "Owner of the table, for catalogs that have owners.", default=None)
PRIMARY_KEY = immutable(names("primary-key", "Primary key, for DDL without such a clause."))
PARTITION = immutable(names("partition", "Partition columns, for DDL without such a clause."))
PRIMARY_KEY_NULLABLE = immutable(
    flag("primary-key.nullable", "Primary key columns may hold null.", default=False)
)
BUCKET = whole("bucket", "Buckets; -1 dynamic or none, -2 postponed.", default=DYNAMIC_BUCKET)
BUCKET_KEY = immutable(names("bucket-key", "Columns that choose a row's bucket."))
BUCKET_FUNCTION = immutable(
    choice("bucket-function.type", "Bucket of a bucket key.", default=of.BucketFunction.DEFAULT)
)
BUCKET_APPEND_ORDERED = flag("bucket-append-ordered", "Rows of a bucket keep order.", default=True)
DYNAMIC_BUCKET_TARGET_ROW_NUM = whole(
    "dynamic-bucket.target-row-num", "Rows per bucket with bucket = -1.", default=2_000_000
)
DYNAMIC_BUCKET_INITIAL_BUCKETS = immutable(
    whole("dynamic-bucket.initial-buckets", "Buckets a partition starts with.", default=None)
)
DYNAMIC_BUCKET_MAX_BUCKETS = whole(
    "dynamic-bucket.max-buckets", "Most buckets of a partition; -1 no bound.", default=-1
)
CROSS_PARTITION_UPSERT_INDEX_TTL = duration(
    "cross-partition-upsert.index-ttl", "Age at which keys are forgotten.", default=None
)
POSTPONE_DEFAULT_BUCKET_NUM = whole(
    "postpone.default-bucket-num", "Buckets of a partition when compacted first.", default=None
)
POSTPONE_BATCH_WRITE_FIXED_BUCKET = flag(
    "postpone.batch-write-fixed-bucket", "Batch jobs write to real buckets.", default=True
)
POSTPONE_MERGE_ON_READ = flag("postpone.merge-on-read", "Reads merge these rows.", default=False)
POSTPONE_TARGET_SIZE_PER_BUCKET = size(
    "postpone.target-size-per-bucket", "Postponed bytes per future bucket.", default=GIB
)

# Merging

MERGE_ENGINE = immutable(
    choice("merge-engine", "Rows with the same primary key.", default=of.MergeEngine.DEDUPLICATE)
)
SEQUENCE_FIELD = names("sequence.field", "Columns that order rows of the same key.")
SEQUENCE_FIELD_SORT_ORDER = choice(
    "sequence.field.sort-order", "Which sequence value wins.", default=of.SortOrder.ASCENDING
)
SEQUENCE_SNAPSHOT_ORDERING = immutable(
    flag("sequence.snapshot-ordering", "Later snapshots win.", default=False)
)
SEQUENCE_NUMBER_INIT_MODE = choice(
    "write.sequence-number-init-mode",
    "Where a writer finds the next sequence number.",
    default=of.SequenceNumberInitMode.SCAN,
)
IGNORE_DELETE = also_called(
    flag("ignore-delete", "Drop -D rows.", default=False),
    "first-row.ignore-delete",
    "deduplicate.ignore-delete",
    "partial-update.ignore-delete",
)
IGNORE_UPDATE_BEFORE = flag("ignore-update-before", "Drop -U rows.", default=False)
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = immutable(
    flag("partial-update.remove-record-on-delete", "A -D removes the row.", default=False)
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = immutable(
    names(
        "partial-update.remove-record-on-sequence-group",
        "Sequence fields whose group's -D removes the row.",
    )
)
AGGREGATION_REMOVE_RECORD_ON_DELETE = immutable(
    flag("aggregation.remove-record-on-delete", "A -D removes the row.", default=False)
)
DEFAULT_AGGREGATE_FUNCTION = text(
    "fields.default-aggregate-function", "Aggregate of columns without an own one.", default=None
)
ROWKIND_FIELD = immutable(text("rowkind.field", "Column that holds the row kind.", default=None))
SORT_ENGINE = choice(
    "sort-engine", "How Java merges sorted runs.", default=of.SortEngine.LOSER_TREE
)
SORT_SPILL_THRESHOLD = whole("sort-spill-threshold", "Runs that make a sort spill.", default=None)
SORT_SPILL_BUFFER_SIZE = size(
    "sort-spill-buffer-size", "Memory of a sort that spills.", default=64 * MIB
)

# Changelog

CHANGELOG_PRODUCER = choice(
    "changelog-producer", "Where the changelog comes from.", default=of.ChangelogProducer.NONE
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = flag(
    "changelog-producer.row-deduplicate", "No -U/+U for equal rows.", default=False
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = names(
    "changelog-producer.row-deduplicate-ignore-fields", "Columns left out of that comparison."
)
CHANGELOG_FILE_FORMAT = text(
    "changelog-file.format", "Format of changelog files; else that of data files.", default=None
)
CHANGELOG_FILE_COMPRESSION = text(
    "changelog-file.compression", "Compression of changelog files.", default=None
)
CHANGELOG_FILE_STATS_MODE = text(
    "changelog-file.stats-mode", "Statistics of changelog files.", default=None
)
CHANGELOG_FILE_PREFIX = text(
    "changelog-file.prefix", "How names of changelog files begin.", default="changelog-"
)

# Deletion vectors

DELETION_VECTORS_ENABLED = flag("deletion-vectors.enabled", "Mark deleted rows.", default=False)
DELETION_VECTORS_MODIFIABLE = flag(
    "deletion-vectors.modifiable", "Allow to switch deletion vectors.", default=False
)
DELETION_VECTORS_MERGE_ON_READ = flag(
    "deletion-vectors.merge-on-read", "Reads merge level 0 too.", default=False
)
DELETION_VECTORS_BITMAP64 = flag("deletion-vectors.bitmap64", "64-bit bitmaps.", default=False)
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = size(
    "deletion-vector.index-file.target-size", "Size of index files.", default=2 * MIB
)

# Data files

FILE_FORMAT = text("file.format", "Format of data files.", default="parquet")
FILE_FORMAT_PER_LEVEL = per_level("file.format.per.level", "Format of files of some levels.")
FILE_COMPRESSION = text("file.compression", "Compression of data files.", default="zstd")
FILE_COMPRESSION_PER_LEVEL = per_level(
    "file.compression.per.level", "Compression of files of some levels."
)
FILE_COMPRESSION_ZSTD_LEVEL = whole("file.compression.zstd-level", "Level of zstd.", default=1)
FILE_BLOCK_SIZE = size("file.block-size", "Row group, stripe or block bytes.", default=None)
FILE_SUFFIX_INCLUDE_COMPRESSION = flag(
    "file.suffix.include.compression", "Names of files tell the compression.", default=False
)
TARGET_FILE_SIZE = size("target-file-size", "Size at which a file is closed.", default=None)
TARGET_FILE_ROW_NUM = whole(
    "target-file-row-num", "Rows at which a file is closed.", default=MAX_INT64
)
BLOB_TARGET_FILE_SIZE = size("blob.target-file-size", "Size of a full blob file.", default=None)
BLOB_FIELD = immutable(names("blob-field", "Columns stored in blob files."))
BLOB_DESCRIPTOR_FIELD = immutable(
    also_called(
        names("blob-descriptor-field", "Blob columns stored as descriptors in data files."),
        "blob.stored-descriptor-fields",
    )
)
BLOB_VIEW_FIELD = immutable(names("blob-view-field", "Blob columns stored as references."))
BLOB_AS_DESCRIPTOR = flag("blob-as-descriptor", "Read blobs as descriptors.", default=False)
VECTOR_FIELD = names("vector-field", "Columns stored as vectors.")
VECTOR_FILE_FORMAT = text("vector.file.format", "Format of vector files.", default=None)
DATA_FILE_PREFIX = text("data-file.prefix", "How names of data files begin.", default="data-")
DATA_FILE_PATH_DIRECTORY = immutable(
    text("data-file.path-directory", "Folder inside the table for data files.", default=None)
)
DATA_FILE_THIN_MODE = flag("data-file.thin-mode", "Keys are stored once.", default=False)
DATA_FILE_EXTERNAL_PATHS = names("data-file.external-paths", "Other places for data files.")
DATA_FILE_EXTERNAL_PATHS_STRATEGY = choice(
    "data-file.external-paths.strategy", "Choice of place.", default=of.ExternalPathStrategy.NONE
)
DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = text(
    "data-file.external-paths.specific-fs", "The file system of that strategy.", default=None
)
DATA_FILE_EXTERNAL_PATHS_WEIGHTS = names("data-file.external-paths.weights", "Their weights.")
VARIANT_SHREDDING_SCHEMA = also_called(
    text("variant.shreddingSchema", "Variant paths stored as columns.", default=None),
    "parquet.variant.shreddingSchema",
)
VARIANT_INFER_SHREDDING_SCHEMA = flag(
    "variant.inferShreddingSchema", "Find those paths while writing.", default=False
)

# Statistics and manifests

METADATA_STATS_MODE = text("metadata.stats-mode", "Kind of statistics.", default="truncate(16)")
METADATA_STATS_MODE_PER_LEVEL = per_level(
    "metadata.stats-mode.per.level", "Statistics of files of some levels."
)
METADATA_STATS_DENSE_STORE = flag(
    "metadata.stats-dense-store", "Leave columns without statistics out.", default=True
)
METADATA_STATS_KEEP_FIRST_N_COLUMNS = whole(
    "metadata.stats-keep-first-n-columns", "Statistics of so many columns; -1 all.", default=-1
)
ICEBERG_STORAGE = text(
    "metadata.iceberg.storage", "Where Java writes Iceberg metadata of it.", default="disabled"
)
MANIFEST_FORMAT = text("manifest.format", "Format of manifests, up to 2.0.", default="avro")
MANIFEST_COMPRESSION = text("manifest.compression", "Compression of manifests.", default="zstd")
MANIFEST_TARGET_FILE_SIZE = size(
    "manifest.target-file-size", "Size of merged manifests.", default=8 * MIB
)
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = size(
    "manifest.full-compaction-threshold-size", "Bytes that start a full merge.", default=16 * MIB
)
MANIFEST_MERGE_MIN_COUNT = whole("manifest.merge-min-count", "Count that starts one.", default=30)
MANIFEST_DELETE_FILE_DROP_STATS = flag(
    "manifest.delete-file-drop-stats", "DELETE entries carry no statistics.", default=False
)

# Writing and committing

WRITE_ONLY = also_called(
    flag("write-only", "No compaction and no expiration while writing.", default=False),
    "write.compaction-skip",
)
WRITE_BUFFER_SIZE = size("write-buffer-size", "Memory before a file is written.", default=256 * MIB)
WRITE_BUFFER_SPILLABLE = flag("write-buffer-spillable", "Buffers may spill.", default=True)
WRITE_BUFFER_SPILL_MAX_DISK_SIZE = size(
    "write-buffer-spill.max-disk-size", "Most bytes of spilled buffers.", default=MAX_INT64
)
WRITE_BUFFER_FOR_APPEND = flag("write-buffer-for-append", "Appends buffer too.", default=False)
WRITE_BATCH_SIZE = also_called(
    whole("write.batch-size", "Rows per batch of a format's writer.", default=1024),
    "orc.write.batch-size",
)
READ_BATCH_SIZE = whole("read.batch-size", "Rows per batch of a format's reader.", default=1024)
COMMIT_MAX_RETRIES = whole("commit.max-retries", "Tries of a commit that lost.", default=10)
COMMIT_TIMEOUT = duration("commit.timeout", "Longest time of those tries.", default=None)
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", "First wait between them.", default=10)
COMMIT_MAX_RETRY_WAIT = duration(
    "commit.max-retry-wait", "Longest wait between them.", default=10 * SECOND_MS
)
COMMIT_FORCE_COMPACT = flag("commit.force-compact", "Compact before a commit.", default=False)
COMMIT_FORCE_CREATE_SNAPSHOT = flag(
    "commit.force-create-snapshot", "Streams commit without data too.", default=False
)
COMMIT_USER_PREFIX = text("commit.user-prefix", "How commit users begin.", default=None)
COMMIT_DISCARD_DUPLICATE_FILES = flag(
    "commit.discard-duplicate-files", "Leave files out that are there already.", default=False
)
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = whole(
    "commit.strict-mode.last-safe-snapshot", "Check other users' commits after it.", default=None
)
SNAPSHOT_IGNORE_EMPTY_COMMIT = flag(
    "snapshot.ignore-empty-commit", "No snapshot for a commit without files.", default=None
)
DYNAMIC_PARTITION_OVERWRITE = flag(
    "dynamic-partition-overwrite", "Overwrite only partitions in the data.", default=True
)
OVERWRITE_UPGRADE = flag("overwrite-upgrade", "Overwrites go to the top level.", default=True)

# Compaction

NUM_SORTED_RUN_COMPACTION_TRIGGER = whole(
    "num-sorted-run.compaction-trigger", "Sorted runs that start a compaction.", default=5
)
NUM_SORTED_RUN_STOP_TRIGGER = whole(
    "num-sorted-run.stop-trigger", "Sorted runs that stop writing.", default=None
)
NUM_LEVELS = whole("num-levels", "Levels of the merge tree.", default=None)
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = whole(
    "compaction.max-size-amplification-percent", "Extra bytes that start a full one.", default=200
)
COMPACTION_SIZE_RATIO = whole("compaction.size-ratio", "Percent of slack in sizes.", default=1)
COMPACTION_MIN_FILE_NUM = whole(
    "compaction.min.file-num", "Small files that start a compaction.", default=5
)
COMPACTION_SMALL_FILE_RATIO = number(
    "compaction.small-file-ratio", "Share of the target size that is small.", default=0.7
)
COMPACTION_DELETE_RATIO_THRESHOLD = number(
    "compaction.delete-ratio-threshold", "Share of deleted rows that is rewritten.", default=0.2
)
COMPACTION_OPTIMIZATION_INTERVAL = duration(
    "compaction.optimization-interval", "Time between full compactions.", default=None
)
COMPACTION_TOTAL_SIZE_THRESHOLD = size(
    "compaction.total-size-threshold", "Below it always a full compaction.", default=None
)
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = size(
    "compaction.incremental-size-threshold", "New bytes that start a full one.", default=None
)
COMPACTION_FORCE_UP_LEVEL_0 = flag(
    "compaction.force-up-level-0", "Always take level 0.", default=False
)
COMPACTION_FORCE_REWRITE_ALL_FILES = flag(
    "compaction.force-rewrite-all-files", "A full one rewrites every file.", default=False
)
FULL_COMPACTION_DELTA_COMMITS = whole(
    "full-compaction.delta-commits", "Commits between full compactions.", default=None
)
LOOKUP_COMPACT = choice("lookup-compact", "Eagerness of it.", default=of.LookupCompact.RADICAL)
LOOKUP_COMPACT_MAX_INTERVAL = whole(
    "lookup-compact.max-interval", "Commits between gentle ones.", default=None
)
LOOKUP_WAIT = also_called(
    flag("lookup-wait", "A commit waits for lookup compaction.", default=True),
    "changelog-producer.lookup-wait",
)
FORCE_LOOKUP = immutable(flag("force-lookup", "Compact by lookup always.", default=False))
CLUSTERING_COLUMNS = also_called(
    names("clustering.columns", "Columns that order rows of append tables."),
    "sink.clustering.by-columns",
)
CLUSTERING_STRATEGY = also_called(
    text("clustering.strategy", "auto, zorder, hilbert or order.", default="auto"),
    "sink.clustering.strategy",
)
CLUSTERING_INCREMENTAL = flag("clustering.incremental", "Cluster while compacting.", default=False)
CLUSTERING_INCREMENTAL_MODE = choice(
    "clustering.incremental.mode",
    "What clustering sorts.",
    default=of.ClusteringIncrementalMode.GLOBAL_SORT,
)
PK_CLUSTERING_OVERRIDE = immutable(
    flag("pk-clustering-override", "Order files by other columns than the key.", default=False)
)

# Expiration

SNAPSHOT_NUM_RETAINED_MIN = whole("snapshot.num-retained.min", "Fewest that stay.", default=10)
SNAPSHOT_NUM_RETAINED_MAX = whole("snapshot.num-retained.max", "Most that stay.", default=MAX_INT32)
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", "Age of expiry.", default=HOUR_MS)
SNAPSHOT_EXPIRE_LIMIT = whole("snapshot.expire.limit", "Most that go at once.", default=50)
SNAPSHOT_EXPIRE_EXECUTION_MODE = choice(
    "snapshot.expire.execution-mode", "Wait for it or not.", default=of.ExpireExecutionMode.SYNC
)
SNAPSHOT_CLEAN_EMPTY_DIRECTORIES = also_called(
    flag("snapshot.clean-empty-directories", "Remove folders left empty.", default=False),
    "snapshot.expire.clean-empty-directories",
)
CHANGELOG_NUM_RETAINED_MIN = whole("changelog.num-retained.min", "Fewest that stay.", default=None)
CHANGELOG_NUM_RETAINED_MAX = whole("changelog.num-retained.max", "Most that stay.", default=None)
CHANGELOG_TIME_RETAINED = duration("changelog.time-retained", "Age of expiry.", default=None)
RECORD_LEVEL_EXPIRE_TIME = duration(
    "record-level.expire-time", "Age at which compaction drops a row.", default=None
)
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field", "Column of a row's time.", default=None)

# Partitions

PARTITION_DEFAULT_NAME = text(
    "partition.default-name", "Folder of null and blank.", default="__DEFAULT_PARTITION__"
)
PARTITION_LEGACY_NAME = flag("partition.legacy-name", "Folders name dates by number.", default=True)
PARTITION_EXPIRATION_TIME = duration(
    "partition.expiration-time", "Age at which a partition goes.", default=None
)
PARTITION_EXPIRATION_STRATEGY = choice(
    "partition.expiration-strategy",
    "Time of a partition.",
    default=of.PartitionExpirationStrategy.VALUES_TIME,
)
PARTITION_EXPIRATION_CHECK_INTERVAL = duration(
    "partition.expiration-check-interval", "Time between looks.", default=HOUR_MS
)
PARTITION_EXPIRATION_MAX_NUM = whole(
    "partition.expiration-max-num", "Most partitions that go at once.", default=100
)
PARTITION_TIMESTAMP_PATTERN = text(
    "partition.timestamp-pattern", "Time text made of partition values.", default=None
)
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter", "Its format.", default=None)

# Reading

SCAN_MODE = also_called(
    choice("scan.mode", "Where a scan begins.", default=of.StartupMode.DEFAULT), "log.scan"
)
SCAN_SNAPSHOT_ID = whole("scan.snapshot-id", "Snapshot to read.", default=None)
SCAN_TAG_NAME = text("scan.tag-name", "Tag to read.", default=None)
SCAN_VERSION = text("scan.version", "Tag or snapshot to read.", default=None)
SCAN_WATERMARK = whole("scan.watermark", "First snapshot with this watermark.", default=None)
SCAN_TIMESTAMP = text("scan.timestamp", "Last snapshot at this local time.", default=None)
SCAN_TIMESTAMP_MILLIS = also_called(
    whole("scan.timestamp-millis", "Last snapshot at this epoch millisecond.", default=None),
    "log.scan.timestamp-millis",
)
SCAN_FILE_CREATION_TIME_MILLIS = whole(
    "scan.file-creation-time-millis", "Only files created after it.", default=None
)
SCAN_CREATION_TIME_MILLIS = whole(
    "scan.creation-time-millis", "Start of from-creation-timestamp.", default=None
)
SCAN_BOUNDED_WATERMARK = whole("scan.bounded.watermark", "Where a stream ends.", default=None)
SCAN_BUCKET = whole("scan.bucket", "Only this bucket.", default=None)
SCAN_FALLBACK_BRANCH = text(
    "scan.fallback-branch", "Branch of partitions missing here.", default=None
)
SCAN_PRIMARY_BRANCH = text("scan.primary-branch", "Branch that comes first.", default=None)
SCAN_FALLBACK_SNAPSHOT_BRANCH = text(
    "scan.fallback-snapshot-branch", "Snapshot branch of a chain table.", default=None
)
SCAN_FALLBACK_DELTA_BRANCH = text(
    "scan.fallback-delta-branch", "Delta branch of a chain table.", default=None
)
SCAN_PLAN_SORT_PARTITION = flag(
    "scan.plan-sort-partition", "Splits in the order of partitions.", default=False
)
SCAN_IGNORE_CORRUPT_FILES = flag(
    "scan.ignore-corrupt-files", "Skip files that cannot be read.", default=False
)
SCAN_IGNORE_LOST_FILES = flag("scan.ignore-lost-files", "Skip files that are gone.", default=False)
CHAIN_TABLE_ENABLED = flag("chain-table.enabled", "The table is a chain table.", default=False)
INCREMENTAL_BETWEEN = names("incremental-between", "Snapshots or tags: after, up to.")
INCREMENTAL_BETWEEN_TIMESTAMP = names(
    "incremental-between-timestamp", "Epoch milliseconds or local times: after, up to."
)
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode",
    "What is compared.",
    default=of.IncrementalBetweenScanMode.AUTO,
)
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag", "Changes up to it.", default=None)
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = flag(
    "incremental-between-tag-to-snapshot", "Tags stand for their snapshots.", default=False
)
STREAMING_READ_OVERWRITE = flag("streaming-read-overwrite", "Streams read them.", default=False)
STREAMING_READ_APPEND_OVERWRITE = flag(
    "streaming-read-append-overwrite", "Streams read new files of overwrites.", default=False
)
STREAMING_READ_SNAPSHOT_DELAY = duration(
    "streaming.read.snapshot.delay", "Age of snapshots a stream reads.", default=None
)
CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "continuous.discovery-interval", "Time between looks of a stream.", default=10 * SECOND_MS
)
SOURCE_SPLIT_TARGET_SIZE = size("source.split.target-size", "Bytes of a split.", default=128 * MIB)
SOURCE_SPLIT_OPEN_FILE_COST = size(
    "source.split.open-file-cost", "Bytes a file counts at least.", default=4 * MIB
)
TABLE_READ_SEQUENCE_NUMBER_ENABLED = flag(
    "table-read.sequence-number.enabled", "Audit log shows sequence numbers.", default=False
)

# Indexes and row tracking

FILE_INDEX_IN_MANIFEST_THRESHOLD = size(
    "file-index.in-manifest-threshold", "Bytes of an index kept in manifests.", default=500
)
FILE_INDEX_READ_ENABLED = flag("file-index.read.enabled", "Use file indexes.", default=True)
INDEX_FILE_IN_DATA_FILE_DIR = immutable(
    flag("index-file-in-data-file-dir", "Index files beside data files.", default=False)
)
GLOBAL_INDEX_ENABLED = flag("global-index.enabled", "Use global indexes.", default=True)
GLOBAL_INDEX_EXTERNAL_PATH = text(
    "global-index.external-path", "Other place for global indexes.", default=None
)
GLOBAL_INDEX_SEARCH_MODE = choice(
    "global-index.search-mode", "Rows without index.", default=of.GlobalIndexSearchMode.FAST
)
PK_BTREE_INDEX_COLUMNS = names("pk-btree.index.columns", "Columns with a btree index.")
PK_BITMAP_INDEX_COLUMNS = names("pk-bitmap.index.columns", "Columns with a bitmap index.")
PK_VECTOR_INDEX_COLUMNS = names("pk-vector.index.columns", "Columns with a vector index.")
PK_FULL_TEXT_INDEX_COLUMNS = names("pk-full-text.index.columns", "Columns with a text index.")
PK_MULTIVALUE_INDEX_COLUMNS = names("pk-multivalue.index.columns", "Arrays with an index.")
ROW_TRACKING_ENABLED = immutable(
    flag("row-tracking.enabled", "Rows have ids that stay.", default=False)
)
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = flag(
    "row-tracking.partition-group-on-commit", "Ids follow partitions.", default=True
)
DATA_EVOLUTION_ENABLED = immutable(
    flag("data-evolution.enabled", "Columns are written in files of their own.", default=False)
)

# Changing the schema

ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = flag(
    "alter-column-null-to-not-null.disabled", "Nullable columns stay so.", default=True
)
DISABLE_EXPLICIT_TYPE_CASTING = flag(
    "disable-explicit-type-casting", "Only implicit casts of columns.", default=False
)
ADD_COLUMN_BEFORE_PARTITION = flag(
    "add-column-before-partition", "New columns go before partition columns.", default=False
)

ALL_OPTIONS: Mapping[str, Option[object]] = {
    option.key: option
    for option in [*globals().values(), *vars(tag_options).values()]
    if isinstance(option, Option)
}
"""Every option above, and those of tags and consumers, by key."""


@dataclass(frozen=True, slots=True)
class TableOptions(Mapping[str, str]):
    """Options as texts by key, read through their declarations.

    >>> TableOptions({"bucket": "4"}).value(BUCKET)
    4
    """

    texts: Mapping[str, str]

    def value(self, option: Option[T]) -> T:
        """The option's value or default.

        Raises:
            InvalidInputError: the text is no value of the option.
        """
        return option.value_in(self.texts)

    def has(self, option: Option[T]) -> bool:
        """Whether the option is given, by its key or an older name."""
        return any(key in self.texts for key in (option.key, *option.fallback_keys))

    def changed(self, changes: Mapping[str, str]) -> "TableOptions":
        """These options with others put over them."""
        return TableOptions({**self.texts, **changes})

    def __getitem__(self, key: str) -> str:
        """The text of a key."""
        return self.texts[key]

    def __iter__(self) -> Iterator[str]:
        """The keys."""
        return iter(self.texts)

    def __len__(self) -> int:
        """The number of keys."""
        return len(self.texts)
