"""Avro schemas as a tree of nodes.

Paimon writes records, arrays, maps, plain types and unions of null with one type. Enums, wider
unions and recursive types are generic Avro: the tree has them, the columnar decoder does not read
them (`refuse_generic`).
Spec: concepts/spec/fileformat, avro; Avro 1.11 specification, schema declaration.
"""

import json
from collections.abc import Iterator
from dataclasses import field, replace
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias, assert_never

from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

_MAX_DEPTH = 64
_MAX_NODES = 50_000
_MAX_PRECISION = 38


class Primitive(Enum):
    """Avro's plain types, by their name in schemas."""

    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    BYTES = "bytes"
    STRING = "string"
    FIXED = "fixed"


FIXED_SIZES = {Primitive.BOOLEAN: 1, Primitive.FLOAT: 4, Primitive.DOUBLE: 8}
"""Bytes of the values of types of one size, besides `fixed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainNode:
    """A value without children.

    Attributes:
        primitive: how it is stored.
        logical: logical type, or "".
        precision, scale: of a decimal.
        size: bytes of a fixed.
    """

    primitive: Primitive
    logical: str = ""
    precision: int = 0
    scale: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalNode:
    """A union of null with one type, or of one type alone.

    Attributes:
        inner: the type.
        null_branch: number of the null branch, 0 or 1; None in a union without null.
    """

    inner: "AvroNode"
    null_branch: int | None

    @property
    def branches(self) -> tuple["AvroNode | None", ...]:
        """The types in their order; None stands for null."""
        if self.null_branch is None:
            return (self.inner,)
        return (None, self.inner) if self.null_branch == 0 else (self.inner, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordNode:
    """Fields in the order in which they are stored."""

    name: str
    fields: tuple[tuple[str, "AvroNode"], ...]

    def field(self, name: str) -> "AvroNode | None":
        """The type of a field, if there is one of that name."""
        return next((node for known, node in self.fields if known == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayNode:
    """Items of one type; `is_map` when they are key and value of a map without text keys."""

    items: "AvroNode"
    is_map: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode:
    """Values of one type by text key."""

    values: "AvroNode"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumNode:
    """One of some names, stored as its number."""

    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionNode:
    """A union of two or more types besides null; None stands for null."""

    branches: tuple["AvroNode | None", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveNode:
    """A record inside of itself.

    Attributes:
        name: of the record.
        found: the record, once it has been parsed.
    """

    name: str
    found: list[RecordNode] = field(default_factory=list, compare=False, repr=False)

    @property
    def record(self) -> RecordNode:
        """The record."""
        return self.found[0]


GenericNode: TypeAlias = EnumNode | UnionNode | RecursiveNode
AvroNode: TypeAlias = PlainNode | OptionalNode | RecordNode | ArrayNode | MapNode | GenericNode

_PRIMITIVES = MappingProxyType({p.value: p for p in Primitive if p is not Primitive.FIXED})


def parse_avro_schema(text: bytes) -> AvroNode:
    """The tree of a writer schema.

    Raises:
        CorruptFileError: no schema, or one that is too deep or large.
    """
    try:
        source: object = json.loads(text.decode("utf-8"))
        if b"\\u" in text:  # may smuggle in half a surrogate pair, which is no text
            json.dumps(source, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise _wrong("avro.schema", f"must be a schema in JSON: {error}") from error
    return _Parser().node(source, "avro.schema", 0)


def top_record(node: AvroNode) -> RecordNode:
    """The record at the top of a container's schema, be it nullable or not."""
    inner = node.inner if isinstance(node, OptionalNode) else node
    if not isinstance(inner, RecordNode):
        raise _wrong("avro.schema", "must have a record as its top-level type")
    return inner


def describe(node: GenericNode) -> str:
    """A construct of generic Avro, in words."""
    match node:
        case EnumNode(name=name):
            return f"the Avro enum {name!r:.60}"
        case UnionNode(branches=branches):
            return f"an Avro union of {len(branches)} types"
        case RecursiveNode(name=name):
            return f"the recursive Avro record {name!r:.60}"
        case _:
            assert_never(node)


