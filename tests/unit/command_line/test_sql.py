"""SQL on tables: by DuckDB with pushed-down columns and filters, or by scans."""

import io
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import paimon_explore as pe
from paimon_explore.command_line import sql_command
from paimon_explore.command_line.rendering.output import Format, standard_output
from paimon_explore.command_line.source import Source
from paimon_explore.command_line.sql.catalog_tables import CatalogTables
from paimon_explore.command_line.sql.prompt import (
    HISTORY,
    SqlCompleter,
    complete_statements,
    statements_of_prompt,
)
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.table.engine_scans.scan_dataset import arrow_condition
from paimon_explore.table.scan import Scan
from support.command_line import Program

QUERIES: dict[str, list[dict[str, object]]] = {
    "SELECT count(*) AS n FROM demo.orders": [{"n": 30}],
    "SELECT max(id) AS m FROM demo.orders WHERE dt = '2026-01-01'": [{"m": 405}],
    "SELECT id FROM demo.orders WHERE id > 403 ORDER BY id": [{"id": 404}, {"id": 405}],
    "SELECT id FROM demo.orders WHERE id IN (1, 404) ORDER BY id": [{"id": 1}, {"id": 404}],
    "SELECT count(*) AS n FROM demo.orders WHERE city IS NULL OR city = 'Oslo'": [{"n": 14}],
    "SELECT o.id FROM demo.orders o JOIN demo.customers c USING (id) WHERE o.id = 5": [{"id": 5}],
    "SELECT count(*) AS n FROM demo.orders$files": [{"n": 15}],
    "WITH a AS (SELECT id FROM demo.orders) SELECT min(id) AS m FROM a": [{"m": 0}],
    "SELECT amount FROM demo.orders WHERE amount = 101.25": [{"amount": "101.25"}],
    "SELECT count(*) AS n FROM demo.orders VERSION AS OF 1": [{"n": 6}],
    "CREATE TEMPORARY VIEW x AS SELECT id AS a FROM demo.orders; SELECT max(a) AS m FROM x": [
        {"m": 405}
    ],
}


@pytest.fixture(autouse=True)
def folder(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo_warehouse.parent)


def rows_of(out: str) -> list[object]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_on_duckdb(query: str, run: Program) -> None:
    ran = run("sql", "-w", "wh", query, "--json")
    assert (ran.code, ran.err, rows_of(ran.out)) == (0, "", QUERIES[query])


def test_statements_change_tables(run: Program) -> None:
    made = "CREATE TABLE demo.made (id BIGINT, v STRING); INSERT INTO demo.made VALUES (1, 'a')"
    assert rows_of(run("sql", "-w", "wh", made, "--json").out) == [{"snapshot_id": 1}]
    changed = "UPDATE made SET v = 'b'; SELECT v FROM made; CALL sys.rollback('made', '1')"
    ran = run("sql", "-w", "wh", "-d", "demo", changed, "--json")
    assert rows_of(ran.out)[:2] == [{"snapshot_id": 2}, {"v": "b"}]
    ran = run("sql", "-t", "m=wh/demo.db/made", "SELECT v FROM m; DROP TABLE m", "--csv")
    assert (ran.code, ran.out) == (1, "v\na\n")
    assert run("sql", "-w", "wh", "DROP TABLE demo.made").out == ""


@pytest.mark.parametrize(
    "statement", ["SELECT * FROM read_csv('/etc/passwd')", "COPY (SELECT 1) TO '/tmp/x'", "SELEKT"]
)
def test_statements_that_leave_the_catalog_are_refused(statement: str, run: Program) -> None:
    ran = run("sql", "-w", "wh", statement)
    assert (ran.code, ran.err.startswith("paimon-explore: ")) == (1, True)


def test_a_query_in_the_dialect_of_duckdb(run: Program) -> None:
    query = 'SELECT "id" // 2 AS half FROM demo.orders ORDER BY ALL DESC LIMIT 1'
    assert run("sql", "-w", "wh", "--dialect", "duckdb", query, "--csv").out == "half\n202\n"


