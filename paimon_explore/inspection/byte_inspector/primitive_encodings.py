"""Encodings of single values, the leaves of a byte layout.

Every form is lossless: encoding a decoded value gives the same bytes. A non-canonical encoding,
such as a variable-length integer with redundant bytes, becomes a leaf of form `bytes`.
"""

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from paimon_explore.encoding.avro.container import read_long, write_long
from paimon_explore.encoding.varint import encode_varint
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

Value: TypeAlias = "int | float | str | bytes"

_SHOWN_BYTES = 24


@dataclass(frozen=True, slots=True)
class Form:
    """An encoding of a value.

    Attributes:
        decode: decodes bytes.
        encode: encodes a value.
        description: description for display.
    """

    decode: Callable[[bytes], Value]
    encode: Callable[[Value], bytes]
    description: str
    size: int | None = None


def _whole(size: int, order: str, *, signed: bool) -> Form:
    kind = "signed" if signed else "unsigned"
    ends = {"big": "big-endian", "little": "little-endian"}[order]
    return Form(
        lambda data: int.from_bytes(data, order, signed=signed),  # type: ignore[arg-type]  # of two
        lambda value: int(value).to_bytes(size, order, signed=signed),  # type: ignore[arg-type]
        f"{size * 8}-bit {kind} integer" + (f", {ends}" if size > 1 else ""),
        size,
    )


def _floating(code: str, says: str) -> Form:
    def decode(data: bytes) -> Value:
        value: float = struct.unpack(code, data)[0]
        return value

    return Form(decode, lambda value: struct.pack(code, value), says, struct.calcsize(code))


def unsigned_varint(data: bytes) -> int:
    """Decode an unsigned LEB128 varint."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data))


def _text_of(value: Value) -> bytes:
    return str(value).encode("utf-8", "surrogateescape")


def _bytes_of(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise InvalidInputError(f"{value!r} is not a sequence of bytes.")
    return value


_ENDS = (("BE", "big"), ("LE", "little"))

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "bytes": Form(bytes, _bytes_of, "raw bytes"),
        "zeros": Form(bytes, _bytes_of, "padding to the next boundary"),
        "UTF-8": Form(lambda data: data.decode("utf-8", "surrogateescape"), _text_of, "text"),
        "JSON": Form(lambda data: data.decode("utf-8", "surrogateescape"), _text_of, "JSON"),
        "zigzag": Form(
            lambda data: read_long(data, 0)[0],
            lambda value: write_long(int(value)),
            "zigzag varint: signed integer, seven bits per byte, lowest first, sign in bit 0",
        ),
        "varint": Form(
            unsigned_varint,
            lambda value: encode_varint(int(value)),
            "varint: unsigned integer, seven bits per byte, lowest first",
        ),
        "uint8": _whole(1, "big", signed=False),
        "int8": _whole(1, "big", signed=True),
        **{
            f"{'' if signed else 'u'}int{size * 8} {mark}": _whole(size, order, signed=signed)
            for signed in (True, False)
            for size in (2, 3, 4, 8)
            for mark, order in _ENDS
        },
        "float32 LE": _floating("<f", "32-bit floating point number, little-endian"),
        "float64 LE": _floating("<d", "64-bit floating point number, little-endian"),
        "float32 BE": _floating(">f", "32-bit floating point number, big-endian"),
        "float64 BE": _floating(">d", "64-bit floating point number, big-endian"),
    }
)
"""The forms by name."""

WIDTHS: Mapping[str, int] = MappingProxyType(
    {name: form.size for name, form in FORMS.items() if form.size is not None}
)
"""Size in bytes of the fixed-size forms."""


def is_faithful(form: str, data: bytes) -> bool:
    """Whether encoding the decoded value gives the same bytes."""
    found = FORMS[form]
    try:
        return found.encode(found.decode(data)) == data
    except (ValueError, struct.error, OverflowError, InvalidInputError):
        return False


def value_text(value: Value) -> str:
    """Format a value in one line.

    >>> value_text(b"ab"), value_text("ab"), value_text(7)
    ('0x6162', '"ab"', '7')
    """
    if isinstance(value, bytes):
        more = f"… {len(value):,} bytes" if len(value) > _SHOWN_BYTES else ""
        return f"0x{value[:_SHOWN_BYTES].hex()}{more}"
    return f'"{value}"' if isinstance(value, str) else str(value)
