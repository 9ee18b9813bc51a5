"""Converts values given to update and merge to Spark columns.

A string is an SQL expression, as in `Table.update`; a Spark column is used unchanged, and a term
such as `pe.col("a") + 1` as its SQL text; anything else is a constant, which must fit its column as
any input must.
"""

import datetime as dt

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError
from paimon_explore.maintenance.row_level.assignments import QUOTE_HINT
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.write.input.python_values import constant_column


def value_column(value: object, field: DataField) -> Column:
    """Return a new value as a Spark column.

    Args:
        value: SQL text, a Spark column, a term, or a constant.
        field: the column to set.

    Raises:
        InvalidInputError: text that is not an expression, or a value that does not fit the column.
    """
    if isinstance(value, Column):
        return value
    if isinstance(value, Term):
        return f.expr(to_sql(value.expression))
    if not isinstance(value, str):
        return _literal(value, field)
    try:
        return f.expr(value)
    except ParseException as error:
        msg = f"The new value {value!r} of column {field.name!r} is not an SQL expression."
        raise InvalidInputError(msg, hint=QUOTE_HINT) from error


def _literal(value: object, field: DataField) -> Column:
    """Return a constant as a column, without converting timestamps between time zones."""
    constant_column(value, field)
    if not isinstance(value, dt.datetime):
        return f.lit(value)
    if value.tzinfo is None:
        return f.lit(value.isoformat(sep=" ")).cast("timestamp_ntz")
    return f.lit(value.astimezone(dt.UTC).isoformat(sep=" ")).cast("timestamp")


def value_type(rows: DataFrame, column: Column, value: object, name: str) -> st.DataType:
    """Return the type of a new value.

    Args:
        rows: the rows over which it is evaluated.
        column: the result of `value_column`.
        value: the value given by the user.
        name: the column to set.

    Raises:
        InvalidInputError: it uses unknown columns or functions.
    """
    try:
        return rows.select(column.alias("v")).schema["v"].dataType
    except AnalysisException as error:
        if not isinstance(value, str):
            raise
        reason = str(error).partition(" SQLSTATE")[0]
        msg = f"The new value {value!r} of column {name!r} is invalid: {reason}"
        raise InvalidInputError(msg, hint=QUOTE_HINT) from error
