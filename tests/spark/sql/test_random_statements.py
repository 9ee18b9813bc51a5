"""Random SELECT statements return the same rows with and without Spark.

A deep run (`HYPOTHESIS_PROFILE=deep`) has more statements, and `SQL_SEED` other ones:

    SQL_SEED=7 HYPOTHESIS_PROFILE=deep pytest tests/spark/sql/test_random_statements.py
"""

import os
from collections.abc import Callable

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import paimon_explore as pe
from support.depth import DEEP
from support.random_sql import RandomSql, rows
from support.sql_cases import shown

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # compiling takes longer than a few rows
}


def test_random_statements_return_the_rows_of_spark(spark: SparkSession) -> None:
    data = rows()
    statements = RandomSql(int(os.environ.get("SQL_SEED", "1"))).statements(2000 if DEEP else 60)
    before = {key: str(spark.conf.get(key)) for key in _SETTINGS}
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    try:
        frame = spark.createDataFrame(data)
        frame.selectExpr("* EXCEPT (n)", "CAST(n AS TIMESTAMP_NTZ) n").createOrReplaceTempView("t")
        both = [
            (text, _rows(_of_spark(spark), text), _rows(_ours(data), text)) for text in statements
        ]
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
    assert sum(expected is not None for _, expected, _ in both) > len(both) // 2
    assert [one for one in both if one[1] not in (None, one[2])] == []


def _of_spark(spark: SparkSession) -> Callable[[str], pa.Table]:
    return lambda text: spark.sql(text).toArrow()


def _ours(data: pa.Table) -> Callable[[str], pa.Table]:
    return lambda text: pe.sql(text, t=data).to_arrow()


def _rows(run: Callable[[str], pa.Table], text: str) -> list[list[object]] | None:
    """Return the rows; None for an error, as of a value that is out of range."""
    try:
        return shown(run(text))
    except (PySparkException, pe.PaimonError):
        return None
