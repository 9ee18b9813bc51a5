"""Translates a filter of pyarrow.dataset, which DuckDB makes, into a condition of a scan.

pyarrow has no access to the parts of an expression, so its text is parsed. What is not recognized
is left out of a conjunction, so the condition may match more rows than the filter, never fewer.

| text | condition |
| --- | --- |
| `(a and b)`, `(a or b)` | AND of the recognized sides; OR if both are recognized |
| `(id > 5)`, `(5 < id)` | comparison of a column with a value |
| `is_null(id, …)`, `is_valid(id)` | IS NULL, IS NOT NULL |
| `is_in(id, {value_set=int64:[1, 2], …})` | IN |
| `if_else(is_valid(id), x, null[bool])` | `x` |
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

from paimon_explore.data_types.definitions import RowType
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import (
    compared,
    kind_of,
    one_of,
    swapped,
)

_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPARISON = re.compile(r"(?P<left>.+?) (?P<operator>==|!=|<=|>=|<|>) (?P<right>.+)", re.DOTALL)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)", re.DOTALL)
_VALUES = re.compile(r"\{value_set=[^:]+:\[(?P<values>.*)\], .*\}", re.DOTALL)
_MAX_TEXT = 80
"""Arrow shortens longer texts when it prints a list."""
_PAIR = 2


def arrow_condition(text: str, row_type: RowType) -> Term | None:
    """Return a condition that holds for all rows that a filter accepts; None if there is none.

    Args:
        text: the text of a pyarrow.compute.Expression.
        row_type: the columns.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> row_type = parse_type_text("ROW<id INT, city STRING>")
    >>> arrow_condition('((id > 5) and starts_with(city, {pattern="O"}))', row_type)
    Term(id > 5)
    """
    text = text.strip()
    call = _CALL.fullmatch(text)
    if call is not None:
        return _call(call["name"], _split(call["arguments"], ", "), row_type)
    if not (text.startswith("(") and _end(text) == len(text)):
        return None
    inner = text[1:-1]
    for word in (" and ", " or "):
        sides = _split(inner, word)
        if len(sides) == _PAIR:
            return _both([arrow_condition(side, row_type) for side in sides], word)
    return _comparison(inner, row_type)


def _both(sides: list[Term | None], word: str) -> Term | None:
    known = [side for side in sides if side is not None]
    if len(known) == _PAIR:
        return known[0] & known[1] if word == " and " else known[0] | known[1]
    return known[0] if known and word == " and " else None


def _call(name: str, arguments: list[str], row_type: RowType) -> Term | None:
    first = arguments[0].strip()
    if name == "if_else" and len(arguments) == _PAIR + 1 and arguments[-1] == "null[bool]":
        return arrow_condition(arguments[1], row_type)
    if row_type.field(first) is None or not _NAME.fullmatch(first):
        return None
    if name == "is_null" and kind_of(row_type, first) is not None:
        return col(first).is_null()
    if name == "is_valid":
        return col(first).is_not_null()
    if name == "is_in":
        values = _VALUES.fullmatch(", ".join(arguments[1:]))
        return None if values is None else _member(first, values["values"], row_type)
    return None


def _member(name: str, text: str, row_type: RowType) -> Term | None:
    parts = [part.strip() for part in _split(text, ",")]
    values = [_value(part, kind_of(row_type, name)) for part in parts]
    return None if None in values else one_of(row_type, name, values)


def _comparison(text: str, row_type: RowType) -> Term | None:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        return None
    left, operator, right = found["left"], found["operator"], found["right"]
    if not _NAME.fullmatch(left) or row_type.field(left) is None:
        left, operator, right = right, swapped(operator), left
    if not _NAME.fullmatch(left):
        return None
    value = _value(right, kind_of(row_type, left))
    return None if value is None else compared(row_type, left, operator, value)


def _value(text: str, kind: type | None) -> object:
    """Return the value that a text means in a column of a kind; None if that is not certain."""
    if kind is None or len(text) > _MAX_TEXT or "..." in text:
        return None
    with suppress(ValueError, ArithmeticError):
        found = _PARSERS[kind](text)
        return found if type(found) is kind else None
    return None


def _naive(text: str) -> object:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is None else None


_PARSERS: Mapping[type, Callable[[str], object]] = {
    bool: {"true": True, "false": False}.get,
    str: json.loads,
    int: int,
    Decimal: Decimal,
    date: date.fromisoformat,
    datetime: _naive,
}
"""The value of a text by its Python type."""


def _split(text: str, separator: str) -> list[str]:
    """Split a text at a separator, outside of brackets and quotes."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        character = text[at]
        if character == '"':
            at = _after_quote(text, at)
            continue
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            at += len(separator)
            start = at
            continue
        at += 1
    return [*parts, text[start:]]


def _end(text: str) -> int:
    """Return the position after the bracket that closes the first one."""
    depth, at = 0, 0
    while at < len(text):
        if text[at] == '"':
            at = _after_quote(text, at)
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            return at
    return at


def _after_quote(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1
