"""Spark's functions of texts and numbers that DuckDB lacks, one value at a time."""

import math
import re
import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.arrow_buffers import Column, valid_mask
from paimon_explore.encoding.bucket_function import hash_rows
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


_PATTERN = re.compile(r"([^#0.,]*)([#0,]*)(?:\.([#0]*))?([^#0.,]*)")


def format_by_pattern(text: str, pattern: str) -> str:
    """Return a number by a pattern of Java's `DecimalFormat`.

    >>> format_by_pattern("1234.565", "#,##0.00"), format_by_pattern("0.256", "0.#%")
    ('1,234.56', '25.6%')
    """
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        raise InvalidInputError(f"The pattern {pattern!r} of format_number is invalid.")
    prefix, whole, fraction, suffix = (one or "" for one in found.groups())
    value = round(Decimal(text) * (100 if "%" in suffix else 1), len(fraction))
    digits, _, rest = f"{abs(value):.{len(fraction)}f}".partition(".")
    digits = digits.rjust(whole.count("0"), "0")
    if "," in whole:
        size = len(whole.rpartition(",")[2])
        digits = re.sub(rf"(?<=\d)(?=(?:\d{{{size}}})+$)", ",", digits)
    least = fraction.count("0")
    rest = rest[:least] + rest[least:].rstrip("0")
    return f"{'-' * (value < 0)}{prefix}{digits}{'.' * bool(rest)}{rest}{suffix}"


_FORMAT = re.compile(r"(MI|S)?(\$?)([09,]*)(\.[09]*)?(MI|S|PR)?")
_SIGNS = {"S": "+-", "MI": " -"}


def _format(form: str) -> tuple[str, ...]:
    """Return the sign, currency, whole digits, fraction and sign of a format of numbers."""
    found = _FORMAT.fullmatch(form.upper().replace("G", ",").replace("D", "."))
    if found is None or not re.search("[09]", form):
        raise InvalidInputError(
            f"The format {form!r} of a number is invalid.",
            hint="It is [MI|S][$] digits 0 and 9 with , and . [PR|MI|S], such as $9,999.99.",
        )
    return tuple(one or "" for one in found.groups())


def number_text(text: str, form: str) -> str:
    """Return a number by a format of `to_char`.

    >>> number_text("-1234.5", "S$99,999.99"), number_text("1234", "999")
    ('-$ 1,234.50', '###')
    """
    first, currency, whole, fraction, last = _format(form)
    digits, _, rest = format(abs(Decimal(text)), "f").partition(".")
    digits, rest = digits.lstrip("0"), rest.rstrip("0")
    slots = len(whole.replace(",", ""))
    if len(digits) > slots or len(rest) > len(fraction[1:]):
        return re.sub("[09]", "#", form).replace(",", " ")
    number, left = "", digits.rjust(slots)
    for part in whole.split(","):
        group, left = left[: len(part)], left[len(part) :]
        number += "," if number.strip() else " " * bool(number)
        number += group.replace(" ", "0") if part[:1] == "0" or number.strip() else group
    if fraction:
        number = (
            f"{number[:-1]}{number[-1:].replace(' ', '0')}.{rest.ljust(len(fraction) - 1, '0')}"
        )
    is_negative = Decimal(text) < 0
    before, after = (_SIGNS.get(one, "  ")[is_negative] if one else "" for one in (first, last))
    if last == "PR":
        before, after = ("<", ">") if is_negative else ("", "  ")
    spaces = "" if currency else " " * (len(number) - len(number.lstrip(" ")))
    return f"{spaces}{before}{currency}{number[len(spaces) :]}{after}"


