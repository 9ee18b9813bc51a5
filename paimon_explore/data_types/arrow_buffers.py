"""Conversion between Arrow arrays and numpy arrays, without copies and without importing pandas.

Independent of Paimon. Slices of arrays are supported; the numpy views are read-only.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc

Column: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]]"
"""An Arrow array of any type."""
ListColumn: TypeAlias = "pa.ListArray[pa.Scalar[pa.DataType]]"
Scalar: TypeAlias = "pa.Scalar[pa.DataType]"
"""An Arrow scalar of any type."""
VectorColumn: TypeAlias = "pa.FixedSizeListArray[pa.DataType]"
MapColumn: TypeAlias = "pa.MapArray[pa.DataType, pa.DataType]"
Numbers = npt.NDArray[np.generic]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
UInt64s = npt.NDArray[np.uint64]

WORD_BYTES = 8
"""Bytes of a word; variable-length parts are padded to a multiple of it."""

BYTE_VIEWS = pa.list_view(pa.field("item", pa.uint8(), nullable=False))
"""Binary values as ranges of a larger buffer, which is not copied."""

_LONG_RANGE = 4096
_KEPT_BYTES = 16 << 20
_GATHERED_BYTES = 256 << 20
_SIGNED = {8: "i1", 16: "<i2", 32: "<i4", 64: "<i8"}
_FLOATING = {32: "<f4", 64: "<f8"}
_DECIMAL_WORDS = 2
_WRAPPED = 2.0**62
"""Less than the error of a number that was wrapped around, and more than that of a float."""

Number = TypeVar("Number", np.int64, np.float64)


@cache
def keep_freed_blocks() -> None:
    """Make the C library reuse the memory of freed arrays.

    Until a large block has been freed once, glibc returns every freed array of some hundred
    kilobytes to the system, and the next array causes page faults: a tenth of the time of a merge.
    The block allocated here is never written to. Other C libraries are not affected.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def as_bytes(buffer: pa.Buffer | bytes | None) -> Bytes:
    """View a buffer as bytes; None gives an empty array."""
    return np.frombuffer(memoryview(buffer if buffer is not None else b""), dtype=np.uint8)


def valid_mask(array: Column) -> Bools:
    """Return n booleans, True where the array is not null."""
    if not array.null_count:
        return np.ones(len(array), dtype=np.bool_)
    if isinstance(array, pa.NullArray):
        return np.zeros(len(array), dtype=np.bool_)
    return bits_of(as_bytes(array.buffers()[0]), array.offset, len(array))


def bits_of(packed: Bytes, offset: int, size: int) -> Bools:
    """Unpack `size` bits, starting at bit `offset`, least significant bit first."""
    first = offset >> 3
    shift = offset & 7
    part = packed[first : first + ((shift + size + 7) >> 3)]
    return np.unpackbits(part, bitorder="little")[shift : shift + size].view(np.bool_)


def as_buffer(values: Numbers) -> pa.Buffer:
    """Convert numbers to an Arrow buffer, without a copy if they are contiguous."""
    return pa.py_buffer(np.ascontiguousarray(values).data)


def pack_bits(bits: Bools) -> pa.Buffer:
    """Pack bits into an Arrow bitmap, least significant bit first."""
    return as_buffer(np.packbits(bits, bitorder="little"))


def validity_buffer(valid: Bools | None) -> pa.Buffer | None:
    """Pack a validity mask into a bitmap; None if nothing is null."""
    return None if valid is None or bool(valid.all()) else pack_bits(valid)


def validity_bitmap(array: Column) -> pa.Buffer | None:
    """Return the validity bitmap of an array, starting at its first value; None without nulls."""
    return None if array.null_count == 0 else array.is_valid().buffers()[1]


def fixed_values(array: Column, dtype: npt.DTypeLike) -> Numbers:
    """View the n values of a fixed-width array; values of null entries are arbitrary."""
    item = np.dtype(dtype)
    buffer, size = array.buffers()[1], len(array)
    if buffer is None or not size:
        return np.empty(0, item)
    return np.frombuffer(memoryview(buffer), item, size, array.offset * item.itemsize)


