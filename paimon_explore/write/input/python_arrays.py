"""Convert Python, NumPy, pandas and Arrow scalars to Arrow arrays of their natural type.

`pa.array(values, type)` coerces values to the requested type: 1.5 becomes the integer 1, and a
timestamp loses its time zone. This module instead builds an array of the type that the values
have, which `safe_cast` then casts to the column's type by the same rules as Arrow input.

| values | array |
| --- | --- |
| bool | bool |
| int | int64, or a decimal beyond 64 bits |
| float, numpy.float64 and others | double; numpy.float32: float |
| Decimal | the smallest decimal type that holds all of them |
| str, bytes, UUID | string, binary, 16 bytes |
| date, time | date32, time64[us] |
| datetime, pandas.Timestamp | timestamp, in UTC if it has a zone |
| numpy.datetime64 | date32, or timestamp in its unit |
| pyarrow scalar | its type |
"""

import datetime as dt
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column

if TYPE_CHECKING:
    import pandas as pd

UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What Arrow raises for a value that it cannot convert."""
_MISSING = frozenset({"NAType", "NaTType", "NoneType"})
"""Names of the types of missing values; pandas itself is not imported here."""
_COARSE_UNITS = {"h": "s", "m": "s", "W": "D", "M": "D", "Y": "D"}
"""NumPy units that Arrow does not have, mapped to the next finer unit that it has."""
_UNITS = frozenset({"D", "s", "ms", "us", "ns"})


def is_missing(value: object) -> bool:
    """Whether a value means null: None, NA or NaT of pandas and NumPy, a null of Arrow; not NaN."""
    name = type(value).__name__
    if name in _MISSING:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, pa.Scalar) and not value.is_valid


def kind_of(value: object) -> Hashable:
    """Return a key that is equal for values that fit one array; None for unsupported types."""
    kind = _kind_of_type(type(value))  # type: ignore[arg-type]  # types are hashable
    if kind is _naive:
        assert isinstance(value, dt.datetime)  # noqa: S101 - so it was found
        return _naive if value.tzinfo is None else _aware
    if kind is _times:
        return _times if isinstance(value, dt.time) and value.tzinfo is None else None
    if kind is _pandas_naive:
        assert isinstance(value, dt.datetime)  # noqa: S101 - so it was found
        return _pandas_naive if value.tzinfo is None else _pandas_aware
    if isinstance(value, np.datetime64):
        return ("datetime64", np.datetime_data(value.dtype))
    if isinstance(value, pa.Scalar):
        return ("scalar", value.type)
    return kind


def array_of(values: Sequence[object], kind: Hashable) -> Column:
    """Build an array from values of one kind, none missing.

    Raises:
        pa.ArrowException: or another of `UNFIT`: no array type holds all of them.
    """
    if callable(kind):
        found: Column = kind(values)
        return found
    if isinstance(values[0], np.datetime64):
        return datetimes(np.array(values))
    scalars: Column = pa.array(values)  # type: ignore[arg-type]  # scalars of one type
    return scalars


def own_array(values: Sequence[object]) -> Column:
    """Build an array of inferred type from values of one kind, or from numbers of several kinds.

    Raises:
        pa.ArrowException: or another of `UNFIT`: the values have no common type.
    """
    is_valid = [not is_missing(value) for value in values]
    present = [value for value, valid in zip(values, is_valid, strict=True) if valid]
    kinds = {kind_of(value) for value in present}
    if not kinds <= _NUMBERS and len(kinds) > 1:
        zones = {True: " with a time zone", False: ""}
        found_types = {
            f"{type(value).__name__}{zones[getattr(value, 'tzinfo', None) is not None]}"
            for value in present
        }
        raise TypeError(" and ".join(sorted(found_types)))
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    if kind is None:
        plain = [value if valid else None for value, valid in zip(values, is_valid, strict=True)]
        if _decimals in kinds and not kinds.isdisjoint({_doubles, _singles}):
            plain = [None if value is None else float(value) for value in plain]  # type: ignore[arg-type]  # numbers
        found: Column = pa.array(plain)  # type: ignore[arg-type]  # any values
        return found
    indices = pa.array(np.cumsum(is_valid) - 1, mask=~np.array(is_valid, np.bool_))
    taken: Column = array_of(present, kind).take(indices)
    return taken


@lru_cache(maxsize=256)
def _kind_of_type(kind: type) -> "Callable[[Sequence[object]], Column] | None":
    """Return the function that builds arrays from values of a Python type."""
    if kind.__name__ == "Timestamp" and issubclass(kind, dt.datetime):
        return _pandas_naive
    return next((make for types, make in _KINDS if issubclass(kind, types)), None)


def _as(
    target: pa.DataType, convert: Callable[..., object] | None = None
) -> Callable[[Sequence[object]], Column]:
    def make(values: Sequence[object]) -> Column:
        found: Column = pa.array(values if convert is None else [*map(convert, values)], target)
        return found

    return make


def _integers(values: Sequence[object]) -> Column:
    numbers = [int(value) for value in values]  # type: ignore[call-overload]  # of an integer type
    try:
        found: Column = pa.array(numbers, pa.int64())
    except OverflowError:
        found = pa.array([Decimal(number) for number in numbers])
    return found


def _singles(values: Sequence[object]) -> Column:
    found: Column = pa.array(np.array(values, np.float32))
    return found


def _decimals(values: Sequence[object]) -> Column:
    try:
        found: Column = pa.array(values)  # type: ignore[arg-type]  # decimals
    except UNFIT:
        if any(isinstance(value, Decimal) and value.is_finite() for value in values):
            raise
        found = _doubles(values)  # NaN and the infinities
    return found


_doubles = _as(pa.float64(), float)
_naive = _as(pa.timestamp("us"))
_aware = _as(pa.timestamp("us", "UTC"))
_times = _as(pa.time64("us"))


def _pandas_times(zone: str | None, values: Sequence[object]) -> Column:
    """Use nanoseconds only where a value has them, because they end in the year 2262."""
    has_nanos = any(_is_pandas(value) and value.nanosecond for value in values)
    found: Column = pa.array(values, pa.timestamp("ns" if has_nanos else "us", zone))
    return found


def _is_pandas(value: object) -> "TypeGuard[pd.Timestamp]":
    return type(value).__name__ == "Timestamp"


_pandas_naive = partial(_pandas_times, None)
_pandas_aware = partial(_pandas_times, "UTC")


def datetimes(values: "np.ndarray[tuple[int], np.dtype[np.datetime64]]") -> Column:
    """Convert NumPy datetimes to dates, or to timestamps in their unit or the next finer one.

    Raises:
        TypeError: the unit is finer than nanoseconds, or generic.
    """
    unit = np.datetime_data(values.dtype)[0]
    coarse = _COARSE_UNITS.get(unit, unit)
    if coarse not in _UNITS:
        raise TypeError(f"unsupported datetime64 unit {unit}")
    found: Column = pa.array(values.astype(f"datetime64[{coarse}]"))
    return found


_KINDS: tuple[tuple[tuple[type, ...], Callable[[Sequence[object]], Column] | None], ...] = (
    ((bool, np.bool_), _as(pa.bool_(), bool)),
    ((np.timedelta64, np.datetime64), None),  # the first would be an integer
    ((int, np.integer), _integers),
    ((np.longdouble,), None),
    ((np.float32,), _singles),
    ((float, np.floating), _doubles),
    ((Decimal,), _decimals),
    ((str,), _as(pa.string())),
    ((bytes, bytearray, memoryview), _as(pa.binary(), bytes)),
    ((uuid.UUID,), _as(pa.binary(16), attrgetter("bytes"))),
    ((dt.datetime,), _naive),
    ((dt.date,), _as(pa.date32())),
    ((dt.time,), _times),
    ((Mapping,), None),
)
"""Python types and the function that builds arrays from their values; the first match counts."""

_NUMBERS = frozenset[Hashable]({_integers, _doubles, _singles, _decimals})
"""Kinds of numbers that may be mixed; Arrow finds a common type or raises."""
