"""What Arrow leaves to the reader of an ORC file, put right.

- **CHAR** values are padded with spaces by the Java writer and trimmed by its reader, also those
  that other writers store as a STRING; Arrow keeps the spaces.
- **TIMESTAMP** is the wall clock of the writer's zone, stored as seconds since 2015 began there.
- **TIMESTAMP WITH LOCAL TIME ZONE**: unless `orc.timestamp-ltz.legacy.type` is false, the Java
  writer took the UTC wall clock of the instant and stored it as if it were a clock in its own zone.
  A stripe with a TIMESTAMP column names that zone, so the instant can be restored, in whatever zone
  the reader is. Without a name the reader's own zone is taken for it, as Java does.

Seen in: golden all_types_append_orc (written in UTC).
"""

from dataclasses import replace
from datetime import tzinfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    fixed_values,
    valid_mask,
)
from paimon_explore.data_types.definitions import DataType, RowType, TypeRoot
from paimon_explore.data_types.traversal import children, is_root, parts
from paimon_explore.encoding.arrow_type_conversion import entries_of, with_children
from paimon_explore.encoding.orc.file_tail import OrcKind, OrcTail, OrcType
from paimon_explore.encoding.orc.writer_time_zone import is_utc, java_clock, offset_of_2015, zone_of
from paimon_explore.frozen_dataclass import dataclass

_JAVA = 0
_NANOS = 10**9
_LOST_NANOS = 999_999
"""Up to so many nanoseconds, Java stores negative seconds as they are."""
_TIMES = (OrcKind.TIMESTAMP, OrcKind.TIMESTAMP_INSTANT)


@dataclass(frozen=True, slots=True)
class LocalZoned:
    """How a file holds local-zoned timestamps.

    Attributes:
        legacy: the table's `orc.timestamp-ltz.legacy.type`.
        reader_zone: the zone of files that name none; None for that of this process.
    """

    legacy: bool = True
    reader_zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class StripeZone:
    """How the times of a stripe have to be converted.

    Attributes:
        writer: the zone in which TIMESTAMP values were written, where it is not UTC: Arrow gave
            their stored seconds, see `orc_utc_view`.
        legacy: whether instants were stored as clocks of a zone.
        reader: that zone where the stripe names none; None for that of this process.
        named: whether the stripe names a zone.
    """

    writer: tzinfo | None
    legacy: bool
    reader: tzinfo | None
    named: bool

    @property
    def is_plain(self) -> bool:
        """Whether all times are what Arrow says."""
        return self.writer is None and (self.named or not self.legacy)


def stripe_zone(name: str, tail: OrcTail, ltz: LocalZoned) -> StripeZone:
    """How the times of a stripe are converted.

    Args:
        name: the zone that its footer names; "" for none.
        tail: of the file.
        ltz: how the file holds local-zoned timestamps.

    Raises:
        UnsupportedFeatureError: the stripe names a zone that is not known here.
    """
    return StripeZone(
        writer=None if is_utc(name) else zone_of(name),
        legacy=ltz.legacy and tail.writer == _JAVA,
        reader=ltz.reader_zone,
        named=bool(name),
    )


def has_kind(orc_type: OrcType, kind: OrcKind) -> bool:
    """Whether a type or one below it is of a kind."""
    return orc_type.kind == kind or any(has_kind(child, kind) for child in orc_type.children)


def with_chars(orc_type: OrcType, data_type: DataType) -> OrcType:
    """The node with CHAR where the table has it, whatever the file's kind of text is."""
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


def mended(array: Column, orc_type: OrcType, zone: StripeZone | None) -> Column:
    """CHAR values trimmed and times converted, at any depth; other arrays as they are."""
    if orc_type.kind == OrcKind.CHAR:
        trimmed: Column = pc.call_function("utf8_rtrim", [array], pc.TrimOptions(" "))
        return trimmed
    if orc_type.kind in _TIMES:
        return _time(array, orc_type.kind, zone)
    converts = zone is not None and any(has_kind(orc_type, kind) for kind in _TIMES)
    if not converts and not has_kind(orc_type, OrcKind.CHAR):
        return array
    return _mended_nested(array, orc_type, zone)


def _mended_nested(array: Column, orc_type: OrcType, zone: StripeZone | None) -> Column:
    if isinstance(array, pa.MapArray):
        keys = mended(array.keys, orc_type.children[0], zone)
        values = mended(array.items, orc_type.children[1], zone)
        return with_children(array, array.type, entries_of(array.type, keys, values))
    if isinstance(array, pa.ListArray):
        return with_children(array, array.type, mended(array.values, orc_type.children[0], zone))
    if isinstance(array, pa.StructArray):
        nodes = dict(zip(orc_type.names, orc_type.children, strict=True))
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        members = [
            mended(array.field(i), nodes[field.name], zone) for i, field in enumerate(fields)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(members, fields=fields, mask=mask)
    return array


def _time(array: Column, kind: int, zone: StripeZone | None) -> Column:
    if zone is None:
        return array
    if kind == OrcKind.TIMESTAMP:
        return array if zone.writer is None else _clocks(array, zone.writer)
    if not zone.legacy or (zone.named and zone.writer is None):
        return array
    return _instants(array, zone.writer or zone.reader)


def _clocks(array: Column, zone: tzinfo) -> Column:
    """Clocks of the writer's zone from seconds since 2015 there, which Arrow took for UTC's.

    The Java writer stores the instant's milliseconds divided by 1000, rounded towards zero; readers
    take off a second of what is negative and has a fraction. Arrow decided that by the clock, so
    its decision is undone, and taken anew by the instant.
    """
    valid, seconds, nanos = _parts(array)
    fraction = nanos > _LOST_NANOS
    stored = seconds + (fraction & (seconds < 0))
    instants = stored - offset_of_2015(zone)
    instants -= fraction & (instants < 0)
    return build_fixed(array.type, java_clock(instants, zone) * _NANOS + nanos, valid)


def _instants(array: Column, zone: tzinfo | None) -> Column:
    """Instants from clocks of the writer's zone that show the UTC wall clock."""
    valid, seconds, nanos = _parts(array)
    return build_fixed(array.type, java_clock(seconds, zone) * _NANOS + nanos, valid)


def _parts(array: Column) -> tuple[Bools, Ints, Ints]:
    """Which values there are, their seconds, rounded down, and the nanoseconds beyond them."""
    valid = valid_mask(array)
    values = np.where(valid, fixed_values(array, np.int64).view(np.int64), 0)
    seconds = values // _NANOS
    return valid, seconds, values - seconds * _NANOS
