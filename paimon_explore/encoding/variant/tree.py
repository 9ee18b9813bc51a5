"""VARIANT values as trees of dicts, lists and encoded primitives, which can be changed."""

import struct
from decimal import Decimal
from typing import TypeAlias

from paimon_explore.encoding.variant.decoder import (
    DECIMAL_BYTES,
    INTEGER_BYTES,
    MAX_DEPTH,
    Kind,
    Raw,
    VariantReader,
    decode_keys,
)
from paimon_explore.encoding.variant.encoder import (
    KeyTable,
    array_of,
    object_of,
    primitive,
    text,
)
from paimon_explore.errors import InvalidInputError

MAX_BYTES = 1 << 24
"""Maximum size of a value and of its metadata in Java and Spark."""


class Primitive(bytes):
    """An encoded primitive value, which keeps its exact type."""

    __slots__ = ()


Tree: TypeAlias = Primitive | list["Tree"] | dict[str, "Tree"]
NULL = Primitive(primitive(Kind.NULL))


class _TreeMaker:
    """Builds trees."""

    def leaf(self, kind: Kind, raw: Raw) -> Tree:
        """Encode a primitive again."""
        return Primitive(
            text(raw) if isinstance(raw, str) else primitive(kind, _content(kind, raw))
        )

    def array(self, elements: list[Tree]) -> Tree:
        """Return an array."""
        return elements

    def object(self, fields: list[tuple[str, Tree]]) -> Tree:
        """Return an object."""
        return dict(fields)


def _content(kind: Kind, raw: Raw) -> bytes:
    match raw:
        case None | bool():
            return b""
        case int():
            return raw.to_bytes(INTEGER_BYTES[kind], "little", signed=True)
        case float():
            return struct.pack("<f" if kind is Kind.FLOAT else "<d", raw)
        case Decimal():
            sign, digits, exponent = raw.as_tuple()
            unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
            content = unscaled.to_bytes(DECIMAL_BYTES[kind], "little", signed=True)
            return bytes([-int(exponent)]) + content
        case bytes() if kind is Kind.UUID:
            return raw
        case str() | bytes():
            data = raw.encode() if isinstance(raw, str) else raw
            return len(data).to_bytes(4, "little") + data


TREES = _TreeMaker()
"""Builds trees from the parts of a value."""


def decode_tree(value: bytes, metadata: bytes, *, path: str = "") -> Tree:
    """Decode a variant; the keys of objects are in the order of their names.

    Raises:
        CorruptFileError: the variant is damaged.
    """
    return VariantReader(value, decode_keys(metadata, path=path), path).read(TREES)


def encode_tree(tree: Tree) -> tuple[bytes, bytes]:
    """Encode a tree as value and metadata, which contains the keys that occur.

    Raises:
        InvalidInputError: it is nested too deeply, or too large.
    """
    keys = KeyTable()
    value = _encode(tree, keys, 0)
    metadata = keys.encode()
    if max(len(value), len(metadata)) > MAX_BYTES:
        raise InvalidInputError(
            f"A variant must have at most {MAX_BYTES} bytes, not {len(value)} and {len(metadata)} "
            "of its keys."
        )
    return value, metadata


def _encode(tree: Tree, keys: KeyTable, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"A variant may be nested at most {MAX_DEPTH} levels deep.")
    match tree:
        case Primitive():
            return tree
        case list():
            return array_of([_encode(element, keys, depth + 1) for element in tree])
        case dict():
            fields = []
            for key, member in tree.items():
                number = keys.number(key)  # before the keys of the member, as in Java
                fields.append((key, number, _encode(member, keys, depth + 1)))
            return object_of(fields)
