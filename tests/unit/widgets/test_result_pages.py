"""The rows of an SQL result in a notebook."""

import pyarrow as pa
import pytest

import paimon_explore as pe
import paimon_explore.table.progress
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.rendering.row_pages import RowPages
from paimon_explore.widgets.result_widgets import ResultPages

pytest.importorskip("duckdb")


@pytest.fixture
def in_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paimon_explore.table.progress, "in_notebook", lambda: True)


def texts(pages: RowPages, number: int) -> list[str]:
    return [row[0].text for row in pages.page(number).rows]


def test_pages_come_from_one_reading_of_the_rows() -> None:
    result = pe.sql("SELECT CASE WHEN id < 25 THEN id END AS id FROM range(45)")
    reader = result.to_batches()
    pages = RowPages(reader, 20)
    assert texts(pages, 0) == [str(at) for at in range(20)]
    assert pages.has_more(0)
    assert texts(pages, 2) == ["NULL"] * 5
    assert not pages.has_more(2)
    assert texts(pages, 0) == [str(at) for at in range(20)]
    assert result.to_arrow().num_rows == 45


def test_times_that_python_does_not_have_are_text() -> None:
    """Such as the last second of the year 9999 in the zone of the session."""
    last = pa.array([253_402_300_799], pa.int64()).cast(pa.timestamp("s", "Asia/Shanghai"))
    nested = pa.StructArray.from_arrays([last], names=["t"])
    rows = pa.table(
        {"t": last, "r": nested, "d": pa.array([-719_529], pa.int32()).cast(pa.date32())}
    )
    (row,) = RowPages(rows.to_reader(), 20).page(0).rows
    shown = "10000-01-01 07:59:59+0800"
    assert [cell.text for cell in row] == [shown, f"{{'t': '{shown}'}}", "-0001-12-31"]


def test_a_long_result_is_a_widget_with_its_first_page_as_html(
    in_notebook: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del in_notebook
    result = pe.sql("SELECT id FROM range(50)")
    found = result._repr_mimebundle_()
    assert isinstance(found, tuple)
    data, _ = found
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<b>Rows 1 to 20; to_arrow() reads all</b>" in data["text/html"]
    assert data["text/plain"] == repr(result)
    widget = ResultPages(RowPages(result.to_batches(), 20), data)
    assert widget.page["more"] is True
    last = widget.answer({"page": 2}).body
    assert (last["first"], last["more"]) == (41, False)
    assert last["rows"] == [[str(at)] for at in range(40, 50)]
    monkeypatch.setitem(__import__("sys").modules, "paimon_explore.widgets.result_widgets", None)
    assert isinstance(result._repr_mimebundle_(), dict)


def test_an_error_of_a_later_row_is_one_of_this_library() -> None:
    result = pe.sql("SELECT CAST(if(id < 150000, '1', 'x') AS INT) FROM range(200000)")
    pages = RowPages(result.to_batches(), 20)
    with pytest.raises(InvalidInputError, match="Could not convert string"):
        pages.page(9_000)


@pytest.mark.usefixtures("in_notebook")
def test_short_results_and_those_of_commands_are_plain() -> None:
    assert pe.sql("SELECT id FROM range(20)")._repr_mimebundle_().keys() == {  # type: ignore[attr-defined]  # a dict
        "text/html",
        "text/plain",
    }
    catalog = pe.demo()
    made = catalog.sql("USE demo")._repr_mimebundle_()
    assert isinstance(made, dict)
    assert "Statement executed." in made["text/plain"]
