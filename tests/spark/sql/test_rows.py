"""INSERT, UPDATE, DELETE and MERGE on Spark: the tests of all engines, and those of Spark."""

from datetime import date
from decimal import Decimal

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimon_explore.errors import InvalidInputError
from support.depth import some
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


MERGE = "MERGE INTO v USING (VALUES (1, 2.5D), (7, 2.5D)) s(id, n) ON v.i = s.id"
CHANGED = [
    ("INSERT INTO v (i) VALUES (1.5)", "Column 'i' .int.: 1.5 cannot be"),
    ("INSERT INTO v (i) VALUES (1.5e0D)", "Column 'i' .int.: 1.5 cannot be"),
    ("INSERT INTO v (i) VALUES (3000000000)", "3000000000|out of range|overflow"),
    ("INSERT INTO v (f) VALUES (1e300D)", "Column 'f' .float.: 1.0E300 cannot be"),
    ("INSERT INTO v (f) VALUES (16777217)", "Column 'f' .float.: 16777217 cannot be"),
    ("INSERT INTO v (d) VALUES (9223372036854775807L)", "9223372036854775807|overflow"),
    ("INSERT INTO v (m) VALUES (1.555)", "Column 'm' .decimal.10,2..: 1.555 cannot be"),
    ("INSERT INTO v (m) VALUES (0.1D + 0.2D)", "0.30000000000000004 cannot be"),
    ("INSERT INTO v (day) VALUES (TIMESTAMP_NTZ '2026-01-01 10:00:00')", "'day' .date.: 2026"),
    ("INSERT INTO v (l) VALUES (array(1, 2.5))", "Column 'l..' .int.: 2.5 cannot be"),
    ("INSERT INTO v (r) VALUES (named_struct('x', 1.5))", "Column 'r.x' .int.: 1.5 cannot be"),
    ("INSERT INTO v (p) VALUES (map('a', 1.5))", "Column 'p.value.' .int.: 1.5 cannot be"),
    ("UPDATE v SET i = i * 1.5", "Column 'i' .int.: 1.5 cannot be"),
    ("UPDATE v SET m = m / 3", "Column 'm' .decimal.10,2.*cannot be"),
    (f"{MERGE} WHEN MATCHED THEN UPDATE SET i = s.n", "Column 'i' .int.: 2.5 cannot be"),
    (f"{MERGE} WHEN NOT MATCHED THEN INSERT (i) VALUES (s.n)", "Column 'i' .int.: 2.5 cannot be"),  # noqa: S608 - fixed texts
]
KEPT = [
    ("i", "CAST(2.9 AS INT)", 2),
    ("f", "16777216", 16777216.0),
    ("d", "4611686018427387904L", 2.0**62),
    ("e", "0.1", 0.1),
    ("m", "0.1D", Decimal("0.10")),
    ("n", "ROUND(1.555, 2)", Decimal("1.56")),
    ("day", "TIMESTAMP_NTZ '2026-01-01 00:00:00'", date(2026, 1, 1)),
    ("l", "array(1, 2.0)", [1, 2]),
    ("r", "named_struct('x', 2D)", (2,)),
    ("p", "map('a', 2BD)", {"a": 2}),
    ("s", "12", "12"),
]


def test_implicit_casts_keep_the_value_or_are_refused(run: Sql, rows: Rows) -> None:
    run(
        "CREATE TABLE v (i INT, f FLOAT, d DOUBLE, e DOUBLE, m DECIMAL(10, 2), n DECIMAL(10, 2), "
        "day DATE, l ARRAY<INT>, r STRUCT<x: INT>, p MAP<STRING, INT>, s STRING)"
    )
    run("INSERT INTO v (i, m) VALUES (1, 1)")
    for text, message in some(CHANGED, 3):
        with pytest.raises((PySparkException, InvalidInputError), match=message):
            run(text)
    assert rows("SELECT i, m FROM v") == [(1, Decimal("1.00"))]
    run("UPDATE v SET " + ", ".join(f"{column} = {text}" for column, text, _ in KEPT))  # noqa: S608 - fixed texts
    assert rows("SELECT * FROM v") == [tuple(value for _, _, value in KEPT)]


def test_a_value_of_another_type_is_refused_before_a_row_is_read(run: Sql) -> None:
    created(run, "keyed")
    with pytest.raises(InvalidInputError, match="string cannot be stored in column 'id' of type b"):
        run("INSERT INTO t VALUES ('one', 'a', 'b')")
