"""Store assignment: conversion of Spark values to the types of table columns.

Values are converted as by CAST, as Paimon's Spark connector does: texts are parsed, fractions
truncated or rounded. In ANSI mode a value that cannot be converted is an error. NULL becomes the
default value of the column. CHAR columns are padded with spaces when SQL stores and reads them.
"""

import datetime as dt
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    TEXTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.sql_statements.parameter_markers import default_text
from paimon_explore.sql_statements.quoted_names import quoted

_KIND = "__CHAR_VARCHAR_TYPE_STRING"
"""The key by which Spark marks a column as CHAR."""
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
        fitted(assigned_column(f.col(f"_{at}"), given.dataType, field), field.type).alias(
            field.name
        )
        for at, (given, field) in enumerate(zip(df.schema.fields, fields, strict=True))
    ]
    more = [_stored_constant(value, field).alias(field.name) for field, value in constants]
    return positions.select(*columns, *more)


def _stored_constant(value: object, field: DataField) -> Column:
    if isinstance(value, dt.datetime) and is_root(field.type, TypeRoot.TIMESTAMP_LTZ):
        value = value.astimezone(dt.UTC)  # PySpark returns the time of this process
    return constant(value).cast(spark_type(field.type))


def constant(value: object) -> Column:
    """Return a constant as a column.

    Spark takes dates and times of Python through the time zone of the session, and the calendar of
    old Java, which has no days from 1582-10-05 to 14.
    """
    match value:
        case dt.datetime(tzinfo=None):
            return f.lit(value.isoformat(sep=" ")).cast("timestamp_ntz")
        case dt.datetime():
            return f.lit(value.astimezone(dt.UTC).isoformat(sep=" ")).cast("timestamp")
        case dt.date():
            return f.lit(value.isoformat()).cast("date")
        case _:
            return f.lit(value)


def assigned_column(column: Column, given: st.DataType, field: DataField) -> Column:
    """Cast a column to that of a table; members of structs by name, else by position."""
    wanted = spark_type(field.type)
    is_whole = isinstance(given, _WHOLE) and isinstance(wanted, _WHOLE)  # checked by the writer
    is_same = given.simpleString() == wanted.simpleString()
    made = column if is_whole or is_same else _ordered(column, given, wanted).cast(wanted)
    if field.default_value is None:
        return made
    return f.coalesce(made, f.expr(default_text(field)).cast(wanted))


def fitted(text: Column, kind: DataType) -> Column:
    """Return texts as Spark SQL stores them: without spaces beyond the length, CHAR padded."""
    if not any(map(_is_sized, parts(kind))):
        return text
    match kind:
        case RowType():
            members = [fitted(text.getField(o.name), o.type).alias(o.name) for o in kind]
            return f.when(text.isNotNull(), f.struct(*members))
        case ArrayType(element=element):
            return f.transform(text, lambda one: fitted(one, element))
        case MapType(key=key, value=value):
            keys = f.transform_keys(text, lambda one, _: fitted(one, key))
            return f.transform_values(keys, lambda _, one: fitted(one, value))
        case AtomicType(length=int()):
            return _fitted_text(text, kind)
        case _:
            return text


def _is_sized(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in TEXTS and kind.length != MAX_LENGTH


def _fitted_text(text: Column, kind: AtomicType) -> Column:
    length = kind.length or 1
    bare = f.rtrim(text)
    if kind.root is TypeRoot.CHAR:
        return _padded(bare, length)
    is_long = (f.length(text) > length) & (f.length(bare) <= length)
    return f.when(is_long, f.left(text, f.lit(length))).otherwise(text)


def _padded(text: Column, length: int) -> Column:
    return f.rpad(text, f.greatest(f.lit(length), f.length(text)), f.lit(" "))


def char_lengths(fields: Sequence[DataField]) -> dict[str, int]:
    """Return the lengths of the CHAR columns by name."""
    return {
        one.name: one.type.length or 1
        for one in fields
        if isinstance(one.type, AtomicType) and one.type.root is TypeRoot.CHAR
    }


def with_padded_chars(df: DataFrame, fields: Sequence[DataField]) -> DataFrame:
    """Return rows whose CHAR columns are padded and marked, as those of Spark's own tables.

    Spark pads the constants with which it compares marked columns. Flink and Python store the
    values as given.

    Args:
        df: rows of a table.
        fields: the table's columns.
    """
    lengths = char_lengths(fields)
    if lengths.keys().isdisjoint(df.columns):
        return df
    columns = []
    for one in df.schema.fields:
        column = f.col(quoted(one.name))
        if one.name in lengths:
            length = lengths[one.name]
            metadata = {**one.metadata, _KIND: f"char({length})"}
            column = _padded(column, length).alias(one.name, metadata=metadata)
        columns.append(column)
    return df.select(*columns)


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
