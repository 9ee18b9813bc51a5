"""Parquet files in Paimon's layout, written through pyarrow.

What differs from pyarrow's own layout, per type:

| type | here |
| --- | --- |
| every field | `field_id`: the column's id; elements of lists and maps derive theirs from it |
| TIMESTAMP, LTZ of precision 0 | milliseconds, for Parquet knows no seconds |
| TIMESTAMP, LTZ of precision 7 to 9 | INT96: Java up to 1.4.2 takes INT64 nanoseconds for millis |
| DECIMAL | INT32 or INT64 when it fits, else the shortest fixed-length binary |
| VECTOR | a LIST, as Java writes it |

No Arrow schema is stored in the file: it would name types that the pages do not have.

Spec: concepts/spec/fileformat, Parquet section. Seen in: golden java-2.0.0/append_all_types.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, build_fixed, fixed_values, valid_mask
from paimon_explore.data_types.definitions import (
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
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.formats.int96_footer import Path, mark_int96
from paimon_explore.write.formats.nested_conversion import COUNT, convert

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
_REPETITIVE = 0.5
_TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_GEO = frozenset({TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY})
Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
Field: TypeAlias = "pa.Field[pa.DataType]"
_VARIANT_CHILDREN = (("value", 0), ("metadata", 1))


class ParquetWriter:
    """Writes one Parquet file, row group by row group.

    Args:
        sink: takes the bytes; stays open.
        fields: the columns with their ids.
        compression: a Paimon codec name.
        zstd_level: of the codec zstd.
    """

    def __init__(
        self,
        sink: pa.NativeFile,
        fields: Sequence[DataField],
        *,
        compression: str,
        zstd_level: int = 1,
    ) -> None:
        self._shape = _shape_of(tuple(fields))
        self._codec = _codec(compression)
        self._level = zstd_level if self._codec in _LEVELLED else None
        self._writer: pq.ParquetWriter | None = None
        self._sink = _EndingSink(sink)  # also because pyarrow would close a sink of its own kind

    def write(self, columns: Sequence[Column]) -> None:
        """Write rows as one row group: one array per field, in `to_arrow` of its type."""
        shape = self._shape
        arrays = [
            column if changing is None else convert(column, changing, _physical_values)
            for column, changing in zip(columns, shape.changing, strict=True)
        ]
        table = pa.Table.from_arrays(arrays, schema=shape.schema)
        if self._writer is None:
            self._writer = self._open(table)
        self._writer.write_table(table, row_group_size=max(len(table), 1))

    def _open(self, first: pa.Table) -> pq.ParquetWriter:
        shape = self._shape
        return pq.ParquetWriter(
            self._sink,  # type: ignore[arg-type]  # has what pyarrow calls
            shape.schema,
            compression=self._codec,
            compression_level=self._level,
            use_dictionary=[  # type: ignore[arg-type]  # a list of columns is documented
                ".".join(path) for path in shape.leaves if len(path) > 1 or _repeats(first[path[0]])
            ],
            write_statistics=(
                [".".join(path) for path in shape.leaves if path not in shape.int96]
                if shape.int96
                else True
            ),
            store_schema=False,
            store_decimal_as_integer=True,
        )

    def position(self) -> int:
        """Bytes written so far."""
        return self._sink.tell()

    def close(self) -> None:
        """Write the footer."""
        if self._writer is None:
            self._writer = self._open(self._shape.schema.empty_table())
        if not self._shape.int96:
            self._writer.close()
            return
        self._sink.hold_back()
        self._writer.close()
        self._sink.release(mark_int96(self._sink.held(), self._shape.int96))

    def abort(self) -> None:
        """Let go of the writer without caring for what it writes."""
        if self._writer is not None:
            self._sink.hold_back()
            self._writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """How columns lie in a file.

    Attributes:
        schema: their Arrow types and numbers.
        leaves: the paths of the leaf columns.
        int96: those that are stored as INT96.
        changing: of each column its type, if its values are stored in another Arrow type.
    """

    schema: pa.Schema
    leaves: tuple[Path, ...]
    int96: tuple[Path, ...]
    changing: tuple[DataType | None, ...]


@lru_cache(maxsize=64)
def _shape_of(fields: tuple[DataField, ...]) -> _Shape:
    leaves = [leaf for field in fields for leaf in _leaves(field.type, (field.name,))]
    return _Shape(
        schema=pa.schema([_physical_field(field, field.id, 0) for field in fields]),
        leaves=tuple(path for path, _ in leaves),
        int96=tuple(path for path, stored in leaves if stored == _INT96),
        changing=tuple(field.type if _changes(field.type) else None for field in fields),
    )


class _EndingSink:
    """Passes bytes on, and can keep the last ones back so that they may be changed."""

    def __init__(self, sink: pa.NativeFile) -> None:
        self._sink = sink
        self._held: list[bytes] | None = None
        self._position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Pass bytes on or keep them."""
        size = len(data)
        if self._held is None:
            self._sink.write(data)
        else:
            self._held.append(bytes(data))
        self._position += size
        return size

    def tell(self) -> int:
        """Bytes taken so far."""
        return self._position

    def flush(self) -> None:
        """Nothing to do: the owner of the sink flushes it."""

    def close(self) -> None:
        """Nothing to do: the owner of the sink closes it."""

    def readable(self) -> bool:
        """It is not."""
        return False

    def writable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is not."""
        return False

    def hold_back(self) -> None:
        """Keep bytes from now on."""
        self._held = []

    def held(self) -> bytes:
        """The bytes kept so far."""
        return b"".join(self._held or [])

    def release(self, ending: bytes) -> None:
        """Pass other bytes on in the place of those kept."""
        self._position += len(ending) - len(self.held())
        self._held = None
        self._sink.write(ending)


def _codec(compression: str) -> _Codec:
    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise InvalidInputError(
            f"{compression!r} is not a compression of Parquet files.",
            hint=f"Set file.compression to one of {choices(_CODECS)}.",
        )
    return codec


def _repeats(column: Chunks) -> bool:
    """Whether a dictionary pays: the first rows hold few distinct values."""
    if len(column) <= 1:
        return len(column) == 0
    sample = column.slice(0, _SAMPLE_ROWS).combine_chunks()
    return pc.count_distinct(sample, mode="all").as_py() <= len(sample) * _REPETITIVE


def physical_type(data_type: DataType, field_id: int, depth: int = 0) -> pa.DataType:
    """The Arrow type that pyarrow stores in Paimon's Parquet layout of a type.

    Args:
        data_type: the column's type or a part of it.
        field_id: of the nearest enclosing field.
        depth: levels of lists and maps between that field and this type.
    """
    match data_type:
        case AtomicType():
            return _physical_atom(data_type)
        case ArrayType(element=element) | VectorType(element=element):
            return pa.list_(_element_field("element", element, field_id, depth + 1))
        case MapType(key=key, value=value):
            return _physical_map(key, value, field_id, depth + 1)
        case MultisetType(element=element):
            return _physical_map(element, COUNT, field_id, depth + 1)
        case RowType(fields=()):
            raise UnsupportedFeatureError(
                "a ROW without fields in a Parquet file", hint="Add a field to it."
            )
        case RowType():
            return pa.struct([_physical_field(field, field.id, 0) for field in data_type])


def _physical_atom(data_type: AtomicType) -> pa.DataType:
    if data_type.root in _GEO:
        raise UnsupportedFeatureError(f"writing {data_type.root.value} columns")
    if data_type.root is TypeRoot.VARIANT:
        return pa.struct(
            [_numbered(pa.field(n, pa.binary(), nullable=False), i) for n, i in _VARIANT_CHILDREN]
        )
    if data_type.root is TypeRoot.BLOB:
        return pa.binary()
    if data_type.root not in _TIMESTAMPS:
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


def _changes(data_type: DataType) -> bool:
    """Whether values of this type are stored in another Arrow type than `to_arrow` gives."""
    match data_type:
        case AtomicType():
            return not _physical_atom(data_type).equals(to_arrow(data_type))
        case ArrayType(element=element) | MultisetType(element=element):
            return _changes(element)
        case VectorType():
            return True
        case MapType(key=key, value=value):
            return _changes(key) or _changes(value)
        case RowType():
            return any(_changes(field.type) for field in data_type)


def _physical_values(array: Column, data_type: AtomicType) -> Column:
    target = _physical_atom(data_type)
    if target == _INT96:
        return _int96(array)
    return array if target.equals(array.type) else array.cast(target)


def _int96(array: Column) -> Column:
    """Nanoseconds since the epoch as nanoseconds of the day and Julian day, 12 bytes each."""
    nanos = fixed_values(array, np.int64).astype(np.int64)
    days = nanos // _NANOS_PER_DAY
    out = np.empty(len(array), dtype=_INT96_DTYPE)
    out["nanos"] = nanos - days * _NANOS_PER_DAY
    out["day"] = days + _JULIAN_EPOCH_DAY
    return build_fixed(_INT96, out, valid_mask(array))


def _leaves(data_type: DataType, path: Path) -> list[tuple[Path, pa.DataType]]:
    match data_type:
        case AtomicType(root=TypeRoot.VARIANT):
            return [((*path, name), pa.binary()) for name, _ in _VARIANT_CHILDREN]
        case AtomicType():
            return [(path, _physical_atom(data_type))]
        case ArrayType(element=element) | VectorType(element=element):
            return _leaves(element, (*path, "list", "element"))
        case MapType(key=key, value=value):
            return _map_leaves(key, value, path)
        case MultisetType(element=element):
            return _map_leaves(element, COUNT, path)
        case RowType():
            return [leaf for f in data_type for leaf in _leaves(f.type, (*path, f.name))]


def _map_leaves(key: DataType, value: DataType, path: Path) -> list[tuple[Path, pa.DataType]]:
    return [
        *_leaves(key, (*path, "key_value", "key")),
        *_leaves(value, (*path, "key_value", "value")),
    ]
