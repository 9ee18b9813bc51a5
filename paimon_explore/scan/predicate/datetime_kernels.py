"""Kernels of functions of dates and times: parts, truncation, intervals.

Times without a zone are taken as they are written. Dates before the year 1 or after 9999 are
computed by the Gregorian calendar.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, build_fixed, valid_mask
from paimon_explore.data_types.definitions import DataType
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.scan.predicate.kernels import call, constant_of, floored

Kernel: TypeAlias = Callable[[Sequence[Column], DataType], Column]

_UNITS = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    "week": "week",
    **dict.fromkeys(("day", "dd"), "day"),
    **{unit: unit for unit in ("hour", "minute", "second", "millisecond", "microsecond")},
}
_DATE_UNITS = frozenset({"year", "quarter", "month", "week"})
_DAY_MICROS = 86_400_000_000
_MINUTE_MICROS = 60_000_000


def numbered(kernel: str, add: int = 0) -> Kernel:
    """Returns the kernel of a part of a date or time, plus a number."""

    def run(columns: Sequence[Column], result: DataType) -> Column:
        found = call(kernel, columns[0]).cast(pa.int32())
        return (call("add", found, pa.scalar(add, pa.int32())) if add else found).cast(
            to_arrow(result)
        )

    return run


def day_of_week(columns: Sequence[Column], result: DataType) -> Column:
    """`dayofweek`: 1 is Sunday, 7 is Saturday."""
    options = pc.DayOfWeekOptions(count_from_zero=False, week_start=7)
    return call("day_of_week", columns[0], options=options).cast(to_arrow(result))


def seconds(columns: Sequence[Column], result: DataType) -> Column:
    """`extract(second from …)`: the seconds with six digits of a fraction."""
    micros = _micros(columns[0]) % _MINUTE_MICROS
    words = np.zeros((len(micros), 2), np.int64)
    words[:, 0] = micros
    arrow = to_arrow(result)
    validity = build_fixed(pa.int64(), micros, valid_mask(columns[0])).buffers()[0]
    buffers = [validity, pa.py_buffer(words.tobytes())]
    found: Column = pa.Array.from_buffers(arrow, len(micros), buffers)
    return found


def truncated(columns: Sequence[Column], result: DataType) -> Column:
    """`date_trunc(unit, time)`: the begin of the year, month, day, … of a time."""
    unit = _unit(columns[0], frozenset(_UNITS.values()), "date_trunc")
    return floored(columns[1], unit).cast(to_arrow(result))


def truncated_date(columns: Sequence[Column], result: DataType) -> Column:
    """`trunc(date, unit)`: the first day of the year, quarter, month or week."""
    return floored(columns[0], _unit(columns[1], _DATE_UNITS, "trunc")).cast(to_arrow(result))


def _unit(column: Column, allowed: frozenset[str], function: str) -> str:
    """Returns the unit that a constant text names."""
    default = "day" if "day" in allowed else "month"
    text = constant_of(column, default, f"The unit of {function} must be a constant text.")
    unit = _UNITS.get(text.lower())
    if unit not in allowed:
        raise InvalidInputError(
            f"{text!r} is not a unit of {function}.", hint=f"Units: {choices(sorted(allowed))}."
        )
    return unit


def shifted(columns: Sequence[Column], result: DataType) -> Column:
    """Adds months, then microseconds, to dates or times; the day is limited to its month.

    Raises:
        InvalidInputError: a result is out of range.
    """
    times, arrow = columns[0], to_arrow(result)
    rule = "The parts of an interval must be constants."  # the parser makes only such
    months, micros = (constant_of(column, 0, rule) for column in columns[1:])
    found = _micros(times)
    if months:
        days, rest = np.divmod(found, _DAY_MICROS)
        found = _add_months(days, months) * _DAY_MICROS + rest
    bound = np.iinfo(np.int64).max - abs(micros)
    if bool((np.abs(found) > bound).any()):
        raise InvalidInputError("A time plus an interval is out of range.")
    found = found + micros
    valid = valid_mask(times)
    if pa.types.is_date(arrow):
        return build_fixed(arrow, (found // _DAY_MICROS).astype(np.int32), valid)
    shown = build_fixed(pa.timestamp("us"), found, valid)
    return shown if arrow == shown.type else shown.cast(arrow)


def _add_months(days: npt.NDArray[np.int64], months: int) -> npt.NDArray[np.int64]:
    dates = days.astype("datetime64[D]")
    begins = dates.astype("datetime64[M]")
    place = (dates - begins.astype("datetime64[D]")).astype(np.int64)
    target = begins + np.timedelta64(months, "M")
    first = target.astype("datetime64[D]")
    last = ((target + np.timedelta64(1, "M")).astype("datetime64[D]") - first).astype(np.int64) - 1
    moved: npt.NDArray[np.int64] = (first.astype(np.int64)) + np.minimum(place, last)
    return moved


def _micros(times: Column) -> npt.NDArray[np.int64]:
    """Microseconds since 1970 of dates or times; 0 where null."""
    whole = times.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    filled = call("coalesce", whole, pa.scalar(0, pa.int64()))
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)
