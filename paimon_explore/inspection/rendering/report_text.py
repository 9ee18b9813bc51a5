"""Renders reports as text: at most 25 lines, without control characters from data."""

from collections.abc import Iterator, Sequence

from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import (
    Commands,
    Facts,
    Failed,
    Grid,
    Note,
    Report,
    Sentences,
)
from paimon_explore.sanitize import sanitized, visible

MAX_LINES = 25
_LINE = 118
_CELL = 44
_FIRST = 8
_GRID_OVERHEAD = 3
"""Lines of a grid in addition to its rows: title, headings, and number of further rows."""


def report_text(report: Report) -> str:
    """The title and as much of each section as fits."""
    fixed = [line for part in report.sections for line in _short_lines(part)]
    grids = [part for part in report.sections if isinstance(part, Grid)]
    room = MAX_LINES - 1 - len(fixed) - _GRID_OVERHEAD * len(grids)
    allowed = iter(_shares([len(one.rows) for one in grids], max(room, 0)))
    lines = [report.title]
    for part in report.sections:
        lines += _grid_lines(part, next(allowed)) if isinstance(part, Grid) else _short_lines(part)
    return "\n".join(truncate(sanitized(line), _LINE) for line in lines[:MAX_LINES])


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Number of rows of each grid: up to eight for the first, the rest evenly distributed."""
    given = [min(size, room, _FIRST) if i == 0 else 0 for i, size in enumerate(sizes)]
    room -= sum(given)
    while room > 0 and any(g < w for g, w in zip(given, sizes, strict=True)):
        for i, size in enumerate(sizes):
            if given[i] < size and room > 0:
                given[i] += 1
                room -= 1
    return given


def _short_lines(part: object) -> list[str]:
    match part:
        case Facts(rows=rows):
            return [*_packed([f"{label} {cell.text}" for label, cell in rows])]
        case Note(text=text):
            return [text]
        case Sentences():
            return [part.title, *(f"  {text}" for text in part.texts)]
        case Failed(problem=problem):
            return [f"{problem.kind}: {problem.message}"]
        case Commands(rows=rows):
            return [f"{name}: {code.partition(chr(10))[0]}" for name, code in rows]
        case _:
            return []


def _packed(texts: Sequence[str]) -> Iterator[str]:
    """Join texts into as few lines as possible."""
    line = ""
    for text in texts:
        longer = f"{line}   {text}" if line else text
        if len(longer) > _LINE and line:
            yield line
            line = text
        else:
            line = longer
    if line:
        yield line


def _grid_lines(part: Grid, count: int) -> Iterator[str]:
    if not part.rows:
        yield f"{part.title}: none"
        return
    yield part.title
    cells = [[visible(truncate(cell.text, _CELL)) for cell in row] for row in part.rows[:count]]
    rows = [list(part.headings), *cells]
    yield from (f"  {line}".rstrip() for line in aligned_lines(rows, part.numeric))
    if part.total > count:
        yield f"  … {plural(part.total - count, 'more row')}"


def aligned_lines(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> Iterator[str]:
    """Rows as lines with columns of one width each; numbers are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        aligned = [
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(row, widths, numeric, strict=True)
        ]
        yield "  ".join(aligned).rstrip()
