"""Renders reports as static HTML with the tags that notebook viewers keep; escapes all texts."""

from collections.abc import Iterable, Iterator

from paimon_explore.inspection.rendering.chart import BarChart, LaneChart, Tone
from paimon_explore.inspection.rendering.chart_svg import chart_svg, svg_image
from paimon_explore.inspection.rendering.escape import esc
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import (
    Animation,
    Cell,
    Commands,
    Facts,
    Failed,
    Form,
    Grid,
    Note,
    Report,
    Section,
    Sentences,
)

_MAX_ROWS = 20
_STRONG = (Tone.REMOVE, Tone.WARN)


def report_html(report: Report) -> str:
    """The title and all sections as HTML; grids with their first rows."""
    return f"<p><b>{esc(report.title)}</b></p>\n{sections_html(report.sections)}"


def sections_html(sections: Iterable[Section]) -> str:
    """Sections without a title as HTML."""
    return "\n".join(map(_section, sections))


def _section(part: Section) -> str:
    match part:
        case BarChart() | LaneChart():
            return f"<p>{esc(part.title)}<br>{svg_image(chart_svg(part), part.title)}</p>"
        case Facts() | Grid() | Sentences():
            return "".join(_list(part))
        case Note(text=text, tone=tone):
            inside = f"<b>{esc(text)}</b>" if tone in _STRONG else esc(text)
            return f"<p>{inside}</p>"
        case Failed(problem=problem):
            return f"<p><b>{esc(problem.kind)}</b>: {esc(problem.message)}</p>"
        case Commands():
            return "".join(_commands(part))
        case Animation() | Form():
            return ""


def _commands(part: Commands) -> Iterator[str]:
    yield f"<p>{esc(part.title)}</p>"
    for name, code in part.rows:
        yield f"<p>{esc(name)}: <code>{esc(code)}</code></p>"


def _list(part: Facts | Grid | Sentences) -> Iterator[str]:
    match part:
        case Facts():
            return _facts(part)
        case Grid():
            return _grid(part)
        case Sentences():
            return _sentences(part)


def _sentences(part: Sentences) -> Iterator[str]:
    yield f"<p>{esc(part.title)}</p><ul>"
    for item in part.items:
        texts = [
            f"<b>{esc(cell.text)}</b>" if cell.tone in _STRONG else esc(cell.text) for cell in item
        ]
        yield f"<li>{''.join(texts)}</li>"
    yield "</ul>"


def _facts(part: Facts) -> Iterator[str]:
    if part.title:
        yield f"<p>{esc(part.title)}</p>"
    rows = "".join(f"<tr><th>{esc(name)}</th>{_cell(cell)}</tr>" for name, cell in part.rows)
    yield f"<table><tbody>{rows}</tbody></table>"


def _grid(part: Grid) -> Iterator[str]:
    yield f"<p>{esc(part.title)}{': none' if not part.rows else ''}</p>"
    if part.rows:
        sides = ["right" if number else "left" for number in part.numeric]
        head = "".join(
            f'<th style="text-align:{side}">{esc(name)}</th>'
            for name, side in zip(part.headings, sides, strict=True)
        )
        rows = part.rows[:_MAX_ROWS]
        body = "".join(f"<tr>{''.join(map(_cell, row, sides))}</tr>" for row in rows)
        yield f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if part.total > _MAX_ROWS:
        yield f"<p>… {plural(part.total - _MAX_ROWS, 'more row')}</p>"
    if part.note:
        yield f"<p>{esc(part.note)}</p>"


def _cell(cell: Cell, side: str = "left") -> str:
    """A table cell with explicit alignment, since notebooks right-align cells by default."""
    inside = f"<b>{esc(cell.text)}</b>" if cell.tone in _STRONG else esc(cell.text)
    return f'<td style="text-align:{side}">{inside}</td>'
