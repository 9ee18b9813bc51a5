"""Streams out of and into tables: all rows once, whatever is repeated."""

import json
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from paimon_explore.metadata.consumer import Consumer
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table

NAME = "paimon_explore"


@pytest.fixture
def source(catalog: Catalog) -> Table:
    """30 rows in five commits."""
    return catalog.table("demo.orders")


@pytest.fixture
def target(catalog: Catalog, source: Table) -> Table:
    """An empty table of the same columns."""
    return catalog.create_table("demo.copy", source.to_arrow().schema, partition_by=["dt"])


def copy(rows: DataFrame, target: Table, checkpoint: Path) -> None:
    """Stream all that is there now into a table."""
    writer = rows.writeStream.format(NAME).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start(target.path)
    query.awaitTermination(120)
    query.stop()


def ids(table: Table) -> list[object]:
    return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())  # type: ignore[type-var]  # no nulls


def data_files(table: Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("data-*.*")}


def live_files(table: Table) -> set[str]:
    paths = table.inspect.files()["file_path"].to_pylist()
    return {str(path).rpartition("/")[2] for path in paths}


def test_a_stream_delivers_the_state_then_every_change_and_a_repeated_batch_once(
    spark: SparkSession, source: Table, target: Table, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    follow = spark.readStream.format(NAME).load(source.path)
    copy(follow, target, checkpoint)
    assert ids(target) == ids(source)
    source.append([{"id": 1001}])
    source.append([{"id": 1002}])
    copy(follow, target, checkpoint)
    assert ids(target) == ids(source)
    query = json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
    commits = [(s.commit_user, s.commit_identifier) for s in target.snapshots]
    assert commits == [(f"spark-{query}", 0), (f"spark-{query}", 1)]
    # as after a crash between the table's commit and the checkpoint's
    for file in (checkpoint / "commits").glob("*1*"):
        file.unlink()
    copy(follow, target, checkpoint)
    assert ids(target) == ids(source)
    assert len(target.snapshots) == 2
    assert data_files(target) == live_files(target)


def test_a_stream_may_begin_at_a_snapshot(
    spark: SparkSession, source: Table, target: Table, tmp_path: Path
) -> None:
    reader = spark.readStream.format(NAME).option("scan.snapshot-id", "4")
    copy(reader.load(source.path), target, tmp_path / "checkpoint")
    expected = set(ids(source)) - set(ids(source.at(snapshot=3)))
    assert set(ids(target)) == expected


def test_row_kinds_come_when_asked_for(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    events = catalog.table("demo.events")
    options = {"read.changelog": "true", "scan.snapshot-id": "1"}
    rows = spark.readStream.format(NAME).options(**options).load(events.path)
    assert rows.columns == ["_row_kind", "id", "state"]
    writer = rows.writeStream.format("memory").queryName("kinds")
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    query.awaitTermination(120)
    found = {tuple(row) for row in spark.table("kinds").collect()}
    assert found == {("+I", 1, "new"), ("+I", 2, "new"), ("+U", 1, "paid"), ("-D", 2, "new")}


def test_columns_that_do_not_fit_end_the_stream_with_their_name(
    spark: SparkSession, source: Table, target: Table, tmp_path: Path
) -> None:
    rows = spark.readStream.format(NAME).load(source.path).withColumnRenamed("city", "town")
    with pytest.raises(StreamingQueryException, match="no column 'town'"):
        copy(rows, target, tmp_path / "checkpoint")
    assert len(target.snapshots) == 0


def batches_of(rows: DataFrame, checkpoint: Path) -> list[int]:
    """The number of rows of each batch of what is there now."""
    found: list[int] = []
    writer = rows.writeStream.foreachBatch(lambda batch, _: found.append(batch.count()))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination(120)
    query.stop()
    return found


@pytest.mark.skipif(pyspark.__version__ < "4.2", reason="Spark 4.1 takes all that is there")
def test_a_batch_takes_no_more_than_the_limits_allow(
    spark: SparkSession, source: Table, tmp_path: Path
) -> None:
    reader = spark.readStream.format(NAME).option("scan.snapshot-id", "1")
    limited = reader.option("read.stream.maxFilesPerTrigger", "6")
    assert batches_of(limited.load(source.path), tmp_path / "files") == [12, 12, 6]
    by_snapshot = reader.option("maxSnapshotsPerTrigger", "1").load(source.path)
    assert batches_of(by_snapshot, tmp_path / "snapshots")[-1] == 6


def test_a_consumer_keeps_its_progress_and_begins_there(
    spark: SparkSession, source: Table, tmp_path: Path
) -> None:
    source._store.consumers.save("c", Consumer(next_snapshot=5))
    reader = spark.readStream.format(NAME).option("consumer-id", "c")
    assert batches_of(reader.load(source.path), tmp_path / "first") == [6]
    source.append([{"id": 1000}])
    assert batches_of(reader.load(source.path), tmp_path / "first") == [1]
    assert source.maintenance.consumers["c"].next_snapshot in {6, 7}


def test_a_stream_may_begin_with_the_state_of_a_snapshot_or_at_a_time(
    spark: SparkSession, source: Table, tmp_path: Path
) -> None:
    reader = spark.readStream.format(NAME)
    full = reader.option("scan.snapshot-id", "2").option("scan.mode", "from-snapshot-full")
    assert sum(batches_of(full.load(source.path), tmp_path / "full")) == 30
    source.append([{"id": 1000}])
    assert batches_of(full.load(source.path), tmp_path / "full") == [1]
    millis = source.snapshots[6].time_millis
    at = spark.readStream.format(NAME).option("scan.timestamp-millis", str(millis))
    assert sum(batches_of(at.load(source.path), tmp_path / "time")) == 1
