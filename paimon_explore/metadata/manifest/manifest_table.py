"""Base of `ManifestEntries`, `ManifestFiles` and `IndexEntries`: records as an Arrow table."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import chain, groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    BYTE_VIEWS,
    Column,
    Ints,
    as_python,
    bool_values,
    build_bool,
    build_fixed,
    empty_array,
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


MAX_CACHED_ROWS = 64
"""Maximum number of records that `Records` keeps as rows."""


class Records:
    """Records with a common schema, stored as an Arrow table or, if few, as rows.

    A commit writes manifests of one to thirty records. Building thirty Arrow columns takes longer
    than everything else a commit does with such rows, so the table is built on first access.

    Args:
        schema: the columns.
        table: the records as columns of `schema`, or some of them.
    """

    __slots__ = ("_cached_rows", "_schema", "_table")

    def __init__(self, schema: pa.Schema, table: pa.Table | None) -> None:
        self._schema = schema
        self._table = table
        self._cached_rows: tuple[Row, ...] | None = None

    @classmethod
    def of_rows(cls, rows: Iterable[Row], schema: pa.Schema) -> "Records":
        """Create records from rows (column name -> value) with all columns."""
        found = cls(schema, None)
        found._cached_rows = tuple(rows)
        if len(found._cached_rows) > MAX_CACHED_ROWS:
            found._cached_rows, found._table = None, found.table
        return found

    @property
    def table(self) -> pa.Table:
        """The records as an Arrow table."""
        if self._table is None:
            self._table = table_of(self._cached_rows or (), self._schema)
        return self._table

    @property
    def cached_rows(self) -> tuple[Row, ...] | None:
        """The rows if the records were created from few rows, else None."""
        return self._cached_rows

    @property
    def rows(self) -> "Sequence[Row]":
        """The records as rows (column name -> value)."""
        return self.table.to_pylist() if self._cached_rows is None else self._cached_rows

    def __len__(self) -> int:
        return self.table.num_rows if self._cached_rows is None else len(self._cached_rows)

    def concat(self, others: "Sequence[Records]") -> "Records":
        """Concatenate these records and others with the same columns."""
        runs: list[Records] = []
        for are_rows, some in groupby(
            [self, *others], key=lambda part: part.cached_rows is not None
        ):
            if are_rows:  # consecutive rows become one table, if needed
                rows = chain.from_iterable(part.rows for part in some)
                runs.append(Records.of_rows(rows, self._schema))
            else:
                runs.extend(some)
        if len(runs) == 1:
            return runs[0]
        return Records(self._schema, pa.concat_tables([run.table for run in runs]))

    def slice(self, offset: int, length: int | None = None) -> "Records":
        """Return `length` records from `offset` on."""
        if self._cached_rows is None:
            return Records(self._schema, self.table.slice(offset, length))
        end = None if length is None else offset + length
        return Records.of_rows(self._cached_rows[offset:end], self._schema)

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

    def distinct(self, name: str) -> frozenset[bytes]:
        """Return the distinct values of a binary column without nulls."""
        if self._cached_rows is None:
            return distinct_bytes(self.table.column(name))
        values = {row[name] for row in self._cached_rows}
        return frozenset(value for value in values if isinstance(value, bytes))

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


def distinct_bytes(values: Chunks) -> frozenset[bytes]:
    """Return the distinct values of a binary column without nulls."""
    distinct: Column = values.unique()  # type: ignore[assignment]  # an array, not in stubs
    return frozenset(value for value in as_python(distinct) if isinstance(value, bytes))


def filter_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """Return the rows where the mask is true; a numpy mask is converted without pandas."""
    if isinstance(mask, np.ndarray):
        count = int(np.count_nonzero(mask))
        first = int(np.argmax(mask)) if count else 0
        slice_limit = _MAX_RETAINED_RATIO * count + _MAX_RETAINED_ROWS
        if mask[first : first + count].all() and slice_limit >= len(mask):
            return table if count == len(mask) else table.slice(first, count)
        mask = build_bool(mask)
    return table.filter(mask)  # type: ignore[arg-type]  # a boolean column, in stubs


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
    return table.take(positions)  # type: ignore[arg-type]  # an integer column, in stubs


def repeated_byte(value: int, count: int) -> Column:
    """Return an int8 column that repeats one value."""
    return build_fixed(pa.int8(), np.full(count, value, np.int8))


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
                raise CorruptFileError(path, field.name, "the field is required")
            column = pa.chunked_array([pa.nulls(rows, field.type)])
        elif not field.nullable and column.null_count:
            raise CorruptFileError(path, field.name, "the field must not be null")
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
