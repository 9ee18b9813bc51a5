"""Finds the names in a SQL statement that may be tables."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
    (?P<skipped> '(?:[^']|'')*' | --[^\n]* | /\*.*?\*/ )
  | (?P<quoted> "(?:[^"]|"")*" )
  | (?P<word> [^\W\d]\w* )
  | (?P<sign> [.,()] )
  | (?P<other> \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_BEFORE_TABLE = frozenset({"from", "join", "describe", "summarize", "table", "show", ","})
"""What stands before the name of a table without a database."""


def possible_tables(statement: str) -> list[tuple[str, ...]]:
    r"""Return the names that may be tables: `a.b` anywhere, and `a` after FROM, JOIN and the like.

    Columns such as `o.id` are among them; the caller knows which databases there are.

    >>> possible_tables('SELECT o.id FROM demo."my orders" o, b WHERE city = \'c.d\'')
    [('o', 'id'), ('demo', 'my orders'), ('b',)]
    """
    return list(dict.fromkeys(_names(statement)))


def _names(statement: str) -> Iterator[tuple[str, ...]]:
    before, parts, is_joined = "", list[str](), False
    for kind, text in _tokens(statement):
        is_name = kind in {"quoted", "word"}
        if text == "." and parts:
            is_joined = True
        elif is_name and is_joined:
            parts.append(_unquoted(text))
            is_joined = False
        else:
            yield from _table(before, parts)
            before = parts[0].lower() if len(parts) == 1 else before
            before = "" if len(parts) > 1 else before
            parts, is_joined = [_unquoted(text)] if is_name else [], False
            before = before if is_name else text
    yield from _table(before, parts)


def _table(before: str, parts: list[str]) -> Iterator[tuple[str, ...]]:
    if len(parts) > 1:
        yield parts[0], parts[1]
    elif parts and before in _BEFORE_TABLE:
        yield (parts[0],)


def _tokens(statement: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(statement):
        kind = found.lastgroup
        if kind is not None and kind != "skipped":
            yield kind, found.group()


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text