def parsed_number(text: str, form: str) -> str:
    """Return the number that a text has by a format of `to_number`.

    >>> parsed_number("-$1,234.5", "S$9,999.99")
    '-01234.5'
    """
    first, currency, whole, fraction, last = _format(form)
    pattern = ""
    for part in whole.split(","):
        least = len(part) if part[:1] == "0" else 0
        pattern = f"(?:{pattern},)?" if pattern else ""
        pattern += f"[0-9]{{{least},{len(part)}}}"
    pattern = f"{re.escape(currency)}({pattern}(?:\\.[0-9]{{0,{len(fraction[1:])}}})?)"
    sign = "[+-]?" if "S" in {first, last} else "-?"
    pattern = (sign if first else "") + pattern + (sign if last in _SIGNS else "")
    is_angled = last == "PR" and text.strip().startswith("<")
    found = re.fullmatch(f"<{pattern}>" if is_angled else pattern, text.strip())
    digits = found[1].replace(",", "") if found is not None else ""
    if not digits.strip("."):
        raise InvalidInputError(f"{text!r} is not a number of the format {form!r}.")
    return f"{'-' * ('-' in text or is_angled)}0{digits}"


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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEED = 42
_LONG_DIGITS = 18
"""The digits of a DECIMAL that is hashed as a BIGINT."""


def murmur_hashes(columns: Sequence[Column]) -> Column:
    """Return Spark's `hash` of several columns."""
    seeds = np.full(len(columns[0]), _SEED, np.uint32)
    for column in columns:
        seeds = _hashed(lambda rows, now: hash_rows(rows, now).view(np.uint32), column, seeds)
    return pa.array(seeds.view(np.int32))


def xxhashes(columns: Sequence[Column]) -> Column:
    """Return Spark's `xxhash64` of several columns."""
    seeds = np.full(len(columns[0]), _SEED, np.uint64)
    for column in columns:
        seeds = _hashed(_xxhashes, column, seeds)
    return pa.array(seeds.view(np.int64))


def _xxhashes(rows: pa.BinaryArray, seeds: npt.NDArray[Any]) -> npt.NDArray[Any]:
    pairs = zip(python_values(rows), seeds.tolist(), strict=True)
    return np.array([xxhash.xxh64_intdigest(row or b"", seed) for row, seed in pairs], np.uint64)


def _hashed(
    function: Callable[[pa.BinaryArray, npt.NDArray[Any]], npt.NDArray[Any]],
    column: Column,
    seeds: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    """Return the hashes of values, which begin with other hashes; null leaves these."""
    kind: Any = column.type
    if isinstance(column, pa.StructArray):
        for one in column.flatten():
            seeds = _hashed(function, one, seeds)
        return seeds
    values = python_values(column)
    if pa.types.is_list(kind):
        for at in range(max((len(one) for one in values if one is not None), default=0)):
            items = [one[at] if one is not None and at < len(one) else None for one in values]
            seeds = _hashed(function, pa.array(items, kind.value_type), seeds)
        return seeds
    if pa.types.is_map(kind):
        raise InvalidInputError("A map has no hash.", hint="Hash its sorted map_entries.")
    rows = [None if one is None else _hashed_bytes(kind, one) for one in values]
    found = pa.array(rows, pa.binary())
    return np.where(valid_mask(found), function(found, seeds), seeds)


def _hashed_bytes(kind: Any, value: Any) -> bytes:  # noqa: ANN401 - as its type says
    """Return the bytes of a value that Spark hashes."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode()
        case float():
            form = "<f" if pa.types.is_float32(kind) else "<d"
            return struct.pack(form, math.nan if math.isnan(value) else value + 0.0)
        case Decimal():
            whole = int(value.scaleb(kind.scale))
            size = max(whole, ~whole).bit_length() // 8 + 1
            is_long = kind.precision <= _LONG_DIGITS
            return whole.to_bytes(
                8 if is_long else size, "little" if is_long else "big", signed=True
            )
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            micros = (moment - _EPOCH) // timedelta(microseconds=1)
            return micros.to_bytes(8, "little", signed=True)
        case date():
            value = (value - _EPOCH.date()).days
        case _:
            pass
    size = 8 if pa.types.is_int64(kind) else 4
    return int(value).to_bytes(size, "little", signed=True)
