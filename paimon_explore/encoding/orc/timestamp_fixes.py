"""Conversion of CHAR and timestamp values of ORC files that Arrow decodes differently from Java.

- **CHAR** values are padded with spaces by the Java writer and trimmed by its reader, also if
  another writer stored them as STRING; Arrow keeps the spaces.
- **TIMESTAMP** is the wall clock of the writer's zone, stored as seconds since the start of 2015 in
  that zone. For values that 64-bit nanoseconds cannot represent, before 1677 or after 2262, seconds
  and nanoseconds are read separately.
- **TIMESTAMP WITH LOCAL TIME ZONE**: unless `orc.timestamp-ltz.legacy.type` is false, the Java
  writer stored the UTC wall clock of the instant as if it were the wall clock of its own zone. If
  the stripe names that zone (it does if there is a TIMESTAMP column), the instant is restored from
  it; otherwise from the zone of the reader, as in Java.

Seen in: golden all_types_append_orc (written in UTC).

Time zones of ORC stripes, with the names and offsets of `java.util.TimeZone`.

A stripe names the zone of the process that wrote it. The offsets of `java.util.TimeZone` are those
of the time zone database, except that all instants before 1900 have the zone's latest standard
offset.
"""

import os
import re
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND, Unit
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_like,
    fixed_values,
    scaled_sum,
    valid_mask,
)
from paimon_explore.data_types.definitions import DataType, RowType, TypeRoot
from paimon_explore.data_types.time_zones import wall_clock
from paimon_explore.data_types.traversal import children, is_root, parts
from paimon_explore.encoding.arrow_type_conversion import entries_of, with_children
from paimon_explore.encoding.orc.file_tail import OrcKind, OrcTail, OrcType, read_bytes
from paimon_explore.encoding.orc.protobuf import messages, number
from paimon_explore.encoding.orc.run_length import decode_runs
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

_JAVA = 0
_NANOS = 10**9
LOST_NANOS = 999_999
"""Java adjusts negative seconds only for fractions of more nanoseconds than this."""
_TIMES = (OrcKind.TIMESTAMP, OrcKind.TIMESTAMP_INSTANT)
EPOCH_2015 = 1_420_070_400
"""2015-01-01 in UTC, from which seconds are counted."""
_STREAMS, _ENCODINGS = 1, 2
_KIND, _COLUMN, _LENGTH = 1, 2, 3
_SECONDARY, _DIRECT_V2 = 5, 2
_ZEROS = 7


@dataclass(frozen=True, slots=True)
class LocalZoned:
    """How TIMESTAMP_LTZ values are stored in a file.

    Attributes:
        legacy: the table's `orc.timestamp-ltz.legacy.type`.
        reader_zone: the zone for files that name none; None for the zone of this process.
    """

    legacy: bool = True
    reader_zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class StripeZone:
    """How the timestamps of a stripe are converted.

    Attributes:
        writer: the zone in which TIMESTAMP values were written; None for UTC. For other zones
            the arrays contain the stored seconds, see `reader`.
        legacy: whether TIMESTAMP_LTZ values were stored as wall clocks of a zone.
        reader: that zone if the stripe names none; None for the zone of this process.
        named: whether the stripe names a zone.
    """

    writer: tzinfo | None
    legacy: bool
    reader: tzinfo | None
    named: bool

    @property
    def is_plain(self) -> bool:
        """Whether no timestamp needs conversion."""
        return self.writer is None and (self.named or not self.legacy)


def stripe_zone(name: str, tail: OrcTail, ltz: LocalZoned) -> StripeZone:
    """Return how the timestamps of a stripe are converted.

    Args:
        name: the zone in the stripe footer; "" for none.
        tail: the tail of the file.
        ltz: how TIMESTAMP_LTZ values are stored.

    Raises:
        UnsupportedFeatureError: the stripe names an unknown zone.
    """
    return StripeZone(
        writer=None if is_utc(name) else zone_of(name),
        legacy=ltz.legacy and tail.writer == _JAVA,
        reader=ltz.reader_zone,
        named=bool(name),
    )


def has_kind(orc_type: OrcType, kind: OrcKind) -> bool:
    """Return whether a type or one of its descendants is of a kind."""
    return orc_type.kind == kind or any(has_kind(child, kind) for child in orc_type.children)


