"""Manifest entries: data files added and removed, as Arrow columns.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
Entries come by the million, so there is no object per entry: `ManifestEntries` is a table, and what
is asked of entries is computed on its columns.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import (
    Column,
    binary_scalar,
    bool_values,
    empty_table,
    fixed_values,
    string_scalar,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.manifest_table import (
    Chunks,
    Mask,
    Positions,
    Records,
    Row,
    check_columns,
    filter_rows,
    one_piece,
    repeated_byte,
    take_rows,
)

VERSION = 2

UNAWARE_TOTAL_BUCKETS = -1
POSTPONE_TOTAL_BUCKETS = -2


class FileKind(IntEnum):
    """What an entry says of its file."""

    ADD = 0
    DELETE = 1


class FileSource(IntEnum):
    """Who wrote a data file."""

    APPEND = 0
    COMPACT = 1


ENTRY_SCHEMA = pa.schema(
    (
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("partition", pa.binary(), nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("total_buckets", pa.int32(), nullable=False),
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        pa.field("min_key", pa.binary(), nullable=False),
        pa.field("max_key", pa.binary(), nullable=False),
        pa.field("key_min", pa.binary(), nullable=False),
        pa.field("key_max", pa.binary(), nullable=False),
        pa.field("key_null_counts", pa.list_(pa.int64())),
        pa.field("value_min", pa.binary(), nullable=False),
        pa.field("value_max", pa.binary(), nullable=False),
        pa.field("value_null_counts", pa.list_(pa.int64())),
        pa.field("min_sequence_number", pa.int64(), nullable=False),
        pa.field("max_sequence_number", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("extra_files", pa.list_(pa.string()), nullable=False),
        pa.field("creation_time", pa.int64()),
        pa.field("delete_row_count", pa.int64()),
        pa.field("embedded_file_index", pa.binary()),
        pa.field("file_source", pa.int8()),
        pa.field("value_stats_cols", pa.list_(pa.string())),
        pa.field("external_path", pa.string()),
        pa.field("first_row_id", pa.int64()),
        pa.field("write_cols", pa.list_(pa.string())),
        pa.field("write_cols_sequences", pa.list_(pa.int64())),
    )
)
"""One row per entry.

`partition`, `min_key` ... `value_max` are binary rows with the 4-byte arity of manifests.
`min_key`/`max_key` are keys of the first and last row, `key_min`/`key_max` and `value_min`/
`value_max` the bounds per column. `creation_time` is the writer's local wall clock as if it were
UTC, in milliseconds. `value_stats_cols` null means all columns.
"""

BOUNDS = frozenset({"key_min", "key_max", "value_min", "value_max"})
"""Columns that may be `BYTE_VIEWS` in frames that only sieves look at."""

ENTRY_FIELDS = MappingProxyType(
    {
        "kind": ("_KIND",),
        "partition": ("_PARTITION",),
        "bucket": ("_BUCKET",),
        "total_buckets": ("_TOTAL_BUCKETS",),
        "file_name": ("_FILE", "_FILE_NAME"),
        "file_size": ("_FILE", "_FILE_SIZE"),
        "row_count": ("_FILE", "_ROW_COUNT"),
        "min_key": ("_FILE", "_MIN_KEY"),
        "max_key": ("_FILE", "_MAX_KEY"),
        "key_min": ("_FILE", "_KEY_STATS", "_MIN_VALUES"),
        "key_max": ("_FILE", "_KEY_STATS", "_MAX_VALUES"),
        "key_null_counts": ("_FILE", "_KEY_STATS", "_NULL_COUNTS"),
        "value_min": ("_FILE", "_VALUE_STATS", "_MIN_VALUES"),
        "value_max": ("_FILE", "_VALUE_STATS", "_MAX_VALUES"),
        "value_null_counts": ("_FILE", "_VALUE_STATS", "_NULL_COUNTS"),
        "min_sequence_number": ("_FILE", "_MIN_SEQUENCE_NUMBER"),
        "max_sequence_number": ("_FILE", "_MAX_SEQUENCE_NUMBER"),
        "schema_id": ("_FILE", "_SCHEMA_ID"),
        "level": ("_FILE", "_LEVEL"),
        "extra_files": ("_FILE", "_EXTRA_FILES"),
        "creation_time": ("_FILE", "_CREATION_TIME"),
        "delete_row_count": ("_FILE", "_DELETE_ROW_COUNT"),
        "embedded_file_index": ("_FILE", "_EMBEDDED_FILE_INDEX"),
        "file_source": ("_FILE", "_FILE_SOURCE"),
        "value_stats_cols": ("_FILE", "_VALUE_STATS_COLS"),
        "external_path": ("_FILE", "_EXTERNAL_PATH"),
        "first_row_id": ("_FILE", "_FIRST_ROW_ID"),
        "write_cols": ("_FILE", "_WRITE_COLS"),
        "write_cols_sequences": ("_FILE", "_WRITE_COLS_SEQUENCES"),
    }
)
"""Where each column lies in the file's records."""


