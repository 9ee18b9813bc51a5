"""Conversion of literals to a column's type: the exact value, or the nearest below and above.

Binding converts a comparison with any constant to one with a value of the column's type: for a
BIGINT, `a < 3.5` is `a <= 3`, and `a = 3.5` is never true. Only numbers compared with FLOAT or
DOUBLE are rounded to the nearest value, so that 0.1 equals a stored 0.1. For a DECIMAL, a constant
of FLOAT or DOUBLE is the shortest decimal that is nearest to it: so values of up to 15 digits are
compared as if both were DOUBLE, as in Spark, and the float 1.1 equals a stored 1.10.
"""

import math
from datetime import tzinfo
from decimal import Decimal
from fractions import Fraction

import numpy as np

from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGER_BITS,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.datetime_literals import (
    NANOS_PER_DAY,
    parse_time,
    parse_timestamp,
    to_utc,
    to_wall_clock,
)
from paimon_explore.scan.predicate.expression import Literal, LiteralValue, unit_nanos
from paimon_explore.scan.predicate.sql_formatter import literal_text

_DATE_BITS = 32
_INSTANT_BITS = 64
_NANOS_PER_MILLI = 1_000_000
_HINTS = {
    TypeRoot.BOOLEAN: "Write TRUE or FALSE.",
    TypeRoot.DATE: "Write DATE '2026-01-31', a string of that form, or a Python date.",
    TypeRoot.TIME: "Write TIME '10:00:00.123', a string of that form, or a Python time.",
    TypeRoot.TIMESTAMP: "Write TIMESTAMP '2026-01-31 10:00:00', that string, or a datetime.",
    TypeRoot.TIMESTAMP_LTZ: "Write TIMESTAMP '2026-01-31 10:00:00Z', that string, or a datetime.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralRange:
    """The values of a type next to a constant, represented as in `Literal.value`.

    Attributes:
        exact: the equal value; None if there is none.
        floor: the greatest value not above it; None if all values are above.
        ceiling: the least value not below it; None if all values are below.
    """

    exact: bool | int | float | Decimal | str | bytes | None
    floor: bool | int | float | Decimal | str | bytes | None
    ceiling: bool | int | float | Decimal | str | bytes | None


def literal_range(constant: Literal, target: DataType, zone: tzinfo | None) -> LiteralRange:
    """The values of `target` next to a constant that is not null.

    Args:
        constant: the constant in its own type.
        target: the type that it is compared with.
        zone: for timestamps with and without local time zone; None is the local zone.

    Raises:
        InvalidInputError: the types cannot be compared.
    """
    if _contains(target, constant):
        return _exactly(constant.value)
    found = _range_of(constant, target, zone) if isinstance(target, AtomicType) else None
    if found is None:
        raise _refusal(constant, target)
    return found


def _contains(target: DataType, constant: Literal) -> bool:
    """Whether a constant is an integer of an integer type: the usual case."""
    if not isinstance(target, AtomicType) or target.root not in INTEGER_BITS:
        return False
    low, high = _bounds(INTEGER_BITS[target.root])
    kind, value = constant.type, constant.value
    is_integer = kind is not None and kind.root in INTEGER_BITS
    return is_integer and type(value) is int and low <= value <= high


def _range_of(constant: Literal, target: AtomicType, zone: tzinfo | None) -> LiteralRange | None:
    root, value = target.root, constant.value
    if root in TIMESTAMPS or root is TypeRoot.DATE:
        nanos = _nanos(constant, zone, zoned=root is TypeRoot.TIMESTAMP_LTZ)
        return None if nanos is None else _instant_range(nanos, target)
    if root is TypeRoot.TIME:
        return _time_range(constant)
    if root in TEXTS:
        return _exactly(value) if isinstance(value, str) else None
    if root in BYTES:
        return _exactly(value) if isinstance(value, bytes) else None
    if root is TypeRoot.BOOLEAN:
        return _exactly(value) if isinstance(value, bool) else None
    number = _number(constant)
    if root is TypeRoot.DECIMAL and isinstance(value, float) and isinstance(number, Fraction):
        number = Fraction(repr(value))
    return None if number is None else _number_range(number, target)


def _exactly(value: LiteralValue) -> LiteralRange:
    return LiteralRange(exact=value, floor=value, ceiling=value)


def _number(constant: Literal) -> Fraction | float | None:
    """The exact number; a float only for NaN and infinities."""
    value, kind = constant.value, constant.type
    numeric = kind is not None and (
        kind.root in INTEGER_BITS or kind.root in FLOATS or kind.root is TypeRoot.DECIMAL
    )
    if not numeric or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return Fraction(value)


def _number_range(number: Fraction | float, target: AtomicType) -> LiteralRange | None:
    if target.root in FLOATS:
        return _float_range(number, single=target.root is TypeRoot.FLOAT)
    if target.root is TypeRoot.DECIMAL:
        limit = 10 ** (target.precision or 0) - 1
        scale = target.scale or 0
        factor: int = 10**scale
        found = _integer_range(_times(number, factor), -limit, limit)
        return LiteralRange(
            exact=_scaled(found.exact, scale),
            floor=_scaled(found.floor, scale),
            ceiling=_scaled(found.ceiling, scale),
        )
    bits = INTEGER_BITS.get(target.root)
    return None if bits is None else _integer_range(number, *_bounds(bits))


def _times(number: Fraction | float, factor: int) -> Fraction | float:
    return number * factor if isinstance(number, Fraction) else number


def _scaled(value: object, scale: int) -> Decimal | None:
    return scaled(value, scale) if isinstance(value, int) else None


def _bounds(bits: int) -> tuple[int, int]:
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _integer_range(number: Fraction | float, low: int, high: int) -> LiteralRange:
    """The range among the integers from `low` to `high`; NaN is above all numbers."""
    if not isinstance(number, Fraction):
        number = Fraction(low - 1 if number < 0 else high + 1)
    if number < low:
        return LiteralRange(exact=None, floor=None, ceiling=low)
    if number > high:
        return LiteralRange(exact=None, floor=high, ceiling=None)
    floor, ceiling = math.floor(number), math.ceil(number)
    return LiteralRange(exact=floor if floor == ceiling else None, floor=floor, ceiling=ceiling)


def _float_range(number: Fraction | float, *, single: bool) -> LiteralRange:
    largest = float(np.finfo(np.float32 if single else np.float64).max)
    try:
        nearest = float(number)
    except OverflowError:
        nearest = math.inf if number > 0 else -math.inf
    if single:
        with np.errstate(over="ignore"):
            nearest = float(np.float32(nearest))
    if math.isinf(nearest) and isinstance(number, Fraction):
        below, above = (largest, math.inf) if number > 0 else (-math.inf, -largest)
        return LiteralRange(exact=None, floor=below, ceiling=above)
    return _exactly(nearest or 0.0)


def _instant_range(nanos: int, target: AtomicType) -> LiteralRange:
    is_date = target.root is TypeRoot.DATE
    unit = NANOS_PER_DAY if is_date else unit_nanos(target)
    return _integer_range(Fraction(nanos, unit), *_bounds(_DATE_BITS if is_date else _INSTANT_BITS))


def _time_range(constant: Literal) -> LiteralRange | None:
    value = constant.value
    if constant.type is not None and constant.type.root is TypeRoot.TIME and isinstance(value, int):
        return _exactly(value)
    nanos = parse_time(value) if isinstance(value, str) else None
    if nanos is None:
        return None
    return _integer_range(Fraction(nanos, _NANOS_PER_MILLI), *_bounds(_DATE_BITS))


def _nanos(constant: Literal, zone: tzinfo | None, *, zoned: bool) -> int | None:
    """Nanoseconds since 1970 of a date, timestamp or text: UTC if `zoned`, else wall clock."""
    value, kind = constant.value, constant.type
    if isinstance(value, str):
        moment = parse_timestamp(value)
        if moment is None:
            return None
        nanos, from_zoned = moment.nanos, moment.zoned
    elif isinstance(value, int) and kind is not None and kind.root is TypeRoot.DATE:
        nanos, from_zoned = value * NANOS_PER_DAY, False
    elif isinstance(value, int) and kind is not None and kind.root in TIMESTAMPS:
        nanos, from_zoned = value * unit_nanos(kind), kind.root is TypeRoot.TIMESTAMP_LTZ
    else:
        return None
    if from_zoned == zoned:
        return nanos
    return to_utc(nanos, zone) if zoned else to_wall_clock(nanos, zone)


def _refusal(constant: Literal, target: DataType) -> InvalidInputError:
    root = target.root if isinstance(target, AtomicType) else None
    shown = literal_text(constant)
    kind = type_text(with_nullable(target, nullable=True))
    hint = ""
    if root is None or root in {TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.GEOMETRY}:
        hint = "Test a column of this type with IS NULL or IS NOT NULL only."
    elif root in TEXTS:
        hint = "Write the constant in quotes, or cast the column."
    elif root in BYTES:
        hint = "Write X'CAFE' in SQL, or bytes in Python."
    elif isinstance(constant.value, str) and root not in _HINTS:
        hint = f"Write a number without quotes, or CAST({shown} AS {kind})."
    else:
        hint = _HINTS.get(root, "Write a number.")
    return InvalidInputError(f"{shown} cannot be compared with {kind}.", hint=hint)