def with_chars(orc_type: OrcType, data_type: DataType) -> OrcType:
    """Return the type tree with CHAR for the CHAR columns of the table schema."""
    if is_root(data_type, TypeRoot.CHAR):
        return replace(orc_type, kind=OrcKind.CHAR)
    if not any(is_root(part, TypeRoot.CHAR) for part in parts(data_type)):
        return orc_type
    inner = children(data_type)
    if isinstance(data_type, RowType):
        by_name = dict(zip(data_type.names, inner, strict=True))
        marked = tuple(
            with_chars(child, by_name[name]) if name in by_name else child
            for name, child in zip(orc_type.names, orc_type.children, strict=True)
        )
    else:
        marked = tuple(map(with_chars, orc_type.children, inner))
    return replace(orc_type, children=marked)


NanosOf = Callable[[int, int], Ints]
"""Returns the nanoseconds of the second of timestamps, by column id and number of values."""


def fix_values(
    array: Column, orc_type: OrcType, zone: StripeZone | None, nanos: NanosOf | None
) -> Column:
    """Trim CHAR values and convert timestamps, at any depth.

    Args:
        array: the values of a stripe as decoded by Arrow; timestamps as UTC, see
            `StripeZone.writer`, or as integers: the stored seconds.
        orc_type: their type.
        zone: how timestamps are converted; None if they are not.
        nanos: reads the nanoseconds of timestamps that are integers; None if there are none.

    Returns:
        The values; timestamps in nanoseconds, or in the finest unit that can represent all of them.
    """
    if orc_type.kind == OrcKind.CHAR:
        trimmed: Column = pc.call_function("utf8_rtrim", [array], pc.TrimOptions(" "))
        return trimmed
    if orc_type.kind in _TIMES:
        return _time(array, orc_type, zone, nanos)
    kinds = _TIMES if zone is not None or nanos is not None else ()
    if not any(has_kind(orc_type, kind) for kind in (*kinds, OrcKind.CHAR)):
        return array
    return _nested(array, orc_type, zone, nanos)


