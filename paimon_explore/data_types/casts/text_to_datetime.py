"""Parsing of dates, times and timestamps as Java does, one value at a time.

Each function returns None for a text that it cannot parse.

Spec: Paimon's casts from strings; `java.time` where they use it.
"""

import calendar
import re
from datetime import date

DAY_NANOS = 86_400 * 10**9

_DIGITS = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"[0-9]+")
_INT32 = 2**31
_EPOCH = date(1970, 1, 1).toordinal()
_MAX_YEAR = 9999
_MONTHS = 12
_MAX_DAYS = 31

_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4}|\+[0-9]{5,9})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?: (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:\.(?P<fraction>[0-9]{0,9}))?)?"
    r"(?:T(?P<hour_t>[0-9]{1,2}):(?P<minute_t>[0-9]{1,2})"
    r"(?::(?P<second_t>[0-9]{1,2})(?:\.(?P<fraction_t>[0-9]{0,9}))?)?)?"
)


def is_numeric(text: str) -> bool:
    """Return whether a text consists of digits, after an optional minus."""
    return _DIGITS.fullmatch(text) is not None


def parse_date(text: str) -> int | None:
    """Parse `2024-01-31`, `2024-1`, or a number of days, to epoch days.

    Text after a space is ignored.

    >>> parse_date("1970-01-02 12:00:00"), parse_date("12")
    (1, 12)
    """
    if is_numeric(text):
        days = int(text)
        return days if -_INT32 <= days < _INT32 else None
    space = text.find(" ")
    head = text[:space] if space > 0 else text
    parts = [part.strip() for part in head.split("-", 2)]
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    year, month, day = ([int(part) for part in parts] + [1, 1])[:3]
    return _days(year, month, day)


def _days(year: int, month: int, day: int) -> int | None:
    if not 0 <= year <= _MAX_YEAR or not 1 <= month <= _MONTHS or day < 1:
        return None
    shifted = year or 400  # Python has no year 0; 400 is a leap year as well
    if day > calendar.monthrange(shifted, month)[1]:
        return None
    days = date(shifted, month, day).toordinal() - _EPOCH
    return days if year else days - 146_097


def parse_time(text: str) -> int | None:
    """Parse `12:30:15.25`, shorter forms, or a number of milliseconds, to milliseconds of the day.

    An offset such as `+02:00` is applied modulo one day.

    >>> parse_time("00:00:01.5"), parse_time("1500"), parse_time("1:2")
    (1500, 1500, 3720000)
    """
    if is_numeric(text):
        millis = int(text)
        return millis if -_INT32 <= millis < _INT32 else None
    zone_at = text.find("-") if "-" in text else text.find("+")
    clock, zone = (text, "") if zone_at < 0 else (text[:zone_at], text[zone_at:])
    millis_of_clock = _clock_millis(clock)
    millis_of_zone = _zone_millis(zone) if zone else 0
    if millis_of_clock is None or millis_of_zone is None:
        return None
    return _wrapped(millis_of_clock + millis_of_zone)


def _clock_millis(text: str) -> int | None:
    parts = text.split(":", 2)
    fraction = ""
    if len(parts) == 3:  # noqa: PLR2004 - hours, minutes, seconds
        parts[2], _, fraction = parts[2].partition(".")
    stripped = [part.strip() for part in parts]
    if not all(map(_NUMBER.fullmatch, stripped)):
        return None
    hours, minutes, seconds = ([int(part) for part in stripped] + [0, 0])[:3]
    return hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + _millis(fraction.strip())


def _millis(fraction: str) -> int:
    digits = [int(char) if char in "0123456789" else 0 for char in fraction]
    head = [*digits, 0, 0, 0][:3]
    rounds_up = len(fraction) > 3 and fraction[3] >= "5"  # noqa: PLR2004 - milliseconds
    return head[0] * 100 + head[1] * 10 + head[2] + rounds_up


def _zone_millis(zone: str) -> int | None:
    sign = -1 if zone[0] == "-" else 1
    hours, colon, minutes = zone[1:].partition(":")
    parts = [hours.strip(), minutes.strip() if colon else "0"]
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    return sign * (int(parts[0]) * 3_600_000 + int(parts[1]) * 60_000)


def _wrapped(value: int) -> int:
    return (value + _INT32) % (2 * _INT32) - _INT32


def parse_timestamp(text: str, precision: int) -> int | None:
    """Parse `2024-01-31 12:30:15.25`, `2024-1-1` or `2024-01-01T12:30` to epoch nanoseconds.

    Digits beyond the precision are truncated. A day beyond the end of its month becomes the last
    day of the month, and 24:00:00 the next day, as in `java.time`.

    >>> parse_timestamp("1970-01-01 00:00:01.25", 1)
    1200000000
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    days = _smart_days(int(match["year"]), int(match["month"]), int(match["day"]))
    parts = [match["hour"] or match["hour_t"], match["minute"] or match["minute_t"]]
    hour, minute, second = (
        int(part or 0) for part in (*parts, match["second"] or match["second_t"])
    )
    fraction = (match["fraction"] or match["fraction_t"] or "")[:precision]
    nanos = int(fraction.ljust(9, "0"))
    is_next_day = hour == 24 and minute == second == nanos == 0  # noqa: PLR2004 - hours of a day
    if days is None or not (is_next_day or (hour < 24 and minute < 60 and second < 60)):  # noqa: PLR2004
        return None
    return days * DAY_NANOS + ((hour * 60 + minute) * 60 + second) * 10**9 + nanos


def parse_epoch(text: str, precision: int) -> int | None:
    """Parse epoch digits, in the unit of a precision of 0, 3, 6 or 9, to epoch nanoseconds."""
    value = int(text)
    if not -(2**63) <= value < 2**63 or precision not in {0, 3, 6, 9}:
        return None
    return value * int(10 ** (9 - precision))


def _smart_days(year: int, month: int, day: int) -> int | None:
    if year < 1 or not 1 <= month <= _MONTHS or not 1 <= day <= _MAX_DAYS:
        return None
    eras, year_of_era = divmod(year, 400)
    shifted = year_of_era or 400
    last = calendar.monthrange(shifted, month)[1]
    days = date(shifted, month, min(day, last)).toordinal() - _EPOCH
    return days + (eras if year_of_era else eras - 1) * 146_097
