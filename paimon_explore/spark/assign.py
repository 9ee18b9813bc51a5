"""Values of Spark on their way into columns of a table: what SQL assigns, and what it refuses.

Spark's rule for INSERT, UPDATE and MERGE (`storeAssignmentPolicy = ANSI`): numbers become other
numbers if they fit, everything simple becomes text, dates and timestamps become each other; a text
becomes nothing else. Values that do not fit are refused, never cut or made null.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.schema import spark_type
from paimon_explore.types.data_types import DataField

_TIMES = (st.DateType, st.TimestampType, st.TimestampNTZType)
_SIMPLE = (st.NumericType, st.BooleanType, st.StringType, st.BinaryType, st.TimeType, *_TIMES)
_WHOLE = (st.ByteType, st.ShortType, st.IntegerType, st.LongType)


def assigned(
    df: DataFrame, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
) -> DataFrame:
    """The rows under the names of table columns, by position, each of the column's type.

    Args:
        df: rows with as many columns as `fields`.
        fields: the table's columns, in the order of the DataFrame's.
        constants: more columns of one value each.

    Raises:
        InvalidInputError: another number of columns, or a type that is not assigned to a column's.
    """
    if len(df.columns) != len(fields):
        names = ", ".join(field.name for field in fields)
        raise InvalidInputError(
            f"The query gives {len(df.columns)} columns, but {len(fields)} are written.",
            hint=f"The columns are: {names}.",
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
    """A column cast as SQL assigns it.

    Raises:
        InvalidInputError: the type is not assigned to the field's.
    """
    wanted = spark_type(field.type)
    if _is_same(given, wanted) or isinstance(given, st.NullType):
        return column.cast(wanted) if isinstance(given, st.NullType) else column
    if isinstance(given, _WHOLE) and isinstance(wanted, _WHOLE):
        return column  # the writer casts, and refuses what does not fit
    if not _is_assignable(given, wanted):
        raise InvalidInputError(
            f"Column {field.name!r} is {wanted.simpleString()}, and no "
            f"{given.simpleString()} is written into it.",
            hint=f"Write CAST(… AS {wanted.simpleString()}) if that is meant.",
        )
    return column.cast(wanted)


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
