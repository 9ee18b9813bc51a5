"""Casts of input values to column types that never change a value: a lossy cast is an error.

These casts are allowed:

| from | into | rule |
| --- | --- | --- |
| integers, floats, decimals | an integer type | whole numbers in the type's range |
| integers | FLOAT, DOUBLE | numbers that the type represents exactly |
| floats, decimals | FLOAT, DOUBLE | the nearest value; a finite number never becomes infinite |
| integers, decimals | DECIMAL | numbers within the type's precision and scale |
| floats | DECIMAL | the number as printed: 0.1 is 0.1; 0.30000000000000004 has 17 digits |
| timestamps | timestamps | within the type's precision; both with or both without time zone |
| dates, timestamps without time zone | each other | midnights |
| strings; bytes | strings; bytes | no longer than the type's length; strings in UTF-8 |

The caller must cast everything else: strings are not parsed, and numbers do not become strings,
booleans or times. Arrow's checked casts enforce most rules; this module checks the casts in which
Arrow rounds or wraps.

Arrow's casts between floats and decimals are sometimes off by one in the last digit. Numbers of at
most 15 digits are divided by a power of ten instead, which IEEE 754 rounds correctly; other numbers
are cast through strings, which Arrow prints in the shortest form and parses to the nearest value.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from math import isnan

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_bool,
    build_fixed,
    empty_array,
    fixed_values,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    MAX_LENGTH,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.arrow_type_conversion import is_utf8
from paimon_explore.frozen_dataclass import dataclass

ZONE_HINT = (
    "Only one of value and column has a time zone. Add or remove the time zone: "
    "value.replace(tzinfo=zone) or value.astimezone(zone).replace(tzinfo=None) in Python, "
    "dt.tz_localize(zone) or dt.tz_localize(None) in pandas, '2026-01-31 10:00:00Z' or "
    "'2026-01-31 10:00:00' in SQL."
)
"""Hint for a timestamp with time zone in a column without one, or the reverse."""
NAN_HINT = (
    "NaN is a number, which only FLOAT and DOUBLE can store. For a missing value pass None; "
    "replace NaN by null with fill_nan(None) in polars, pa.array(values, from_pandas=True) in "
    "Arrow, NULLIF(value, 'NaN') in SQL."
)
"""Hint for NaN in a column that cannot store it."""
_DIGITS_OF_INTEGERS = 20
_MAX_DIGITS = 76
_DIGITS_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_FLOAT_DIGITS = 15
"""Decimals of up to this many digits survive the round trip through a double."""
_LARGEST_EXACT = 2**53
_MAX_SECONDS = (2**63 - 1) // 1000
"""Paimon stores timestamps of whole seconds in milliseconds."""
_EXACT_POWERS = 22
"""Powers of ten up to this one are exact as floats."""
_VALIDATED = frozenset({TypeRoot.DECIMAL, TypeRoot.TIME})
"""Types that cannot store all values of their Arrow type's width."""
_MILLIS = pa.time32("ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """The first value that cannot be stored.

    Attributes:
        position: of the value; None if no value of the array's type can be stored.
        problem: the predicate of the error message; its subject is the value.
        hint: what to do.
        is_type: whether the type of the value is the problem, not the value.
    """

    position: int | None
    problem: str
    hint: str
    is_type: bool = False


def safe_cast(array: Column, data_type: AtomicType) -> "Column | Misfit":
    """Cast values to the Arrow type of a column.

    Args:
        array: n values of any plain Arrow type.
        data_type: the column's type, any but VARIANT.

    Returns:
        n values in `to_arrow(data_type)`, or the first value that would change.
    """
    target = to_arrow(data_type)
    if not array.type.equals(target):
        if not is_castable(array.type, target):
            return _mismatch(array, data_type)
        try:
            array = _exact_cast(array, target)
        except pa.ArrowException:
            position = _first_failure(array, partial(_exact_cast, target=target))
            return _misfit(array, position, data_type)
    return (
        _not_text(array, data_type)
        or _too_long(array, data_type)
        or _not_valid(array, data_type)
        or array
    )


def is_unlimited(data_type: DataType) -> bool:
    """Whether a column can store all values of its Arrow type, but nulls and texts in no UTF-8."""
    if not isinstance(data_type, AtomicType) or data_type.root is TypeRoot.VARIANT:
        return False
    is_limited = data_type.root in _VALIDATED
    return not is_limited and _beyond(empty_array(to_arrow(data_type)), data_type) is None


def is_castable(found: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of a type may be cast to another if they fit.

    Dates and timestamps at midnight may be cast to each other.
    """
    is_day = (pat.is_date(found) and _is_local_time(target)) or (
        _is_local_time(found) and pat.is_date(target)
    )
    return is_day or any(family(found) and family(target) for family in _FAMILIES)


# ---------------------------------------------------------------- casts


def _exact_cast(array: Column, target: pa.DataType) -> Column:
    """Cast values, or raise if one would change.

    Raises:
        pa.ArrowException: a value does not fit.
    """
    found = array.type
    if pat.is_float16(found):  # Arrow has few casts from it
        return _exact_cast(array.cast(pa.float32()), target)
    if pat.is_integer(found) and pat.is_decimal(target):
        # pyarrow rejects precisions below that of the widest value of the integer type
        digits = min(_DIGITS_OF_INTEGERS + target.scale, _MAX_DIGITS)
        return array.cast(pa.decimal256(digits, target.scale)).cast(target)
    if pat.is_floating(target):
        return _floats(array, target)
    if pat.is_floating(found) and pat.is_decimal(target):
        return _decimals_of_floats(array, target)
    if _is_local_time(found) and pat.is_date(target):
        return _days(array, target)
    return array.cast(target)


def _days(array: Column, target: pa.DataType) -> Column:
    found = array.cast(target)
    if not found.cast(array.type).equals(array):
        raise pa.ArrowInvalid("not midnight")
    return found


def _floats(array: Column, target: pa.DataType) -> Column:
    if pat.is_integer(array.type):
        try:
            return array.cast(target)
        except pa.ArrowInvalid:  # Arrow rejects even exact integers beyond 2**53
            return _exact_floats(array, target)
    found = _nearest_floats(array, target) if pat.is_decimal(array.type) else array.cast(target)
    infinite = np.isinf(_float_values(found)) & valid_mask(found)
    if infinite.any():
        was_infinite = np.zeros(len(array), np.bool_)
        if pat.is_floating(array.type):
            was_infinite = np.isinf(_float_values(array))
        if (infinite & ~was_infinite).any():
            raise pa.ArrowInvalid("infinite")
    return found


def _float_values(array: Column) -> npt.NDArray[np.float64]:
    return fixed_values(array, f"f{array.type.bit_width // 8}")  # type: ignore[return-value]  # or of 32 bits


def _exact_floats(array: Column, target: pa.DataType) -> Column:
    """Cast integers to floats, if all are exact."""
    signed = pat.is_signed_integer(array.type)
    bits = array.type.bit_width
    numbers = fixed_values(array, f"{'i' if signed else 'u'}{bits // 8}")
    found: Column = array.cast(target, safe=False)
    floats = _float_values(found).astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (floats < 2.0 ** (bits - signed)) & (floats.astype(numbers.dtype) == numbers)
    if not (same | ~valid_mask(array)).all():
        raise pa.ArrowInvalid("rounded")
    return found


def _nearest_floats(array: Column, target: pa.DataType) -> Column:
    """Cast decimals to the nearest floats."""
    kind = array.type
    if isinstance(kind, pa.Decimal128Type) and pat.is_float64(target):
        valid = valid_mask(array)
        halves = fixed_values(array, "V16").view("<i8").reshape(-1, 2)
        low = np.where(valid, halves[:, 0], 0)
        is_small = (halves[:, 1] == low >> 63) & (np.abs(low) <= _LARGEST_EXACT)
        if 0 <= kind.scale <= _EXACT_POWERS and (is_small | ~valid).all():
            return build_fixed(target, low.astype(np.float64) / 10.0**kind.scale, valid)
    return array.cast(pa.string()).cast(target)


def _decimals_of_floats(array: Column, target: pa.DataType) -> Column:
    """Cast floats to the decimals that print the same."""
    assert isinstance(target, pa.Decimal128Type)  # noqa: S101 - DECIMAL has no other
    if pat.is_float64(array.type) and 0 <= target.scale <= _EXACT_POWERS:
        valid = valid_mask(array)
        floats = np.where(valid, _float_values(array), 0.0)
        power = 10.0**target.scale
        with np.errstate(over="ignore", invalid="ignore"):
            units = np.rint(floats * power)
            is_same = units / power == floats
        limit = 10.0 ** min(target.precision, _FLOAT_DIGITS)
        if (is_same & (np.abs(units) < limit)).all():
            halves = np.empty((len(units), 2), "<i8")
            halves[:, 0] = units
            halves[:, 1] = halves[:, 0] >> 63
            return build_fixed(target, halves, valid)
    return array.cast(pa.string()).cast(target)


def _first_failure(array: Column, act: Callable[[Column], object]) -> int:
    """Find the first value with which an act raises an error of Arrow, by binary search."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            act(array.slice(low, middle - low))
        except pa.ArrowException:
            high = middle
        else:
            low = middle
    return low


# ---------------------------------------------------------------- error messages


def _mismatch(array: Column, data_type: AtomicType) -> Misfit:
    """Report a type that is never cast implicitly."""
    target = to_arrow(data_type)
    if pat.is_timestamp(array.type) and pat.is_timestamp(target):
        hint = ZONE_HINT
    else:
        hint = cast_hint(array.type, data_type)
    found = np.flatnonzero(valid_mask(array))
    position = int(found[0]) if len(found) else None
    if position is not None and _is_nan(array.slice(position, 1)):
        hint = NAN_HINT
    return Misfit(
        position=position, problem="cannot be stored without a cast", hint=hint, is_type=True
    )


def _is_nan(one: Column) -> bool:
    """Whether an array of one value has NaN."""
    value = one[0].as_py() if pat.is_floating(one.type) else None
    return value is not None and isnan(value)


def cast_hint(found: pa.DataType | None, data_type: AtomicType) -> str:
    """Return a hint with explicit casts of a type to a column's type; empty if there are none.

    Args:
        found: the type of the values; None if Arrow has no type for them.
        data_type: the column's type.
    """
    sql = f"CAST(… AS {type_text(with_nullable(data_type, nullable=True))}) in SQL"
    python = _python_cast(found, data_type.root)
    return f"Cast it explicitly: {python} in Python, {sql}." if python else ""


_UUID = pa.binary(16)
_NUMERIC_CASTS = {
    **dict.fromkeys(INTEGERS, "int(value)"),
    **dict.fromkeys(FLOATS, "float(value)"),
    TypeRoot.DECIMAL: "Decimal(value)",
}


def _python_cast(found: pa.DataType | None, root: TypeRoot) -> str:  # noqa: PLR0911 - one for each kind
    is_text = found is not None and _is_text(found)
    is_time = found is not None and pat.is_timestamp(found)
    if root in _NUMERIC_CASTS:
        fits = (_is_text, _is_number, _is_bytes, pat.is_boolean)
        is_number = found is not None and any(is_kind(found) for is_kind in fits)
        return _NUMERIC_CASTS[root] if is_number else ""
    if root in TEXTS:
        is_text = found is not None and _is_bytes(found) and found != _UUID
        return "value.decode()" if is_text else "str(value)"
    if root in BYTES or root is TypeRoot.BLOB:
        return "value.encode()" if is_text else ""
    if root is TypeRoot.BOOLEAN:
        return "bool(value)"
    if root is TypeRoot.DATE:
        return "value.date()" if is_time else "date.fromisoformat(value)" if is_text else ""
    if root is TypeRoot.TIME:
        return "value.time()" if is_time else "time.fromisoformat(value)" if is_text else ""
    return "datetime.fromisoformat(value)" if is_text else ""


def _misfit(array: Column, position: int, data_type: AtomicType) -> Misfit:
    """Explain why a value of a castable type does not fit."""
    explain = next(
        (found for roots, found in _EXPLAIN if data_type.root in roots), _generic_problem
    )
    one = array.slice(position, 1)
    problem, hint = explain(one, data_type)
    return Misfit(position=position, problem=problem, hint=NAN_HINT if _is_nan(one) else hint)


def _number(one: Column) -> Decimal:
    return Decimal(str(one[0].as_py()))


def _integer_problem(one: Column, data_type: AtomicType) -> tuple[str, str]:
    kind = type_text(with_nullable(data_type, nullable=True))
    number = _number(one)
    if not number.is_finite() or number != number.to_integral_value():
        hint = f"Round it first, or cast it: int(value) in Python, CAST(… AS {kind}) in SQL."
        return "is not a whole number", hint
    bits = to_arrow(data_type).bit_width - 1
    hint = f"The range of {kind} is {-(2**bits)} to {2**bits - 1}; use a wider type."
    return "is out of range", hint


def _float_problem(one: Column, data_type: AtomicType) -> tuple[str, str]:
    kind = data_type.root.value
    if pat.is_integer(one.type):
        hint = "Round it explicitly: float(value) in Python; or use a BIGINT or DECIMAL column."
        return f"cannot be represented exactly as {kind}", hint
    return f"is too large for {kind}", "Use DOUBLE." if data_type.root is TypeRoot.FLOAT else ""


def _decimal_problem(one: Column, data_type: AtomicType) -> tuple[str, str]:
    number = _number(one)
    scale, digits = data_type.scale or 0, data_type.precision or 0
    if not number.is_finite():
        return "is not a finite number", ""
    if abs(number) >= Decimal(10) ** (digits - scale):
        return (
            f"has more than {digits - scale} digits before the decimal point",
            "Use a wider type.",
        )
    hint = f"Round it first: round(value, {scale}) in Python and in SQL."
    return f"has more than {scale} decimal places", hint


def _timestamp_problem(one: Column, data_type: AtomicType) -> tuple[str, str]:
    kind, target = one.type, to_arrow(data_type)
    assert isinstance(target, pa.TimestampType)  # noqa: S101 - a timestamp
    if isinstance(kind, pa.TimestampType):
        spare = _DIGITS_OF_UNIT[kind.unit] - _DIGITS_OF_UNIT[target.unit]
        if spare > 0 and int(fixed_values(one, np.int64)[0]) % 10**spare:
            return _finer(data_type.precision or 0)
    hint = f"Arrow stores timestamps as 64-bit integers of {target.unit}; use a lower precision."
    return "is out of range", hint


def _finer(precision: int) -> tuple[str, str]:
    hint = "Round it first, for example with dt.round in pandas, or use a higher precision."
    return f"has more than {precision} fractional-second digits", hint


def _date_problem(one: Column, data_type: AtomicType) -> tuple[str, str]:
    if _is_local_time(one.type) or pat.is_date64(one.type):
        return "has a time of day", cast_hint(pa.timestamp("us"), data_type)
    return _generic_problem(one, data_type)


def _time_problem(one: Column, _data_type: AtomicType) -> tuple[str, str]:
    if one.type.equals(_MILLIS):
        millis = int(fixed_values(one, np.int32)[0])
        return f"is not within a day: it is stored as {millis} milliseconds", ""
    hint = "TIME values are stored in milliseconds. Round it first."
    return "has more than 3 fractional-second digits", hint


def _generic_problem(_one: Column, data_type: AtomicType) -> tuple[str, str]:
    return f"does not fit {type_text(with_nullable(data_type, nullable=True))}", ""


_EXPLAIN: tuple[
    tuple[frozenset[TypeRoot], Callable[[Column, AtomicType], tuple[str, str]]], ...
] = (
    (INTEGERS, _integer_problem),
    (FLOATS, _float_problem),
    (frozenset({TypeRoot.DECIMAL}), _decimal_problem),
    (TIMESTAMPS, _timestamp_problem),
    (frozenset({TypeRoot.DATE}), _date_problem),
    (frozenset({TypeRoot.TIME}), _time_problem),
)


# ---------------------------------------------------------------- sizes


def _not_text(array: Column, data_type: AtomicType) -> Misfit | None:
    """Return the first text that is not UTF-8: nobody could read the rows of its file."""
    if data_type.root not in TEXTS or is_utf8(array):
        return None
    low = _first_failure(array, lambda part: part.validate(full=True))
    hint = "Decode the bytes with the encoding that they have, or use a BYTES column."
    return Misfit(position=low, problem="is not UTF-8", hint=hint)


def _not_valid(array: Column, data_type: AtomicType) -> Misfit | None:
    """Return the first value that Arrow's type does not allow, as buffers may contain any bytes."""
    if data_type.root not in _VALIDATED:
        return None
    try:
        array.validate(full=True)
    except pa.ArrowException:
        position = _first_failure(array, lambda part: part.validate(full=True))
        return _misfit(array, position, data_type)
    return None


def _too_long(array: Column, data_type: AtomicType) -> Misfit | None:
    """Return the first value that exceeds the type's length or fractional-second precision."""
    found = _beyond(array, data_type)
    if found is None:
        return None
    position = pc.index(found, pa.scalar(value=True)).as_py()
    if position < 0:
        return None
    if data_type.root in TIMESTAMPS:
        problem, hint = _finer(data_type.precision or 0)
        if not data_type.precision:
            problem, hint = "is out of range", "Paimon stores timestamps as 64-bit milliseconds."
        return Misfit(position=position, problem=problem, hint=hint)
    unit = "characters" if data_type.root in TEXTS else "bytes"
    return Misfit(
        position=position,
        problem=f"has more than {data_type.length} {unit}",
        hint=f"Shorten it first, value[:{data_type.length}] in Python, or use a longer type.",
    )


def _beyond(array: Column, data_type: AtomicType) -> "Column | None":
    """Return which values exceed the type's length or precision; None if it has no limit."""
    limit = MAX_LENGTH if data_type.length is None else data_type.length
    if data_type.root in TEXTS | BYTES and limit < MAX_LENGTH:
        measure = "utf8_length" if data_type.root in TEXTS else "binary_length"
        sizes: Column = pc.call_function(measure, [array])
        return build_bool(fixed_values(sizes, np.int32).astype(np.int64) > limit, valid_mask(array))
    if data_type.root in TIMESTAMPS:
        spare = _DIGITS_OF_UNIT[timestamp_unit(data_type.precision)] - (data_type.precision or 0)
        ticks = fixed_values(array, np.int64).astype(np.int64)
        if spare:
            return build_bool(ticks % 10**spare != 0, valid_mask(array))
        if not data_type.precision:
            return build_bool((ticks > _MAX_SECONDS) | (ticks < -_MAX_SECONDS), valid_mask(array))
    return None


# ---------------------------------------------------------------- families of types


def _is_number(found: pa.DataType) -> bool:
    return pat.is_integer(found) or pat.is_floating(found) or pat.is_decimal(found)


def _is_text(found: pa.DataType) -> bool:
    return pat.is_string(found) or pat.is_large_string(found) or pat.is_string_view(found)


def _is_bytes(found: pa.DataType) -> bool:
    return (
        pat.is_binary(found)
        or pat.is_large_binary(found)
        or pat.is_fixed_size_binary(found)
        or pat.is_binary_view(found)
    )


def _is_local_time(found: pa.DataType) -> bool:
    return pat.is_timestamp(found) and found.tz is None


def _is_instant(found: pa.DataType) -> bool:
    return pat.is_timestamp(found) and found.tz is not None


def family_of(found: pa.DataType) -> "Callable[[pa.DataType], bool] | None":
    """Return the group of types to which a type belongs; None for nested and other types."""
    return next((family for family in _FAMILIES if family(found)), None)


_FAMILIES: tuple[Callable[[pa.DataType], bool], ...] = (
    _is_number,
    _is_text,
    _is_bytes,
    _is_local_time,
    _is_instant,
    pat.is_date,
    pat.is_time,
    pat.is_boolean,
)
"""Groups of types that may be cast to each other if no value changes."""
