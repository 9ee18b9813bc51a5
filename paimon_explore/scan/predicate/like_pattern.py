"""LIKE patterns taken apart."""

import re
from collections.abc import Iterator
from enum import Enum

from paimon_explore.scan.predicate.expression import Like


class Wildcard(Enum):
    """What a pattern leaves open."""

    ANY = "%"
    ONE = "_"


def pieces_of(test: Like) -> tuple[str | Wildcard, ...]:
    r"""The pattern as texts and wildcards.

    >>> from paimon_explore.scan.predicate.expression import Column
    >>> pieces_of(Like(operand=Column(path=("a",)), pattern=r"10\%%"))
    ('10%', <Wildcard.ANY: '%'>)
    """
    return tuple(_joined(_characters(test.pattern, test.escape)))


def prefix_of(test: Like) -> str:
    """What every matching text begins with."""
    pieces = pieces_of(test)
    return pieces[0] if pieces and isinstance(pieces[0], str) else ""


def regex_of(test: Like) -> str:
    """An RE2 expression that finds a match in exactly the texts that match."""
    parts = (
        re.escape(piece) if isinstance(piece, str) else ".*" if piece is Wildcard.ANY else "."
        for piece in pieces_of(test)
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
