"""The explorer as static HTML, for re-opened notebooks and GitHub: the overview, then the timeline.

Uses only tags that notebook viewers keep; all data is escaped.
"""

import math
from collections.abc import Iterator

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.history.timeline import Mark, Timeline, letter_of
from paimon_explore.inspection.overview.overview_report import table_overview
from paimon_explore.inspection.rendering.escape import esc
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    time_text,
)
from paimon_explore.inspection.rendering.report_html import sections_html, svg_image
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.manifest_tree import TreeNode

_MAX_FILES = 15
_MAX_CHECKED_FILES = 200
"""The health rules are not evaluated for tables with more files, which would delay the output."""
_MAX_FLAGS = 20
_FILE_COLUMNS = (
    *("partition", "bucket", "level", "row_count", "file_size", "min_key", "max_key", "added_by"),
)
MAX_MARKS = 60
_PITCH = 16
_EDGE = 8
_BASE = 34
_UP = 30
_MARK_Y = _BASE + 12
_HEIGHT = _MARK_Y + 26
_COLOURS = {"A": "#3b7ddd", "C": "#9361d8", "O": "#cf6a1c", "Z": "#148f7f", "!": "#d8463a"}
_GREY = "#767676"


def explorer_html(inspector: Inspector) -> str:
    """The overview of a table, its timeline, and the selected snapshot with its first files."""
    return "\n".join(_parts(inspector))


def _parts(inspector: Inspector) -> Iterator[str]:
    view = inspector.view
    timeline = inspector.timeline()
    chips = " · ".join(esc(chip) for chip in table_chips(view.schema))
    yield f"<h3>{esc(view.name)}</h3><p>{chips}<br><code>{esc(view.location)}</code></p>"
    now = system_clock()
    yield f"<p>As of {esc(time_text(now))}:</p>"
    found = table_overview(inspector, now, max_files=_MAX_CHECKED_FILES)
    yield sections_html(found.description())
    if not len(timeline):
        return
    shown = min(len(timeline), MAX_MARKS)
    says = f"Timeline of the last {plural(shown, 'snapshot')}: {timeline!r}"
    yield f"<p>{svg_image(timeline_svg(timeline, inspector.snapshot_id), says)}</p>"
    flags = [f"{f.kind.value} <b>{esc(f.name)}</b> → {f.target_text}" for f in timeline.flags]
    if flags:
        yield f"<p>{' · '.join(flags[:_MAX_FLAGS])}</p>"
    try:
        yield from _snapshot(inspector)
    except PaimonError as error:
        yield f"<p><b>{esc(type(error).__name__)}</b>: {esc(error.message)}</p>"


def _snapshot(inspector: Inspector) -> Iterator[str]:
    snapshot = inspector.timeline().snapshot(inspector.snapshot_id)
    delta = snapshot.delta_record_count
    yield (
        f"<p><b>snapshot {snapshot.id}</b> {esc(snapshot.commit_kind.value)} "
        f"{esc(time_text(snapshot.time_millis))} · schema {snapshot.schema_id} · "
        f"stored rows: {count_text(snapshot.total_record_count)}"
        f"{'' if delta is None else f' ({delta:+,} by this commit)'}</p>"
    )
    yield _table(
        ("metadata", "entries", "size"),
        [cells for node in inspector.tree().nodes for cells in [_node_cells(node)]],
    )
    files = inspector.files()
    yield f"<p><b>{esc(files.title)}</b></p>"
    rows = files.table.select(_FILE_COLUMNS).slice(0, _MAX_FILES).to_pylist()
    yield _table(
        _FILE_COLUMNS, [[_cell(name, row[name]) for name in _FILE_COLUMNS] for row in rows]
    )
    rest = len(files) - _MAX_FILES
    if rest > 0:
        yield f"<p>… {plural(rest, 'more file')}</p>"


def _node_cells(node: TreeNode) -> list[str]:
    if node.problem:
        return [node.label, node.problem, ""]
    entries = "" if node.added is None else f"{node.added:,} ADD, {node.deleted or 0:,} DELETE"
    return [node.label, entries, "" if node.size is None else bytes_text(node.size)]


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    return bytes_text(int(str(value))) if name == "file_size" else str(value)


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{esc(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


# Colours of medium lightness on a transparent background are readable in light and dark themes.
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
