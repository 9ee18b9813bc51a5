"""Reports as text in the width of the terminal, with all rows of their tables."""

from collections.abc import Iterator, Sequence

from paimon_explore.command_line.rendering.text_table import (
    cell_width,
    cells,
    fitted,
    left_out_line,
    total_width,
    widths_of,
    wrapped_lines,
)
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Facts, Failed, Grid, Note, Report
from paimon_explore.sanitize import sanitized

_INDENT = "  "
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
    return wrapped_lines(clean, width, indent, indent + _INDENT)


def _facts(rows: list[tuple[str, str]], width: int | None) -> Iterator[str]:
    clean = [(sanitized(label), sanitized(text)) for label, text in rows]
    widths = [cells(label) for label, _ in clean]
    column = max((one for one in widths if width is None or one <= width // 2), default=0)
    for label, text in clean:
        yield from _fact(label, text, column, width)


def _fact(label: str, text: str, column: int, width: int | None) -> list[str]:
    """A label and its text; labels that are wider than their column have lines of their own."""
    start = f"{label}{' ' * (column - cells(label))}{_INDENT}"
    if width is None:
        return [start + text]
    if cells(label) > column:
        return [*wrapped_lines(label, width), *wrapped_lines(text, width, _INDENT)]
    return wrapped_lines(text, width, start, " " * cells(start)) or [label]


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
    if not kept:
        kept, apart = apart, []
    shown = [[row[i] for i in kept] for row in rows]
    names = [headings[i] for i in kept]
    layout = fitted(widths_of([names, *shown]), [numeric[i] for i in kept], width)
    yield from (layout.headings(names), layout.rule())
    common = [i for i in apart if len(rows) > 1 and len({row[i] for row in rows}) == 1]
    for row, texts in zip(rows, shown, strict=True):
        yield layout.line(texts)
        for i in apart:
            if row[i] and i not in common:
                yield from wrapped(f"{headings[i]}: {row[i]}", width, _INDENT)
    for i in common:
        yield from wrapped(f"{headings[i]} of all: {rows[0][i]}", width)
    if len(layout.widths) < len(names) and width is not None:
        yield left_out_line(names[len(layout.widths) :], width)


def _is_prose(text: str) -> bool:
    """Whether a text is a sentence rather than a value."""
    return text.count(" ") >= _PROSE_SPACES and len(text) > _PROSE_LENGTH
