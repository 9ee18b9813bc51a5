"""Streams out of and into tables: all rows once, whatever is repeated."""

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from paimon_explore.table.catalog import Catalog
from paimon_explore.table.table import Table

NAME = "paimon_explore"


@pytest.fixture
def source(catalog: Catalog) -> Table:
    """30 rows in five commits."""
    found = catalog.table("demo.orders")
    assert isinstance(found, Table)
    return found


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
    assert isinstance(events, Table)
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
