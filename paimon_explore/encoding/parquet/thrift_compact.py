"""Decoding and encoding of structs in the Thrift compact protocol, without a schema.

Parquet footers are such structs. A struct is a mapping from field id to (wire type, value), so that
some fields can be changed and all others are preserved.

Spec: Thrift, compact protocol.
"""

from collections.abc import Callable, Container, Iterator
from enum import IntEnum
from typing import TypeAlias

from paimon_explore.frozen_dataclass import dataclass


class Wire(IntEnum):
    """Wire types of field headers."""

    STOP = 0
    TRUE = 1
    FALSE = 2
    BYTE = 3
    I16 = 4
    I32 = 5
    I64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12


@dataclass(slots=True)
class ThriftList:
    """A list of elements of one wire type."""

    wire: Wire
    items: list[object]


Struct = dict[int, tuple[Wire, object]]
"""Fields by id."""

Numbers = dict[int, int]
"""Integer fields; see `decode_numbers`."""

_INTEGERS = (4, 5, 6)
_MAX_NESTING = 64
_MAX_VARINT_BITS = 70
_LONG_LIST = 15


class ThriftError(ValueError):
    """The bytes are not a valid struct; callers convert it to an error with a path."""


def decode_struct(data: bytes) -> Struct:
    """Decode the struct at the first byte; bytes after it are ignored.

    Raises:
        ThriftError: the bytes are truncated or have an unknown wire type (maps are not supported).
    """
    return decode_struct_at(data, 0)[0]


def decode_struct_at(data: bytes, at: int) -> tuple[Struct, int]:
    """Decode the struct at a byte; also returns the position after it.

    Raises:
        ThriftError: the bytes are truncated or have an unknown wire type (maps are not supported).
    """
    try:
        return _struct(data, at, 0)
    except IndexError as error:
        raise ThriftError(f"the data ends within a value, after {len(data)} bytes") from error


def encode_struct(value: Struct) -> bytes:
    """Encode a struct."""
    out = bytearray()
    _write_struct(out, value)
    return bytes(out)


def struct_of(value: object) -> Struct:
    """Return the value if it is a struct.

    Raises:
        ThriftError: it is not a struct.
    """
    if not isinstance(value, dict):
        raise ThriftError(f"a value must be a struct, not {type(value).__name__}")
    return value


def structs_of(value: object) -> Iterator[Struct]:
    """Return the elements of a list of structs.

    Raises:
        ThriftError: the value is not a list of structs.
    """
    if not isinstance(value, ThriftList):
        raise ThriftError(f"a value must be a list, not {type(value).__name__}")
    return (struct_of(item) for item in value.items)


def int_of(value: Struct, field: int) -> int | None:
    """Return an integer field; None if absent."""
    found = value.get(field, (Wire.STOP, None))[1]
    return found if isinstance(found, int) else None


_Read: TypeAlias = "tuple[object, int]"
"""A value and the position after it. Readers are plain functions, as footers have many values."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode an unsigned varint; also returns the position after it.

    Raises:
        ThriftError: it is too long.
        IndexError: the bytes are truncated.
    """
    byte = data[at]
    value = byte & 0x7F
    shift = 7
    while byte >= 0x80:  # noqa: PLR2004 - the continuation bit
        if shift >= _MAX_VARINT_BITS:
            raise ThriftError(f"the varint at byte {at} is too long")
        at += 1
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, at + 1


def _number(data: bytes, at: int, _depth: int) -> tuple[int, int]:
    value = data[at]
    if value >= 0x80:  # noqa: PLR2004 - the continuation bit
        value, at = varint(data, at)
        return (value >> 1) ^ -(value & 1), at
    return (value >> 1) ^ -(value & 1), at + 1


def _struct(data: bytes, at: int, depth: int) -> tuple[Struct, int]:
    if depth > _MAX_NESTING:
        raise ThriftError(f"the data is nested too deeply at byte {at}")
    fields: Struct = {}
    last = 0
    while header := data[at]:
        at += 1
        if header > 0x0F:  # noqa: PLR2004 - the distance from the last field is in the upper half
            last += header >> 4
        else:
            last, at = _number(data, at, depth)
        wire, read = _VALUES[header & 0x0F]
        value, at = read(data, at, depth)
        fields[last] = (wire, value)
    return fields, at + 1


def _nested(data: bytes, at: int, depth: int) -> _Read:
    return _struct(data, at, depth + 1)


def _true(_data: bytes, at: int, _depth: int) -> _Read:
    return True, at


def _false(_data: bytes, at: int, _depth: int) -> _Read:
    return False, at


def _byte(data: bytes, at: int, _depth: int) -> _Read:
    return data[at], at + 1


def _double(data: bytes, at: int, _depth: int) -> _Read:
    return _take(data, at, 8)


def _binary(data: bytes, at: int, _depth: int) -> _Read:
    size, at = varint(data, at)
    return _take(data, at, size)


def _take(data: bytes, at: int, size: int) -> _Read:
    if size > len(data) - at:
        raise ThriftError(
            f"{size} bytes are required at byte {at}, but only {len(data) - at} bytes follow"
        )
    return data[at : at + size], at + size


