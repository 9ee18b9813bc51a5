"""Intervals in conditions: `INTERVAL 7 DAYS`, `INTERVAL '1' MONTH`, `INTERVAL '1 day 2 hours'`."""

import re

from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import Call, Operand, literal

INTERVAL = "interval"
"""The function that stands for an interval until it is added to a time."""
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_MICROS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
}
_DAYS = {"day": 86_400_000_000, "week": 7 * 86_400_000_000}
UNITS = frozenset({*_MONTHS, *_MICROS, *_DAYS})
PARTS = {
    **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "year"),
    **dict.fromkeys(("QUARTER", "QTR"), "quarter"),
    **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "month"),
    **dict.fromkeys(("WEEK", "W", "WEEKS"), "weekofyear"),
    **dict.fromkeys(("DAY", "D", "DAYS"), "day"),
    **dict.fromkeys(("DAYOFWEEK", "DOW"), "dayofweek"),
    **dict.fromkeys(("DAYOFWEEK_ISO", "DOW_ISO"), "dayofweek_iso"),
    "DOY": "dayofyear",
    "YEAROFWEEK": "yearofweek",
    **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "hour"),
    **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "minute"),
    **dict.fromkeys(("SECOND", "S", "SEC", "SECONDS", "SECS"), "seconds"),
}
"""The parts of EXTRACT, and the function of each."""
_PART = re.compile(r"\s*([+-]?\d+)\s*([a-z]+)\s*", re.IGNORECASE)


def unit_of(word: str) -> str | None:
    """Returns the unit that a word names, in the singular; None if it names none."""
    name = word.lower()
    name = name if name in UNITS else name.removesuffix("s")
    return name if name in UNITS else None


def interval(parts: list[tuple[int, str]]) -> Call:
    """Builds an interval of numbers and units.

    Raises:
        InvalidInputError: months and days are mixed.
    """
    months = sum(number * _MONTHS[unit] for number, unit in parts if unit in _MONTHS)
    micros = sum(number * {**_MICROS, **_DAYS}.get(unit, 0) for number, unit in parts)
    is_time = any(unit in _MICROS for _, unit in parts)
    if len({unit in _MONTHS for _, unit in parts}) > 1:
        raise InvalidInputError(
            "An interval cannot mix years and months with days and times.",
            hint="Add two intervals one after the other.",
        )
    return Call(function=INTERVAL, arguments=(literal(months), literal(micros), literal(is_time)))


def interval_of_text(text: str) -> Call:
    """Parses an interval, such as `1 day 2 hours`.

    Raises:
        InvalidInputError: the text is not an interval.
    """
    parts: list[tuple[int, str]] = []
    at = 0
    while found := _PART.match(text, at):
        unit = unit_of(found[2])
        if unit is None:
            break
        parts.append((int(found[1]), unit))
        at = found.end()
    if at != len(text) or not parts:
        raise InvalidInputError(
            f"{text!r} is not an interval.", hint="Write INTERVAL 7 DAYS, or INTERVAL '7 days'."
        )
    return interval(parts)


def shifted(function: str, left: Operand, right: Operand) -> Operand | None:
    """Builds the sum or difference of a time and an interval; None if there is no interval.

    Raises:
        InvalidInputError: the interval is not added to, or subtracted from, something.
    """
    if isinstance(left, Call) and left.function == INTERVAL and function == "+":
        left, right = right, left
    if not isinstance(right, Call) or right.function != INTERVAL:
        return None
    if function not in {"+", "-"}:
        raise InvalidInputError(
            "An interval can only be added to a date or time, or subtracted from it."
        )
    months, micros, is_time = (getattr(part, "value", None) for part in right.arguments)
    sign = 1 if function == "+" else -1
    name = "add_time" if is_time else "add_days"
    arguments = (left, literal(sign * int(months or 0)), literal(sign * int(micros or 0)))
    return Call(function=name, arguments=arguments)
