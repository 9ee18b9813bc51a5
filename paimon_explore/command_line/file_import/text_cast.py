"""Casts of text to Arrow types that tell which value does not fit."""

import base64
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Self

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import VARIANT_ARROW
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.variant.arrow_values import variant_column
from paimon_explore.encoding.variant.json_parser import parse_json_tree
from paimon_explore.encoding.variant.tree import Tree
from paimon_explore.encoding.variant.variant import tree_of
from paimon_explore.errors import PaimonError


class MisfitError(Exception):
    """A value that cannot be cast.

    Attributes:
        index: its position in the column.
        reason: why, as the end of a sentence; may be empty.
    """

    def __init__(self, index: int, reason: str = "") -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


def cast_texts(texts: Sequence[str | None], data_type: pa.DataType) -> Column:
    """Cast text; null stays null.

    Bytes are Base64, and lists, maps, rows and variants are JSON.

    Raises:
        MisfitError: a text is not a value of the type.

    >>> cast_texts(["1", None, " 3"], pa.int32()).to_pylist()
    [1, None, 3]
    """
    return located(texts, lambda part: _cast(part, data_type))


def cast_json(values: Sequence[object], data_type: pa.DataType) -> Column:
    """Cast values of JSON; null stays null.

    Raises:
        MisfitError: a value is not one of the type.
    """
    if data_type.equals(VARIANT_ARROW):
        return located(
            values, lambda part: variant_column(None if v is None else _tree(v) for v in part)
        )
    if pa.types.is_nested(data_type):
        return located(values, lambda part: _nested(part, data_type))
    return cast_texts([json_scalar(value) for value in values], data_type)


def cast_column(column: Column, data_type: pa.DataType) -> Column:
    """Cast Arrow values without loss.

    Raises:
        MisfitError: a value does not fit the type.
    """
    if column.type == data_type:
        return column
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return cast_texts([None if v is None else str(v) for v in as_python(column)], data_type)
    positions = range(len(column))
    return located(positions, lambda part: column.take(pa.array(part, pa.int64())).cast(data_type))


def located(values: Sequence[object], cast: Callable[[Sequence[object]], Column]) -> Column:
    """Cast values; if that fails, find the first one that does not fit by bisection.

    Raises:
        MisfitError: a value does not fit.
    """
    try:
        return cast(values)
    except _ERRORS as error:
        first, end, reason = 0, len(values), str(error)
        while end - first > 1:
            middle = (first + end) // 2
            try:
                cast(values[first:middle])
            except _ERRORS as inner:
                end, reason = middle, str(inner)
            else:
                first = middle
        raise MisfitError(first, _reason(reason)) from error


_ERRORS = (MisfitError, ValueError, TypeError, OverflowError, pa.ArrowException, PaimonError)


def _reason(text: str) -> str:
    """The part of an error of Arrow that is not told already."""
    for sign in ("zone offset", "data loss", "out of bounds", "not in range", "does not fit"):
        if sign in text:
            return f" ({text.splitlines()[0].rstrip('.')})"
    return ""


def _cast(values: Sequence[object], data_type: pa.DataType) -> Column:
    if pa.types.is_string(data_type) or pa.types.is_large_string(data_type):
        return pa.array(values, data_type)
    if data_type.equals(VARIANT_ARROW):
        return variant_column(None if one is None else parse_json_tree(str(one)) for one in values)
    if pa.types.is_nested(data_type):
        return _nested(values, data_type)
    if (
        pa.types.is_binary(data_type)
        or pa.types.is_large_binary(data_type)
        or pa.types.is_fixed_size_binary(data_type)
    ):
        decode = partial(base64.b64decode, validate=True)
        return pa.array([None if v is None else decode(str(v)) for v in values], data_type)
    trimmed = pc.utf8_trim_whitespace(pa.array(values, pa.string()))
    if isinstance(data_type, pa.Time32Type):  # Arrow casts no texts to times
        texts = [None if text is None else f"1970-01-01 {text}" for text in as_python(trimmed)]
        return pa.array(texts, pa.string()).cast(pa.timestamp(data_type.unit)).cast(data_type)
    found = trimmed.cast(data_type)
    if pa.types.is_decimal(data_type):
        _check_digits(trimmed, found)
    return found


def _check_digits(texts: Column, found: Column) -> None:
    """Check decimals: Arrow drops the high digits of texts with more than 38, also by exponent."""
    is_long = pc.call_function(
        "match_substring_regex", [texts], pc.MatchSubstringOptions(r".{39}|[eE]")
    )
    for text, value in zip(texts.filter(is_long), found.filter(is_long), strict=True):
        if Decimal(str(text)) != value.as_py():
            raise ValueError("A decimal has at most 38 digits: the value does not fit.")


def _nested(values: Sequence[object], data_type: pa.DataType) -> Column:
    """Convert lists, maps and rows, or their texts."""
    parsed = (
        json.loads(value, parse_float=NumberLiteral) if isinstance(value, str) else value
        for value in values
    )
    return pa.array([_converted(value, data_type) for value in parsed], data_type)


def _converted(value: object, data_type: pa.DataType) -> object:
    """A JSON value as Arrow takes it: scalars by their text, maps as pairs."""
    if value is None:
        return None
    if data_type.equals(VARIANT_ARROW):
        return as_python(variant_column([_tree(value)]))[0]
    if isinstance(data_type, pa.MapType):
        key, item = data_type.key_type, data_type.item_type
        return [(_converted(k, key), _converted(v, item)) for k, v in _pairs(value)]
    if isinstance(data_type, pa.StructType):
        return _struct(value, data_type)
    if isinstance(data_type, pa.ListType | pa.FixedSizeListType):
        if not isinstance(value, list):
            raise TypeError("Not a list.")
        return [_converted(one, data_type.value_type) for one in value]
    return as_python(cast_texts([json_scalar(value)], data_type))[0]


def _pairs(value: object) -> list[tuple[object, object]]:
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list):
        raise TypeError("Not a map.")
    return [(key, item) for key, item in value]


def _struct(value: object, data_type: pa.StructType) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError("Not an object.")
    fields = {field.name: field.type for field in data_type}
    unknown = next((name for name in value if name not in fields), None)
    if unknown is not None:
        raise ValueError(f"Unknown field {unknown!r}.")
    return {name: _converted(value.get(name), kind) for name, kind in fields.items()}


class NumberLiteral(float):
    """A number of JSON that remembers its digits, for decimals."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> Self:
        """Parse the digits."""
        made = super().__new__(cls, text)
        made.text = text
        return made


def _tree(value: object) -> Tree:
    match value:
        case NumberLiteral():
            return parse_json_tree(value.text)
        case dict():
            return {key: _tree(member) for key, member in value.items()}
        case list():
            return [_tree(element) for element in value]
        case _:
            return tree_of(value)


def json_scalar(value: object) -> str | None:
    """Return a value of JSON as text that `cast_texts` takes."""
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case NumberLiteral():
            return value.text
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)
