"""The manifest list: the manifests of a snapshot, oldest first, as an Arrow table.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints, empty_table
from paimon_explore.metadata.manifest.manifest_table import (
    Chunks,
    Mask,
    Positions,
    Records,
    Row,
    check_columns,
    filter_rows,
    take_rows,
)

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


_NAMES = tuple(MANIFEST_LIST_SCHEMA.names)


class ManifestFiles:
    """The manifests of a list, in its order, as a table of `MANIFEST_LIST_SCHEMA`.

    Args:
        table: the columns.
    """

    __slots__ = ("_records",)

    def __init__(self, table: pa.Table) -> None:
        check_columns(table, MANIFEST_LIST_SCHEMA, "manifest lists")
        self._records = Records(MANIFEST_LIST_SCHEMA, table)

    @classmethod
    def empty(cls) -> "ManifestFiles":
        """Return an empty table."""
        return _EMPTY

    @classmethod
    def concat(cls, parts: Sequence["ManifestFiles"]) -> "ManifestFiles":
        """Concatenate lists."""
        if not parts:
            return cls.empty()
        if len(parts) == 1:
            return parts[0]
        return cls._of(parts[0].records.concat([part.records for part in parts[1:]]))

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "ManifestFiles":
        """Create a list from rows (column name -> value); missing nullable values are null."""
        whole = ({name: row.get(name) for name in _NAMES} for row in rows)
        return cls._of(Records.of_rows(whole, MANIFEST_LIST_SCHEMA))

    @classmethod
    def _of(cls, records: Records) -> "ManifestFiles":
        """Wrap records whose columns were already checked."""
        files = object.__new__(cls)
        files._records = records
        return files

    @property
    def table(self) -> pa.Table:
        """The manifests as an Arrow table."""
        return self._records.table

    @property
    def records(self) -> Records:
        """The underlying records."""
        return self._records

    def __len__(self) -> int:
        return len(self._records)

    def __eq__(self, other: object) -> bool:
        """Return whether the manifests and their order are equal."""
        if not isinstance(other, ManifestFiles):
            return NotImplemented
        return bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]  # mutable columns

    def __repr__(self) -> str:
        """Return the number of manifests as text."""
        return f"ManifestFiles({len(self)})"

    @property
    def names(self) -> list[str]:
        """The file names of the manifests."""
        rows = self._records.cached_rows
        if rows is None:
            return [str(name) for name in self.table.column("file_name").to_pylist()]
        return [str(row["file_name"]) for row in rows]

    def column(self, name: str) -> Chunks:
        """Return one column of `MANIFEST_LIST_SCHEMA`."""
        return self.table.column(name)

    def numbers(self, name: str) -> Ints:
        """Return an integer column without nulls as a numpy array."""
        return self._records.numbers(name)

    def filter(self, mask: Mask) -> "ManifestFiles":
        """Return the manifests where the mask is true."""
        return ManifestFiles(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> "ManifestFiles":
        """Return the manifests at these positions."""
        return ManifestFiles(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> "ManifestFiles":
        """Return `length` manifests from `offset` on."""
        return self._of(self._records.slice(offset, length))

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield the manifests as dictionaries (column name -> value)."""
        yield from (dict(row) for row in self._records.rows)

    @property
    def total_size(self) -> int:
        """Total size of the manifests in bytes."""
        return self._records.total("file_size")


_EMPTY = ManifestFiles(empty_table(MANIFEST_LIST_SCHEMA))
