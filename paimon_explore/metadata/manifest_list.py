"""The manifest list: which manifests make up a snapshot, oldest first.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
"""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.buffers import no_table
from paimon_explore.metadata.entry_frame import (
    Chunks,
    Mask,
    Positions,
    check_columns,
    filter_rows,
    table_of,
    take_rows,
)
from paimon_explore.values import dataclass

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
"""One row per manifest. `partition_min` and `partition_max` carry the 4-byte arity of manifests."""

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
"""Where each column lies in the file's records."""


_ROW = pa.struct(tuple(MANIFEST_LIST_SCHEMA))
_NOTHING = no_table(MANIFEST_LIST_SCHEMA)


@dataclass(frozen=True, slots=True)
class ManifestFiles:
    """The manifests of a list, in its order, as columns of `MANIFEST_LIST_SCHEMA`."""

    table: pa.Table

    def __post_init__(self) -> None:
        check_columns(self.table, MANIFEST_LIST_SCHEMA, "manifest lists")

    @classmethod
    def empty(cls) -> "ManifestFiles":
        """No manifest."""
        return cls(_NOTHING)

    @classmethod
    def from_rows(cls, rows: Sequence[dict[str, object]]) -> "ManifestFiles":
        """Manifests from values by column name; absent nullable columns are null."""
        return cls(table_of(rows, _ROW, MANIFEST_LIST_SCHEMA))

    @classmethod
    def concat(cls, parts: Sequence["ManifestFiles"]) -> "ManifestFiles":
        """The lists one after the other."""
        if not parts:
            return cls.empty()
        return parts[0] if len(parts) == 1 else cls(pa.concat_tables([p.table for p in parts]))

    def __len__(self) -> int:
        return self.table.num_rows

    @property
    def names(self) -> list[str]:
        """The manifests' file names."""
        return [str(name) for name in self.table.column("file_name").to_pylist()]

    def column(self, name: str) -> Chunks:
        """One column of `MANIFEST_LIST_SCHEMA`."""
        return self.table.column(name)

    def filter(self, mask: Mask) -> "ManifestFiles":
        """The manifests where the mask is true."""
        return ManifestFiles(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> "ManifestFiles":
        """The manifests of these positions."""
        return ManifestFiles(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> "ManifestFiles":
        """`length` manifests from `offset` on."""
        return ManifestFiles(self.table.slice(offset, length))

    def rows(self) -> Iterator[dict[str, object]]:
        """The manifests one by one, as column name to value: lists are short."""
        yield from self.table.to_pylist()

    @property
    def total_size(self) -> int:
        """Bytes of all manifests together."""
        return int(pc.sum(self.table.column("file_size"), min_count=0).as_py())
