"""Vectorized conversion between instants and wall clock times of a zone, as in `java.time`.

A wall clock time that is skipped or repeated in a zone takes the offset before the transition.
Offsets are computed once per distinct day, and once per distinct second on days with a transition.
"""

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.local_time import in_zone, utc_moment

_DAY = 86_400
_WIDEST_OFFSET = 18 * 3_600
_DENSE = 8
"""Days in a range of up to this many times the number of values are counted, not sorted."""
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock time
_FIRST = int((datetime(1, 1, 3) - _EPOCH).total_seconds())  # noqa: DTZ001
_LAST = int((datetime(9999, 12, 29) - _EPOCH).total_seconds())  # noqa: DTZ001


def wall_clock(instants: Ints, zone: tzinfo | None) -> Ints:
    """Convert instants to wall clock seconds, both counted from 1970-01-01 00:00.

    Args:
        instants: seconds since the epoch.
        zone: the zone; None for the zone of this process.
    """
    return instants + _offsets(instants, zone, 0, _offset_at)


def instants_of(clocks: Ints, zone: tzinfo | None) -> Ints:
    """Convert wall clock seconds to instants; the inverse of `wall_clock`."""
    return clocks - _offsets(clocks, zone, _WIDEST_OFFSET, _offset_of_clock)


def _offsets(
    seconds: Ints, zone: tzinfo | None, margin: int, exact: Callable[[int, tzinfo | None], int]
) -> Ints:
    """Return offsets from UTC: of a day if it has one, which `margin` around it tells too."""
    distinct, places = _distinct(seconds // _DAY)
    starts = [int(day) * _DAY for day in distinct]
    pairs = [
        (_offset_at(start - margin, zone), _offset_at(start + _DAY + margin, zone))
        for start in starts
    ]
    first = np.array([pair[0] for pair in pairs], np.int64)[places]
    changes = np.array([pair[0] != pair[1] for pair in pairs], np.bool_)[places]
    if changes.any():
        moments, at = np.unique(seconds[changes], return_inverse=True)
        first[changes] = np.array([exact(int(moment), zone) for moment in moments], np.int64)[at]
    return first


def _distinct(numbers: Ints) -> tuple[Ints, Ints]:
    """Return the distinct numbers in ascending order, and the index of each number in them."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if high - low > _DENSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    seen = np.zeros(high - low + 1, np.bool_)
    seen[numbers - low] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[numbers - low]


def _offset_at(instant: int, zone: tzinfo | None) -> int:
    bounded = min(max(instant, _FIRST), _LAST)
    found = in_zone(utc_moment(bounded * 1000), zone).utcoffset()
    return 0 if found is None else int(found.total_seconds())


def _offset_of_clock(clock: int, zone: tzinfo | None) -> int:
    bounded = min(max(clock, _FIRST), _LAST)
    moment = _EPOCH + timedelta(seconds=bounded)
    try:
        instant = moment.replace(tzinfo=zone).timestamp()
    except OSError:  # Windows knows the local time of the years 1970 to 3000
        instant = in_zone(moment, zone).timestamp()
    return bounded - round(instant)
