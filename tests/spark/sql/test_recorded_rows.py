"""Spark returns the rows that are recorded for SQL without Spark."""

from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.spark.sql_statement import sql
from support.small_tables import new_catalog
from support.sql_cases import other_results


def test_recorded_rows_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)

    def run(text: str) -> pa.Table:
        return sql(spark, text, catalog=catalog, database="db").toArrow()

    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        assert other_results(run, (pe.PaimonError, PySparkException), 10) == {}
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")
