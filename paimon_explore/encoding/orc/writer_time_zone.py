"""Time zones of ORC stripes, with the names and offsets of `java.util.TimeZone`.

A stripe names the zone of the process that wrote it. The offsets of `java.util.TimeZone` are those
of the time zone database, except that all instants before 1900 have the zone's latest standard
offset.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.time_zones import wall_clock
from paimon_explore.errors import UnsupportedFeatureError

_UTC_NAMES = frozenset({"", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z"})
_OFFSET = re.compile(r"(?:GMT|UTC)([+-])([0-9]{1,2}):?([0-9]{2})?")
_SHORT: Mapping[str, str] = MappingProxyType(
    {
        "ACT": "Australia/Darwin",
        "AET": "Australia/Sydney",
        "AGT": "America/Argentina/Buenos_Aires",
        "ART": "Africa/Cairo",
        "AST": "America/Anchorage",
        "BET": "America/Sao_Paulo",
        "BST": "Asia/Dhaka",
        "CAT": "Africa/Harare",
        "CNT": "America/St_Johns",
        "CST": "America/Chicago",
        "CTT": "Asia/Shanghai",
        "EAT": "Africa/Addis_Ababa",
        "ECT": "Europe/Paris",
        "IET": "America/Indiana/Indianapolis",
        "IST": "Asia/Kolkata",
        "JST": "Asia/Tokyo",
        "MIT": "Pacific/Apia",
        "NET": "Asia/Yerevan",
        "NST": "Pacific/Auckland",
        "PLT": "Asia/Karachi",
        "PNT": "America/Phoenix",
        "PRT": "America/Puerto_Rico",
        "PST": "America/Los_Angeles",
        "SST": "Pacific/Guadalcanal",
        "VST": "Asia/Ho_Chi_Minh",
    }
)
"""Short zone names of Java that the time zone database lacks."""

_1900 = -2_208_988_800
"""1900-01-01 in UTC; `java.util.TimeZone` has no transitions before."""
_STANDARD_YEAR = 2037
"""The last year of Java's tables; the smallest offset in it is the standard offset."""


def zone_of(name: str) -> tzinfo:
    """Return the zone with a Java name.

    Raises:
        UnsupportedFeatureError: the name is unknown.

    >>> zone_of("GMT+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    offset = _OFFSET.fullmatch(name)
    try:
        if offset is not None:
            sign, hours, minutes = offset.groups()
            distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone(distance if sign == "+" else -distance)
        return ZoneInfo(_SHORT.get(name, name))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        hint = "Install the time zone database: pip install tzdata."
        raise UnsupportedFeatureError(
            f"The time zone {name!r} of an ORC file", hint=hint
        ) from error


def is_utc(name: str) -> bool:
    """Return whether a zone is UTC; also true for the empty name."""
    return name in _UTC_NAMES


def java_clock(instants: Ints, zone: tzinfo | None) -> Ints:
    """Convert instants to wall clock seconds as `java.util.TimeZone`; see `wall_clock`."""
    clocks = wall_clock(instants, zone)
    early = instants < _1900
    if early.any():
        clocks[early] = instants[early] + _standard_offset(zone)
    return clocks


@lru_cache(maxsize=64)
def offset_of_2015(zone: tzinfo) -> int:
    """Return the zone's offset from UTC at the start of 2015, the epoch of ORC timestamps."""
    moment = datetime(2015, 1, 1, tzinfo=zone)
    return round(moment.replace(tzinfo=UTC).timestamp() - moment.timestamp())


def _standard_offset(zone: tzinfo | None) -> int:
    year = (datetime(_STANDARD_YEAR, 1, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    days = np.arange(year, year + 365, dtype=np.int64) * 86_400
    return int((wall_clock(days, zone) - days).min())