def _items(data: bytes, at: int, depth: int) -> _Read:
    if depth > _MAX_NESTING:
        raise ThriftError(f"the data is nested too deeply at byte {at}")
    header = data[at]
    at += 1
    size = header >> 4
    if size == _LONG_LIST:
        size, at = varint(data, at)
    if size > len(data) - at:
        raise ThriftError(f"the list of {size} elements at byte {at} is truncated")
    wire, read = _VALUES[header & 0x0F]
    if read in (
        _true,
        _false,
    ):  # booleans are a byte each in a list, but part of the header as a field
        return ThriftList(wire, list(data[at : at + size])), at + size
    items = _equal_binaries(data, at, size) if read is _binary else None
    if items is not None:
        return ThriftList(wire, items), at + size * (data[at] + 1)
    items = []
    for _ in range(size):
        value, at = read(data, at, depth + 1)
        items.append(value)
    return ThriftList(wire, items), at


def _equal_binaries(data: bytes, at: int, count: int) -> list[object] | None:
    """Decode binaries of the same short length in one step; None for others."""
    if not count or data[at] >= 0x80:  # noqa: PLR2004 - the continuation bit
        return None
    step = data[at] + 1
    end = at + count * step
    if end > len(data) or data[at:end:step].count(step - 1) != count:
        return None
    return [data[start : start + step - 1] for start in range(at + 1, end, step)]


def decode_numbers(data: bytes, at: int, inside: Container[int] = ()) -> tuple[Numbers, int]:
    """Decode the integer fields of a struct and of some nested structs; others are skipped.

    Args:
        data: the bytes.
        at: position of the struct.
        inside: fields with the nested structs to decode.

    Returns:
        The integers by field id, for nested structs plus 256 times the id of the nested struct;
        and the position after the struct.

    Raises:
        ThriftError: the bytes are truncated or have an unknown wire type.
    """
    found: Numbers = {}
    try:
        return found, _numbers(data, at, inside, found, 0)
    except IndexError as error:
        raise ThriftError(f"the data ends within a value, after {len(data)} bytes") from error


def _numbers(data: bytes, at: int, inside: Container[int], found: Numbers, base: int) -> int:
    last = 0
    while header := data[at]:
        at += 1
        if header > 0x0F:  # noqa: PLR2004 - the distance from the last field is in the upper half
            last += header >> 4
        else:
            last, at = _number(data, at, 0)
        wire = header & 0x0F
        if wire in _INTEGERS:
            found[base + last], at = _number(data, at, 0)
        elif wire == Wire.STRUCT and not base and last in inside:
            at = _numbers(data, at, (), found, last << 8)
        else:
            _, at = _VALUES[wire][1](data, at, 0)
    return at + 1


def _unknown(_data: bytes, at: int, _depth: int) -> _Read:
    raise ThriftError(f"the wire type at byte {at} is unknown")


_VALUES: tuple[tuple[Wire, Callable[[bytes, int, int], _Read]], ...] = (
    (Wire.STOP, _unknown),
    (Wire.TRUE, _true),
    (Wire.FALSE, _false),
    (Wire.BYTE, _byte),
    (Wire.I16, _number),
    (Wire.I32, _number),
    (Wire.I64, _number),
    (Wire.DOUBLE, _double),
    (Wire.BINARY, _binary),
    (Wire.LIST, _items),
    (Wire.SET, _items),
    (Wire.MAP, _unknown),
    (Wire.STRUCT, _nested),
    *[(Wire.STOP, _unknown)] * 3,
)
"""Readers of values by wire type."""


def _write_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _write_zigzag(out: bytearray, value: int) -> None:
    _write_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def _write_struct(out: bytearray, fields: Struct) -> None:
    last = 0
    for number, (wire, value) in sorted(fields.items()):
        written = wire
        if isinstance(value, bool):
            written = Wire.TRUE if value else Wire.FALSE
        delta = number - last
        if 0 < delta <= _LONG_LIST:
            out.append(delta << 4 | written)
        else:
            out.append(written)
            _write_zigzag(out, number)
        last = number
        if not isinstance(value, bool):
            _write_value(out, wire, value)
    out.append(Wire.STOP)


def _write_value(out: bytearray, wire: Wire, value: object) -> None:
    if isinstance(value, dict):
        _write_struct(out, value)
    elif isinstance(value, ThriftList):
        _write_list(out, value)
    elif isinstance(value, bytes):
        if wire is Wire.BINARY:
            _write_varint(out, len(value))
        out += value
    elif isinstance(value, int):
        if wire is Wire.BYTE:
            out.append(value)
        else:
            _write_zigzag(out, value)


def _write_list(out: bytearray, value: ThriftList) -> None:
    size = len(value.items)
    out.append(min(size, _LONG_LIST) << 4 | value.wire)
    if size >= _LONG_LIST:
        _write_varint(out, size)
    element = Wire.BYTE if value.wire in (Wire.TRUE, Wire.FALSE) else value.wire
    for item in value.items:
        _write_value(out, element, item)
