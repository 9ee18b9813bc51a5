"""ORC files, written with pyarrow.

ORC has fewer types than Paimon: TIME is stored as INT (milliseconds of the day); vectors and NOT
NULL are not supported. Java's ORC reader rejects files in which pyarrow (seen in 19 and 26) wrote
timestamps before 1970 with fractional seconds; these files are fixed before they are
written to the sink. ORC cannot represent the last second before 1970.

Spec: concepts/spec/fileformat, ORC section.

Rewrite an ORC file of pyarrow so that Java reads its timestamps before 1970.

ORC stores a timestamp as seconds since 2015 (stream DATA) and nanoseconds (stream SECONDARY). For
timestamps before 1970 with a fraction of a second, pyarrow (seen in 19 and 26) writes negative
nanoseconds, which pyarrow reads back but for which Java's reader rejects the whole file. This
module encodes both streams again, as Java does:

    seconds = floor(t), nanoseconds = t - floor(t)
    seconds + 1 is stored where t is before 1970 and its nanoseconds are above 999,999,

which all readers reverse. This encoding cannot distinguish the last second before 1970 from the
first one after it: Java writes wrong values; the writer here rejects them.

Row group positions would differ in the new streams, and pyarrow truncates the statistics of these
columns to milliseconds towards zero. Both only serve to skip rows and are omitted.

Spec: ORC specification v1, timestamp columns. Seen in: files of Java 2.0.0.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryFile
from typing import BinaryIO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pat
from pyarrow import orc

from paimon_explore.data_types.arrow import PER_SECOND, timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, fixed_values, valid_mask
from paimon_explore.data_types.definitions import (
    TIMESTAMPS,
    UNORDERED,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.traversal import entry_types, is_root, parts
from paimon_explore.encoding.orc.file_tail import OrcKind, OrcTail, OrcType, read_tail
from paimon_explore.encoding.orc.protobuf import (
    Field,
    bytes_field,
    decode_message,
    fields_of,
    int_field,
    message_of,
    number,
)
from paimon_explore.encoding.orc.reader import tail_fields, utc_view
from paimon_explore.encoding.orc.run_length import compressor, encode_runs
from paimon_explore.encoding.orc.timestamp_fixes import EPOCH_2015, LOST_NANOS, read_nanos
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.formats.nested_conversion import convert
from paimon_explore.write.formats.output_sink import ErrorHoldingSink, chosen_codec

_Codec = Literal["UNCOMPRESSED", "ZLIB", "SNAPPY", "LZ4", "ZSTD"]
_CODECS: Mapping[str, _Codec] = {
    "zstd": "ZSTD",
    "snappy": "SNAPPY",
    "zlib": "ZLIB",
    "lz4": "LZ4",
    "none": "UNCOMPRESSED",
    "uncompressed": "UNCOMPRESSED",
}
_NANOS = 10**9
_CHUNK_BYTES = 1 << 20
STRIPE_BYTES = 64 * 1024 * 1024


class OrcWriter:
    """Writes one ORC file.

    Args:
        sink: receives the bytes; it is not closed.
        fields: the columns.
        compression: the codec, as in `file.compression`.
        stripe_bytes: size of a stripe; None for the default.

    Raises:
        UnsupportedFeatureError: a column has a type that ORC does not support.
    """

    def __init__(
        self,
        sink: pa.NativeFile,
        fields: Sequence[DataField],
        *,
        compression: str,
        stripe_bytes: int | None = None,
    ) -> None:
        codec = chosen_codec(_CODECS, compression, "ORC")
        self._fields = tuple(fields)
        self._schema = pa.schema([pa.field(f.name, stored_type(f.type)) for f in fields])
        self._sink = sink
        self._spool = TemporaryFile() if any(_has_timestamps(f.type) for f in fields) else None  # noqa: SIM115  # closed with the writer
        self._has_early_times = False
        self._size: int | None = None
        self._output = ErrorHoldingSink(self._spool or sink)
        size = stripe_bytes or STRIPE_BYTES
        self._writer = orc.ORCWriter(self._output, compression=codec, stripe_size=size)  # type: ignore[arg-type]  # a file object
        self._wrote = False

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows: one array per field, in `to_arrow` of its type."""
        arrays = [
            self._stored(column, field) for column, field in zip(columns, self._fields, strict=True)
        ]
        self._writer.write(pa.Table.from_arrays(arrays, schema=self._schema))
        self._output.check()
        self._wrote = True

    def position(self) -> int:
        """Return the number of bytes written."""
        return self._output.tell() if self._size is None else self._size

    def close(self) -> None:
        """Write the footer."""
        if not self._wrote:
            self._writer.write(self._schema.empty_table())
        self._writer.close()
        self._output.check()
        if self._spool is not None:
            with self._spool as spool:
                chunks = with_java_timestamps(spool) if self._has_early_times else _chunks(spool)
                self._size = sum(self._sink.write(chunk) for chunk in chunks)

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        if self._spool is not None:
            self._spool.close()

    def _stored(self, array: Column, field: DataField) -> Column:
        """Convert values to `stored_type`."""

        def leaf(values: Column, data_type: AtomicType) -> Column:
            if data_type.root in TIMESTAMPS:
                self._has_early_times |= _has_early_fractions(values, data_type, field.name)
            is_plain = data_type.root not in {TypeRoot.TIME, TypeRoot.BLOB}
            return values if is_plain else values.cast(_stored_atom(data_type))

        stored = convert(array, field.type, leaf)
        # pyarrow (seen in 26) writes other values of a ROW with nulls whose children are slices
        return pa.concat_arrays([stored]) if pat.is_nested(stored.type) else stored