def test_names_of_a_database_and_of_paths(run: Program) -> None:
    query = "SELECT count(*) AS n FROM orders"
    assert run("sql", "-w", "wh", "-d", "demo", query, "--json").out == '{"n":30}\n'
    given = ("-t", "orders=wh/demo.db/orders", "-t", "c=wh/demo.db/customers")
    assert run("sql", *given, query, "--json").out == '{"n":30}\n'
    both = "SELECT count(*) AS n FROM orders, c"
    assert rows_of(run("sql", *given, both, "--json").out) == [{"n": 750}]


def test_the_engine_is_named_below_the_rows(run: Program) -> None:
    query = "SELECT id FROM demo.orders LIMIT 1"
    assert run("sql", "-w", "wh", query, "--width", "80").lines[-1].startswith("(1 row; DuckDB ")
    ran = run("sql", "-w", "wh", query, "--width", "80", "--engine", "scan")
    assert ran.lines[-1].startswith("(1 row; scans of paimon-explore")


def test_statements_of_standard_input(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT 1 AS a;\nSELECT id FROM demo.orders"))
    assert len(run("sql", "-w", "wh", "--json").lines) == 31


SCANS = {
    "SELECT * FROM demo.stock": 2,
    "select id, city from demo.orders where id > 403 limit 1;": 1,
    "SELECT id FROM demo.orders WHERE city = ' limit 5' OR id < 2": 2,
    "SELECT count(*) FROM demo.orders WHERE id > 403": 1,
    "SELECT * FROM demo.`orders$snapshots`": 5,
    "SELECT snapshot_id FROM demo.orders$snapshots WHERE snapshot_id > 1 LIMIT 2": 2,
    "SELECT count(*) FROM demo.orders$files WHERE level = 0": 1,
}


@pytest.mark.parametrize("query", SCANS)
def test_a_query_without_duckdb(query: str, run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sql_command, "find_spec", lambda name: None if name == "duckdb" else find_spec(name)
    )
    ran = run("sql", "-w", "wh", query, "--json")
    assert (ran.code, len(ran.lines)) == (0, SCANS[query])
    for wrong in ("SELECT max(id) FROM demo.orders", "DELETE FROM demo.orders", "SELECT 1"):
        ran = run("sql", "-w", "wh", wrong)
        assert (ran.code, "pip install 'paimon-explore[sql]'" in ran.err) == (1, True)
    assert run("sql", "-w", "wh", "--engine", "duckdb", query).code == 1


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Scan]:
    """The scans that are read."""
    seen: list[Scan] = []
    read = Scan.to_batches

    def noted(scan: Scan) -> pa.RecordBatchReader:
        seen.append(scan)
        return read(scan)

    monkeypatch.setattr(Scan, "to_batches", noted)
    return seen


PUSHED = {
    "SELECT city FROM demo.orders WHERE id > 403": ({"city"}, "id > 403"),
    "SELECT id FROM demo.orders WHERE dt = '2026-01-01' AND city = 'Oslo'": (
        {"id"},
        "dt = DATE '2026-01-01' AND city = 'Oslo'",
    ),
    "SELECT id FROM demo.orders WHERE city = 'a' OR id = 1": (
        {"id"},
        "city = 'a' OR id = 1",
    ),
}


@pytest.mark.parametrize("query", PUSHED)
def test_columns_and_filters_reach_the_scan(query: str, run: Program, scans: list[Scan]) -> None:
    assert run("sql", "-w", "wh", query, "--json").code == 0
    columns, where = PUSHED[query]
    assert [set(scan.columns) for scan in scans] == [columns]
    assert to_sql(scans[0].where) == where


def filters() -> Iterator[pc.Expression]:
    """Filters of every form that DuckDB pushes, and others."""
    i: Any = pc.field("i")
    s: Any = pc.field("s")
    d: Any = pc.field("d")
    day = pa.scalar(20_000, pa.int32()).cast(pa.date32())
    atoms: list[Any] = [
        *(i > 2, i >= 2, i < 2, i <= 2, i == 2, i != 2, i.isin([1, 3]), i.is_valid(), i.is_null()),
        *(s == "b", s > "a b", s == 'q"', s == "x and y", s == "(", s != "b", s.is_valid()),
        *(d == day, d > day, d.is_null(), pc.field("f") > 1.5, pc.field("b") == True),  # noqa: E712
        pc.field("n") > pa.scalar("1.50").cast(pa.decimal128(5, 2)),
    ]
    yield from atoms
    for one in atoms:
        yield one & (i > 1)
        yield (s == "b") & (one & (i > 0))
        yield one | (i > 3)
        yield ~one


