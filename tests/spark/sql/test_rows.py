"""INSERT, UPDATE, DELETE and MERGE on Spark: the tests of all engines, and those of Spark."""

from pyspark.sql import SparkSession

from support.spark_sql import Rows, Sql
from support.sql_row_tests import *  # noqa: F403 - the tests of all engines
from support.sql_row_tests import STATE, created


def test_inserts_go_by_place_by_name_and_into_partitions(
    run: Sql, rows: Rows, spark: SparkSession
) -> None:
    created(run, "append")
    run("INSERT INTO t (dt, id) VALUES ('d5', 5)")
    run("INSERT INTO t PARTITION (dt = 'd6') SELECT id, 'six' FROM range(6, 7)")
    run("INSERT INTO t BY NAME SELECT 'd7' AS DT, 7 AS id")
    run("WITH c AS (SELECT 8 AS id) INSERT INTO t SELECT id, 'eight', 'd8' FROM c")
    assert rows("SELECT id, name, dt FROM t WHERE id > 4 ORDER BY id") == [
        *((5, None, "d5"), (6, "six", "d6")),
        *((7, None, "d7"), (8, "eight", "d8")),
    ]
    run("INSERT OVERWRITE t PARTITION (dt = 'd1') (id) VALUES (100)")
    assert rows("SELECT id FROM t WHERE dt = 'd1'") == [(100,)]
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        run("INSERT OVERWRITE t SELECT 200, 'x', 'd2'")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows("SELECT count(*), max(id) FROM t") == [(6, 200)]
    run("INSERT OVERWRITE t SELECT 1, 'only', 'd1'")
    assert rows(STATE) == [(1, "only", "d1")]
    run("TRUNCATE TABLE t PARTITION (dt = 'd1')")
    assert rows("SELECT count(*) FROM t") == [(0,)]
