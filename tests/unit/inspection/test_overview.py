"""The overview of a table: its sentences, its questions, and what it reads."""

import json

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.inspection.explorer.explorer_reports import QUICK, Hint
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.explorer.explorer_tabs import TABS
from paimon_explore.inspection.overview.example_inputs import example_inputs
from paimon_explore.inspection.overview.overview_report import Overview, table_overview
from paimon_explore.inspection.rendering.report import Cell, Grid, Report, Sentences
from paimon_explore.inspection.views.inspector import Inspector
from support.depth import some
from support.explored import History, partitioned_history
from support.golden import WRITERS, GoldenTables
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(dt=pa.string(), k=pa.int32(), v=pa.string())
NOW = 1_800_000_000_000


def rows(*keys: int, dt: str = "a") -> list[dict[str, object]]:
    return [{"dt": dt, "k": k, "v": str(k)} for k in keys]


def topic(overview: Overview, title: str) -> tuple[str, ...]:
    return next(found.texts for found in overview.topics if found.title == title)


def links(report: Report) -> list[str]:
    """The selections of all links of a report."""
    cells: list[Cell] = []
    for part in report.sections:
        if isinstance(part, Sentences):
            cells += [cell for item in part.items for cell in item]
        elif isinstance(part, Grid):
            cells += [cell for row in part.rows for cell in row]
    return [cell.selects for cell in cells if cell.selects]


def test_a_primary_key_table_is_described_in_sentences() -> None:
    table = keyed_table(
        COLUMNS,
        rows(1, 2),
        rows(1, dt="b"),
        primary_key=["dt", "k"],
        partition_by=["dt"],
        options={
            "bucket": "2",
            "sequence.field": "v",
            "changelog-producer": "input",
            "write-only": "false",
        },
    )
    overview = table.inspect.overview()
    assert topic(overview, "What this table is") == (
        f"{table.name.rpartition('.')[2]} is a primary-key table: one row for each value of dt, k.",
        (
            "Merge engine deduplicate: the last row of a key replaces the earlier ones, "
            "ordered by the sequence field v."
        ),
        "It is partitioned by dt.",
        "Each partition has 2 buckets; the hash of k selects the bucket.",
        "The input rows are also written as changelog files (changelog-producer = input).",
        "It has 3 columns; the latest schema version is 0.",
    )
    size = topic(overview, "How large it is")
    assert size[0].startswith("Snapshot 2 has ")
    assert "with 3 stored rows" in size[0]
    assert "in 2 partitions" in size[0]
    assert "not yet compacted" in size[1]
    commits = topic(overview, "How it is written")
    assert commits[0].startswith("2 kept commits (2 APPEND) were made by ")
    assert commits[2] == "None of the kept commits is a compaction."
    assert overview.figures()["findings"] == 0


def test_an_append_table_is_described_without_keys() -> None:
    overview = append_table(COLUMNS, rows(1), rows(2)).inspect.overview()
    first, second, third, last = topic(overview, "What this table is")
    assert first.endswith(" is an append table: it has no primary key, and rows are not merged.")
    assert (second, third) == (
        "It is not partitioned.",
        "Files are not divided into buckets.",
    )
    assert last == "It has 3 columns; the latest schema version is 0."


@pytest.mark.parametrize(
    ("keys", "partitions", "buckets", "places"),
    [
        ([], ["dt"], -1, ", in 2 partitions."),
        ([], ["dt"], 2, ", in 2 partitions and 4 buckets."),
        ([], [], 2, ", in 2 buckets."),
        ([], [], -1, "B."),
        (["dt", "k"], ["dt"], 1, ", in 2 partitions and 2 buckets."),
    ],
)
def test_buckets_are_counted_where_the_table_has_some(
    keys: list[str], partitions: list[str], buckets: int, places: str
) -> None:
    options = {"bucket": str(buckets)} | ({"bucket-key": "k"} if buckets > 0 and not keys else {})
    both = rows(*range(9)), rows(*range(9), dt="b")
    table = (
        keyed_table(COLUMNS, *both, primary_key=keys, partition_by=partitions, options=options)
        if keys
        else append_table(COLUMNS, *both, partition_by=partitions, options=options)
    )
    assert topic(table.inspect.overview(), "How large it is")[0].endswith(places)


def test_a_finding_stands_with_figure_threshold_option_and_action() -> None:
    table = keyed_table(COLUMNS, *[rows(i) for i in range(7)], primary_key=["k"])
    (found,) = topic(table.inspect.overview(), "What is wrong")
    assert found == (
        "warning: bucket 0 has 7 sorted runs (measured 7, threshold 5, set by "
        "num-sorted-run.compaction-trigger). Run t.compact(), or start a writer that compacts."
    )
    assert "lsm:bucket 0" in links(table.inspect.overview().to_report())


