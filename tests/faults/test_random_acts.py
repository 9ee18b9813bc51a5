"""Six processes do random acts on eight kinds of tables while some of them are killed.

The deep run takes an hour, on the local disk and on S3 through a proxy that fails requests.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from paimon_explore import open_table
from support.depth import DEEP
from support.figures import Figures
from support.random_acts import SHARED, Rows, known_rows, rows_by_key, settled
from support.s3 import s3_place
from support.s3_faults import s3_faults
from support.table_kinds import TABLE_KINDS

PROCESSES = 6 if DEEP else 3
SECONDS = float(os.environ.get("PAIMON_EXPLORE_SECONDS", "3600" if DEEP else "6"))
SECONDS_BETWEEN_KILLS = 8 if DEEP else 2
FAULTS = 0.05
"""Share of the requests to S3 that fail."""
KINDS = (
    "append",
    "append, vectors",
    "append, row ids",
    "keyed",
    "vectors",
    "dynamic buckets",
    "lookup, vectors",
    "aggregation",
)
TESTS = Path(__file__).parents[1]
Plan = dict[str, tuple[str, dict[str, str], str]]


def planned(warehouse: str, options: dict[str, str], place: str) -> Plan:
    """New tables of all kinds: location, storage options and kind by name."""
    plan: Plan = {}
    for number, kind in enumerate(KINDS):
        table = TABLE_KINDS[kind].create(f"{warehouse}/{number}", options)
        plan[f"{kind}, {place}"] = (table.path, options, kind)
    return plan


@dataclass(slots=True)
class Crowd:
    """The processes, each started again when it was killed."""

    told: Path
    stack: ExitStack
    kills: int = 0

    def start(self, number: int) -> "subprocess.Popen[bytes]":
        path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
        command = [sys.executable, "-m", "support.random_acts", str(self.told)]
        log = self.stack.enter_context((self.told.parent / f"log-{number}").open("ab"))
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, str(number), str(PROCESSES)],
            env={**os.environ, "PYTHONPATH": path},
            stderr=log,
        )
        self.stack.callback(process.kill)
        return process

    def act(self, seconds: float) -> None:
        """Let them act so long, killing one now and then; none may end by itself."""
        chance = random.Random(1)  # noqa: S311 - no secret
        running = [self.start(number) for number in range(PROCESSES)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(chance.uniform(0.5, 1.5) * SECONDS_BETWEEN_KILLS)
            for number, process in enumerate(running):
                assert process.poll() is None, self.log(number)
            number = chance.randrange(PROCESSES)
            running[number].kill()
            running[number].wait()
            self.kills += 1
            running[number] = self.start(number)
        (self.told.parent / "stop").touch()
        for number, process in enumerate(running):
            assert process.wait(300) == 0, self.log(number)

    def log(self, number: int) -> str:
        """What a process wrote at its end."""
        return (self.told.parent / f"log-{number}").read_text(encoding="utf-8")[-4000:]


def check(plan: Plan, folder: Path) -> None:
    """Every table holds what its processes know, and nothing else."""
    known = [known_rows(folder / f"known-{number}.json") for number in range(PROCESSES)]
    for name, (location, options, kind) in plan.items():
        expected: Rows = {}
        for rows in known:
            expected |= rows[name]
        table = settled(open_table(location, storage_options=options), TABLE_KINDS[kind])
        assert rows_by_key(table) == expected, name
        assert table.maintenance.fsck() == [], name
        partitions = {key[0] for key in expected}
        assert partitions <= {*SHARED, *(f"own-{number}" for number in range(PROCESSES))}


def counted(folder: Path) -> Counter[str]:
    """How often the processes did what, and with which outcome."""
    counts: Counter[str] = Counter()
    for file in folder.glob("counts-*.txt"):
        counts.update(file.read_text(encoding="utf-8").splitlines())
    (folder / "counts.json").write_text(json.dumps(counts.most_common(), indent=1))
    return counts


@pytest.mark.slow
def test_random_acts_of_killed_processes_lose_no_row_and_double_none(
    tmp_path: Path, figures: Figures
) -> None:
    told = tmp_path / "plan.json"
    plan = planned(str(tmp_path / "w"), {}, "disk")
    with ExitStack() as stack:
        place = stack.enter_context(s3_place("random-acts"))
        faulty = stack.enter_context(s3_faults(place, rate=FAULTS))
        if DEEP:
            plan |= planned(place.location, dict(place.options), "S3")
        through_the_proxy = {
            name: (location, options and dict(faulty.options), kind)
            for name, (location, options, kind) in plan.items()
        }
        told.write_text(json.dumps(through_the_proxy), encoding="utf-8")
        crowd = Crowd(told, stack)
        crowd.act(SECONDS)
        counts = counted(tmp_path)
        assert counts.total() > SECONDS / 2
        check(plan, tmp_path)
        figures.add("faults of S3 in random acts", faulty.faults.total())
    figures.add("random acts", counts.total())
    figures.add("processes killed in random acts", crowd.kills)
