"""The clock, and times of the years 1 to 9999 in UTC and in time zones, on every system.

On Windows, `datetime.fromtimestamp` and local time fail before 1970 and after 3000. So other
modules use the functions below.
"""

import time
from datetime import UTC, datetime, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_LEAP_YEAR, _LAST_LEAP_YEAR = 1972, 2996
_FIRST, _LAST = -62_135_510_400_000, 253_402_214_400_000
"""One day inside the range of `datetime`, so that the local time of any zone is in range, too."""


def system_clock() -> int:
    """Return the current time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def utc_moment(millis: float) -> datetime:
    """Convert epoch milliseconds to a datetime in UTC.

    Raises:
        OverflowError: the time is not in the years 1 to 9999.

    >>> utc_moment(-1).isoformat(), utc_moment(_LAST).year
    ('1969-12-31T23:59:59.999000+00:00', 9999)
    """
    return _EPOCH + timedelta(milliseconds=millis)


def in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in a zone, as `datetime.astimezone`.

    Args:
        moment: the time; without a zone, it is local time.
        zone: the zone; None for local time. If the system does not know the local time of the
            year, the offset from UTC is that of the nearest leap year that every system knows.
    """
    try:
        return moment.astimezone(zone)
    except OSError:
        near = moment.replace(year=min(max(moment.year, _FIRST_LEAP_YEAR), _LAST_LEAP_YEAR))
        local = near.astimezone().tzinfo
        known = moment.replace(tzinfo=local) if moment.tzinfo is None else moment
        return known.astimezone(zone or local)


def local_moment(millis: int) -> datetime:
    """Convert epoch milliseconds to a local datetime, clamped to the years 1 to 9999.

    >>> local_moment(2**62).year, local_moment(-(2**62)).year
    (9999, 1)
    """
    bounded = min(max(millis, _FIRST), _LAST)
    return in_zone(utc_moment(bounded), None)


def local_now() -> datetime:
    """Return the current local time without time zone."""
    return datetime.now().astimezone().replace(tzinfo=None)


def local_millis(millis: int) -> int:
    """Convert epoch milliseconds to milliseconds of a local timestamp without time zone.

    >>> local_millis(2**63 - 1) <= 2**63 - 1
    True
    """
    offset = local_moment(millis).utcoffset()
    shifted = millis + (int(offset.total_seconds()) * 1000 if offset else 0)
    return min(max(shifted, -(2**63)), 2**63 - 1)
