"""The index manifest: all index files of a snapshot, as an Arrow table.

Spec: concepts/spec/manifest, index manifest. Seen in: golden java200 `dv_pk`, `pk_dynamic`.
"""

from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.metadata.manifest.manifest_table import EntryTable, Row, stored_paths, table_of

VERSION = 1

HASH_INDEX = "HASH"
DELETION_VECTORS_INDEX = "DELETION_VECTORS"

DELETION_RANGE = pa.struct(
    schema_from_text(
        "data_file string not null, offset int32 not null, length int32 not null, cardinality int64"
    )
)
"""Position of the deletion vector of a data file in its index file."""

GLOBAL_INDEX = pa.struct(
    schema_from_text(
        "row_range_start int64 not null, row_range_end int64 not null, "
        "index_field_id int32 not null, extra_field_ids list<int32>, "
        "index_meta binary, source_meta binary"
    )
)
"""Row range and fields of a global index; both ends of the range are inclusive."""

INDEX_SCHEMA = schema_from_text(
    "kind int8 not null, partition binary not null, bucket int32 not null, "
    "index_type string not null, file_name string not null, file_size int64 not null, "
    "row_count int64 not null",
    pa.field("dv_ranges", pa.list_(DELETION_RANGE)),
    "external_path string",
    pa.field("global_index", GLOBAL_INDEX),
)
"""One row per index file; `partition` is a binary row with a 4-byte arity prefix."""

INDEX_FIELDS = MappingProxyType(
    stored_paths(INDEX_SCHEMA) | {"dv_ranges": ("_DELETIONS_VECTORS_RANGES",)}
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
