"""Translates a filter of pyarrow.dataset, which DuckDB makes, into a condition of a scan.

pyarrow has no access to the parts of an expression, so its text is parsed. What is not recognized
is left out of a conjunction, so the condition may match more rows than the filter, never fewer;
`exact_condition` is one that matches the same rows, so that the filter need not be evaluated.

| text | condition |
| --- | --- |
| `(a and b)`, `(a or b)` | AND of the recognized sides; OR if both are recognized |
| `(id > 5)`, `(5 < id)` | comparison of a column with a value |
| `(FieldRef.Nested(FieldRef.Name(r) FieldRef.Name(x)) > 5)` | the same with a field of a ROW |
| `is_null(id, …)`, `is_valid(id)` | IS NULL, IS NOT NULL |
| `is_in(id, {value_set=int64:[1, 2], …})` | IN |
| `if_else(is_valid(id), is_in(id, …), null[bool])` | IN, which is unknown for null |
| `invert(if_else(…))` of these | NOT IN |
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.table.engine_scans.comparable_values import (
    Path,
    compared,
    field_at,
    kind_of,
    one_of,
    swapped,
)

_NAME = re.compile(r"[A-Za-z_]\w*")
_NESTED = re.compile(
    r"FieldRef\.Nested\((?P<names>FieldRef\.Name\(\w+\)( FieldRef\.Name\(\w+\))*)\)"
)
_NESTED_NAME = re.compile(r"FieldRef\.Name\((\w+)\)")
_COMPARISON = re.compile(r"(?P<left>.+?) (?P<operator>==|!=|<=|>=|<|>) (?P<right>.+)", re.DOTALL)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)", re.DOTALL)
_VALUES = re.compile(r"\{value_set=[^:]+:\[(?P<values>.*)\], .*\}", re.DOTALL)
_NULLS = ["{nan_is_null=false}"]
_MAX_TEXT = 80
"""Arrow shortens longer texts when it prints a list."""
_MAX_FRACTION = re.compile(r"\.\d{7}")
"""Digits of a second that Python's datetime would cut off."""
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
    return _Filter(row_type, is_exact=False).condition(text)


def exact_condition(text: str, row_type: RowType) -> Term | None:
    """Return a condition that holds for the rows that a filter accepts and no others.

    Args:
        text: the text of a pyarrow.compute.Expression.
        row_type: the columns.

    >>> from paimon_explore.data_types.type_parser import parse_type_text
    >>> row_type = parse_type_text("ROW<id INT, city STRING>")
    >>> exact_condition('((id > 5) and (city == "Oslo"))', row_type)
    Term(id > 5 AND city = 'Oslo')
    >>> exact_condition('((id > 5) and starts_with(city, {pattern="O"}))', row_type)
    """
    return _Filter(row_type, is_exact=True).condition(text)


@dataclass(frozen=True, slots=True)
class _Filter:
    """Translates the parts of a filter.

    Attributes:
        row_type: the columns.
        is_exact: whether a part that is not recognized makes the whole not recognized.
    """

    row_type: RowType
    is_exact: bool

    def condition(self, text: str) -> Term | None:
        text = text.strip()
        call = _CALL.fullmatch(text)
        if call is not None:
            return self._call(call["name"], _split(call["arguments"], ", "))
        if not (text.startswith("(") and _end(text) == len(text)):
            return None
        inner = text[1:-1]
        for word in (" and ", " or "):
            sides = _split(inner, word)
            if len(sides) == _PAIR:
                return self._both([self.condition(side) for side in sides], word)
        return self._comparison(inner)

    def _both(self, sides: list[Term | None], word: str) -> Term | None:
        known = [side for side in sides if side is not None]
        if len(known) == _PAIR:
            return known[0] & known[1] if word == " and " else known[0] | known[1]
        return known[0] if known and word == " and " and not self.is_exact else None

    def _call(self, name: str, arguments: list[str]) -> Term | None:
        first = arguments[0].strip()
        if name == "if_else" and len(arguments) == _PAIR + 1 and arguments[-1] == "null[bool]":
            member = self._member_or_null(first, arguments[1])
            return member if member is not None or self.is_exact else self.condition(arguments[1])
        if name == "invert" and len(arguments) == 1:
            return self._not_member(first)
        path = self._path(first)
        if path is None:
            return None
        if name == "is_null" and arguments[1:] == _NULLS:
            return col(*path).is_null()
        if name == "is_valid":
            return col(*path).is_not_null()
        return self._member(path, arguments[1:]) if name == "is_in" else None

    def _member_or_null(self, valid: str, text: str) -> Term | None:
        """IN, which is unknown for null: the value if `valid` says that it is not null."""
        call = _CALL.fullmatch(text.strip())
        arguments = [] if call is None else _split(call["arguments"], ", ")
        if call is None or call["name"] != "is_in" or valid != f"is_valid({arguments[0]})":
            return None
        return self._call("is_in", arguments)

    def _not_member(self, text: str) -> Term | None:
        call = _CALL.fullmatch(text)
        arguments = [] if call is None else _split(call["arguments"], ", ")
        if call is None or call["name"] != "if_else" or arguments[-1] != "null[bool]":
            return None
        found = self._member_or_null(arguments[0].strip(), arguments[1])
        return None if found is None else ~found

    def _member(self, path: Path, options: list[str]) -> Term | None:
        found = _VALUES.fullmatch(", ".join(options))
        if found is None:
            return None
        parts = [part.strip() for part in _split(found["values"], ",")]
        values = [_value(part, kind_of(self.row_type, path)) for part in parts]
        return None if None in values else one_of(self.row_type, path, values)

    def _comparison(self, text: str) -> Term | None:
        found = _COMPARISON.fullmatch(text)
        if found is None:
            return None
        left, operator, right = found["left"], found["operator"], found["right"]
        path = self._path(left)
        if path is None:
            path, operator, right = self._path(right), swapped(operator), left
        if path is None or self._path(right) is not None:
            return None
        value = _value(right, kind_of(self.row_type, path))
        return None if value is None else compared(self.row_type, path, operator, value)

    def _path(self, text: str) -> Path | None:
        """The column or nested field that a text names; None if there is none."""
        nested = _NESTED.fullmatch(text)
        if nested is None and not _NAME.fullmatch(text):
            return None
        path = (text,) if nested is None else tuple(_NESTED_NAME.findall(nested["names"]))
        return None if field_at(self.row_type, path) is None else path


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
    return found if found.tzinfo is None and not _MAX_FRACTION.search(text) else None


_PARSERS: Mapping[type, Callable[[str], object]] = {
    bool: {"true": True, "false": False}.get,
    str: json.loads,
    int: int,
    float: float,
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
