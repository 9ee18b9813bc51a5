"""Matches the columns of a Spark DataFrame with those of a table by name.

Spark does not check the columns of a path write. So names and types are checked on the driver
before a task starts; values are checked when they are written.
"""

import re

import pyarrow as pa
from pyspark.sql.types import StructType

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.spark.spark_types import from_spark, wire_schema
from paimon_explore.write.input.arrow_cast import conform
from paimon_explore.write.input.row_kinds import ROW_KIND

_OF_VALUES = re.compile(r"col[1-9][0-9]*")


def matched_columns(schema: StructType, table: TableSchema) -> tuple[str, ...]:
    """Return the table's column for each column of a DataFrame.

    Names match regardless of case, as in Spark. Columns named `col1`, `col2`, … (SQL's VALUES) are
    matched by position. A primary-key table also accepts `_ROW_KIND`.

    Raises:
        InvalidInputError: an unknown column, two columns for one of the table, a missing column
            that requires a value, or a type that cannot be cast.
    """
    extra = (ROW_KIND,) if table.primary_keys else ()
    names = tuple(_match(name, (*table.row_type.names, *extra)) for name in _given(schema, table))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInputError(
            f"Two columns of the DataFrame match column {twice[0]!r} of the table.",
            hint="Rename or drop one of them.",
        )
    for field in table.fields:
        if field.name not in names and not field.type.nullable and field.default_value is None:
            raise InvalidInputError(
                f"Column {field.name!r} is missing, but the column is NOT NULL and has no "
                "default value.",
                hint="Add the column to the DataFrame.",
            )
    _check_types(schema, names, table)
    return names


def _given(schema: StructType, table: TableSchema) -> list[str]:
    names = schema.fieldNames()
    columns = list(table.row_type.names)
    if len(names) == len(columns) and all(map(_OF_VALUES.fullmatch, names)):
        return names if set(names) <= set(columns) else columns
    return names


def _match(name: str, known: tuple[str, ...]) -> str:
    if name in known:
        return name
    alike = [other for other in known if other.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    msg = f"The table has no column {name!r}."
    raise InvalidInputError(msg, hint=f"Available columns: {choices(known)}.")


def _check_types(schema: StructType, names: tuple[str, ...], table: TableSchema) -> None:
    nothing = from_spark(pa.RecordBatch.from_pylist([], schema=wire_schema(schema)), names)
    for name, column, field in zip(names, nothing.columns, schema.fields, strict=True):
        target = table.row_type.field(name)
        if (
            target is not None
            and pa.types.is_null(column.type)
            and field.dataType.typeName() != "void"
        ):
            kind = field.dataType.simpleString()
            raise InvalidInputError(
                f"Column {name!r} has type {kind}, which Paimon does not support.",
                hint="Cast the column to another type first.",
            )
        if target is not None:
            conform(column, target.type, where=name)
