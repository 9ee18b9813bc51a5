"""The suite of benchmarks runs: tiny tables, only this library, no look at times."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.case import Case
from benchmarks.data import many_files, many_rows, tables
from benchmarks.report import report, summary
from benchmarks.runner import Setting, run_all
from benchmarks.workloads import GROUPS

CASES = {case.id: case for group in GROUPS.values() for case in group}


def run(warehouse: Path, case: Case) -> dict[str, object]:
    setting = Setting(warehouse=str(warehouse), rounds=1, contenders=frozenset({"ours"}))
    ((_, result),) = run_all([case], setting)
    (row,) = result["rows"]
    assert "error" not in row, row
    assert summary({case.id: result}).count("\n") == 2
    assert case.title in report({case.id: result})
    found: dict[str, object] = row
    return found


def test_names_of_cases_and_tables_are_known_and_unique() -> None:
    assert len(CASES) == sum(map(len, GROUPS.values()))
    assert {table for case in CASES.values() for table in case.tables} <= tables.MAKERS.keys()


def test_plans_and_files_of_a_small_table_are_measured(tmp_path: Path) -> None:
    many_files.make(str(tmp_path), "files_100k_sorted", count=2_000)
    plan = run(tmp_path, CASES["plan-all-100k-sorted"])
    assert plan["check"] == {"splits": 1_504, "rows": 2_035_844_943}
    day = run(tmp_path, CASES["plan-day-100k-sorted"])
    assert day["check"] == {"splits": 2, "rows": 3_697_591}
    assert run(tmp_path, CASES["files-arrow-100k"])["check"] == {"rows": 2_000}


def test_commits_are_measured_one_by_one(tmp_path: Path) -> None:
    case = replace(CASES["commit-series"], parameters={"count": 4})
    assert run(tmp_path, case)["check"] == {"done": 4, "rows": 4}


def test_a_start_takes_a_new_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = partial(many_rows.make_plain, rows=80)
    monkeypatch.setattr(tables, "MAKERS", {"plain_1m": tiny})
    tables.ensure(str(tmp_path), "plain_1m")
    assert run(tmp_path, CASES["start-plain_1m"])["check"] == {"columns": 10}


def test_reads_and_writes_are_measured(tmp_path: Path) -> None:
    many_rows.make_keyed(str(tmp_path), "keyed_dense_5m", rows=40, keys=many_rows.dense)
    case = replace(CASES["merge-keyed-dense-5m-2-columns"], tables=())
    assert run(tmp_path, case)["rounds"] == 1
    many_rows.make_rows(str(tmp_path), "rows_2m.arrow", rows=10)
    assert run(tmp_path, CASES["write-append-2m"])["check"] == {"rows": 10}
    assert run(tmp_path, CASES["write-keyed-2m"])["check"] == {"rows": 10}


def test_requests_to_a_store_far_away_are_counted(tmp_path: Path) -> None:
    case = CASES["far-plan"]
    found = run(tmp_path, replace(case, parameters={**case.parameters, "delay_ms": 1}))
    assert found["check"] == {"found": 16}
    assert isinstance(found["figures"], dict)
    assert found["figures"]["requests"] == 5
    assert found["figures"]["HEAD_requests"] == 0
