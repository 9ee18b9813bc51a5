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
    "quarter": ("quarter(d)", "the quarter, 1 to 4"),
    "weekofyear": ("weekofyear(d)", "the week of ISO 8601, 1 to 53"),
    "yearofweek": ("EXTRACT(YEAROFWEEK FROM d)", "the year of the week of ISO 8601"),
    "dayofyear": ("dayofyear(d)", "the day of the year, 1 to 366"),
    "dayofweek": ("dayofweek(d)", "the day of the week, 1 (Sunday) to 7"),
    "weekday": ("weekday(d)", "the day of the week, 0 (Monday) to 6"),
    "dayofweek_iso": ("EXTRACT(DAYOFWEEK_ISO FROM d)", "the day of the week, 1 (Monday) to 7"),
    "hour": ("hour(t)", "the hour of a timestamp, 0 to 23"),
    "minute": ("minute(t)", "the minute, 0 to 59"),
    "second": ("second(t)", "the whole second, 0 to 59"),
    "seconds": ("EXTRACT(SECOND FROM t)", "the second with its fraction"),
    "date_trunc": ("date_trunc('month', t)", "the begin of the year, quarter, month, day, hour, …"),
    "trunc": ("trunc(d, 'month')", "the first day of the year, quarter, month or week"),
    "add_days": ("d + INTERVAL '1' DAY, d - …", "the date so many days or months later or earlier"),
    "add_time": ("t + INTERVAL '1' HOUR, t - …", "the timestamp so much later or earlier"),
    "isnan": ("isnan(a)", "whether a FLOAT or DOUBLE is not a number"),
    "size": ("size(l)", "number of elements of an array, or entries of a map; null for null"),
    "array_contains": (
        "array_contains(l, v)",
        "whether an element equals v; null if none does and one is null",
    ),
    "element_at": (
        "element_at(l, i), element_at(m, k)",
        "element i of an array, from 1, or from the end if negative; the value of a key; else null",
    ),
    "[]": (
        "l[i], m[k]",
        "element i of an array, from 0; the value of a key of a map; else null",
    ),
    "variant_get": (
        "variant_get(v, '$.a[0]'[, 'INT'])",
        "the value of a VARIANT at a path, cast to the type; null if none is there or fits",
    ),
    "variant_set": (
        "variant_set(v, '$.a[0]', x)",
        "the VARIANT with x at the path; missing keys and elements are added",
    ),
    "try_variant_set": (
        "try_variant_set(v, '$.a[0]', x)",
        "the same; null if the path leads into a value that is not an object or array",
    ),
    "variant_delete": ("variant_delete(v, '$.a[0]')", "the VARIANT without the key or element"),
    "parse_json": ("parse_json(s)", "the JSON document as a VARIANT"),
    "try_parse_json": ("try_parse_json(s)", "the same; null if the text is not JSON"),
    "to_json": ("to_json(v)", "a VARIANT as JSON"),
    "is_variant_null": ("is_variant_null(v)", "whether a VARIANT is the null of JSON"),
    "regexp_like": ("regexp_like(s, p), s RLIKE p", "whether a part of a text matches a pattern"),
}


def function_table() -> str:
    """Return a table of all functions; one without a description has only its name."""
    rows = []
    for name in FUNCTIONS:
        usage, text = _TEXTS.get(name, (f"{name}(…)", ""))
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
