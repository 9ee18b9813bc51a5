"""Spark as a cluster: other processes do the work, and may be killed at any time."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.spark.java_runtime import java_home
from paimon_explore.table.table import Table
from support.depth import DEEP
from support.required import lacking
from support.spark_cluster import running_cluster
from support.stream_job import ROWS, killed_and_resumed, prepare

ON_CLUSTER_ROWS = 10_000_000 if DEEP else 20_000
EPOCHS, KILLS = (200, 20) if DEEP else (6, 1)


@pytest.fixture(autouse=True)
def java() -> None:
    """The processes find a Java."""
    try:
        java_home(os.environ)
    except UnsupportedFeatureError as error:
        lacking("spark", str(error))


def on_cluster(folder: Path, rows: int, *more: str) -> dict[str, Any]:
    """What a driver of its own process finds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(  # noqa: S603 - a module of ours
        [sys.executable, "-m", "support.cluster_job", str(folder), str(rows), *more],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.skipif(not DEEP, reason="takes minutes; HYPOTHESIS_PROFILE=deep runs it")
def test_a_table_on_a_cluster_is_right_though_workers_are_killed_in_every_phase(
    tmp_path: Path,
) -> None:
    rows = ON_CLUSTER_ROWS
    found = on_cluster(tmp_path, rows, "kill")
    half, quarter = rows // 2, rows // 4
    phases = ["upsert 1", "upsert 2", "read", "compact", "travel", "compacted"]
    assert found["hits"] == phases or (found["hits"] and not DEEP)  # few rows are done quickly
    assert found["rows"] == half + quarter
    first = sum(range(quarter)) * 3
    second = sum(range(quarter, quarter + half)) * 7
    assert found["sum"] == first + second
    assert found["kinds"] == ["APPEND", "APPEND", "COMPACT"]
    assert found["files"] == [2 * 2 * 16, 16]  # each of two tasks writes all buckets
    assert found["rows of the past"] == half
    assert [found[f"{name} is local"] for name in ("read", "compacted", "past")] == [True] * 3
    assert found["orphans"] == []
    assert found["problems"] == []
    slow = found["speculative"]
    assert slow["ids"] == list(range(40))
    assert slow["epochs"] == [0, 1]
    assert slow["second attempts"] > 0


@pytest.mark.slow
def test_a_stream_whose_driver_is_killed_writes_every_row_once(tmp_path: Path) -> None:
    table = prepare(tmp_path, EPOCHS)
    left = killed_and_resumed(tmp_path, EPOCHS, KILLS)
    assert len(left) == KILLS
    check_every_row_once(table)


@pytest.mark.slow
@pytest.mark.skipif(not DEEP, reason="takes minutes; HYPOTHESIS_PROFILE=deep runs it")
def test_failures_second_attempts_and_killed_drivers_together_write_every_row_once(
    tmp_path: Path,
) -> None:
    table = prepare(tmp_path, EPOCHS)
    with running_cluster(tmp_path / "cluster", memory=600) as cluster:
        left = killed_and_resumed(tmp_path, EPOCHS, KILLS, cluster.url)
    assert len(left) == KILLS
    second = len(list(tmp_path.glob("second-*")))
    assert second > EPOCHS // 20  # attempts that Spark began because others hung
    check_every_row_once(table)


def check_every_row_once(table: Table) -> None:
    assert table.to_arrow().sort_by("id")["id"].to_pylist() == list(range(EPOCHS * ROWS))
    epochs = [snapshot.commit_identifier for snapshot in table.snapshots]
    assert epochs == list(range(len(epochs)))  # Spark may take two files into one after a kill
    table.maintenance.remove_orphan_files(older_than="2999-01-01", dry_run=False)
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.count() == EPOCHS * ROWS