def test_an_empty_table_says_so() -> None:
    overview = keyed_table(COLUMNS, primary_key=["k"]).inspect.overview()
    assert topic(overview, "How large it is") == (
        "The table has no snapshot yet: nothing has been written.",
    )
    assert overview.questions == ()
    assert len(repr(overview).splitlines()) <= 25


def test_the_quick_overview_reads_no_manifest() -> None:
    history = partitioned_history()
    for name in ("manifest-2-0", "manifest-2-1"):
        history.store.file_io.delete(history.store.paths.manifest(name))
    quick = table_overview(Inspector(history.view), NOW, quick=True)
    assert quick.problems == ()
    assert topic(quick, "How large it is")[0] == (
        "Snapshot 2 has 2 data files with 20 stored rows."
    )
    assert topic(quick, "What is wrong") == ("The health rules are being evaluated …",)
    whole = table_overview(Inspector(history.view), NOW)
    assert "manifest-2-" in whole.problems[0].message
    assert topic(whole, "What this table is") == topic(quick, "What this table is")


def test_what_was_read_before_is_not_read_again() -> None:
    history = History({"a": "INT"})
    history.commit(("+", "f1"))
    state = ExplorerState(Inspector(history.view))
    state.files(1)
    history.store.file_io.delete(history.store.paths.manifest("manifest-1-1"))
    found = state.result("overview", 1, ViewInput(text=QUICK))
    assert isinstance(found, Overview)
    assert found.totals is not None
    assert found.totals.bytes is not None


def test_a_large_table_is_checked_only_when_asked() -> None:
    history = History({"a": "INT"})
    history.commit(*(("+", f"f{i}") for i in range(5)))
    overview = table_overview(Inspector(history.view), NOW, max_files=4)
    assert overview.health is None
    assert topic(overview, "What is wrong") == (
        "Not checked, because the table has 5 files: open Health to check it.",
    )


def test_unreadable_metadata_leaves_the_other_sentences() -> None:
    history = History({"a": "INT"})
    history.commit(("+", "f1"))
    history.store.file_io.replace(history.store.paths.snapshot(1), b"{")
    overview = table_overview(Inspector(history.view), NOW)
    assert overview.problems
    assert topic(overview, "What this table is")
    assert json.dumps(overview.state())


TABLES = (
    *("dv_pk", "pk_levels", "append_dv", "me_agg", "pk_dynamic", "append_avro", "tags"),
    *("pk_part_multi", "pk_postpone", "cl_input", "append_part_null", "me_partial", "branches"),
)


@pytest.mark.parametrize("writer", some(WRITERS, 1))
def test_every_question_has_an_answer_on_tables_of_other_writers(
    golden: GoldenTables, writer: str
) -> None:
    known = golden.names(writer)
    answered = 0
    for name in some([one for one in TABLES if one in known], 6):
        table = pe.open_table(golden.table(writer, name).folder)
        state = ExplorerState(table._inspector())
        state.files(state.newest)
        overview = state.result("overview", state.newest, ViewInput())
        assert isinstance(overview, Overview)
        assert len(overview.questions) == 10
        for question in overview.questions:
            tab, _, text = question.selects.partition(":")
            assert tab in {*TABS, "snapshot"}, question
            if tab not in ("partitions", "snapshot"):
                answer = state.result(tab, state.newest, ViewInput(text=text))
                assert not isinstance(answer, Hint), (name, question)
            if "…" not in question.code:
                eval(question.code, {"t": table})  # noqa: S307 - a line of our own
            answered += 1
    assert answered >= 20


def test_examples_are_made_of_the_columns_and_values_of_the_table() -> None:
    table = keyed_table(COLUMNS, rows(7), primary_key=["dt", "k"], partition_by=["dt"])
    inspector = table._inspector()
    assert example_inputs(inspector)["files"] == "level = 0"
    inspector.current_files()
    found = dict(example_inputs(inspector))
    name = found.pop("why")
    assert name in table.files().to_arrow()["file_name"].to_pylist()
    assert found == {
        "files": "dt = 'a' and level = 0",
        "explain": "dt = 'a' and k >= 7",
        "lsm": "dt=a, bucket 0",
        "key": "dt = 'a', k = 7",
        "rows": "dt = 'a' and k >= 7",
        "profile": "dt = 'a' and k >= 7",
        "partition": "dt=a",
        "what_if": "compact partition = 'dt=a'",
        "compare": "with at = '1'",
        "expiry": "retain_max=5, older_than=1 d",
    }
    assert len(table.files(found["files"])) == 1
    assert table.history(found["key"]).kind == "key"
