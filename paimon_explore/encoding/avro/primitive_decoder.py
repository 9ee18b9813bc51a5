"""Vectorized decoder of primitive Avro values to Arrow arrays.

In Paimon's files, dates, times and timestamps are numbers that are interpreted by the table schema
(TIMESTAMP and TIMESTAMP_LTZ are swapped compared to Avro, so time zones are ignored here); decimals
are big-endian two's complement bytes.
Spec: concepts/spec/fileformat, avro.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND
from paimon_explore.data_types.arrow_buffers import (
    BYTE_VIEWS,
    Column,
    Ints,
    Numbers,
    UInt64s,
    as_buffer,
    build_binary,
    build_bool,
    build_views,
    empty_array,
    used_bytes,
    validity_buffer,
)
from paimon_explore.encoding.avro.schema import FIXED_SIZES, PlainNode, Primitive
from paimon_explore.encoding.avro.vectorized_varint import PaddedBuffer, Positions
from paimon_explore.errors import CorruptFileError

_BINARY, _STRING, _LONG = pa.binary(), pa.string(), pa.int64()
_ASCII = 0x80
_DECIMAL_BYTES = 16
_COMPACT_DIGITS = 18
"""Up to this precision, Java adds decimals as 64-bit integers, without a check of the digits."""
_WORD_BYTES = 8
_WORD_BITS = np.int64(64)


def plain_type(node: PlainNode) -> pa.DataType:
    """Return the default Arrow type of a primitive value."""
    match node.primitive:
        case Primitive.BYTES | Primitive.FIXED if node.logical == "decimal":
            return pa.decimal128(node.precision, node.scale)
        case Primitive.INT | Primitive.LONG:
            return _number_type(node)
        case Primitive.FIXED:
            return pa.binary(node.size)
        case _:
            return _TYPES[node.primitive]


_TYPES: Mapping[Primitive, pa.DataType] = {
    Primitive.BOOLEAN: pa.bool_(),
    Primitive.FLOAT: pa.float32(),
    Primitive.DOUBLE: pa.float64(),
    Primitive.BYTES: pa.binary(),
    Primitive.STRING: pa.string(),
}


_LOGICAL_NUMBERS: Mapping[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "timestamp-millis": pa.timestamp("ms"),
    "timestamp-micros": pa.timestamp("us"),
    "local-timestamp-millis": pa.timestamp("ms", "UTC"),
    "local-timestamp-micros": pa.timestamp("us", "UTC"),
}


def _number_type(node: PlainNode) -> pa.DataType:
    bare = pa.int32() if node.primitive is Primitive.INT else pa.int64()
    return _LOGICAL_NUMBERS.get(node.logical, bare)


def take_plain(
    buffer: PaddedBuffer, node: PlainNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Column, Positions]:
    """Decode the value at each position; also returns the positions after the values.

    Raises:
        CorruptFileError: the file's type cannot be read as the wanted one, or a value is malformed.
    """
    match node.primitive:
        case Primitive.INT | Primitive.LONG:
            values, behind = buffer.longs(at)
            return _numbers(values, node, wanted, where), behind
        case Primitive.BYTES | Primitive.STRING:
            size, begin = buffer.sizes(at, where)
            return _spans(buffer, node, wanted, (begin, size), where), begin + size
        case Primitive.FIXED:
            sizes = np.full(len(at), node.size, dtype=np.int64)
            return _spans(buffer, node, wanted, (at, sizes), where), at + node.size
        case _:
            return _raw_fixed(buffer, node, wanted, at, where), at + FIXED_SIZES[node.primitive]


def _raw_fixed(
    buffer: PaddedBuffer, node: PlainNode, wanted: pa.DataType, at: Positions, where: str
) -> Column:
    if wanted != _TYPES[node.primitive]:
        raise mismatch(node.primitive.value, wanted, where)
    if node.primitive is Primitive.BOOLEAN:
        byte = buffer.raw[at]
        if len(byte) and byte.max() > 1:
            raise CorruptFileError("", where, "a boolean must be 0 or 1")
        return build_bool(byte.view(np.bool_))
    word = buffer.words[at]
    if node.primitive is Primitive.DOUBLE:
        return dense(wanted, word.view(np.float64))
    return dense(wanted, word.astype(np.uint32).view(np.float32))


def _numbers(values: Ints, node: PlainNode, wanted: pa.DataType, where: str) -> Column:
    if wanted == _LONG:
        return dense(wanted, values)
    if pa.types.is_timestamp(wanted):
        return dense(wanted, _in_unit(values, node, wanted, where))
    kind, width = _INTEGERS.get(wanted.id, (None, np.int32))
    if kind != wanted:
        raise mismatch(node.primitive.value, wanted, where)
    narrow = values.astype(width)
    if (narrow != values).any():
        raise CorruptFileError("", where, f"contains a value that does not fit {wanted}")
    return dense(wanted, narrow)


_INTEGERS: Mapping[int, tuple[pa.DataType | None, type[np.int8 | np.int16 | np.int32]]] = {
    kind.id: (kind, width)
    for kind, width in (
        (pa.int8(), np.int8),
        (pa.int16(), np.int16),
        (pa.int32(), np.int32),
        (pa.date32(), np.int32),
        (pa.time32("ms"), np.int32),
    )
}


def _in_unit(values: Ints, node: PlainNode, wanted: pa.DataType, where: str) -> Ints:
    """Convert timestamps from the file's unit to the wanted one, truncating a finer unit."""
    found = plain_type(node)
    if not isinstance(found, pa.TimestampType) or not isinstance(wanted, pa.TimestampType):
        raise mismatch(node.logical or node.primitive.value, wanted, where)
    have, want = PER_SECOND[found.unit], PER_SECOND[wanted.unit]
    if want <= have:
        return values if want == have else values // (have // want)
    factor = want // have
    limit = np.iinfo(np.int64).max // factor
    if len(values) and (values.max() > limit or values.min() < -limit):
        raise CorruptFileError("", where, f"contains a value that does not fit {wanted}")
    return values * factor


