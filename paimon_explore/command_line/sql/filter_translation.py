"""Translates filters of pyarrow, which DuckDB pushes into scans, to predicates of this package.

A pyarrow expression can only be read as text. Comparisons of a column with a literal, and IS NOT
NULL, are translated; anything else is left out. The result is therefore weaker than the filter: it
prunes files and rows, and the caller applies the filter itself to what remains.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from operator import eq, ge, gt, le, lt
from typing import Any

import pyarrow as pa

from paimon_explore.scan.predicate.builder import Term, col

_COMPARISON = re.compile(
    r"\((?P<name>[A-Za-z_]\w*) (?P<sign>==|>=|<=|>|<) (?P<value>.+)\)", re.DOTALL
)
_NOT_NULL = re.compile(r"is_valid\((?P<name>[A-Za-z_]\w*)\)")
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, ">=": ge, "<=": le, ">": gt, "<": lt}
_INTEGER = re.compile(r"-?\d{1,19}")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TEXT = re.compile(r'"[^"\\]*"')
_AND = " and "


def pushed_predicates(text: str, schema: pa.Schema) -> Iterator[Term]:
    """Yield predicates that every row of the filter fulfils.

    Args:
        text: the text of the pyarrow expression.
        schema: the columns of the table.

    >>> schema = pa.schema({"id": pa.int64(), "city": pa.string()})
    >>> len([*pushed_predicates('((id > 1) and ((city == "b") or (id == 9)))', schema)])
    1
    """
    for part in _conjuncts(text):
        comparison = _COMPARISON.fullmatch(part)
        not_null = _NOT_NULL.fullmatch(part)
        if not_null is not None and not_null["name"] in schema.names:
            yield col(not_null["name"]).is_not_null()
        elif comparison is not None and comparison["name"] in schema.names:
            value = _literal(comparison["value"], schema.field(comparison["name"]).type)
            if value is not None:
                yield _SIGNS[comparison["sign"]](col(comparison["name"]), value)


def mentioned_columns(text: str, schema: pa.Schema) -> list[str]:
    """Return the columns whose names occur in the text of a filter, at least those it uses."""
    return [name for name in schema.names if name in text]


def _conjuncts(text: str) -> Iterator[str]:
    """Split `(a and b)` into a and b, at every depth."""
    at = _and_position(text)
    if at is None:
        yield text
        return
    yield from _conjuncts(text[1:at])
    yield from _conjuncts(text[at + len(_AND) : -1])


def _and_position(text: str) -> int | None:
    """The position of ` and ` directly inside of the outer parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return None
    depth, is_quoted, i = 0, False, 0
    while i < len(text):
        char = text[i]
        if is_quoted:
            i += char == "\\"
            is_quoted = char != '"'
        elif char == '"':
            is_quoted = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 1 and text.startswith(_AND, i):
            return i
        i += 1
    return None


def _literal(text: str, data_type: pa.DataType) -> int | str | date | Decimal | None:
    """The value of a literal; None if it is not certain."""
    if pa.types.is_integer(data_type) and _INTEGER.fullmatch(text):
        return int(text)
    if pa.types.is_decimal(data_type) and _DECIMAL.fullmatch(text):
        return Decimal(text)
    if pa.types.is_string(data_type) and _TEXT.fullmatch(text):
        return text[1:-1]
    if pa.types.is_date32(data_type) and _DATE.fullmatch(text):
        return date.fromisoformat(text)
    return None
