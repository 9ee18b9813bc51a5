"""Arrow arrays as numpy views and back, without the detours that import pandas.

Nothing here knows Paimon. Sliced arrays are handled; the views are read-only.
"""

from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Column: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
"""An Arrow array of any type."""
ListColumn: TypeAlias = "pa.ListArray[pa.Scalar[pa.DataType]]"
VectorColumn: TypeAlias = "pa.FixedSizeListArray[pa.DataType]"
MapColumn: TypeAlias = "pa.MapArray[pa.DataType, pa.DataType]"
Numbers = npt.NDArray[np.generic]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

WORD = 8
"""Bytes of a word, and what variable parts are padded to."""


BYTE_VIEWS = pa.list_view(pa.field("item", pa.uint8(), nullable=False))
"""Bytes of which only the places are told: what was not copied out of a larger buffer."""

_LONG_RANGE = 4096
_KEPT_BYTES = 16 << 20


@cache
def keep_freed_blocks() -> None:
    """Have the C library keep the memory of freed arrays for the next ones of their size.

    Until a large block has been freed once, glibc gives every array of some hundred kilobytes back
    to the system at once, and the next one is paid for page by page: a tenth of what a merge takes.
    The block made here is never touched. Other C libraries are not affected.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def as_bytes(buffer: pa.Buffer | bytes | None) -> Bytes:
    """A buffer as bytes; empty when there is none."""
    return np.frombuffer(memoryview(buffer if buffer is not None else b""), dtype=np.uint8)


def valid_mask(array: Column) -> Bools:
    """True where the array holds a value, n booleans."""
    if not array.null_count:
        return np.ones(len(array), dtype=np.bool_)
    if isinstance(array, pa.NullArray):
        return np.zeros(len(array), dtype=np.bool_)
    return bits_of(as_bytes(array.buffers()[0]), array.offset, len(array))


def bits_of(packed: Bytes, offset: int, size: int) -> Bools:
    """`size` bits from bit `offset` on, least significant first."""
    first = offset >> 3
    shift = offset & 7
    part = packed[first : first + ((shift + size + 7) >> 3)]
    return np.unpackbits(part, bitorder="little")[shift : shift + size].view(np.bool_)


def as_buffer(values: Numbers) -> pa.Buffer:
    """Numbers as an Arrow buffer, without a copy where they lie together."""
    return pa.py_buffer(np.ascontiguousarray(values).data)


def pack_bits(bits: Bools) -> pa.Buffer:
    """Bits as an Arrow bitmap, least significant first."""
    return as_buffer(np.packbits(bits, bitorder="little"))


def validity_buffer(valid: Bools | None) -> pa.Buffer | None:
    """The bitmap of an array; None when nothing is null."""
    return None if valid is None or bool(valid.all()) else pack_bits(valid)


def fixed_values(array: Column, dtype: npt.DTypeLike) -> Numbers:
    """The raw values of a fixed-width array, n items; those of null entries are arbitrary."""
    item = np.dtype(dtype)
    start = array.offset * item.itemsize
    raw = as_bytes(array.buffers()[1])[start : start + len(array) * item.itemsize]
    return raw.view(item)


def bool_values(array: Column) -> Bools:
    """The values of a boolean array; those of null entries are arbitrary."""
    if not len(array):
        return np.zeros(0, dtype=np.bool_)
    return bits_of(as_bytes(array.buffers()[1]), array.offset, len(array))


def var_values(array: Column) -> tuple[Ints, Bytes]:
    """Offsets (n + 1) into the bytes of a string or binary array; null entries may have some."""
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    _, offsets, data = array.buffers()
    return _offsets(offsets, array.offset, len(array), wide=wide), as_bytes(data)


def byte_ranges(array: Column) -> tuple[Ints, Ints, Bytes]:
    """Where each value of a binary array or of `BYTE_VIEWS` begins, its size, and the bytes.

    Null entries may have some.
    """
    if not isinstance(array, pa.ListViewArray):
        offsets, data = var_values(array)
        return offsets[:-1], np.diff(offsets), data
    places = slice(array.offset, array.offset + len(array))
    _, begins, sizes, *_ = array.buffers()
    begin, size = (as_bytes(b).view(np.int32)[places].astype(np.int64) for b in (begins, sizes))
    return begin, size, fixed_values(array.values, np.uint8).view(np.uint8)


def build_views(begin: Ints, size: Ints, data: bytearray) -> Column:
    """Ranges of bytes as `BYTE_VIEWS`; the bytes must not change as long as these are used."""
    parts = [as_buffer(numbers.astype(np.int32)) for numbers in (begin, size)]
    whole = pa.Array.from_buffers(pa.uint8(), len(data), [None, pa.py_buffer(data)])
    return pa.Array.from_buffers(BYTE_VIEWS, len(begin), [None, *parts], children=[whole])


def used_bytes(array: Column) -> Bytes:
    """The bytes of a string or binary array from its first entry to its last."""
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    _, offsets, data = array.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    end = (array.offset + len(array) + 1) * kind.itemsize
    ends = as_bytes(offsets)[array.offset * kind.itemsize : end].view(kind)
    # Arrow allows an empty array to have no offsets
    return as_bytes(data)[ends[0] : ends[-1]] if len(ends) else as_bytes(None)


def list_offsets(array: Column) -> Ints:
    """Offsets (n + 1) of a list or map array into its children, which ignore slicing."""
    return _offsets(array.buffers()[1], array.offset, len(array), wide=False)


def _offsets(buffer: pa.Buffer | None, first: int, size: int, *, wide: bool) -> Ints:
    kind = np.dtype(np.int64 if wide else np.int32)
    raw = as_bytes(buffer)[first * kind.itemsize : (first + size + 1) * kind.itemsize]
    if not len(raw):  # Arrow allows an empty array to have no offsets
        return np.zeros(1, dtype=np.int64)
    return raw.view(kind).astype(np.int64)


def build_fixed(data_type: pa.DataType, values: Numbers, valid: Bools | None = None) -> Column:
    """An array of a fixed-width type out of raw values, of which None tells that all are valid."""
    buffers = [validity_buffer(valid), as_buffer(values)]
    return pa.Array.from_buffers(data_type, len(values if valid is None else valid), buffers)


def build_bool(values: Bools, valid: Bools | None = None) -> Column:
    """A boolean array."""
    buffers = [validity_buffer(valid), pack_bits(values)]
    return pa.Array.from_buffers(pa.bool_(), len(values), buffers)


def build_var(
    data_type: pa.DataType, offsets: Ints, data: Bytes, valid: Bools | None = None
) -> Column:
    """A string or binary array out of offsets (n + 1) and bytes."""
    wide = pa.types.is_large_binary(data_type) or pa.types.is_large_string(data_type)
    buffers = [
        validity_buffer(valid),
        as_buffer(offsets.astype(np.int64 if wide else np.int32)),
        as_buffer(data),
    ]
    return pa.Array.from_buffers(data_type, len(offsets) - 1, buffers)


def build_binary(offsets: Ints, data: Bytes, valid: Bools | None = None) -> pa.BinaryArray:
    """A binary array out of offsets (n + 1) and bytes."""
    return build_var(pa.binary(), offsets, data, valid)  # type: ignore[return-value]  # in stubs


def as_python(array: Column) -> list[object]:
    """The values as Python objects."""
    return [*array.to_pylist()]  # type: ignore[misc]  # in stubs


def constant(data_type: pa.DataType, value: bytes) -> "pa.Scalar[pa.DataType]":
    """A text or bytes as Arrow's scalar; `pa.scalar` loads pandas."""
    return build_var(data_type, ends_of(np.array([len(value)])), as_bytes(value))[0]


