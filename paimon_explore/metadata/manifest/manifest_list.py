"""The manifest list: the manifests of a snapshot, oldest first, as an Arrow table.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
"""

from types import MappingProxyType

import pyarrow as pa

from paimon_explore.metadata.manifest.manifest_table import ManifestTable

VERSION = 2

MANIFEST_LIST_SCHEMA = pa.schema(
    (
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("num_added_files", pa.int64(), nullable=False),
        pa.field("num_deleted_files", pa.int64(), nullable=False),
        pa.field("partition_min", pa.binary(), nullable=False),
        pa.field("partition_max", pa.binary(), nullable=False),
        pa.field("partition_null_counts", pa.list_(pa.int64())),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("min_bucket", pa.int32()),
        pa.field("max_bucket", pa.int32()),
        pa.field("min_level", pa.int32()),
        pa.field("max_level", pa.int32()),
        pa.field("min_row_id", pa.int64()),
        pa.field("max_row_id", pa.int64()),
    )
)
"""One row per manifest; `partition_min` and `partition_max` have a 4-byte arity prefix."""

MANIFEST_LIST_FIELDS = MappingProxyType(
    {
        "file_name": ("_FILE_NAME",),
        "file_size": ("_FILE_SIZE",),
        "num_added_files": ("_NUM_ADDED_FILES",),
        "num_deleted_files": ("_NUM_DELETED_FILES",),
        "partition_min": ("_PARTITION_STATS", "_MIN_VALUES"),
        "partition_max": ("_PARTITION_STATS", "_MAX_VALUES"),
        "partition_null_counts": ("_PARTITION_STATS", "_NULL_COUNTS"),
        "schema_id": ("_SCHEMA_ID",),
        "min_bucket": ("_MIN_BUCKET",),
        "max_bucket": ("_MAX_BUCKET",),
        "min_level": ("_MIN_LEVEL",),
        "max_level": ("_MAX_LEVEL",),
        "min_row_id": ("_MIN_ROW_ID",),
        "max_row_id": ("_MAX_ROW_ID",),
    }
)
"""Column -> path of the field in the file's records."""


class ManifestFiles(ManifestTable):
    """The manifests of a list, in its order, as a table of `MANIFEST_LIST_SCHEMA`."""

    __slots__ = ()
    schema = MANIFEST_LIST_SCHEMA

    @property
    def names(self) -> list[str]:
        """The file names of the manifests."""
        if self.cached_rows is None:
            return [str(name) for name in self.table.column("file_name").to_pylist()]
        return [str(row["file_name"]) for row in self.cached_rows]
