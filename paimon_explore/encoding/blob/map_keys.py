"""Keys of MAP<x, BLOB> as bytes in blob files.

| type | bytes |
| --- | --- |
| CHAR, VARCHAR | UTF-8 |
| BINARY, VARBINARY | the bytes |
| BOOLEAN | 0 or 1 |
| TINYINT, SMALLINT, INT, BIGINT | little-endian |
| DATE, TIME | int32: days, milliseconds |
| DECIMAL | unscaled: int64 up to 18 digits, else big-endian in as few bytes as possible |

Release 2.0 has texts and whole numbers. Seen in: golden java21 `blob_maps`.
"""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

from paimon_explore.data_types.decimals import scaled, unscaled
from paimon_explore.data_types.definitions import (
    BYTES,
    FIXED_WIDTHS,
    FLOATS,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

Key: TypeAlias = str | int | bytes | Decimal | dt.date | dt.time

_WIDTHS = {root: n for root, n in FIXED_WIDTHS.items() if root not in FLOATS | TIMESTAMPS}
_COMPACT_DIGITS = 18
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCoder:
    """Encodes and decodes keys; dates and times are decoded to days and milliseconds.

    Decoding raises ValueError for bytes that are no key of the type.
    """

    encode: Callable[[Key], bytes]
    decode: Callable[[bytes], Key]


def key_coder(data_type: DataType) -> KeyCoder:
    """Return the coder of a type of keys.

    Raises:
        UnsupportedFeatureError: blob files have no keys of the type.
    """
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if root in TEXTS:
        return KeyCoder(encode=lambda key: str(key).encode(), decode=lambda data: data.decode())
    if root in BYTES:
        return KeyCoder(encode=lambda key: key if isinstance(key, bytes) else b"", decode=bytes)
    if root in _WIDTHS:
        return _numbers(root, _WIDTHS[root])
    if root is TypeRoot.DECIMAL and isinstance(data_type, AtomicType):
        return _decimals(data_type.precision or 0, data_type.scale or 0)
    hint = "Use keys of a type of text, bytes, whole numbers, DECIMAL, BOOLEAN, DATE or TIME."
    raise UnsupportedFeatureError(f"MAP<{type_text(data_type)}, BLOB>", hint=hint)


def _numbers(root: TypeRoot, width: int) -> KeyCoder:
    def decode(data: bytes) -> Key:
        number = _number(data, width)
        if root is not TypeRoot.BOOLEAN:
            return number
        if number not in (0, 1):
            raise ValueError(f"a BOOLEAN map key must be 0 or 1, not {number}")
        return number == 1

    return KeyCoder(
        encode=lambda key: _whole(key).to_bytes(width, "little", signed=True), decode=decode
    )


def _whole(key: Key) -> int:
    """Return the number that is stored for a key."""
    match key:
        case dt.date():
            return (key - _EPOCH).days
        case dt.time():
            seconds = (key.hour * 60 + key.minute) * 60 + key.second
            return seconds * 1000 + key.microsecond // 1000
        case _:
            return int(key)


def _number(data: bytes, width: int) -> int:
    if len(data) != width:
        raise ValueError(f"a map key must have {width} bytes, not {len(data)}")
    return int.from_bytes(data, "little", signed=True)


def _decimals(precision: int, scale: int) -> KeyCoder:
    def encode(key: Key) -> bytes:
        number = unscaled(Decimal(str(key)), scale)
        if precision <= _COMPACT_DIGITS:
            return number.to_bytes(8, "little", signed=True)
        size = (number + (number < 0)).bit_length() // 8 + 1
        return number.to_bytes(size, "big", signed=True)

    def decode(data: bytes) -> Key:
        if precision <= _COMPACT_DIGITS:
            number = _number(data, 8)
        else:
            number = int.from_bytes(data, "big", signed=True)
        if len(str(abs(number))) > precision:
            raise ValueError(f"a DECIMAL map key must have {precision} digits, not {number}")
        return scaled(number, scale)

    return KeyCoder(encode=encode, decode=decode)
