"""The report views of the explorer and their inputs."""

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
