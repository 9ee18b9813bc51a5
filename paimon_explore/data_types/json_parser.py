"""Parsing of types and fields in schema files (JSON).

An atomic type is a string; a nested type is a JSON object whose `type` begins with its kind and
contains `NOT NULL` if values may not be null. Field ids must be present for all fields or for none;
missing ids are assigned in document order, a field before its nested fields.

A type of a later version of Paimon is kept as it is written, so that the other columns of a table
can be read.

Spec: concepts/spec/schema.
"""

import json as json_text
from collections.abc import Mapping

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
from paimon_explore.data_types.type_parser import (
    MAX_DEPTH,
    UnknownTypeError,
    UnreadableTypeError,
    checked_length,
    excerpt,
    read_stored_text,
)
from paimon_explore.errors import CorruptFileError

_MAX_INT32 = 2**31 - 1


def parse_type(json: object, where: str, *, path: str = "") -> DataType:
    """Parse a type of a schema file.

    Args:
        json: a string, or an object for a nested type.
        where: path of the value in the file, for errors.
        path: the file, for errors.

    Raises:
        CorruptFileError: the value is not a type.

    >>> parse_type("TIMESTAMP_LTZ(3) NOT NULL", "fields[0]").nullable
    False
    """
    return _TypeReader(path).type(json, where, 0)


def parse_fields(
    json: object, where: str, *, path: str = "", keep_unknown: bool = False
) -> tuple[DataField, ...]:
    """Parse a JSON array of fields.

    Args:
        json: the array.
        where: path of the value in the file, for errors.
        path: the file, for errors.
        keep_unknown: whether a type that is not known becomes one of the kind `UNKNOWN`.

    Raises:
        CorruptFileError: the value is not a list of fields, or only some of them have an id.
    """
    return _TypeReader(path, keep_unknown=keep_unknown).fields(json, where, 0)


class _TypeReader:
    """Parser of one tree of types; assigns field ids if none are given."""

    def __init__(self, path: str, *, keep_unknown: bool = False) -> None:
        self._path = path
        self._keep_unknown = keep_unknown
        self._given_ids = 0
        self._assigned_ids = 0

    def type(self, json: object, where: str, depth: int) -> DataType:
        if depth > MAX_DEPTH:
            raise self._error(where, f"types are nested more than {MAX_DEPTH} levels deep")
        if isinstance(json, str):
            try:
                return read_stored_text(json, depth)
            except UnreadableTypeError as problem:
                if self._keep_unknown and isinstance(problem, UnknownTypeError):
                    return _unknown(json)
                raise self._error(where, f"is not a valid type: {problem}") from problem
        members = self._object(json, where, "a type")
        head = self._text(members, "type", where).upper()
        nullable = "NOT NULL" not in head
        kind = next((kind for kind in _NESTED_KINDS if head.startswith(kind)), "")
        if self._keep_unknown and not kind:
            return _unknown(json_text.dumps(members), nullable=nullable)
        return self._nested(kind, members, where, depth, nullable=nullable)

    def _nested(
        self, kind: str, members: Mapping[str, object], where: str, depth: int, *, nullable: bool
    ) -> DataType:
        def child(key: str) -> DataType:
            return self.type(members.get(key), f"{where}.{key}", depth + 1)

        match kind:
            case "ARRAY":
                return ArrayType(element=child("element"), nullable=nullable)
            case "MULTISET":
                return MultisetType(element=child("element"), nullable=nullable)
            case "MAP":
                return MapType(key=child("key"), value=child("value"), nullable=nullable)
            case "VECTOR":
                length = self._length(members, where)
                return VectorType(element=child("element"), length=length, nullable=nullable)
            case "ROW":
                fields = self.fields(members.get("fields"), f"{where}.fields", depth + 1)
                return RowType(fields=fields, nullable=nullable)
            case _:
                raise self._error(where, f"the type {excerpt(members['type'])} is unknown")

    def fields(self, json: object, where: str, depth: int) -> tuple[DataField, ...]:
        if not isinstance(json, list):
            raise self._error(where, f"must be a list of fields, not {excerpt(json)}")
        return tuple(self.field(item, f"{where}[{i}]", depth) for i, item in enumerate(json))

    def field(self, json: object, where: str, depth: int) -> DataField:
        members = self._object(json, where, "a field")
        field_id = self._id(members, where)
        name = self._text(members, "name", where)
        return DataField(
            id=field_id,
            name=name,
            type=self.type(members.get("type"), f"{where}({name}).type", depth),
            description=self._optional_text(members, "description", where),
            default_value=self._optional_text(members, "defaultValue", where),
        )

    def _id(self, members: Mapping[str, object], where: str) -> int:
        found = members.get("id")
        if found is None:
            self._assigned_ids += 1
        else:
            self._given_ids += 1
        if self._assigned_ids and self._given_ids:
            rule = "must have an id, because other fields have one"
            if found is not None:
                rule = "must not have an id, because other fields have none"
            raise self._error(where, rule)
        if found is None:
            return self._assigned_ids - 1
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= _MAX_INT32:
            raise self._error(
                where, f"a field id must be an integer from 0 to {_MAX_INT32}, not {excerpt(found)}"
            )
        return found

    def _length(self, members: Mapping[str, object], where: str) -> int:
        found = members.get("length")
        if isinstance(found, bool) or not isinstance(found, int):
            raise self._error(
                where, f"the length of a vector must be an integer, not {excerpt(found)}"
            )
        try:
            return checked_length("VECTOR", found)
        except UnreadableTypeError as problem:
            raise self._error(where, str(problem)) from problem

    def _object(self, json: object, where: str, what: str) -> Mapping[str, object]:
        if not isinstance(json, dict):
            raise self._error(where, f"must be {what}, not {excerpt(json)}")
        return json

    def _text(self, members: Mapping[str, object], key: str, where: str) -> str:
        found = members.get(key)
        if not isinstance(found, str):
            raise self._error(where, f"{key!r} must be a string, not {excerpt(found)}")
        return found

    def _optional_text(self, members: Mapping[str, object], key: str, where: str) -> str | None:
        return None if members.get(key) is None else self._text(members, key, where)

    def _error(self, where: str, rule: str) -> CorruptFileError:
        return CorruptFileError(self._path, where, rule)


def _unknown(text: str, *, nullable: bool = True) -> AtomicType:
    """Return the type of a text, whose nullability is in it, or of JSON."""
    bare = text.removesuffix(_NOT_NULL).rstrip()
    return AtomicType(root=TypeRoot.UNKNOWN, nullable=nullable and bare == text, parameters=(bare,))


_NOT_NULL = "NOT NULL"
_NESTED_KINDS = ("ARRAY", "MULTISET", "MAP", "VECTOR", "ROW")
