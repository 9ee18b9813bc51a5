"""Bounds and partition values in Iceberg's binary form of single values.

Spec: the Iceberg table specification, appendix D.
"""

import struct
from decimal import Decimal

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.decimals import unscaled
from paimon_explore.data_types.definitions import AtomicType, TypeRoot

_LAYOUTS = {
    **dict.fromkeys((TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.DATE), "<i"),
    TypeRoot.FLOAT: "<f",
    TypeRoot.DOUBLE: "<d",
}
_TIMESTAMPS = frozenset((TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ))
_MICROS = 6
_MICROS_PER_UNIT = {"s": 1_000_000, "ms": 1000, "us": 1}


def has_bounds(data_type: AtomicType) -> bool:
    """Return whether values of the type have a binary form that bounds are written in."""
    if data_type.root in _TIMESTAMPS:
        return (data_type.precision or 0) <= _MICROS
    return data_type.root not in _WITHOUT_FORM


_WITHOUT_FORM = frozenset((TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY))


def stored_values(values: Column, data_type: AtomicType) -> list[object]:
    """Return n values as Avro stores them: days, milliseconds, microseconds, unscaled decimals.

    Args:
        values: in the Arrow type of `data_type`.
        data_type: a type that `has_bounds`.
    """
    root, arrow = data_type.root, values.type
    if root is TypeRoot.DATE or root is TypeRoot.TIME:
        return as_python(values.cast(pa.int32()))
    if isinstance(arrow, pa.TimestampType):
        factor = _MICROS_PER_UNIT[arrow.unit]
        numbers = as_python(values.cast(pa.int64()))
        return [number * factor if isinstance(number, int) else None for number in numbers]
    if root is TypeRoot.DECIMAL:
        scale = data_type.scale or 0
        found = as_python(values)
        return [_unscaled(value, scale) if isinstance(value, Decimal) else None for value in found]
    return as_python(values)


def encode_value(value: object, data_type: AtomicType) -> bytes | None:
    """Return the binary form of a value of `stored_values`; None for null and NaN."""
    found: bytes | None = None
    match value:
        case bool():
            found = b"\x01" if value else b"\x00"
        case str():
            found = value.encode()
        case bytes():
            found = value
        case int() if data_type.root is TypeRoot.TIME:
            found = struct.pack("<q", value * 1000)
        case int() | float() if value == value:  # noqa: PLR0124 - false for NaN
            found = struct.pack(_LAYOUTS.get(data_type.root, "<q"), value)
        case _:
            pass
    return found


def _unscaled(value: Decimal, scale: int) -> bytes:
    r"""Return the unscaled value, big-endian in as few bytes as possible.

    >>> _unscaled(Decimal("1.28"), 2), _unscaled(Decimal("-0.01"), 2)
    (b'\x00\x80', b'\xff')
    """
    number = unscaled(value, scale)
    magnitude = number if number >= 0 else ~number
    size: int = magnitude.bit_length() // 8 + 1
    return int(number).to_bytes(size, "big", signed=True)
