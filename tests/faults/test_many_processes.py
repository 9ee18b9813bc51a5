"""Processes that commit to one table at once: every success is there exactly once.

They append to tables on disk and on an object store, and upsert and compact, each round on a new
table. The deep run has 8 processes, 25 commits each, and 20 rounds of appends.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, open_table
from support.committing import PATIENT
from support.cuts import unaccounted
from support.depth import DEEP
from support.figures import Figures
from support.s3 import s3_place

PROCESSES, COMMITS, ROUNDS = (8, 25, 20) if DEEP else (4, 5, 2)
TESTS = Path(__file__).parents[1]
A_LONG_TIME = 600
Reported = tuple[Counter[int], Counter[int]]
"""Values that were reported as done, and as failed."""
SCHEMA = pa.schema({"a": pa.int64()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What all processes do to one table.

    Attributes:
        location: of the table.
        commits: how many of each process.
        options: of the table's storage.
        compacts: whether they upsert, and compact after each upsert; else they append.
    """

    location: str
    commits: int
    options: Mapping[str, str]
    compacts: bool = False


def started(told: Path, stack: ExitStack) -> list["subprocess.Popen[bytes]"]:
    """The processes, which wait for the first round."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    command = [sys.executable, "-m", "support.committing", str(told)]
    environment = {**os.environ, "PYTHONPATH": path}
    found = []
    for number in range(PROCESSES):
        process = subprocess.Popen([*command, str(number)], env=environment)  # noqa: S603 - our own
        stack.callback(process.kill)
        found.append(process)
    return found


def awaited(told: Path, turn: int, processes: list["subprocess.Popen[bytes]"]) -> Reported:
    """The values that a round reported as done and as failed."""
    done: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for number, process in enumerate(processes):
        part = Path(f"{told}.{turn}.{number}.done")
        deadline = time.monotonic() + A_LONG_TIME
        while not part.exists():
            assert process.poll() in (None, 0), f"process {number} ended"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        more, less = json.loads(part.read_text(encoding="utf-8"))
        done.update(more)
        failed.update(less)
    return done, failed


def rounds(told: Path, plan: Sequence[Round]) -> Iterator[tuple[Round, Reported]]:
    """Run the processes; yields what they reported of each round."""
    told.write_text(json.dumps([asdict(one) for one in plan]), encoding="utf-8")
    with ExitStack() as stack:
        processes = started(told, stack)
        for turn, one in enumerate(plan):
            Path(f"{told}.{turn}.go").touch()
            yield one, awaited(told, turn, processes)
        assert [process.wait(A_LONG_TIME) for process in processes] == [0] * PROCESSES


def appends(warehouse: str, options: Mapping[str, str]) -> list[Round]:
    """Rounds of appends to tables of a warehouse."""
    catalog = Catalog(warehouse, dict(options))
    catalog.create_database("db")
    tables = [
        catalog.create_table(f"db.t{turn}", SCHEMA, options=PATIENT) for turn in range(ROUNDS)
    ]
    return [Round(location=table.path, commits=COMMITS, options=options) for table in tables]


def upserts(warehouse: str, write_only: str) -> Round:
    """A round of upserts with compactions."""
    catalog = Catalog(warehouse)
    catalog.create_database("db")
    columns = {"a": "BIGINT NOT NULL", "b": "BIGINT"}
    options = {**PATIENT, "bucket": "1", "write-only": write_only}
    table = catalog.create_table("db.t", columns, primary_key="a", options=options)
    return Round(location=table.path, commits=25 if DEEP else 3, options={}, compacts=True)


def check_appends(one: Round, reported: Reported) -> None:
    """The table holds what was reported as done, and nothing else."""
    table = open_table(one.location, storage_options=dict(one.options))
    done, failed = reported
    assert (done + failed).total() == PROCESSES * COMMITS
    assert Counter(table.to_arrow().column("a").to_pylist()) == done
    assert table._store.snapshots.ids() == list(range(1, done.total() + 1))
    assert table.maintenance.fsck() == []
    assert not failed
    assert unaccounted(table) == [], "files are left over"


def check_upserts(one: Round, reported: Reported) -> None:
    """Every upsert and compaction succeeded; the row that all wrote has one of the values."""
    table = open_table(one.location)
    done, failed = reported
    assert not failed
    assert done == Counter(range(PROCESSES * one.commits))
    rows = {row["a"]: row["b"] for row in table.to_arrow().to_pylist()}
    assert rows.pop(-1) in done
    assert rows == {value: value for value in done}
    assert table.maintenance.fsck(read_rows=True) == []
    assert unaccounted(table) == [], "files are left over"


@pytest.mark.slow
def test_every_success_of_many_processes_is_there_exactly_once(
    tmp_path: Path, figures: Figures
) -> None:
    with s3_place("many-processes") as s3:
        plan = [*appends(str(tmp_path / "w"), {}), *appends(s3.location, s3.options)]
        plan += [
            upserts(str(tmp_path / write_only), write_only) for write_only in ("true", "false")
        ]
        for one, reported in rounds(tmp_path / "plan", plan):
            (check_upserts if one.compacts else check_appends)(one, reported)
            kind = "upserts with a compaction" if one.compacts else "commits"
            where = one.location.partition("://")[0] if "://" in one.location else "disk"
            figures.add(f"{kind} of {PROCESSES} processes, {where}", PROCESSES * one.commits)