def generic_nodes(node: AvroNode, where: str = "") -> Iterator[tuple[str, GenericNode]]:
    """The constructs of generic Avro in a type, each with the field it is the type of."""
    match node:
        case EnumNode() | UnionNode() | RecursiveNode():
            yield where, node
        case RecordNode(fields=fields):
            for name, inner in fields:
                yield from generic_nodes(inner, f"{where}.{name}" if where else name)
        case OptionalNode(inner=inner) | ArrayNode(items=inner) | MapNode(values=inner):
            yield from generic_nodes(inner, where)
        case PlainNode():
            pass
        case _:
            assert_never(node)


def refuse_generic(node: AvroNode, path: str = "") -> None:
    """Refuse a schema of a metadata file that the columnar decoder does not read.

    Raises:
        CorruptFileError: names the construct and its field.
    """
    for where, found in generic_nodes(node):
        place = f"avro.schema.{where}" if where else "avro.schema"
        raise CorruptFileError(
            path, place, f"must be a type that Paimon uses, not {describe(found)}"
        )


def unsupported(node: GenericNode, where: str = "", path: str = "") -> UnsupportedFeatureError:
    """The error for a construct that the columnar decoder does not read."""
    place = f" in field {where}" if where else ""
    return UnsupportedFeatureError(f"reading {describe(node)}{place} as a column", path)


def _wrong(where: str, rule: str) -> CorruptFileError:
    return CorruptFileError("", where, rule)


class _Parser:
    """State of one parse: named types so far, and how many nodes the tree stands for."""

    def __init__(self) -> None:
        self._named: dict[str, AvroNode | None] = {}
        self._sizes: dict[str, int] = {}
        self._open: dict[str, tuple[str, list[RecordNode]]] = {}
        self._count = 0

    def node(self, source: object, where: str, depth: int) -> AvroNode:
        self._count += 1
        if depth > _MAX_DEPTH:
            raise _wrong(where, f"must have at most {_MAX_DEPTH} levels of nested types")
        if self._count > _MAX_NODES:
            raise _wrong(where, f"must have at most {_MAX_NODES} types")
        if isinstance(source, str):
            return self._by_name(source, where)
        if isinstance(source, list):
            return self._union(source, where, depth)
        if isinstance(source, dict):
            return self._complex(source, where, depth)
        raise _wrong(where, f"must be a type, not {source!r:.60}")

    def _by_name(self, name: str, where: str) -> AvroNode:
        if name in _PRIMITIVES:
            return PlainNode(primitive=_PRIMITIVES[name])
        short = name.rpartition(".")[2]
        full, holder = self._open.get(short, ("", None))
        if holder is not None and ("." not in name or "." not in full or name == full):
            return RecursiveNode(name=short, found=holder)
        found = self._named.get(name) or self._named.get(short)
        if found is None:
            raise _wrong(where, f"must be a type that Paimon uses, not {name!r:.60}")
        self._count += self._sizes.get(name, 0) or self._sizes.get(short, 0)
        return found

    def _union(self, branches: list[object], where: str, depth: int) -> AvroNode:
        others = [branch for branch in branches if branch != "null"]
        nulls = len(branches) - len(others)
        if not others or nulls > 1:
            raise _wrong(
                where, "a union must contain a type other than null, and null at most once"
            )
        nodes = [self.node(other, where, depth + 1) for other in others]
        if any(isinstance(node, OptionalNode | UnionNode) for node in nodes):
            raise _wrong(where, "a union must not contain another union")
        if len(nodes) > 1:
            known = iter(nodes)
            return UnionNode(
                branches=tuple(None if one == "null" else next(known) for one in branches)
            )
        (inner,) = nodes
        return OptionalNode(inner=inner, null_branch=branches.index("null") if nulls else None)

    def _complex(self, source: dict[str, object], where: str, depth: int) -> AvroNode:
        kind = source.get("type")
        if kind in ("record", "error"):
            return self._record(source, where, depth)
        if kind == "array":
            items = self.node(source.get("items"), f"{where}.items", depth + 1)
            _check_has_bytes(items, where)
            is_map = source.get("logicalType") == "map" and isinstance(items, RecordNode)
            return ArrayNode(items=items, is_map=is_map)
        if kind == "map":
            return MapNode(values=self.node(source.get("values"), f"{where}.values", depth + 1))
        if kind == "enum":
            return self._named_type(source, _enum(source, where))
        if kind == "fixed":
            return self._named_type(source, self._fixed(source, where))
        inner = self.node(kind, where, depth + 1)
        return _with_logical(inner, source, where) if isinstance(inner, PlainNode) else inner

    def _record(self, source: dict[str, object], where: str, depth: int) -> AvroNode:
        fields = source.get("fields")
        if not isinstance(fields, list):
            raise _wrong(where, "a record must have fields")
        before = self._count
        full = str(source.get("name", ""))
        if "." not in full and isinstance(source.get("namespace"), str):
            full = f"{source['namespace']}.{full}"
        name = full.rpartition(".")[2]
        outer = self._open.get(name)
        holder: list[RecordNode] = []
        if name:
            self._open[name] = (full, holder)
        found: list[tuple[str, AvroNode]] = []
        for member in fields:
            label = member.get("name") if isinstance(member, dict) else None
            if not isinstance(member, dict) or not isinstance(label, str):
                raise _wrong(where, "a field must have a name")
            if any(label == known for known, _ in found):
                raise _wrong(where, f"field name {label!r:.60} is used twice")
            found.append((label, self.node(member.get("type"), f"{where}.{label}", depth + 1)))
        record = RecordNode(name=str(source.get("name", "")), fields=tuple(found))
        if not depth:
            _check_has_bytes(record, where)
        holder.append(record)
        self._open.pop(name, None)
        if outer is not None:
            self._open[name] = outer
        return self._named_type(source, record, self._count - before)

    def _fixed(self, source: dict[str, object], where: str) -> PlainNode:
        size = source.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 1 << 20:
            raise _wrong(where, "a fixed type must have a size")
        return _with_logical(PlainNode(primitive=Primitive.FIXED, size=size), source, where)

    def _named_type(self, source: dict[str, object], node: AvroNode, size: int = 1) -> AvroNode:
        name = str(source.get("name", "")).rpartition(".")[2]
        self._named[name] = node
        self._sizes[name] = size
        return node


