"""Store assignment: conversion of Spark values to the types of table columns.

Values are converted as by CAST, as Paimon's Spark connector does: texts are parsed, fractions
truncated or rounded. In ANSI mode a value that cannot be converted is an error. NULL becomes the
default value of the column.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.sql_statements.parameter_markers import default_text

_WHOLE = (st.ByteType, st.ShortType, st.IntegerType, st.LongType)


def assigned(
    df: DataFrame, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
) -> DataFrame:
    """Convert columns by position to the names and types of table columns.

    Args:
        df: rows with as many columns as `fields`.
        fields: the table's columns, in the order of the DataFrame's.
        constants: more columns of one value each.

    Raises:
        InvalidInputError: the number of columns differs.
    """
    if len(df.columns) != len(fields):
        names = ", ".join(field.name for field in fields)
        raise InvalidInputError(
            f"The query returns {len(df.columns)} columns, but must return {len(fields)}.",
            hint=f"Return a value for each of the columns {names}.",
        )
    positions = df.toDF(*(f"_{at}" for at in range(len(fields))))
    columns = [
        assigned_column(f.col(f"_{at}"), given.dataType, field).alias(field.name)
        for at, (given, field) in enumerate(zip(df.schema.fields, fields, strict=True))
    ]
    more = [
        f.lit(value).cast(spark_type(field.type)).alias(field.name) for field, value in constants
    ]
    return positions.select(*columns, *more)


def assigned_column(column: Column, given: st.DataType, field: DataField) -> Column:
    """Cast a column to that of a table; members of structs by name, else by position."""
    wanted = spark_type(field.type)
    is_whole = isinstance(given, _WHOLE) and isinstance(wanted, _WHOLE)  # checked by the writer
    is_same = given.simpleString() == wanted.simpleString()
    made = column if is_whole or is_same else _ordered(column, given, wanted).cast(wanted)
    if field.default_value is None:
        return made
    return f.coalesce(made, f.expr(default_text(field)).cast(wanted))


def _ordered(column: Column, given: st.DataType, wanted: st.DataType) -> Column:
    """Return a struct whose members have the order of another type, if it has the same names."""
    if not isinstance(given, st.StructType) or not isinstance(wanted, st.StructType):
        return column
    if set(given.names) != set(wanted.names):
        return column
    members = [
        _ordered(column.getField(one.name), given[one.name].dataType, one.dataType).alias(one.name)
        for one in wanted
    ]
    return f.when(column.isNotNull(), f.struct(*members))
