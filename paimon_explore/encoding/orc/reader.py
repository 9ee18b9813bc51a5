"""Reader of ORC data files.

Arrow decodes whole stripes; `timestamp_fixes` corrects CHAR values and timestamps. Arrow refuses,
and before release 26 wraps around, timestamps out of the range of 64-bit nanoseconds (before
1677 or after 2262). If the statistics do not exclude such values, seconds and nanoseconds are read
on their own: the seconds by Arrow as an integer column, which has the same encoding, so that only
the type in the footer has to be changed.

Spec: concepts/spec/fileformat, ORC. Seen in: golden all_types_append_orc.

Virtual ORC file in which all stripes have the time zone UTC.

Arrow converts timestamps to the wall clock of the writer's zone. It uses the system's time zone
database, which lacks names such as GMT+08:00, and corrects negative seconds after that, although
the Java writer rounded the instant: times within some hours of 1970 are off by a second. With GMT
in every stripe footer, Arrow returns the stored seconds, which `timestamp_fixes` converts.

Only the footers are replaced. The streams are read from the file itself; the offsets of stripes are
adjusted by the change in length of the footers before them.
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import pyarrow as pa
import pyarrow.orc as po

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import MapType
from paimon_explore.data_types.traversal import leaf_prefixes
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    Bounded,
    PositionedBatch,
    Span,
    SpanBounds,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.orc.file_tail import OrcKind, OrcTail, OrcType, read_bytes, read_tail
from paimon_explore.encoding.orc.protobuf import (
    Field,
    Message,
    ProtobufError,
    bytes_field,
    decode_message,
    fields_of,
    int_field,
    message_of,
    number,
    raw,
    signed,
)
from paimon_explore.encoding.orc.run_length import compressor
from paimon_explore.encoding.orc.timestamp_fixes import (
    LocalZoned,
    StripeZone,
    fix_values,
    has_kind,
    is_utc,
    provide_time_zones,
    read_nanos,
    stripe_zone,
    with_chars,
)
from paimon_explore.encoding.parts_ahead import ReadsAhead, each_ahead
from paimon_explore.encoding.positional_batches import rows_without_columns
from paimon_explore.frozen_dataclass import cached_property
from paimon_explore.limits import check_size

provide_time_zones()
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


class OrcDataFile(Bounded):
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
        zones = self._stripe_zones(spans, types)
        for index in self._requested(spans, columns):
            what = f"{self.spans[index].rows:,} rows of {len(columns)} columns"
            check_size(self.spans[index].rows * len(columns), self._path, f"stripe {index}", what)
            with decoding(self._path, _FORMAT):
                stripe = self._stripe(index, columns, types, zones.get(index))
            first = self.spans[index].first
            for start in range(0, stripe.num_rows, batch_rows):
                part = stripe.slice(start, batch_rows)
                arrays = tuple(map(self._conform, part.columns, columns))
                yield PositionedBatch(first=first + start, rows=part.num_rows, columns=arrays)

    def _stripe(
        self,
        index: int,
        columns: Sequence[StoredColumn],
        types: Sequence[OrcType],
        zone: StripeZone | None,
    ) -> pa.RecordBatch:
        """Decode the columns of a stripe; those with wide timestamps by the stored seconds."""
        found: dict[str, Column] = {}
        for is_wide in (False, True):
            chosen = {
                column: orc_type
                for column, orc_type in zip(columns, types, strict=True)
                if self._wide.isdisjoint(_ids(orc_type)) != is_wide
            }
            if not chosen:
                continue
            reader = self._seconds_reader if is_wide else self._reader_of(types)
            paths = [path for column in chosen for path in leaf_prefixes(column.name, column.type)]
            stripe = reader.read_stripe(index, columns=paths)
            nanos = partial(read_nanos, self._file, self.tail, index) if is_wide else None
            for column, orc_type in chosen.items():
                array = stripe.column(column.name)
                found[column.name] = fix_values(array, orc_type, zone, nanos)
        names = [column.name for column in columns]
        return pa.RecordBatch.from_arrays([found[name] for name in names], names)

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

    @cached_property
    def _wide(self) -> frozenset[int]:
        """Column ids of timestamps that 64-bit nanoseconds may not represent."""
        return frozenset(_wide_timestamps(self.tail.root, self.tail.statistics))

    @cached_property
    def _seconds_reader(self) -> po.ORCFile:
        return po.ORCFile(utc_view(self._file, self.tail, self._wide))

    def _type(self, column: StoredColumn) -> OrcType:
        found = self._types[column.name]
        is_shredded = found.kind == OrcKind.STRUCT and isinstance(column.type, MapType)
        return found if is_shredded else with_chars(found, column.type)

    def _conform(self, array: Column, column: StoredColumn) -> Column:
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


def _ids(orc_type: OrcType) -> Iterator[int]:
    yield orc_type.column
    for child in orc_type.children:
        yield from _ids(child)


# Spec: ORC specification v1, `TimestampStatistics`.
def _wide_timestamps(orc_type: OrcType, statistics: Sequence[Message]) -> Iterator[int]:
    """Yield the column ids of timestamps whose statistics exceed or lack a range of nanoseconds."""
    if orc_type.kind in _TIMESTAMPS:
        found = statistics[orc_type.column] if orc_type.column < len(statistics) else {}
        bounds = decode_message(raw(found, _TIMESTAMP_STATISTICS) or b"")
        values = [signed(bounds, field) for field in _BOUND_FIELDS if field in bounds]
        is_empty = _VALUES in found and not number(found, _VALUES)
        if not is_empty and not (values and all(abs(v or 0) <= _NANO_LIMIT_MS for v in values)):
            yield orc_type.column
    for child in orc_type.children:
        yield from _wide_timestamps(child, statistics)


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


_POST_FOOTER, _POST_CODEC, _POST_BLOCK, _POST_METADATA = 1, 2, 3, 5
_STRIPES, _TYPES, _CONTENT_LENGTH = 3, 4, 2
_TYPE_KIND = 1
_OFFSET, _FOOTER_LENGTH = 1, 4
_WRITER_ZONE = 3
_NO_COMPRESSION = 0
_DEFAULT_BLOCK = 256 * 1024

Part = tuple[int, int] | bytes
"""A range of the file (start, end), or replacement bytes."""


def utc_view(file: pa.NativeFile, tail: OrcTail, integers: Container[int] = ()) -> pa.NativeFile:
    """Return a view of the file with GMT as the zone of every stripe.

    Args:
        file: opened for random access.
        tail: the tail of the file.
        integers: column ids of timestamps whose seconds the view contains as integers.

    Raises:
        ProtobufError: the tail does not fit the file.
    """
    view = _View(file, list(_parts(file, tail, integers)))
    return pa.PythonFile(view, mode="r")  # type: ignore[arg-type]  # what it needs of a file


def _parts(file: pa.NativeFile, tail: OrcTail, integers: Container[int]) -> Iterator[Part]:
    post, footer_fields, footer_at = tail_fields(file, tail)
    post_values = decode_message(message_of(post))
    kind, block = number(post_values, _POST_CODEC), number(post_values, _POST_BLOCK, _DEFAULT_BLOCK)
    metadata_length = number(post_values, _POST_METADATA)
    pack = compressor(_NO_COMPRESSION if kind == _NO_COMPRESSION else _STORED, block)
    place, moved = 0, 0
    fields: list[Field] = []
    stripe, column = 0, 0
    for field in footer_fields:
        if field.number == _TYPES and isinstance(field.value, bytes):
            as_integer = column in integers
            fields.append(replace(field, value=_as_integer(field.value)) if as_integer else field)
            column += 1
            continue
        if field.number != _STRIPES or not isinstance(field.value, bytes):
            fields.append(field)
            continue
        at, length = tail.stripe_footers[stripe]
        stripe += 1
        if at < place:
            raise ProtobufError(f"the stripe footer at byte {at} overlaps the previous stripe")
        below = pack(_in_gmt(tail.decompress(read_bytes(file, at, length))))
        yield (place, at)
        yield below
        place = at + length
        fields.append(replace(field, value=_moved(field.value, moved, len(below))))
        moved += len(below) - length
    yield (place, footer_at)
    footer = pack(message_of(_content(field, moved) for field in fields))
    yield footer
    sizes = {_POST_FOOTER: len(footer), _POST_METADATA: metadata_length}
    post_bytes = message_of(replace(f, value=sizes.get(f.number, f.value)) for f in post)
    yield post_bytes + bytes([len(post_bytes)])


def tail_fields(file: pa.NativeFile, tail: OrcTail) -> tuple[list[Field], list[Field], int]:
    """Return the fields of the postscript and of the footer, and the start of the footer.

    Raises:
        ProtobufError: the tail does not fit the file.
    """
    size = file.size()
    post_length = read_bytes(file, size - 1, 1)[0]
    post = read_bytes(file, size - 1 - post_length, post_length)
    length = number(decode_message(post), _POST_FOOTER)
    at = size - 1 - post_length - length
    return fields_of(post), fields_of(tail.decompress(read_bytes(file, at, length))), at


_STORED = -1
"""Pseudo compression kind: stores every chunk uncompressed, which readers accept for any kind."""


def _in_gmt(footer: bytes) -> bytes:
    kept = [field for field in fields_of(footer) if field.number != _WRITER_ZONE]
    return message_of([*kept, bytes_field(_WRITER_ZONE, b"GMT")])


def _as_integer(value: bytes) -> bytes:
    kept = [part for part in fields_of(value) if part.number != _TYPE_KIND]
    return message_of([int_field(_TYPE_KIND, OrcKind.LONG), *kept])


def _moved(stripe: bytes, by: int, footer_length: int) -> bytes:
    """Return the stripe information of a moved stripe."""
    fields = fields_of(stripe)
    values = {_FOOTER_LENGTH: footer_length}
    for field in fields:
        if field.number == _OFFSET and isinstance(field.value, int):
            values[_OFFSET] = field.value + by
    return message_of(replace(f, value=values.get(f.number, f.value)) for f in fields)


def _content(field: Field, moved: int) -> Field:
    if field.number == _CONTENT_LENGTH and isinstance(field.value, int):
        return replace(field, value=field.value + moved)
    return field


class _View:
    """Read-only file made of the concatenated parts."""

    closed = False

    def __init__(self, file: pa.NativeFile, parts: list[Part]) -> None:
        self._file = file
        self._parts = [part for part in parts if _length(part)]
        self._starts = list(accumulate(map(_length, self._parts), initial=0))
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._starts[-1])[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._starts[-1] if size < 0 else min(self._at + size, self._starts[-1])
        found: list[bytes] = []
        while self._at < end:
            index = bisect_right(self._starts, self._at) - 1
            skip = self._at - self._starts[index]
            part = self._parts[index]
            count = min(end, self._starts[index + 1]) - self._at
            if isinstance(part, bytes):
                found.append(part[skip : skip + count])
            else:
                found.append(read_bytes(self._file, part[0] + skip, count))
            self._at += count
        return found[0] if len(found) == 1 else b"".join(found)

    def close(self) -> None:
        """Do nothing; the caller closes the file."""


def _length(part: Part) -> int:
    return len(part) if isinstance(part, bytes) else part[1] - part[0]
