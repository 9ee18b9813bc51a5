"""Spark's functions of JSON, for values of any type, one value at a time."""

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow import is_variant_storage, to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.casts.numeric_casts import fitted_decimal
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.variants.kernels import VARIANT_KERNELS

_Texts: TypeAlias = list[str | None]
_quoted = partial(json.dumps, ensure_ascii=False)


def python_values(column: Column) -> list[Any]:
    """Return the values of a column as objects of Python."""
    return [one.as_py() for one in column]


def json_column(columns: Sequence[Column]) -> Column:
    """Return the values of a column as JSON, as `to_json` of Spark: without null members."""
    found: Column = pa.array(_texts(columns[0], is_json=True), pa.string())
    return found


def text_column(columns: Sequence[Column]) -> Column:
    """Return arrays, maps and structs as texts, as a cast to STRING of Spark."""
    found: Column = pa.array(_texts(columns[0], is_json=False), pa.string())
    return found


def _texts(values: Column, *, is_json: bool) -> _Texts:
    kind = values.type
    comma, arrow = (",", ":") if is_json else (", ", " -> ")
    if is_variant_storage(kind):
        return python_values(VARIANT_KERNELS["to_json"]([values]))
    if isinstance(values, pa.StructArray) and isinstance(kind, pa.StructType):
        keys = [f"{_quoted(field.name)}:" if is_json else "" for field in kind]
        members = (_texts(one, is_json=is_json) for one in values.flatten())
        rows = [
            comma.join(
                f"{key}{_or_word(one)}"
                for key, one in zip(keys, row, strict=True)
                if one is not None or not is_json
            )
            for row in zip(*members, strict=True)
        ]
        return _with_nulls(values, [f"{{{row}}}" for row in rows])
    if isinstance(values, pa.MapArray):
        form = _json_key if is_json else _plain_value
        pairs = zip(python_values(values.keys), _texts(values.items, is_json=is_json), strict=True)
        texts = [f"{form(key)}{arrow}{_or_word(one)}" for key, one in pairs]
        return _with_nulls(values, _listed(values.offsets, "{}", texts, comma))
    if isinstance(values, pa.ListArray | pa.LargeListArray):
        texts = [*map(_or_word, _texts(values.values, is_json=is_json))]
        return _with_nulls(values, _listed(values.offsets, "[]", texts, comma))
    value = _json_value if is_json else _plain_value
    if pat.is_float32(kind):
        value = partial(value, real_text=float_text)
    return [None if one is None else value(one) for one in python_values(values)]


def _or_word(text: str | None) -> str:
    return "null" if text is None else text


def _listed(offsets: Column, brackets: str, texts: Sequence[str | None], comma: str) -> list[str]:
    spans = pairwise(python_values(offsets))
    rows = (comma.join(map(_or_word, texts[start:end])) for start, end in spans)
    return [f"{brackets[0]}{row}{brackets[1]}" for row in rows]


def _with_nulls(values: Column, texts: Sequence[str]) -> _Texts:
    nulls = python_values(values.is_null())
    return [None if is_null else text for text, is_null in zip(texts, nulls, strict=True)]


def _json_key(key: object) -> str:
    if isinstance(key, date):
        msg = "to_json of a map with keys of dates or times needs Spark."
        raise InvalidInputError(msg, hint="Cast the keys to STRING.")
    return _quoted(_plain_value(key))


def _json_value(value: object, real_text: Callable[[float], str] = double_text) -> str:  # noqa: PLR0911 - one for each type
    match value:
        case bytes():
            return f'"{b64encode(value).decode()}"'
        case datetime():
            zone = value.isoformat()[26 if value.microsecond else 19 :]
            text = value.replace(tzinfo=None).isoformat(timespec="milliseconds")
            return f'"{text}{"Z" if zone == "+00:00" else zone}"'
        case date() | time():
            return f'"{value.isoformat()}"'
        case Decimal():
            return str(value)
        case float() if math.isfinite(value):
            return real_text(value)
        case float():
            return f'"{real_text(value)}"'
        case _:
            return _quoted(value)


