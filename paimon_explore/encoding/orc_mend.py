"""What Arrow leaves to the reader of an ORC file, put right.

- **CHAR** values are padded with spaces by the Java writer and trimmed by its reader, also those
  that other writers store as a STRING; Arrow keeps the spaces.
- **TIMESTAMP WITH LOCAL TIME ZONE**: unless `orc.timestamp-ltz.legacy.type` is false, the Java
  writer took the UTC wall clock of the instant and stored it as if it were a clock in its own zone.
  A stripe with a TIMESTAMP column names that zone, so the instant can be restored, in whatever zone
  the reader is. Without a name the reader's own zone is taken for it, as Java does.

Seen in: golden all_types_append_orc (written in UTC).
"""

import re
from dataclasses import replace
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.buffers import Column, build_fixed, fixed_values, valid_mask
from paimon_explore.encoding.conform import entries_of, with_children
from paimon_explore.encoding.orc_tail import OrcKind, OrcTail, OrcType
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.types.data_types import DataType, RowType, TypeRoot
from paimon_explore.types.walk import children, is_root, parts
from paimon_explore.types.zone_shift import wall_clock
from paimon_explore.values import dataclass

_UTC_NAMES = frozenset({"UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z"})
_JAVA = 0
_NANOS = 10**9
_OFFSET = re.compile(r"(?:GMT|UTC)([+-])([0-9]{1,2}):?([0-9]{2})?")


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
class Bias:
    """The zone in which instants were misread; None for that of this process."""

    zone: tzinfo | None


def bias_of(tail: OrcTail, file: pa.NativeFile, stripe: int, ltz: LocalZoned) -> Bias | None:
    """How local-zoned timestamps of a stripe are biased; None when they are not.

    Raises:
        UnsupportedFeatureError: the stripe names a zone that is not known here.
    """
    if not ltz.legacy or tail.writer != _JAVA:
        return None
    name = tail.writer_zone(file, stripe)
    if name in _UTC_NAMES:
        return None
    return Bias(zone_of(name) if name else ltz.reader_zone)


def zone_of(name: str) -> tzinfo:
    """The zone of a Java name.

    Raises:
        UnsupportedFeatureError: it is not known here.

    >>> zone_of("GMT+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return timezone(distance if sign == "+" else -distance)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UnsupportedFeatureError(f"The time zone {name!r} of an ORC file") from error


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


def mended(array: Column, orc_type: OrcType, bias: Bias | None) -> Column:
    """CHAR values trimmed and instants restored, at any depth; other arrays as they are."""
    if orc_type.kind == OrcKind.CHAR:
        trimmed: Column = pc.call_function("utf8_rtrim", [array], pc.TrimOptions(" "))
        return trimmed
    if orc_type.kind == OrcKind.TIMESTAMP_INSTANT:
        return array if bias is None else _instants(array, bias)
    restores = bias is not None and has_kind(orc_type, OrcKind.TIMESTAMP_INSTANT)
    if not restores and not has_kind(orc_type, OrcKind.CHAR):
        return array
    return _mended_nested(array, orc_type, bias)


def _mended_nested(array: Column, orc_type: OrcType, bias: Bias | None) -> Column:
    if isinstance(array, pa.MapArray):
        keys = mended(array.keys, orc_type.children[0], bias)
        values = mended(array.items, orc_type.children[1], bias)
        return with_children(array, array.type, entries_of(array.type, keys, values))
    if isinstance(array, pa.ListArray):
        return with_children(array, array.type, mended(array.values, orc_type.children[0], bias))
    if isinstance(array, pa.StructArray):
        nodes = dict(zip(orc_type.names, orc_type.children, strict=True))
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        members = [
            mended(array.field(i), nodes[field.name], bias) for i, field in enumerate(fields)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(members, fields=fields, mask=mask)
    return array


def _instants(array: Column, bias: Bias) -> Column:
    """Instants from clocks of the writer's zone that show the UTC wall clock."""
    valid = valid_mask(array)
    values = np.where(valid, fixed_values(array, np.int64).view(np.int64), 0)
    seconds = values // _NANOS
    restored = values + (wall_clock(seconds, bias.zone) - seconds) * _NANOS
    return build_fixed(array.type, restored, valid)
