"""Charts of SQL results."""

from datetime import date

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.rendering.chart import BarChart, LineChart
from paimon_explore.inspection.rendering.result_charts import MAX_BARS, charts_of


def test_numbers_over_a_time_are_step_lines_by_text() -> None:
    catalog = pe.demo()
    text = "SELECT city, count(*) AS n, sum(amount) AS total FROM demo.orders GROUP BY city"
    history = catalog.sql(text).history()
    figure = history.plot()
    charts = charts_of(history.to_arrow())
    assert [(type(chart), chart.title) for chart in charts] == [
        (LineChart, "n"),
        (LineChart, "total"),
    ]
    assert isinstance(charts[0], LineChart)
    lines = {line.name: line.points for line in charts[0].lines}
    assert lines["Oslo"] == ((1, 1.0), (2, 3.0), (3, 5.0), (4, 7.0), (5, 9.0))
    assert "NULL" in lines
    assert '"hv"' in figure.to_json()
    days = pa.table({"day": [date(2026, 1, 1), date(2026, 1, 2)], "n": [1, None]})
    (chart,) = charts_of(days)
    assert isinstance(chart, LineChart)
    assert chart.lines[0].points == ((date(2026, 1, 1), 1.0), (date(2026, 1, 2), None))


def test_numbers_by_text_are_bars() -> None:
    result = pe.sql(
        "SELECT 'a' AS x, true AS y, 1.5 AS n, 2 AS m UNION ALL SELECT 'b', false, 3, 4"
    )
    assert '"bar"' in result.plot().to_json()
    first, second = charts_of(result.to_arrow())
    assert isinstance(first, BarChart)
    assert (first.categories, first.series[0].values) == (("a · True", "b · False"), (1.5, 3.0))
    assert second.title == "m"


def test_numbers_alone_are_a_line_over_the_first_or_bars() -> None:
    (line,) = charts_of(pa.table({"id": [1, 2], "n": [3, 4]}))
    assert isinstance(line, LineChart)
    assert line.lines[0].points == ((1, 3.0), (2, 4.0))
    (bars,) = charts_of(pa.table({"n": [3]}))
    assert isinstance(bars, BarChart)


def test_what_cannot_be_plotted_is_said() -> None:
    with pytest.raises(InvalidInputError, match="no column of numbers to plot"):
        pe.sql("SELECT 'x' AS a").plot()
    rows = pa.table({"a": ["x"] * (MAX_BARS + 1), "n": range(MAX_BARS + 1)})
    with pytest.raises(InvalidInputError, match="201 rows; at most 200 can be plotted"):
        charts_of(rows)
