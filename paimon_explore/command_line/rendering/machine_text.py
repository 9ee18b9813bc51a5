r"""JSON and CSV for programs.

JSON escapes control, bidirectional and invisible characters as `\uXXXX`, which changes no value.
CSV has them unchanged, except on a terminal, where they are shown as escapes.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring
from math import isfinite

from paimon_explore.sanitize import INVISIBLE, visible

_ESCAPED = re.compile(f"[{INVISIBLE}]")
_QUOTED = re.compile('[",\r\n]|^\\s|\\s$')


class JsonText(str):
    """A JSON document that stands in the output as it is, such as the value of a variant."""

    __slots__ = ()


def json_text(value: object) -> str:
    r"""Return a value as JSON in one line.

    Decimals are strings, so that no digit is lost; so are NaN and infinite numbers. Bytes are
    Base64.

    >>> json_text({"a": [1, None, "\x1b"], "b": float("inf"), "c": JsonText("1.50")})
    '{"a":[1,null,"\\u001b"],"b":"Infinity","c":1.50}'
    """
    text = _document(value)
    return text if text.isascii() and text.isprintable() else _ESCAPED.sub(_escape, text)


def _document(value: object) -> str:  # noqa: PLR0911 - one for each kind of value
    match value:
        case None | bool():
            return _CONSTANTS[value]
        case JsonText():
            return str(value)
        case str():
            return encode_basestring(value)
        case int():
            return int.__repr__(value)
        case float():
            return float.__repr__(value) if isfinite(value) else f'"{_NOT_FINITE[str(value)]}"'
        case Mapping():
            pairs = (
                f"{encode_basestring(str(key))}:{_document(inner)}" for key, inner in value.items()
            )
            return f"{{{','.join(pairs)}}}"
        case bytes() | Decimal() | Enum() | date() | time() | timedelta():
            return _document(_scalar(value))
        case Iterable():
            return f"[{','.join(map(_document, value))}]"
        case _:
            return encode_basestring(str(value))


def _scalar(value: bytes | Decimal | Enum | date | time | timedelta) -> object:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return f"{value:f}"
        case Enum():
            return value.value
        case timedelta():
            return value.total_seconds()
        case _:
            return value.isoformat()


_CONSTANTS = {None: "null", True: "true", False: "false"}
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
    match value:
        case None:
            return ""
        case str():
            text = str(value)
        case bytes() | Decimal() | date() | time():
            text = str(_scalar(value))
        case float() if not isfinite(value):
            text = _NOT_FINITE[str(value)]
        case _:
            text = json_text(value)
    text = visible(text) if is_terminal else text.encode("utf-8", "backslashreplace").decode()
    return text if text and not _QUOTED.search(text) else '"{}"'.format(text.replace('"', '""'))
