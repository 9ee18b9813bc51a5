"""Writer of Avro files from Arrow columns, with the schemas of the Java writer.

Spec: concepts/spec/fileformat, avro. Seen in: golden java200 `all_types_append_avro`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, var_values
from paimon_explore.encoding.avro.column_encoder import encode_rows
from paimon_explore.encoding.avro.container import (
    BLOCK_BYTES,
    PROCESS_SYNC,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.schema import parse_avro_schema, top_record
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices

NAMESPACE = "org.apache.paimon.avro.generated"
_ROWS_AT_ONCE = 65_536
_BYTES_AT_ONCE = 256 << 20

Json: TypeAlias = "str | int | list[Json] | dict[str, Json] | None"


def avro_schema(schema: pa.Schema) -> bytes:
    """Return the schema that Java writes for a data file with these columns, as JSON.

    Raises:
        UnsupportedFeatureError: Paimon's Avro files do not support the type of a column.
    """
    fields: list[Json] = [_field(field, "record") for field in schema]
    record: Json = {"type": "record", "name": "record", "namespace": NAMESPACE, "fields": fields}
    return compact_json(record)


def compact_json(value: Json) -> bytes:
    """Format JSON without spaces, as Avro's Java library does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _field(field: "pa.Field[pa.DataType]", parent: str) -> Json:
    kind = _type(field.type, f"{parent}_{field.name}")
    if field.nullable:
        return {"name": field.name, "type": ["null", kind], "default": None}
    return {"name": field.name, "type": kind}


def _nullable(field: "pa.Field[pa.DataType]", name: str) -> Json:
    kind = _type(field.type, name)
    return ["null", kind] if field.nullable else kind


def _type(kind: pa.DataType, name: str) -> Json:
    plain = _PLAIN.get(kind)
    if plain is not None:
        return dict(plain) if isinstance(plain, Mapping) else plain
    if isinstance(kind, pa.Decimal128Type):
        return {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": kind.precision,
            "scale": kind.scale,
        }
    if isinstance(kind, pa.StructType):
        inner: list[Json] = [_field(kind.field(index), name) for index in range(kind.num_fields)]
        return {"type": "record", "name": name, "fields": inner}
    if isinstance(kind, pa.MapType):
        return _map(kind, name)
    if isinstance(kind, pa.ListType | pa.FixedSizeListType):
        return {"type": "array", "items": _nullable(kind.value_field, name)}
    raise UnsupportedFeatureError(f"type {kind} in Avro files")


def _map(kind: "pa.MapType[pa.DataType, pa.DataType]", name: str) -> Json:
    """Return the schema of a map; Java makes the non-null counts of a multiset nullable."""
    if kind.item_type == pa.int32():
        kind = pa.map_(kind.key_type, pa.int32())
    if kind.key_type == pa.string():
        return {"type": "map", "values": _nullable(kind.item_field, name)}
    key: Json = {"name": "key", "type": _type(kind.key_type, f"{name}_key")}
    value: Json = {"name": "value", "type": _nullable(kind.item_field, f"{name}_value")}
    if kind.item_field.nullable:
        value = {
            "name": "value",
            "type": _nullable(kind.item_field, f"{name}_value"),
            "default": None,
        }
    record: Json = {"type": "record", "name": name, "fields": [key, value]}
    return {"type": "array", "items": record, "logicalType": "map"}


_PLAIN: Mapping[pa.DataType, str | Mapping[str, str]] = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "bytes",
    pa.large_binary(): "bytes",
    pa.date32(): {"type": "int", "logicalType": "date"},
    pa.time32("ms"): {"type": "int", "logicalType": "time-millis"},
    pa.timestamp("s"): {"type": "long", "logicalType": "timestamp-millis"},
    pa.timestamp("ms"): {"type": "long", "logicalType": "timestamp-millis"},
    pa.timestamp("us"): {"type": "long", "logicalType": "timestamp-micros"},
    pa.timestamp("s", "UTC"): {"type": "long", "logicalType": "local-timestamp-millis"},
    pa.timestamp("ms", "UTC"): {"type": "long", "logicalType": "local-timestamp-millis"},
    pa.timestamp("us", "UTC"): {"type": "long", "logicalType": "local-timestamp-micros"},
}


class AvroWriter:
    """Writes a container batch by batch.

    Blocks have about 64 kB, as in Java, so that readers can process many at once.

    Attributes:
        size: bytes written so far, without the current block.
        rows: number of rows added so far.
    """

    def __init__(
        self, write: Callable[[bytes], object], schema: bytes, codec: str = "zstandard"
    ) -> None:
        """Write the header.

        Args:
            write: writes the next bytes of the file.
            schema: schema of the records, JSON.
            codec: `null`, `deflate`, `snappy`, `zstandard`, `bzip2` or `xz`.
        """
        self._record = top_record(parse_avro_schema(schema))
        self._codec = codec
        self._sync = PROCESS_SYNC
        self._sink = write
        self._open: list[bytes] = []
        self._open_rows = 0
        self._open_bytes = 0
        self.size = 0
        self.rows = 0
        self._put(write_header(schema, codec, self._sync))

    def write(self, columns: Sequence[Column]) -> None:
        """Add n rows, given as the record's columns in order."""
        count = len(columns[0]) if columns else 0
        size = sum(column.nbytes for column in columns)
        step = max(1, min(_ROWS_AT_ONCE, count * _BYTES_AT_ONCE // max(1, size)))
        for first in range(0, count, step):
            self._write_some([column.slice(first, step) for column in columns])
        self.rows += count

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch; its columns are matched by name."""
        names = [name for name, _ in self._record.fields]
        known = set(batch.schema.names)
        missing = [name for name in names if name not in known]
        if missing:
            raise InvalidInputError(f"The rows lack the columns {choices(missing)}.")
        self.write([batch.column(name) for name in names])

    def close(self) -> None:
        """Write the last block; the sink stays open."""
        if self._open_rows:
            self._flush()

    def _write_some(self, columns: Sequence[Column]) -> None:
        rows = encode_rows(columns, self._record)
        ends, data = var_values(rows)
        first = 0
        while first < len(rows):
            target = ends[first] + max(1, BLOCK_BYTES - self._open_bytes)
            last = min(int(np.searchsorted(ends, target, side="left")), len(rows))
            self._open.append(data[ends[first] : ends[last]].tobytes())
            self._open_rows += last - first
            self._open_bytes += int(ends[last] - ends[first])
            if self._open_bytes >= BLOCK_BYTES:
                self._flush()
            first = last

    def _flush(self) -> None:
        data = b"".join(self._open)
        self._put(write_block(self._open_rows, data, self._codec, self._sync))
        self._open, self._open_rows, self._open_bytes = [], 0, 0

    def _put(self, data: bytes) -> None:
        self._sink(data)
        self.size += len(data)


def write_avro(schema: bytes, columns: Sequence[Column], codec: str = "zstandard") -> bytes:
    """Encode a container.

    Args:
        schema: schema of the records, JSON.
        columns: the record's columns in order, each of n values.
        codec: `null`, `deflate`, `snappy`, `zstandard`, `bzip2` or `xz`.
    """
    parts: list[bytes] = []
    writer = AvroWriter(parts.append, schema, codec)
    writer.write(columns)
    writer.close()
    return b"".join(parts)
