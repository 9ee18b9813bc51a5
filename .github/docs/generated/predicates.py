"""What a `where` accepts: the grammar and the functions."""

import inspect
import textwrap

from generated.markdown import block, code, grid
from paimon_explore.scan.predicate import functions, sql_parser
from paimon_explore.scan.predicate.functions import ALIASES, FUNCTIONS

_TEXTS = {
    "+": ("a + b", "sum; DATE + days is a DATE"),
    "-": ("a - b", "difference; DATE - days is a DATE"),
    "*": ("a * b", "product"),
    "/": ("a / b", "quotient; null if b is 0"),
    "%": ("a % b", "remainder; null if b is 0"),
    "negative": ("-a", "the number with the other sign"),
    "abs": ("abs(a)", "absolute value"),
    "round": ("round(a[, digits])", "rounds half up"),
    "floor": ("floor(a)", "largest whole number that is not above a"),
    "ceil": ("ceil(a)", "smallest whole number that is not below a"),
    "greatest": ("greatest(a, b, …)", "the largest value; nulls are skipped"),
    "least": ("least(a, b, …)", "the smallest value; nulls are skipped"),
    "coalesce": ("coalesce(a, …)", "the first value that is not null"),
    "nullif": ("nullif(a, b)", "null if a = b, else a"),
    "case": ("CASE WHEN c THEN a … ELSE b END", "the value of the first condition that is true"),
    "concat": ("concat(a, …), a || b", "the texts joined; null if one is null"),
    "upper": ("upper(s)", "upper case"),
    "lower": ("lower(s)", "lower case"),
    "trim": ("trim(s)", "without white space at both ends"),
    "ltrim": ("ltrim(s)", "without white space at the start"),
    "rtrim": ("rtrim(s)", "without white space at the end"),
    "length": ("length(s)", "number of characters"),
    "substring": ("substring(s, start[, length])", "part of a text; the first character is 1"),
    "replace": ("replace(s, old, new)", "each occurrence of old replaced"),
    "year": ("year(d)", "the year of a date or timestamp"),
    "month": ("month(d)", "the month, 1 to 12"),
    "day": ("day(d)", "the day of the month"),
}


def function_table() -> str:
    """Return a table of all functions; a function without a description is an error."""
    rows = []
    for name in FUNCTIONS:
        usage, text = _TEXTS[name]
        others = [alias for alias, meant in ALIASES.items() if meant == name]
        rows.append((code(usage), text, ", ".join(map(code, others))))
    return grid(("function", "result", "other names"), rows)


def grammar() -> str:
    """Return the grammar, from the docstring of the parser."""
    text = inspect.getdoc(sql_parser) or ""
    start = text.index("    or ")
    return block(textwrap.dedent(text[start:]))


def number_types() -> str:
    """Return the rules about types of numbers, from the docstring of the functions."""
    text = inspect.getdoc(functions) or ""
    return text.partition("\n\n")[2] + "\n"
