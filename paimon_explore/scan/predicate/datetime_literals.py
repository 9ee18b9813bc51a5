"""Date, time and timestamp literals: parsing and formatting with nanosecond precision.

A date is days since 1970-01-01, a time is milliseconds of the day, a timestamp is nanoseconds since
1970-01-01T00:00:00 (wall clock, or UTC if a zone was given). They are integers because Python's
types are limited to microseconds and to the years 1 to 9999, and the format is not.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import numpy as np

from paimon_explore.data_types.local_time import in_zone
from paimon_explore.frozen_dataclass import dataclass

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND
_DAY = timedelta(days=1)
_FIRST_SECOND, _LAST_SECOND = -62_135_424_000, 253_402_128_000
"""The range of Python's datetime, years 1 to 9999, with a margin of two days."""
_DATE = r"([+-]?\d{4,6})-(\d{1,2})-(\d{1,2})"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?"
_TIMESTAMP = rf"{_DATE}(?:[ T]{_CLOCK}\s*(Z|[+-]\d{{2}}:?\d{{2}}(?::\d{{2}})?|[A-Za-z][\w/+-]*)?)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTimestamp:
    """A timestamp parsed from text.

    Attributes:
        nanos: nanoseconds since 1970-01-01T00:00:00 of the wall clock; of UTC if `zoned`.
        zoned: whether the text has an offset or a zone.
    """

    nanos: int
    zoned: bool


def parse_date(text: str) -> int | None:
    """Parses `yyyy-MM-dd` to days since 1970-01-01; None for any other text.

    >>> parse_date("1970-01-31")
    30
    """
    match = re.fullmatch(_DATE, text.strip())
    return None if match is None else _days(*match.groups())


def parse_time(text: str) -> int | None:
    """Parses `HH:mm[:ss[.fraction]]` to nanoseconds of the day; None for any other text."""
    match = re.fullmatch(_CLOCK, text.strip())
    return None if match is None else _clock(*match.groups())


def parse_timestamp(text: str) -> ParsedTimestamp | None:
    """Parses `yyyy-MM-dd[ HH:mm[:ss[.fraction]][zone]]`; None for any other text.

    A zone is `Z`, an offset such as `+02:00`, or a region such as `Europe/Berlin`.
    """
    match = re.fullmatch(_TIMESTAMP, text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = _days(year, month, day)
    clock = 0 if hour is None else _clock(hour, minute, second, fraction)
    if days is None or clock is None:
        return None
    nanos = days * NANOS_PER_DAY + clock
    if zone is None:
        return ParsedTimestamp(nanos=nanos, zoned=False)
    found = _zone(zone)
    return None if found is None else ParsedTimestamp(nanos=to_utc(nanos, found), zoned=True)


def to_utc(wall_nanos: int, zone: tzinfo | None) -> int:
    """Converts wall clock nanoseconds in `zone` (None: local) to UTC nanoseconds.

    A wall clock time that occurs twice means the first one, as in Java.
    """
    return wall_nanos - _offset_seconds(wall_nanos, zone) * NANOS_PER_SECOND


def to_wall_clock(utc_nanos: int, zone: tzinfo | None) -> int:
    """Converts UTC nanoseconds to wall clock nanoseconds in `zone` (None: local)."""
    seconds = min(max(utc_nanos // NANOS_PER_SECOND, _FIRST_SECOND), _LAST_SECOND)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return utc_nanos + _seconds_of(in_zone(instant, zone)) * NANOS_PER_SECOND


def date_text(days: int) -> str:
    """`yyyy-MM-dd` of days since 1970-01-01."""
    return str(np.datetime64(days, "D"))


def time_text(millis: int) -> str:
    """`HH:mm:ss[.fraction]` of milliseconds of the day."""
    return _clock_text(millis * 1_000_000)


def timestamp_text(nanos: int) -> str:
    """`yyyy-MM-dd HH:mm:ss[.fraction]` of nanoseconds since 1970-01-01T00:00:00."""
    days, rest = divmod(nanos, NANOS_PER_DAY)
    return f"{date_text(days)} {_clock_text(rest)}"


def _days(year: str, month: str, day: str) -> int | None:
    try:
        first = np.datetime64(f"{year}-{int(month):02d}", "M")
    except ValueError:
        return None
    months = (first, first + np.timedelta64(1, "M"))
    start, end = (int(one.astype("M8[D]").astype(np.int64)) for one in months)
    return start + int(day) - 1 if 1 <= int(day) <= end - start else None


def _clock(hour: str, minute: str, second: str | None, fraction: str | None) -> int | None:
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:  # noqa: PLR2004 - the clock's own numbers
        return None
    nanos = int((fraction or "").ljust(9, "0"))
    return (hours * 3600 + minutes * 60 + seconds) * NANOS_PER_SECOND + nanos


def _clock_text(nanos: int) -> str:
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:09d}".rstrip("0") if fraction else text


def _zone(text: str) -> tzinfo | None:
    if text == "Z":
        return UTC
    if text[0] in "+-":
        digits = text[1:].replace(":", "").ljust(6, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:]))
        return timezone(-offset if text[0] == "-" else offset) if offset < _DAY else None
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - a named time zone

    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        return None


def _offset_seconds(wall_nanos: int, zone: tzinfo | None) -> int:
    """UTC offset at a wall clock time; outside Python's range, that of the nearest year in it."""
    seconds = min(max(wall_nanos // NANOS_PER_SECOND, _FIRST_SECOND), _LAST_SECOND)
    wall = datetime(1970, 1, 1) + timedelta(seconds=seconds)  # noqa: DTZ001 - a wall clock reading
    return _seconds_of(in_zone(wall, None) if zone is None else wall.replace(tzinfo=zone))


def _seconds_of(aware: datetime) -> int:
    offset = aware.utcoffset()
    return 0 if offset is None else round(offset.total_seconds())
