"""Processes that commit to one table at once: every success is there exactly once.

They append to tables on disk and on an object store, and upsert and compact, each round on a new
table. The deep run has 8 processes, 25 commits each, and 20 rounds of appends.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table
from support.committing import PATIENT, Reported, Round, check_appends, rounds
from support.cuts import unaccounted
from support.depth import DEEP
from support.figures import Figures
from support.s3 import s3_place
from support.small_tables import new_catalog

PROCESSES, COMMITS, ROUNDS = (8, 25, 20) if DEEP else (4, 5, 2)


def appends(warehouse: str, storage: Mapping[str, str]) -> list[Round]:
    """Rounds of appends to tables of a warehouse."""
    options = {"warehouse": warehouse, **storage}
    catalog = Catalog(options=options)
    catalog.create_database("db")
    for turn in range(ROUNDS):
        catalog.create_table(f"db.t{turn}", {"a": "BIGINT"}, options=PATIENT)
    return [Round(options=options, table=f"db.t{n}", commits=COMMITS) for n in range(ROUNDS)]


def upserts(warehouse: str, write_only: str) -> Round:
    """A round of upserts with compactions."""
    columns = {"a": "BIGINT NOT NULL", "b": "BIGINT"}
    options = {**PATIENT, "bucket": "1", "write-only": write_only}
    new_catalog(warehouse).create_table("db.t", columns, primary_key="a", options=options)
    commits = 25 if DEEP else 3
    return Round(options={"warehouse": warehouse}, table="db.t", commits=commits, compacts=True)


def check_upserts(table: Table, reported: Reported, count: int) -> None:
    """Every upsert and compaction succeeded; the row that all wrote has one of the values."""
    done, failed = reported
    assert not failed
    assert done == Counter(range(count))
    rows = {row["a"]: row["b"] for row in table.to_arrow().to_pylist()}
    assert rows.pop(-1) in done
    assert rows == {value: value for value in done}
    assert table.maintenance.fsck(read_rows=True) == []


@pytest.mark.slow
def test_every_success_of_many_processes_is_there_exactly_once(
    tmp_path: Path, figures: Figures
) -> None:
    with s3_place("many-processes") as s3:
        plan = [*appends(str(tmp_path / "w"), {}), *appends(s3.location, s3.options)]
        plan += [
            upserts(str(tmp_path / write_only), write_only) for write_only in ("true", "false")
        ]
        for one, reported in rounds(tmp_path / "plan", plan, PROCESSES):
            table = Catalog(options=dict(one.options)).table(one.table)
            check = check_upserts if one.compacts else check_appends
            check(table, reported, PROCESSES * one.commits)
            assert unaccounted(table) == [], "files are left over"
            kind = "upserts with a compaction" if one.compacts else "commits"
            where = table.path.partition("://")[0] if "://" in table.path else "disk"
            figures.add(f"{kind} of {PROCESSES} processes, {where}", PROCESSES * one.commits)