def no_rows(data_type: pa.DataType) -> Column:
    """An array of a type without entries."""
    return pa.nulls(0, data_type)  # type: ignore[call-overload,no-any-return]  # in stubs


def no_table(schema: pa.Schema) -> pa.Table:
    """A table without rows; Arrow's own `empty_table` loads pandas."""
    return pa.Table.from_arrays([no_rows(field.type) for field in schema], schema=schema)


def kept_rows(array: Column, kept: Bools) -> Column:
    """The entries at which `kept` is true."""
    return array.filter(build_bool(kept))  # type: ignore[arg-type]  # in stubs


def taken_rows(array: Column, positions: Ints) -> Column:
    """The entries at the positions."""
    index = build_fixed(pa.int64(), positions)
    return array.take(index)  # type: ignore[arg-type]  # in stubs


def build_list(
    data_type: pa.DataType, offsets: Ints, children: list[Column], valid: Bools
) -> Column:
    """A list or map array; a map's single child is the struct of its keys and values."""
    buffers = [validity_buffer(valid), as_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(data_type, len(valid), buffers, children=children)


def build_struct(data_type: pa.DataType, children: list[Column], valid: Bools) -> Column:
    """A struct array, also the shell of a fixed-size list."""
    return pa.Array.from_buffers(data_type, len(valid), [validity_buffer(valid)], children=children)


def ends_of(sizes: Ints) -> Ints:
    """Running offsets of consecutive items: 0, then the end of each, n + 1 numbers."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def spread(starts: Ints, sizes: Ints) -> Ints:
    """All positions of consecutive ranges: starts[0], starts[0] + 1, ... for each range in turn."""
    offsets = ends_of(sizes)
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])


def gather(data: Bytes, starts: Ints, sizes: Ints) -> tuple[Ints, Bytes]:
    """The bytes of many ranges one after the other, with their offsets (n + 1)."""
    offsets = ends_of(sizes)
    size = int(sizes[0]) if len(sizes) else 0
    if 0 < size <= _LONG_RANGE and bool((sizes == size).all()) and starts.max() <= len(data) - size:
        places = np.ndarray((len(data) - size + 1, size), np.uint8, buffer=data, strides=(1, 1))
        return offsets, places[starts].reshape(-1)  # one step per range, not one per byte
    return offsets, data[spread(starts, sizes)]


def padded(data: Bytes, extra: int = WORD) -> Bytes:
    """The bytes with zeros behind them, so that reading a word at the last one stays inside."""
    out = np.zeros(len(data) + extra, dtype=np.uint8)
    out[: len(data)] = data
    return out


def unaligned_words(data: Bytes) -> Words:
    """Every word that starts at any byte, as `unaligned`."""
    return np.ndarray((max(len(data) - WORD + 1, 0),), np.uint64, buffer=data, strides=(1,))


def unaligned(data: Bytes, dtype: npt.DTypeLike) -> Numbers:
    """Every item of that type that starts at any byte: item i is read at byte i."""
    item = np.dtype(dtype)
    count = max(len(data) - item.itemsize + 1, 0)
    return np.ndarray((count,), item, buffer=data, strides=(1,))


def round_up(sizes: Ints) -> Ints:
    """Sizes rounded up to whole words."""
    return (sizes + (WORD - 1)) & ~(WORD - 1)
