"""Parsing of LIKE patterns."""

import re
from collections.abc import Iterator
from enum import Enum

from paimon_explore.scan.predicate.expression import Like


class Wildcard(Enum):
    """Wildcards of LIKE patterns."""

    ANY = "%"
    ONE = "_"


def pattern_parts(test: Like) -> tuple[str | Wildcard, ...]:
    r"""Splits a pattern into texts and wildcards.

    >>> from paimon_explore.scan.predicate.expression import Column
    >>> pattern_parts(Like(operand=Column(path=("a",)), pattern=r"10\%%"))
    ('10%', <Wildcard.ANY: '%'>)
    """
    return tuple(_joined(_characters(test.pattern, test.escape)))


def prefix_of(test: Like) -> str:
    """The prefix that every matching text begins with."""
    parts = pattern_parts(test)
    return parts[0] if parts and isinstance(parts[0], str) else ""


def regex_of(test: Like) -> str:
    """The equivalent RE2 regular expression."""
    parts = (
        re.escape(part) if isinstance(part, str) else ".*" if part is Wildcard.ANY else "."
        for part in pattern_parts(test)
    )
    return rf"(?s)\A{''.join(parts)}\z"


def _characters(pattern: str, escape: str) -> Iterator[str | Wildcard]:
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            yield next(characters, character)
        elif character in "%_":
            yield Wildcard(character)
        else:
            yield character


def _joined(characters: Iterator[str | Wildcard]) -> Iterator[str | Wildcard]:
    text = ""
    for character in characters:
        if isinstance(character, str):
            text += character
            continue
        if text:
            yield text
        text = ""
        yield character
    if text:
        yield text
