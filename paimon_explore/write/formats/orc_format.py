"""ORC files, written with pyarrow.

ORC has fewer types than Paimon: TIME is stored as INT (milliseconds of the day); vectors and NOT
NULL are not supported. Java's ORC reader rejects files in which pyarrow (seen in 19 and 26) wrote
timestamps before 1970 with fractional seconds; `orc_timestamps` fixes these files before they are
written to the sink. ORC cannot represent the last second before 1970.

Spec: concepts/spec/fileformat, ORC section.
"""

from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import BinaryIO, Literal

import numpy as np
import pyarrow as pa
from pyarrow import orc

from paimon_explore.data_types.arrow import timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Column, fixed_values, valid_mask
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
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.write.formats.error_holding_sink import ErrorHoldingSink
from paimon_explore.write.formats.nested_conversion import COUNT, convert
from paimon_explore.write.formats.orc_timestamps import LOST_NANOS, with_java_timestamps

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
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


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
        codec = _CODECS.get(compression.lower())
        if codec is None:
            raise InvalidInputError(
                f"{compression!r} is not a compression codec for ORC files.",
                hint=f"Set file.compression to one of {choices(_CODECS)}.",
            )
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
            return values.cast(pa.int32()) if data_type.root is TypeRoot.TIME else values

        return convert(array, field.type, leaf)


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
        case MapType(key=key, value=value):
            return _stored_map(key, value)
        case MultisetType(element=element):
            return _stored_map(element, COUNT)
        case RowType():
            return pa.struct([_child(field.name, field.type) for field in data_type])


def _child(name: str, data_type: DataType) -> "pa.Field[pa.DataType]":
    return pa.field(name, stored_type(data_type), nullable=data_type.nullable)


def _stored_map(key: DataType, value: DataType) -> pa.DataType:
    key_field = pa.field("key", stored_type(key), nullable=False)
    found: pa.DataType = pa.map_(key_field, _child("value", value))  # type: ignore[call-overload]  # stubs know types only, not fields
    return found


def _stored_atom(data_type: AtomicType) -> pa.DataType:
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
    per_second = _PER_SECOND[timestamp_unit(data_type.precision)]
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
