"""Reader of ORC data files.

Arrow decodes whole stripes; `timestamp_fixes` corrects CHAR values and timestamps. Arrow silently
wraps around timestamps out of the range of 64-bit nanoseconds (before 1677 or after 2262); files
with such values, according to their statistics, are rejected.

Spec: concepts/spec/fileformat, ORC. Seen in: golden all_types_append_orc.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.orc as po

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType, MapType, RowType
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    PositionedBatch,
    Span,
    SpanBounds,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.orc.file_tail import OrcKind, OrcTail, OrcType, read_tail
from paimon_explore.encoding.orc.protobuf import (
    Message,
    decode_message,
    number,
    raw,
    signed,
)
from paimon_explore.encoding.orc.timestamp_fixes import (
    LocalZoned,
    StripeZone,
    fix_values,
    has_kind,
    stripe_zone,
    with_chars,
)
from paimon_explore.encoding.orc.utc_view import utc_view
from paimon_explore.encoding.orc.writer_time_zone import is_utc
from paimon_explore.encoding.parts_ahead import ReadsAhead, each_ahead
from paimon_explore.encoding.positional_batches import rows_without_columns
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.limits import check_size

_FORMAT = "ORC file"
_MIN_WHOLE_SHARE = 0.5
"""Share of the columns from which on whole stripes of files on a store are requested ..."""
_SMALL_STRIPE_BYTES = 4 << 20
"""... and the size of stripes that are always requested as a whole."""
_TIMESTAMPS = (OrcKind.TIMESTAMP, OrcKind.TIMESTAMP_INSTANT)
_TIMESTAMP_STATISTICS = 9
_BOUND_FIELDS = (1, 2, 3, 4)  # minimum, maximum, and both as UTC, in milliseconds
_NANO_LIMIT_MS = (2**63 - 1) // 10**6 - 2 * 86_400_000
"""Range of 64-bit nanoseconds less two days, as time zones shift values by up to a day."""
_VALUES = 1
_MIN, _MAX = 1, 2
_LOWER, _UPPER = 4, 5
_INTEGERS, _TEXTS, _DATES = 2, 4, 7
_KIND_STATISTICS: Mapping[int, int] = {
    1: _INTEGERS,  # BYTE
    2: _INTEGERS,  # SHORT
    3: _INTEGERS,  # INT
    4: _INTEGERS,  # LONG
    7: _TEXTS,  # STRING
    15: _DATES,  # DATE
    16: _TEXTS,  # VARCHAR
}
_Pair = tuple[int | bytes | None, int | bytes | None]


class OrcDataFile:
    """An open ORC file; see `OpenDataFile`."""

    def __init__(self, file: pa.NativeFile, path: str, tail: OrcTail, ltz: LocalZoned) -> None:
        self._file = file
        self._reader = po.ORCFile(file)
        self._zones: dict[int, str] = {}
        self._path = path
        self._ltz = ltz
        self._types = dict(zip(tail.root.names, tail.root.children, strict=True))
        self.tail = tail

    @property
    def names(self) -> frozenset[str]:
        """Names of the top-level columns."""
        return frozenset(self._types)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The stripes."""
        return self.tail.spans

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Return the statistics of the stripes; see `Bounded`."""
        orc_type = self._type(column)
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
        """Yield the rows of stripes; see `OpenDataFile`."""
        if not columns:
            yield from rows_without_columns([self.spans[i] for i in spans], batch_rows)
            return
        types = [self._type(column) for column in columns]
        for orc_type in types:
            self._check_range(orc_type)
        paths = [path for column in columns for path in _paths(column.name, column.type)]
        zones = self._stripe_zones(spans, types)
        for index in self._requested(spans, columns):
            what = f"{self.spans[index].rows:,} rows of {len(columns)} columns"
            check_size(self.spans[index].rows * len(columns), self._path, f"stripe {index}", what)
            with decoding(self._path, _FORMAT):
                stripe = self._reader_of(types).read_stripe(index, columns=paths)
            first = self.spans[index].first
            for start in range(0, stripe.num_rows, batch_rows):
                part = stripe.slice(start, batch_rows)
                arrays = tuple(map(partial(self._column, part, zones.get(index)), columns, types))
                yield PositionedBatch(first=first + start, rows=part.num_rows, columns=arrays)

    def _requested(self, spans: Sequence[int], columns: Sequence[StoredColumn]) -> Iterator[int]:
        """Yield stripes; on a store each is requested as a whole, unless most of it is not read."""
        file, stripes = self._file, self.tail.stripes
        many = len(columns) >= len(self._types) * _MIN_WHOLE_SHARE
        largest = max((stripes[index][1] for index in spans), default=0)
        if not isinstance(file, ReadsAhead) or not (many or largest <= _SMALL_STRIPE_BYTES):
            yield from spans
            return
        yield from each_ahead(file, spans, lambda index: [stripes[index]])

    def _stripe_zones(
        self, spans: Sequence[int], types: Sequence[OrcType]
    ) -> Mapping[int, StripeZone]:
        """Return the stripes whose timestamps need conversion, with their time zones."""
        if not any(has_kind(orc_type, kind) for orc_type in types for kind in _TIMESTAMPS):
            return {}
        with decoding(self._path, _FORMAT):
            for index in set(spans) - self._zones.keys():
                self._zones[index] = self.tail.writer_zone(self._file, index)
        found = {i: stripe_zone(self._zones[i], self.tail, self._ltz) for i in spans}
        return {index: zone for index, zone in found.items() if not zone.is_plain}

    def _reader_of(self, types: Sequence[OrcType]) -> po.ORCFile:
        """Return the reader for columns; the UTC view if a stripe was written in another zone."""
        clocks = any(has_kind(orc_type, OrcKind.TIMESTAMP) for orc_type in types)
        if not clocks or all(map(is_utc, self._zones.values())):
            return self._reader
        return self._utc_reader

    @cached_property
    def _utc_reader(self) -> po.ORCFile:
        return po.ORCFile(utc_view(self._file, self.tail))

    def _type(self, column: StoredColumn) -> OrcType:
        found = self._types[column.name]
        is_shredded = found.kind == OrcKind.STRUCT and isinstance(column.type, MapType)
        return found if is_shredded else with_chars(found, column.type)

    def _column(
        self,
        part: pa.RecordBatch,
        zone: StripeZone | None,
        column: StoredColumn,
        orc_type: OrcType,
    ) -> Column:
        array = fix_values(part.column(column.name), orc_type, zone)
        if isinstance(array, pa.StructArray) and isinstance(column.type, MapType):
            array = self._assembled(array, column.name)
        return conform(array, column.type, path=self._path, column=column.name)

    def _assembled(self, array: Column, name: str) -> Column:
        """Assemble the maps of a column stored in the layout `shared-shredding`."""
        from paimon_explore.encoding.shared_shredding import (  # noqa: PLC0415 - rare
            ARROW_SCHEMA,
            assembled_map,
            schema_in,
        )

        metadata: Mapping[bytes, bytes] = self._reader.metadata or {}
        text = metadata.get(ARROW_SCHEMA)
        with decoding(self._path, _FORMAT):
            schema = pa.schema([]) if text is None else schema_in(text)
        return assembled_map(array, schema, path=self._path, column=name)

    def _check_range(self, orc_type: OrcType) -> None:
        """Reject timestamps that Arrow would wrap around."""
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


_OTHER_FORMAT = "Select the other columns only, or write the data to Parquet files."


def open_orc(file: pa.NativeFile, path: str, ltz: LocalZoned) -> OrcDataFile:
    """Open an ORC file and read its tail.

    Args:
        file: opened for random access; the caller closes it after the last batch.
        path: for messages.
        ltz: how TIMESTAMP_LTZ values are stored.

    Raises:
        CorruptFileError: the file is not an ORC file, or its tail is damaged.
        UnsupportedFeatureError: the file is compressed with LZO.
    """
    with decoding(path, _FORMAT):
        return OrcDataFile(file, path, read_tail(file, path), ltz)


def _paths(name: str, data_type: DataType) -> list[str]:
    """Return the dotted paths that select a column; fields of a ROW are selected individually."""
    if not isinstance(data_type, RowType) or not data_type.fields:
        return [name]
    return [
        path for field in data_type.fields for path in _paths(f"{name}.{field.name}", field.type)
    ]


# Spec: ORC specification v1, `ColumnStatistics`.
def stripe_bounds(
    stripes: Sequence[Message], spans: Sequence[Span], kind: int, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per stripe.

    Args:
        stripes: the column's statistics in each stripe.
        spans: the stripes.
        kind: the column's ORC type kind.
        data_type: the column's Arrow type.

    Returns:
        None if there are no usable statistics.
    """
    field = _KIND_STATISTICS.get(kind)
    if field is None or len(stripes) != len(spans):
        return None
    read: Callable[[Message], _Pair] = _text_pair if field == _TEXTS else _int_pair
    pairs = [read(decode_message(raw(stripe, field) or b"")) for stripe in stripes]
    nulls = [
        span.rows - number(stripe, _VALUES) if _VALUES in stripe else None
        for stripe, span in zip(stripes, spans, strict=True)
    ]
    try:
        minimum = _column([pair[0] for pair in pairs], data_type)
        maximum = _column([pair[1] for pair in pairs], data_type)
    except pa.ArrowException:
        return None  # text truncated inside a character
    return SpanBounds(minimum=minimum, maximum=maximum, null_count=pa.array(nulls, pa.int64()))


def _int_pair(found: Message) -> _Pair:
    return signed(found, _MIN), signed(found, _MAX)


def _text_pair(found: Message) -> _Pair:
    low, high = raw(found, _MIN), raw(found, _MAX)
    return low or raw(found, _LOWER), high or raw(found, _UPPER)


def _column(values: list[int | bytes | None], data_type: pa.DataType) -> Column:
    if pa.types.is_string(data_type):
        return pa.array(values, pa.binary()).cast(data_type)
    if pa.types.is_date(data_type):
        return pa.array(values, pa.int32()).view(data_type)
    return pa.array(values, pa.int64()).cast(data_type)
