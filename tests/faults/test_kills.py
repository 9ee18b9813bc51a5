"""Processes killed in the middle of every act: kill -9, at every operation that changes something.

What they leave is wholly visible or wholly absent, and whoever does the act again finishes it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from paimon_explore import open_table
from support.acts import ACTS
from support.cuts import check_cut, check_finished, outcome, readings, rows_of
from support.depth import DEEP, some
from support.figures import Figures

Job = tuple[str, str, int, str]
TESTS = Path(__file__).parents[1]
GROUPS = [list(ACTS)[first::6] for first in range(6)]


def serve(jobs: Sequence[Job], folder: Path) -> None:
    """Let another process do the jobs, each in a copy of itself that may be killed."""
    told = folder / "jobs.json"
    told.write_text(json.dumps(jobs), encoding="utf-8")
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "ignore", "-m", "support.killing", str(told)],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )


def copied(original: Path, name: str) -> Path:
    copy = original.parent / name
    shutil.copytree(original, copy)
    return copy


@pytest.mark.parametrize("group", range(len(GROUPS)) if DEEP else [0])
def test_a_killed_process_leaves_nothing_half_done(
    group: int, tmp_path: Path, figures: Figures
) -> None:
    names = GROUPS[group] if DEEP else GROUPS[group][::2]
    tables: dict[str, Path] = {}
    counting: list[Job] = []
    for number, name in enumerate(names):
        tables[name] = Path(ACTS[name].table(str(tmp_path / f"w{number}")).path)
        done = copied(tables[name], "done")
        counting.append((name, str(done), 0, f"{done}.count"))
    serve(counting, tmp_path)
    killing: list[Job] = []
    for turn, (name, made, _, counted) in enumerate(counting):
        steps = range(1, int(Path(counted).read_text(encoding="utf-8")) + 1)
        assert steps, name
        killing += [
            (name, str(copied(tables[name], f"k{step}")), step, f"{made}.over")
            for step in some(steps, 13, 5 * turn)
        ]
    serve(killing, tmp_path)
    assert not list(tmp_path.rglob("*.over")), "somebody lived on"
    for name, folder, step, _ in killing:
        try:
            check(name, tables[name], Path(folder))
        except Exception as error:
            error.add_note(f"{name}, killed at {step}")
            raise
        shutil.rmtree(folder)
    figures.add("killed processes", len(killing))


def check(name: str, original: Path, killed: Path) -> None:
    act, before = ACTS[name], open_table(original)
    done = open_table(original.parent / "done")
    expected = outcome((rows_of(before), readings(before)), done, commits=act.commits)
    table = open_table(killed)
    check_cut(table, expected, commits=act.commits)
    act.run(table)
    check_finished(table, expected)