def _check_has_bytes(node: AvroNode, where: str) -> None:
    """Check that a value takes bytes, without which any number of them could follow each other."""
    pending = [node]
    for one in pending:
        if not isinstance(one, RecordNode):
            return
        pending += [inner for _, inner in one.fields]
    raise _wrong(where, "a record must have fields")


def _enum(source: dict[str, object], where: str) -> EnumNode:
    symbols = source.get("symbols")
    if not isinstance(symbols, list) or not symbols or len(symbols) > _MAX_NODES:
        raise _wrong(where, "an enum must have symbols")
    if not all(isinstance(symbol, str) for symbol in symbols):
        raise _wrong(where, "the symbols of an enum must be strings")
    return EnumNode(name=str(source.get("name", "")), symbols=tuple(map(str, symbols)))


def _with_logical(node: PlainNode, source: dict[str, object], where: str) -> PlainNode:
    logical = source.get("logicalType")
    if not isinstance(logical, str):
        return node
    precision, scale = source.get("precision", 0), source.get("scale", 0)
    if logical != "decimal" or node.primitive not in (Primitive.BYTES, Primitive.FIXED):
        return replace(node, logical=logical)
    if type(precision) is not int or type(scale) is not int:
        raise _wrong(where, "a decimal must have a precision")
    if not 0 < precision <= _MAX_PRECISION or not 0 <= scale <= precision:
        raise _wrong(where, f"the precision of a decimal must be 1 to {_MAX_PRECISION}")
    return replace(node, logical=logical, precision=precision, scale=scale)


def leaf_count(node: AvroNode) -> int:
    """How many plain values a record has, those of an array or map counted once."""
    match node:
        case RecordNode(fields=fields):
            return sum(leaf_count(inner) for _, inner in fields) or 1
        case OptionalNode(inner=inner):
            return leaf_count(inner)
        case _:
            return 1
