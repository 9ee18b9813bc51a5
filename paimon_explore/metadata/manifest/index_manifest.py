"""The index manifest: all index files of a snapshot, as an Arrow table.

Spec: concepts/spec/manifest, index manifest. Seen in: golden java200 `dv_pk`, `pk_dynamic`.
"""

from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from paimon_explore.metadata.manifest.manifest_table import EntryTable, Row, table_of

VERSION = 1

HASH_INDEX = "HASH"
DELETION_VECTORS_INDEX = "DELETION_VECTORS"

DELETION_RANGE = pa.struct(
    [
        pa.field("data_file", pa.string(), nullable=False),
        pa.field("offset", pa.int32(), nullable=False),
        pa.field("length", pa.int32(), nullable=False),
        pa.field("cardinality", pa.int64()),
    ]
)
"""Position of the deletion vector of a data file in its index file."""

GLOBAL_INDEX = pa.struct(
    [
        pa.field("row_range_start", pa.int64(), nullable=False),
        pa.field("row_range_end", pa.int64(), nullable=False),
        pa.field("index_field_id", pa.int32(), nullable=False),
        pa.field("extra_field_ids", pa.list_(pa.int32())),
        pa.field("index_meta", pa.binary()),
        pa.field("source_meta", pa.binary()),
    ]
)
"""Row range and fields of a global index; both ends of the range are inclusive."""

INDEX_SCHEMA = pa.schema(
    (
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("partition", pa.binary(), nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("index_type", pa.string(), nullable=False),
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        pa.field("dv_ranges", pa.list_(DELETION_RANGE)),
        pa.field("external_path", pa.string()),
        pa.field("global_index", GLOBAL_INDEX),
    )
)
"""One row per index file; `partition` is a binary row with a 4-byte arity prefix."""

INDEX_FIELDS = MappingProxyType(
    {
        "kind": ("_KIND",),
        "partition": ("_PARTITION",),
        "bucket": ("_BUCKET",),
        "index_type": ("_INDEX_TYPE",),
        "file_name": ("_FILE_NAME",),
        "file_size": ("_FILE_SIZE",),
        "row_count": ("_ROW_COUNT",),
        "dv_ranges": ("_DELETIONS_VECTORS_RANGES",),
        "external_path": ("_EXTERNAL_PATH",),
        "global_index": ("_GLOBAL_INDEX",),
    }
)
"""Column -> path of the field in the file's records."""


class IndexEntries(EntryTable):
    """Index files in manifest order, as a table of `INDEX_SCHEMA`."""

    __slots__ = ()
    schema = INDEX_SCHEMA

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "IndexEntries":
        """Create entries from rows; missing nullable values are null, also in nested records."""
        return cls(table_of(list(rows), INDEX_SCHEMA))

    def of_type(self, index_type: str) -> "IndexEntries":
        """Return the index files of one type."""
        found = [str(name) == index_type for name in self.table.column("index_type").to_pylist()]
        return self if all(found) else self.filter(np.array(found, np.bool_))
