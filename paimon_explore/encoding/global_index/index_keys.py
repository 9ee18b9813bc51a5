"""Keys of global indexes: how values are stored in them, and how they are ordered.

A key is an integer that sorts like the values, or the UTF-8 bytes of a text. Stored keys:

| type | stored as |
| --- | --- |
| BOOLEAN, TINYINT | 1 byte |
| SMALLINT | int16 LE |
| INT, DATE, TIME | int32 LE |
| BIGINT | int64 LE |
| FLOAT, DOUBLE | their bits, LE; -0.0 sorts before 0.0, NaN last |
| DECIMAL up to 18 digits | unscaled value, int64 LE |
| DECIMAL of more digits | unscaled value, the fewest bytes of its two's complement, BE |
| TIMESTAMP up to 3 digits | milliseconds, int64 LE |
| TIMESTAMP of more digits | milliseconds, int64 LE; nanoseconds of the millisecond, varint |
| CHAR, VARCHAR | UTF-8 |

Seen in: `tests/support/global_indexes.py`.
"""

import math
import struct
from collections.abc import Mapping

from paimon_explore.data_types.definitions import (
    FIXED_WIDTHS,
    FLOATS,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.file_index.index_keys import IndexValue, unscaled_key
from paimon_explore.encoding.varint import decode_varint, encode_varint
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

Key = int | bytes

_WIDTHS = {root: n for root, n in FIXED_WIDTHS.items() if root not in FLOATS | TIMESTAMPS}
_FLOAT_BYTES: Mapping[TypeRoot, int] = {TypeRoot.FLOAT: 4, TypeRoot.DOUBLE: 8}
_COMPACT_DIGITS = 18
_MILLI_DIGITS = 3
NANOS_PER_MILLI = 1_000_000


@dataclass(frozen=True, slots=True)
class GlobalIndexKeys:
    """Converts values and stored keys of a column type to keys.

    Attributes:
        data_type: the type of the column.
    """

    data_type: AtomicType

    @property
    def is_text(self) -> bool:
        """Whether keys are bytes of texts."""
        return self.data_type.root in TEXTS

    @property
    def float_bytes(self) -> int:
        """Bytes of a floating-point number; 0 for other types."""
        return _FLOAT_BYTES.get(self.data_type.root, 0)

    @property
    def is_wide_decimal(self) -> bool:
        """Whether keys are unscaled values of more than 18 digits."""
        kind = self.data_type
        return kind.root is TypeRoot.DECIMAL and (kind.precision or 0) > _COMPACT_DIGITS

    @property
    def is_milliseconds(self) -> bool:
        """Whether timestamps are stored as milliseconds alone."""
        return (self.data_type.precision or 0) <= _MILLI_DIGITS

    @property
    def unit_nanos(self) -> int:
        """Nanoseconds of the unit of timestamps."""
        unit: int = 1000 ** (3 - ((self.data_type.precision or 0) + 2) // 3)
        return unit

    @property
    def width(self) -> int:
        """Bytes of a stored integer or floating-point number."""
        root = self.data_type.root
        return self.float_bytes or (8 if root is TypeRoot.DECIMAL else _WIDTHS[root])

    @property
    def nan(self) -> Key:
        """The key of NaN, the greatest of a floating-point type."""
        return self.of_value(math.nan)

    def is_nan(self, key: Key) -> bool:
        """Return whether a key is that of NaN."""
        return bool(self.float_bytes) and key == self.nan

    def of_value(self, value: IndexValue) -> Key:
        """Return the key of a value.

        Raises:
            ValueError: it is not a value of the type.
        """
        if self.is_text:
            return value.encode() if isinstance(value, str) else bytes(value)  # type: ignore[arg-type]  # a text or its bytes
        if self.float_bytes:
            return self._of_float(float(value))
        if self.data_type.root is TypeRoot.DECIMAL:
            return unscaled_key(value, self.data_type.scale or 0)
        if self.data_type.root in TIMESTAMPS:
            return int(value) * self.unit_nanos
        return int(value)

    def _of_float(self, value: float) -> int:
        """Return the bits of a number as an integer that sorts like the number."""
        if math.isnan(value):
            value = math.nan
        width = self.float_bytes
        bits = int.from_bytes(
            struct.pack("<f" if width == 4 else "<d", value),  # noqa: PLR2004 - bytes of a float
            "little",
            signed=True,
        )
        return bits if bits >= 0 else bits ^ ((1 << (8 * width - 1)) - 1)

    def after(self, key: Key) -> Key:
        """Return the least key above a key."""
        return key + b"\0" if isinstance(key, bytes) else key + 1

    def decode(self, stored: bytes) -> Key:
        """Return a stored key.

        Raises:
            ValueError: the bytes are not a key of the type.
        """
        root = self.data_type.root
        if self.is_text:
            stored.decode()
            return stored
        if self.float_bytes:
            _check_width(stored, self.float_bytes)
            layout = "<f" if self.float_bytes == 4 else "<d"  # noqa: PLR2004 - bytes of a float
            return self._of_float(struct.unpack(layout, stored)[0])
        if self.is_wide_decimal:
            if not stored:
                raise ValueError("a decimal must have at least one byte")
            return int.from_bytes(stored, "big", signed=True)
        if root in TIMESTAMPS:
            return self._decode_timestamp(stored)
        _check_width(stored, self.width)
        return int.from_bytes(stored, "little", signed=True)

    def _decode_timestamp(self, stored: bytes) -> int:
        if self.is_milliseconds:
            _check_width(stored, 8)
            return int.from_bytes(stored, "little", signed=True) * NANOS_PER_MILLI
        millis = int.from_bytes(stored[:8], "little", signed=True)
        nanos, end = decode_varint(stored, 8)
        _check_width(stored, end)
        return millis * NANOS_PER_MILLI + nanos

    def encode(self, key: Key) -> bytes:
        """Return the stored form of a key."""
        if isinstance(key, bytes):
            return key
        root = self.data_type.root
        if self.float_bytes:
            width = self.float_bytes
            bits = key if key >= 0 else key ^ ((1 << (8 * width - 1)) - 1)
            return bits.to_bytes(width, "little", signed=True)
        if self.is_wide_decimal:
            size = (key if key >= 0 else ~key).bit_length() // 8 + 1
            return key.to_bytes(size, "big", signed=True)
        if root in TIMESTAMPS:
            millis, nanos = divmod(key, NANOS_PER_MILLI)
            stored = millis.to_bytes(8, "little", signed=True)
            return stored if self.is_milliseconds else stored + encode_varint(nanos)
        return key.to_bytes(self.width, "little", signed=True)


def is_indexable(data_type: DataType) -> bool:
    """Return whether global indexes of values exist for a column type."""
    return isinstance(data_type, AtomicType) and (
        data_type.root in _WIDTHS
        or data_type.root in _FLOAT_BYTES
        or data_type.root in TEXTS
        or data_type.root in TIMESTAMPS
        or data_type.root is TypeRoot.DECIMAL
    )


def global_index_keys(data_type: DataType) -> GlobalIndexKeys:
    """Return the keys of a column type.

    Raises:
        UnsupportedFeatureError: the type cannot be indexed.
    """
    if not is_indexable(data_type) or not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError(f"a global index on a column of type {type_text(data_type)}")
    return GlobalIndexKeys(data_type)


def _check_width(stored: bytes, width: int) -> None:
    if len(stored) != width:
        raise ValueError(f"a key must have {width} bytes, not {len(stored)}")
