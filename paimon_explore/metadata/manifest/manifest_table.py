"""Base of `ManifestEntries`, `ManifestFiles` and `IndexEntries`: records as an Arrow table."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import chain, groupby
from typing import ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    BYTE_VIEWS,
    Column,
    Ints,
    as_python,
    bool_values,
    build_bool,
    build_fixed,
    empty_array,
    empty_table,
    fixed_values,
    valid_mask,
)
from paimon_explore.errors import CorruptFileError

Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
"""A column of a table."""
Row: TypeAlias = Mapping[str, object]
"""A record's values by column name."""
Mask: TypeAlias = "Column | Chunks | npt.NDArray[np.bool_]"
"""One boolean per row."""
Positions: TypeAlias = "Column | npt.NDArray[np.integer]"
"""Row numbers, from 0."""


Path: TypeAlias = tuple[str, ...]
"""The names that lead to a field of a file's records."""

MAX_CACHED_ROWS = 64
"""Maximum number of records that are kept as rows."""


def stored_paths(schema: pa.Schema) -> dict[str, Path]:
    """Return column -> field, for fields named like the columns: `_FILE_NAME` for `file_name`."""
    return {name: (f"_{name.upper()}",) for name in schema.names}


def statistics_paths(columns: str, *record: str) -> dict[str, Path]:
    """Return column -> field for columns with the statistics in a record.

    Args:
        columns: the prefix of the three columns, such as `key` for `key_min`.
        record: the path of the record.
    """
    stored = {"min": "_MIN_VALUES", "max": "_MAX_VALUES", "null_counts": "_NULL_COUNTS"}
    return {f"{columns}_{what}": (*record, field) for what, field in stored.items()}


