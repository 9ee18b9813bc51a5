"""Patterns of times and formats of numbers of Spark as those of DuckDB."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sqlglot import exp

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.sql_statements.duckdb.spark_functions import call, constant

_QUARTER = "\1"
"""What stands for the number of a quarter, for which `strftime` has no directive."""
_PARTS = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z']+)")
_DIRECTIVES = dict(
    one.split(" ")
    for one in (
        *("y %Y", "yy %y", "yyy %Y", "yyyy %Y", "M %-m", "MM %m", "MMM %b", "MMMM %B"),
        *("L %-m", "LL %m", "LLL %b", "LLLL %B", "d %-d", "dd %d", "D %-j", "DDD %j"),
        *("E %a", "EE %a", "EEE %a", "EEEE %A", "a %p", "H %-H", "HH %H", "h %-I", "hh %I"),
        *("m %-M", "mm %M", "s %-S", "ss %S", "SSS %g", "SSSSSS %f", "SSSSSSSSS %n"),
        *("Q \1", "QQ 0\1", "QQQ Q\1"),
    )
)
"""Directives of `strftime` by the letters of Java."""
_PARSED = {
    **dict.fromkeys(("x", "xx", "xxx", "X", "XX", "XXX", "Z", "ZZZZZ"), "%z"),
    **dict.fromkeys(("S", "SS", "SSSS", "SSSSS"), "%f"),
}
"""Directives of `strptime` only."""


def strftime_pattern(pattern: str) -> str:
    """Return a pattern of Spark as one of DuckDB.

    Raises:
        UnsupportedFeatureError: DuckDB has no directive for some letters of it.

    >>> strftime_pattern("yyyy-MM-dd'T'HH:mm:ss.SSS")
    '%Y-%m-%dT%H:%M:%S.%g'
    """
    return _PARTS.sub(_directive, pattern)


class ParsingPattern(NamedTuple):
    """A pattern of `strptime`.

    Attributes:
        text: the pattern; it begins with a year if that of Spark has none.
        has_year: whether the pattern of Spark has a year; times without one are of 1970.
        is_short: whether the year has two digits, which are those of 2000 to 2099.
    """

    text: str
    has_year: bool
    is_short: bool


def parsing_pattern(pattern: str) -> ParsingPattern:
    """Return a pattern of Spark by which DuckDB parses a text.

    Raises:
        UnsupportedFeatureError: DuckDB has no directive for some letters of it.
    """
    text = _PARTS.sub(lambda part: _PARSED.get(part[2]) or _directive(part), pattern)
    letters = set(re.findall(r"%-?(.)", text))
    if _QUARTER in text or ("j" in letters and letters & set("mbBd")):
        raise UnsupportedFeatureError(
            f"the pattern {pattern!r} with a quarter, or a day of the year and a date"
        )
    has_year = bool(letters & set("yY"))
    return ParsingPattern(text if has_year else f"%Y {text}", has_year, "y" in letters)


def _directive(part: re.Match[str]) -> str:
    quoted, letters, other = part[1], part[2], part[4]
    if quoted is not None:
        return quoted.replace("''", "'").replace("%", "%%") or "'"
    if other is not None:
        return other.replace("%", "%%")
    if letters not in _DIRECTIVES:
        raise UnsupportedFeatureError(
            f"the letters {letters!r} in a pattern of dates and times without Spark",
            hint=f"Letters: {', '.join(_DIRECTIVES)}. Text is quoted: 'T'.",
        )
    return _DIRECTIVES[letters]


def _formatted(value: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    """Return `date_format`."""
    form = strftime_pattern(constant(pattern, "A pattern of times"))
    time = exp.cast(value, "timestamp", dialect="duckdb")
    text = call("strftime", time, exp.Literal.string(form))
    if _QUARTER not in form:
        return text
    quarter = exp.cast(call("quarter", time.copy()), "text")
    return call("replace", text, exp.Literal.string(_QUARTER), quarter)


def _shown_by(value: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    """Return `to_char` of a time, or of a number, whose formats have digits."""
    if re.search("[09]", constant(pattern, "A pattern of to_char")):
        return call("spark_number_format", exp.cast(value, "text"), pattern)
    return _formatted(value, pattern)


def _parsed_number(text: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    """Return `to_number`, whose type has the digits of the format."""
    whole, _, fraction = (
        re.sub("[^09.D]", "", constant(pattern, "A format").upper())
        .replace("D", ".")
        .partition(".")
    )
    kind = f"decimal({len(whole + fraction)}, {len(fraction)})"
    return exp.cast(call("spark_number", exp.cast(text, "text"), pattern), kind)


def _unix_text(seconds: exp.Expr, pattern: exp.Expr | None = None) -> exp.Expr:
    form = pattern or exp.Literal.string("yyyy-MM-dd HH:mm:ss")
    return _formatted(call("to_timestamp", seconds), form)


BY_NAME: Mapping[str, Callable[..., exp.Expr]] = {
    "date_format": _formatted,
    "from_unixtime": _unix_text,
    **dict.fromkeys(("to_char", "to_varchar"), _shown_by),
    "to_number": _parsed_number,
    "try_to_number": lambda text, pattern: call("try", _parsed_number(text, pattern)),
}
"""Functions by name."""