def _chunks(spool: BinaryIO) -> Iterator[bytes]:
    spool.seek(0)
    while chunk := spool.read(_CHUNK_BYTES):
        yield chunk


def _has_timestamps(data_type: DataType) -> bool:
    return any(is_root(part, *TIMESTAMPS) for part in parts(data_type))


_PARQUET = "Set file.format to parquet."


def stored_type(data_type: DataType) -> pa.DataType:
    """Return the Arrow type from which pyarrow writes Paimon's ORC layout of a type."""
    match data_type:
        case AtomicType():
            return _stored_atom(data_type)
        case ArrayType(element=element):
            return pa.list_(_child("element", element))
        case VectorType():
            raise UnsupportedFeatureError("writing VECTOR values to an ORC file", hint=_PARQUET)
        case MapType() | MultisetType():
            return _stored_map(*entry_types(data_type))
        case RowType():
            return pa.struct([_child(field.name, field.type) for field in data_type])


def _child(name: str, data_type: DataType) -> "pa.Field[pa.DataType]":
    return pa.field(name, stored_type(data_type), nullable=data_type.nullable)


def _stored_map(key: DataType, value: DataType) -> pa.DataType:
    key_field = pa.field("key", stored_type(key), nullable=False)
    found: pa.DataType = pa.map_(key_field, _child("value", value))  # type: ignore[call-overload]  # stubs know types only, not fields
    return found


def _stored_atom(data_type: AtomicType) -> pa.DataType:
    if data_type.root is TypeRoot.BLOB:
        return pa.binary()
    if data_type.root in UNORDERED:
        raise UnsupportedFeatureError(
            f"writing {data_type.root.value} values to an ORC file", hint=_PARQUET
        )
    return pa.int32() if data_type.root is TypeRoot.TIME else to_arrow(data_type)