def _nested(
    array: Column, orc_type: OrcType, zone: StripeZone | None, nanos: NanosOf | None
) -> Column:
    if isinstance(array, pa.MapArray):
        keys, values = map(
            fix_values, (array.keys, array.items), orc_type.children, repeat(zone), repeat(nanos)
        )
        map_type = pa.map_(keys.type, values.type)
        return with_children(array, map_type, entries_of(map_type, keys, values))
    if isinstance(array, pa.ListArray):
        values = fix_values(array.values, orc_type.children[0], zone, nanos)
        return with_children(array, pa.list_(values.type), values)
    if isinstance(array, pa.StructArray):
        nodes = dict(zip(orc_type.names, orc_type.children, strict=True))
        names = [field.name for field in array.type]
        members = [
            fix_values(array.field(i), nodes[name], zone, nanos) for i, name in enumerate(names)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(members, names=names, mask=mask)
    return array


def _time(
    array: Column, orc_type: OrcType, zone: StripeZone | None, nanos: NanosOf | None
) -> Column:
    writer = zone.writer if zone is not None and orc_type.kind == OrcKind.TIMESTAMP else None
    is_local = (
        zone is not None
        and orc_type.kind == OrcKind.TIMESTAMP_INSTANT
        and zone.legacy
        and not (zone.named and zone.writer is None)
    )
    if writer is None and not is_local and nanos is None:
        return array
    valid = valid_mask(array)
    values = np.where(valid, fixed_values(array, np.int64).view(np.int64), 0)
    if nanos is not None and pa.types.is_int64(array.type):
        seconds, fraction = values + EPOCH_2015, np.zeros_like(values)
        fraction[valid] = nanos(orc_type.column, int(np.count_nonzero(valid)))
        seconds -= (seconds < 0) & (fraction > LOST_NANOS)
    else:
        seconds, fraction = values // _NANOS, values % _NANOS
    if writer is not None:
        seconds = _clocks(seconds, fraction, writer)
    elif is_local and zone is not None:
        # stored as the wall clock of a zone
        seconds = java_clock(seconds, zone.writer or zone.reader)
    return _timestamps(seconds, fraction, array)


def _clocks(seconds: Ints, nanos: Ints, zone: tzinfo) -> Ints:
    """Convert TIMESTAMP values that Arrow decoded as UTC to wall clocks of the writer's zone.

    The Java writer stores the instant's milliseconds divided by 1000, rounded towards zero; readers
    subtract a second if the instant is negative and has a fraction. Arrow tests the wall clock, so
    its correction is undone and repeated by the instant.
    """
    fraction = nanos > LOST_NANOS
    stored = seconds + (fraction & (seconds < 0))
    instants = stored - offset_of_2015(zone)
    instants -= fraction & (instants < 0)
    return java_clock(instants, zone)


def _timestamps(seconds: Ints, nanos: Ints, like: Column) -> Column:
    """Build timestamps of the finest unit that represents all of them."""
    finest: Unit = "s"
    values = seconds
    units: tuple[Unit, ...] = ("ns", "us", "ms")
    for unit in units:
        per_second = PER_SECOND[unit]
        found, fits = scaled_sum(seconds, per_second, nanos // (_NANOS // per_second))
        if fits.all():
            finest, values = unit, found
            break
    return build_like(pa.timestamp(finest), values, like)


def read_nanos(file: pa.NativeFile, tail: OrcTail, stripe: int, column: int, count: int) -> Ints:
    """Read the nanoseconds of the second of the non-null timestamps of a stripe.

    Args:
        file: opened for random access.
        tail: its tail.
        stripe: index of the stripe.
        column: id of a timestamp column.
        count: number of non-null values.

    Raises:
        ProtobufError: the stripe footer or the stream is damaged.
    """
    footer = tail.stripe_footer(file, stripe)
    offset = tail.stripes[stripe][0]
    data = b""
    for stream in messages(footer, _STREAMS):
        size = number(stream, _LENGTH)
        if (number(stream, _KIND), number(stream, _COLUMN)) == (_SECONDARY, column):
            data = tail.decompress(read_bytes(file, offset, size))
        offset += size
    encodings = list(messages(footer, _ENCODINGS))
    version = 2 if number(encodings[column], _KIND) == _DIRECT_V2 else 1
    encoded = decode_runs(data, count, version=version)
    # the three lowest bits: number of decimal zeros that were removed, less one
    zeros = encoded & _ZEROS
    return (encoded >> 3) * np.where(zeros, 10 ** (zeros + 1), 1)


_UTC_NAMES = frozenset({"", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z"})
_OFFSET = re.compile(r"(?:GMT|UTC)([+-])([0-9]{1,2}):?([0-9]{2})?")
_ZONES = (
    "ACT=Australia/Darwin AET=Australia/Sydney AGT=America/Argentina/Buenos_Aires "
    "ART=Africa/Cairo AST=America/Anchorage BET=America/Sao_Paulo BST=Asia/Dhaka "
    "CAT=Africa/Harare CNT=America/St_Johns CST=America/Chicago CTT=Asia/Shanghai "
    "EAT=Africa/Addis_Ababa ECT=Europe/Paris IET=America/Indiana/Indianapolis "
    "IST=Asia/Kolkata JST=Asia/Tokyo MIT=Pacific/Apia NET=Asia/Yerevan NST=Pacific/Auckland "
    "PLT=Asia/Karachi PNT=America/Phoenix PRT=America/Puerto_Rico PST=America/Los_Angeles "
    "SST=Pacific/Guadalcanal VST=Asia/Ho_Chi_Minh"
)
_SHORT = dict(pair.split("=") for pair in _ZONES.split())
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


def provide_time_zones(
    environment: MutableMapping[str, str] = os.environ, system: str = "/usr/share/zoneinfo"
) -> None:
    """Set `TZDIR` to the package tzdata if the system has no time zone database, as Windows.

    The ORC library of Arrow opens the database for every file, and finds it by this variable.

    Args:
        environment: the variables of the process.
        system: the folder of the system's database.
    """
    if "TZDIR" in environment or Path(system).is_dir():
        return
    package = find_spec("tzdata")
    for folder in (package and package.submodule_search_locations) or ():
        environment["TZDIR"] = str(Path(folder) / "zoneinfo")


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