def _spans(
    buffer: PaddedBuffer, node: PlainNode, wanted: pa.DataType, spans: tuple[Ints, Ints], where: str
) -> Column:
    if pa.types.is_decimal128(wanted) and node.logical == "decimal":
        return _decimals(buffer, node, wanted, spans, where)
    if node.primitive is Primitive.STRING:
        if wanted not in (_STRING, pa.large_string()):
            raise mismatch("string", wanted, where)
        return _as_text(_gathered(buffer, spans, where), wanted, where)
    if wanted == BYTE_VIEWS:
        return _viewed(buffer, spans, where)
    raw = _gathered(buffer, spans, where)
    if wanted == _BINARY:
        return raw
    if wanted == pa.large_binary() or (
        pa.types.is_fixed_size_binary(wanted) and bool((spans[1] == wanted.byte_width).all())
    ):
        return raw.cast(wanted)
    raise mismatch("bytes", wanted, where)


def _as_text(raw: Column, wanted: pa.DataType, where: str) -> Column:
    if wanted == _STRING and used_bytes(raw).max(initial=0) < _ASCII:
        return pa.Array.from_buffers(_STRING, len(raw), raw.buffers(), offset=raw.offset)
    try:
        return raw.cast(wanted)  # checks that the bytes are UTF-8
    except pa.ArrowInvalid as error:
        raise CorruptFileError("", where, "text must be UTF-8") from error


def _viewed(buffer: PaddedBuffer, spans: tuple[Ints, Ints], where: str) -> Column:
    """Build views of spans of bytes, valid until the buffer is released."""
    begin, size = spans
    if len(begin) and (begin + size).max() > buffer.end:
        raise CorruptFileError("", where, "a value extends beyond the end of the block")
    return build_views(begin, size, buffer.data)


def _gathered(buffer: PaddedBuffer, spans: tuple[Ints, Ints], where: str) -> Column:
    """Copy spans of bytes to binary values.

    Spans of equal size are copied by numpy. Otherwise the buffer is viewed as a binary array in
    which spans and gaps alternate, and Arrow takes every other value.
    """
    begin, size = spans
    if not len(begin):
        return empty_array(_BINARY)
    ends = begin + size
    if ends.max() > buffer.end:
        raise CorruptFileError("", where, "a value extends beyond the end of the block")
    if len(begin) > 1 and (begin[1:] < ends[:-1]).any():
        raise CorruptFileError("", where, "values must not overlap")
    width = int(size[0])
    if width and (size == width).all():
        ends = np.arange(0, width * (len(begin) + 1), width, dtype=np.int32)
        return build_binary(ends, buffer.fixed_spans(begin, width))
    offsets = np.empty(2 * len(begin), dtype=np.int32)
    offsets[0::2] = begin
    offsets[1::2] = ends
    alternating = pa.Array.from_buffers(
        _BINARY, len(offsets) - 1, [None, as_buffer(offsets), pa.py_buffer(buffer.data)]
    )
    every_other = np.arange(0, len(offsets) - 1, 2, dtype=np.int64)
    return pc.take(alternating, dense(pa.int64(), every_other))  # type: ignore[arg-type]  # in stubs


def _decimals(
    buffer: PaddedBuffer, node: PlainNode, wanted: pa.DataType, spans: tuple[Ints, Ints], where: str
) -> Column:
    """Decode decimals; those that do not fit the precision, which a sum may store, become null."""
    begin, size = spans
    if len(size) and (size.max() > _DECIMAL_BYTES or size.min() < 1):
        raise CorruptFileError("", where, f"a decimal must have 1 to {_DECIMAL_BYTES} bytes")
    if len(begin) and (begin + size).max() > buffer.end:
        raise CorruptFileError("", where, "a value extends beyond the end of the block")
    behind = begin + size
    low = _big_endian(buffer.words[behind - 8]).view(np.int64)
    high = _big_endian(buffer.words[behind - 16]).view(np.int64)
    short = np.clip(_WORD_BITS - 8 * size, 0, 56)
    low = np.where(size < _WORD_BYTES, (low << short) >> short, low)
    cut = np.clip(2 * _WORD_BITS - 8 * size, 0, 56)
    high = np.where(size <= _WORD_BYTES, low >> 63, (high << cut) >> cut)
    both = np.empty((len(size), 2), dtype=np.int64)
    both[:, 0], both[:, 1] = low, high
    found = pa.decimal128(node.precision, node.scale)
    valid = None
    if node.precision <= _COMPACT_DIGITS:
        limit = 10**node.precision
        valid = (size > _WORD_BYTES) | ((low > -limit) & (low < limit))
    array = pa.Array.from_buffers(found, len(size), [validity_buffer(valid), as_buffer(both)])
    try:
        array.validate(full=True)
        return array if found == wanted else array.cast(wanted)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(
            "", where, f"contains a value that does not fit {wanted}: {error}"
        ) from error


def _big_endian(words: UInt64s) -> UInt64s:
    return words.astype(np.uint64).byteswap()


def dense(data_type: pa.DataType, values: Numbers) -> Column:
    """Build a fixed-width array without nulls."""
    return pa.Array.from_buffers(data_type, len(values), [None, as_buffer(values)])


def mismatch(found: str, wanted: pa.DataType, where: str) -> CorruptFileError:
    """Return the error for a type in the file that is incompatible with the schema."""
    return CorruptFileError("", where, f"has the Avro type {found} and cannot be read as {wanted}")