def test_a_pushed_filter_gives_the_rows_of_pyarrow() -> None:
    rows = pa.table(
        {
            "i": [1, 2, 3, None],
            "s": ["a b", "b", 'q"', "x and y"],
            "d": pa.array([19_999, 20_000, 20_001, None], pa.int32()).cast(pa.date32()),
            "f": [1.0, 2.0, None, 1.5],
            "b": [True, False, None, True],
            "n": pa.array(["1.00", "1.50", "2.00", None]).cast(pa.decimal128(5, 2)),
        }
    )
    catalog = pe.Catalog("memory://pushed/wh")
    catalog.create_database("db", if_not_exists=True)
    table = catalog.create_table("db.t", rows, if_not_exists=True)
    table.overwrite(rows)
    dataset = table.scan().to_dataset()
    expected = ds.dataset(rows)
    pushed = 0
    for condition in filters():
        found = dataset.scanner(columns=["i"], filter=condition).to_reader().read_all()
        wanted = expected.scanner(columns=["i"], filter=condition).to_table()
        assert (str(condition), found["i"].to_pylist()) == (str(condition), wanted["i"].to_pylist())
        pushed += arrow_condition(str(condition), table.scan().row_type) is not None
    assert pushed > 60


def tables_of(warehouse: str) -> CatalogTables:
    return CatalogTables(Source(warehouse=warehouse, options={}), {}, "demo")


def test_names_and_columns_are_completed() -> None:
    completer = SqlCompleter(tables_of("wh"))
    assert completer.candidates("SELECT * FROM ord", "ord") == ["orders"]
    assert completer.candidates("SELECT ci FROM orders", "ci") == ["city"]
    assert completer.candidates("SELECT ci", "ci") == []
    assert completer.candidates("sel", "sel") == ["SELECT"]
    assert SqlCompleter(tables_of("nothing")).candidates("sel", "sel") == ["SELECT"]


def test_the_prompt_completes_and_keeps_a_private_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    keys = "SELECT city FROM orders;\rSELECT 2;\r.quit\r"
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        typed.send_text(keys)
        assert [*statements_of_prompt(tables_of("wh"))] == ["SELECT city FROM orders;", "SELECT 2;"]
    history = tmp_path / HISTORY
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+SELECT city FROM orders;" in history.read_text(encoding="utf-8")


def test_an_error_does_not_end_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tables = tables_of("wh")
    output = standard_output(Format.CSV)
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        typed.send_text("SELEKT;\r.help\rSELECT max(id) AS m FROM orders;\r.exit\r")
        assert sql_command.run_prompt(tables, tables.run, "DuckDB", output) == 0
    told = capsys.readouterr()
    assert told.out == "m\n405\n"
    assert "SELEKT" in told.err


def test_lines_of_the_prompt_become_statements() -> None:
    lines = ["SELECT 1", "AS a;", "\x03", ".tables", "SELECT", "\x03", "SELECT 2;", ".quit", "x"]

    def ask(_: str) -> str:
        line = lines.pop(0)
        if line == "\x03":
            raise KeyboardInterrupt
        return line

    assert [*complete_statements(ask)] == ["SELECT 1\nAS a;", ".tables", "SELECT 2;"]

    def end(_: str) -> str:
        raise EOFError

    assert [*complete_statements(end)] == []


def test_head_of_a_system_table_has_columns_a_condition_and_a_limit(run: Program) -> None:
    table = ("wh/demo.db/orders$snapshots", "--where", "snapshot_id > 1", "--columns")
    ran = run("head", *table, "snapshot_id", "-n", "2", "--json")
    assert rows_of(ran.out) == [{"snapshot_id": 2}, {"snapshot_id": 3}]
