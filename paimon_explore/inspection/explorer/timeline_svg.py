"""The timeline as an SVG image, for viewers without JavaScript.

Colours of medium lightness on a transparent background are readable in light and dark themes.
"""

import math
from collections.abc import Iterator

from paimon_explore.inspection.history.timeline import Mark, Timeline, letter_of

MAX_MARKS = 60
_PITCH = 16
_EDGE = 8
_BASE = 34
_UP = 30
_MARK_Y = _BASE + 12
_HEIGHT = _MARK_Y + 26
_COLOURS = {"A": "#3b7ddd", "C": "#9361d8", "O": "#cf6a1c", "Z": "#148f7f", "!": "#d8463a"}
_GREY = "#767676"


def timeline_svg(timeline: Timeline, selected: int) -> str:
    """The latest snapshots as SVG; bar height is the square root of the changed rows."""
    marks = timeline.marks[-MAX_MARKS:]
    width = 2 * _EDGE + max(len(marks), 1) * _PITCH
    peak = max((abs(_delta(mark)) for mark in marks), default=0)
    inside = "".join(
        part
        for i, mark in enumerate(marks)
        for part in _mark(i, mark, peak, mark.snapshot_id == selected)
    )
    line = f'<path d="M0 {_BASE + 0.5}H{width}" stroke="{_GREY}" stroke-opacity=".4"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" '
        f'viewBox="0 0 {width} {_HEIGHT}" font-family="sans-serif" font-size="9" '
        f'text-anchor="middle">{line}{inside}</svg>'
    )


def _delta(mark: Mark) -> int:
    return 0 if mark.snapshot is None else mark.snapshot.delta_record_count or 0


def _mark(i: int, mark: Mark, peak: int, selected: bool) -> Iterator[str]:  # noqa: FBT001 - private
    x = _EDGE + (i + 0.5) * _PITCH
    letter = letter_of(mark)
    colour = _COLOURS[letter]
    if selected:
        place = f'x="{x - _PITCH / 2:g}" y="0" width="{_PITCH}" height="{_HEIGHT}"'
        yield f'<rect {place} rx="3" fill="{_COLOURS["A"]}" fill-opacity=".18"/>'
    delta = _delta(mark)
    if delta and peak:
        tall = max(math.sqrt(abs(delta) / peak) * _UP, 1.5)
        top = _BASE - tall if delta > 0 else _BASE + 1
        tall = tall if delta > 0 else min(tall, 6)
        yield f'<rect x="{x - 4:g}" y="{top:.1f}" width="8" height="{tall:.1f}" fill="{colour}"/>'
    hollow = f'fill="none" stroke="{colour}"' if mark.expired else f'fill="{colour}"'
    yield _shape(letter, x, hollow)
    ink = colour if mark.expired else "#fff"
    yield f'<text x="{x:g}" y="{_MARK_Y + 3}" font-weight="bold" fill="{ink}">{letter}</text>'
    if i % 3 == 0 or selected:
        yield f'<text x="{x:g}" y="{_MARK_Y + 20}" fill="{_GREY}">{mark.snapshot_id}</text>'


def _shape(letter: str, x: float, paint: str) -> str:
    y = _MARK_Y
    if letter == "A":
        return f'<circle cx="{x:g}" cy="{y}" r="6.5" {paint}/>'
    if letter == "C":
        return f'<rect x="{x - 6:g}" y="{y - 6}" width="12" height="12" rx="2" {paint}/>'
    if letter == "O":
        return f'<path d="M{x:g} {y - 8}l8 14h-16z" {paint}/>'
    return f'<path d="M{x:g} {y - 8}l8 8l-8 8l-8-8z" {paint}/>'
