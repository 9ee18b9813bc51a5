"""Reports as text in the width of the terminal, with all rows of their tables."""

from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import wrap

from paimon_explore.command_line.rendering.text_table import (
    cell_width,
    table_lines,
    total_width,
    widths_of,
)
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Facts, Failed, Grid, Note, Report
from paimon_explore.sanitize import sanitized

_INDENT = "  "
_HEADING_LINES = 2
_PROSE_SPACES = 3
_PROSE_LENGTH = 30


def report_lines(report: Report, width: int | None) -> Iterator[str]:
    """Lay out a report.

    Args:
        report: the report; its charts are left out.
        width: the width of the terminal; None for no limit.
    """
    yield from wrapped(report.title, width)
    for part in report.sections:
        match part:
            case Facts(rows=rows):
                yield ""
                yield from _facts([(label, cell.text) for label, cell in rows], width)
            case Grid():
                yield ""
                yield from _grid(part, width)
            case Note(text=text):
                yield ""
                yield from wrapped(text, width)
            case Failed(problem=problem):
                yield ""
                yield from wrapped(f"{problem.kind}: {problem.message}", width)
            case _:
                pass


def wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return a sanitized text in lines of at most a width."""
    clean = sanitized(text)
    if width is None or cell_width(clean) + len(indent) <= width:
        return [indent + clean]
    return wrap(clean, width, initial_indent=indent, subsequent_indent=indent + _INDENT)


def _facts(rows: list[tuple[str, str]], width: int | None) -> Iterator[str]:
    longest = max((cell_width(sanitized(label)) for label, _ in rows), default=0)
    for label, text in rows:
        clean = sanitized(label)
        space = " " * (longest - cell_width(clean))
        yield from _wrapped_fact(f"{clean}{space}{_INDENT}", sanitized(text), width)


def _wrapped_fact(label: str, text: str, width: int | None) -> list[str]:
    if width is None or cell_width(label) + cell_width(text) <= width:
        return [label + text]
    indent = " " * cell_width(label)
    return wrap(text, width, initial_indent=label, subsequent_indent=indent) or [label]


def _grid(part: Grid, width: int | None) -> Iterator[str]:
    if not part.rows:
        yield f"{sanitized(part.title)}: none"
        return
    yield from wrapped(part.title, width)
    filled = [i for i, _ in enumerate(part.columns) if any(row[i].text for row in part.rows)]
    rows = [[sanitized(row[i].text) for i in filled] for row in part.rows]
    headings = [sanitized(part.headings[i]) for i in filled]
    inner = None if width is None else width - len(_INDENT)
    for line in _grid_lines(headings, rows, [part.numeric[i] for i in filled], inner):
        yield _INDENT + line
    if part.total > len(part.rows):
        yield f"{_INDENT}… {plural(part.total - len(part.rows), 'more row')}"
    if part.note:
        yield from wrapped(part.note, width, _INDENT)


def _grid_lines(
    headings: list[str], rows: list[list[str]], numeric: Sequence[bool], width: int | None
) -> Iterator[str]:
    """A table; where it is too wide, its sentences are on lines of their own below each row."""
    apart: list[int] = []
    if width is not None and total_width(widths_of([headings, *rows])) > width:
        apart = [
            i for i, column in enumerate(zip(*rows, strict=True)) if any(map(_is_prose, column))
        ]
    kept = [i for i in range(len(headings)) if i not in apart]
    if not kept or not apart:
        yield from table_lines(headings, rows, numeric, width)
        return
    shown = [[row[i] for i in kept] for row in rows]
    lines = table_lines([headings[i] for i in kept], shown, [numeric[i] for i in kept], width)
    yield from islice(lines, _HEADING_LINES)
    for row, line in zip(rows, lines, strict=True):
        yield line
        for i in apart:
            yield from wrapped(row[i], width, _INDENT) if row[i] else ()


def _is_prose(text: str) -> bool:
    """Whether a text is a sentence rather than a value."""
    return text.count(" ") >= _PROSE_SPACES and len(text) > _PROSE_LENGTH
