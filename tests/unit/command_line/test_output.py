"""Text fits the terminal; in a pipe nothing is cut; JSON and CSV are complete."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.command_line.rendering.machine_text import json_text
from paimon_explore.command_line.rendering.output import Format, Output, json_cells
from paimon_explore.command_line.rendering.text_table import cell_width
from support.command_line import Program, obeyed
from support.depth import DEEP
from support.small_tables import new_catalog

LISTINGS = {
    "ls": ("ls", "wh", "--long"),
    "schema": ("schema", "wh/demo.db/parcels"),
    "options": ("schema", "wh/demo.db/parcels", "--options"),
    "snapshots": ("snapshots", "wh/demo.db/orders"),
    "files": ("files", "wh/demo.db/orders"),
    "partitions": ("partitions", "wh/demo.db/orders"),
    "head": ("head", "wh/demo.db/orders"),
    "types": ("head", "wh/demo.db/types"),
    "system table": ("head", "wh/demo.db/orders$manifests"),
    "sql": ("sql", "-w", "wh", "SELECT * FROM demo.customers ORDER BY id"),
    "tail": ("tail", "wh/demo.db/events", "--from", "earliest", "--timeout", "0"),
    "tags": ("tag", "list", "wh/demo.db/trips"),
    "branches": ("branch", "list", "wh/demo.db/trips"),
    "compaction": ("compact", "wh/demo.db/orders", "--dry-run"),
}
"""Commands that print rows."""
REPORTS = {
    "schema history": ("schema", "wh/demo.db/trips", "--history"),
    "explain": ("explain", "wh/demo.db/orders", "--where", "id > 200"),
    "diff": ("diff", "wh/demo.db/customers", "--rows", "3"),
    "history": ("history", "wh/demo.db/customers", "id = 6"),
    "health": ("health", "wh/demo.db/parcels"),
    "expiry": ("expire", "wh/demo.db/orders", "--retain-max", "2", "--dry-run"),
}
"""Commands that print a report."""


@pytest.fixture(autouse=True)
def folder(demo_warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo_warehouse.parent)


@pytest.mark.parametrize("width", [20, 80, 200] if DEEP else [80, 200])
@pytest.mark.parametrize("name", [*LISTINGS, *REPORTS])
def test_text_fits_the_width(name: str, width: int, run: Program) -> None:
    command = {**LISTINGS, **REPORTS}[name]
    ran = run(*command, "--width", str(width))
    assert (ran.code in {0, 3}, ran.err) == (True, "")
    if width >= 80:
        assert [line for line in ran.lines if cell_width(line) > width] == []
    assert obeyed(ran.out) == []


@pytest.mark.parametrize("name", LISTINGS)
def test_text_in_a_pipe_is_not_cut_and_has_no_footer(name: str, run: Program) -> None:
    ran = run(*LISTINGS[name])
    assert "…" not in ran.out
    assert "rows)" not in ran.out
    rows = [json.loads(line) for line in run(*LISTINGS[name], "--json").lines]
    assert len(ran.lines) == len(rows) + 2


@pytest.mark.parametrize("name", LISTINGS)
def test_csv_and_json_have_the_same_rows_and_columns(name: str, run: Program) -> None:
    rows = [json.loads(line) for line in run(*LISTINGS[name], "--json").lines]
    table = list(csv.reader(io.StringIO(run(*LISTINGS[name], "--csv").out)))
    assert len(table) == len(rows) + 1
    assert rows
    assert [list(row) for row in rows] == [table[0]] * len(rows)


@pytest.mark.parametrize("name", REPORTS)
def test_the_json_of_a_report_is_one_document_with_all_rows(name: str, run: Program) -> None:
    found = json.loads(run(*REPORTS[name], "--json").out)
    assert found.keys() == {"title", "sections", "figures", "rows"}
    table = list(csv.reader(io.StringIO(run(*REPORTS[name], "--csv").out)))
    assert len(table) == len(found["rows"]) + 1


def test_the_first_rows_of_a_table(run: Program) -> None:
    command = ("head", "wh/demo.db/orders", "-n", "2", "--where", "dt = '2026-01-01' AND id > 303")
    assert run(*command).lines == [
        " id  city  amount  dt",
        "───  ────  ──────  ──────────",
        "402  Lyon  100.50  2026-01-01",
        "405  Oslo  101.25  2026-01-01",
    ]
    assert run(*command, "--json").lines == [
        '{"id":402,"city":"Lyon","amount":"100.50","dt":"2026-01-01"}',
        '{"id":405,"city":"Oslo","amount":"101.25","dt":"2026-01-01"}',
    ]
    assert run(*command, "--csv").lines == [
        "id,city,amount,dt",
        "402,Lyon,100.50,2026-01-01",
        "405,Oslo,101.25,2026-01-01",
    ]


def test_columns_that_do_not_fit_are_cut_and_then_left_out_and_named(run: Program) -> None:
    lines = run("head", "wh/demo.db/types", "--width", "48").lines
    assert lines[0].split() == ["b", "i", "d", "s"]
    assert lines[-1].startswith("… 7 more columns: y, day, ts, ltz, list")
    wide = run("head", "wh/demo.db/types", "--columns", "list,map,row", "--width", "80").lines
    assert wide[0].split() == ["list", "map", "row"]
    assert wide[-1] == "(2 rows)"


def test_values_of_every_type_as_json(run: Program) -> None:
    first, empty = map(json.loads, run("head", "wh/demo.db/types", "--json").lines)
    assert first == {
        "b": True,
        "i": -7,
        "d": "12345678901234567.125",
        "s": "Zürich 大阪",
        "y": "AP8=",
        "day": "1969-12-31",
        "ts": "2023-11-14 22:13:20.123456",
        "ltz": "1969-12-31 23:59:59.999Z",
        "list": [1, None, 3],
        "map": {"a": 1.5, "b": None},
        "row": {"x": 1, "y": None},
    }
    assert set(empty.values()) == {None}


def test_the_options_of_point_in_time(run: Program) -> None:
    assert len(run("head", "wh/demo.db/orders", "--all", "--snapshot", "2", "--json").lines) == 12
    assert len(run("head", "wh/demo.db/trips", "--tag", "before", "--json").lines) == 2
    assert len(run("head", "demo.trips", "-w", "wh", "-b", "draft", "--json").lines) == 3
    assert run("head", "wh/demo.db/orders", "--at", "2020-01-01").code == 1
    assert run("head", "wh/demo.db/orders", "--tag", "x", "--snapshot", "1").code == 2


def test_show_as_json_and_csv(run: Program) -> None:
    found = json.loads(run("show", "wh/demo.db/parcels", "--json").out)
    assert (found["table"], found["primary_keys"]) == ("demo.parcels", ["dt", "id"])
    assert found["columns"][1] == {"name": "id", "type": "INT NOT NULL"}
    assert (found["tags"], found["consumers"]) == ({"weighed": 8}, {"labels": 4})
    assert json.loads(run("show", "wh", "--json").out)["demo"][0] == "customers"
    assert run("show", "demo.empty", "-w", "wh", "--csv").lines[:2] == [
        "property,value",
        "table,demo.empty",
    ]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


HOSTILE = "a\x1b[31m\x1b]0;title\x07\r\n\x9b2J\x7f\u202eb\u200b\u2028\U000e0041"


@pytest.mark.parametrize("form", list(Format))
def test_a_terminal_gets_no_control_characters_of_values_and_names(form: Format) -> None:
    stream = Terminal()
    output = Output(format=form, stream=stream, width=80, is_terminal=True)
    table = pa.table({f"name{HOSTILE}": [HOSTILE, None], "nested": [[HOSTILE], []]})
    assert output.rows(table) == 2
    shown = stream.getvalue().replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert obeyed(shown) == []
    assert "1b" in shown


def test_hostile_values_survive_json_and_csv_in_a_pipe() -> None:
    table = pa.table({HOSTILE: [HOSTILE, '"', ""]})
    streams = {form: io.StringIO() for form in (Format.JSON, Format.CSV)}
    for form, stream in streams.items():
        Output(format=form, stream=stream).rows(table)
    lines = streams[Format.JSON].getvalue().splitlines()
    assert [json.loads(line)[HOSTILE] for line in lines] == [HOSTILE, '"', ""]
    assert obeyed(streams[Format.JSON].getvalue()) == []
    read = csv.reader(io.StringIO(streams[Format.CSV].getvalue(), newline=""))
    assert [row for row in read if row] == [[HOSTILE], [HOSTILE], ['"'], [""]]


def test_every_listing_of_a_hostile_table_is_harmless_and_hides_secrets(run: Program) -> None:
    name = HOSTILE.replace("\n", "").replace("\r", "")
    url = "s3://user:canary@host/x?sig=canary"
    made = new_catalog().create_table(
        f"db.t{name}",
        {f"id{name}": "INT", f"v{name}": "STRING"},
        primary_key=f"id{name}",
        options={f"my.{name}": name, "my.password": "canary", "bucket": 1},
        comment=f"{name} {url}",
    )
    made.upsert([{f"id{name}": 1, f"v{name}": HOSTILE}])
    made.set_options({"my.password": "canary2", "other.url": url})
    made.add_column("b", "INT", comment=url)
    made.upsert([{f"id{name}": 1, f"v{name}": "b"}])
    made.create_tag(f"t{name}")
    commands: list[tuple[str, ...]] = [
        *(("head",), ("schema",), ("schema", "--options"), ("schema", "--history"), ("diff",)),
        *(("snapshots",), ("files",), ("partitions",), ("explain",), ("fsck",), ("health",)),
        *(("tail", "--from", "1", "--timeout", "0"), ("tag", "list"), ("compact", "--dry-run")),
        *(("expire", "--retain-max", "1", "--dry-run"), ("orphans", "--dry-run")),
        ("ls", "--long"),
    ]
    masked = 0
    for first, *rest in commands:
        words = (first, "list") if first == "tag" else (first,)
        place = made.path.rpartition("/db.db")[0] if first == "ls" else made.path
        options = () if first == "tag" else tuple(rest)
        for form in ((), ("--width", "80"), ("--json",), ("--csv",)):
            ran = run(*words, place, *options, *form)
            raw = obeyed(ran.out + ran.err) if "--csv" not in form else []
            assert (first, ran.code in {0, 3}, raw) == (first, True, [])
            assert "canary" not in ran.out + ran.err
            masked += "******" in ran.out
    assert masked > 10
    ran = run("history", made.path, "1")
    assert (ran.code, obeyed(ran.out)) == (0, [])
    wrong = run("head", f"{made.path}{name}")
    assert (wrong.code, obeyed(wrong.err)) == (1, [])


@pytest.mark.parametrize("form", list(Format))
def test_rows_are_printed_as_they_arrive(form: Format) -> None:
    stream = io.StringIO()
    printed: list[int] = []
    schema = pa.schema({"a": pa.int64()})

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(4):
            printed.append(stream.getvalue().count("\n"))
            yield pa.RecordBatch.from_pydict({"a": list(range(1000))}, schema=schema)

    rows = pa.RecordBatchReader.from_batches(schema, batches())
    assert Output(format=form, stream=stream).rows(rows) == 4000
    assert printed[0] < printed[1] < printed[2] < printed[3] < 4000


def test_a_terminal_gets_a_bold_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    output = Output(format=Format.TEXT, stream=stream, width=80, is_terminal=True)
    output.rows(pa.table({"a": [1]}))
    assert stream.getvalue().startswith("\x1b[1m")


def test_variants_of_results_of_sql_are_documents() -> None:
    rows = "VALUES ('[1, \"a\"]'), (NULL) t(x)"
    query = f"SELECT parse_json(x) AS v, array(parse_json(x)) AS l FROM {rows}"  # noqa: S608
    (batch,) = pe.sql(query).to_arrow().combine_chunks().to_batches()
    cells = {name: json_cells(batch[name]) for name in ("v", "l")}
    assert json_text(cells) == '{"v":[[1,"a"],null],"l":[[[1,"a"]],[null]]}'
