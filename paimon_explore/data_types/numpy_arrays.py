"""Arrow arrays as numpy values and back, without a copy and without pandas."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
"""One Arrow array of any type."""

Whole: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_WHOLE = {8: "i1", 16: "<i2", 32: "<i4", 64: "<i8"}
_FLOATS = {32: "<f4", 64: "<f8"}
_DECIMAL_WORDS = 2
_WORD_BYTES = 8


def whole_values(array: Column) -> Whole:
    """The integers behind integer, date, time and timestamp values; 0 where null."""
    dtype = _WHOLE[array.type.bit_width]
    return _zeroed(_values(array, dtype).astype(np.int64), array)


def float_values(array: Column) -> Floats:
    """The values of a float array; 0 where null."""
    dtype = _FLOATS[array.type.bit_width]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return _zeroed(_values(array, dtype).astype(np.float64), array)


def low_words(array: Column) -> Whole:
    """The low 64 bits of the unscaled integers of a decimal array; 0 where null."""
    if len(array) == 0:
        return np.zeros(0, np.int64)
    start = _DECIMAL_WORDS * array.offset * _WORD_BYTES
    words = np.frombuffer(_data(array), "<i8", _DECIMAL_WORDS * len(array), start)
    return _zeroed(words[::_DECIMAL_WORDS].astype(np.int64), array)


def flag_values(array: Column) -> Flags:
    """The values of a boolean array; False where null."""
    bits = np.unpackbits(np.frombuffer(_data(array), np.uint8), bitorder="little")
    flags = bits[array.offset : array.offset + len(array)].astype(np.bool_)
    return flags & valid_values(array)


def valid_values(array: Column) -> Flags:
    """Where an array is not null."""
    bitmap = validity(array)
    if bitmap is None:
        return np.ones(len(array), np.bool_)
    bits = np.unpackbits(np.frombuffer(memoryview(bitmap), np.uint8), bitorder="little")
    return bits[: len(array)].astype(np.bool_)


def _values(array: Column, dtype: str) -> npt.NDArray[np.generic]:
    if len(array) == 0:
        return np.zeros(0, dtype)
    width = np.dtype(dtype).itemsize
    return np.frombuffer(_data(array), dtype, len(array), array.offset * width)


Number = TypeVar("Number", np.int64, np.float64)


def _zeroed(values: npt.NDArray[Number], array: Column) -> npt.NDArray[Number]:
    if array.null_count:
        values[~valid_values(array)] = 0
    return values


def _data(array: Column) -> memoryview:
    found = array.buffers()[1]
    empty = bytes(_DECIMAL_WORDS * _WORD_BYTES * (array.offset + len(array)))
    return memoryview(empty) if found is None else memoryview(found)


def array_of(values: npt.NDArray[np.generic], arrow: pa.DataType, like: Column) -> Column:
    """Fixed-width values as an array that is null where another one is."""
    data = pa.py_buffer(np.ascontiguousarray(values).data)
    return pa.Array.from_buffers(arrow, len(values), [validity(like), data])


def mask_of(flags: Flags) -> Column:
    """Flags as a boolean array."""
    bits = np.packbits(flags, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, pa.py_buffer(bits.data)])


def validity(array: Column) -> pa.Buffer | None:
    """The null bitmap of an array, from its first value on; None without nulls."""
    return None if array.null_count == 0 else array.is_valid().buffers()[1]


def mapped(
    array: Column, function: Callable[[Sequence[object]], list[object]], arrow: pa.DataType
) -> Column:
    """The array with each distinct value replaced by what a function of plain Python gives for it.

    For conversions that no column function does the way Java does: the loop runs over distinct
    values only.

    Args:
        array: n values of a type that dictionaries hold.
        function: distinct values, none of them null, to as many results or Nones.
        arrow: the type of the results.
    """
    encoded = array.dictionary_encode()
    results: Column = pa.array(function(encoded.dictionary.to_pylist()), arrow)
    return pc.take(results, encoded.indices)


def null_column(length: int, arrow: pa.DataType) -> Column:
    """A column of nulls."""
    nulls: Column = pa.nulls(length, arrow)  # type: ignore[call-overload] # one overload per type
    return nulls


Value: TypeAlias = "pa.Scalar[pa.DataType]"
"""One value of any type."""

# pa.scalar and pa.array of Python values import pandas when it is there: these do not


def null_value(arrow: pa.DataType) -> Value:
    """Null as a value of a type."""
    return null_column(1, arrow)[0]


def text_column(texts: Sequence[str]) -> Column:
    """Texts as a column."""
    return _variable_width([text.encode() for text in texts], pa.string())


def text_value(text: str) -> Value:
    """A text as a value."""
    return text_column([text])[0]


def bytes_value(value: bytes) -> Value:
    """Bytes as a value."""
    return _variable_width([value], pa.binary())[0]


def _variable_width(values: Sequence[bytes], arrow: pa.DataType) -> Column:
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(arrow, len(values), buffers)


def wide_decimal_value(unscaled: int, arrow: pa.DataType) -> Value:
    """An unscaled integer as a value of a 256-bit decimal type."""
    data = pa.py_buffer(unscaled.to_bytes(32, "little", signed=True))
    return pa.Array.from_buffers(arrow, 1, [None, data])[0]
