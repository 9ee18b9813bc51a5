"""Parquet files in Paimon's layout, written with pyarrow.

Differences from pyarrow's default layout:

| type | layout |
| --- | --- |
| every field | `field_id` is the column's id; ids of list and map elements are derived from it |
| TIMESTAMP, LTZ of precision 0 | milliseconds, since Parquet has no seconds |
| TIMESTAMP, LTZ of precision 7 to 9 | INT96: Java up to 1.4.2 reads INT64 nanoseconds as millis |
| DECIMAL | INT32 or INT64 if it fits, else the shortest fixed-length binary |
| VECTOR | a LIST, as in Java |

Columns whose values do not compress can be stored uncompressed; see `_is_incompressible`.

The file has no Arrow schema, whose types would differ from those of the pages; only
`shredded_parquet` adds one.

Spec: concepts/spec/fileformat, Parquet section. Seen in: golden java-2.0.0/append_all_types.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_buffer,
    as_python,
    build_fixed,
    empty_array,
    fixed_values,
    list_offsets,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    SPATIAL,
    TIMESTAMPS,
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
from paimon_explore.data_types.field_ids import element_id, map_key_id
from paimon_explore.data_types.traversal import entry_types, parts
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.file_layout import cached_by_identity
from paimon_explore.write.formats.footer_types import Path, with_types
from paimon_explore.write.formats.nested_conversion import convert
from paimon_explore.write.formats.output_sink import OutputSink, chosen_codec

_Codec = Literal["gzip", "brotli", "lz4", "zstd", "snappy", "none"]
_CODECS: Mapping[str, _Codec] = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "brotli": "brotli",
    "none": "none",
    "uncompressed": "none",
}
_LEVELLED = frozenset({"zstd"})
_INT96 = pa.binary(12)
_INT96_DTYPE = np.dtype([("nanos", "<i8"), ("day", "<i4")])
_NANOS_PER_DAY = 86_400_000_000_000
_JULIAN_EPOCH_DAY = 2_440_588
_MICRO_DIGITS = 6
_SAMPLE_ROWS = 4096
_MIN_SAMPLE_ROWS = 256
_ROWS_PER_SAMPLE = 4
"""A sample has one of this many rows, within these limits; counting all of a small file is slow."""
_REPETITIVE = 0.5
"""Share of distinct values in a sample up to which dictionary encoding pays."""
_FEW_DISTINCT = 16
"""Dictionary encoding also pays if values recur this often on average: a sample hardly shows it."""
Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
Field: TypeAlias = "pa.Field[pa.DataType]"
_VARIANT_CHILDREN = (("value", 0), ("metadata", 1))
MIN_ROWS = 4096
"""Number of rows from which on the sample costs less than compressing the column would."""
_MIN_SAVED = 1 / 8
"""Share of the size that compression must save."""
_MIN_SAMPLE, _MAX_SAMPLE = 8 << 10, 128 << 10
_SAMPLE_SHARE = 8
"""A sample has one of this many parts of a column, within these limits, in bytes."""
_MIN_BITS = 32
_FEW_ROWS = 64
"""Number of rows up to which a Python set is faster."""
_FEW_COLUMNS = 8
_COLUMNS_AT_ONCE = 64
_WIDTHS = frozenset({8, 16, 32, 64})
_DTYPES = {width: np.dtype(f"<u{width // 8}") for width in _WIDTHS}


class ParquetWriter:
    """Writes one Parquet file, row group by row group.

    Args:
        sink: receives the bytes; it is not closed.
        fields: the columns with their ids.
        compression: the codec, as in `file.compression`.
        zstd_level: compression level of zstd.
        adaptive: whether columns that zstd hardly compresses are stored uncompressed.
    """

    def __init__(
        self,
        sink: pa.NativeFile,
        fields: Sequence[DataField],
        *,
        compression: str,
        zstd_level: int = 1,
        adaptive: bool = False,
    ) -> None:
        self._shape = _shape_of(tuple(fields))  # a tuple is not copied
        self._codec = chosen_codec(_CODECS, compression, "Parquet")
        self._level = zstd_level if self._codec in _LEVELLED else None
        self._adaptive = adaptive and self._codec in _LEVELLED
        self._writer: pq.ParquetWriter | None = None
        self._sink = sink
        self._size: int | None = None
        self._footer_sink = _FooterSink(sink) if self._shape.retyped else None

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows as one row group: one array per field, in `to_arrow` of its type."""
        shape = self._shape
        arrays = [
            column if data_type is None else convert(column, data_type, _physical_values)
            for column, data_type in zip(columns, shape.converted, strict=True)
        ]
        table = pa.Table.from_arrays(arrays, schema=shape.schema)
        if self._writer is None:
            self._writer = self._open(arrays)
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def _open(self, first: Sequence[Column]) -> pq.ParquetWriter:
        shape = self._shape
        leaves = [leaf for column in first for leaf in _leaf_values(column)]
        repetitive = _repetitive(leaves, shape.widths)
        codec, level = self._codecs(leaves, repetitive)
        return pq.ParquetWriter(
            self._footer_sink or self._sink,  # type: ignore[arg-type]  # a file object
            shape.schema,
            compression=codec,
            compression_level=level,
            use_dictionary=[  # type: ignore[arg-type]  # a list of columns is documented
                name for name, found in zip(shape.names, repetitive, strict=True) if found
            ],
            write_statistics=(
                [".".join(path) for path in shape.leaves if path not in shape.retyped]
                if shape.retyped
                else True
            ),
            store_schema=False,
            store_decimal_as_integer=True,
        )

    def _codecs(
        self, leaves: Sequence[Column], repetitive: Sequence[bool]
    ) -> tuple[_Codec | dict[str, _Codec], int | dict[str, int] | None]:
        """Return the codec and its level, of the file or by leaf column."""
        if not self._adaptive or self._level is None:
            return self._codec, self._level
        names = self._shape.names
        codec = pa.Codec("zstd", self._level)
        stored = {
            name
            for name, column, width, is_repetitive in zip(
                names, leaves, self._shape.widths, repetitive, strict=True
            )
            if not is_repetitive and _is_incompressible(column, width, codec)
        }
        if not stored:
            return self._codec, self._level
        codecs: dict[str, _Codec] = {
            name: "none" if name in stored else self._codec for name in names
        }
        return codecs, {name: self._level for name in names if name not in stored}

    def position(self) -> int:
        """Return the number of bytes written."""
        if self._size is not None:
            return self._size
        return self._sink.tell() if self._footer_sink is None else self._footer_sink.tell()

    @property
    def schema(self) -> pa.Schema:
        """The columns of the file; INT96 columns are binaries of 12 bytes."""
        return self._shape.schema

    def close(self, metadata: Mapping[str, str] | None = None) -> None:
        """Write the footer.

        Args:
            metadata: key-value metadata of the file, if any.
        """
        if self._writer is None:
            self._writer = self._open([pa.nulls(0, field.type) for field in self._shape.schema])
        if metadata is not None:
            self._writer.add_key_value_metadata(dict(metadata))
        if self._footer_sink is None:
            self._writer.close()
        else:
            self._footer_sink.start_buffering()
            self._writer.close()
            ending = with_types(self._footer_sink.buffered(), self._shape.retyped)
            self._footer_sink.write_instead(ending)
        self._size = self.position()

    def abort(self) -> None:
        """Discard the writer and its pending bytes."""
        if self._writer is not None:
            if self._footer_sink is not None:
                self._footer_sink.start_buffering()
            self._writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """The layout of columns in a file.

    Attributes:
        schema: Arrow types and field ids of the columns.
        leaves: paths of the leaf columns.
        retyped: leaf columns by path whose type is set in the footer; see `with_types`.
        converted: the type of each column whose values are stored in another Arrow type; else None.
        names: names of the leaf columns: their paths with dots.
        widths: `bit_width` of each leaf column.
    """

    schema: pa.Schema
    leaves: tuple[Path, ...]
    retyped: Mapping[Path, AtomicType]
    converted: tuple[DataType | None, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]


