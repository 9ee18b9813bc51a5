"""The settings of Iceberg metadata, from the options of a table."""

from paimon_explore.commit.manifest_writer import AVRO_CODECS, manifest_codec
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.fileio.paths import join, name, parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import iceberg_options as opt
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.option_enums import IcebergStorage
from paimon_explore.metadata.options.table_options import (
    DELETION_VECTORS_BITMAP64,
    DELETION_VECTORS_ENABLED,
    MANIFEST_TARGET_FILE_SIZE,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema

DISABLED = IcebergStorage.DISABLED.value
FORMAT_VERSIONS = (2, 3)
_VERSION_OF_VECTORS = 3
_VERSION_OF_ROW_IDS = 3
_TABLE_LOCATION = "table-location"
_DATABASE_SUFFIX = ".db"
_CODECS = {**AVRO_CODECS, "gzip": "deflate", "uncompressed": "null"}
_REGISTERING = frozenset((IcebergStorage.HIVE_CATALOG, IcebergStorage.REST_CATALOG))


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergSettings:
    """How the Iceberg metadata of a table is written.

    Attributes:
        storage: the kind of storage.
        folder: the folder of the metadata.
        format_version: the Iceberg format version, 2 or 3.
        codec: the Avro codec of manifests and manifest lists.
        legacy_names: whether manifest lists have the field names of Iceberg 1.4.
        target_bytes: the target size of a manifest.
        min_manifests: the number of small manifests that may be merged.
        max_manifests: the number of small manifests that are merged whatever their size.
        deletes_old: whether old metadata files are deleted.
        previous_versions: the number of old metadata files that are kept.
        retained: the minimum and the maximum number of snapshots, and the age in milliseconds from
            which those between are expired.
        with_vectors: whether deletion vectors are part of the metadata.
        first_level: the lowest level of files that are part of the metadata; 0 for append tables.
    """

    storage: IcebergStorage
    folder: str
    format_version: int
    codec: str
    legacy_names: bool
    target_bytes: int
    min_manifests: int
    max_manifests: int
    deletes_old: bool
    previous_versions: int
    retained: tuple[int, int, int]
    with_vectors: bool
    first_level: int

    @property
    def registers(self) -> bool:
        """Whether the table is also registered in a catalog."""
        return self.storage in _REGISTERING

    @property
    def with_row_ids(self) -> bool:
        """Whether rows have ids."""
        return self.format_version >= _VERSION_OF_ROW_IDS


def has_iceberg_metadata(options: TableOptions) -> bool:
    """Return whether commits to the table write Iceberg metadata."""
    return options.value(opt.ICEBERG_STORAGE) is not IcebergStorage.DISABLED


def iceberg_settings(root: str, schema: TableSchema, options: TableOptions) -> IcebergSettings:
    """Return the settings of a table with Iceberg metadata.

    Args:
        root: the folder of the table.
        schema: its schema.
        options: its effective options.

    Raises:
        InvalidInputError: an option has a value that is invalid for the table.
    """
    storage = options.value(opt.ICEBERG_STORAGE)
    version = options.value(opt.ICEBERG_FORMAT_VERSION)
    if version not in FORMAT_VERSIONS:
        raise InvalidInputError(
            f"Option {opt.ICEBERG_FORMAT_VERSION.key!r} must be one of "
            f"{choices([str(known) for known in FORMAT_VERSIONS])}, not '{version}'."
        )
    with_vectors = (
        version >= _VERSION_OF_VECTORS
        and options.value(DELETION_VECTORS_ENABLED)
        and options.value(DELETION_VECTORS_BITMAP64)
    )
    top_level = 1 if with_vectors else level_count(options) - 1
    compression = options.value(opt.ICEBERG_MANIFEST_COMPRESSION) or "snappy"
    return IcebergSettings(
        storage=storage,
        folder=iceberg_folder(root, options),
        format_version=version,
        codec=manifest_codec(opt.ICEBERG_MANIFEST_COMPRESSION.key, compression, _CODECS),
        legacy_names=options.value(opt.ICEBERG_MANIFEST_LEGACY_VERSION),
        target_bytes=options.value(MANIFEST_TARGET_FILE_SIZE),
        min_manifests=options.value(opt.ICEBERG_COMPACTION_MIN_FILE_NUM),
        max_manifests=options.value(opt.ICEBERG_COMPACTION_MAX_FILE_NUM),
        deletes_old=options.value(opt.ICEBERG_DELETE_AFTER_COMMIT),
        previous_versions=options.value(opt.ICEBERG_PREVIOUS_VERSIONS_MAX),
        retained=(
            options.value(SNAPSHOT_NUM_RETAINED_MIN),
            options.value(SNAPSHOT_NUM_RETAINED_MAX),
            options.value(SNAPSHOT_TIME_RETAINED),
        ),
        with_vectors=with_vectors,
        first_level=top_level if schema.primary_keys else 0,
    )


def iceberg_folder(root: str, options: TableOptions) -> str:
    """Return the folder of the metadata: in the table, or in `iceberg` of the warehouse.

    Args:
        root: the folder of the table.
        options: its effective options.

    Raises:
        InvalidInputError: the table is not in a database of a warehouse.
    """
    storage = options.value(opt.ICEBERG_STORAGE)
    location = options.value(opt.ICEBERG_STORAGE_LOCATION)
    if (location or storage.value) == _TABLE_LOCATION:
        return join(root, "metadata")
    database = parent(root)
    database_name = name(database)
    if not database_name.endswith(_DATABASE_SUFFIX):
        raise InvalidInputError(
            f"Option {opt.ICEBERG_STORAGE.key!r} = {storage.value} needs a table in the folder "
            f"'<database>.db' of a warehouse, not in {database}.",
            hint=f"Set {opt.ICEBERG_STORAGE_LOCATION.key!r} to {_TABLE_LOCATION!r}.",
        )
    short = database_name.removesuffix(_DATABASE_SUFFIX)
    return join(parent(database), "iceberg", short, name(root), "metadata")
