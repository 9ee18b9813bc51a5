"""Compaction by tasks: the same rows and files as a local compaction, one commit."""

from functools import wraps
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.spark.writes import distributed_compaction
from paimon_explore.spark.writes.driver_commit import publish
from paimon_explore.table.table import Table
from support.small_tables import new_catalog


def made(folder: Path, options: dict[str, object], *, keyed: bool = True) -> Table:
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
    return new_catalog(folder).create_table(
        "db.t",
        columns,
        primary_key=["p", "k"] if keyed else (),
        partition_by="p",
        options=options,  # type: ignore[arg-type]  # texts, numbers and flags
    )


def rows(*keys: int, value: str) -> list[dict[str, object]]:
    return [{"p": p, "k": k, "v": value} for p in ("a", "b") for k in keys]


def kinds(table: Table) -> list[str]:
    return [snapshot.commit_kind.value for snapshot in table.snapshots]


@pytest.mark.parametrize("keyed", [True, False], ids=["primary key", "append"])
def test_a_table_compacted_by_tasks_has_the_same_rows_in_fewer_files(
    spark: SparkSession, tmp_path: Path, *, keyed: bool
) -> None:
    buckets = {"bucket": 3} if keyed else {}
    table = made(tmp_path, {"write-only": True, **buckets}, keyed=keyed)
    for number in range(6):
        table.append(rows(number, number + 1, 99, value=f"v{number}"))
    before = sorted(map(str, table.to_arrow().to_pylist()))
    files = len(table.files().to_arrow())
    snapshot = pe.spark.compact(spark, table)
    assert snapshot is not None
    assert snapshot.commit_kind.value == "COMPACT"
    assert sorted(map(str, table.to_arrow().to_pylist())) == before
    assert len(table.files().to_arrow()) < files
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()
    if keyed:
        assert pe.spark.compact(spark, table) is None


def test_buckets_that_another_commit_compacted_do_not_stop_the_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(tmp_path, {"bucket": 2, "write-only": True})
    for number in range(3):
        table.upsert(rows(*range(9), value=f"v{number}"))
    others: list[object] = []

    @wraps(publish)
    def late(*args: Any, **settings: Any) -> object:  # noqa: ANN401 - those of publish
        if not others:
            others.append(table.compact(partitions=[{"p": "a"}]))
        return publish(*args, **settings)

    monkeypatch.setattr(distributed_compaction, "publish", late)
    snapshot = pe.spark.compact(spark, table)
    assert others[0] is not None
    assert snapshot == table.snapshot
    assert kinds(table)[3:] == ["COMPACT", "COMPACT"]
    assert len(table.files()) == 4
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()


def test_only_some_partitions_are_compacted(spark: SparkSession, tmp_path: Path) -> None:
    table = made(tmp_path, {"bucket": 1, "write-only": True})
    for number in range(3):
        table.upsert(rows(1, value=f"v{number}"))
    pe.spark.compact(spark, table, partitions=[{"p": "a"}])
    assert [len(table.files(f"p = '{p}'").to_arrow()) for p in ("a", "b")] == [1, 3]


def test_rows_of_a_table_with_deletion_vectors_are_there_behind_a_write(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(tmp_path, {"bucket": 2, "deletion-vectors.enabled": True})
    for value in ("old", "new"):
        frame = spark.createDataFrame(pd.DataFrame(rows(1, 2, value=value)))
        pe.spark.write(frame, table, mode="upsert")
    assert kinds(table) == ["APPEND", "COMPACT", "APPEND", "COMPACT"]
    assert {row["v"] for row in table.to_arrow().to_pylist()} == {"new"}
    assert pe.spark.read(spark, table).count() == 4
    assert table.maintenance.fsck(read_rows=True) == []


def test_postponed_rows_are_spread_and_compacted(spark: SparkSession, tmp_path: Path) -> None:
    table = made(tmp_path, {"bucket": -2})
    table.upsert(rows(1, 2, 3, value="x"))
    assert table.count() == 0
    pe.spark.compact(spark, table)
    assert table.count() == 6


def test_rows_of_the_conventional_door_are_there_too(spark: SparkSession, tmp_path: Path) -> None:
    table = made(tmp_path, {"bucket": 2, "deletion-vectors.enabled": True})
    frame = spark.createDataFrame(pd.DataFrame(rows(1, 2, value="x")))
    frame.write.format("paimon_explore").mode("append").save(table.path)
    assert kinds(table) == ["APPEND", "COMPACT"]
    assert table.count() == 4