_NAMES = tuple(ENTRY_SCHEMA.names)
_NO_TEXT = string_scalar("")
_SLASH = string_scalar("/")
_NO_BYTES = binary_scalar(b"")
_NUL = binary_scalar(b"\x00")


class ManifestEntries:
    """Entries in the order of their manifests, as columns of `ENTRY_SCHEMA`.

    A frame that was read for some columns only has just these; asking for another is a KeyError.

    Args:
        table: the columns.
    """

    __slots__ = ("_records",)

    def __init__(self, table: pa.Table) -> None:
        check_columns(table, ENTRY_SCHEMA, "manifest entries")
        self._records = Records(ENTRY_SCHEMA, table)

    @classmethod
    def empty(cls) -> "ManifestEntries":
        """No entry."""
        return _NO_ENTRIES

    @classmethod
    def concat(cls, parts: Sequence["ManifestEntries"]) -> "ManifestEntries":
        """The entries of all parts, one after the other; the parts have the same columns."""
        if not parts:
            return cls.empty()
        if len(parts) == 1:
            return parts[0]
        return cls._of(parts[0].records.joined([part.records for part in parts[1:]]))

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> "ManifestEntries":
        """Entries from values by column name; absent nullable columns are null."""
        whole = ({name: row.get(name) for name in _NAMES} for row in rows)
        return cls._of(Records.of_rows(whole, ENTRY_SCHEMA))

    @classmethod
    def _of(cls, records: Records) -> "ManifestEntries":
        """Records that come out of another frame, and so need not be checked."""
        made = object.__new__(cls)
        made._records = records
        return made

    @property
    def table(self) -> pa.Table:
        """The entries as columns."""
        return self._records.table

    @property
    def records(self) -> Records:
        """The entries as rows or columns, whichever is at hand."""
        return self._records

    def __len__(self) -> int:
        return len(self._records)

    def __eq__(self, other: object) -> bool:
        """Whether the entries are the same, in the same order."""
        if not isinstance(other, ManifestEntries):
            return NotImplemented
        return bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]  # as all that holds columns

    def __repr__(self) -> str:
        """The number of entries."""
        return f"ManifestEntries({len(self)})"

    def column(self, name: str) -> Chunks:
        """One column of `ENTRY_SCHEMA`."""
        return self.table.column(name)

    def filter(self, mask: Mask) -> "ManifestEntries":
        """The entries where the mask is true."""
        return self._with(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> "ManifestEntries":
        """The entries of these positions."""
        return self._with(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> "ManifestEntries":
        """`length` entries from `offset` on."""
        return self._of(self._records.slice(offset, length))

    def select(self, names: Collection[str]) -> "ManifestEntries":
        """The same entries with these columns only, as far as the frame has them."""
        there = self.table.schema.names
        kept = [name for name in there if name in names]
        return self if len(kept) == len(there) else self._with(self.table.select(kept))

    def in_one_piece(self) -> "ManifestEntries":
        """The same entries in one chunk, of which parts are taken faster."""
        return self._with(self.table.combine_chunks())

    def _with(self, table: pa.Table) -> "ManifestEntries":
        """Columns that come out of this frame."""
        return self._of(Records(ENTRY_SCHEMA, table))

    def of_kind(self, kind: FileKind) -> "ManifestEntries":
        """The entries that add, or those that delete."""
        wanted = self._records.numbers("kind") == kind
        if wanted.all():
            return self
        return self.filter(wanted) if wanted.any() else self.slice(0, 0)

    def count_of(self, kind: FileKind) -> int:
        """How many entries add, or delete."""
        known = self._records.known
        if known is not None:
            return sum(row["kind"] == kind for row in known)
        return int(np.count_nonzero(self._records.numbers("kind") == kind))

    def with_kind(self, kind: FileKind) -> "ManifestEntries":
        """The same files, all added or all deleted."""
        if self.count_of(kind) == len(self):
            return self
        position = ENTRY_SCHEMA.get_field_index("kind")
        column = repeated_byte(kind, len(self))
        return self._with(self.table.set_column(position, ENTRY_SCHEMA.field("kind"), column))

    def rows(self) -> list[dict[str, object]]:
        """The entries as column name to value: for few entries, as in views and messages."""
        return [dict(row) for row in self._records.rows]

    @property
    def partitions(self) -> frozenset[bytes]:
        """Binary rows of the partitions of the entries."""
        return self._records.distinct("partition")

    @property
    def total_rows(self) -> int:
        """Sum of `row_count`."""
        return self._records.total("row_count")

    @property
    def total_size(self) -> int:
        """Sum of `file_size`, bytes."""
        return self._records.total("file_size")


_NO_ENTRIES = ManifestEntries(empty_table(ENTRY_SCHEMA))


def live_entries(
    entries: ManifestEntries, *, path: str = "", strict: bool = False
) -> ManifestEntries:
    """The files that remain of a snapshot's entries: every ADD whose identity nobody deletes.

    The way Java reads a snapshot. It relies on a file being added once and deleted at most once per
    identity (partition, bucket, level, name, extra files, embedded index, external path).

    Args:
        entries: of the base list, then of the delta list.
        path: manifest list or snapshot, for messages.
        strict: whether to look for identities added twice, too.

    Returns:
        ADD entries in the given order.

    Raises:
        CorruptFileError: strict, and an identity is added twice.
    """
    deleted = entries.of_kind(FileKind.DELETE)
    added = entries.of_kind(FileKind.ADD) if len(deleted) else entries
    if len(deleted):
        suspects = pc.is_in(added.column("file_name"), value_set=_one(deleted, "file_name"))
        keys = _identities(added.filter(suspects))
        gone = pc.is_in(keys, value_set=one_piece(_identities(deleted)))
        dead = _mask(suspects)
        dead[dead] = _mask(gone)
        added = added.filter(~dead)
    if strict:
        _refuse_twice_added(added, path)
    return added


def merge_entries(entries: ManifestEntries, *, path: str = "") -> ManifestEntries:
    """What a rewritten manifest has to say: ADD and DELETE of one identity cancel, order stays.

    A DELETE without its ADD stays, for the ADD is in another manifest.

    Args:
        entries: in the order of their manifests.
        path: for messages.

    Raises:
        CorruptFileError: an identity is added while it is there or already deleted.
    """
    keys = one_piece(_identities(entries)).dictionary_encode()
    codes = fixed_values(keys.indices, np.int32)
    kinds = fixed_values(_one(entries, "kind"), np.int8)
    adds = np.bincount(codes[kinds == FileKind.ADD], minlength=len(keys.dictionary))
    deletes = np.bincount(codes[kinds == FileKind.DELETE], minlength=len(keys.dictionary))
    several = (adds + deletes > 1)[codes]
    kept = ~several
    open_adds: dict[int, int] = {}
    # One by one: only identities that occur more than once come here.
    for row in np.flatnonzero(several).tolist():
        code, kind = int(codes[row]), kinds[row]
        before = open_adds.get(code)
        if kind == FileKind.ADD:
            if before is not None:
                raise _twice_added(entries, row, path)
            open_adds[code], kept[row] = row, True
        elif before is None:
            kept[row], open_adds[code] = True, row
        else:
            kept[before] = False
            del open_adds[code]
    return entries.filter(kept)


def _refuse_twice_added(added: ManifestEntries, path: str) -> None:
    names = added.column("file_name")
    if len(names.unique()) == len(names):
        return
    keys = one_piece(_identities(added)).dictionary_encode()
    codes = fixed_values(keys.indices, np.int32)
    first = np.zeros(len(codes), dtype=np.bool_)
    first[np.unique(codes, return_index=True)[1]] = True
    if not first.all():
        raise _twice_added(added, int(np.flatnonzero(~first)[0]), path)


def _twice_added(entries: ManifestEntries, row: int, path: str) -> CorruptFileError:
    name = entries.column("file_name")[row].as_py()
    return CorruptFileError(
        path, f"entry of {name}", "a file must not be added while an entry for it is there"
    )


def _identities(entries: ManifestEntries) -> Chunks:
    """One binary value per entry, equal exactly for equal identities.

    File names hold neither NUL nor "/", so the parts before the partition cannot run together; the
    partition's length separates it from the embedded index.
    """
    partition = entries.column("partition")
    parts = [
        entries.column("level").cast(pa.string()),
        entries.column("bucket").cast(pa.string()),
        entries.column("file_name"),
        pc.coalesce(pc.binary_join(entries.column("extra_files"), _SLASH), _NO_TEXT),
        pc.coalesce(entries.column("external_path"), _NO_TEXT),
        pc.binary_length(partition).cast(pa.string()),  # type: ignore[arg-type]  # in stubs
    ]
    tail = pc.coalesce(entries.column("embedded_file_index"), _NO_BYTES)
    texts = [part.cast(pa.binary()) for part in parts]
    keys: Chunks = pc.binary_join_element_wise(*texts, partition, tail, _NUL)  # type: ignore[call-overload]  # in stubs
    return keys


def _one(entries: ManifestEntries, name: str) -> Column:
    return one_piece(entries.column(name))


def _mask(column: "Column | Chunks") -> npt.NDArray[np.bool_]:
    """A boolean column without nulls as a numpy mask that may be changed."""
    if isinstance(column, pa.ChunkedArray):
        column = one_piece(column)
    return np.array(bool_values(column))
