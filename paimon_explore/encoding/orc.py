"""ORC data files as positioned batches in the package's Arrow types.

Arrow decodes whole stripes. Three things have to be mended afterwards:

- **CHAR** values are padded with spaces by the Java writer and trimmed by its reader; Arrow keeps
  the padding.
- **TIMESTAMP WITH LOCAL TIME ZONE**: unless `orc.timestamp-ltz.legacy.type` is false, the Java
  writer took the UTC wall clock of the instant and stored it as if it were a clock in its own zone.
  The stripe names that zone, so the instant can be restored, in whatever zone the reader is.
- **Timestamps beyond 64-bit nanoseconds** (before 1677, after 2262) are wrapped around by Arrow in
  silence; the file's statistics give them away.

Spec: concepts/spec/fileformat, ORC. Seen in: golden all_types_append_orc.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as po

from paimon_explore.encoding.buffers import Column
from paimon_explore.encoding.conform import conform, entries_of, with_children
from paimon_explore.encoding.decoding import (
    PositionedBatch,
    Span,
    SpanBounds,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.orc_bounds import stripe_bounds
from paimon_explore.encoding.orc_tail import OrcKind, OrcTail, OrcType, read_tail
from paimon_explore.encoding.positioned import rows_without_columns
from paimon_explore.encoding.protobuf import Message, decode_message, raw, signed
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.types.arrow import to_arrow
from paimon_explore.types.data_types import DataType, RowType

_FORMAT = "ORC file"
_UTC_NAMES = frozenset({"", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z", "GMT+00:00"})
_TIMESTAMPS = (OrcKind.TIMESTAMP, OrcKind.TIMESTAMP_INSTANT)
_TIMESTAMP_STATISTICS = 9
_BOUND_FIELDS = (1, 2, 3, 4)  # minimum, maximum, and both as UTC, in milliseconds
_NANO_LIMIT_MS = (2**63 - 1) // 10**6


class OrcDataFile:
    """An open ORC file; see `decoding.OpenDataFile`."""

    def __init__(self, file: pa.NativeFile, path: str, tail: OrcTail, *, legacy_ltz: bool) -> None:
        self._file = file
        self._reader = po.ORCFile(file)
        self._path = path
        self._legacy_ltz = legacy_ltz
        self._types = dict(zip(tail.root.names, tail.root.children, strict=True))
        self.tail = tail

    @property
    def names(self) -> frozenset[str]:
        """The top-level columns."""
        return frozenset(self._types)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The stripes."""
        return self.tail.spans

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Statistics of the stripes; see `decoding.OpenDataFile`."""
        orc_type = self._types[column.name]
        with decoding(self._path, _FORMAT):
            stripes = [
                found[orc_type.column]
                for found in self._stripe_statistics
                if orc_type.column < len(found)
            ]
            return stripe_bounds(stripes, self.spans, orc_type.kind, to_arrow(column.type))

    @cached_property
    def _stripe_statistics(self) -> list[list[Message]]:
        return self.tail.stripe_statistics()

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Rows of the given stripes; see `decoding.OpenDataFile`."""
        if not columns:
            yield from rows_without_columns([self.spans[i] for i in spans], batch_rows)
            return
        types = [self._types[column.name] for column in columns]
        for orc_type in types:
            self._check_range(orc_type)
        paths = [path for column in columns for path in _paths(column.name, column.type)]
        for index in spans:
            with decoding(self._path, _FORMAT):
                stripe = self._reader.read_stripe(index, columns=paths)
                zone = self._zone(index, types)
            first = self.spans[index].first
            for start in range(0, stripe.num_rows, batch_rows):
                part = stripe.slice(start, batch_rows)
                arrays = tuple(self._column(part, column, zone) for column in columns)
                yield PositionedBatch(first=first + start, rows=part.num_rows, columns=arrays)

    def _zone(self, stripe: int, types: Sequence[OrcType]) -> str:
        """The zone local-zoned timestamps are biased by; empty when they are not."""
        if not self._legacy_ltz or not any(_has(t, OrcKind.TIMESTAMP_INSTANT) for t in types):
            return ""
        zone = self.tail.writer_zone(self._file, stripe)
        return "" if zone in _UTC_NAMES else zone

    def _column(self, part: pa.RecordBatch, column: StoredColumn, zone: str) -> Column:
        array = _mended(part.column(column.name), self._types[column.name], zone)
        return conform(array, column.type, path=self._path, column=column.name)

    def _check_range(self, orc_type: OrcType) -> None:
        """Refuses timestamps that Arrow would wrap around."""
        if orc_type.kind in _TIMESTAMPS and orc_type.column < len(self.tail.statistics):
            bounds = raw(self.tail.statistics[orc_type.column], _TIMESTAMP_STATISTICS)
            found = decode_message(bounds or b"")
            for field in _BOUND_FIELDS:
                if abs(signed(found, field) or 0) > _NANO_LIMIT_MS:
                    raise UnsupportedFeatureError(
                        "An ORC timestamp before 1677 or after 2262", self._path, hint=_OTHER_FORMAT
                    )
        for child in orc_type.children:
            self._check_range(child)


