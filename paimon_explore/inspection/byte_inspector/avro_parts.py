"""Layout of Avro container files: header, blocks, records and values.

The bytes of a compressed block are one leaf; its decompressed bytes are an address space below it.
Spec: Avro 1.11 specification, object container files and binary encoding.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import assert_never

from paimon_explore.encoding.avro.container import (
    MAGIC,
    MAX_BLOCK_BYTES,
    SYNC_SIZE,
    Header,
    read_blocks,
    read_header,
    read_long,
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
)
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.json_parts import json_parts
from paimon_explore.inspection.byte_inspector.primitive_encodings import Value
from paimon_explore.inspection.byte_inspector.spans import (
    Group,
    MemoryReader,
    Say,
    Space,
    Span,
    SpanLimitError,
    Spans,
    space_of,
)
from paimon_explore.inspection.rendering.number_format import time_text

Path = tuple[str, ...]
"""Field names from the record downwards."""

_MAX_ITEMS = 1 << 24


@dataclass(slots=True)
class Found:
    """The leaves of one record by path, for fields whose meaning depends on others."""

    data: bytes
    spans: dict[Path, list[Span]] = field(default_factory=dict)

    def texts(self, path: Path) -> list[str]:
        """The strings at a path, of all array items on it."""
        return [
            self.data[span.offset : span.end].decode("utf-8", "replace")
            for span in self.spans.get(path, ())
        ]

    def whole(self, path: Path) -> int | None:
        """The integer at a path."""
        for span in self.spans.get(path, ()):
            return read_long(self.data, span.offset)[0]
        return None


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of the record fields of a file.

    Attributes:
        rules: description of a field in the specification, by field name.
        says: formats the number of a field, by field name.
        bytes: builds the spans within a bytes field, by field path.
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    says: Mapping[str, Say] = field(default_factory=dict)
    bytes: Mapping[Path, Callable[[Found, Spans], None]] = field(default_factory=dict)


NO_MEANING = Meaning()


def avro_parts(spans: Spans, meaning: Meaning = NO_MEANING) -> None:
    """Build the spans of a container file."""
    header = read_header(spans.data)
    _header(spans)
    schema = parse_avro_schema(header.schema)
    number = 0
    while spans.left:
        _block(spans, header, schema, meaning, number)
        number += 1


def _header(spans: Spans) -> None:
    with spans.group("header", rule="File header: magic, metadata and sync marker.") as note:
        spans.leaf(
            "magic", "bytes", len(MAGIC), rule="Every Avro file starts with the bytes 'Obj' and 1."
        )
        with spans.group(
            "metadata", rule="A map of strings to bytes, in blocks that end with 0."
        ) as of:
            of.about = f"{_pairs(spans)} entries"
        spans.leaf(
            "sync",
            "bytes",
            SYNC_SIZE,
            rule="The sync marker: 16 random bytes that end every block.",
        )
        note.about = of.about


def _positions(spans: Spans, items: str, end: str) -> Iterator[int]:
    """Yield the position of each item in the blocks of a map or array."""
    total = 0
    rule = f"Number of {items} that follow; 0 ends the {end}."
    while count := spans.number("count", "zigzag", rule=rule):
        if count < 0:
            size = f"Size of the {items} in bytes; present only after a negative number."
            spans.number("size", "zigzag", rule=size)
        yield from range(total, total + abs(count))
        total += abs(count)


def _pairs(spans: Spans) -> int:
    total = 0
    for position in _positions(spans, "entries", "map"):
        _pair(spans)
        total = position + 1
    return total


def _pair(spans: Spans) -> None:
    with spans.group("entry") as note:
        size = spans.number("key size", "zigzag")
        key = str(spans.leaf("key", "UTF-8", size))
        size = spans.number("value size", "zigzag")
        if key == "avro.schema":
            spans.later(key, size, json_parts, about="the writer's schema", rule=_RULES[key])
        else:
            spans.leaf("value", "UTF-8", size, rule=_RULES.get(key, ""))
        note.name, note.rule = key, _RULES.get(key, "")


_RULES = {
    "avro.schema": "The writer schema of the records; readers match fields by name.",
    "avro.codec": "Compression codec of the blocks; Paimon uses zstandard since release 0.9.",
}


def _block(spans: Spans, header: Header, schema: AvroNode, meaning: Meaning, number: int) -> None:
    start = spans.position
    with spans.group(f"block {number}", rule="A block of records, compressed together.") as note:
        count = spans.number("count", "zigzag", rule="Number of records in the block.")
        size = spans.number("size", "zigzag", rule="Size of the compressed records in bytes.")
        spans.need(size)
        build = partial(records, count=count, schema=schema, meaning=meaning)
        if header.codec == "null":
            spans.later("records", size, build, about=f"{count:,}")
        else:
            end = spans.position + size + SYNC_SIZE
            inside = partial(_decompressed, spans.data, start, end, header, build, number)
            rule = f"The records, compressed with {header.codec}."
            spans.packed("packed", size, inside, rule=rule)
        spans.leaf(
            "sync", "bytes", SYNC_SIZE, rule="The sync marker, as in the header.", say=_same(header)
        )
        note.about = f"{count:,} records"


def _same(header: Header) -> Say:
    return lambda value: (
        f"{'same as' if value == header.sync else 'differs from'} the sync marker of the header"
    )


def _decompressed(
    file: bytes, start: int, end: int, header: Header, build: Callable[[Spans], object], number: int
) -> Space:
    """The address space of the decompressed records of a block."""
    head = file[: header.size] + file[start:end]
    blocks = list(read_blocks(head, header))
    data = blocks[0].data if blocks else b""
    return space_of(f"block {number} decompressed", data, build, rule="The decompressed records.")


def records(spans: Spans, count: int, schema: AvroNode, meaning: Meaning) -> None:
    """Build the spans of records; each record is parsed on demand.

    Raises:
        InvalidInputError: the records do not fit into the bytes.
    """
    if count > max(spans.left, 0):
        raise InvalidInputError(
            f"The block must contain {count:,} records, but has only {spans.left:,} bytes."
        )

    def build(inner: Spans) -> None:
        _Walk(inner, meaning).fields(schema)

    for number in range(count):
        try:
            end = skip(spans.data, spans.position, schema)
        except RecursionError as error:
            raise SpanLimitError(
                f"The values of record {number:,} are nested too deeply to be parsed."
            ) from error
        if end > spans.end:
            raise InvalidInputError(f"Record {number:,} ends after the end of its block.")
        name, about = f"record {number}", _title(spans, schema, end)
        spans.later(name, end - spans.position, build, about=about)


def _title(spans: Spans, schema: AvroNode, end: int) -> str:
    """The first string of a record, as its title."""
    try:
        return _first_text(spans.data, spans.position, schema, end)[0]
    except PaimonError:
        return ""


def _first_text(data: bytes, at: int, node: AvroNode, end: int) -> tuple[str, int]:
    if isinstance(node, OptionalNode):
        branch, at = read_long(data, at)
        return ("", at) if branch == node.null_branch else _first_text(data, at, node.inner, end)
    if isinstance(node, RecordNode):
        for _, inner in node.fields:
            text, at = _first_text(data, at, inner, end)
            if text:
                return text, at
        return "", at
    if isinstance(node, PlainNode) and node.primitive is Primitive.STRING:
        size, start = read_long(data, at)
        return data[start : start + min(size, 120)].decode("utf-8", "replace"), start + size
    return "", skip(data, at, node)


def skip(data: bytes, at: int, node: AvroNode) -> int:
    """The end of a value that starts at `at`.

    Raises:
        CorruptFileError, InvalidInputError: the value does not end within the data.
    """
    match node:
        case PlainNode():
            at = _skip_plain(data, at, node)
        case EnumNode():
            _, at = read_long(data, at)
        case RecursiveNode():
            at = skip(data, at, node.record)
        case OptionalNode() | UnionNode():
            branch, at = read_long(data, at)
            inner = _branch(node, branch)
            at = at if inner is None else skip(data, at, inner)
        case RecordNode():
            for _, field_type in node.fields:
                at = skip(data, at, field_type)
        case ArrayNode() | MapNode():
            at = _skip_items(data, at, node)
        case _:
            assert_never(node)
    if at > len(data):
        raise InvalidInputError(f"A value ends at byte {at:,}, after the end of the block.")
    return at


def _branch(node: OptionalNode | UnionNode, number: int) -> AvroNode | None:
    """The type of a branch of a union; None for null."""
    if not 0 <= number < len(node.branches):
        raise InvalidInputError(
            f"The union has {len(node.branches)} branches, but a value uses branch number {number}."
        )
    return node.branches[number]


_FIXED_SIZES = {Primitive.BOOLEAN: 1, Primitive.FLOAT: 4, Primitive.DOUBLE: 8}


def _skip_plain(data: bytes, at: int, node: PlainNode) -> int:
    if node.primitive in (Primitive.INT, Primitive.LONG):
        return read_long(data, at)[1]
    if node.primitive in (Primitive.BYTES, Primitive.STRING):
        size, at = read_long(data, at)
        if not 0 <= size <= MAX_BLOCK_BYTES:
            raise InvalidInputError(
                f"The length before byte {at:,} must be from 0 to {MAX_BLOCK_BYTES:,} "
                f"bytes, not {size}."
            )
        return at + size
    return at + (node.size if node.primitive is Primitive.FIXED else _FIXED_SIZES[node.primitive])


def _skip_items(data: bytes, at: int, node: ArrayNode | MapNode) -> int:
    total = 0
    while True:
        count, at = read_long(data, at)
        if not count:
            return at
        if count < 0:
            count = -count
            _, at = read_long(data, at)
        total += count
        if total > _MAX_ITEMS:
            raise InvalidInputError(
                f"The array or map that continues at byte {at:,} has more than "
                f"{_MAX_ITEMS:,} items."
            )
        for _ in range(count):
            for inner in _item_nodes(node):
                at = skip(data, at, inner)


def _item_nodes(node: ArrayNode | MapNode) -> tuple[AvroNode, ...]:
    if isinstance(node, ArrayNode):
        return (node.items,)
    return (PlainNode(primitive=Primitive.STRING), node.values)


class _Walk:
    """Builds the spans of one record."""

    def __init__(self, spans: Spans, meaning: Meaning) -> None:
        self._spans = spans
        self._meaning = meaning
        self._found = Found(spans.data)

    def fields(self, node: AvroNode) -> None:
        """Build the fields of the record without a group."""
        if isinstance(node, RecordNode):
            for name, inner in node.fields:
                self._value(name, inner, (name,))
        else:
            self._value("record", node, ())

    def _value(self, name: str, node: AvroNode, path: Path) -> None:
        match node:
            case PlainNode():
                self._plain(name, node, path)
            case EnumNode():
                self._spans.leaf(name, "zigzag", rule=self._rule(name), say=_symbol_say(node))
                self._keep(path)
            case RecursiveNode():
                self._value(name, node.record, path)
            case OptionalNode() | UnionNode():
                self._union(name, node, path)
            case RecordNode():
                with self._spans.group(name, rule=self._rule(name)) as note:
                    for field_name, inner in node.fields:
                        self._value(field_name, inner, (*path, field_name))
                    note.about = f"{len(node.fields)} fields"
            case ArrayNode() | MapNode():
                with self._spans.group(name, rule=self._rule(name)) as note:
                    self._items(note, node, path)
            case _:
                assert_never(node)

    def _union(self, name: str, node: OptionalNode | UnionNode, path: Path) -> None:
        spans = self._spans
        with spans.group(name, rule=self._rule(name)) as note:
            branch = spans.number(
                "branch",
                "zigzag",
                rule="Index of the union branch of the value that follows.",
                say=lambda value: f"{int(value)}: {_branch_text(node, int(value))}",
            )
            inner = _branch(node, branch)
            note.about = "null"
            if inner is not None:
                self._value("value" if isinstance(inner, PlainNode) else name, inner, path)
                note.about = self._last()

    def _last(self) -> str:
        """The text of the last value."""
        made = self._spans.made[-1]
        if made.form:
            found = Space(name="", reader=MemoryReader(self._spans.data), root=made)
            return found.text(made)
        return made.about

    def _rule(self, name: str) -> str:
        return self._meaning.rules.get(name, "")

    def _items(self, note: Group, node: ArrayNode | MapNode, path: Path) -> None:
        total = 0
        for position in _positions(self._spans, "items", "array"):
            self._item(f"[{position}]", node, path)
            total = position + 1
        note.about = f"{total:,} items" if total != 1 else "1 item"

    def _item(self, name: str, node: ArrayNode | MapNode, path: Path) -> None:
        if isinstance(node, ArrayNode):
            self._value(name, node.items, path)
            return
        with self._spans.group(name):
            self._value("key", PlainNode(primitive=Primitive.STRING), (*path, "key"))
            self._value("value", node.values, (*path, "value"))

    def _plain(self, name: str, node: PlainNode, path: Path) -> None:
        spans = self._spans
        rule = self._rule(path[-1]) if path else ""
        if node.primitive in (Primitive.BYTES, Primitive.STRING):
            with spans.group(name, rule=rule) as note:
                size = spans.number("size", "zigzag", rule="Number of bytes that follow.")
                self._sized(node, path, size, note)
            return
        form = _FORMS[node.primitive]
        say = self._meaning.says.get(path[-1] if path else "") or _logical_say(node)
        spans.leaf(name, form, node.size or None, rule=rule, say=say)
        self._keep(path)

    def _sized(self, node: PlainNode, path: Path, size: int, note: Group) -> None:
        spans = self._spans
        spans.need(size)
        build = self._meaning.bytes.get(path)
        if not size:
            note.about = "empty"
        elif build is not None:
            found = self._found
            spans.later("content", size, lambda inner: build(found, inner), about=f"{size:,} bytes")
            note.about = f"{size:,} bytes"
        else:
            text = node.primitive is Primitive.STRING
            spans.leaf("text" if text else "bytes", "UTF-8" if text else "bytes", size)
            self._keep(path)
            note.about = self._last()

    def _keep(self, path: Path) -> None:
        self._found.spans.setdefault(path, []).append(self._spans.made[-1])


_FORMS = {
    Primitive.BOOLEAN: "uint8",
    Primitive.INT: "zigzag",
    Primitive.LONG: "zigzag",
    Primitive.FLOAT: "float32 LE",
    Primitive.DOUBLE: "float64 LE",
    Primitive.FIXED: "bytes",
}


def _symbol_say(node: EnumNode) -> Say:
    def say(value: Value) -> str:
        number = int(value)
        known = 0 <= number < len(node.symbols)
        return f"{number}: {node.symbols[number] if known else 'unknown enum symbol'}"

    return say


def _branch_text(node: OptionalNode | UnionNode, number: int) -> str:
    if not 0 <= number < len(node.branches):
        return "unknown union branch"
    inner = node.branches[number]
    if inner is None or isinstance(node, OptionalNode):
        return "null" if inner is None else "a value"
    return _kind(inner)


def _kind(node: AvroNode) -> str:
    match node:
        case PlainNode():
            return node.primitive.value
        case RecordNode(name=name) | EnumNode(name=name) | RecursiveNode(name=name):
            return name
        case _:
            return "array" if isinstance(node, ArrayNode) else "map"


def _logical_say(node: PlainNode) -> Say | None:
    if node.primitive is Primitive.BOOLEAN:
        return lambda value: "true" if value else "false"
    if node.logical.endswith("timestamp-millis"):
        return lambda value: f"{int(value)}: {time_text(int(value), zone='')}"
    if node.logical.endswith("timestamp-micros"):
        return lambda value: f"{int(value)}: {time_text(int(value) // 1000, zone='')}"
    if node.logical == "date":
        return lambda value: f"{int(value)}: {time_text(int(value) * 86_400_000, zone='')[:10]}"
    return None
