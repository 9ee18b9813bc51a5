"""Spark's patterns of dates and times as those of `strftime` and `strptime`."""

import re

from paimon_explore.errors import UnsupportedFeatureError

_PARTS = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z']+)")
_DIRECTIVES = dict(
    one.split(" ")
    for one in (
        *("y %Y", "yy %y", "yyy %Y", "yyyy %Y", "M %-m", "MM %m", "MMM %b", "MMMM %B"),
        *("L %-m", "LL %m", "LLL %b", "LLLL %B", "d %-d", "dd %d", "D %-j", "DDD %j"),
        *("E %a", "EE %a", "EEE %a", "EEEE %A", "a %p", "H %-H", "HH %H", "h %-I", "hh %I"),
        *("m %-M", "mm %M", "s %-S", "ss %S", "SSS %g", "SSSSSS %f", "SSSSSSSSS %n"),
    )
)
"""Directives of `strftime` by the letters of Java."""


def strftime_pattern(pattern: str) -> str:
    """Return a pattern of Spark as one of DuckDB.

    Raises:
        UnsupportedFeatureError: DuckDB has no directive for some letters of it.

    >>> strftime_pattern("yyyy-MM-dd'T'HH:mm:ss.SSS")
    '%Y-%m-%dT%H:%M:%S.%g'
    """
    return _PARTS.sub(_directive, pattern)


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
