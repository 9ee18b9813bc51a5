"""The manifest list: which manifests make up a snapshot, oldest first.

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


_NAMES = tuple(MANIFEST_LIST_SCHEMA.names)


class ManifestFiles:
    """The manifests of a list, in its order, as columns of `MANIFEST_LIST_SCHEMA`.

    Args:
        table: the columns.
    """

    __slots__ = ("_records",)

    def __init__(self, table: pa.Table) -> None:
        check_columns(table, MANIFEST_LIST_SCHEMA, "manifest lists")
        self._records = Records(MANIFEST_LIST_SCHEMA, table)

    @classmethod
    def empty(cls) -> "ManifestFiles":
        """No manifest."""
        return _NO_MANIFESTS

    @classmethod
    def concat(cls, parts: Sequence["ManifestFiles"]) -> "ManifestFiles":
        """The lists one after the other."""
        if not parts:
            return cls.empty()
        if len(parts) == 1:
            return parts[0]
        return cls._of(parts[0].records.joined([part.records for part in parts[1:]]))

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "ManifestFiles":
        """Manifests from values by column name; absent nullable columns are null."""
        whole = ({name: row.get(name) for name in _NAMES} for row in rows)
        return cls._of(Records.of_rows(whole, MANIFEST_LIST_SCHEMA))

    @classmethod
    def _of(cls, records: Records) -> "ManifestFiles":
        """Records that come out of another frame, and so need not be checked."""
        made = object.__new__(cls)
        made._records = records
        return made

    @property
    def table(self) -> pa.Table:
        """The manifests as columns."""
        return self._records.table

    @property
    def records(self) -> Records:
        """The manifests as rows or columns, whichever is at hand."""
        return self._records

    def __len__(self) -> int:
        return len(self._records)

    def __eq__(self, other: object) -> bool:
        """Whether the manifests are the same, in the same order."""
        if not isinstance(other, ManifestFiles):
            return NotImplemented
        return bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]  # as all that holds columns

    def __repr__(self) -> str:
        """The number of manifests."""
        return f"ManifestFiles({len(self)})"

    @property
    def names(self) -> list[str]:
        """The manifests' file names."""
        known = self._records.known
        if known is None:
            return [str(name) for name in self.table.column("file_name").to_pylist()]
        return [str(row["file_name"]) for row in known]

    def column(self, name: str) -> Chunks:
        """One column of `MANIFEST_LIST_SCHEMA`."""
        return self.table.column(name)

    def numbers(self, name: str) -> Ints:
        """A column of whole numbers without null."""
        return self._records.numbers(name)

    def filter(self, mask: Mask) -> "ManifestFiles":
        """The manifests where the mask is true."""
        return ManifestFiles(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> "ManifestFiles":
        """The manifests of these positions."""
        return ManifestFiles(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> "ManifestFiles":
        """`length` manifests from `offset` on."""
        return self._of(self._records.slice(offset, length))

    def rows(self) -> Iterator[dict[str, object]]:
        """The manifests one by one, as column name to value: lists are short."""
        yield from (dict(row) for row in self._records.rows)

    @property
    def total_size(self) -> int:
        """Bytes of all manifests together."""
        return self._records.total("file_size")


_NO_MANIFESTS = ManifestFiles(empty_table(MANIFEST_LIST_SCHEMA))