@cached_by_identity
def _shape_of(fields: tuple[DataField, ...]) -> _Shape:
    leaves = [leaf for field in fields for leaf in _leaves(field.type, (field.name,))]
    schema = pa.schema([_physical_field(field, field.id, 0) for field in fields])
    return _Shape(
        schema=schema,
        leaves=tuple(path for path, _ in leaves),
        retyped={
            path: kind
            for path, kind in leaves
            if kind.root in SPATIAL or (kind.root in TIMESTAMPS and _physical_atom(kind) == _INT96)
        },
        converted=tuple(field.type if _is_converted(field.type) else None for field in fields),
        names=tuple(".".join(path) for path, _ in leaves),
        widths=tuple(
            bit_width(leaf.type)
            for kind in schema.types
            for leaf in _leaf_values(empty_array(kind))
        ),
    )


class _FooterSink(OutputSink):
    """A sink that can buffer the last bytes of a file so that they can be changed."""

    def __init__(self, sink: pa.NativeFile) -> None:
        super().__init__(sink)
        self._buffer: list[bytes] | None = None

    def write(self, data: bytes) -> int:
        """Forward or buffer bytes."""
        if self._buffer is None:
            return super().write(data)
        self._buffer.append(bytes(data))
        self._position += len(data)
        return len(data)

    def start_buffering(self) -> None:
        """Buffer all further bytes."""
        self._buffer = []

    def buffered(self) -> bytes:
        """Return the buffered bytes."""
        return b"".join(self._buffer or [])

    def write_instead(self, ending: bytes) -> None:
        """Write other bytes instead of the buffered ones."""
        self._position += len(ending) - len(self.buffered())
        self._buffer = None
        self._sink.write(ending)


