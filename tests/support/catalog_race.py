"""A race of processes that commit to one table of a catalog."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from paimon_explore import Catalog

TESTS = Path(__file__).parents[1]
_A_LONG_TIME = 600
_PATIENT = {"commit.max-retries": "1000", "commit.timeout": "10 min"}


def race(
    folder: Path, options: Mapping[str, str], table: str, *, processes: int, commits: int
) -> tuple[list[int], list[object]]:
    """Run the processes; return the values that they report as committed, and as failed."""
    told = folder / "told"
    given = {"options": dict(options), "table": table, "commits": commits, "dynamic": _PATIENT}
    told.write_text(json.dumps(given), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    command = [sys.executable, "-m", "support.catalog_committing", str(told)]
    with ExitStack() as stack:
        started = []
        for number in range(processes):
            process = subprocess.Popen([*command, str(number)], env=environment)  # noqa: S603 - ours
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        _await(told, "ready", started)
        Path(f"{told}.go").touch()
        _await(told, "done", started)
        for process in started:
            process.wait(60)
    reports = [
        json.loads(Path(f"{told}.{number}.done").read_text(encoding="utf-8"))
        for number in range(processes)
    ]
    return (
        [value for report in reports for value in report["done"]],
        [value for report in reports for value in report["failed"]],
    )


def _await(told: Path, what: str, processes: list["subprocess.Popen[bytes]"]) -> None:
    deadline = time.monotonic() + _A_LONG_TIME
    for number, process in enumerate(processes):
        while not Path(f"{told}.{number}.{what}").exists():
            ended = process.poll()
            assert ended in (None, 0), f"process {number} ended with {ended}"
            assert time.monotonic() < deadline
            time.sleep(0.02)


def check_race(
    options: Mapping[str, str], table: str, committed: list[int], failed: list[object]
) -> None:
    """The table holds each committed row once, in as many snapshots, and nothing else."""
    assert failed == []
    found = Catalog(options=options).table(table)
    assert found.to_arrow().sort_by("id")["id"].to_pylist() == sorted(committed)
    assert [snapshot.id for snapshot in found.snapshots] == list(range(1, len(committed) + 1))
    assert found.maintenance.fsck() == []
