"""Fields of a Protocol Buffers message by number, without a schema. ORC tails are such messages.

Spec: Protocol Buffers, encoding.
"""

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BITS = 70

Message = dict[int, list[int | bytes]]
"""All values of each field in order: integers, or bytes of texts, messages and fixed widths."""


class ProtobufError(ValueError):
    """The bytes are no message; callers turn it into an error with a path."""


def decode_message(data: bytes) -> Message:
    """The fields of one message.

    Raises:
        ProtobufError: the bytes end early or hold an unknown wire type.
    """
    fields: Message = {}
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            number, at = _varint(data, at)
            fields.setdefault(key >> 3, []).append(number)
            continue
        if wire == _BYTES:
            size, at = _varint(data, at)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise ProtobufError(f"wire type {wire} at byte {at}")
        if size > len(data) - at:
            raise ProtobufError(f"{size} bytes wanted at byte {at}")
        fields.setdefault(key >> 3, []).append(data[at : at + size])
        at += size
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MAX_VARINT_BITS, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the continuation bit
            return value, at
    raise ProtobufError(f"varint without end at byte {at}")


def number(message: Message, field: int, default: int = 0) -> int:
    """The last value of an integer field."""
    found = message.get(field, [default])[-1]
    if not isinstance(found, int):
        raise ProtobufError(f"field {field} is not an integer")
    return found


def signed(message: Message, field: int) -> int | None:
    """The last value of a zigzag integer field, None when absent."""
    if field not in message:
        return None
    value = number(message, field)
    return (value >> 1) ^ -(value & 1)


def raw(message: Message, field: int) -> bytes | None:
    """The last value of a field of bytes, None when absent."""
    found = message.get(field, [None])[-1]
    if isinstance(found, int):
        raise ProtobufError(f"field {field} is an integer")
    return found


def messages(message: Message, field: int) -> Iterator[Message]:
    """The values of a repeated message field."""
    for value in message.get(field, []):
        if isinstance(value, int):
            raise ProtobufError(f"field {field} is an integer")
        yield decode_message(value)


def numbers(message: Message, field: int) -> list[int]:
    """The values of a repeated integer field, packed or not."""
    found: list[int] = []
    for value in message.get(field, []):
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            item, at = _varint(value, at)
            found.append(item)
    return found
