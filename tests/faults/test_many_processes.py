"""Processes that commit to one table at once: every success is there exactly once.

The deep run has 8 processes, 25 commits each, and 20 rounds, each on a new table.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, open_table
from support.committing import PATIENT
from support.cuts import unaccounted
from support.depth import DEEP
from support.figures import Figures
from support.s3 import S3Place, s3_place

PROCESSES, COMMITS, ROUNDS = (8, 25, 20) if DEEP else (4, 5, 2)
TESTS = Path(__file__).parents[1]
A_LONG_TIME = 600
Reported = tuple[Counter[int], Counter[int]]
"""Values that were reported as done, and as failed."""
SCHEMA = pa.schema({"a": pa.int64()})


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Place]:
    with s3_place("many-processes") as place:
        yield place


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


def rounds(told: Path, plan: Mapping[str, object]) -> Iterator[tuple[str, Reported]]:
    """Run the processes; yields each table and what they reported of it."""
    told.write_text(json.dumps(plan), encoding="utf-8")
    with ExitStack() as stack:
        processes = started(told, stack)
        locations = plan["locations"]
        assert isinstance(locations, list)
        for turn, location in enumerate(locations):
            Path(f"{told}.{turn}.go").touch()
            yield location, awaited(told, turn, processes)
        assert [process.wait(A_LONG_TIME) for process in processes] == [0] * PROCESSES


def check(location: str, options: Mapping[str, str], reported: Reported) -> None:
    """The table holds what was reported as done, and nothing else."""
    table = open_table(location, storage_options=options)
    done, failed = reported
    assert (done + failed).total() == PROCESSES * COMMITS
    assert Counter(table.to_arrow().column("a").to_pylist()) == done
    assert table._store.snapshots.ids() == list(range(1, done.total() + 1))
    assert table.maintenance.fsck() == []
    assert not failed
    assert unaccounted(table) == [], "files are left over"


@pytest.mark.slow
@pytest.mark.parametrize("where", ["disk", "s3"])
def test_every_success_of_many_processes_is_there_exactly_once(
    where: str, tmp_path: Path, request: pytest.FixtureRequest, figures: Figures
) -> None:
    place: S3Place | None = request.getfixturevalue("s3") if where == "s3" else None
    options = dict(place.options) if place is not None else {}
    warehouse = place.location if place is not None else str(tmp_path / "w")
    catalog = Catalog(warehouse, options)
    catalog.create_database("db")
    tables = [
        catalog.create_table(f"db.t{turn}", SCHEMA, options=PATIENT).path for turn in range(ROUNDS)
    ]
    told = tmp_path / "plan"
    plan = {"locations": tables, "options": options, "commits": COMMITS, "compacts": False}
    for location, reported in rounds(told, plan):
        check(location, options, reported)
    figures.add(f"commits of {PROCESSES} processes, {where}", PROCESSES * COMMITS * ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("write_only", ["true", "false"])
def test_every_upsert_and_compaction_of_many_processes_succeeds(
    write_only: str, tmp_path: Path, figures: Figures
) -> None:
    catalog = Catalog(str(tmp_path / "w"))
    catalog.create_database("db")
    columns = {"a": "BIGINT NOT NULL", "b": "BIGINT"}
    options = {**PATIENT, "bucket": "1", "write-only": write_only}
    table = catalog.create_table("db.t", columns, primary_key="a", options=options)
    commits = 25 if DEEP else 3
    told = tmp_path / "plan"
    plan = {"locations": [table.path], "options": {}, "commits": commits, "compacts": True}
    ((_, (done, failed)),) = rounds(told, plan)
    assert not failed
    assert done == Counter(range(PROCESSES * commits))
    rows = {row["a"]: row["b"] for row in table.to_arrow().to_pylist()}
    assert rows.pop(-1) in done
    assert rows == {value: value for value in done}
    assert table.maintenance.fsck(read_rows=True) == []
    assert unaccounted(table) == [], "files are left over"
    figures.add(f"upserts with a compaction of {PROCESSES} processes", PROCESSES * commits)
