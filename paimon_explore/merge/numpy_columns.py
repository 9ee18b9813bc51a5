"""Arrow columns seen as numpy arrays and back, beyond what `encoding.arrow_buffers` has."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, Words

Int8s: TypeAlias = npt.NDArray[np.int8]
Keys: TypeAlias = npt.NDArray[np.signedinteger | np.unsignedinteger | np.bool_]
"""Fixed-width numbers of any width, whose natural order is the order wanted."""

NARROW_DIGITS = 18
"""Decimals of at most so many digits fit into 64 bits."""


def one_array(column: "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    """The column in one section."""
    if isinstance(column, pa.Array):
        return column
    return joined(column.chunks) if column.num_chunks else pa.array([], column.type)


def joined(arrays: Sequence[Column]) -> Column:
    """Arrays of one type one after another; at least one."""
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def nulls_mask(array: Column) -> Bools | None:
    """Which of n values are not null; None when all are."""
    if not array.null_count:
        return None
    return np.zeros(len(array), np.bool_) if pat.is_null(array.type) else nb.valid_mask(array)


def ints_of(array: Column) -> Ints:
    """Integers, dates, times, timestamps, floats as signed integers of their width, bit by bit."""
    width = array.type.bit_width // 8
    return nb.fixed_values(array, f"i{width}")  # type: ignore[return-value]  # any width


def precision_of(data_type: pa.DataType) -> int:
    """Digits of a decimal type."""
    digits: int = data_type.precision  # type: ignore[attr-defined]  # a decimal type
    return digits


def scale_of(data_type: pa.DataType) -> int:
    """Digits of a decimal type after the point."""
    digits: int = data_type.scale  # type: ignore[attr-defined]  # a decimal type
    return digits


def decimal_halves(array: Column) -> tuple[Ints, Words]:
    """High and low 64 bits of the unscaled values of decimals."""
    halves: Words = nb.fixed_values(array, np.dtype([("low", "<u8"), ("high", "<u8")])).view("<u8")
    return halves[1::2].view(np.int64), halves[0::2]


def index_array(rows: Ints) -> pa.Int64Array:
    """Row numbers for `take`; negative ones become null."""
    missing = rows < 0
    bits = nb.pack_bits(~missing) if missing.any() else None
    data = nb.as_buffer(rows.astype(np.int64, copy=False))
    return pa.Array.from_buffers(pa.int64(), len(rows), [bits, data])  # type: ignore[return-value] # in stubs


def narrow_index(rows: Ints, below: int) -> pa.Int64Array:
    """Row numbers below some number for `take`, which reads narrow ones faster."""
    kind = pa.uint16() if below <= 1 << 16 else pa.int64()
    values = rows.astype(np.uint16) if below <= 1 << 16 else rows
    return pa.Array.from_buffers(kind, len(rows), [None, nb.as_buffer(values)])  # type: ignore[return-value] # in stubs


def fields_of(rows: Column) -> list[Column]:
    """The fields of a struct column, with the nulls they have themselves."""
    return [field_of(rows, at) for at in range(rows.type.num_fields)]


def field_of(rows: Column, name: str | int) -> Column:
    """A field of a struct column by name or place."""
    found: Column = rows.field(name)  # type: ignore[attr-defined]  # a struct column
    return found


def child_of(column: Column) -> Column:
    """All elements of a list or map column, also those outside a slice; of maps as structs."""
    if isinstance(column, pa.MapArray):
        kind = column.type
        fields = [kind.key_field, kind.item_field]
        return pa.StructArray.from_arrays([column.keys, column.items], fields=fields)
    found: Column = column.values  # type: ignore[attr-defined]  # a list column
    return found


def int64_array(values: Ints) -> pa.Int64Array:
    """A column of sequence numbers."""
    data = nb.as_buffer(values.astype(np.int64, copy=False))
    return pa.Array.from_buffers(pa.int64(), len(values), [None, data])  # type: ignore[return-value] # in stubs


def int8_array(values: Int8s) -> pa.Int8Array:
    """A column of row kinds."""
    return pa.Array.from_buffers(pa.int8(), len(values), [None, nb.as_buffer(values)])  # type: ignore[return-value] # in stubs


def mask_array(values: Bools) -> pa.BooleanArray:
    """A boolean column without nulls."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, nb.pack_bits(values)])  # type: ignore[return-value] # in stubs


def take_or_null(array: Column, rows: Ints) -> Column:
    """The values at these rows; a negative row gives null."""
    return array.take(index_array(rows))