def _has_early_fractions(array: Column, data_type: AtomicType, where: str) -> bool:
    """Whether any timestamp is before 1970 and has a fraction of a second.

    Raises:
        UnsupportedFeatureError: a timestamp is in the last second before 1970.
    """
    ticks = fixed_values(array, np.int64).astype(np.int64)
    per_second = PER_SECOND[timestamp_unit(data_type.precision)]
    fraction = ticks % per_second
    early: Bools = (ticks < 0) & (fraction != 0) & valid_mask(array)
    lost = early & (ticks > -per_second) & (fraction * (_NANOS // per_second) > LOST_NANOS)
    if lost.any():
        raise UnsupportedFeatureError(
            "writing a timestamp of the last second before 1970 to an ORC file",
            f"column {where!r}, row {int(lost.argmax())} of the batch",
            hint=f"{_PARQUET} ORC would move the value to the first second of 1970.",
        )
    return bool(early.any())


Streams = Mapping[tuple[int, int], bytes]
"""New streams by column and kind."""

_KINDS = frozenset({OrcKind.TIMESTAMP, OrcKind.TIMESTAMP_INSTANT})
_DATA, _SECONDARY, _INDEXES = 1, 5, frozenset({6, 7, 8})
_POST_FOOTER, _POST_CODEC, _POST_BLOCK, _POST_METADATA = 1, 2, 3, 5
_CONTENT_LENGTH, _STRIPES, _STATISTICS, _STRIDE = 2, 3, 7, 8
_OFFSET, _INDEX, _DATA_LENGTH, _FOOTER_LENGTH = 1, 2, 3, 4
_TIMESTAMP_STATISTICS = 9
_ZEROS_LIMIT = 7


def with_java_timestamps(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of an ORC file of pyarrow with timestamps encoded as in Java."""
    source = pa.PythonFile(file, mode="r")  # type: ignore[arg-type]  # any binary file
    tail = read_tail(source, "ORC file")
    times = {column.column for column in _columns(tail.root) if column.kind in _KINDS}
    return _File(file, tail, source, orc.ORCFile(utc_view(source, tail, times))).parts()


@dataclass(slots=True)
class _File:
    """An ORC file that is rewritten part by part.

    Attributes:
        file: the file.
        tail: its tail.
        source: the file for Arrow.
        reader: returns the stored seconds of timestamps, as integers.
    """

    file: BinaryIO
    tail: OrcTail
    source: pa.NativeFile
    reader: orc.ORCFile

    def parts(self) -> Iterator[bytes]:
        post_fields, footer, _ = tail_fields(self.source, self.tail)
        metadata = fields_of(self.tail.decompress(self.tail.metadata))
        codec = {field.number: field.value for field in post_fields}
        kind, block = int(codec.get(_POST_CODEC, 0)), int(codec.get(_POST_BLOCK, 0))
        pack = compressor(kind, block)
        columns = [column for column in _columns(self.tail.root) if column.kind in _KINDS]
        yield self._read(0, 3)
        offset = 3
        stripes: list[Field] = []
        for stripe, field in enumerate(f for f in footer if f.number == _STRIPES):
            data, stripe_footer = self._stripe(stripe, decode_message(_bytes(field)), pack)
            yield data
            yield stripe_footer
            lengths = (offset, 0, len(data), len(stripe_footer))
            heads = [int_field(n, value) for n, value in enumerate(lengths, _OFFSET)]
            rest = [f for f in fields_of(_bytes(field)) if f.number > _FOOTER_LENGTH]
            stripes.append(bytes_field(_STRIPES, message_of([*heads, *rest])))
            offset += len(data) + len(stripe_footer)
        dropped = {column.column for column in columns}
        footer = [*_without_statistics(footer, _STATISTICS, dropped)]
        at = next((i for i, f in enumerate(footer) if f.number == _STRIPES), len(footer))
        kept = [(i, f) for i, f in enumerate(footer) if f.number != _STRIPES]
        footer = [f for i, f in kept if i < at] + stripes + [f for i, f in kept if i >= at]
        footer = [_updated(field, offset) for field in footer]
        stripe_statistics = [
            replace(f, value=message_of(_without_statistics(fields_of(_bytes(f)), 1, dropped)))
            for f in metadata
        ]
        packed = pack(message_of(stripe_statistics)), pack(message_of(footer))
        yield packed[0]
        yield packed[1]
        sizes = {_POST_METADATA: len(packed[0]), _POST_FOOTER: len(packed[1])}
        post = message_of([replace(f, value=sizes.get(f.number, f.value)) for f in post_fields])
        yield post
        yield bytes([len(post)])

    def _stripe(
        self,
        stripe: int,
        information: Mapping[int, list[int | bytes]],
        pack: Callable[[bytes], bytes],
    ) -> tuple[bytes, bytes]:
        """Return the new streams of a stripe, without its indexes, and its new footer."""
        at, length = self.tail.stripe_footers[stripe]
        footer = fields_of(self.tail.decompress(self._read(at, length)))
        new = self._streams(stripe)
        offset = number(dict(information), _OFFSET)
        parts: list[bytes] = []
        fields: list[Field] = []
        for field in footer:
            if field.number != 1:
                fields.append(field)
                continue
            stream = decode_message(_bytes(field))
            kind, column, size = number(stream, 1), number(stream, 2), number(stream, 3)
            data = new.get((column, kind))
            packed = self._read(offset, size) if data is None else pack(data)
            offset += size
            if kind not in _INDEXES:
                parts.append(packed)
                head = [int_field(1, kind), int_field(2, column), int_field(3, len(packed))]
                fields.append(bytes_field(1, message_of(head)))
        return b"".join(parts), pack(message_of(fields))

    def _streams(self, stripe: int) -> Streams:
        rows = self.reader.read_stripe(stripe)
        found: dict[tuple[int, int], bytes] = {}
        for name, child in zip(self.tail.root.names, self.tail.root.children, strict=True):
            for column, stored in _seconds(rows.column(name), child):
                nanos = read_nanos(self.source, self.tail, stripe, column, len(stored))
                seconds, nanos = _as_java(stored, nanos)
                found[column, _DATA] = encode_runs(seconds, signed=True)
                found[column, _SECONDARY] = encode_runs(_encoded_nanos(nanos), signed=False)
        return found

    def _read(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        return self.file.read(size)


def _bytes(field: Field) -> bytes:
    return field.value if isinstance(field.value, bytes) else b""


def _updated(field: Field, content_length: int) -> Field:
    """Update a footer field: no row index, and a new length of the content."""
    if field.number == _STRIDE:
        return replace(field, value=0)
    return replace(field, value=content_length) if field.number == _CONTENT_LENGTH else field


def _without_statistics(fields: list[Field], number_: int, columns: set[int]) -> list[Field]:
    """Remove the timestamp statistics, but not the counts, of some columns."""
    found, column = [], -1
    for field in fields:
        if field.number == number_:
            column += 1
        if field.number == number_ and column in columns:
            inner = fields_of(_bytes(field))
            kept = [part for part in inner if part.number != _TIMESTAMP_STATISTICS]
            found.append(replace(field, value=message_of(kept)))
        else:
            found.append(field)
    return found


def _columns(node: OrcType) -> Iterator[OrcType]:
    yield node
    for child in node.children:
        yield from _columns(child)


def _seconds(array: Column, node: OrcType) -> Iterator[tuple[int, Ints]]:
    """Yield the stored seconds of each timestamp column at and below a type, without nulls."""
    if not any(column.kind in _KINDS for column in _columns(node)):
        return
    present = array.drop_null()
    if node.kind in _KINDS:
        yield node.column, fixed_values(present, np.int64).view(np.int64)
    elif isinstance(present, pa.StructArray):
        for name, child in zip(node.names, node.children, strict=True):
            yield from _seconds(present.field(name), child)
    elif isinstance(present, pa.MapArray):
        entries = pa.StructArray.from_arrays([present.keys, present.items], names=["k", "v"])
        dense = pa.ListArray.from_arrays(present.offsets, entries).flatten()
        for name, child in zip(("k", "v"), node.children, strict=True):
            yield from _seconds(dense.field(name), child)  # type: ignore[attr-defined]  # a struct array
    else:
        yield from _seconds(present.flatten(), node.children[0])  # type: ignore[attr-defined]  # a list array


def _as_java(stored: Ints, nanos: Ints) -> tuple[Ints, Ints]:
    """Return stored seconds and nanoseconds as Java writes them.

    Args:
        stored: n seconds since 2015, rounded towards zero in seconds since 1970.
        nanos: what the seconds lack; negative before 1970.
    """
    seconds = stored + EPOCH_2015 + nanos // _NANOS
    nanos = nanos % _NANOS
    return seconds + ((seconds < 0) & (nanos > LOST_NANOS)) - EPOCH_2015, nanos


def _encoded_nanos(nanos: Ints) -> Ints:
    """Strip two or more trailing zeros of nanoseconds; store their number in the low bits."""
    short, zeros = nanos.copy(), np.zeros(len(nanos), np.int64)
    ends = (nanos != 0) & (nanos % 100 == 0)
    short[ends] //= 100
    zeros[ends] = 1
    for _ in range(_ZEROS_LIMIT - 1):
        more = ends & (short % 10 == 0)
        short[more] //= 10
        zeros[more] += 1
    return (short << 3) | zeros
