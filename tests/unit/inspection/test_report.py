import json

from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.chart import (
    BarChart,
    Box,
    LaneChart,
    Profile,
    Series,
    Tone,
    axis_ticks,
)
from paimon_explore.inspection.rendering.report import Cell, Failed, Note, Report, facts, grid
from paimon_explore.inspection.rendering.report_html import chart_svg, report_html
from paimon_explore.inspection.rendering.report_text import report_text
from support.explored import HOSTILE

BARS = BarChart(
    title="sizes",
    categories=("a", HOSTILE),
    series=(Series(name="up", values=(3, 1)), Series(name="down", values=(-2, 0))),
)
LANES = LaneChart(
    title="runs",
    lanes=("level 0", HOSTILE),
    boxes=(Box(lane=0, start=0, end=2, label=HOSTILE, tooltip=HOSTILE, hatched=0.5),),
    start=0,
    end=4,
    ticks=((0.5, "1"), (3.5, HOSTILE)),
    profile=Profile(title="depth", steps=((0, 1), (2, 2), (4, 0))),
)


def report(rows: int = 2, text: str = "x") -> Report:
    many = [(f"{text}{i}", i * 1000, Cell(text=text, selects="snapshot:1")) for i in range(rows)]
    return Report(
        title=f"title {text}",
        sections=(
            facts(("label", text), ("left out", None)),
            Note(text=text, tone=Tone.WARN),
            Failed(problem=Problem(kind="CorruptFileError", message=text)),
            grid("first", ("name", "count#", "go"), many),
            grid("second", ("name", "count#", "go"), many, note=text),
            BARS,
            LANES,
        ),
    )


def test_text_is_laid_out_in_columns() -> None:
    assert report_text(report()).splitlines() == [
        "title x",
        "label x",
        "x",
        "CorruptFileError: x",
        "first",
        "  name  count  go",
        "  x0        0  x",
        "  x1    1,000  x",
        "second",
        "  name  count  go",
        "  x0        0  x",
        "  x1    1,000  x",
    ]


def test_text_has_at_most_25_lines_whatever_there_is_to_show() -> None:
    lines = report_text(report(rows=500)).splitlines()
    assert len(lines) <= 25
    assert sum(line.endswith("more rows") for line in lines) == 2


def test_a_grid_tells_its_total_and_shows_the_first_rows() -> None:
    made = grid("files", ("a",), [(str(i),) for i in range(1000)])
    assert (len(made.rows), made.total) == (200, 1000)
    assert made.state()["total"] == 1000


def test_hostile_text_does_nothing_in_any_face() -> None:
    hostile = report(text=HOSTILE)
    assert not {"\x00", "\x1b", "\u202e"} & set(report_text(hostile))
    html = report_html(hostile)
    for svg in (chart_svg(BARS), chart_svg(LANES)):
        assert "<img" not in svg
        assert "<script" not in svg
    assert "<script" not in html
    assert "<svg" not in html
    assert html.count("<img") == 2
    assert 'src="data:image/svg+xml;base64,' in html
    assert not {"\x00", "\x1b", "\u202e"} & set(html)


def test_the_state_is_json_and_plain_cells_are_plain() -> None:
    state = report().state()
    assert json.loads(json.dumps(state)) == state
    sections = state["sections"]
    assert isinstance(sections, list)
    kinds = [part["type"] for part in sections]
    assert kinds == ["facts", "note", "problem", "grid", "grid", "bars", "lanes"]
    assert sections[3]["rows"][1] == ["x1", "1,000", {"text": "x", "selects": "snapshot:1"}]


def test_few_ticks_of_an_axis_are_kept() -> None:
    labels = [(float(i), str(i)) for i in range(100)]
    assert [text for _, text in axis_ticks(0, 99, labels)] == [
        "0",
        "15",
        "30",
        "45",
        "60",
        "75",
        "99",
    ]
    assert axis_ticks(0, 1, labels) == ((0.0, "0"), (1.0, "1"))
