"""Every answer about a table has the same faces: text, HTML, Arrow, pandas, JSON, plot, widget."""

import datetime as dt
import json
from collections.abc import Callable

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.data_types import local_time
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.table.table import Table
from paimon_explore.widgets.result_widgets import ReportWidget
from support.small_tables import columns, keyed_table

DOORS: dict[str, Callable[[Table], object]] = {
    "timeline": lambda t: t.inspect.timeline(),
    "files": lambda t: t.files(),
    "some files": lambda t: t.files("level = 0 and dt = 'a'"),
    "partitions": lambda t: t.partitions(),
    "heat": lambda t: t.inspect.heat(),
    "tree": lambda t: t.inspect.tree(),
    "tree of manifests": lambda t: t.inspect.tree("delta"),
    "tree of entries": lambda t: t.inspect.tree("delta/0"),
    "node": lambda t: t.inspect.node(),
    "node of an entry": lambda t: t.inspect.node("delta/0/0"),
    "node of the schema": lambda t: t.inspect.node("schema"),
    "file": lambda t: t.inspect.file(t.files().to_arrow().column("file_name")[0].as_py()),
    "bytes": lambda t: t.inspect.bytes(),
    "byte": lambda t: t.inspect.bytes().at(0),
    "diff": lambda t: t.diff(),
    "explain": lambda t: t.explain("k > 1"),
    "lsm": lambda t: t.inspect.lsm(),
    "why": lambda t: t.inspect.why(t.files().to_arrow().column("file_name")[0].as_py()),
    "health": lambda t: t.health(),
    "overview": lambda t: t.inspect.overview(),
    "schema history": lambda t: t.inspect.schema_history(),
    "history": lambda t: t.history({"dt": "a", "k": 1}),
    "preview of an expiry": lambda t: t.what_if.expire_snapshots(retain_max=1),
    "preview of a compaction": lambda t: t.what_if.compact(),
    "preview of options": lambda t: t.what_if.options({"num-levels": "4"}),
    "preview of a partition expiry": lambda t: t.what_if.expire_partitions(dt.timedelta(days=1)),
    "comparison": pe.compare,
    "replay": lambda t: t.inspect.replay(),
}


@pytest.fixture(scope="module")
def table() -> Table:
    rows = [{"dt": "a", "k": 1, "v": 1}, {"dt": "b", "k": 2, "v": 2}]
    made = columns(dt=pa.string(), k=pa.int32(), v=pa.int32())
    return keyed_table(
        made, rows, [{"dt": "a", "k": 1, "v": 3}], primary_key=["dt", "k"], partition_by=["dt"]
    )


@pytest.mark.parametrize("door", DOORS)
def test_an_answer_has_all_faces(table: Table, door: str) -> None:
    found = DOORS[door](table)
    assert isinstance(found, Result)
    assert 1 <= len(repr(found).splitlines()) <= 25
    assert "<" in found._repr_html_()
    assert found.to_arrow().num_columns == found.to_pandas().shape[1]
    state = json.loads(json.dumps(found.state()))
    assert state["kind"] == found.kind
    assert {"title", "sections", "figures", "code"} <= set(state)
    assert json.loads(found.plot().to_json())["data"] is not None
    widget = found.widget()
    assert isinstance(widget, ReportWidget)
    assert widget.report["title"] == state["title"]


@pytest.mark.parametrize("door", DOORS)
def test_an_answer_echoes_the_line_that_yields_it(
    table: Table, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = local_time.system_clock()
    monkeypatch.setattr(local_time, "system_clock", lambda: moment)
    found = DOORS[door](table)
    assert isinstance(found, Result)
    names = {"t": table, "a": table, "pe": pe, "datetime": dt, "timedelta": dt.timedelta}
    again = eval(found.code.python, names)  # noqa: S307 - a line of our own
    assert again.kind == found.kind
    if door != "replay":  # its files have new names
        assert again.to_arrow().equals(found.to_arrow())
