"""INSERT, UPDATE, DELETE and MERGE on Spark: the tests of all engines, and those of Spark."""

import pytest
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


@pytest.mark.parametrize(
    ("kind", "constants"),
    [
        ("DATE", ("DATE'0001-01-01'", "DATE'1582-10-10'", "'1500-02-28'", "DATE'9999-12-31'")),
        ("TIMESTAMP_NTZ", ("'2024-03-10 02:30:00'", "'0001-01-01 00:00:00'")),
        ("TIMESTAMP_NTZ", ("'1582-10-10 00:00:00.000001'", "TIMESTAMP_NTZ'1969-12-31 00:00:00'")),
        ("TIMESTAMP", ("'2024-01-01 00:00:00'", "'1880-01-01 00:00:00'")),
        ("TIMESTAMP", ("'2024-11-03 01:30:00 America/New_York'", "'1582-10-10 00:00:00'")),
        ("DECIMAL(10, 2)", ("1.5", "-0.01")),
        ("DOUBLE", ("'NaN'", "-0.0")),
        ("STRING", ("'a=b/c%'", "NULL", "' '")),
        ("BOOLEAN", ("true", "NULL")),
    ],
)
def test_the_constants_of_partitions_are_those_of_columns(
    kind: str, constants: tuple[str, ...], run: Sql, rows: Rows
) -> None:
    run(f"CREATE TABLE t (id INT, p {kind}) PARTITIONED BY (p)")
    for number, constant in enumerate(constants):
        run(f"INSERT INTO t PARTITION (p = {constant}) SELECT {number}")
        run(f"INSERT INTO t SELECT {number}, {constant}")
        run(f"INSERT OVERWRITE t PARTITION (p = {constant}) SELECT {number}")
        run(f"INSERT INTO t SELECT {number}, {constant}")
    found = rows("SELECT count(*), count(DISTINCT p) + max(if(p IS NULL, 1, 0)) FROM t GROUP BY id")
    assert found == [(2, 1)] * len(constants)
