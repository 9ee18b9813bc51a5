"""Spark's functions of texts and numbers that DuckDB lacks, one value at a time."""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from urllib.parse import urlsplit

import pyarrow as pa

from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.data_type_names import type_name
from paimon_explore.sql_statements.duckdb.functions.json_functions import python_values

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_WORD = 1 << 64
_SOUNDS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "01230127022455012623017202", strict=True))
"""Digits of Soundex; 7 separates no equal digits."""
_SILENT = "7"
_SOUNDEX_LENGTH = 4


def by_row(
    function: Callable[..., object],
    kind: "pa.DataType | None" = None,
    *,
    nulls: bool = False,
) -> Callable[[Sequence[Column]], Column]:
    """Return a kernel of a function of single values, which is null where an argument is.

    Args:
        function: returns a value.
        kind: its type; text by default.
        nulls: whether it is called for nulls after the first argument.
    """

    def kernel(columns: Sequence[Column]) -> Column:
        rows = zip(*map(python_values, columns), strict=True)
        values = [None if None in (row[:1] if nulls else row) else function(*row) for row in rows]
        found: Column = pa.array(values, kind or pa.string())
        return found

    return kernel


def type_names(columns: Sequence[Column]) -> Column:
    """Return the name of the type of a column."""
    column = columns[0]
    is_void = pa.types.is_null(column.type)
    name = "void" if is_void else type_name(from_arrow(column.type))
    found: Column = pa.array([name] * len(column), pa.string())
    return found


def conv(text: str, from_base: int, to_base: int) -> str | None:
    """Return a number in another base; a negative base is that of signed numbers.

    >>> conv("-10", 16, 10), conv("ff", 16, -10)
    ('18446744073709551600', '255')
    """
    digits = text.strip(" ").upper()
    if not digits or not 2 <= from_base <= len(_DIGITS) or not 2 <= abs(to_base) <= len(_DIGITS):  # noqa: PLR2004 - the least base
        return None
    value, is_negative = 0, digits.startswith("-")
    for digit in digits.removeprefix("-"):
        if digit not in _DIGITS[:from_base]:
            break
        value = value * from_base + _DIGITS.index(digit)
    if value >= _WORD:
        raise InvalidInputError(f"Overflow in function conv: {text} has more than 64 bits.")
    value = -value % _WORD if is_negative else value
    is_below = to_base < 0 and value >= _WORD // 2
    value, made = _WORD - value if is_below else value, ""
    while value:
        value, rest = divmod(value, abs(to_base))
        made = _DIGITS[rest] + made
    return f"{'-' if is_below else ''}{made or '0'}"


def format_number(text: str, digits: int, is_real: bool) -> str | None:  # noqa: FBT001 - of SQL
    """Return a number with separators of thousands.

    >>> format_number("1234.5", 2, False)
    '1,234.50'
    """
    if digits < 0:
        return None
    value = float(text) if is_real else Decimal(text)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "-∞" if value < 0 else "∞"
    return f"{value:,.{digits}f}"


def fail(message: str) -> None:
    """Raise an error, as a function of which the result of a query depends on nothing else."""
    raise InvalidInputError(message)


def levenshtein(left: str, right: str) -> int:
    """Return how many characters differ, which DuckDB counts in bytes.

    >>> levenshtein("kitten", "sitting"), levenshtein("é", "")
    (3, 1)
    """
    row = list(range(len(right) + 1))
    for at, one in enumerate(left, 1):
        last, row[0] = row[0], at
        for to, other in enumerate(right, 1):
            changed = last + (one != other)
            last, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, changed)
    return row[-1]


def soundex(text: str) -> str:
    """Return the Soundex code; a text that begins with no letter is its own.

    >>> soundex("Ashcraft"), soundex("1a")
    ('A261', '1a')
    """
    letters = text.encode("ascii", "replace").decode().upper()
    if letters[:1] not in _SOUNDS:
        return text
    code, last = letters[0], _SOUNDS[letters[0]]
    for letter in letters[1:]:
        digit = _SOUNDS.get(letter)
        if digit in {None, _SILENT}:
            last = last if digit else "0"
            continue
        if digit not in {"0", last}:
            code += str(digit)
        last = str(digit)
    return code[:_SOUNDEX_LENGTH].ljust(_SOUNDEX_LENGTH, "0")


def mask(text: str, *replacements: str | None) -> str:
    """Return a text with upper case, lower case, digits and others replaced; null keeps them."""
    if any(one is not None and len(one) != 1 for one in replacements):
        raise InvalidInputError("The replacements of mask must have one character.")
    upper, lower, digit, other = replacements

    def masked(one: str) -> str:
        kind = (
            upper
            if one.isupper()
            else lower
            if one.islower()
            else digit
            if one.isdigit()
            else other
        )
        return one if kind is None else kind

    return "".join(map(masked, text))


def parse_url(url: str, part: str, key: str | None) -> str | None:
    """Return a part of a URL, or a value of its query."""
    found = urlsplit(url)
    if key is not None:
        value = re.search(f"(?:^|&){re.escape(key)}=([^&]*)", found.query)
        return value[1] if value is not None and part == "QUERY" else None
    user, _, host = found.netloc.rpartition("@")
    query = f"?{found.query}" if found.query else ""
    parts = {
        "HOST": re.sub(":[0-9]*$", "", host) or None,
        "PATH": found.path,
        "QUERY": found.query or None,
        "REF": found.fragment or None,
        "PROTOCOL": found.scheme or None,
        "FILE": f"{found.path}{query}",
        "AUTHORITY": found.netloc or None,
        "USERINFO": user or None,
    }
    return parts.get(part)
