"""Data files in generic Avro (enums, wide unions, recursive records), read by way of fastavro.

fastavro decodes the records, and writes them again with a schema of the same values that the
columnar decoder reads: an enum as text, a union of `int` and `long` as `long`, of `float` and
`double` as `double`. That decoder then checks and converts the values as it does for every file.

No Paimon type takes the values of other unions, or of recursive records. A file may have such
columns as long as nobody asks for them.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from itertools import count
from typing import assert_never

import fastavro
from fastavro.types import Schema

from paimon_explore.encoding.avro.container import (
    BLOCK_BYTES,
    PROCESS_SYNC,
    read_header,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.fastavro_reader import fastavro_records, without_logical_types
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

_TEXT = PlainNode(primitive=Primitive.STRING)
_PROMOTED: Mapping[frozenset[Primitive], Primitive] = {
    frozenset((Primitive.INT, Primitive.LONG)): Primitive.LONG,
    frozenset((Primitive.FLOAT, Primitive.DOUBLE)): Primitive.DOUBLE,
}
_BOOLEAN = PlainNode(primitive=Primitive.BOOLEAN)
_FILLER = "\0"
"""Name of a field that no file has."""


def columnar_record(record: RecordNode, names: Collection[str] | None, path: str) -> RecordNode:
    """A record of the same values that the columnar decoder reads.

    Args:
        record: the record of a file.
        names: the fields to keep; None for all.
        path: the file, for messages.

    Raises:
        UnsupportedFeatureError: a field that is kept has values that no Paimon type takes.
    """
    fields = tuple(
        (name, _columnar(node, name, path))
        for name, node in record.fields
        if names is None or name in names
    )
    return RecordNode(name=record.name, fields=fields)


def columnar_files(data: bytes, names: Collection[str], path: str) -> Iterator[bytes]:
    """The rows of a file as files that the columnar decoder reads.

    Args:
        data: a file whose schema is generic Avro.
        names: the columns to keep.
        path: the file, for messages.

    Raises:
        UnsupportedFeatureError: as `columnar_record`.
        CorruptFileError: fastavro cannot decode the file.
    """
    record = top_record(parse_avro_schema(read_header(data).schema))
    kept = columnar_record(record, names, path)
    if not kept.fields:  # rows of columns that the file does not have
        kept = RecordNode(name=record.name, fields=((_FILLER, _BOOLEAN),))
    schema = _json(kept, count())
    raw: Schema = without_logical_types(schema)  # type: ignore[assignment]  # JSON
    raw = fastavro.parse_schema(raw)
    header = write_header(json.dumps(schema).encode(), "null", PROCESS_SYNC)
    sink, rows = BytesIO(), 0
    for one in fastavro_records(data, path):
        fastavro.schemaless_writer(sink, raw, {_FILLER: False, **one})
        rows += 1
        if sink.tell() > BLOCK_BYTES:
            yield header + write_block(rows, sink.getvalue(), "null", PROCESS_SYNC)
            sink, rows = BytesIO(), 0
    if rows:
        yield header + write_block(rows, sink.getvalue(), "null", PROCESS_SYNC)


def _columnar(node: AvroNode, where: str, path: str) -> AvroNode:
    found: AvroNode
    match node:
        case PlainNode():
            found = node
        case EnumNode():
            found = _TEXT
        case UnionNode():
            found = _columnar_union(node, where, path)
        case RecursiveNode():
            raise unsupported(node, where, path)
        case OptionalNode(inner=inner):
            found = replace(node, inner=_columnar(inner, where, path))
        case RecordNode(fields=fields):
            inner_fields = ((name, _columnar(one, f"{where}.{name}", path)) for name, one in fields)
            found = RecordNode(name=node.name, fields=tuple(inner_fields))
        case ArrayNode(items=inner):
            found = replace(node, items=_columnar(inner, where, path))
        case MapNode(values=inner):
            found = MapNode(values=_columnar(inner, where, path))
        case _:
            assert_never(node)
    return found


def _columnar_union(node: UnionNode, where: str, path: str) -> OptionalNode:
    """The one type that takes the values of all branches."""
    kinds = {_columnar(branch, where, path) for branch in node.branches if branch is not None}
    inner = kinds.pop() if len(kinds) == 1 else _promoted(kinds)
    if inner is None:
        raise unsupported(node, where, path)
    return OptionalNode(inner=inner, null_branch=0 if None in node.branches else None)


def _promoted(kinds: Collection[AvroNode]) -> PlainNode | None:
    plain = [kind for kind in kinds if isinstance(kind, PlainNode) and not kind.logical]
    if len(plain) < len(kinds):
        return None
    wide = _PROMOTED.get(frozenset(kind.primitive for kind in plain))
    return None if wide is None else PlainNode(primitive=wide)


def _json(node: AvroNode, numbers: Iterator[int]) -> object:
    """The schema of a type that the columnar decoder reads, in JSON."""
    match node:
        case PlainNode():
            return _plain_json(node, numbers)
        case OptionalNode(inner=inner, null_branch=null):
            kind = _json(inner, numbers)
            return [kind] if null is None else ["null", kind] if null == 0 else [kind, "null"]
        case RecordNode(fields=fields):
            name = f"r{next(numbers)}"
            members = [{"name": label, "type": _json(one, numbers)} for label, one in fields]
            return {"type": "record", "name": name, "fields": members}
        case ArrayNode(items=inner, is_map=is_map):
            logical = {"logicalType": "map"} if is_map else {}
            return {"type": "array", "items": _json(inner, numbers), **logical}
        case MapNode(values=inner):
            return {"type": "map", "values": _json(inner, numbers)}
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node)
        case _:
            assert_never(node)


def _plain_json(node: PlainNode, numbers: Iterator[int]) -> dict[str, object]:
    found: dict[str, object] = {"type": node.primitive.value}
    if node.primitive is Primitive.FIXED:
        found |= {"name": f"f{next(numbers)}", "size": node.size}
    if node.logical:
        found["logicalType"] = node.logical
    if node.precision:
        found |= {"precision": node.precision, "scale": node.scale}
    return found
