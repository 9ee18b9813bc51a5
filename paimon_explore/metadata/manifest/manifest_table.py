"""What the three manifest frames share: Arrow tables with exactly the columns of a schema."""

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


FEW = 64
"""Number of records up to which rows are kept as they are."""


class Records:
    """Records of one kind as columns; a few new ones as the rows that they were made of.

    A commit makes files of one to thirty records. Thirty Arrow columns take longer to make than all
    that a commit asks of such rows, so they are made when somebody asks for columns.

    Args:
        schema: the columns.
        table: the records as columns of `schema`, or some of them.
    """

    __slots__ = ("_known", "_schema", "_table")

    def __init__(self, schema: pa.Schema, table: pa.Table | None) -> None:
        self._schema = schema
        self._table = table
        self._known: tuple[Row, ...] | None = None

    @classmethod
    def of_rows(cls, rows: Iterable[Row], schema: pa.Schema) -> "Records":
        """Records from values by column name, each with all columns."""
        found = cls(schema, None)
        found._known = tuple(rows)
        if len(found._known) > FEW:
            found._known, found._table = None, found.table
        return found

    @property
    def table(self) -> pa.Table:
        """The records as columns."""
        if self._table is None:
            self._table = table_of(self._known or (), self._schema)
        return self._table

    @property
    def known(self) -> tuple[Row, ...] | None:
        """The rows, where there are few and they are at hand."""
        return self._known

    @property
    def rows(self) -> "Sequence[Row]":
        """The records as column name to value."""
        return self.table.to_pylist() if self._known is None else self._known

    def __len__(self) -> int:
        return self.table.num_rows if self._known is None else len(self._known)

    def joined(self, others: "Sequence[Records]") -> "Records":
        """These records and others of the same columns, one after the other."""
        runs: list[Records] = []
        for are_rows, some in groupby([self, *others], key=lambda part: part.known is not None):
            if are_rows:  # neighbours become columns together, if they have to
                rows = chain.from_iterable(part.rows for part in some)
                runs.append(Records.of_rows(rows, self._schema))
            else:
                runs.extend(some)
        if len(runs) == 1:
            return runs[0]
        return Records(self._schema, pa.concat_tables([run.table for run in runs]))

    def slice(self, offset: int, length: int | None = None) -> "Records":
        """`length` records from `offset` on."""
        if self._known is None:
            return Records(self._schema, self.table.slice(offset, length))
        end = None if length is None else offset + length
        return Records.of_rows(self._known[offset:end], self._schema)

    def numbers(self, name: str) -> Ints:
        """A column of whole numbers; null is arbitrary."""
        if self._known is not None:
            return np.array([row[name] or 0 for row in self._known], np.int64)
        column = one_piece(self.table.column(name))
        return fixed_values(column, f"i{column.type.byte_width}").astype(np.int64, copy=False)

    def total(self, name: str) -> int:
        """The sum of a column of whole numbers without null."""
        if self._known is not None:
            return sum(row[name] for row in self._known)  # type: ignore[misc]  # whole numbers
        return int(self.numbers(name).sum())

    def distinct(self, name: str) -> frozenset[bytes]:
        """The different values of a column of bytes without null."""
        if self._known is None:
            return distinct_bytes(self.table.column(name))
        values = {row[name] for row in self._known}
        return frozenset(value for value in values if isinstance(value, bytes))

    def spread(self, name: str) -> tuple[int | None, int | None]:
        """Smallest and largest number of a column; nothing if one is null or there is none."""
        if not len(self):
            return None, None
        if self._known is not None:
            found = [value for row in self._known if isinstance(value := row[name], int)]
            return (min(found), max(found)) if len(found) == len(self._known) else (None, None)
        if self.table.column(name).null_count:
            return None, None
        values = self.numbers(name)
        return int(values.min()), int(values.max())


