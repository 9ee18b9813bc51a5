"""The report views of the explorer and their inputs."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explorer.explorer_reports import Hint
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from support.golden import GoldenTables


def test_the_code_of_a_sheet_gives_the_same_result(golden: GoldenTables) -> None:
    t = pe.open_table(golden.table("java200", "dv_pk").folder)
    state = ExplorerState(t._inspector())
    for pane, text in (
        ("lsm", "dt=p1, bucket 0"),
        ("diff", "3, rows"),
        ("explain", "k > 900 limit 3"),
        ("key", "k = 287"),
        ("why", str(t.files().table.column("file_name")[0].as_py())),
        ("schema", ""),
        ("expiry", "retain_max=3, older_than=1 s"),
    ):
        for snapshot in (6, 12):
            result = state.result(pane, snapshot, ViewInput(text=text))
            again = eval(result.code.python, {"t": t})  # noqa: S307 - a line of our own
            first, second = (dict(one.figures()) for one in (result, again))
            for volatile in ("keep_after_ms", "deletable", "columns"):
                first.pop(volatile, None)
                second.pop(volatile, None)
            assert first == second, result.code.python


def test_words_that_mean_nothing_are_refused(golden: GoldenTables) -> None:
    state = ExplorerState(pe.open_table(golden.table("java200", "dv_pk").folder)._inspector())
    for pane, text in (("explain", "k >"), ("key", "v = 1"), ("expiry", "soon"), ("nothing", "")):
        with pytest.raises(InvalidInputError):
            state.result(pane, 12, ViewInput(text=text))
    gone = state.result("lsm", 12, ViewInput(text="dt=p9, bucket 7"))
    assert isinstance(gone, Hint)
    assert gone.examples


def test_a_table_differs_from_nothing_by_its_files(golden: GoldenTables) -> None:
    for name in ("dv_pk", "pk_levels", "append_dv", "me_agg", "pk_dynamic"):
        table = golden.table("java200", name)
        state = ExplorerState(pe.open_table(table.folder)._inspector())
        listed = table.system["files"]
        assert isinstance(listed, list)
        from_nothing = state.result("diff", state.newest, ViewInput(text="0")).figures()["files"]
        assert from_nothing == {
            "added": {
                "files": len(listed),
                "rows": sum(row["record_count"] for row in listed),
                "bytes": sum(row["file_size_in_bytes"] for row in listed),
            },
            **{c: {"files": 0, "rows": 0, "bytes": 0} for c in ("removed", "moved", "changed")},
        }


def test_code_names_the_tag_that_keeps_an_expired_snapshot(tmp_path: Path) -> None:
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("db")
    columns = {"k": "BIGINT", "v": "STRING"}
    t = catalog.create_table("db.t", columns, primary_key="k", options={"bucket": "1"})
    for number in range(3):
        t.upsert([{"k": number, "v": "a"}])
    t.create_tag("first", 1)
    t.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than="0 s")
    state = ExplorerState(pe.open_table(t.path)._inspector())
    for pane, text in (
        *(("lsm", ""), ("explain", "k = 0"), ("key", "0"), ("profile", "k = 0")),
        *(("compare", "with at = 'first'"), ("health", ""), ("diff", "first"), ("heat", "")),
    ):
        for snapshot in (1, 3):
            code = state.result(pane, snapshot, ViewInput(text=text)).code
            eval(code.python, {"t": t, "pe": pe})  # noqa: S307 - a line of our own
            assert ("'scan.tag-name', 'first'" in code.spark) == (
                snapshot == 1 and pane in ("lsm", "explain", "key", "profile")
            ), code.spark
            assert "scan.snapshot-id" not in code.spark
    _, spark = state.code(1, "rows", "", "")
    assert "'scan.tag-name', 'first'" in spark
    described, _ = state.rows_session.open(state.inspector.at(1), "")
    codes = described["codes"]
    assert isinstance(codes, dict)
    assert "'scan.tag-name', 'first'" in codes["spark_sql"]
    assert "'scan.tag-name', 'first'" in codes["pyspark"]
    layout = state.bytes("1/base").body["code"]
    assert isinstance(layout, str)
    assert eval(layout, {"t": t}).size  # noqa: S307 - a line of our own