def bool_values(array: Column) -> Bools:
    """Return the values of a boolean array; values of null entries are arbitrary."""
    if not len(array):
        return np.zeros(0, dtype=np.bool_)
    return bits_of(as_bytes(array.buffers()[1]), array.offset, len(array))


def true_mask(array: Column) -> Bools:
    """Return the values of a boolean array; False where null."""
    return bool_values(array) & valid_mask(array)


def int64_values(array: Column) -> Ints:
    """Return integer, date, time or timestamp values as int64; 0 where null."""
    values = fixed_values(array, _SIGNED[array.type.bit_width])
    return _zero_nulls(values.astype(np.int64), array)


def float64_values(array: Column) -> Floats:
    """Return floating-point values as float64; 0 where null."""
    values = fixed_values(array, _FLOATING[array.type.bit_width])
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return _zero_nulls(values.astype(np.float64), array)


def decimal_low_bits(array: Column) -> Ints:
    """Return the low 64 bits of the unscaled values of a decimal128 array; 0 where null."""
    size = _DECIMAL_WORDS * WORD_BYTES
    raw = as_bytes(array.buffers()[1])[size * array.offset : size * (array.offset + len(array))]
    return _zero_nulls(raw.view(np.int64)[::_DECIMAL_WORDS].copy(), array)


def _zero_nulls(values: npt.NDArray[Number], array: Column) -> npt.NDArray[Number]:
    if array.null_count:
        values[~valid_mask(array)] = 0
    return values


def var_values(array: Column) -> tuple[Ints, Bytes]:
    """Return the offsets (n + 1) and the data of a string or binary array.

    Null entries may have bytes.
    """
    wide = is_large(array.type)
    _, offsets, data = array.buffers()
    return _offsets(offsets, array.offset, len(array), wide=wide), as_bytes(data)


def byte_ranges(array: Column) -> tuple[Ints, Ints, Bytes]:
    """Return start and size of each value of a binary array or of `BYTE_VIEWS`, and the data.

    Null entries may have bytes.
    """
    if not isinstance(array, pa.ListViewArray):
        offsets, data = var_values(array)
        return offsets[:-1], np.diff(offsets), data
    places = slice(array.offset, array.offset + len(array))
    _, begins, sizes, *_ = array.buffers()
    begin, size = (as_bytes(b).view(np.int32)[places].astype(np.int64) for b in (begins, sizes))
    return begin, size, fixed_values(array.values, np.uint8).view(np.uint8)


def is_large(data_type: pa.DataType) -> bool:
    """Return whether it is a string or binary type of 64-bit offsets."""
    return pa.types.is_large_binary(data_type) or pa.types.is_large_string(data_type)


def build_views(begin: Ints, size: Ints, data: bytearray) -> Column:
    """Build an array of `BYTE_VIEWS`; `data` must not change while the array is in use."""
    parts = [as_buffer(numbers.astype(np.int32)) for numbers in (begin, size)]
    whole = pa.Array.from_buffers(pa.uint8(), len(data), [None, pa.py_buffer(data)])
    return pa.Array.from_buffers(BYTE_VIEWS, len(begin), [None, *parts], children=[whole])


def used_bytes(array: Column) -> Bytes:
    """Return the data of a string or binary array from its first entry to its last."""
    wide = is_large(array.type)
    _, offsets, data = array.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    end = (array.offset + len(array) + 1) * kind.itemsize
    ends = as_bytes(offsets)[array.offset * kind.itemsize : end].view(kind)
    # Arrow allows an empty array to have no offsets
    return as_bytes(data)[ends[0] : ends[-1]] if len(ends) else as_bytes(None)


def list_offsets(array: Column) -> Ints:
    """Return the offsets (n + 1) of a list or map array into its unsliced children."""
    return _offsets(array.buffers()[1], array.offset, len(array), wide=False)


def _offsets(buffer: pa.Buffer | None, first: int, size: int, *, wide: bool) -> Ints:
    kind = np.dtype(np.int64 if wide else np.int32)
    raw = as_bytes(buffer)[first * kind.itemsize : (first + size + 1) * kind.itemsize]
    if not len(raw):  # Arrow allows an empty array to have no offsets
        return np.zeros(1, dtype=np.int64)
    return raw.view(kind).astype(np.int64)


