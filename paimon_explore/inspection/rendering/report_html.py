"""Renders reports as static HTML with the tags that notebook viewers keep; escapes all texts.

Charts as SVG images, for viewers without JavaScript.

Colours of medium lightness on a transparent background are readable in light and dark themes.
"""

import base64
from collections.abc import Iterable, Iterator, Sequence

from paimon_explore.inspection.rendering.chart import (
    BarChart,
    Box,
    Chart,
    LaneChart,
    Profile,
    Tone,
    Unit,
)
from paimon_explore.inspection.rendering.escape import esc, truncate
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, short_text
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
    return "\n".join("".join(_section(part)) for part in sections)


def _section(part: Section) -> Iterator[str]:
    match part:
        case BarChart() | LaneChart():
            yield f"<p>{esc(part.title)}<br>{svg_image(chart_svg(part), part.title)}</p>"
        case Facts():
            yield from _facts(part)
        case Grid():
            yield from _grid(part)
        case Sentences():
            yield from _sentences(part)
        case Note(text=text, tone=tone):
            yield f"<p>{_text(text, tone)}</p>"
        case Failed(problem=problem):
            yield f"<p><b>{esc(problem.kind)}</b>: {esc(problem.message)}</p>"
        case Commands():
            yield f"<p>{esc(part.title)}</p>"
            for name, code in part.rows:
                yield f"<p>{esc(name)}: <code>{esc(code)}</code></p>"
        case Animation() | Form():
            return


def _text(text: str, tone: Tone) -> str:
    return f"<b>{esc(text)}</b>" if tone in _STRONG else esc(text)


def _sentences(part: Sentences) -> Iterator[str]:
    yield f"<p>{esc(part.title)}</p><ul>"
    for item in part.items:
        yield f"<li>{''.join(_text(cell.text, cell.tone) for cell in item)}</li>"
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
    return f'<td style="text-align:{side}">{_text(cell.text, cell.tone)}</td>'


COLOURS = {
    Tone.PLAIN: "#3b7ddd",
    Tone.ADD: "#2f9e57",
    Tone.REMOVE: "#d8463a",
    Tone.MOVE: "#9361d8",
    Tone.WARN: "#cf6a1c",
    Tone.MUTED: "#8a8a8a",
}
_GREY = "#767676"
_WIDTH = 720
_LABELS = 170
_FIGURES = 70
_BAR = 18
_LANE = 26
_AXIS = 22
_PROFILE = 44
_MAX_BARS = 40
_MAX_BOXES = 2000
_PER_LETTER = 6.2


def value_text(value: float, unit: Unit) -> str:
    """Format a number of a chart.

    >>> value_text(0.5, Unit.SHARE), value_text(-1500, Unit.BYTES)
    ('50%', '-1.5 kB')
    """
    match unit:
        case Unit.BYTES:
            return bytes_text(value)
        case Unit.SHARE:
            return f"{value:.0%}"
        case Unit.COUNT:
            return short_text(value)


def chart_svg(chart: Chart) -> str:
    """The chart as SVG."""
    return _bars_svg(chart) if isinstance(chart, BarChart) else _lanes_svg(chart)


