import pyarrow as pa

from paimon_explore import Table
from paimon_explore.widgets.bundles import bundle
from paimon_explore.widgets.result_widgets import ReportWidget
from support.small_tables import columns, keyed_table


def orders() -> Table:
    rows = [{"id": i, "v": str(i)} for i in range(5)]
    schema = columns(id=pa.int32(), v=pa.string())
    return keyed_table(schema, rows, rows[2:], primary_key=["id"])


def test_a_result_is_a_widget_with_static_faces() -> None:
    table = orders()
    widget = table.inspect.lsm().widget()
    assert isinstance(widget, ReportWidget)
    assert {
        **widget.report,
        "figures": table.inspect.lsm().figures(),
    } == table.inspect.lsm().state()
    made = widget._repr_mimebundle_()
    assert made is not None
    data, _ = made
    assert set(data) >= {"text/html", "text/plain", "application/vnd.jupyter.widget-view+json"}
    assert repr(widget) == repr(table.inspect.lsm())


def test_every_result_of_a_table_is_a_widget_and_a_figure() -> None:
    table = orders()
    name = str(table.files().table.column("file_name")[0].as_py())
    results = [
        table.diff(), table.explain("id > 3"), table.scan(limit=1).explain(), table.inspect.lsm(),
        table.inspect.why(name), table.inspect.schema_history(), table.history("id = 1"),
        table.what_if.expire_snapshots(),
    ]  # fmt: skip
    for result in results:
        assert isinstance(result.widget(), ReportWidget), result.kind
        assert len(result.plot().to_json()) < 60_000
        assert result.code.python or result.kind == "explain"


def test_the_bundle_draws_text_as_text() -> None:
    source = bundle("report")
    for word in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc"):
        assert word not in source