def _plain_value(value: object, real_text: Callable[[float], str] = double_text) -> str:  # noqa: PLR0911 - as above
    match value:
        case str():
            return value
        case bytes():
            return value.decode(errors="replace")
        case datetime():
            text = value.replace(tzinfo=None).isoformat(" ")
            return text.rstrip("0") if value.microsecond else text
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case float():
            return real_text(value)
        case _:
            return _quoted(value)


class _MismatchError(Exception):
    """A value does not have the type of the schema."""


class _Number(str):
    """A number of JSON as it is written."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=_Number, parse_int=_Number, strict=False)


def parsed_column(target: DataType, columns: Sequence[Column]) -> Column:
    """Return texts of JSON as values of a type, as `from_json` of Spark in permissive mode."""
    found: Column = pa.array(
        [None if one is None else _parsed(one, target) for one in python_values(columns[0])],
        to_arrow(target),
    )
    return found


def _parsed(text: str, target: DataType) -> object:
    if not text.strip():
        return None
    empty = dict.fromkeys(target.names) if isinstance(target, RowType) else None
    try:
        tree = _document(text)
    except json.JSONDecodeError:
        if "'" in text:
            msg = "from_json without Spark reads no names or texts in single quotes."
            raise InvalidInputError(msg, hint="Write them in double quotes.") from None
        return empty
    if isinstance(target, ArrayType) and isinstance(tree, dict):
        tree = [tree]
    try:
        return _converted(tree, target) if tree is not None else empty
    except _MismatchError:
        return empty


def _document(text: str) -> Any:  # noqa: ANN401 - any value of JSON
    """Return the document at the start of a text.

    Raises:
        json.JSONDecodeError: there is none.
        InvalidInputError: it is nested too deeply.
    """
    try:
        return _DECODER.raw_decode(text, len(text) - len(text.lstrip()))[0]
    except RecursionError:
        raise InvalidInputError("A JSON document is nested too deeply to be parsed.") from None


def _converted(tree: object, target: DataType) -> object:
    if tree is None:
        return None
    match target:
        case RowType(fields=fields) if isinstance(tree, dict):
            return {field.name: _or_null(tree.get(field.name), field.type) for field in fields}
        case ArrayType(element=element) if isinstance(tree, list):
            return [_converted(one, element) for one in tree]
        case MapType(key=key, value=value) if isinstance(tree, dict):
            return [(_converted(one, key), _converted(tree[one], value)) for one in tree]
        case AtomicType() if target.root in _ATOMIC:
            return _ATOMIC[target.root](tree, target)
        case AtomicType():
            raise InvalidInputError(f"from_json without Spark cannot return {target.root.value}.")
        case _:
            raise _MismatchError


def _or_null(tree: object, target: DataType) -> object:
    try:
        return _converted(tree, target)
    except _MismatchError:
        return None


def _text(tree: object, _: AtomicType) -> str:
    return str(tree) if type(tree) is str else _compact(tree)


def _compact(tree: object) -> str:
    match tree:
        case _Number():
            return str(tree) if tree.lstrip("-").isdigit() else double_text(float(tree))
        case dict():
            return f"{{{','.join(f'{_quoted(key)}:{_compact(tree[key])}' for key in tree)}}}"
        case list():
            return f"[{','.join(map(_compact, tree))}]"
        case _:
            return _quoted(tree)


def _boolean(tree: object, _: AtomicType) -> bool:
    if not isinstance(tree, bool):
        raise _MismatchError
    return tree


def _whole(tree: object, target: AtomicType) -> int:
    least = 1 << _BITS[target.root] - 1
    if isinstance(tree, _Number) and re.fullmatch("-?[0-9]+", tree) and -least <= int(tree) < least:
        return int(tree)
    raise _MismatchError


def _float(tree: object, _: AtomicType) -> float:
    if isinstance(tree, float | _Number) or tree in _SPECIAL:
        return float(str(tree))
    raise _MismatchError


def _decimal(tree: object, target: AtomicType) -> Decimal:
    if not isinstance(tree, str):
        raise _MismatchError
    try:
        found = fitted_decimal(Decimal(tree.replace(",", "")), target)
    except ArithmeticError:
        raise _MismatchError from None
    if found is None:
        raise _MismatchError
    return found


def _time(tree: object, target: AtomicType) -> date:
    if not isinstance(tree, str):
        raise _MismatchError
    has_zone = target.root is TypeRoot.TIMESTAMP_LTZ
    if isinstance(tree, _Number) and has_zone and tree.lstrip("-").isdigit():
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(tree))
    try:
        found = datetime.fromisoformat(re.sub(r"(?<=-)([0-9])(?=-|$|[T ])", r"0\1", tree.strip()))
    except ValueError:
        raise _MismatchError from None
    if target.root is TypeRoot.DATE:
        return found.date()
    return found.astimezone(UTC) if has_zone else found.replace(tzinfo=None)


def _bytes(tree: object, _: AtomicType) -> bytes:
    if type(tree) is not str:
        raise _MismatchError
    return b64decode(tree)


_SPECIAL = ("NaN", "Infinity", "-Infinity", "+Infinity", "INF", "+INF", "-INF")
_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INT: 32, TypeRoot.BIGINT: 64}
_ATOMIC: Mapping[TypeRoot, Callable[[object, AtomicType], object]] = {
    **dict.fromkeys((TypeRoot.VARCHAR, TypeRoot.CHAR), _text),
    TypeRoot.BOOLEAN: _boolean,
    **dict.fromkeys(_BITS, _whole),
    **dict.fromkeys((TypeRoot.FLOAT, TypeRoot.DOUBLE), _float),
    TypeRoot.DECIMAL: _decimal,
    **dict.fromkeys((TypeRoot.DATE, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ), _time),
    TypeRoot.VARBINARY: _bytes,
}


def json_schema(text: str) -> str:
    """Return the type of a JSON document, as `schema_of_json` of Spark.

    >>> json_schema('{"a": [1, 2.5], "b": null}')
    'STRUCT<a: ARRAY<DOUBLE>, b: STRING>'
    """
    try:
        tree = _document(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{text!r} is not JSON: {error.msg}.") from error
    return _schema_text(_schema(tree))


def _schema(tree: object) -> object:
    """Return a name, a tuple of the schema of elements, or the schemas of members by key."""
    match tree:
        case dict():
            return {key: _schema(tree[key]) for key in sorted(tree)}
        case list():
            found: object = None
            for one in tree:
                found = _merged(found, _schema(one))
            return (found,)
        case _Number() if tree.lstrip("-").isdigit():
            digits = len(tree.lstrip("-"))
            return "BIGINT" if -(2**63) <= int(tree) < 2**63 else f"DECIMAL({digits},0)"
        case _Number() | float():
            return "DOUBLE"
        case bool():
            return "BOOLEAN"
        case _:
            return None if tree is None else "STRING"


def _merged(one: object, other: object) -> object:
    if one is None or other is None or one == other:
        return other if one is None else one
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted({*one, *other})
        return {key: _merged(one.get(key), other.get(key)) for key in keys}
    if isinstance(one, tuple) and isinstance(other, tuple):
        return (_merged(one[0], other[0]),)
    return "DOUBLE" if {one, other} == {"BIGINT", "DOUBLE"} else "STRING"


def _schema_text(schema: object) -> str:
    match schema:
        case dict():
            members = ((key, one) for key, one in schema.items() if one != {})
            shown = (
                f"{key if re.fullmatch('[A-Za-z0-9_]+', key) else f'`{key}`'}: {_schema_text(one)}"
                for key, one in members
            )
            return f"STRUCT<{', '.join(shown)}>"
        case tuple():
            return f"ARRAY<{_schema_text(schema[0])}>"
        case _:
            return "STRING" if schema is None else str(schema)
