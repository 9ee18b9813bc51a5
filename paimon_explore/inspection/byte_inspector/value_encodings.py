"""How single values are stored in bytes, and back: the leaves of a file's anatomy.

Every form gives back the very bytes it was decoded from. Where a value has several spellings, such
as a number of variable length with needless bytes, the leaf is of form `bytes`.
"""

import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from paimon_explore.encoding.avro.container import read_long, write_long
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

Value: TypeAlias = "int | float | str | bytes"

_SHOWN_BYTES = 24
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class Form:
    """A way to store a value.

    Attributes:
        decode: the value of some bytes.
        encode: the bytes of a value.
        says: what the form is, in words.
    """

    decode: Callable[[bytes], Value]
    encode: Callable[[Value], bytes]
    says: str


def _whole(size: int, order: str, *, signed: bool) -> Form:
    kind = "signed" if signed else "unsigned"
    ends = {"big": "highest byte first", "little": "lowest byte first"}[order]
    return Form(
        lambda data: int.from_bytes(data, order, signed=signed),  # type: ignore[arg-type]  # of two
        lambda value: int(value).to_bytes(size, order, signed=signed),  # type: ignore[arg-type]
        f"{kind} whole number of {size * 8} bits" + (f", {ends}" if size > 1 else ""),
    )


def _floating(code: str, says: str) -> Form:
    def decode(data: bytes) -> Value:
        value: float = struct.unpack(code, data)[0]
        return value

    return Form(decode, lambda value: struct.pack(code, value), says)


def unsigned_varint(data: bytes) -> int:
    """The number in groups of seven bits, lowest first, that fills the bytes."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(data))


def write_unsigned(value: int) -> bytes:
    """A number in groups of seven bits, lowest first."""
    out = bytearray()
    while value >= _MORE:
        out.append(value & 0x7F | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def _text_of(value: Value) -> bytes:
    return str(value).encode("utf-8", "surrogateescape")


def _bytes_of(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise InvalidInputError(f"{value!r} is not a sequence of bytes.")
    return value


_ENDS = (("BE", "big"), ("LE", "little"))

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "bytes": Form(bytes, _bytes_of, "bytes as they are"),
        "zeros": Form(bytes, _bytes_of, "bytes that fill up to the next boundary"),
        "UTF-8": Form(lambda data: data.decode("utf-8", "surrogateescape"), _text_of, "text"),
        "JSON": Form(lambda data: data.decode("utf-8", "surrogateescape"), _text_of, "JSON"),
        "zigzag": Form(
            lambda data: read_long(data, 0)[0],
            lambda value: write_long(int(value)),
            "signed number of variable length: seven bits per byte, lowest first, sign in bit 0",
        ),
        "varint": Form(
            unsigned_varint,
            lambda value: write_unsigned(int(value)),
            "number of variable length: seven bits per byte, lowest first",
        ),
        "uint8": _whole(1, "big", signed=False),
        "int8": _whole(1, "big", signed=True),
        **{
            f"{'' if signed else 'u'}int{size * 8} {mark}": _whole(size, order, signed=signed)
            for signed in (True, False)
            for size in (2, 3, 4, 8)
            for mark, order in _ENDS
        },
        "float32 LE": _floating("<f", "floating point number of 32 bits, lowest byte first"),
        "float64 LE": _floating("<d", "floating point number of 64 bits, lowest byte first"),
        "float32 BE": _floating(">f", "floating point number of 32 bits, highest byte first"),
        "float64 BE": _floating(">d", "floating point number of 64 bits, highest byte first"),
    }
)
"""The forms of leaves, by name."""

WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        "uint8": 1,
        "int8": 1,
        **{
            f"{kind} {mark}": bits // 8
            for bits in (16, 24, 32, 64)
            for kind in (f"int{bits}", f"uint{bits}", f"float{bits}")
            for mark, _ in _ENDS
        },
    }
)
"""Bytes of the forms that always have the same number of them."""


def is_faithful(form: str, data: bytes) -> bool:
    """Whether a form gives back these very bytes."""
    found = FORMS[form]
    try:
        return found.encode(found.decode(data)) == data
    except (ValueError, struct.error, OverflowError, InvalidInputError):
        return False


def value_text(value: Value) -> str:
    """A value in one line.

    >>> value_text(b"ab"), value_text("ab"), value_text(7)
    ('0x6162', '"ab"', '7')
    """
    if isinstance(value, bytes):
        more = f"… {len(value):,} bytes" if len(value) > _SHOWN_BYTES else ""
        return f"0x{value[:_SHOWN_BYTES].hex()}{more}"
    return f'"{value}"' if isinstance(value, str) else str(value)
