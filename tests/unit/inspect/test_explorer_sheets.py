"""Every sheet of the explorer at every snapshot of real tables, and what it is asked in words."""

import json
import os
from collections.abc import Iterator

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspect.explorer_sheets import SHEETS, Hint
from paimon_explore.inspect.explorer_state import ExplorerState, Question
from paimon_explore.inspect.inspector import Inspector
from paimon_explore.inspect.result import Result
from support.explored import hostile_history
from support.golden import WRITERS, GoldenTables

EVERYTHING = os.environ.get("PAIMON_EXPLORE_ALL_SHEETS") == "1"
SAMPLE = (
    *("dv_pk", "pk_levels", "tags", "branches", "se_pk", "empty_table", "me_agg", "fi_bitmap"),
    *("changelog_decoupled", "fallback_branch", "append_dv", "pk_dynamic", "odd_names"),
)


def tables(golden: GoldenTables, writer: str) -> Iterator[pe.Table]:
    names = golden.names(writer) if EVERYTHING else [n for n in SAMPLE if n in golden.names(writer)]
    for name in names[:: 1 if EVERYTHING or writer == "java200" else 4]:
        try:
            yield pe.open_table(golden.table(writer, name).folder)
        except PaimonError:
            continue


def questions(state: ExplorerState, pane: str, snapshot: int) -> list[str]:
    """What a view is asked: nothing, and what it proposes itself."""
    if pane == "explain":
        return ["", "1 = 1 limit 2"]
    if pane == "diff":
        return ["", "0 rows"]
    first = state.sheet(pane, snapshot, Question())
    return ["", *(first.examples[:2] if isinstance(first, Hint) else [])]


def faces(result: Result) -> None:
    assert json.loads(json.dumps(result.state()))["kind"] == result.kind
    assert len(repr(result).splitlines()) <= 25
    assert result._repr_html_()
    assert result.to_arrow() is not None


@pytest.mark.parametrize("writer", WRITERS)
def test_every_sheet_opens_at_every_snapshot(golden: GoldenTables, writer: str) -> None:
    asked = 0
    for table in tables(golden, writer):
        state = ExplorerState(table._inspector())
        marks = state.inspector.timeline().marks
        for mark in marks if EVERYTHING else marks[:1] + marks[-1:]:
            for pane in SHEETS:
                for text in questions(state, pane, mark.snapshot_id):
                    faces(state.sheet(pane, mark.snapshot_id, Question(text=text)))
                    asked += 1
    assert asked > 0 or writer not in ("java200", "java142")


def test_hostile_tables_are_shown_with_their_text_as_text() -> None:
    state = ExplorerState(Inspector(hostile_history().view))
    for pane in SHEETS:
        try:
            result = state.sheet(pane, 1, Question())
        except PaimonError:
            continue  # a name with a NUL cannot be opened; nothing is shown
        assert not {"\x00", "\x1b", "\u202e"} & set(repr(result) + result._repr_html_())
        assert "<svg onload" not in result._repr_html_()


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
            result = state.sheet(pane, snapshot, Question(text=text))
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
            state.sheet(pane, 12, Question(text=text))
    gone = state.sheet("lsm", 12, Question(text="dt=p9, bucket 7"))
    assert isinstance(gone, Hint)
    assert gone.examples


def test_the_figures_are_those_of_the_writers_system_tables(golden: GoldenTables) -> None:
    for name in ("dv_pk", "pk_levels", "append_dv", "me_agg", "pk_dynamic"):
        table = golden.table("java200", name)
        state = ExplorerState(pe.open_table(table.folder)._inspector())
        listed = table.system["files"]
        assert isinstance(listed, list)
        newest = state.newest
        explained = state.sheet("explain", newest, Question()).figures()["cuts"]
        assert isinstance(explained, list)
        live = next(cut for cut in explained if cut["name"] == "cancelled entries")
        assert live["kept"] == len(listed)
        assert live["bytes"][0] == sum(row["file_size_in_bytes"] for row in listed)
        from_nothing = state.sheet("diff", newest, Question(text="0")).figures()["files"]
        assert from_nothing == {
            "added": {
                "files": len(listed),
                "rows": sum(row["record_count"] for row in listed),
                "bytes": sum(row["file_size_in_bytes"] for row in listed),
            },
            **{c: {"files": 0, "rows": 0, "bytes": 0} for c in ("removed", "moved", "changed")},
        }
        schemas = table.system["schemas"]
        assert isinstance(schemas, list)
        versions = state.sheet("schema", newest, Question()).figures()["versions"]
        assert versions == [row["schema_id"] for row in schemas]
