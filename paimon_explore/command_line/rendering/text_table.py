"""Tables as aligned text that fits a terminal.

Wraps texts in lines that fit a terminal, also texts with characters of two cells.

Uses no package of the extra `cli`, since `show` works without it.
"""

import re
from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import plural

_GAP = "  "
_NARROWEST = 12
"""Columns are not cut below this width; further columns are left out instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The columns of a table with their widths.

    Attributes:
        widths: the width of each shown column, in cells of the terminal.
        numeric: whether a column is aligned on the right.
        whole: whether the values of a column are never cut.
    """

    widths: tuple[int, ...]
    numeric: tuple[bool, ...]
    whole: tuple[bool, ...]

    def line(self, texts: Sequence[str]) -> str:
        """Return one row; cells that are too wide are cut with `…`."""
        parts = zip(texts, self.widths, self.whole, strict=False)
        return self._aligned([text if whole else cut(text, width) for text, width, whole in parts])

    def headings(self, texts: Sequence[str]) -> str:
        """Return the line of the headings; those that begin alike are cut in their middle."""
        fitting = list(zip(texts, self.widths, strict=False))
        cuts = [cut(text, width) for text, width in fitting]
        if len(set(cuts)) < len(cuts):
            cuts = [middle_cut(text, width) for text, width in fitting]
        return self._aligned(cuts)

    def _aligned(self, texts: Sequence[str]) -> str:
        columns = zip(texts, self.widths, self.numeric, strict=True)
        return _GAP.join(
            _padded(text, width, right=right) for text, width, right in columns
        ).rstrip()

    def rule(self) -> str:
        """Return the line under the headings."""
        return _GAP.join("─" * width for width in self.widths)


def cell_width(text: str) -> int:
    """Return the width of a text in a terminal; East Asian characters take two cells."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """Return the text, cut with `…` if it is wider.

    >>> cut("customer", 5), cut("大阪市", 5)
    ('cust…', '大阪…')
    """
    if cell_width(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def middle_cut(text: str, width: int) -> str:
    """Return the text with `…` in its middle if it is wider.

    >>> middle_cut("column_number_0001", 12)
    'column…_0001'
    """
    if cell_width(text) <= width:
        return text
    start = cut(text, width - width // 2 + 1)
    end = 0
    while cell_width(start) + cell_width(text[-end - 1 :]) <= width:
        end += 1
    return start + text[len(text) - end :]


def left_out_line(names: Sequence[str], width: int) -> str:
    """Return the line that names the columns that do not fit."""
    return cut(f"… {plural(len(names), 'more column')}: {', '.join(names)}", width)


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cell_width(text))
    return space + text if right else text + space


def widths_of(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of the widest text of each column."""
    return [max(map(cell_width, column)) for column in zip(*rows, strict=True)]


def fitted(
    wanted: Sequence[int],
    numeric: Sequence[bool],
    width: int | None,
    whole: Sequence[bool] | None = None,
) -> TableLayout:
    """Fit columns into a width: the widest texts are cut first, then the last columns left out.

    Args:
        wanted: the widths that the columns need.
        numeric: whether each column has numbers.
        width: the available width; None for no limit.
        whole: whether the values of each column are not cut; by default those of numbers.
    """
    whole = tuple(numeric if whole is None else whole)
    if width is None:
        return TableLayout(widths=tuple(wanted), numeric=tuple(numeric), whole=whole)
    shown = len(wanted)
    least = [
        full if is_whole else min(full, _NARROWEST)
        for full, is_whole in zip(wanted, whole, strict=True)
    ]
    while shown > 1 and total_width(least[:shown]) > width:
        shown -= 1
    limit = max(wanted[:shown], default=0)
    widths = list(wanted[:shown])
    while total_width(widths) > width and limit > _NARROWEST:
        limit -= 1
        widths = [
            full if is_whole else min(full, limit)
            for full, is_whole in zip(wanted[:shown], whole, strict=False)
        ]
    widths = [min(one, width) for one in widths]
    return TableLayout(widths=tuple(widths), numeric=tuple(numeric[:shown]), whole=whole[:shown])


def total_width(widths: Sequence[int]) -> int:
    """Return the width of columns with the gaps between them."""
    return sum(widths) + len(_GAP) * (len(widths) - 1)


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
    return len(text) if text.isascii() else sum(map(_cells_of, text))


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
