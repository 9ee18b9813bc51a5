"""SQL tokenizer: words, numbers, quoted strings and names, operators, with their offsets.

Spark's rules: strings in single quotes with backslash escapes or doubled quotes; names in
backticks, or in double quotes as in standard SQL; `--` and `/* */` comments.
"""

import re
from enum import Enum, auto

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

EXAMPLE = "Write a condition such as: price > 3 AND dt = '2026-01-31'."
_SUGGESTIONS = {
    "&": "Write AND instead of &.",
    "|": "Write OR instead of |.",
    ">": "Write >= for 'at least' and <> for 'not equal'.",
    "=": "Write = instead of ==, >= instead of => and <= instead of =<.",
    "!": "Write NOT, or <> for 'not equal'.",
    "?": "Parameters are not supported: write the value.",
    "$": "Write column names with special characters in backticks.",
    "{": "Write column names with special characters in backticks.",
    ";": "Write the condition only, without a semicolon.",
}
"""Hints by the character at which parsing failed."""
_UNCLOSED = {
    "'": "Close the string with a single quote; write a quote inside a string twice: 'it''s'.",
    '"': "Strings are written in single quotes, column names in backticks.",
    "`": "Close the column name with a backtick.",
}
RESERVED = frozenset(
    {
        *("and", "or", "not", "in", "is", "like", "ilike", "rlike", "regexp", "between", "null"),
        *("true", "false", "case", "select", "exists", "interval", "distinct", "escape"),
    }
)
"""Reserved words in lower case; columns with these names have to be quoted."""

PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_MAX_SHOWN = 72
"""Maximum number of characters of a line in an error message."""


class TokenKind(Enum):
    """Kinds of tokens."""

    WORD = auto()
    NAME = auto()
    NUMBER = auto()
    TEXT = auto()
    BYTES = auto()
    SIGN = auto()
    END = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token.

    Attributes:
        kind: its kind.
        text: a word as written, a name or string without its quotes, hexadecimal digits of bytes.
        start: offset of its first character.
        end: offset after its last character.
    """

    kind: TokenKind
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""(?P<space>(?:\s|--[^\n]*|/\*.*?\*/)+)
    |(?P<bytes>[xX]'[^']*')
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\w*)
    |(?P<word>[^\W\d]\w*)
    |(?P<name>`(?:[^`]|``)+`|"(?:[^"]|"")+")
    |(?P<text>'(?:[^'\\]|\\.|'')*')
    |(?P<sign><=>|<>|!=|<=|>=|==|::|[=<>(),.+*/%|&\[\]-])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|''", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
_KINDS = {
    "bytes": TokenKind.BYTES,
    "number": TokenKind.NUMBER,
    "word": TokenKind.WORD,
    "name": TokenKind.NAME,
    "text": TokenKind.TEXT,
    "sign": TokenKind.SIGN,
}


def tokens_of(source: str) -> list[Token]:
    """Tokenizes a condition; the last token is END.

    Raises:
        InvalidInputError: a character that starts no token, such as an unclosed quote.
    """
    tokens: list[Token] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            hint = _UNCLOSED.get(source[at], "")
            what = (
                "the quote is not closed"
                if hint
                else f"the character {source[at]!r} is unexpected here"
            )
            raise problem_at(source, at, what, hint)
        kind = _KINDS.get(match.lastgroup or "")
        if kind is not None:
            token = Token(kind=kind, text=match.group(), start=at, end=match.end())
            tokens.append(_unquoted(source, token))
        at = match.end()
    tokens.append(Token(kind=TokenKind.END, text="", start=at, end=at))
    return tokens


def quoted_text(text: str) -> str:
    """Quotes a string constant."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Quotes a name in backticks if necessary."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def problem_at(source: str, at: int, what: str, hint: str = "") -> InvalidInputError:
    """Returns the error for a problem at an offset of the text, with the line and a caret."""
    if not source.strip():
        return InvalidInputError("The condition is empty.", hint=EXAMPLE)
    begin = source.rfind("\n", 0, at) + 1
    line = source[begin:].partition("\n")[0].replace("\t", " ")
    column = at - begin
    first = max(0, column - _MAX_SHOWN // 2) if len(line) > _MAX_SHOWN else 0
    shown = ("…" if first else "") + line[first : first + _MAX_SHOWN]
    shown += "…" if len(line) > first + _MAX_SHOWN else ""
    caret = " " * (column - first + bool(first)) + "^"
    number = f"line {source.count(chr(10), 0, at) + 1}, " if "\n" in source else ""
    position = f"{number}column {column + 1}"
    advice = hint or _SUGGESTIONS.get(source[at : at + 1], EXAMPLE)
    return InvalidInputError(
        f"The condition cannot be parsed ({position}): {what}{'' if what.endswith('?') else '.'}",
        hint=f"\n    {shown}\n    {caret}\n{advice}",
    )


def _unquoted(source: str, token: Token) -> Token:
    body = token.text[1:-1]
    match token.kind:
        case TokenKind.NAME:
            quote = token.text[0]
            text = body.replace(quote * 2, quote)
        case TokenKind.TEXT:
            text = _ESCAPED.sub(_unescaped, body)
        case TokenKind.BYTES:
            text = token.text[2:-1]
            if re.fullmatch(r"(?:[0-9a-fA-F]{2})*", text) is None:
                raise problem_at(source, token.start, "X'…' expects pairs of hexadecimal digits")
        case _:
            text = token.text
    return Token(kind=token.kind, text=text, start=token.start, end=token.end)


def _unescaped(match: re.Match[str]) -> str:
    code: str | None = match.group(1)
    if code is None:
        return "'"
    if len(code) > 1:
        point = int(code[1:], 16)
        return chr(point) if point < 0xD800 or 0xDFFF < point < 0x110000 else "\ufffd"  # noqa: PLR2004 - Unicode's own bounds
    if code in "%_":
        return "\\" + code  # kept for LIKE
    return _ESCAPES.get(code, code)
