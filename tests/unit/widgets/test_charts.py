import json

import pyarrow as pa

from paimon_explore.inspection.rendering.chart import (
    BarChart,
    Box,
    LaneChart,
    Profile,
    Series,
    Unit,
)
from paimon_explore.widgets.charts import TEMPLATE, figure_of, label
from support.explored import HOSTILE
from support.small_tables import append_table, columns

BARS = BarChart(
    title=HOSTILE,
    categories=(HOSTILE, "b"),
    series=(Series(name="up", values=(3.0, 1.0)), Series(name=HOSTILE, values=(-2.0, 0.0))),
    unit=Unit.BYTES,
)
LANES = LaneChart(
    title="runs",
    lanes=("level 0", HOSTILE),
    boxes=(Box(lane=1, start=1, end=3, label=HOSTILE, tooltip=HOSTILE, height=0.5),),
    start=0,
    end=4,
    ticks=((0.5, HOSTILE),),
    profile=Profile(title="depth", steps=((0, 1), (4, 0))),
)


def test_labels_are_text_and_no_markup() -> None:
    text = figure_of((BARS, LANES)).to_json()
    assert "<img" not in text
    assert "<svg" not in text
    assert "\\u202e" not in text
    assert label("<a href='x'>\x1b") == "&lt;a href='x'&gt;\\x1b"


def test_bars_and_boxes_have_their_places() -> None:
    figure = json.loads(figure_of((BARS, LANES)).to_json())
    up, down, boxes, depth = figure["data"]
    assert (up["x"], down["x"], up["orientation"]) == ([3.0, 1.0], [-2.0, 0.0], "h")
    assert up["customdata"] == ["3 B", "1 B"]
    assert (boxes["base"], boxes["x"], boxes["y"], boxes["width"]) == ([1], [2], [1], [0.4])
    assert depth["line"]["shape"] == "hv"


def test_the_ground_lets_the_theme_through_and_figures_are_small() -> None:
    layout = TEMPLATE.layout.to_plotly_json()
    assert {layout["paper_bgcolor"], layout["plot_bgcolor"]} == {"rgba(0,0,0,0)"}
    assert len(figure_of((BARS, LANES)).to_json()) < 40_000


def test_without_a_chart_the_figure_says_so() -> None:
    assert "has no chart" in figure_of(()).to_json()


def test_a_timeline_is_drawn_too() -> None:
    table = append_table(columns(k=pa.int32()), [{"k": 1}], [{"k": 2}])
    assert table.inspect.timeline().plot().to_json()
    assert "<img" in table.inspect.timeline()._repr_html_()
    assert table.inspect.timeline().to_pandas().shape[0] == len(table.inspect.timeline())
