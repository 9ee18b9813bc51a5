"""Tables whose key does not hold the partition: a key lives in one partition at a time."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.table.table import Table
from support.small_tables import new_catalog


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Without rows."""
    columns = {"p": "STRING", "k": "INT NOT NULL", "v": "STRING"}
    options = {"dynamic-bucket.target-row-num": "100"}
    return new_catalog(tmp_path).create_table(
        "db.t", columns, primary_key=["k"], partition_by="p", options=options
    )


def found(table: Table) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in table.to_arrow().sort_by("k").to_pylist()]


def test_a_key_that_comes_with_another_partition_moves_there(
    spark: SparkSession, table: Table
) -> None:
    keys = spark.range(0, 400, 1, 4)
    first = keys.selectExpr("concat('p', id % 3) AS p", "int(id) AS k", "'old' AS v")
    pe.spark.write(first, table, "upsert")
    assert table.inspect.files().num_rows > 3
    moved = keys.filter("id % 2 = 0").selectExpr("'p9' AS p", "int(id) AS k", "'new' AS v")
    pe.spark.write(moved, table, "upsert")
    expected = [("p9", k, "new") if k % 2 == 0 else (f"p{k % 3}", k, "old") for k in range(400)]
    assert found(table) == expected
    assert pe.spark.read(spark, table).filter("p = 'p9'").count() == 200
    assert table.maintenance.fsck(read_rows=True) == []
    assert table.maintenance.remove_orphan_files(older_than="2999-01-01").files == ()


def test_all_rows_may_be_overwritten_but_no_single_partition(
    spark: SparkSession, table: Table
) -> None:
    rows = spark.sql("SELECT 'a' AS p, 1 AS k, 'x' AS v UNION ALL SELECT 'b', 2, 'y'")
    pe.spark.write(rows, table, "upsert")
    one = spark.sql("SELECT 'b' AS p, 1 AS k, 'z' AS v")
    with pytest.raises(UnsupportedFeatureError, match="may be in another partition"):
        pe.spark.write(one, table, "overwrite", partition={"p": "b"})
    with pytest.raises(UnsupportedFeatureError, match="may be in another partition"):
        pe.spark.write(one, table, "overwrite")
    whole = {"dynamic-partition-overwrite": "false"}
    pe.spark.write(one, table.path, "overwrite", options=whole)
    assert found(table) == [("b", 1, "z")]
