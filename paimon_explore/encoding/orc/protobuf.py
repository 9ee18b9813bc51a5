"""Decoding and encoding of Protocol Buffers messages without a schema, for ORC footers.

`decode_message` groups the values by field number; `fields_of` and `message_of` keep all fields in
order, so that unknown fields survive a change.

Spec: Protocol Buffers, encoding.
"""

from collections.abc import Iterable, Iterator

from paimon_explore.encoding.varint import encode_varint
from paimon_explore.frozen_dataclass import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_CONTINUATION = 0x80
_MAX_VARINT_BITS = 70

Message = dict[int, list[int | bytes]]
"""The values of each field in order: integers, or bytes of strings, messages and fixed widths."""


class ProtobufError(ValueError):
    """The bytes are not a valid message; callers convert it to an error with a path."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message.

    Attributes:
        number: the field number.
        wire: the wire type.
        value: an integer, or bytes.
    """

    number: int
    wire: int
    value: int | bytes


def decode_message(data: bytes) -> Message:
    """Decode a message to its values by field number.

    Raises:
        ProtobufError: the bytes are truncated or have an unknown wire type.
    """
    message: Message = {}
    for field, _, value in _parse(data):
        message.setdefault(field, []).append(value)
    return message


def fields_of(data: bytes) -> list[Field]:
    """Decode a message to its fields in order.

    Raises:
        ProtobufError: the bytes are truncated or have an unknown wire type.
    """
    return [Field(*field) for field in _parse(data)]


def _parse(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = varint_at(data, at)
        wire = key & 7
        if wire == _VARINT:
            value, at = varint_at(data, at)
            yield key >> 3, wire, value
            continue
        if wire == _BYTES:
            size, at = varint_at(data, at)
        elif wire in _FIXED_SIZES:
            size = _FIXED_SIZES[wire]
        else:
            raise ProtobufError(f"the wire type {wire} at byte {at} is unknown")
        if size > len(data) - at:
            raise ProtobufError(
                f"{size} bytes are required at byte {at}, but only {len(data) - at} bytes follow"
            )
        yield key >> 3, wire, data[at : at + size]
        at += size


def varint_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length integer at a position, and the position after it."""
    value = 0
    for shift in range(0, _MAX_VARINT_BITS, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & (_CONTINUATION - 1)) << shift
        if byte < _CONTINUATION:
            return value, at
    raise ProtobufError(f"the varint that ends at byte {at} is truncated")


def message_of(fields: Iterable[Field]) -> bytes:
    """Encode fields as a message.

    >>> message_of([Field(1, 0, 300), Field(2, 2, b"ab")]).hex(" ")
    '08 ac 02 12 02 61 62'
    """
    return b"".join(map(_field, fields))


def bytes_field(number: int, value: bytes) -> Field:
    """Return a length-delimited field: a string or a message."""
    return Field(number, _BYTES, value)


def int_field(number: int, value: int) -> Field:
    """Return a field with a non-negative integer."""
    return Field(number, _VARINT, value)


def _field(field: Field) -> bytes:
    head = encode_varint(field.number << 3 | field.wire)
    if isinstance(field.value, int):
        return head + encode_varint(field.value)
    size = encode_varint(len(field.value)) if field.wire == _BYTES else b""
    return head + size + field.value


def number(message: Message, field: int, default: int = 0) -> int:
    """Return the last value of an integer field."""
    found = message.get(field, [default])[-1]
    if not isinstance(found, int):
        raise ProtobufError(f"field {field} must be an integer")
    return found


def signed(message: Message, field: int) -> int | None:
    """Return the last value of a zigzag integer field; None if absent."""
    if field not in message:
        return None
    value = number(message, field)
    return (value >> 1) ^ -(value & 1)


def raw(message: Message, field: int) -> bytes | None:
    """Return the last value of a length-delimited field; None if absent."""
    found = message.get(field, [None])[-1]
    if isinstance(found, int):
        raise ProtobufError(f"field {field} must contain bytes, not an integer")
    return found


def messages(message: Message, field: int) -> Iterator[Message]:
    """Yield the values of a repeated message field."""
    for value in message.get(field, []):
        if isinstance(value, int):
            raise ProtobufError(f"field {field} must contain bytes, not an integer")
        yield decode_message(value)


def numbers(message: Message, field: int) -> list[int]:
    """Return the values of a repeated integer field, packed or not."""
    found: list[int] = []
    for value in message.get(field, []):
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = varint_at(value, at)
            found.append(item)
    return found
