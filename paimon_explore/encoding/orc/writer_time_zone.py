"""Time zones of ORC files: their names and offsets as Java has them.

A stripe names the zone of the process that wrote it, by a name of `java.util.TimeZone`. Times are
converted by the offsets of that class, which differ from the time zone database in one thing: all
instants before 1900 have the zone's latest standard offset.
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
"""The short names of Java that the time zone database does not have."""

_1900 = -2_208_988_800
"""1900-01-01 in UTC; `java.util.TimeZone` knows no changes before."""
_STANDARD_YEAR = 2037
"""The last year of Java's tables: the least offset in it is the standard one."""


def zone_of(name: str) -> tzinfo:
    """The zone of a Java name.

    Raises:
        UnsupportedFeatureError: it is not known here.

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
    """Whether clocks of a zone show UTC; also true of a stripe that names no zone."""
    return name in _UTC_NAMES


def java_clock(instants: Ints, zone: tzinfo | None) -> Ints:
    """Wall clock seconds of instants by `java.util.TimeZone`; see `zone_shift.wall_clock`."""
    clocks = wall_clock(instants, zone)
    early = instants < _1900
    if early.any():
        clocks[early] = instants[early] + _standard_offset(zone)
    return clocks


@lru_cache(maxsize=64)
def offset_of_2015(zone: tzinfo) -> int:
    """Seconds by which the zone is ahead of UTC when 2015 begins there: ORC counts from then."""
    moment = datetime(2015, 1, 1, tzinfo=zone)
    return round(moment.replace(tzinfo=UTC).timestamp() - moment.timestamp())


def _standard_offset(zone: tzinfo | None) -> int:
    year = (datetime(_STANDARD_YEAR, 1, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    days = np.arange(year, year + 365, dtype=np.int64) * 86_400
    return int((wall_clock(days, zone) - days).min())