class ManifestTable:
    """Records of a manifest list, manifest or index manifest, in the order of the file.

    They are stored as an Arrow table or, if few, as rows: a commit writes manifests of one to
    thirty records. Building thirty Arrow columns takes longer than everything else a commit does
    with such rows, so the table is built on first access.

    Records that were read with a projection have only these columns; others raise KeyError.

    Args:
        table: the columns.
    """

    __slots__ = ("_cached_rows", "_table")
    schema: ClassVar[pa.Schema]
    """All columns."""

    def __init__(self, table: pa.Table) -> None:
        check_columns(table, self.schema, type(self).__name__)
        self._table: pa.Table | None = table
        self._cached_rows: tuple[Row, ...] | None = None

    @classmethod
    def _of(cls, table: pa.Table | None, rows: tuple[Row, ...] | None = None) -> Self:
        """Wrap a table whose columns were already checked, or rows with all columns."""
        made = object.__new__(cls)
        made._table = table
        made._cached_rows = rows
        if rows is not None and len(rows) > MAX_CACHED_ROWS:
            made._table, made._cached_rows = table_of(rows, cls.schema), None
        return made

    @classmethod
    def empty(cls) -> Self:
        """Return the empty table."""
        return _empty(cls)  # type: ignore[arg-type, return-value]  # classes can be hashed

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> Self:
        """Create a table from rows (column name -> value); missing nullable values are null."""
        names = cls.schema.names
        return cls._of(None, tuple([{name: row.get(name) for name in names} for row in rows]))

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Concatenate tables that have the same columns."""
        runs: list[Self] = []
        for are_rows, some in groupby(parts, key=lambda part: part.cached_rows is not None):
            run = list(some)
            if are_rows and len(run) > 1:  # consecutive rows become one table, if needed
                rows = chain.from_iterable(part.cached_rows or () for part in run)
                run = [cls._of(None, tuple(rows))]
            runs.extend(run)
        if len(runs) > 1:
            return cls._of(pa.concat_tables([run.table for run in runs]))
        return runs[0] if runs else cls.empty()

    @property
    def table(self) -> pa.Table:
        """The records as an Arrow table."""
        if self._table is None:
            self._table = table_of(self._cached_rows or (), self.schema)
        return self._table

    @property
    def cached_rows(self) -> tuple[Row, ...] | None:
        """The rows if the table was created from few rows, else None."""
        return self._cached_rows

    def rows(self) -> list[dict[str, object]]:
        """Return the records as dictionaries (column name -> value); meant for few records."""
        if self._cached_rows is not None:
            return [dict(row) for row in self._cached_rows]
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows

    def __len__(self) -> int:
        return self.table.num_rows if self._cached_rows is None else len(self._cached_rows)

    def __eq__(self, other: object) -> bool:
        """Return whether the records and their order are equal."""
        if not isinstance(other, ManifestTable) or type(other) is not type(self):
            return NotImplemented
        return bool(self.table.equals(other.table))

    __hash__ = None  # type: ignore[assignment]  # mutable columns

    def __repr__(self) -> str:
        """Return the number of records as text."""
        return f"{type(self).__name__}({len(self)})"

    def column(self, name: str) -> Chunks:
        """Return one column."""
        return self.table.column(name)

    def filter(self, mask: Mask) -> Self:
        """Return the records where the mask is true."""
        return self._of(filter_rows(self.table, mask))

    def take(self, indices: Positions) -> Self:
        """Return the records at these positions."""
        return self._of(take_rows(self.table, indices))

    def slice(self, offset: int, length: int | None = None) -> Self:
        """Return `length` records from `offset` on."""
        if self._cached_rows is None:
            return self._of(self.table.slice(offset, length))
        end = None if length is None else offset + length
        return self._of(None, self._cached_rows[offset:end])

    def numbers(self, name: str) -> Ints:
        """Return an integer column as a numpy array; values of nulls are undefined."""
        if self._cached_rows is not None:
            return np.array([row[name] or 0 for row in self._cached_rows], np.int64)
        column = as_array(self.table.column(name))
        return fixed_values(column, f"i{column.type.byte_width}").astype(np.int64, copy=False)

    def total(self, name: str) -> int:
        """Return the sum of an integer column without nulls."""
        if self._cached_rows is not None:
            return sum(row[name] for row in self._cached_rows)  # type: ignore[misc]  # integers
        return int(self.numbers(name).sum())

    @property
    def total_size(self) -> int:
        """Sum of `file_size`, bytes."""
        return self.total("file_size")

    def min_max(self, name: str) -> tuple[int | None, int | None]:
        """Return minimum and maximum of a column; (None, None) if it is empty or has nulls."""
        if not len(self):
            return None, None
        if self._cached_rows is not None:
            found = [value for row in self._cached_rows if isinstance(value := row[name], int)]
            return (
                (min(found), max(found)) if len(found) == len(self._cached_rows) else (None, None)
            )
        if self.table.column(name).null_count:
            return None, None
        values = self.numbers(name)
        return int(values.min()), int(values.max())


class EntryTable(ManifestTable):
    """Records that add or delete a file of a partition."""

    __slots__ = ()

    @property
    def partitions(self) -> frozenset[bytes]:
        """Binary rows of the partitions of the entries."""
        if self._cached_rows is None:
            values: Iterable[object] = as_python(self.column("partition").unique())  # type: ignore[arg-type]  # an array, not in stubs
        else:
            values = [row["partition"] for row in self._cached_rows]
        return frozenset(value for value in values if isinstance(value, bytes))

    def count_of(self, kind: IntEnum) -> int:
        """Return the number of ADD or DELETE entries (`FileKind`)."""
        if self._cached_rows is not None:
            return sum(row["kind"] == kind for row in self._cached_rows)
        return int(np.count_nonzero(self.numbers("kind") == kind))

    def with_kind(self, kind: IntEnum) -> Self:
        """Return the entries with `kind` set to ADD or DELETE (`FileKind`)."""
        if self.count_of(kind) == len(self):
            return self
        position = self.schema.get_field_index("kind")
        column = build_fixed(pa.int8(), np.full(len(self), kind, np.int8))
        return self._of(self.table.set_column(position, self.schema.field("kind"), column))


@lru_cache(maxsize=8)
def _empty(kind: type[ManifestTable]) -> ManifestTable:
    return kind._of(empty_table(kind.schema), ())  # noqa: SLF001 - of the class above


def table_of(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Build a table from rows; missing values are null."""
    whole = pa.array(rows, _struct_of(schema))
    assert isinstance(whole, pa.StructArray)  # noqa: S101 - rows are structs
    return pa.Table.from_arrays(whole.flatten(), schema=schema)