def svg_image(svg: str, alt: str) -> str:
    """An HTML image of an SVG; scripts do not run in images."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{esc(alt)}" src="data:image/svg+xml;base64,{data}">'


def _svg(height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {_WIDTH} {height:g}" font-family="sans-serif" font-size="11" '
        f'fill="{_GREY}">{"".join(parts)}</svg>'
    )


def _bars_svg(chart: BarChart) -> str:
    count = min(len(chart.categories), _MAX_BARS)
    values = [[s.values[i] for s in chart.series] for i in range(count)]
    left = max((sum(-v for v in row if v < 0) for row in values), default=0)
    right = max((sum(v for v in row if v > 0) for row in values), default=0)
    room = _WIDTH - _LABELS - _FIGURES
    scale = room / (left + right) if left + right else 0
    zero = _LABELS + left * scale
    parts = [part for i in range(count) for part in _bar(chart, i, zero, scale)]
    line = f'<path d="M{zero:.1f} 0V{count * _BAR}" stroke="{_GREY}" stroke-opacity=".5"/>'
    legend = [*_legend(chart, count * _BAR + 16)]
    return _svg(count * _BAR + (24 if legend else 4), [*parts, line, *legend])


def _bar(chart: BarChart, i: int, zero: float, scale: float) -> Iterator[str]:
    y = i * _BAR
    label = esc(truncate(chart.categories[i], 26))
    yield f'<text x="{_LABELS - 6}" y="{y + 13}" text-anchor="end">{label}</text>'
    positions = {True: zero, False: zero}
    texts = []
    for series in chart.series:
        value = series.values[i]
        if not value:
            continue
        texts.append(value_text(value, chart.unit))
        wide = max(abs(value) * scale, 1)
        up = value > 0
        x = positions[up] if up else positions[up] - wide
        positions[up] += wide if up else -wide
        paint = COLOURS[series.tone]
        yield f'<rect x="{x:.1f}" y="{y + 3}" width="{wide:.1f}" height="12" fill="{paint}"/>'
    figure = esc(" ".join(texts))
    yield f'<text x="{positions[True] + 5:.1f}" y="{y + 13}">{figure}</text>'


def _legend(chart: BarChart, y: float) -> Iterator[str]:
    x = float(_LABELS)
    if len(chart.series) < 2:  # noqa: PLR2004 - one series needs no legend
        return
    for series in chart.series:
        paint = COLOURS[series.tone]
        yield f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{paint}"/>'
        yield f'<text x="{x + 14:.0f}" y="{y}">{esc(series.name)}</text>'
        x += 30 + len(series.name) * _PER_LETTER


def _lanes_svg(chart: LaneChart) -> str:
    span = chart.end - chart.start or 1
    room = _WIDTH - _LABELS - 8

    def place(value: float) -> float:
        return _LABELS + (min(max(value, chart.start), chart.end) - chart.start) / span * room

    parts: list[str] = []
    for i, lane in enumerate(chart.lanes):
        y = i * _LANE
        label, line = esc(truncate(lane, 26)), f"M{_LABELS} {y + _LANE - 0.5}H{_WIDTH}"
        parts.append(f'<text x="{_LABELS - 6}" y="{y + 17}" text-anchor="end">{label}</text>')
        parts.append(f'<path d="{line}" stroke="{_GREY}" stroke-opacity=".2"/>')
    for box in chart.boxes[:_MAX_BOXES]:
        parts += _box(box, place(box.start), place(box.end))
    bottom = len(chart.lanes) * _LANE
    for value, label in chart.ticks:
        x = place(value)
        anchor = "end" if x > _WIDTH - 40 else "middle" if x > _LABELS + 20 else "start"
        text = f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="{anchor}">'
        parts.append(f"{text}{esc(truncate(label, 18))}</text>")
    bottom += _AXIS if chart.ticks else 4
    if chart.profile is not None:
        steps = [(place(x), value) for x, value in chart.profile.steps]
        parts += _profile(chart.profile, steps, bottom)
        bottom += _PROFILE
    return _svg(bottom, parts)


def _box(box: Box, left: float, right: float) -> Iterator[str]:
    wide = max(right - left, 2)
    tall = max(box.height * (_LANE - 6), 3)
    y = box.lane * _LANE + _LANE - 3 - tall
    paint = COLOURS[box.tone]
    yield (
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="2" '
        f'fill="{paint}" fill-opacity=".28" stroke="{paint}">'
        f"<title>{esc(box.tooltip)}</title></rect>"
    )
    if box.hatched:
        part = wide * box.hatched
        yield (
            f'<rect x="{left + wide - part:.1f}" y="{y:.1f}" width="{part:.1f}" '
            f'height="{tall:.1f}" fill="{COLOURS[Tone.REMOVE]}" fill-opacity=".55"/>'
        )
    letters = int((wide - 6) / _PER_LETTER)
    if box.label and letters > 2:  # noqa: PLR2004 - fewer letters tell nothing
        label = esc(truncate(box.label, letters - 1 if letters < len(box.label) else letters))
        yield f'<text x="{left + 4:.1f}" y="{box.lane * _LANE + 17}">{label}</text>'


def _profile(profile: Profile, line: Sequence[tuple[float, float]], top: float) -> Iterator[str]:
    peak = max((value for _, value in line), default=0) or 1
    floor = top + _PROFILE - 6
    path = ""
    for x, value in line:
        y = floor - value / peak * (_PROFILE - 14)
        path += f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}"
    title = esc(truncate(profile.title, 26))
    yield f'<text x="{_LABELS - 6}" y="{floor - 8:g}" text-anchor="end">{title}</text>'
    yield f'<path d="{path}" fill="none" stroke="{COLOURS[Tone.WARN]}" stroke-width="1.5"/>'
