"""VARIANT values for Python."""

import builtins
import datetime as dt
import struct
from collections.abc import Mapping
from typing import Self
from uuid import UUID

import numpy as np

from paimon_explore.encoding.variant.decoder import (
    MAX_DEPTH,
    MOMENTS,
    Kind,
    Raw,
    VariantReader,
    decode_keys,
    moment_of,
)
from paimon_explore.encoding.variant.encoder import primitive, scalar, text
from paimon_explore.encoding.variant.json_parser import parse_json_tree
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.encoding.variant.paths import (
    parse_path,
    tree_at,
    with_tree_at,
    without_tree_at,
)
from paimon_explore.encoding.variant.tree import (
    NULL,
    Primitive,
    Tree,
    decode_tree,
    encode_tree,
)
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Variant:
    """A value of a VARIANT column.

    Rows that are read contain its two byte strings: `Variant(**row["v"])`. Rows that are written
    may contain a variant, or any value that `Variant.of` takes.

    Attributes:
        value: the encoded value.
        metadata: the encoded keys of its objects.
    """

    value: bytes
    metadata: bytes

    @classmethod
    def of(cls, value: object) -> Self:
        """Encode a value of Python.

        A str is a text, also if it contains JSON: use `parse_json` for documents.

        Args:
            value: None, bool, int, float, Decimal, str, bytes, date, datetime (with a time zone:
                TIMESTAMP, without: TIMESTAMP_NTZ), UUID, a variant, or dicts with texts as keys,
                lists and tuples of these.

        Raises:
            InvalidInputError: the value is of another type, too large, or nested too deeply.

        >>> import paimon_explore as pe
        >>> pe.Variant.of({"a": [1, "x"]})
        Variant('{"a":[1,"x"]}')
        """
        return cls(*encode_tree(tree_of(value)))

    @classmethod
    def parse_json(cls, document: str) -> Self:
        """Parse a JSON document, as `parse_json` of SQL does.

        Raises:
            InvalidInputError: it is not JSON, or an object has a key twice.

        >>> import paimon_explore as pe
        >>> pe.Variant.parse_json('{"a": 1.50}').to_python()
        {'a': Decimal('1.50')}
        """
        return cls(*encode_tree(parse_json_tree(document)))

    def to_python(self) -> object:
        """Decode to dicts, lists and scalars; dates out of Python's range are numpy.datetime64.

        Raises:
            CorruptFileError: the variant is damaged.
        """
        return VariantReader(self.value, decode_keys(self.metadata, path=""), "").read(_PYTHON)

    def to_json(self, zone: dt.tzinfo = dt.UTC) -> str:
        """Format as JSON.

        Args:
            zone: the time zone of timestamps.

        Raises:
            CorruptFileError: the variant is damaged.
        """
        return json_text(self.value, self.metadata, zone=zone)

    def get(self, path: str) -> "Variant | None":
        """Return the value at a path; None if there is none.

        Args:
            path: `$`, then keys and indices: `$.key[0]['other key']`.

        Raises:
            InvalidInputError: the path is invalid.

        >>> import paimon_explore as pe
        >>> pe.Variant.of({"a": [1, "x"]}).get("$.a[1]")
        Variant('"x"')
        """
        found = tree_at(self._tree(), parse_path(path))
        return None if found is None else Variant(*encode_tree(found))

    def set(self, path: str, value: object) -> "Variant":
        """Return a variant with another value at a path, as `variant_set` of SQL.

        Missing keys and elements are added, and nulls before a missing element.

        Args:
            path: `$`, then at least one key or index.
            value: any value that `Variant.of` takes.

        Raises:
            InvalidInputError: the path is invalid, or leads into a value that is not an object or
                an array.

        >>> import paimon_explore as pe
        >>> pe.Variant.of({"a": 1}).set("$.b[1]", "x")
        Variant('{"a":1,"b":[null,"x"]}')
        """
        return Variant(*encode_tree(with_tree_at(self._tree(), parse_path(path), tree_of(value))))

    def delete(self, path: str) -> "Variant":
        """Return a variant without the key or element at a path, as `variant_delete` of SQL.

        Args:
            path: `$`, then at least one key or index.

        Raises:
            InvalidInputError: the path is invalid.
        """
        return Variant(*encode_tree(without_tree_at(self._tree(), parse_path(path))))

    def _tree(self) -> Tree:
        return decode_tree(self.value, self.metadata)

    def __str__(self) -> str:
        """Return the value as JSON."""
        return self.to_json()

    def __repr__(self) -> str:
        """Return the value as JSON."""
        try:
            return f"Variant({self.to_json()!r})"
        except PaimonError as error:
            return f"Variant(unreadable: {error.message})"


class _PythonMaker:
    """Builds Python values."""

    def leaf(self, kind: Kind, raw: Raw) -> builtins.object:
        """Return a scalar."""
        if kind is Kind.UUID and isinstance(raw, bytes):
            return UUID(bytes=raw)
        if isinstance(raw, int) and kind in MOMENTS:
            return moment_of(kind, raw)
        return raw

    def array(self, elements: list[builtins.object]) -> builtins.object:
        """Return a list."""
        return elements

    def object(self, fields: list[tuple[str, builtins.object]]) -> builtins.object:
        """Return a dict."""
        return dict(fields)


_PYTHON = _PythonMaker()
_MISSING = frozenset({"NoneType", "NAType", "NaTType"})
"""Names of the types of missing values; pandas itself is not imported here."""


def tree_of(value: object, depth: int = 0) -> Tree:
    """Encode the scalars of a value of Python; see `Variant.of`.

    Raises:
        InvalidInputError: a value has another type, or is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"A variant may be nested at most {MAX_DEPTH} levels deep.")
    match value:
        case Primitive():
            return value
        case Variant():
            return decode_tree(value.value, value.metadata)
        case Mapping():
            return {_key(key): tree_of(member, depth + 1) for key, member in value.items()}
        case list() | tuple():
            return [tree_of(element, depth + 1) for element in value]
        case _ if isinstance(value, np.ndarray):
            return [tree_of(element, depth + 1) for element in value]
        case _:
            return NULL if type(value).__name__ in _MISSING else Primitive(_primitive(value))


def _primitive(value: object) -> bytes:
    match value:
        case bool() | np.bool_():
            return primitive(Kind.TRUE if value else Kind.FALSE)
        case str():
            return text(value)
        case _ if isinstance(value, np.float32):
            return primitive(Kind.FLOAT, struct.pack("<f", value))
        case np.integer() | np.floating():
            return scalar(value.item())
        case bytearray() | memoryview():
            return scalar(bytes(value))
        case _:
            return scalar(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InvalidInputError(f"A key of a variant must be a string, not {key!r}.")
    return key