def build_fixed(data_type: pa.DataType, values: Numbers, valid: Bools | None = None) -> Column:
    """Build an array of a fixed-width type; without a mask all values are valid."""
    buffers = [validity_buffer(valid), as_buffer(values)]
    return pa.Array.from_buffers(data_type, len(values if valid is None else valid), buffers)


def build_like(data_type: pa.DataType, values: Numbers, like: Column) -> Column:
    """Build an array of a fixed-width type that is null where `like` is."""
    return pa.Array.from_buffers(data_type, len(values), [validity_bitmap(like), as_buffer(values)])


def build_bool(values: Bools, valid: Bools | None = None) -> Column:
    """Build a boolean array; without a mask all values are valid."""
    buffers = [validity_buffer(valid), pack_bits(values)]
    return pa.Array.from_buffers(pa.bool_(), len(values), buffers)


def build_var(
    data_type: pa.DataType, offsets: Ints, data: Bytes, valid: Bools | None = None
) -> Column:
    """Build a string or binary array from offsets (n + 1) and data.

    Raises:
        pa.ArrowCapacityError: the type has 32-bit offsets, and the data has more than 2 GiB.
    """
    wide = is_large(data_type)
    if not wide:
        _check_offsets(offsets)
    buffers = [
        validity_buffer(valid),
        as_buffer(offsets.astype(np.int64 if wide else np.int32)),
        as_buffer(data),
    ]
    return pa.Array.from_buffers(data_type, len(offsets) - 1, buffers)


def build_binary(offsets: Ints, data: Bytes, valid: Bools | None = None) -> pa.BinaryArray:
    """Build a binary array from offsets (n + 1) and data."""
    return build_var(pa.binary(), offsets, data, valid)  # type: ignore[return-value]  # in stubs


def as_python(array: Column) -> list[object]:
    """Convert an array to a list of Python values."""
    return [*array.to_pylist()]  # type: ignore[misc]  # in stubs


def as_python_with_dicts(array: Column) -> list[object]:
    """The same with maps as dictionaries, which Arrow itself does from release 20 on."""
    return [_with_dicts(value, array.type) for value in as_python(array)]


def _with_dicts(value: object, kind: pa.DataType) -> object:
    match value:
        case dict() if isinstance(kind, pa.StructType):
            return {name: _with_dicts(one, kind.field(name).type) for name, one in value.items()}
        case list() if isinstance(kind, pa.MapType):
            return {key: _with_dicts(one, kind.item_type) for key, one in value}
        case list() if kind.num_fields == 1:
            return [_with_dicts(one, kind.field(0).type) for one in value]
        case _:
            return value


def shown_values(array: Column) -> list[object]:
    """Convert an array to Python values for people; times as text where Python has no such times.

    Python's end with the year 9999 in the time zone of the type, and with microseconds.
    """
    try:
        return as_python_with_dicts(array)
    except (OverflowError, ValueError):
        return as_python_with_dicts(times_as_text(array))


