"""Requests of the SQL tab."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, PaimonError, UnsupportedFeatureError
from paimon_explore.inspection.explorer import sql_session
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.explorer.explorer_tabs import Opening
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.explorer import explore
from paimon_explore.widgets.widget_requests import answer
from support.explored import History
from support.small_tables import append_table, columns

pytest.importorskip("duckdb")

COLUMNS = columns(k=pa.int32(), v=pa.string())
ENDLESS = "SELECT count(*) FROM range(100000000000) a, range(100000) b"


@pytest.fixture
def table() -> pe.Table:
    rows = [[{"k": k, "v": f"v{k}"}] for k in range(3)]
    return append_table(COLUMNS, *rows)


@pytest.fixture
def state(table: pe.Table) -> ExplorerState:
    return ExplorerState(Inspector(table._view()))


def run(state: ExplorerState, text: str, snapshot: int = 3) -> dict[str, object]:
    """The answer to a query, once it is done."""
    body = answer(state, {"op": "sql_run", "snapshot": snapshot, "text": text}).body
    return ended(state, body)


def ended(state: ExplorerState, body: Mapping[str, object]) -> dict[str, object]:
    """The answer to a query that was started, once it is done."""
    while not body["done"]:
        body = answer(state, {"op": "sql_step", "handle": body["handle"]}).body
    return dict(body)


def rows_of(body: dict[str, object]) -> object:
    first = body["first"]
    assert isinstance(first, dict)
    return first["rows"]


def test_a_query_reads_the_table_at_the_snapshot_by_both_names(
    table: pe.Table, state: ExplorerState
) -> None:
    name = table.name.rpartition(".")[2]
    assert rows_of(run(state, "SELECT max(k) AS m FROM t", 2)) == [["1"]]
    assert rows_of(run(state, f"FROM `{name}` SELECT count(*) AS n")) == [["3"]]
    assert rows_of(run(state, "SELECT sum(record_count) AS n FROM `t$files`", 1)) == [["1"]]


def test_the_code_of_a_query_names_the_snapshot(table: pe.Table) -> None:
    e = explore(table._view(), Opening(tab="sql", snapshot=2, text="SELECT v FROM t"))
    assert e.code == "pe.sql('SELECT v FROM t', t=t.at(snapshot=2))"
    assert e.spark_code.endswith(".createOrReplaceTempView('t'); spark.sql('SELECT v FROM t')")
    assert pe.sql("SELECT v FROM t", t=table.at(snapshot=2)).to_arrow() == e.result().to_arrow()
    e.selected = 1
    assert e.result().to_arrow().num_rows == 1


def test_rows_come_a_page_at_a_time_and_long_values_when_asked_for(state: ExplorerState) -> None:
    body = run(state, "SELECT id, repeat('x', 300) AS long FROM range(1200)")
    first = body["first"]
    assert isinstance(first, dict)
    assert (body["total"], len(first["rows"])) == (1200, 500)
    place = {"handle": body["handle"], "offset": 700}
    found = answer(state, {"op": "sql_page", **place, "count": 3}).body["parts"]
    assert isinstance(found, list)
    assert [row[0] for row in found[0]["rows"]] == ["700", "701", "702"]
    assert found[0]["rows"][0][1]["length"] == 300
    assert answer(state, {"op": "sql_cell", **place, "column": 1}).body == {"text": "x" * 300}
    with pytest.raises(InvalidInputError, match="no such row or column"):
        answer(state, {"op": "sql_cell", **place, "column": 2})


def test_a_large_result_is_cut(state: ExplorerState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_session, "MAX_ROWS", 10)
    body = run(state, "SELECT id FROM range(11)")
    assert (body["total"], body["cut"]) == (10, True)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("SELECT v, count(*) AS n FROM t GROUP BY v ORDER BY v", 3),
        ("SELECT DATE '2026-01-01' + k AS d, k * 1.5 AS n FROM t ORDER BY k", 3),
        ("SELECT k, v FROM t", 0),
        ("SELECT v, k, k + 1 AS n FROM t", 0),
        ("SELECT 'same' AS v, k FROM t", 0),
        ("SELECT count(*) AS n, 1 AS one FROM t", 0),
        ("SELECT v, nullif(k, 0) AS n FROM t", 0),
        ("SELECT v, k / 0.5 AS n FROM t", 3),
        ("SELECT v, CAST('NaN' AS DOUBLE) AS n FROM t", 0),
        ("SELECT v, CAST('Infinity' AS DOUBLE) AS n FROM t", 0),
    ],
)
def test_a_chart_shows_one_number_per_group_or_time(
    state: ExplorerState, text: str, drawn: int
) -> None:
    body = run(state, text)
    json.dumps(body, allow_nan=False)  # browsers read no others
    chart = body["chart"]
    assert len(chart["categories"]) == drawn if isinstance(chart, dict) else drawn == 0


def ids(table: pe.Table) -> list[int]:
    """The ids of the snapshots."""
    return [snapshot.id for snapshot in table.snapshots]


def confirmed(state: ExplorerState, text: str) -> dict[str, object]:
    """The answer to a statement that writes, asked about and confirmed."""
    return ended(state, send(state, text, str(run(state, text)["confirmation"])))


def send(state: ExplorerState, text: str, confirmation: str) -> dict[str, object]:
    """The first answer to a statement with a confirmation."""
    message = {"op": "sql_run", "snapshot": 3, "text": text, "confirmation": confirmation}
    return dict(answer(state, message).body)


UPDATE = "UPDATE t SET v = 'new' WHERE k < 2"


def test_a_statement_that_writes_is_asked_about_and_then_commits_once(
    table: pe.Table, state: ExplorerState
) -> None:
    asked = run(state, UPDATE, 1)
    assert asked["question"] == "This UPDATE statement writes to table db.t."
    assert asked["codes"] == {"python": f"pe.sql({UPDATE!r}, t=t)", "pyspark": ""}
    assert ids(table) == [1, 2, 3]
    token = str(asked["confirmation"])
    found = ended(state, send(state, UPDATE, token))
    assert (found["note"], found["columns"]) == ("Snapshot 4 committed", [])
    assert table.count("v = 'new'") == 2
    assert "question" in send(state, UPDATE, token)
    assert ids(table) == [1, 2, 3, 4]
    assert state.poll(3).added == (4,)


def test_each_view_of_an_explorer_may_confirm_a_statement_that_both_ask_about(
    table: pe.Table, state: ExplorerState
) -> None:
    first, second = (str(run(state, UPDATE)["confirmation"]) for _ in range(2))
    assert "question" not in ended(state, send(state, UPDATE, first))
    assert "question" in send(state, UPDATE, second)
    assert ids(table) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO t VALUES (9, 'x')",
        "/* first */ DELETE FROM t",
        "WITH a AS (SELECT 9, 'x') INSERT INTO t SELECT * FROM a",
        "MERGE INTO t USING (SELECT 1 AS k) AS s ON t.k = s.k WHEN MATCHED THEN DELETE;",
        "TRUNCATE TABLE `t`",
        "ALTER TABLE t ADD COLUMN n INT",
        "CALL sys.create_tag(tag => 'a', table => 't')",
        "ANALYZE TABLE t COMPUTE STATISTICS",
    ],
)
def test_nothing_is_written_without_the_confirmation_of_the_same_text(
    table: pe.Table, state: ExplorerState, text: str
) -> None:
    before = table._store.schemas.latest(), ids(table), list(table.tags)
    other = str(run(state, UPDATE)["confirmation"])
    for token in ("", "0" * 32, other):
        assert "question" in send(state, text, token)
    for op in ({"op": "sql_stop"}, {"op": "sql_run", "text": "SELECT 1", "snapshot": 1}):
        token = str(run(state, text)["confirmation"])
        answer(state, op)
        assert "question" in send(state, text, token)
    assert before == (table._store.schemas.latest(), ids(table), list(table.tags))
    assert "question" not in confirmed(state, text)
    assert before != (table._store.schemas.latest(), ids(table), list(table.tags))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT 1; TRUNCATE TABLE t", "has 2 statements, of which TRUNCATE writes"),
        ("CREATE TEMPORARY VIEW w AS SELECT * FROM t", "this CREATE is not run"),
        ("DROP TABLE t", "this DROP is not run"),
        ("ALTER TABLE t RENAME TO u", "this ALTER is not run"),
        ("INSERT INTO db.u VALUES (1)", "this INSERT is not run"),
        ("DELETE FROM `t$files`", "this DELETE is not run"),
        ("CALL sys.compact('u')", "this CALL is not run"),
        ("CALL sys.copy('t', 'u')", "this CALL is not run"),
    ],
)
def test_statements_that_write_something_else_are_refused(
    state: ExplorerState, text: str, problem: str
) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        run(state, text)


def test_a_table_at_a_point_in_time_is_read_only(table: pe.Table) -> None:
    state = ExplorerState(Inspector(table.at(2)._view()))
    with pytest.raises(InvalidInputError, match="opened with time travel and therefore read-only"):
        run(state, UPDATE)


def test_a_branch_is_written_and_not_main(table: pe.Table) -> None:
    table.create_tag("a")
    table.create_branch("b", "a")
    branch = pe.open_table(table.path, branch="b")
    confirmed(ExplorerState(Inspector(branch._view())), "INSERT INTO t VALUES (9, 'x')")
    assert (branch.count(), table.count()) == (4, 3)


def test_a_statement_that_writes_is_not_stopped(table: pe.Table, state: ExplorerState) -> None:
    text = "INSERT INTO t SELECT count(*), 'x' FROM range(3000000)"
    body = send(state, text, str(run(state, text)["confirmation"]))
    answer(state, {"op": "sql_stop"})
    assert rows_of(run(state, "SELECT 1 AS one")) == [["1"]]
    assert ended(state, body)["note"] == "Snapshot 4 committed"
    assert table.count("k = 3000000") == 1


def test_a_statement_that_changes_no_row_commits_nothing(state: ExplorerState) -> None:
    note = confirmed(state, "DELETE FROM t WHERE k = 77")["note"]
    assert note == "Nothing changed, no snapshot committed"


def test_a_procedure_returns_rows_and_the_next_poll_sees_its_tag(state: ExplorerState) -> None:
    found = confirmed(state, "CALL sys.create_tag('t', 'a', 2)")
    assert (rows_of(found), found["note"]) == ([["true"]], "")
    assert state.poll(3).changed
    assert "a" in {flag.name for flag in state.inspector.timeline().flags}


def test_the_next_poll_sees_a_new_schema(state: ExplorerState) -> None:
    confirmed(state, "ALTER TABLE t ADD COLUMN n INT")
    state.poll(3)
    assert state.version == 1
    schema = state.inspector.view.schema
    assert schema is not None
    assert schema.row_type.names == ("k", "v", "n")


def test_a_result_and_a_saved_page_write_nothing(table: pe.Table, tmp_path: Path) -> None:
    e = explore(table._view(), Opening(tab="sql", snapshot=2, text=UPDATE))
    assert (e.code, e.spark_code) == (f"pe.sql({UPDATE!r}, t=t)", "")
    with pytest.raises(InvalidInputError, match="Only queries run here; UPDATE writes"):
        e.result()
    asked = e.answer({"op": "sql_run", "snapshot": 3, "text": UPDATE}).body
    sent = {"op": "sql_run", "snapshot": 3, "text": UPDATE, "confirmation": asked["confirmation"]}
    body = e.answer(sent).body
    while not body["done"]:
        body = e.answer({"op": "sql_step", "handle": body["handle"]}).body
    e.save_html(tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "sql_last" not in page
    assert str(asked["confirmation"]) not in page
    assert ids(table) == [1, 2, 3, 4]


@pytest.mark.parametrize("text", ["WITH a AS (SELECT * FROM t) SELECT k FROM a", "VALUES (1)"])
def test_other_queries_run(state: ExplorerState, text: str) -> None:
    assert run(state, text)["done"]


def test_errors_have_the_place_in_the_text_as_written(state: ExplorerState) -> None:
    with pytest.raises(InvalidInputError, match="line 2, column 16"):
        run(state, "SELECT *\nFROM t WHERE k ) 1")
    with pytest.raises(InvalidInputError, match=r"no column 'nope' \(line 1, column 8"):
        run(state, "SELECT nope FROM t")
    with pytest.raises(UnsupportedFeatureError) as caught:
        run(state, "SELEKT 1")
    assert caught.value.hint.startswith("Did you mean SELECT?")


def test_a_newer_query_stops_the_one_that_runs(state: ExplorerState) -> None:
    running = answer(state, {"op": "sql_run", "snapshot": 3, "text": ENDLESS}).body
    assert running["done"] is False
    assert rows_of(run(state, "SELECT 1 AS one")) == [["1"]]
    with pytest.raises(InvalidInputError, match="The query was stopped"):
        ended(state, running)


def test_a_query_is_stopped(state: ExplorerState) -> None:
    running = answer(state, {"op": "sql_run", "snapshot": 3, "text": ENDLESS}).body
    answer(state, {"op": "sql_stop"})
    with pytest.raises(InvalidInputError, match="The query was stopped"):
        ended(state, running)


def history(state: ExplorerState, text: str) -> dict[str, object]:
    """The history of a query, once it is done."""
    body = ended(state, answer(state, {"op": "sql_history", "text": text}).body)["history"]
    assert isinstance(body, dict)
    return body


def test_a_history_has_the_snapshots_at_which_a_number_changes(table: pe.Table) -> None:
    table.compact()
    found = history(ExplorerState(Inspector(table._view())), "SELECT count(*) AS n FROM t")
    assert found["lines"] == [{"name": "n", "steps": [[1, 1.0], [2, 2.0], [3, 3.0]]}]
    assert (found["first"], found["last"], found["count"], found["note"]) == (1, 4, 4, "")


def test_groups_are_lines_with_gaps_and_the_smallest_are_left_out(state: ExplorerState) -> None:
    text = "SELECT v, max(k) AS most, count(*) AS n FROM t GROUP BY v"
    found = history(state, text)
    lines = found["lines"]
    assert isinstance(lines, list)
    assert lines[0] == {"name": "most v2", "steps": [[1, None], [3, 2.0]]}
    assert len(lines) == 4
    assert (found["more"], found["left_out"]) == (2, ["n v2", "most v0"])
    by_number = history(state, "SELECT k, count(*) AS n FROM t GROUP BY k")["lines"]
    assert isinstance(by_number, list)
    assert {line["name"] for line in by_number} == {"0", "1", "2"}


def test_a_history_says_why_each_snapshot_was_read(state: ExplorerState) -> None:
    note = history(state, "SELECT count(DISTINCT k) AS n FROM t")["note"]
    assert str(note).startswith("Each snapshot was read as a whole, because")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT k FROM t", "several rows of 'k' at one snapshot"),
        ("SELECT v FROM t", "no column of numbers"),
        ("SELECT 1 AS one", "must read a table at its latest snapshot"),
        ("DESCRIBE t", "at other points in time"),
        ("DELETE FROM t", "Only queries run here; DELETE writes"),
    ],
)
def test_what_has_no_history_tells_why(state: ExplorerState, text: str, problem: str) -> None:
    with pytest.raises(PaimonError, match=problem):
        history(state, text)


@pytest.mark.parametrize("slow", ["count(*)", "count(DISTINCT a.id)"])
def test_a_history_is_stopped(state: ExplorerState, slow: str) -> None:
    text = ENDLESS.replace("count(*)", f"{slow} AS n").replace("FROM", "FROM t,")
    running = answer(state, {"op": "sql_history", "text": text}).body
    assert running["done"] is False
    answer(state, {"op": "sql_stop"})
    with pytest.raises(InvalidInputError, match="The query was stopped"):
        ended(state, running)


def test_the_code_of_a_history_is_shown_once_it_is_done(table: pe.Table) -> None:
    e = explore(table._view(), Opening(tab="sql", snapshot=2, text="SELECT max(k) AS n FROM t"))
    body = e.answer({"op": "sql_history", "text": "SELECT max(k) AS n FROM t"}).body
    while not body["done"]:
        body = e.answer({"op": "sql_step", "handle": body["handle"]}).body
    assert e.code == "pe.sql('SELECT max(k) AS n FROM t', t=t).history(last=100)"
    e.selected = 1
    assert e.code == "pe.sql('SELECT max(k) AS n FROM t', t=t.at(snapshot=1))"


def test_completion_knows_tables_and_the_columns_of_the_snapshot(state: ExplorerState) -> None:
    found = answer(state, {"op": "sql_names", "snapshot": 1}).body
    assert found["columns"] == [["k", "INT"], ["v", "STRING"]]
    tables = found["tables"]
    assert isinstance(tables, list)
    assert {"t", "`t$files`"} <= set(tables)


def test_without_duckdb_the_tab_tells_what_to_install(
    state: ExplorerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_session, "find_spec", lambda _name: None)
    for message in ({"op": "sql_names", "snapshot": 1}, {"op": "sql_run", "text": "SELECT 1"}):
        with pytest.raises(UnsupportedFeatureError) as caught:
            answer(state, {"snapshot": 1, **message})
        assert "pip install 'paimon-explore[sql]'" in caught.value.hint


def test_an_explorer_without_table_tells_that_it_runs_no_sql() -> None:
    history = History({"a": "INT"}, [])
    history.commit(("+", "f1"))
    with pytest.raises(PaimonError, match="not created from a Paimon table"):
        run(ExplorerState(Inspector(history.view)), "SELECT 1", 1)


def test_a_saved_page_has_the_last_result(table: pe.Table, tmp_path: Path) -> None:
    e = explore(table._view(), Opening(tab="sql", text="SELECT v FROM t WHERE k = 2"))
    e.save_html(tmp_path / "t.html")
    assert "sql_last" in (tmp_path / "t.html").read_text(encoding="utf-8")
    e.asked = {"sql": "SELECT"}
    e.save_html(tmp_path / "t.html")
    assert "sql_last" not in (tmp_path / "t.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_history_has_gaps_for_numbers_that_json_does_not_have(
    state: ExplorerState, number: str
) -> None:
    text = f"SELECT CAST('{number}' AS DOUBLE) AS n, count(*) AS c FROM t"  # noqa: S608 - a test
    body = ended(state, dict(answer(state, {"op": "sql_history", "text": text}).body))
    history = body["history"]
    assert isinstance(history, dict)
    json.dumps(body, allow_nan=False)
    lines = {line["name"].partition(" ")[0]: line["steps"] for line in history["lines"]}
    assert [value for _, value in lines["n"]] == [None]
    assert None not in [value for _, value in lines["c"]]
