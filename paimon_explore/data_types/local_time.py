"""The wall clock of this machine at instants that metadata names, however odd they are."""

from datetime import UTC, datetime

_FIRST, _LAST = -62_135_510_400_000, 253_402_214_400_000
"""A day inside of what `datetime` can tell, so that any zone's clock can be told, too."""


def local_moment(millis: int) -> datetime:
    """An instant with the zone of this machine; beyond the years 1 to 9999 the nearest one.

    >>> local_moment(2**62).year, local_moment(-(2**62)).year
    (9999, 1)
    """
    bounded = min(max(millis, _FIRST), _LAST)
    return datetime.fromtimestamp(bounded / 1000, tz=UTC).astimezone()


def local_millis(millis: int) -> int:
    """The local wall clock of an instant, as milliseconds of a zoneless timestamp.

    >>> local_millis(2**63 - 1) <= 2**63 - 1
    True
    """
    offset = local_moment(millis).utcoffset()
    shifted = millis + (int(offset.total_seconds()) * 1000 if offset else 0)
    return min(max(shifted, -(2**63)), 2**63 - 1)