def _leaf_values(column: Column) -> list[Column]:
    """Return the values of each leaf column of a column."""
    if isinstance(column, pa.StructArray):
        return [leaf for child in column.flatten() for leaf in _leaf_values(child)]
    if isinstance(column, pa.ListArray):  # or a map
        first, last = list_offsets(column)[[0, -1]].tolist()
        return _leaf_values(column.values.slice(first, last - first))
    return [column]


def _repetitive(leaves: Sequence[Column], widths: Sequence[int]) -> list[bool]:
    """For each leaf column whether dictionary encoding pays: few distinct values in a sample."""
    if max(map(len, leaves), default=0) <= 1:
        return [not len(leaf) for leaf in leaves]
    size = min(_SAMPLE_ROWS, max(max(map(len, leaves)) // _ROWS_PER_SAMPLE, _MIN_SAMPLE_ROWS))
    samples = [_some_values(leaf, size) for leaf in leaves]
    return [
        count <= len(sample) * _REPETITIVE or (count < len(sample) and _recurs(leaf))
        for leaf, sample, count in zip(
            leaves, samples, distinct_counts(samples, widths), strict=True
        )
    ]


def _some_values(column: Column, count: int) -> Column:
    """Return about the first values of a column that are not null, at most `count`."""
    if not column.null_count:
        return column.slice(0, count)
    known = max(len(column) - column.null_count, 1)
    return column.slice(0, count * len(column) // known).drop_null().slice(0, count)


def _recurs(column: Column) -> bool:
    """Whether each value recurs often, estimated from how many occur once and twice in a sample.

    The sample is taken from all rows: values that recur are often close to each other.
    """
    size = len(column) - column.null_count
    if size < _SAMPLE_ROWS * _FEW_DISTINCT:
        return False
    rows = _SAMPLE_ROWS * len(column) // size
    places = np.random.default_rng(0).integers(0, len(column), rows)
    sample = take_rows(column, places).drop_null()
    counts = fixed_values(pc.value_counts(sample).field(1), np.int64)
    once, twice = np.bincount(counts, minlength=3)[1:3].tolist()
    estimate = len(counts) + once * once / (2 * max(twice, 1))  # by Chao
    return bool(estimate <= size / _FEW_DISTINCT)


def physical_type(data_type: DataType, field_id: int, depth: int = 0) -> pa.DataType:
    """Return the Arrow type from which pyarrow writes Paimon's Parquet layout of a type.

    Args:
        data_type: the column's type or a part of it.
        field_id: id of the nearest enclosing field.
        depth: levels of lists and maps between that field and this type.
    """
    match data_type:
        case AtomicType():
            return _physical_atom(data_type)
        case ArrayType(element=element) | VectorType(element=element):
            return pa.list_(_element_field("element", element, field_id, depth + 1))
        case MapType() | MultisetType():
            return _physical_map(*entry_types(data_type), field_id, depth + 1)
        case RowType(fields=()):
            raise UnsupportedFeatureError(
                "writing a ROW without fields to a Parquet file", hint="Add a field to the ROW."
            )
        case RowType():
            return pa.struct([_physical_field(field, field.id, 0) for field in data_type])


def _physical_atom(data_type: AtomicType) -> pa.DataType:
    if data_type.root is TypeRoot.VARIANT:
        return pa.struct(
            [_numbered(pa.field(n, pa.binary(), nullable=False), i) for n, i in _VARIANT_CHILDREN]
        )
    if data_type.root is TypeRoot.BLOB:
        return pa.binary()
    if data_type.root not in TIMESTAMPS:
        return to_arrow(data_type)
    precision = data_type.precision or 0
    if precision > _MICRO_DIGITS:
        return _INT96
    if precision > 0:
        return to_arrow(data_type)
    return pa.timestamp("ms", tz="UTC" if data_type.root is TypeRoot.TIMESTAMP_LTZ else None)


def _physical_field(field: DataField, field_id: int, depth: int) -> Field:
    arrow = pa.field(
        field.name, physical_type(field.type, field_id, depth), nullable=field.type.nullable
    )
    return _numbered(arrow, field_id)


def _element_field(name: str, data_type: DataType, field_id: int, depth: int) -> Field:
    arrow = pa.field(name, physical_type(data_type, field_id, depth), nullable=data_type.nullable)
    return _numbered(arrow, element_id(field_id, depth))


def _physical_map(key: DataType, value: DataType, field_id: int, depth: int) -> pa.DataType:
    key_field = _numbered(
        pa.field("key", physical_type(key, field_id, depth), nullable=False),
        map_key_id(field_id, depth),
    )
    item_field = _element_field("value", value, field_id, depth)
    found: pa.DataType = pa.map_(key_field, item_field)  # type: ignore[call-overload]  # stubs know types only, not fields
    return found


def _numbered(field: Field, field_id: int) -> Field:
    return field.with_metadata({b"PARQUET:field_id": str(field_id).encode()})


def _is_converted(data_type: DataType) -> bool:
    """Whether values of this type are stored in another Arrow type than `to_arrow(data_type)`."""
    return any(
        not _physical_atom(part).equals(to_arrow(part))
        if isinstance(part, AtomicType)
        else isinstance(part, VectorType)
        for part in parts(data_type)
    )


def _physical_values(array: Column, data_type: AtomicType) -> Column:
    target = _physical_atom(data_type)
    if target == _INT96:
        return _int96(array)
    return array if target.equals(array.type) else array.cast(target)


def _int96(array: Column) -> Column:
    """Convert nanoseconds since the epoch to nanoseconds of the day and Julian day, 12 bytes."""
    nanos = fixed_values(array, np.int64).astype(np.int64)
    days = nanos // _NANOS_PER_DAY
    out = np.empty(len(array), dtype=_INT96_DTYPE)
    out["nanos"] = nanos - days * _NANOS_PER_DAY
    out["day"] = days + _JULIAN_EPOCH_DAY
    return build_fixed(_INT96, out, valid_mask(array))


def _leaves(data_type: DataType, path: Path) -> list[tuple[Path, AtomicType]]:
    match data_type:
        case AtomicType(root=TypeRoot.VARIANT):
            return [((*path, name), data_type) for name, _ in _VARIANT_CHILDREN]
        case AtomicType():
            return [(path, data_type)]
        case ArrayType(element=element) | VectorType(element=element):
            return _leaves(element, (*path, "list", "element"))
        case MapType() | MultisetType():
            key, value = entry_types(data_type)
            return [
                *_leaves(key, (*path, "key_value", "key")),
                *_leaves(value, (*path, "key_value", "value")),
            ]
        case RowType():
            return [leaf for f in data_type for leaf in _leaves(f.type, (*path, f.name))]


# Compressing and decompressing such values costs several times what Arrow needs to encode and
# decode them, and saves almost nothing. Parquet has a codec per column chunk, so they are stored
# uncompressed. A sample decides: its bytes are as a page stores them (PLAIN encoding).
def _is_incompressible(column: Column, width: int, codec: pa.Codec) -> bool:
    """Whether compression would save less than an eighth of the size of a column's values."""
    known = len(column) - column.null_count
    if known < MIN_ROWS or width < _MIN_BITS:
        return False
    size = min(max(known * width // 8 // _SAMPLE_SHARE, _MIN_SAMPLE), _MAX_SAMPLE)
    values = _some_values(column, size * 8 // width)
    sample = fixed_values(values, _DTYPES[width])
    return codec.compress(as_buffer(sample)).size > sample.nbytes * (1 - _MIN_SAVED)


# Columns of the same width and length are sorted together. A null is a value; floating-point
# values are compared by their bits, as `pyarrow.compute.count_distinct` does.
def bit_width(data_type: pa.DataType) -> int:
    """Return the bits of a value if values can be compared as integers; else 0."""
    try:
        found = data_type.bit_width
    except ValueError:  # the width varies
        return 0
    return found if found in _WIDTHS else 0


def distinct_counts(columns: Sequence[Column], widths: Sequence[int]) -> list[int]:
    """Return the number of distinct values of each column.

    Args:
        columns: the columns.
        widths: the `bit_width` of each column.
    """
    counts = [0] * len(columns)
    alike: dict[tuple[int, int], list[int]] = {}
    for at, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if width and not column.null_count:
            alike.setdefault((width, len(column)), []).append(at)
        else:
            counts[at] = _count(column)
    for (width, size), positions in alike.items():
        dtype = _DTYPES[width]
        values = [fixed_values(columns[at], dtype) for at in positions]
        if len(values) <= _FEW_COLUMNS and size <= _FEW_ROWS:
            for at, one in zip(positions, values, strict=True):
                counts[at] = len(set(one.tolist()))
            continue
        for first in range(0, len(positions), _COLUMNS_AT_ONCE):
            rows = np.stack(values[first : first + _COLUMNS_AT_ONCE])
            rows.sort(axis=1)
            found = np.count_nonzero(rows[:, 1:] != rows[:, :-1], axis=1) + min(size, 1)
            for at, count in zip(positions[first:], found.tolist(), strict=False):
                counts[at] = count
    return counts


def _count(column: Column) -> int:
    is_text = pa.types.is_string(column.type) or pa.types.is_binary(column.type)
    if is_text and len(column) <= _FEW_ROWS:
        return len(set(as_python(column)))
    return pc.count_distinct(column, mode="all").as_py()
