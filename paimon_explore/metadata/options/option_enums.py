"""The closed sets of option values, by the texts that options hold.

Spec: maintenance/configurations.
"""

from enum import Enum


class BucketFunction(Enum):
    """How a row's bucket follows from its bucket key."""

    DEFAULT = "default"
    MOD = "mod"
    HIVE = "hive"


class MergeEngine(Enum):
    """What becomes of rows with the same primary key."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


class ChangelogProducer(Enum):
    """Where a table's changelog comes from."""

    NONE = "none"
    INPUT = "input"
    FULL_COMPACTION = "full-compaction"
    LOOKUP = "lookup"


class SortOrder(Enum):
    """Which of two sequence values is the later one."""

    ASCENDING = "ascending"
    DESCENDING = "descending"


class StartupMode(Enum):
    """Where a scan begins."""

    DEFAULT = "default"
    LATEST_FULL = "latest-full"
    FULL = "full"
    LATEST = "latest"
    LATEST_DELTA = "latest-delta"
    COMPACTED_FULL = "compacted-full"
    FROM_TIMESTAMP = "from-timestamp"
    FROM_CREATION_TIMESTAMP = "from-creation-timestamp"
    FROM_FILE_CREATION_TIME = "from-file-creation-time"
    FROM_SNAPSHOT = "from-snapshot"
    FROM_SNAPSHOT_FULL = "from-snapshot-full"
    INCREMENTAL = "incremental"


class IncrementalBetweenScanMode(Enum):
    """What an incremental read between two snapshots compares."""

    AUTO = "auto"
    DELTA = "delta"
    CHANGELOG = "changelog"
    DIFF = "diff"


class ExpireExecutionMode(Enum):
    """Whether a commit waits for the expiration after it."""

    SYNC = "sync"
    ASYNC = "async"


class TagCreationMode(Enum):
    """What clock creates tags by itself."""

    NONE = "none"
    PROCESS_TIME = "process-time"
    WATERMARK = "watermark"
    BATCH = "batch"


class TagCreationPeriod(Enum):
    """How often tags are created."""

    DAILY = "daily"
    HOURLY = "hourly"
    TWO_HOURS = "two-hours"


class TagPeriodFormatter(Enum):
    """How a created tag is named."""

    WITH_DASHES = "with_dashes"
    WITHOUT_DASHES = "without_dashes"
    WITHOUT_DASHES_AND_SPACES = "without_dashes_and_spaces"


class ConsumerMode(Enum):
    """When a consumer's progress is stored."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


class ExternalPathStrategy(Enum):
    """How the external path of a new data file is chosen."""

    NONE = "none"
    SPECIFIC_FS = "specific-fs"
    ROUND_ROBIN = "round-robin"
    ENTROPY_INJECT = "entropy-inject"
    WEIGHT_ROBIN = "weight-robin"


class LookupCompact(Enum):
    """How eagerly level 0 is compacted for lookups."""

    RADICAL = "radical"
    GENTLE = "gentle"


class SortEngine(Enum):
    """The structure that merges sorted runs; it changes no result."""

    LOSER_TREE = "loser-tree"
    MIN_HEAP = "min-heap"


class PartitionExpirationStrategy(Enum):
    """The time of a partition that is compared for expiration."""

    VALUES_TIME = "values-time"
    UPDATE_TIME = "update-time"


class SequenceNumberInitMode(Enum):
    """Where a writer finds the next sequence number."""

    SCAN = "scan"
    SNAPSHOT = "snapshot"


class GlobalIndexSearchMode(Enum):
    """How rows without an index are searched."""

    FAST = "fast"
    FULL = "full"
    DETAIL = "detail"


class ClusteringIncrementalMode(Enum):
    """What incremental clustering sorts."""

    GLOBAL_SORT = "global-sort"
    LOCAL_SORT = "local-sort"


class NestedKeyNullStrategy(Enum):
    """What nested_update does with a null nested key."""

    MERGE = "merge"
    IGNORE = "ignore"
    ERROR = "error"


class TableKind(Enum):
    """What kind of table the files are."""

    TABLE = "table"
    FORMAT_TABLE = "format-table"
    MATERIALIZED_TABLE = "materialized-table"
    OBJECT_TABLE = "object-table"
    LANCE_TABLE = "lance-table"
    ICEBERG_TABLE = "iceberg-table"
