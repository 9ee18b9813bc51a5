"""Writer of Avro files from Arrow columns, with the schemas of the Java writer.

Spec: concepts/spec/fileformat, avro. Seen in: golden java200 `all_types_append_avro`.

Vectorized encoder of Arrow arrays to Avro values: one binary value per row, column by column.

Each column is encoded to a binary array; records are the row-wise concatenations of these arrays,
computed by Arrow. The items of arrays are encoded as one column; the bytes of a row's items are
consecutive in it, so they are grouped by new offsets.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Bytes,
    Column,
    Ints,
    as_buffer,
    bool_values,
    build_binary,
    filter_rows,
    fixed_values,
    list_offsets,
    offsets_from_sizes,
    valid_mask,
    var_values,
)
from paimon_explore.encoding.avro.container import (
    BLOCK_BYTES,
    PROCESS_SYNC,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.schema import (
    ArrayNode,
    AvroNode,
    EnumNode,
    MapNode,
    OptionalNode,
    PlainNode,
    Primitive,
    RecordNode,
    RecursiveNode,
    UnionNode,
    parse_avro_schema,
    top_record,
    unsupported,
)
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


Encoded: TypeAlias = pa.BinaryArray


_LONG_BYTES = 10
_DECIMAL_BYTES = 16


def encode_values(array: Column, node: AvroNode, where: str) -> Encoded:
    """Encode the values of a column.

    Args:
        array: n values.
        node: their type in the file.
        where: the column, for errors.

    Returns:
        n binary values, none null.

    Raises:
        InvalidInputError: a value is null but the type is not nullable, or the type does not fit.
    """
    if isinstance(node, OptionalNode):
        return _encode_optional(array, node, where)
    if array.null_count:
        raise InvalidInputError(f"Column {where!r} is NOT NULL, but contains null.")
    match node:
        case PlainNode():
            return _encode_plain(array, node, where)
        case RecordNode():
            return _encode_struct(array, node, where)
        case ArrayNode() | MapNode():
            return _encode_items(array, node, where)
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node, where)
        case _:
            assert_never(node)


def encode_rows(columns: Sequence[Column], node: RecordNode) -> Encoded:
    """Encode records from their columns, in the order of the node's fields."""
    parts = [
        encode_values(column, inner, name)
        for (name, inner), column in zip(node.fields, columns, strict=True)
    ]
    return _joined(parts)


def encode_longs(values: Ints) -> Encoded:
    """Encode numbers as zigzag varints."""
    number = ((values << 1) ^ (values >> 63)).view(np.uint64)
    groups = np.empty((len(values), _LONG_BYTES), dtype=np.uint8)
    used = np.empty((len(values), _LONG_BYTES), dtype=np.bool_)
    width = 0
    while width == 0 or number.any():
        groups[:, width] = (number & np.uint64(0x7F)).astype(np.uint8)
        used[:, width] = True if width == 0 else number != 0
        number >>= np.uint64(7)
        width += 1
    groups, used = groups[:, :width], used[:, :width]
    groups[:, :-1] |= np.where(used[:, 1:], np.uint8(0x80), np.uint8(0))
    return _binary(offsets_from_sizes(used.sum(axis=1, dtype=np.int64)), groups[used])


def _binary(offsets: Ints, data: Bytes) -> Encoded:
    return build_binary(offsets, data, np.ones(len(offsets) - 1, dtype=np.bool_))


def _joined(parts: Sequence[Encoded]) -> Encoded:
    if len(parts) == 1:
        return parts[0]
    joined: Encoded = pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.binary()))  # type: ignore[call-overload]  # in stubs
    return joined


def _encode_optional(array: Column, node: OptionalNode, where: str) -> Encoded:
    value_tag = b"\x02" if node.null_branch == 0 else b"\x00"
    if not array.null_count:
        return _tagged(value_tag, encode_values(array, node.inner, where))
    if node.null_branch is None:
        raise InvalidInputError(f"Column {where!r} is NOT NULL, but contains null.")
    valid = valid_mask(array)
    inner = _tagged(value_tag, encode_values(filter_rows(array, valid), node.inner, where))
    null_tag = pa.scalar(b"\x00" if node.null_branch == 0 else b"\x02", pa.binary())
    if not len(inner):
        return pa.array([null_tag.as_py()] * len(array), pa.binary())
    positions = np.maximum(np.cumsum(valid) - 1, 0)
    spread = inner.take(_indices(positions, valid))
    return pc.fill_null(spread, null_tag)  # type: ignore[return-value]  # in stubs


def _indices(positions: Ints, valid: Bools) -> pa.Int64Array:
    bitmap = as_buffer(np.packbits(valid, bitorder="little"))
    found = pa.Array.from_buffers(pa.int64(), len(positions), [bitmap, as_buffer(positions)])
    assert isinstance(found, pa.Int64Array)  # noqa: S101 - made so
    return found


def _tagged(tag: bytes, values: Encoded) -> Encoded:
    return _joined([_repeated(tag, len(values)), values])


def _repeated(value: bytes, count: int) -> Encoded:
    offsets = np.arange(count + 1, dtype=np.int64) * len(value)
    return _binary(offsets, np.tile(np.frombuffer(value, np.uint8), count))


def _encode_plain(array: Column, node: PlainNode, where: str) -> Encoded:
    match node.primitive:
        case Primitive.INT | Primitive.LONG:
            return encode_longs(_as_longs(array, node, where))
        case Primitive.BOOLEAN | Primitive.FLOAT | Primitive.DOUBLE:
            width, data = _raw_bytes(array, node.primitive)
            return _binary(np.arange(len(array) + 1, dtype=np.int64) * width, data)
        case Primitive.FIXED:
            return _fixed(array, node, where)
        case Primitive.BYTES | Primitive.STRING:
            decimal = pa.types.is_decimal128(array.type)
            return _with_size(_decimals(array) if decimal else array.cast(pa.binary()))
        case _:
            assert_never(node.primitive)


