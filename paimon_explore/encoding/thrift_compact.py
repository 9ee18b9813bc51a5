"""Structs of the Thrift compact protocol, taken apart and put together generically.

Parquet footers are such structs. Nothing here knows what a field means: a struct is a mapping from
field id to (wire type, value), so that a few fields can be changed and all others written back.

Spec: Thrift, compact protocol.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Wire(IntEnum):
    """Wire types as field headers name them."""

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
    """Elements of one wire type."""

    wire: Wire
    items: list[object]


Struct = dict[int, tuple[Wire, object]]
"""Fields by id, in the order they are written (ascending)."""

_MAX_NESTING = 64
_MAX_VARINT_BITS = 70
_LONG_LIST = 15


class ThriftError(ValueError):
    """The bytes are no struct of the protocol; callers turn it into an error with a path."""


def decode_struct(data: bytes) -> Struct:
    """The struct that begins at the first byte; bytes after it are ignored.

    Raises:
        ThriftError: the bytes end early or hold an unknown wire type (maps are not in Parquet).
    """
    try:
        return _Reader(data).struct(0)
    except (IndexError, struct.error) as error:
        raise ThriftError(str(error)) from error


def encode_struct(value: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _write_struct(out, value)
    return bytes(out)


def struct_of(value: object) -> Struct:
    """The value as a struct.

    Raises:
        ThriftError: it is something else.
    """
    if not isinstance(value, dict):
        raise ThriftError(f"struct expected, {type(value).__name__} found")
    return value


def structs_of(value: object) -> Iterator[Struct]:
    """The elements of a list of structs.

    Raises:
        ThriftError: it is something else.
    """
    if not isinstance(value, ThriftList):
        raise ThriftError(f"list expected, {type(value).__name__} found")
    return (struct_of(item) for item in value.items)


def int_of(value: Struct, field: int) -> int | None:
    """An integer field, None when absent."""
    found = value.get(field, (Wire.STOP, None))[1]
    return found if isinstance(found, int) else None


class _Reader:
    """A cursor over the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value

    def varint(self) -> int:
        value = 0
        for shift in range(0, _MAX_VARINT_BITS, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # noqa: PLR2004 - the continuation bit
                return value
        raise ThriftError(f"varint too long at {self.at}")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def wire(self, number: int) -> Wire:
        try:
            return Wire(number)
        except ValueError as error:
            raise ThriftError(f"wire type {number} at {self.at}") from error

    def struct(self, depth: int) -> Struct:
        if depth > _MAX_NESTING:
            raise ThriftError(f"nested too deeply at {self.at}")
        fields: Struct = {}
        last = 0
        while header := self.byte():
            delta, wire = header >> 4, self.wire(header & 0x0F)
            last = last + delta if delta else self.zigzag()
            fields[last] = (wire, self.value(wire, depth))
        return fields

    def value(self, wire: Wire, depth: int) -> object:
        if wire in (Wire.TRUE, Wire.FALSE):
            return wire is Wire.TRUE
        if wire is Wire.BYTE:
            return self.byte()
        if wire in (Wire.DOUBLE, Wire.BINARY):
            return self.take(8 if wire is Wire.DOUBLE else self.varint())
        if wire in (Wire.LIST, Wire.SET):
            return self.items(depth)
        if wire is Wire.STRUCT:
            return self.struct(depth + 1)
        if wire is Wire.MAP:
            raise ThriftError(f"wire type {wire.name} at {self.at}")
        return self.zigzag()

    def items(self, depth: int) -> ThriftList:
        header = self.byte()
        size, wire = header >> 4, self.wire(header & 0x0F)
        if size == _LONG_LIST:
            size = self.varint()
        if size > len(self.data) - self.at:
            raise ThriftError(f"list of {size} elements at {self.at}")
        # booleans take a byte each in a list, though none as a field
        element = Wire.BYTE if wire in (Wire.TRUE, Wire.FALSE) else wire
        return ThriftList(wire, [self.value(element, depth + 1) for _ in range(size)])

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ThriftError(f"{size} bytes at {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]


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
