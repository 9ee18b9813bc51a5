"""Conversion between Arrow columns and NumPy arrays for merges; see `data_types.arrow_buffers`."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, UInt64s

Int8s: TypeAlias = npt.NDArray[np.int8]
Keys: TypeAlias = npt.NDArray[np.signedinteger | np.unsignedinteger | np.bool_]
"""Fixed-width numbers that sort in the required order."""

NARROW_DIGITS = 18
"""Maximum precision of decimals that fit into 64 bits."""


def nulls_mask(array: Column) -> Bools | None:
    """Which of n values are not null; None if all are."""
    return None if not array.null_count else nb.valid_mask(array)


def ints_of(array: Column) -> Ints:
    """The bits of numbers, dates, times and timestamps as signed integers of the same width."""
    width = array.type.bit_width // 8
    return nb.fixed_values(array, f"i{width}")  # type: ignore[return-value]  # any width


def precision_of(data_type: pa.DataType) -> int:
    """The precision of a decimal type."""
    digits: int = data_type.precision  # type: ignore[attr-defined]  # a decimal type
    return digits


def scale_of(data_type: pa.DataType) -> int:
    """The scale of a decimal type."""
    digits: int = data_type.scale  # type: ignore[attr-defined]  # a decimal type
    return digits


def decimal_halves(array: Column) -> tuple[Ints, UInt64s]:
    """The high and low 64 bits of the unscaled values of decimals."""
    halves: UInt64s = nb.fixed_values(array, np.dtype([("low", "<u8"), ("high", "<u8")])).view(
        "<u8"
    )
    return halves[1::2].view(np.int64), halves[0::2]


def index_array(rows: Ints) -> pa.Int64Array:
    """Row numbers for `take`; negative ones become null."""
    return nb.build_fixed(pa.int64(), rows.astype(np.int64, copy=False), rows >= 0)  # type: ignore[return-value]  # in stubs


def narrow_index(rows: Ints, below: int) -> pa.Int64Array:
    """Row numbers below a limit for `take`, as uint16 if possible, which is faster."""
    kind = pa.uint16() if below <= 1 << 16 else pa.int64()
    values = rows.astype(np.uint16) if below <= 1 << 16 else rows
    return pa.Array.from_buffers(kind, len(rows), [None, nb.as_buffer(values)])  # type: ignore[return-value] # in stubs


def fields_of(rows: Column) -> list[Column]:
    """The fields of a struct column; the validity of the structs is not applied."""
    return [field_of(rows, at) for at in range(rows.type.num_fields)]


def field_of(rows: Column, name: str | int) -> Column:
    """A field of a struct column by name or index."""
    found: Column = rows.field(name)  # type: ignore[attr-defined]  # a struct column
    return found


def child_of(column: Column) -> Column:
    """All elements of a list or map column, including those outside a slice; of maps as structs."""
    if isinstance(column, pa.MapArray):
        kind = column.type
        fields = [kind.key_field, kind.item_field]
        return pa.StructArray.from_arrays([column.keys, column.items], fields=fields)
    found: Column = column.values  # type: ignore[attr-defined]  # a list column
    return found


def int64_array(values: Ints) -> pa.Int64Array:
    """An int64 array without nulls."""
    return nb.build_fixed(pa.int64(), values.astype(np.int64, copy=False))  # type: ignore[return-value]  # in stubs


def int8_array(values: Int8s) -> pa.Int8Array:
    """An int8 array without nulls."""
    return nb.build_fixed(pa.int8(), values)  # type: ignore[return-value]  # in stubs


def mask_array(values: Bools) -> pa.BooleanArray:
    """A boolean array without nulls."""
    return nb.build_bool(values)  # type: ignore[return-value]  # in stubs


def take_or_null(array: Column, rows: Ints) -> Column:
    """Takes the values at row numbers; null for negative ones."""
    return pc.take(array, index_array(rows))
