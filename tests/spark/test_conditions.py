"""Predicates that Spark checks on files it reads itself: the same rows as without Spark."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimon_explore.spark.reads.read_table import read
from paimon_explore.table.table import Table
from support import time_conditions
from support.rows import difference
from support.small_tables import new_catalog

COLUMNS = {
    "id": "BIGINT",
    "small": "TINYINT",
    "price": "DECIMAL(10, 2)",
    "name": "STRING",
    "other": "VARCHAR(20)",
    "day": "DATE",
    "good": "BOOLEAN",
    "odd `name`": "INT",
    "ratio": "DOUBLE",
    "code": "CHAR(3)",
}
ROWS: list[dict[str, object]] = [
    {
        "id": 2**62,
        "small": -128,
        "price": Decimal("0.10"),
        "name": "a%b",
        "other": "a%b",
        "day": date(1500, 3, 1),
        "good": True,
        "odd `name`": 1,
        "ratio": float("nan"),
        "code": "ab",
    },
    {
        "id": -1,
        "small": 127,
        "price": Decimal("-99999999.99"),
        "name": "",
        "other": "z",
        "day": date(1582, 10, 20),
        "good": False,
        "odd `name`": 2,
        "ratio": -0.0,
        "code": "abc",
    },
    {
        "id": 7,
        "small": 0,
        "price": Decimal("1.10"),
        "name": "Übergröße 🎈",
        "other": None,
        "day": date(9999, 12, 31),
        "good": None,
        "odd `name`": None,
        "ratio": 0.5,
        "code": "",
    },
    dict.fromkeys(COLUMNS),
]
BY_SPARK = [
    "id = 7",
    "7 < id",
    "id <> 7",
    "id BETWEEN -1 AND 7",
    "id NOT BETWEEN -1 AND 7",
    "id IN (7, -1)",
    "id NOT IN (7, -1)",
    "id <=> 7",
    "NOT id <=> 7",
    "small >= 0",
    "price > 0.1",
    "price = 1.10",
    "name = 'a%b'",
    "name > 'Z'",
    "name >= ''",
    "name = other",
    "name LIKE 'a%'",
    "name LIKE '%🎈'",
    "name LIKE '%ber%'",
    r"name LIKE 'a\%b'",
    "name NOT LIKE 'a%'",
    "day < DATE '1600-01-01'",
    "day >= DATE '2026-02-28'",
    "day = DATE '1582-10-10'",
    "day <> DATE '1582-10-10'",
    "day IN (DATE '1500-03-01', DATE '1582-10-20')",
    "day > DATE '0001-01-01'",
    "good",
    "NOT good",
    "good IS NULL",
    "(good IS TRUE) OR id = 7",
    "other IS NULL AND id IS NOT NULL",
    "(id = 7 OR small < 0) AND NOT (name = '')",
    "`odd ``name``` = 1",
]
BY_PYTHON = [
    "ratio > 0.1",
    "ratio = 0",
    "code = 'ab'",
    "id + 1 = 8",
    "name LIKE '_%b'",
    "upper(name) = 'A%B'",
    "id IN (7, NULL)",
    "id = 7 AND ratio < 1",
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    made = new_catalog(tmp_path_factory.mktemp("conditions")).create_table("db.t", COLUMNS)
    made.append(ROWS)
    made.append(ROWS[:2])
    return made


def is_by_spark(spark: SparkSession, table: Table, where: str) -> bool:
    plan = read(spark, table, where=where)._jdf.queryExecution().optimizedPlan().toString()
    return "MapInArrow" not in str(plan)


@pytest.mark.parametrize("where", [*BY_SPARK, *BY_PYTHON])
def test_spark_checks_what_it_means_the_same_by_and_leaves_the_rest_to_the_reader(
    spark: SparkSession, table: Table, where: str
) -> None:
    assert is_by_spark(spark, table, where) is (where in BY_SPARK)
    found = read(spark, table, where=where).toArrow()
    assert difference(table.scan(where=where).to_arrow(), found) == ""


def test_columns_of_the_condition_need_not_be_wanted(spark: SparkSession, table: Table) -> None:
    found = read(spark, table, ["other", "small"], where="name = 'a%b' AND id > 0")
    assert found.columns == ["other", "small"]
    assert [tuple(row) for row in found.collect()] == [("a%b", -128)] * 2


def test_deleted_rows_stay_away_whoever_checks_the_condition(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = new_catalog(tmp_path).create_table(
        "db.t", {"id": "INT", "v": "INT"}, options={"deletion-vectors.enabled": "true"}
    )
    made.append(
        pa.table({"id": pa.array(range(100), pa.int32()), "v": pa.array([1] * 100, pa.int32())})
    )
    made.append(
        pa.table({"id": pa.array(range(100, 110), pa.int32()), "v": pa.array([1] * 10, pa.int32())})
    )
    made.delete("id < 50")
    found = read(spark, made, where="v = 1 AND id >= 40")
    assert sorted(row.id for row in found.collect()) == list(range(50, 110))


def test_names_that_differ_by_their_case_alone_are_told_apart(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = new_catalog(tmp_path).create_table("db.t", {"a": "INT", "A": "INT"})
    made.append([{"a": 1, "A": 2}, {"a": 2, "A": 1}])
    assert [tuple(row) for row in read(spark, made, where="a = 1").collect()] == [(1, 2)]
    assert [tuple(row) for row in read(spark, made, ["A"], where="a = 1").collect()] == [(2,)]
    assert read(spark, made).count() == 2


def test_functions_of_times_and_texts_mean_what_they_mean_in_spark(spark: SparkSession) -> None:
    columns = "id INT, s STRING, f DOUBLE, ts TIMESTAMP_NTZ, dt DATE"
    rows = [
        tuple(row.get(name) for name in time_conditions.COLUMNS) for row in time_conditions.ROWS
    ]
    frame = spark.createDataFrame(rows, columns).cache()
    cases = time_conditions.CASES
    flags = frame.selectExpr("id", *(f"({case}) AS c{i}" for i, case in enumerate(cases)))
    found = flags.collect()
    theirs = {
        case: [row.id for row in found if row[f"c{number}"]] for number, case in enumerate(cases)
    }
    assert theirs == cases