def shown_rows(table: pa.Table) -> list[dict[str, object]]:
    """Convert rows to dictionaries of values for people; see `shown_values`."""
    columns = [shown_values(column.combine_chunks()) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def times_as_text(array: Column) -> Column:
    """Return an array with text in place of dates and times, also within nested values.

    Times with a zone are in UTC if Arrow finds no database of time zones, as on Windows.

    Raises:
        pyarrow.ArrowNotImplementedError: a nested type that Arrow does not cast.
    """
    wanted = _with_times(array.type, lambda _: pa.string())
    if wanted == array.type:
        return array
    try:
        return array.cast(wanted)
    except pa.ArrowInvalid:
        return array.cast(_with_times(array.type, _in_utc)).cast(wanted)


def _in_utc(kind: pa.DataType) -> pa.DataType:
    """Return a type of times with an offset for its zone, which needs no database."""
    if isinstance(kind, pa.TimestampType) and kind.tz is not None:
        return pa.timestamp(kind.unit, "+00:00")
    return kind


def _with_times(
    data_type: pa.DataType, change: Callable[[pa.DataType], pa.DataType]
) -> pa.DataType:
    """Return a type in which the types of dates and times are changed, also nested ones."""

    def of_field(field: "pa.Field[pa.DataType]") -> "pa.Field[pa.DataType]":
        return field.with_type(_with_times(field.type, change))

    if pa.types.is_temporal(data_type):
        return change(data_type)
    if isinstance(data_type, pa.StructType):
        return pa.struct([of_field(field) for field in data_type])
    if isinstance(data_type, pa.ListType):
        return pa.list_(of_field(data_type.value_field))
    if isinstance(data_type, pa.MapType):
        key, item = of_field(data_type.key_field), of_field(data_type.item_field)
        texts: pa.DataType = pa.map_(key, item)  # type: ignore[call-overload]  # stubs know no fields
        return texts
    return data_type


def string_array(texts: Sequence[str | None]) -> Column:
    """Build a string array; `pa.array` imports pandas."""
    valid = np.array([text is not None for text in texts], np.bool_)
    return build_values([(text or "").encode() for text in texts], pa.string(), valid)


def string_scalar(text: str) -> Scalar:
    """Build a string scalar; `pa.scalar` imports pandas."""
    return build_values([text.encode()], pa.string())[0]


def binary_scalar(value: bytes) -> Scalar:
    """Build a binary scalar; `pa.scalar` imports pandas."""
    return build_values([value], pa.binary())[0]


def build_values(
    values: Sequence[bytes], data_type: pa.DataType, valid: Bools | None = None
) -> Column:
    """Build a string or binary array from the bytes of each value."""
    sizes = np.array([len(value) for value in values], np.int64)
    return build_var(data_type, offsets_from_sizes(sizes), as_bytes(b"".join(values)), valid)


def decimal256_scalar(unscaled: int, data_type: pa.DataType) -> Scalar:
    """Build a scalar of a 256-bit decimal type from its unscaled value."""
    data = pa.py_buffer(unscaled.to_bytes(32, "little", signed=True))
    return pa.Array.from_buffers(data_type, 1, [None, data])[0]


def null_array(length: int, data_type: pa.DataType) -> Column:
    """Build an array of nulls."""
    return pa.nulls(length, data_type)  # type: ignore[call-overload,no-any-return]  # in stubs


def null_scalar(data_type: pa.DataType) -> Scalar:
    """Build a null scalar of a type."""
    return null_array(1, data_type)[0]


def nulls_like(values: "Column | Scalar") -> "Column | Scalar":
    """Build as many nulls as there are values, for `if_else`.

    Arrow 19 computes wrong offsets for a slice of texts with a null scalar.
    """
    if isinstance(values, pa.Scalar):
        return null_scalar(values.type)
    return null_array(len(values), values.type)


def empty_array(data_type: pa.DataType) -> Column:
    """Build an array without entries."""
    return null_array(0, data_type)


def empty_table(schema: pa.Schema) -> pa.Table:
    """Build a table without rows; `pa.Schema.empty_table` imports pandas."""
    return pa.Table.from_arrays([empty_array(field.type) for field in schema], schema=schema)


def rows_without_columns(count: int) -> pa.RecordBatch:
    """Build a batch of `count` rows without columns."""
    rows = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(rows)  # type: ignore[arg-type]  # in stubs


def as_single(made: "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    """Return an array that Arrow made from Python values.

    Raises:
        pa.ArrowCapacityError: Arrow made several, since the values take more than 2 GiB.
    """
    if isinstance(made, pa.ChunkedArray):
        raise pa.ArrowCapacityError(f"{len(made)} values take {made.nbytes} bytes")
    return made


def concat_arrays(parts: Sequence[Column]) -> Column:
    """Concatenate arrays of one type, at least one, without copying a single one."""
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def concat_batches(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Concatenate batches of the same columns, at least one, without copying a single one."""
    if len(parts) == 1:
        return parts[0]
    columns = [
        pa.concat_arrays([part.column(name) for part in parts]) for name in parts[0].schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=parts[0].schema)


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Combine batches so that all but the last have at least this many rows, or 256 MiB."""
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        size += batch.nbytes
        if count >= rows or size >= _GATHERED_BYTES:
            yield concat_batches(waiting)
            waiting, count, size = [], 0, 0
    if waiting:
        yield concat_batches(waiting)


def filter_rows(array: Column, kept: Bools) -> Column:
    """Select the entries where `kept` is true."""
    return pc.filter(array, build_bool(kept))  # type: ignore[arg-type]  # in stubs


def take_column(array: Column, positions: Column) -> Column:
    """Select the entries at positions that are an integer array; a null position gives null."""
    return pc.take(array, positions)  # type: ignore[arg-type]  # in stubs


def take_rows(array: Column, positions: Ints) -> Column:
    """Select the entries at the positions."""
    return pc.take(array, build_fixed(pa.int64(), positions))  # type: ignore[arg-type]  # in stubs


def map_distinct(
    array: Column, function: Callable[[object], object], data_type: pa.DataType
) -> Column:
    """Convert values with a Python function that is called once for each distinct value.

    For conversions for which Arrow has no function with Java's results.

    Args:
        array: n values of a type that can be dictionary-encoded.
        function: converts a value that is not null to a result or None.
        data_type: the type of the results.
    """
    encoded = array.dictionary_encode()
    results: Column = pa.array(
        [function(value) for value in encoded.dictionary.to_pylist()], data_type
    )
    return pc.take(results, encoded.indices)


def build_list(
    data_type: pa.DataType, offsets: Ints, children: list[Column], valid: Bools
) -> Column:
    """Build a list or map array; the single child of a map is the struct of its keys and values.

    Raises:
        pa.ArrowCapacityError: the lists have more than 2^31 - 1 elements.
    """
    _check_offsets(offsets)
    buffers = [validity_buffer(valid), as_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(data_type, len(valid), buffers, children=children)


def _check_offsets(offsets: Ints) -> None:
    if len(offsets) and offsets[-1] > np.iinfo(np.int32).max:
        msg = f"{len(offsets) - 1} values end at {offsets[-1]}, beyond 32-bit offsets"
        raise pa.ArrowCapacityError(msg)


def build_struct(data_type: pa.DataType, children: list[Column], valid: Bools) -> Column:
    """Build a struct array, or a fixed-size list array, from its children."""
    return pa.Array.from_buffers(data_type, len(valid), [validity_buffer(valid)], children=children)


def offsets_from_sizes(sizes: Ints) -> Ints:
    """Return the offsets (n + 1) of consecutive items: 0, then the end of each item."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def expand_ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the positions in all ranges: starts[0], starts[0] + 1, ... for each range in turn."""
    offsets = offsets_from_sizes(sizes)
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])


