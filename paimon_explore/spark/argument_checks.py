"""Checks of arguments passed to `pe.spark`: sessions and DataFrames."""

from pyspark.sql import DataFrame, SparkSession

from paimon_explore.arguments import instance
from paimon_explore.errors import InvalidInputError


def check_session(spark: object) -> None:
    """Check that a value is a SparkSession.

    Raises:
        InvalidInputError: it is not.
    """
    hint = "pe.spark.session() starts one."
    instance("spark", spark, SparkSession, "a SparkSession", hint=hint)


def check_one_place(warehouse: object, catalog: object) -> None:
    """Check that not both a warehouse and a catalog are given.

    Raises:
        InvalidInputError: they are.
    """
    if warehouse is not None and catalog is not None:
        raise InvalidInputError(
            "The arguments warehouse and catalog cannot be combined.", hint="Pass one of them."
        )


def check_frame(df: object) -> None:
    """Check that a value is a Spark DataFrame.

    Raises:
        InvalidInputError: it is not.
    """
    hint = "Use Table.append() or Table.upsert() to write other data."
    instance("df", df, DataFrame, "a Spark DataFrame", hint=hint)
