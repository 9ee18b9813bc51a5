"""The manifest list: the manifests of a snapshot, oldest first, as an Arrow table.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
"""

from types import MappingProxyType

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.metadata.manifest.manifest_table import (
    ManifestTable,
    statistics_paths,
    stored_paths,
)

VERSION = 2

MANIFEST_LIST_SCHEMA = schema_from_text(
    "file_name string not null, file_size int64 not null, num_added_files int64 not null, "
    "num_deleted_files int64 not null, partition_min binary not null, "
    "partition_max binary not null, partition_null_counts list<int64>, schema_id int64 not null, "
    "min_bucket int32, max_bucket int32, min_level int32, max_level int32, min_row_id int64, "
    "max_row_id int64"
)
"""One row per manifest; `partition_min` and `partition_max` have a 4-byte arity prefix."""

MANIFEST_LIST_FIELDS = MappingProxyType(
    stored_paths(MANIFEST_LIST_SCHEMA) | statistics_paths("partition", "_PARTITION_STATS")
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
