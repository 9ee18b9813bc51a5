"""What the three manifest frames share: Arrow tables with exactly the columns of a schema."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.buffers import Column, build_bool, build_fixed
from paimon_explore.errors import CorruptFileError

Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
"""A column of a table."""
Mask: TypeAlias = "Column | Chunks | npt.NDArray[np.bool_]"
"""One boolean per row."""
Positions: TypeAlias = "Column | npt.NDArray[np.integer]"
"""Row numbers, from 0."""


def filter_rows(table: pa.Table, mask: Mask) -> pa.Table:
    """The rows where the mask is true; a numpy mask does not go through pandas."""
    if isinstance(mask, np.ndarray):
        mask = build_bool(mask, np.ones_like(mask))
    return table.filter(mask)  # type: ignore[arg-type]  # a boolean column, in stubs


def take_rows(table: pa.Table, positions: Positions) -> pa.Table:
    """The rows at these positions; numpy positions do not go through pandas."""
    if isinstance(positions, np.ndarray):
        valid = np.ones(len(positions), dtype=np.bool_)
        positions = build_fixed(pa.int64(), positions.astype(np.int64), valid)
    return table.take(positions)  # type: ignore[arg-type]  # an integer column, in stubs


def check_columns(table: pa.Table, schema: pa.Schema, what: str) -> None:
    """Refuse a table whose columns are not columns of `schema`: a mistake in our own code."""
    if table.schema.equals(schema):
        return
    for field in table.schema:
        position = schema.get_field_index(field.name)
        assert position >= 0, f"{what} have no column {field.name!r}"  # noqa: S101 - made by our own code
        wanted = schema.field(position).type
        assert field.type == wanted, f"{what}: {field.name} is {field.type}, not {wanted}"  # noqa: S101 - made by our own code


def complete(table: pa.Table, schema: pa.Schema, path: str, *, rows: int) -> pa.Table:
    """A table of `rows` rows with the columns of `schema`: absent nullable ones become null.

    Raises:
        CorruptFileError: a column that must be there is absent or holds null.
    """
    columns = []
    for field in schema:
        position = table.schema.get_field_index(field.name)
        if position < 0:
            if not field.nullable and rows:
                raise CorruptFileError(path, field.name, "the field is required")
            columns.append(pa.chunked_array([pa.nulls(rows, field.type)]))
            continue
        column = table.column(position)
        if not field.nullable and column.null_count:
            raise CorruptFileError(path, field.name, "the field must not be null")
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def check_values(column: Chunks, allowed: tuple[int, ...], path: str, where: str) -> None:
    """Refuse codes that the format does not know.

    Raises:
        CorruptFileError: a value that is not in `allowed`.
    """
    known = pa.array([*allowed, None], column.type)
    strange = pc.filter(column, pc.invert(pc.is_in(column, value_set=known)))
    if len(strange):
        raise CorruptFileError(path, where, f"must be one of {allowed}, not {strange[0]}")
