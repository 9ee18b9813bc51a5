"""The catalogue of wrong uses: every public function refuses what it cannot use, and says why.

`wrong_uses.txt` lists calls, each with the class and the whole text of its error, as a reader of
the documentation would want them: what is wrong, where, which rule, what to do.
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_explore as pe
from paimon_explore.__main__ import main
from paimon_explore.errors import PaimonError
from paimon_explore.table.table import Table
from support.small_tables import new_catalog

CATALOGUE = Path(__file__).with_name("wrong_uses.txt")
INDENT = "    "
LEAST = 200

DIALECT = re.compile(
    r"(?<!here )\bis no\b(?! longer)|\bare no\b|\bis due\b|\bThere (?:is|are):? none\b|\bGive\b"
    r"|\bexists already\b|\bmissing here\b|\bbehind\b"
)
"""Turns of phrase that the documentation of DuckDB or Arrow would not use."""
FOREIGN_TYPES = re.compile(r"\bu?int(?:8|16|32|64)\b|\bdecimal128\b|\bdate32\b|\blist<|\blarge_")
"""Types of Arrow, which messages give in Paimon's words."""


def uses() -> list[tuple[str, str]]:
    """The calls of the catalogue, each with its error as `Class: text`."""
    found: list[tuple[str, list[str]]] = []
    for line in CATALOGUE.read_text(encoding="utf-8").splitlines():
        if line.startswith(INDENT):
            found[-1][1].append(line.removeprefix(INDENT))
        elif line and not line.startswith("#"):
            found.append((line, []))
    return [(call, "\n".join(answer)) for call, answer in found]


@pytest.fixture(scope="module")
def names() -> Mapping[str, object]:
    """What the calls of the catalogue name: a warehouse in memory with four tables."""
    catalog = new_catalog("memory://wrong-uses/wh")
    columns = {
        "id": "BIGINT NOT NULL",
        "dt": "DATE",
        "price": "DECIMAL(10, 2)",
        "name": "STRING",
        "r": "ROW<x INT, y STRING>",
        "tags": "ARRAY<STRING>",
    }
    table = catalog.create_table("db.t", columns, partition_by="dt")
    for number in range(3):
        table.append([{"id": number, "dt": date(2026, 1, 1), "name": "a"}])
    table.create_tag("v1", 1)
    keyed = catalog.create_table(
        "db.k", {"id": "INT", "v": "STRING"}, primary_key="id", options={"bucket": 1}
    )
    keyed.upsert([{"id": 1, "v": "a"}])
    aggregated = catalog.create_table(
        "db.agg",
        {"id": "INT", "n": "BIGINT"},
        primary_key="id",
        options={
            "bucket": 1,
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "max",
        },
    )
    aggregated.upsert([{"id": 1, "n": 1}])
    empty = catalog.create_table("db.empty", {"id": "INT"})
    return {
        "pe": pe,
        "pa": pa,
        "pc": pc,
        "pd": pd,
        "timedelta": timedelta,
        "c": catalog,
        "t": table,
        "k": keyed,
        "agg": aggregated,
        "empty": empty,
        "m": table.maintenance,
        "km": keyed.maintenance,
        "em": empty.maintenance,
    }


@pytest.mark.parametrize(("call", "answer"), uses())
def test_a_wrong_use_is_refused_with_what_to_do(
    names: Mapping[str, object], call: str, answer: str
) -> None:
    with pytest.raises(PaimonError) as caught:
        eval(call, dict(names))  # noqa: S307 - the catalogue is ours
    assert f"{type(caught.value).__name__}: {caught.value}" == answer


def test_the_tables_are_as_they_were_after_all_of_it(names: Mapping[str, object]) -> None:
    for call, _ in uses():
        with pytest.raises(PaimonError):
            eval(call, dict(names))  # noqa: S307 - the catalogue is ours
    table, keyed = names["t"], names["k"]
    assert isinstance(table, Table)
    assert isinstance(keyed, Table)
    assert [row["id"] for row in table.to_arrow().to_pylist()] == [0, 1, 2]
    assert table.snapshots.keys() == [1, 2, 3]
    assert list(table.tags.keys()) == ["v1"]
    assert table.schemas.keys() == [0]
    assert keyed.to_arrow().to_pylist() == [{"id": 1, "v": "a"}]
    catalog = names["c"]
    assert isinstance(catalog, pe.Catalog)
    assert (catalog.databases(), catalog.tables("db")) == (["db"], ["agg", "empty", "k", "t"])


