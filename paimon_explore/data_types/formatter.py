"""Formatting of data types: JSON of schema files, and SQL text.

Spec: concepts/spec/schema.
"""

import json as json_text
from collections.abc import Mapping

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
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

_BARE_REFUSED = frozenset("<>(),.'`")


def type_to_json(data_type: DataType) -> object:
    """Format a type as in schema files: a string, or an object for a nested type.

    >>> type_to_json(AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2))
    'DECIMAL(10, 2)'
    """
    suffix = "" if data_type.nullable else " NOT NULL"
    match data_type:
        case AtomicType():
            return _atomic_json(data_type, suffix)
        case ArrayType():
            return {"type": f"ARRAY{suffix}", "element": type_to_json(data_type.element)}
        case MultisetType():
            return {"type": f"MULTISET{suffix}", "element": type_to_json(data_type.element)}
        case VectorType():
            element = type_to_json(data_type.element)
            return {"type": f"VECTOR{suffix}", "element": element, "length": data_type.length}
        case MapType():
            key, value = type_to_json(data_type.key), type_to_json(data_type.value)
            return {"type": f"MAP{suffix}", "key": key, "value": value}
        case RowType():
            return {"type": f"ROW{suffix}", "fields": [field_to_json(f) for f in data_type.fields]}


def _atomic_json(atomic: AtomicType, suffix: str) -> object:
    if atomic.root is not TypeRoot.UNKNOWN:
        return _atomic_text(atomic) + suffix
    (text,) = atomic.parameters
    return json_text.loads(text) if text.startswith("{") else text + suffix


def field_to_json(field: DataField) -> dict[str, object]:
    """Format a field as in schema files; a missing description or default value is omitted."""
    json: dict[str, object] = {"id": field.id, "name": field.name, "type": type_to_json(field.type)}
    if field.description is not None:
        json["description"] = field.description
    if field.default_value is not None:
        json["defaultValue"] = field.default_value
    return json


def type_text(data_type: DataType) -> str:
    """Format a type as in DDL and DESCRIBE, without field ids.

    >>> type_text(ArrayType(element=AtomicType(root=TypeRoot.INT), nullable=False))
    'ARRAY<INT> NOT NULL'
    """
    return _type_text(data_type) + ("" if data_type.nullable else " NOT NULL")


def _type_text(data_type: DataType) -> str:
    match data_type:
        case AtomicType():
            return _atomic_text(data_type)
        case ArrayType():
            return f"ARRAY<{type_text(data_type.element)}>"
        case MultisetType():
            return f"MULTISET<{type_text(data_type.element)}>"
        case VectorType():
            return f"VECTOR<{type_text(data_type.element)}, {data_type.length}>"
        case MapType():
            return f"MAP<{type_text(data_type.key)}, {type_text(data_type.value)}>"
        case RowType():
            return f"ROW<{', '.join(field_text(field) for field in data_type.fields)}>"


def field_text(field: DataField) -> str:
    """Format a field as in DDL: name, type, comment, default value."""
    text = f"`{field.name.replace('`', '``')}` {type_text(field.type)}"
    if field.description:
        text += f" COMMENT {_quoted(field.description)}"
    if field.default_value is not None:
        text += f" DEFAULT {field.default_value}"
    return text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _atomic_text(atomic: AtomicType) -> str:
    root = atomic.root
    if root is TypeRoot.UNKNOWN:
        return f"unknown: {atomic.parameters[0]}"
    if atomic.length == MAX_LENGTH and root in _UNBOUNDED:
        return _UNBOUNDED[root]
    if root is TypeRoot.TIMESTAMP_LTZ:
        return f"TIMESTAMP({atomic.precision}) WITH LOCAL TIME ZONE"
    numbers = (atomic.length, atomic.precision, atomic.scale)
    given = [str(number) for number in numbers if number is not None]
    given += map(_parameter, atomic.parameters)
    return f"{root.value}({', '.join(given)})" if given else root.value


_UNBOUNDED: Mapping[TypeRoot, str] = {TypeRoot.VARCHAR: "STRING", TypeRoot.VARBINARY: "BYTES"}


def _parameter(text: str) -> str:
    refused = _BARE_REFUSED.intersection(text) or any(map(str.isspace, text))
    return _quoted(text) if refused or not text or text[0].isdigit() else text
