"""Processes that commit to one table of a catalog at once, with lost replies.

Every commit that was reported as done is there exactly once, and nothing else. The deep run has 8
processes with 25 commits each.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from catalogs.homes import HOMES, Homes
from paimon_explore import Catalog, Table
from support.committing import PATIENT
from support.depth import DEEP
from support.figures import Figures
from support.s3 import s3_place

PROCESSES, COMMITS = (8, 25) if DEEP else (3, 4)
LOST = 0.2
TESTS = Path(__file__).parents[2]
A_LONG_TIME = 600


def raced(tables: Mapping[str, Table], plan: Path) -> dict[str, Counter[int]]:
    """Let the processes commit to one table after the other; the values reported as done."""
    command = [sys.executable, "-m", "support.race_committing", str(plan)]
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    done: dict[str, Counter[int]] = {}
    with ExitStack() as stack:
        processes = []
        for number in range(PROCESSES):
            process = subprocess.Popen(  # noqa: S603 - our own
                [*command, str(number)], env={**os.environ, "PYTHONPATH": path}
            )
            stack.callback(process.kill)
            processes.append(process)
        for turn, name in enumerate(tables):
            Path(f"{plan}.{turn}.go").touch()
            done[name] = awaited(plan, turn, processes)
        assert [process.wait(A_LONG_TIME) for process in processes] == [0] * PROCESSES
    return done


def awaited(plan: Path, turn: int, processes: list["subprocess.Popen[bytes]"]) -> Counter[int]:
    done: Counter[int] = Counter()
    for number, process in enumerate(processes):
        part = Path(f"{plan}.{turn}.{number}.done")
        deadline = time.monotonic() + A_LONG_TIME
        while not part.exists():
            assert process.poll() in (None, 0), f"process {number} ended"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        found = json.loads(part.read_text(encoding="utf-8"))
        assert found["failed"] == []
        done.update(found["done"])
    return done


def planned(plan: Path, catalogs: Mapping[str, Mapping[str, str]]) -> dict[str, Table]:
    """A table in each catalog, and the plan of the processes."""
    tables, rounds = {}, []
    for name, options in catalogs.items():
        catalog = Catalog(options=options)
        catalog.create_database("race", if_not_exists=True)
        tables[name] = catalog.create_table("race.t", {"a": "BIGINT"}, options=PATIENT)
        rounds.append({"options": dict(options), "table": "race.t"})
    content = {"rounds": rounds, "commits": COMMITS, "lost": LOST}
    plan.write_text(json.dumps(content), encoding="utf-8")
    return tables


def check(table: Table, done: Counter[int]) -> None:
    assert done == Counter(range(PROCESSES * COMMITS))
    assert Counter(table.to_arrow().column("a").to_pylist()) == done
    assert table._store.snapshots.ids() == list(range(1, done.total() + 1))
    assert table.maintenance.fsck() == []


def test_every_commit_of_many_processes_is_there_exactly_once(
    homes: Homes, tmp_path: Path, figures: Figures
) -> None:
    started = {name: homes.get(name) for name in HOMES}
    plan = tmp_path / "plan"
    tables = planned(plan, {name: home.options for name, home in started.items()})
    for name, done in raced(tables, plan).items():
        check(tables[name], done)
        assert started[name].java.read("race.t").num_rows == done.total()
        started[name].catalog.drop_database("race", cascade=True)
        figures.add(f"commits of {PROCESSES} processes with lost replies, {name}", done.total())


def test_locks_protect_commits_on_a_store_that_ignores_conditions(
    tmp_path: Path, figures: Figures
) -> None:
    with s3_place("no-conditions", ignores_conditions=True) as place:
        options = {
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{tmp_path / 'catalog.db'}",
            "warehouse": place.location,
            **place.options,
        }
        plan = tmp_path / "plan"
        tables = planned(plan, {"s3": options})
        done = raced(tables, plan)["s3"]
        check(tables["s3"], done)
        figures.add(f"commits of {PROCESSES} processes, S3 without conditions", done.total())
