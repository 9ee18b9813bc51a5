"""Wraps texts in lines that fit a terminal, also texts with characters of two cells.

Uses no package of the extra `cli`, since `show` works without it.
"""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_INDENT = "  "
_WORD = re.compile(r"\s*\S+")


def wrapped_lines(text: str, width: int, first: str = "", rest: str = _INDENT) -> list[str]:
    """Return a text in lines of at most a width; longer words are continued in the next line.

    Args:
        text: the text, sanitized.
        width: the width in cells of the terminal.
        first: the beginning of the first line.
        rest: the beginning of the other lines.

    >>> wrapped_lines("snapshot 6 COMPACT", 12)
    ['snapshot 6', '  COMPACT']
    """
    return [line.rstrip() for line in _lines(text, width, first, rest)]


def cells(text: str) -> int:
    """Return the width of a text in cells; the characters of emoji sequences count each.

    >>> cells("a大")
    3
    """
    if text.isascii():
        return len(text)
    return sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    return 2 if east_asian_width(char) in "WF" else 1


def _lines(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    line, is_empty = first, True
    for word in _WORD.findall(text):
        if not is_empty and cells(line) + cells(word) > width:
            yield line
            line, is_empty = rest, True
        left = word.lstrip() if is_empty else word
        while cells(line) + cells(left) > width:
            fitting = max(_fitting(left, width - cells(line)), 1)
            yield line + left[:fitting]
            line, left = rest, left[fitting:]
        line += left
        is_empty = False
    if not is_empty:
        yield line


def _fitting(text: str, width: int) -> int:
    """The number of characters that fit a width."""
    taken = 0
    for count, char in enumerate(text):
        taken += _cells_of(char)
        if taken > width:
            return count
    return len(text)