def test_the_catalogue_is_long_and_in_plain_english() -> None:
    listed = uses()
    assert len(listed) >= LEAST
    assert len({call for call, _ in listed}) == len(listed)
    for call, answer in listed:
        found = DIALECT.search(answer) or FOREIGN_TYPES.search(answer)
        assert found is None, (call, answer)


def test_a_time_may_be_given_as_text_to_at(names: Mapping[str, object]) -> None:
    table = names["t"]
    assert isinstance(table, Table)
    assert table.at("2999-11-22T05:04").count() == 3
    assert table.at("2999-11-22").count() == 3
    with pytest.raises(PaimonError, match=r"There is no snapshot at or before 1999-11-22 05:04"):
        table.at("1999-11-22T05:04")


def test_the_next_commit_may_be_asked_for_before_it_is_there(names: Mapping[str, object]) -> None:
    table = names["t"]
    assert isinstance(table, Table)
    assert list(table.changes(4)) == []
    assert [change.snapshot.id for change in table.changes(3)] == [3]


def test_a_path_of_names_reaches_into_a_row() -> None:
    table = new_catalog("memory://wrong-uses-rows/wh").create_table(
        "db.t", {"id": "INT", "r": "ROW<x INT>", "a.b": "INT"}
    )
    table.append([{"id": 1, "r": {"x": 5}, "a.b": 7}, {"id": 2, "r": {"x": 6}, "a.b": 8}])
    assert table.scan(["id"], pe.col("r.x") == 6).to_arrow().to_pylist() == [{"id": 2}]
    assert table.scan(["id"], pe.col("a.b") == 7).to_arrow().to_pylist() == [{"id": 1}]


def test_the_first_database_makes_the_warehouse(tmp_path: Path) -> None:
    catalog = pe.Catalog(tmp_path / "new")
    assert repr(catalog) == f"Catalog('{tmp_path}/new'): databases none"
    with pytest.raises(PaimonError, match=r"Warehouse '.*new' does not exist\. Check the path"):
        catalog.databases()
    catalog.create_database("db")
    assert catalog.databases() == ["db"]
    catalog.drop_database("db")
    assert catalog.databases() == []


def test_the_database_sys_lists_its_tables() -> None:
    assert "all_tables" in pe.Catalog("memory://wrong-uses-sys/wh").tables("sys")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "{}/nope"], 1, "Table '{}/nope' does not exist. The folder of a table contains"),
        (["show", ""], 1, "The location of a table or warehouse is empty. Pass a path or a URL."),
        (["show", "ftp://host/wh"], 1, "Storage scheme 'ftp' is not supported (ftp://host/wh)."),
        (["show", "{}/wh/db.db/t", "--branch", "b"], 1, "Branch 'b' does not exist in {}/wh"),
        (["show", "{}/wh/db.db/t", "--snapshot", "9"], 1, "Snapshot 9 does not exist."),
        (["show", "{}/wh/db.db/t", "--tag", "v"], 1, "Tag 'v' does not exist in {}/wh/db.db/t."),
        (["show", "{}/wh/db.db", "--tag", "v"], 1, "Table '{}/wh/db.db' does not exist."),
        (["show"], 2, "the following arguments are required: path"),
        (["show", "x", "--snapshot", "one"], 2, "argument --snapshot: invalid int value: 'one'"),
        (["show", "x", "--snapshot", "1", "--tag", "v"], 2, "not allowed with argument"),
        (["sow", "x"], 2, "No such command 'sow'."),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    new_catalog(tmp_path / "wh").create_table("db.t", {"id": "INT"})
    given = [argument.replace("{}", str(tmp_path)) for argument in arguments]
    try:
        returned = main(given)
    except SystemExit as usage:
        returned = int(str(usage.code))
    assert returned == code
    assert said.replace("{}", str(tmp_path)) in capsys.readouterr().err
