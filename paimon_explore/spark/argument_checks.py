"""Checks of what callers pass to `pe.spark`: sessions and DataFrames."""

from pyspark.sql import DataFrame, SparkSession

from paimon_explore.arguments import instance


def check_session(spark: object) -> None:
    """Refuse what is not a session.

    Raises:
        InvalidInputError: it is something else.
    """
    hint = "pe.spark.session() starts one."
    instance("spark", spark, SparkSession, "a SparkSession", hint=hint)


def check_frame(df: object) -> None:
    """Refuse what is not a DataFrame of Spark.

    Raises:
        InvalidInputError: it is something else.
    """
    hint = "Other rows are written by Table.append() and Table.upsert()."
    instance("df", df, DataFrame, "a DataFrame of Spark", hint=hint)