def gather(data: Bytes, starts: Ints, sizes: Ints) -> tuple[Ints, Bytes]:
    """Copy ranges of bytes into one array; returns their offsets (n + 1) and the bytes."""
    offsets = offsets_from_sizes(sizes)
    size = int(sizes[0]) if len(sizes) else 0
    if 0 < size <= _LONG_RANGE and bool((sizes == size).all()) and starts.max() <= len(data) - size:
        places = np.ndarray((len(data) - size + 1, size), np.uint8, buffer=data, strides=(1, 1))
        return offsets, places[starts].reshape(-1)  # one step per range, not one per byte
    return offsets, data[expand_ranges(starts, sizes)]


def padded(data: Bytes, extra: int = WORD_BYTES) -> Bytes:
    """Append zeros to bytes, so that a word can be read at the last one."""
    out = np.zeros(len(data) + extra, dtype=np.uint8)
    out[: len(data)] = data
    return out


def unaligned_words(data: Bytes) -> UInt64s:
    """View the word that starts at each byte; see `unaligned`."""
    return np.ndarray((max(len(data) - WORD_BYTES + 1, 0),), np.uint64, buffer=data, strides=(1,))


def unaligned(data: Bytes, dtype: npt.DTypeLike) -> Numbers:
    """View the item that starts at each byte: item i is read at byte i."""
    item = np.dtype(dtype)
    count = max(len(data) - item.itemsize + 1, 0)
    return np.ndarray((count,), item, buffer=data, strides=(1,))


def scaled_sum(values: Ints, factor: int, rest: Ints) -> tuple[Ints, Bools]:
    """Return `values * factor + rest`, and which of the results fit into 64 bits."""
    found = values * factor + rest  # wraps around
    estimate = values.astype(np.float64) * factor + rest
    return found, np.abs(estimate - found) < _WRAPPED


def round_up(sizes: Ints) -> Ints:
    """Round sizes up to whole words."""
    return (sizes + (WORD_BYTES - 1)) & ~(WORD_BYTES - 1)
