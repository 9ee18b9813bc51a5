"""Protocol Buffers messages taken apart into their fields, in order, and put together again.

Unlike `protobuf`, nothing is lost: fields that nobody knows stay where they are.
"""

from collections.abc import Iterable

from paimon_explore.encoding.orc.protobuf_decoder import ProtobufError
from paimon_explore.frozen_dataclass import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message.

    Attributes:
        number: of the field.
        wire: how it is stored.
        value: an integer, or bytes.
    """

    number: int
    wire: int
    value: int | bytes


def fields_of(data: bytes) -> list[Field]:
    """The fields of a message.

    Raises:
        ProtobufError: the bytes end early or hold an unknown wire type.
    """
    found: list[Field] = []
    at = 0
    while at < len(data):
        key, at = _varint_at(data, at)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint_at(data, at)
            found.append(Field(key >> 3, wire, value))
            continue
        sizes = {_FIXED64: 8, _FIXED32: 4}
        if wire == _BYTES:
            size, at = _varint_at(data, at)
        elif wire in sizes:
            size = sizes[wire]
        else:
            raise ProtobufError(f"wire type {wire} at byte {at}")
        found.append(Field(key >> 3, wire, data[at : at + size]))
        at += size
    return found


def message_of(fields: Iterable[Field]) -> bytes:
    """The bytes of a message.

    >>> message_of([Field(1, 0, 300), Field(2, 2, b"ab")]).hex(" ")
    '08 ac 02 12 02 61 62'
    """
    return b"".join(map(_field, fields))


def bytes_field(number: int, value: bytes) -> Field:
    """A field of bytes: a text or another message."""
    return Field(number, _BYTES, value)


def int_field(number: int, value: int) -> Field:
    """A field of an integer that is not negative."""
    return Field(number, _VARINT, value)


def _field(field: Field) -> bytes:
    head = _varint(field.number << 3 | field.wire)
    if isinstance(field.value, int):
        return head + _varint(field.value)
    return head + (_varint(len(field.value)) if field.wire == _BYTES else b"") + field.value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= _MORE:
        out.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    return bytes([*out, value])


def _varint_at(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & (_MORE - 1)) << shift
        if byte < _MORE:
            return value, at
        shift += 7
    raise ProtobufError(f"varint without end at byte {at}")
