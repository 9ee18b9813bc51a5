"""Enums of option values; their values are the texts of the options.

Spec: maintenance/configurations.
"""

from enum import Enum


class BucketFunction(Enum):
    """Hash functions of the bucket key."""

    DEFAULT = "default"
    MOD = "mod"
    HIVE = "hive"


class MergeEngine(Enum):
    """How rows with the same primary key are merged."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


class ChangelogProducer(Enum):
    """How the changelog of a table is produced."""

    NONE = "none"
    INPUT = "input"
    FULL_COMPACTION = "full-compaction"
    LOOKUP = "lookup"


class SortOrder(Enum):
    """Sort order of the sequence field."""

    ASCENDING = "ascending"
    DESCENDING = "descending"


class StartupMode(Enum):
    """Start positions of a scan."""

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
    """Which files an incremental read between two snapshots reads."""

    AUTO = "auto"
    DELTA = "delta"
    CHANGELOG = "changelog"
    DIFF = "diff"


class TagCreationMode(Enum):
    """The clock for automatic tags."""

    NONE = "none"
    PROCESS_TIME = "process-time"
    WATERMARK = "watermark"
    BATCH = "batch"


class TagCreationPeriod(Enum):
    """Period of automatic tags."""

    DAILY = "daily"
    HOURLY = "hourly"
    TWO_HOURS = "two-hours"


class TagPeriodFormatter(Enum):
    """Name formats of automatic tags."""

    WITH_DASHES = "with_dashes"
    WITHOUT_DASHES = "without_dashes"
    WITHOUT_DASHES_AND_SPACES = "without_dashes_and_spaces"


class ExternalPathStrategy(Enum):
    """How the external path of a new data file is selected."""

    NONE = "none"
    SPECIFIC_FS = "specific-fs"
    ROUND_ROBIN = "round-robin"
    ENTROPY_INJECT = "entropy-inject"
    WEIGHT_ROBIN = "weight-robin"


class LookupCompact(Enum):
    """How often level 0 is compacted by lookup compaction."""

    RADICAL = "radical"
    GENTLE = "gentle"


class PartitionExpirationStrategy(Enum):
    """The time of a partition used for expiration."""

    VALUES_TIME = "values-time"
    UPDATE_TIME = "update-time"


class GlobalIndexColumnUpdateAction(Enum):
    """What an update of a column with a global index does."""

    THROW_ERROR = "throw-error"
    DROP_PARTITION_INDEX = "drop-partition-index"
    IGNORE = "ignore"


class NestedKeyNullStrategy(Enum):
    """How `nested_update` handles a null nested key."""

    MERGE = "merge"
    IGNORE = "ignore"
    ERROR = "error"


class TableKind(Enum):
    """Kinds of tables."""

    TABLE = "table"
    FORMAT_TABLE = "format-table"
    MATERIALIZED_TABLE = "materialized-table"
    OBJECT_TABLE = "object-table"
    LANCE_TABLE = "lance-table"
    ICEBERG_TABLE = "iceberg-table"


class IcebergStorage(Enum):
    """Where Iceberg metadata is written."""

    DISABLED = "disabled"
    TABLE_LOCATION = "table-location"
    HADOOP_CATALOG = "hadoop-catalog"
    HIVE_CATALOG = "hive-catalog"
    REST_CATALOG = "rest-catalog"
