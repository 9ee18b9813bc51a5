"""The clock, and local time of timestamps in metadata; out-of-range timestamps are clamped."""

import time
from datetime import UTC, datetime

_FIRST, _LAST = -62_135_510_400_000, 253_402_214_400_000
"""One day inside the range of `datetime`, so that the local time of any zone is in range, too."""


def system_clock() -> int:
    """Return the current time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def local_moment(millis: int) -> datetime:
    """Convert epoch milliseconds to a local datetime, clamped to the years 1 to 9999.

    >>> local_moment(2**62).year, local_moment(-(2**62)).year
    (9999, 1)
    """
    bounded = min(max(millis, _FIRST), _LAST)
    return datetime.fromtimestamp(bounded / 1000, tz=UTC).astimezone()


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