_OTHER_FORMAT = "Leave the column out, or rewrite the table as Parquet."


def open_orc(file: pa.NativeFile, path: str, *, legacy_ltz: bool = True) -> OrcDataFile:
    """Read the tail of an ORC file.

    Args:
        file: open for random reading; the caller closes it, after the last batch.
        path: for messages.
        legacy_ltz: the table's `orc.timestamp-ltz.legacy.type`.

    Raises:
        CorruptFileError: the file is no ORC file or its tail is damaged.
        UnsupportedFeatureError: the file is compressed with LZO.
    """
    with decoding(path, _FORMAT):
        return OrcDataFile(file, path, read_tail(file, path), legacy_ltz=legacy_ltz)


def _paths(name: str, data_type: DataType) -> list[str]:
    """Dotted names that select a column; ROW members are chosen one by one."""
    if not isinstance(data_type, RowType) or not data_type.fields:
        return [name]
    return [
        path for field in data_type.fields for path in _paths(f"{name}.{field.name}", field.type)
    ]


def _has(orc_type: OrcType, kind: OrcKind) -> bool:
    return orc_type.kind == kind or any(_has(child, kind) for child in orc_type.children)


def _mended(array: Column, orc_type: OrcType, zone: str) -> Column:
    """CHAR values trimmed and instants restored, at any depth; other arrays as they are."""
    if orc_type.kind == OrcKind.CHAR:
        trimmed: Column = pc.call_function("utf8_rtrim", [array], pc.TrimOptions(" "))
        return trimmed
    if orc_type.kind == OrcKind.TIMESTAMP_INSTANT:
        return _instant(array, zone) if zone else array
    if not _has(orc_type, OrcKind.CHAR) and not (
        zone and _has(orc_type, OrcKind.TIMESTAMP_INSTANT)
    ):
        return array
    return _mended_nested(array, orc_type, zone)


def _mended_nested(array: Column, orc_type: OrcType, zone: str) -> Column:
    if isinstance(array, pa.MapArray):
        keys = _mended(array.keys, orc_type.children[0], zone)
        values = _mended(array.items, orc_type.children[1], zone)
        return with_children(array, array.type, entries_of(array.type, keys, values))
    if isinstance(array, pa.ListArray):
        return with_children(array, array.type, _mended(array.values, orc_type.children[0], zone))
    if isinstance(array, pa.StructArray):
        nodes = dict(zip(orc_type.names, orc_type.children, strict=True))
        fields = [array.type.field(i) for i in range(array.type.num_fields)]
        children = [
            _mended(array.field(i), nodes[field.name], zone) for i, field in enumerate(fields)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    return array


def _instant(array: Column, zone: str) -> Column:
    """Instants from clocks of the writer's zone that show the UTC wall clock."""
    in_zone = array.view(pa.timestamp("ns", zone))
    clocks: Column = pc.call_function("local_timestamp", [in_zone])
    return clocks.view(pa.timestamp("ns", "UTC"))
