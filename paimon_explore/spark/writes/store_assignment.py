"""Store assignment: conversion of Spark values to the types of table columns.

Types follow Spark's rule for INSERT, UPDATE and MERGE (`storeAssignmentPolicy = ANSI`): numbers to
other numbers, all atomic types to strings, dates and timestamps to each other (with and without
time zone by the session's zone); strings to no other type. Values follow the rule of all input
(`write.input.safe_cast`): a value that the cast would change is rejected, where Spark would round
or truncate it or make it null. An explicit CAST in the statement has the semantics of SQL.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.spark_types import spark_type

_TIMES = (st.DateType, st.TimestampType, st.TimestampNTZType)
_SIMPLE = (st.NumericType, st.BooleanType, st.StringType, st.BinaryType, st.TimeType, *_TIMES)
_WHOLE = (st.ByteType, st.ShortType, st.IntegerType, st.LongType)
_EXACT = (*_WHOLE, st.DecimalType)
_FLOATS = (st.FloatType, st.DoubleType)
_BEYOND_LONG = 2.0**63


def assigned(
    df: DataFrame, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
) -> DataFrame:
    """Convert columns by position to the names and types of table columns.

    Args:
        df: rows with as many columns as `fields`.
        fields: the table's columns, in the order of the DataFrame's.
        constants: more columns of one value each.

    Raises:
        InvalidInputError: the number of columns differs, or a type cannot be assigned.
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
    """Cast a column by SQL's store assignment.

    Raises:
        InvalidInputError: the type cannot be assigned to the field's type.
    """
    wanted = spark_type(field.type)
    if _is_same(given, wanted) or isinstance(given, st.NullType):
        return column.cast(wanted) if isinstance(given, st.NullType) else column
    if isinstance(given, _WHOLE) and isinstance(wanted, _WHOLE):
        return column  # the writer casts, and rejects values that do not fit
    if not _is_assignable(given, wanted):
        raise InvalidInputError(
            f"Values of type {given.simpleString()} cannot be stored in column "
            f"{field.name!r} of type "
            f"{wanted.simpleString()}.",
            hint=f"Write CAST(… AS {wanted.simpleString()}) to convert the values.",
        )
    return exact_column(column, given, wanted, field.name)


def exact_column(column: Column, given: st.DataType, wanted: st.DataType, name: str) -> Column:
    """Cast a column to another type; values that would change raise an error.

    Args:
        column: the values.
        given: their type.
        wanted: the target type, to which `given` can be assigned.
        name: the table's column, for the error.
    """
    if _is_same(given, wanted):
        return column
    if isinstance(wanted, st.ArrayType) and isinstance(given, st.ArrayType):
        one, other = given.elementType, wanted.elementType
        return f.transform(column, lambda x: exact_column(x, one, other, f"{name}[]"))
    if isinstance(wanted, st.MapType) and isinstance(given, st.MapType):
        return _exact_map(column, given, wanted, name)
    if isinstance(wanted, st.StructType) and isinstance(given, st.StructType):
        fields = [
            exact_column(
                column.getField(one.name), one.dataType, other.dataType, f"{name}.{other.name}"
            ).alias(other.name)
            for one, other in zip(given.fields, wanted.fields, strict=True)
        ]
        return f.when(column.isNotNull(), f.struct(*fields))
    made = column.cast(wanted)
    same = _unchanged(column, made, given, wanted)
    if same is None:
        return made
    kind = wanted.simpleString()
    message = f.concat(
        f.lit(f"Column '{name}' ({kind}): "),
        column.cast("string"),
        f.lit(
            " cannot be converted without loss. To accept the loss, write "
            f"CAST(… AS {kind}) or ROUND(…)."
        ),
    )
    return f.when(column.isNull() | same, made).otherwise(f.raise_error(message))


def _exact_map(column: Column, given: st.MapType, wanted: st.MapType, name: str) -> Column:
    def key(found: Column, _value: Column) -> Column:
        return exact_column(found, given.keyType, wanted.keyType, f"{name}{{key}}")

    def value(_key: Column, found: Column) -> Column:
        return exact_column(found, given.valueType, wanted.valueType, f"{name}{{value}}")

    return f.transform_values(f.transform_keys(column, key), value)


def _unchanged(
    column: Column, made: Column, given: st.DataType, wanted: st.DataType
) -> Column | None:
    """Return whether the cast keeps a non-null value unchanged; None if it keeps all."""
    is_day = isinstance(wanted, st.DateType) and isinstance(given, _TIMES)
    if is_day or (isinstance(given, st.NumericType) and isinstance(wanted, _EXACT)):
        return made.cast(given) == column
    if not isinstance(given, st.NumericType) or not isinstance(wanted, _FLOATS):
        return None
    if isinstance(given, _WHOLE):
        double = made.cast("double")
        return (double < f.lit(_BEYOND_LONG)) & (double.cast("bigint") == column)
    finite = f.abs(made) < f.lit(float("inf"))
    return finite | f.isnan(made) | (f.abs(column) == f.lit(float("inf")))


def _is_same(given: st.DataType, wanted: st.DataType) -> bool:
    return given.simpleString() == wanted.simpleString()


def _is_assignable(given: st.DataType, wanted: st.DataType) -> bool:  # noqa: PLR0911 - one for each kind of type
    if isinstance(given, st.NullType):
        return True
    if isinstance(wanted, st.ArrayType) and isinstance(given, st.ArrayType):
        return _is_assignable(given.elementType, wanted.elementType)
    if isinstance(wanted, st.MapType) and isinstance(given, st.MapType):
        keys = _is_assignable(given.keyType, wanted.keyType)
        return keys and _is_assignable(given.valueType, wanted.valueType)
    if isinstance(wanted, st.StructType) and isinstance(given, st.StructType):
        return len(given.fields) == len(wanted.fields) and all(
            _is_assignable(one.dataType, other.dataType)
            for one, other in zip(given.fields, wanted.fields, strict=True)
        )
    if _is_same(given, wanted):
        return True
    if isinstance(wanted, st.StringType):
        return isinstance(given, _SIMPLE)
    if isinstance(wanted, st.NumericType):
        return isinstance(given, st.NumericType)
    return isinstance(wanted, _TIMES) and isinstance(given, _TIMES)