def _raw_bytes(array: Column, primitive: Primitive) -> tuple[int, Bytes]:
    if primitive is Primitive.BOOLEAN:
        return 1, bool_values(array).astype(np.uint8)
    if primitive is Primitive.FLOAT:
        return 4, np.ascontiguousarray(fixed_values(array, np.float32)).view(np.uint8)
    return 8, np.ascontiguousarray(fixed_values(array, np.float64)).view(np.uint8)


def _fixed(array: Column, node: PlainNode, where: str) -> Encoded:
    raw = array.cast(pa.binary())
    if len(raw) and (np.diff(var_values(raw)[0]) != node.size).any():
        raise InvalidInputError(f"The values of column {where} must have {node.size} bytes each.")
    return raw  # type: ignore[return-value]  # in stubs


def _with_size(raw: Column) -> Encoded:
    sizes = np.diff(var_values(raw)[0])
    return _joined([encode_longs(sizes), raw])  # type: ignore[list-item]  # in stubs


def _as_longs(array: Column, node: PlainNode, where: str) -> Ints:
    kind = array.type
    if pa.types.is_timestamp(kind):
        return _in_file_unit(array, node, where)
    width = kind.bit_width if pa.types.is_primitive(kind) else 0
    known = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}.get(width)
    if known is None or pa.types.is_floating(kind):
        raise InvalidInputError(f"Column {where} must be an integer column, not {kind}.")
    return fixed_values(array, known).astype(np.int64)


def _in_file_unit(array: Column, node: PlainNode, where: str) -> Ints:
    assert isinstance(array.type, pa.TimestampType)  # noqa: S101 - the caller has looked
    have = PER_SECOND[array.type.unit]
    want = PER_SECOND["us" if node.logical.endswith("micros") else "ms"]
    values = fixed_values(array, np.int64).astype(np.int64)
    if want >= have:
        return values * (want // have)
    if len(values) and (values % (have // want)).any():
        raise InvalidInputError(
            f"Column {where} contains timestamps that are more precise than the Avro type "
            f"{node.logical or 'timestamp-millis'}."
        )
    return values // (have // want)


def _decimals(array: Column) -> Encoded:
    """Encode decimals as big-endian two's complement in as few bytes as possible, as Java does."""
    words = fixed_values(array, "V16")
    high = words.view(np.int64).reshape(-1, 2)[:, 1]
    big = words.view(np.uint8).reshape(-1, _DECIMAL_BYTES)[:, ::-1]
    negative = high < 0
    sign_byte = np.where(negative, np.uint8(0xFF), np.uint8(0))
    meaningful = big != sign_byte[:, None]
    first = np.where(meaningful.any(axis=1), meaningful.argmax(axis=1), _DECIMAL_BYTES - 1)
    lead = big[np.arange(len(big)), first]
    wrong_sign = (lead >= 0x80) != negative  # noqa: PLR2004 - the sign bit
    first = np.maximum(first - wrong_sign, 0)
    kept = np.arange(_DECIMAL_BYTES)[None, :] >= first[:, None]
    return _binary(offsets_from_sizes((_DECIMAL_BYTES - first).astype(np.int64)), big[kept])


def _encode_struct(array: Column, node: RecordNode, where: str) -> Encoded:
    if not isinstance(array, pa.StructArray):
        raise InvalidInputError(f"Column {where!r}: the values must be structs, not {array.type}.")
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    children = dict(zip(names, array.flatten(), strict=True))
    missing = [name for name, _ in node.fields if name not in children]
    if missing:
        raise InvalidInputError(f"Column {where} lacks the fields {choices(missing)}.")
    return _joined(
        [encode_values(children[name], inner, f"{where}.{name}") for name, inner in node.fields]
    )


def _encode_items(array: Column, node: ArrayNode | MapNode, where: str) -> Encoded:
    offsets, items = _items_of(array, node, where)
    counts = np.diff(offsets)
    ends, data = var_values(items)
    together = _binary(ends[offsets - offsets[0]], data)
    head = encode_longs(counts)  # an empty array has only the final count 0
    tail_sizes = (counts > 0).astype(np.int64)
    tail = _binary(offsets_from_sizes(tail_sizes), np.zeros(int(tail_sizes.sum()), dtype=np.uint8))
    return _joined([head, together, tail])


def _items_of(array: Column, node: ArrayNode | MapNode, where: str) -> tuple[Ints, Encoded]:
    """Return the offsets of each row's items, and the encoded items."""
    if isinstance(array, pa.FixedSizeListArray):
        offsets = np.arange(len(array) + 1, dtype=np.int64) * array.type.list_size
        items: Column = array.flatten()
    elif isinstance(array, pa.ListArray | pa.MapArray):
        offsets = list_offsets(array)
        first, last = int(offsets[0]), int(offsets[-1])
        items = array.values.slice(first, last - first)
    else:
        raise InvalidInputError(f"Column {where} must be a list or map, not {array.type}.")
    return offsets, encode_values(items, _item_node(node), f"{where}[]")


def _item_node(node: ArrayNode | MapNode) -> AvroNode:
    if isinstance(node, ArrayNode):
        return node.items
    text = PlainNode(primitive=Primitive.STRING)
    return RecordNode(name="", fields=(("key", text), ("value", node.values)))