def table_of(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Rows as a table, all columns in one go; absent values are null."""
    whole = pa.array(rows, _struct_of(schema))
    assert isinstance(whole, pa.StructArray)  # noqa: S101 - rows are structs
    return pa.Table.from_arrays(whole.flatten(), schema=schema)


@lru_cache(maxsize=8)
def _struct_of(schema: pa.Schema) -> pa.StructType:
    return pa.struct(tuple(schema))


def one_piece(values: Chunks) -> Column:
    """A chunked array as an array.

    Arrow's own way copies where there is one chunk, and loads pandas where there is none.
    """
    if values.num_chunks == 1:
        return values.chunks[0]
    whole: Column = values.combine_chunks() if values.num_chunks else empty_array(values.type)
    return whole


def distinct_bytes(values: Chunks) -> frozenset[bytes]:
    """The different values of a column of bytes without null."""
    distinct: Column = values.unique()  # type: ignore[assignment]  # an array, not in stubs
    return frozenset(value for value in as_python(distinct) if isinstance(value, bytes))


def filter_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """The rows where the mask is true; a numpy mask does not go through pandas."""
    if isinstance(mask, np.ndarray):
        count = int(np.count_nonzero(mask))
        first = int(np.argmax(mask)) if count else 0
        if mask[first : first + count].all() and _MOST_KEPT * count + _FEW_ROWS >= len(mask):
            return table if count == len(mask) else table.slice(first, count)
        mask = build_bool(mask)
    return table.filter(mask)  # type: ignore[arg-type]  # a boolean column, in stubs


_MOST_KEPT = 4
_FEW_ROWS = 1024
"""Rows that lie together are not copied where they hold on to little else."""


def as_mask(mask: Mask) -> npt.NDArray[np.bool_]:
    """A mask for numpy; null counts as false."""
    if isinstance(mask, np.ndarray):
        return mask
    array: Column = mask.combine_chunks() if isinstance(mask, pa.ChunkedArray) else mask
    return bool_values(array) & valid_mask(array)


def take_rows(table: pa.Table, positions: Positions) -> pa.Table:
    """The rows at these positions; numpy positions do not go through pandas."""
    if isinstance(positions, np.ndarray):
        positions = build_fixed(pa.int64(), positions.astype(np.int64))
    return table.take(positions)  # type: ignore[arg-type]  # an integer column, in stubs


def repeated_byte(value: int, count: int) -> Column:
    """A column of one small number."""
    return build_fixed(pa.int8(), np.full(count, value, np.int8))


def check_columns(table: pa.Table, schema: pa.Schema, what: str) -> None:
    """Refuse a table whose columns are not columns of `schema`: a mistake in our own code."""
    if table.schema.equals(schema):
        return
    for field in table.schema:
        position = schema.get_field_index(field.name)
        assert position >= 0, f"{what} have no column {field.name!r}"  # noqa: S101 - made by our own code
        wanted = schema.field(position).type
        allowed = (wanted, BYTE_VIEWS) if wanted == pa.binary() else (wanted,)
        assert field.type in allowed, f"{what}: {field.name} is {field.type}, not {wanted}"  # noqa: S101 - made by our own code


def complete(columns: Mapping[str, Chunks], schema: pa.Schema, path: str, *, rows: int) -> pa.Table:
    """A table of `rows` rows with the columns of `schema`: absent nullable ones become null.

    Raises:
        CorruptFileError: a column that must be there is absent or holds null.
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
    """Refuse codes that the format does not know; the known ones follow each other, in int8.

    Raises:
        CorruptFileError: a value that is none of the codes; null is let pass.
    """
    first, *_, last = known = [int(code) for code in codes]
    for chunk in column.chunks:
        found = fixed_values(chunk, np.int8).view(np.int8)
        odd = (found < first) | (found > last)
        if not odd.any():
            continue
        wrong = found[odd & valid_mask(chunk)]
        if len(wrong):
            raise CorruptFileError(path, where, f"must be one of {known}, not {int(wrong[0])}")
