r"""JSON and CSV for programs.

JSON escapes control, bidirectional and invisible characters as `\uXXXX`, which changes no value.
CSV has them unchanged, except on a terminal, where they are shown as escapes.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite

from paimon_explore.sanitize import INVISIBLE, visible

_ESCAPED = re.compile(f"[{INVISIBLE}]")
_QUOTED = re.compile('[",\r\n]|^\\s|\\s$')


def json_text(value: object) -> str:
    r"""Return a value as JSON in one line.

    Decimals are strings, so that no digit is lost; so are NaN and infinite numbers. Bytes are
    Base64.

    >>> json_text({"a": [1, None, "\x1b"], "b": float("inf")})
    '{"a":[1,null,"\\u001b"],"b":"Infinity"}'
    """
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() and text.isprintable() else _ESCAPED.sub(_escape, text)


def plain(value: object) -> object:
    """Return a value with only the types that JSON has."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else _NOT_FINITE[str(value)]
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case bytes() | Decimal() | Enum() | date() | time() | timedelta():
            return _scalar(value)
        case Iterable():
            return [plain(inner) for inner in value]
        case _:
            return str(value)


def _scalar(value: bytes | Decimal | Enum | date | time | timedelta) -> object:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return f"{value:f}"
        case Enum():
            return plain(value.value)
        case timedelta():
            return value.total_seconds()
        case _:
            return value.isoformat()


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _escape(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def csv_line(values: Iterable[object], *, is_terminal: bool = False) -> str:
    r"""Return values as a line of CSV: null is empty, an empty string is `""`.

    >>> csv_line(["a", None, "", 'b"c', 1.5, [1]])
    'a,,"","b""c",1.5,[1]\n'
    """
    return ",".join(_csv_cell(value, is_terminal=is_terminal) for value in values) + "\n"


def _csv_cell(value: object, *, is_terminal: bool) -> str:
    simple = plain(value)
    match simple:
        case None:
            return ""
        case str():
            text = simple
        case _:
            text = json_text(simple)
    text = visible(text) if is_terminal else text.encode("utf-8", "backslashreplace").decode()
    return text if text and not _QUOTED.search(text) else '"{}"'.format(text.replace('"', '""'))
