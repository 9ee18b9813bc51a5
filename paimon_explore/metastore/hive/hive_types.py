"""Hive's types as text, such as `struct<a:int,b:array<string>>`, and their Paimon types.

Hive has no nullability, no TIME, BLOB, VARIANT, VECTOR or MULTISET, and shorter CHAR and VARCHAR.
Spec: hive/hive-type-conversion.
"""

import re
from collections.abc import Callable

from paimon_explore.data_types.definitions import (
    FLOATS,
    INTEGERS,
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
from paimon_explore.errors import UnsupportedFeatureError

LOCAL_ZONED = "timestamp with local time zone"
"""Hive 3's type of TIMESTAMP WITH LOCAL TIME ZONE; Hive 2 has none."""

MAX_DEPTH = 64
"""Maximum nesting of types; protects against stack overflow."""
_MAX_CHAR = 255
_MAX_VARCHAR = 65535

_SAME = INTEGERS | FLOATS | {TypeRoot.BOOLEAN, TypeRoot.DATE}
"""Types with the same name in both."""
_TO_HIVE = {
    **{root: root.value.lower() for root in _SAME},
    **dict.fromkeys((TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.BLOB), "binary"),
    TypeRoot.TIME: "string",
    TypeRoot.TIMESTAMP: "timestamp",
    TypeRoot.VARIANT: "struct<value:binary,metadata:binary>",
}
_FROM_HIVE = {
    **{root.value.lower(): AtomicType(root=root) for root in _SAME},
    "integer": AtomicType(root=TypeRoot.INT),
    "string": AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    "binary": AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH),
    "timestamp": AtomicType(root=TypeRoot.TIMESTAMP, precision=6),
    LOCAL_ZONED: AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=6),
    "decimal": AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=0),
}
_DECIMAL = re.compile(r"(?:decimal|numeric)\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)")
_TEXT = re.compile(r"(char|varchar)\(\s*(\d{1,5})\s*\)")
_TEXT_ROOTS = {"char": TypeRoot.CHAR, "varchar": TypeRoot.VARCHAR}


def hive_type(data_type: DataType, *, local_zoned: str = "timestamp") -> str:
    """Return the Hive type of a Paimon type.

    Args:
        data_type: the type.
        local_zoned: the type of TIMESTAMP WITH LOCAL TIME ZONE: `timestamp` for Hive 2, else
            `LOCAL_ZONED`.

    Raises:
        UnsupportedFeatureError: Hive has no such type.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> hive_type(parse_type_text("ROW<a INT, b MAP<STRING, DECIMAL(10, 2)>>"))
    'struct<a:int,b:map<string,decimal(10,2)>>'
    """

    def convert(inner: DataType) -> str:
        return hive_type(inner, local_zoned=local_zoned)

    match data_type:
        case AtomicType():
            return _atomic(data_type, local_zoned)
        case ArrayType() | VectorType():
            return f"array<{convert(data_type.element)}>"
        case MultisetType():
            return f"map<{convert(data_type.element)},int>"
        case MapType():
            return f"map<{convert(data_type.key)},{convert(data_type.value)}>"
        case RowType():
            return f"struct<{','.join(f'{f.name}:{convert(f.type)}' for f in data_type.fields)}>"


def _atomic(data_type: AtomicType, local_zoned: str) -> str:
    length = data_type.length or 1
    match data_type.root:
        case TypeRoot.DECIMAL:
            return f"decimal({data_type.precision},{data_type.scale})"
        case TypeRoot.CHAR:
            return f"char({length})" if length <= _MAX_CHAR else "string"
        case TypeRoot.VARCHAR:
            return f"varchar({length})" if length <= _MAX_VARCHAR else "string"
        case TypeRoot.TIMESTAMP_LTZ:
            return local_zoned
        case root:
            name = _TO_HIVE.get(root)
            if name is None:
                raise UnsupportedFeatureError(f"a column of type {root.value} in a Hive metastore")
            return name


class _UnreadableError(Exception):
    """The text is not a type."""


def paimon_type(text: str) -> DataType:
    """Return the Paimon type of a Hive type; fields of structs get ids from 0.

    Raises:
        UnsupportedFeatureError: Paimon has no such type.

    >>> paimon_type("map<string,array<int>>").value.element.root.value
    'INT'
    """
    try:
        found, rest = _parse(text, 0, iter(range(MAX_LENGTH)).__next__)
    except _UnreadableError:
        rest = text
        found = None
    if found is None or rest.strip():
        raise UnsupportedFeatureError(f"Hive type {text[:80]!r}")
    return found


def _parse(text: str, depth: int, next_id: Callable[[], int]) -> tuple[DataType, str]:
    """Parse the type at the start of a text; return it and the rest."""
    text = text.lstrip()
    head = re.match(r"[^<>,]*", text)
    name = head.group().strip().lower() if head else ""
    if depth > MAX_DEPTH:
        raise _UnreadableError
    if name.startswith(("decimal(", "numeric(")):  # its comma is not that of a list
        name, end, rest = text.partition(")")
        return _parameterized(name.lower() + end), rest
    rest = text[head.end() :] if head else ""
    match name:
        case "array":
            element, rest = _parse(_after(rest, "<"), depth + 1, next_id)
            return ArrayType(element=element), _after(rest, ">")
        case "map":
            key, rest = _parse(_after(rest, "<"), depth + 1, next_id)
            value, rest = _parse(_after(rest, ","), depth + 1, next_id)
            return MapType(key=key, value=value), _after(rest, ">")
        case "struct":
            return _struct(_after(rest, "<"), depth + 1, next_id)
        case _:
            return _FROM_HIVE.get(name) or _parameterized(name), rest


def _struct(text: str, depth: int, next_id: Callable[[], int]) -> tuple[DataType, str]:
    fields = []
    while True:
        name, colon, rest = text.partition(":")
        if not colon or not name.strip():
            raise _UnreadableError
        field_type, rest = _parse(rest, depth, next_id)
        fields.append(DataField(id=next_id(), name=name.strip(), type=field_type))
        rest = rest.lstrip()
        if rest.startswith(">"):
            return RowType(fields=tuple(fields)), rest[1:]
        text = _after(rest, ",")


def _after(text: str, mark: str) -> str:
    text = text.lstrip()
    if not text.startswith(mark):
        raise _UnreadableError
    return text[1:]


def _parameterized(name: str) -> AtomicType:
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        precision, scale = int(decimal[1]), int(decimal[2] or 0)
        return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)
    text = _TEXT.fullmatch(name)
    if text:
        return AtomicType(root=_TEXT_ROOTS[text[1]], length=int(text[2]))
    raise _UnreadableError