@lru_cache(maxsize=8)
def _struct_of(schema: pa.Schema) -> pa.StructType:
    return pa.struct(tuple(schema))


def as_array(values: Chunks) -> Column:
    """Convert a chunked array to an array.

    `combine_chunks` would copy a single chunk, and imports pandas if there is no chunk.
    """
    if values.num_chunks == 1:
        return values.chunks[0]
    whole: Column = values.combine_chunks() if values.num_chunks else empty_array(values.type)
    return whole


def filter_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """Return the rows where the mask is true; a numpy mask is converted without pandas."""
    if isinstance(mask, np.ndarray):
        count = int(np.count_nonzero(mask))
        first = int(np.argmax(mask)) if count else 0
        slice_limit = _MAX_RETAINED_RATIO * count + _MAX_RETAINED_ROWS
        if mask[first : first + count].all() and slice_limit >= len(mask):
            return table if count == len(mask) else table.slice(first, count)
        mask = build_bool(mask)
    return pc.call_function("filter", [table, mask])  # type: ignore[no-any-return]  # in stubs


_MAX_RETAINED_RATIO = 4
_MAX_RETAINED_ROWS = 1024
"""Limits for slicing instead of copying adjacent rows: a slice keeps the whole table in memory."""


def as_mask(mask: Mask) -> npt.NDArray[np.bool_]:
    """Convert a mask to numpy; null is false."""
    if isinstance(mask, np.ndarray):
        return mask
    array: Column = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
    return bool_values(array) & valid_mask(array)


def take_rows(table: pa.Table, positions: Positions) -> pa.Table:
    """Return the rows at these positions; numpy positions are converted without pandas."""
    if isinstance(positions, np.ndarray):
        positions = build_fixed(pa.int64(), positions.astype(np.int64))
    return pc.call_function("take", [table, positions])  # type: ignore[no-any-return]  # in stubs


def check_columns(table: pa.Table, schema: pa.Schema, what: str) -> None:
    """Assert that the columns of a table are columns of `schema`."""
    if table.schema.equals(schema):
        return
    for field in table.schema:
        position = schema.get_field_index(field.name)
        assert position >= 0, f"{what} have no column {field.name!r}"  # noqa: S101 - made by our own code
        wanted = schema.field(position).type
        allowed = (wanted, BYTE_VIEWS) if wanted == pa.binary() else (wanted,)
        assert field.type in allowed, f"{what}: {field.name} is {field.type}, not {wanted}"  # noqa: S101 - made by our own code


def with_all_columns(
    columns: Mapping[str, Chunks], schema: pa.Schema, path: str, *, rows: int
) -> pa.Table:
    """Build a table with all columns of `schema`; missing nullable columns are null.

    Raises:
        CorruptFileError: a required column is missing or contains null.
    """
    found: list[Chunks] = []
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            if not field.nullable and rows:
                raise CorruptFileError(path, field.name, "must be present")
            column = pa.chunked_array([pa.nulls(rows, field.type)])
        elif not field.nullable and column.null_count:
            raise CorruptFileError(path, field.name, "must not be null")
        found.append(column)
    return pa.Table.from_arrays(found, schema=schema)


def check_codes(column: Chunks, codes: type[IntEnum], path: str, where: str) -> None:
    """Check that an int8 column contains only codes of an enum with consecutive values, or null.

    Raises:
        CorruptFileError: the column contains an unknown code.
    """
    first, *_, last = known = [int(code) for code in codes]
    for chunk in column.chunks:
        found = fixed_values(chunk, np.int8).view(np.int8)
        unknown = (found < first) | (found > last)
        if not unknown.any():
            continue
        wrong = found[unknown & valid_mask(chunk)]
        if len(wrong):
            raise CorruptFileError(path, where, f"must be one of {known}, not {int(wrong[0])}")
