"""Avro files decoded by fastavro, independently of `avro`.

Two things are shared: blocks are decompressed by `avro_container`, because fastavro's codecs do not
limit memory; and a schema must have been accepted by `avro_schema`, because fastavro is compiled
code that calls itself for each level of a value, without a limit.

Logical types are ignored: values are the stored integers and bytes.
"""

import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from itertools import count
from typing import assert_never

import fastavro
from fastavro.schema import SchemaParseException
from fastavro.types import Schema

from paimon_explore.encoding.avro.container import (
    MAX_BLOCK_BYTES,
    SYNC_SIZE,
    block_unpacker,
    read_header,
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
    generic_nodes,
    parse_avro_schema,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.limits import check_size

_OBJECT_BYTES = 256
"""About what a dictionary or list takes in Python, with its share of the values in it."""

_HEADER: Schema = {
    "type": "record",
    "name": "header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": SYNC_SIZE}},
    ],
}
FASTAVRO_ERRORS = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RecursionError,
    SchemaParseException,
    TypeError,
    ValueError,
)
"""What fastavro raises on bytes and schemas that it cannot decode."""


def fastavro_records(data: bytes, path: str = "") -> Iterator[Mapping[str, object]]:
    """The records of an Avro file as fastavro decodes them, without logical types.

    Raises:
        CorruptFileError: fastavro cannot decode the file, or its schema is not one that our
            decoder reads.
        ResourceLimitError: a block takes more memory than the limit.
    """
    node = parse_avro_schema(read_header(data).schema)
    stream = BytesIO(data)
    header = _decoded(stream, _HEADER, path, "header")
    assert isinstance(header, dict)  # noqa: S101 - by its schema
    schema = _fastavro_schema(header["meta"].get("avro.schema", b""), node, path)
    unpack = block_unpacker(header["meta"].get("avro.codec", b"null").decode("ascii", "replace"))
    depth = _depth(node)
    number = 0
    while stream.tell() < len(data):
        start = stream.tell()
        where = f"block at byte {start}"
        count = _decoded(stream, "long", path, where)
        size = _decoded(stream, "long", path, where)
        if not isinstance(count, int) or not isinstance(size, int) or not 0 <= size < len(data):
            raise CorruptFileError(path, where, "must be within the file")
        unpacked = unpack(stream.read(size), start)
        check_size(len(unpacked) * depth * _OBJECT_BYTES, path, where, f"{count:,} records")
        if stream.read(SYNC_SIZE) != header["sync"]:
            raise CorruptFileError(path, where, "must end with the sync marker of the file")
        block = BytesIO(unpacked)
        for _ in range(count):
            record = _decoded(block, schema, path, f"record {number}")
            if not isinstance(record, dict):
                raise CorruptFileError(path, f"record {number}", "must be an Avro record")
            yield record
            number += 1
        if block.tell() != len(unpacked):
            raise CorruptFileError(path, where, "the records must fill the block exactly")


def _decoded(stream: BytesIO, schema: Schema, path: str, where: str) -> object:
    try:
        return fastavro.schemaless_reader(stream, schema, None)
    except FASTAVRO_ERRORS as error:
        reason = str(error) or type(error).__name__
        raise CorruptFileError(
            path, where, f"fastavro cannot decode the block: {reason:.200}"
        ) from error


def _fastavro_schema(text: bytes, node: AvroNode, path: str) -> Schema:
    """The schema of a file for fastavro; recursive records end at a depth."""
    source = without_logical_types(json.loads(text))
    if any(isinstance(found, RecursiveNode) for _, found in generic_nodes(node)):
        source = _Unrolled(path).schema(node, 0)
    try:
        return fastavro.parse_schema(source)  # type: ignore[arg-type]  # JSON
    except FASTAVRO_ERRORS as error:
        reason = str(error) or type(error).__name__
        rule = f"fastavro cannot use the schema: {reason:.200}"
        raise CorruptFileError(path, "avro.schema", rule) from error


_IGNORED = ("logicalType", "default", "aliases")
"""Attributes of schemas that do not change how values are stored."""


def without_logical_types(source: object) -> object:
    """A schema in JSON whose values are the stored integers and bytes."""
    match source:
        case dict():
            return {
                key: without_logical_types(value)
                for key, value in source.items()
                if key not in _IGNORED
            }
        case list():
            return [without_logical_types(value) for value in source]
        case _:
            return source


_MAX_DEPTH = 64
"""Levels of values inside values that are read of a recursive record."""
_MOST_TYPES = 100_000
"""Types of a recursive record at all depths together."""


class _Unrolled:
    """Makes the schema of a recursive record, with a type of its own for each depth.

    fastavro calls itself for each level of a value, without a limit.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[tuple[int, int], str] = {}
        self._names = map("t{}".format, count())
        self._types = 0

    def schema(self, node: AvroNode, depth: int) -> object:
        """The schema of a type in JSON, at a depth."""
        self._types += 1
        if self._types > _MOST_TYPES:
            rule = (
                f"the levels of a recursive record must have at most {_MOST_TYPES:,} types in total"
            )
            raise CorruptFileError(self._path, "avro.schema", rule)
        if depth > _MAX_DEPTH:  # nothing can be read as this
            return {"type": "fixed", "name": next(self._names), "size": MAX_BLOCK_BYTES}
        found: object
        match node:
            case PlainNode() | EnumNode():
                found = self._leaf(node)
            case RecordNode():
                found = self._record(node, depth)
            case RecursiveNode():
                found = self._record(node.record, depth)
            case ArrayNode():
                found = {"type": "array", "items": self.schema(node.items, depth + 1)}
            case MapNode():
                found = {"type": "map", "values": self.schema(node.values, depth + 1)}
            case OptionalNode() | UnionNode():
                found = [
                    "null" if branch is None else self.schema(branch, depth)
                    for branch in node.branches
                ]
            case _:
                assert_never(node)
        return found

    def _leaf(self, node: PlainNode | EnumNode) -> object:
        if isinstance(node, EnumNode):
            return {"type": "enum", "name": next(self._names), "symbols": [*node.symbols]}
        if node.primitive is Primitive.FIXED:
            return {"type": "fixed", "name": next(self._names), "size": node.size}
        return node.primitive.value

    def _record(self, node: RecordNode, depth: int) -> object:
        known = self._known.get((id(node), depth))
        if known is not None:
            return known
        name = self._known[(id(node), depth)] = next(self._names)
        fields = [
            {"name": label, "type": self.schema(one, depth + 1)} for label, one in node.fields
        ]
        return {"type": "record", "name": name, "fields": fields}


def _depth(node: AvroNode) -> int:
    """How many Python objects may stand for a stored byte: those of records inside records."""
    match node:
        case RecordNode(fields=fields):
            return 1 + max((_depth(inner) for _, inner in fields), default=0)
        case OptionalNode(inner=inner):
            return _depth(inner)
        case ArrayNode(items=inner) | MapNode(values=inner):
            return 1 + _depth(inner)
        case UnionNode(branches=branches):
            return max(_depth(branch) for branch in branches if branch is not None)
        case _:
            return 1
