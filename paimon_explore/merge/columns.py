"""Arrow columns seen as numpy arrays and back, without a copy where bits allow it.

`Array.to_numpy` and `pa.array(ndarray)` import pandas, which costs a second: these do not.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pat

Int64s: TypeAlias = npt.NDArray[np.int64]
Int8s: TypeAlias = npt.NDArray[np.int8]
UInt64s: TypeAlias = npt.NDArray[np.uint64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.generic]
"""Fixed-width numbers of any width, whose natural order is the order wanted."""

NARROW_DIGITS = 18
"""Decimals of at most so many digits fit into 64 bits."""

_ARROW_OF_WIDTH = {"i1": pa.int8(), "i2": pa.int16(), "i4": pa.int32(), "i8": pa.int64()}


def one_array(column: "pa.Array | pa.ChunkedArray") -> pa.Array:
    """The column in one piece."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    chunks: list[pa.Array] = column.chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def joined(arrays: Sequence[pa.Array]) -> pa.Array:
    """Arrays of one type one after another; at least one."""
    return arrays[0] if len(arrays) == 1 else pa.concat_arrays(arrays)


def valid_mask(array: pa.Array) -> Bools | None:
    """Which of n values are not null; None when all are."""
    if not array.null_count:
        return None
    if pat.is_null(array.type):
        return np.zeros(len(array), bool)
    return bits_of(array.is_valid())


def bits_of(array: pa.Array) -> Bools:
    """A boolean column; slots of nulls hold anything."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), bool)
    first, count = array.offset, len(array)
    packed = np.frombuffer(data, np.uint8)[first // 8 : (first + count + 7) // 8]
    found: Bools = np.unpackbits(packed, bitorder="little")[first % 8 : first % 8 + count].view(
        bool
    )
    return found


def fixed_values(array: pa.Array, kind: str) -> Words:
    """The value buffer as numbers of a numpy type such as `i8`; slots of nulls hold anything."""
    data = array.buffers()[1]
    width = np.dtype(kind).itemsize
    if data is None or not len(array):
        return np.zeros(len(array), kind)
    return np.frombuffer(data, kind, count=len(array), offset=array.offset * width)


def ints_of(array: pa.Array) -> Words:
    """The values of integers, dates, times, timestamps and floats as signed integers, bit by bit."""
    return fixed_values(array, f"i{bit_width(array.type) // 8}")


def decimal_halves(array: pa.Array) -> tuple[Int64s, UInt64s]:
    """High and low 64 bits of the unscaled values of decimals."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    halves = np.frombuffer(data, "<u8", count=2 * len(array), offset=16 * array.offset)
    return halves[1::2].view(np.int64), halves[0::2]


def bit_width(data_type: pa.DataType) -> int:
    """Bits of a value of a fixed-width type."""
    width: int = data_type.bit_width
    return width


def offsets_of(array: pa.Array) -> Int64s:
    """The n + 1 offsets of strings, bytes, lists and maps, into the child or data buffer as it is."""
    wide = pat.is_large_binary(array.type) or pat.is_large_string(array.type)
    kind = "i8" if wide else "i4"
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array) + 1, np.int64)
    width = np.dtype(kind).itemsize
    found = np.frombuffer(data, kind, count=len(array) + 1, offset=array.offset * width)
    return found.astype(np.int64, copy=False)


def int_array(values: npt.NDArray[np.signedinteger[npt.NBitBase]]) -> pa.Array:
    """A signed integer column without nulls."""
    data = pa.py_buffer(np.ascontiguousarray(values))
    kind = f"i{values.itemsize}"
    return pa.Array.from_buffers(_ARROW_OF_WIDTH[kind], len(values), [None, data])


def mask_array(values: Bools) -> pa.Array:
    """A boolean column without nulls."""
    data = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, data])


def fixed_array(values: Words, valid: Bools | None, data_type: pa.DataType) -> pa.Array:
    """A column of a fixed-width type from its value buffer; `valid` False is null."""
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    count = len(values) * values.itemsize * 8 // bit_width(data_type)
    return pa.Array.from_buffers(data_type, count, [bits, data])


def take_or_null(array: pa.Array, rows: Int64s) -> pa.Array:
    """The values at these rows; a negative row gives null."""
    missing = rows < 0
    if not missing.any():
        return array.take(int_array(rows))
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.where(missing, 0, rows))
    return array.take(pa.Array.from_buffers(pa.int64(), len(rows), [valid, data]))
