"""The index manifest: all index files of a snapshot, as an Arrow table.

Spec: concepts/spec/manifest, index manifest. Seen in: golden java200 `dv_pk`, `pk_dynamic`.
"""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import empty_table
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.manifest.manifest_table import (
    Chunks,
    Mask,
    Positions,
    check_columns,
    distinct_bytes,
    filter_rows,
    repeated_byte,
    table_of,
    take_rows,
)

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


@dataclass(frozen=True, slots=True)
class IndexEntries:
    """Index files in manifest order, as a table of `INDEX_SCHEMA`."""

    table: pa.Table

    def __post_init__(self) -> None:
        check_columns(self.table, INDEX_SCHEMA, "index manifests")

    @classmethod
    def empty(cls) -> "IndexEntries":
        """Return an empty table."""
        return _EMPTY

    @classmethod
    def concat(cls, parts: Sequence["IndexEntries"]) -> "IndexEntries":
        """Concatenate entries."""
        if not parts:
            return cls.empty()
        return parts[0] if len(parts) == 1 else cls(pa.concat_tables([p.table for p in parts]))

    @classmethod
    def from_rows(cls, rows: Sequence[dict[str, object]]) -> "IndexEntries":
        """Create entries from rows (column name -> value); missing nullable values are null."""
        return cls(table_of(rows, INDEX_SCHEMA))

    def __len__(self) -> int:
        return self.table.num_rows

    def column(self, name: str) -> Chunks:
        """Return one column of `INDEX_SCHEMA`."""
        return self.table.column(name)

    def filter(self, mask: Mask) -> "IndexEntries":
        """Return the entries where the mask is true."""
        return IndexEntries(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> "IndexEntries":
        """Return the entries at these positions."""
        return IndexEntries(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> "IndexEntries":
        """Return `length` entries from `offset` on."""
        return IndexEntries(self.table.slice(offset, length))

    def of_type(self, index_type: str) -> "IndexEntries":
        """Return the index files of one type."""
        found = [str(name) == index_type for name in self.table.column("index_type").to_pylist()]
        return self if all(found) else self.filter(np.array(found, np.bool_))

    @property
    def partitions(self) -> frozenset[bytes]:
        """Binary rows of the partitions of the index files."""
        return distinct_bytes(self.column("partition"))

    def with_kind(self, kind: FileKind) -> "IndexEntries":
        """Return the entries with `kind` set to ADD or DELETE."""
        if all(found == kind for found in self.table.column("kind").to_pylist()):
            return self
        position = INDEX_SCHEMA.get_field_index("kind")
        column = repeated_byte(kind, len(self))
        return IndexEntries(self.table.set_column(position, INDEX_SCHEMA.field("kind"), column))

    def rows(self) -> list[dict[str, object]]:
        """Return the entries as dictionaries (column name -> value)."""
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows


_EMPTY = IndexEntries(empty_table(INDEX_SCHEMA))
