"""Converts values given to update and merge to Spark columns.

A string is an SQL expression, as in `Table.update`; a Spark column is used unchanged, and a term
such as `pe.col("a") + 1` as its SQL text; anything else is a constant, which must fit its column as
any input must.

An assignment sets a column or a member of a struct column: `SET s.a = 1`. Other members do not
change. A null struct becomes one with the new value and nulls in its other members, as in Spark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import QUOTE_HINT, Path, check_paths, path_of
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.spark.writes.store_assignment import assigned_column, constant
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.write.input.python_values import constant_column


def _value_column(value: object, field: DataField) -> Column:
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
        constant_column(value, field)
        return constant(value)
    try:
        return f.expr(value)
    except ParseException as error:
        msg = f"The new value {value!r} of column {field.name!r} is not an SQL expression."
        raise InvalidInputError(msg, hint=QUOTE_HINT) from error


def _value_type(rows: DataFrame, column: Column, value: object, name: str) -> st.DataType:
    """Return the type of a new value.

    Args:
        rows: the rows over which it is evaluated.
        column: the result of `_value_column`.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A column, or a member of one, that an assignment sets.

    Attributes:
        key: its name as given.
        path: names of the members inside the column; empty for the column itself.
        field: the column or member, with its full name.
    """

    key: str
    path: Path
    field: DataField


def targets_by_column(names: Iterable[str], row_type: RowType) -> dict[str, list[Target]]:
    """Return the targets of assignments by column.

    Args:
        names: names of columns, or dotted paths of members.
        row_type: the table's columns.

    Raises:
        InvalidInputError: a column or member is unknown, or set twice.
    """
    found: dict[str, list[Target]] = {}
    paths = []
    for name in names:
        fields = path_of(name, row_type)
        paths.append(tuple(field.name for field in fields))
        full = replace(fields[-1], name=".".join(paths[-1]))
        target = Target(key=name, path=paths[-1][1:], field=full)
        found.setdefault(fields[0].name, []).append(target)
    check_paths(paths)
    return found


def new_column(
    rows: DataFrame,
    old: Column,
    field: DataField,
    targets: Sequence[Target],
    values: Mapping[str, object],
) -> Column:
    """Return the new value of a column.

    Args:
        rows: the rows over which new values are evaluated.
        old: its old value.
        field: the column.
        targets: what is assigned to it.
        values: the new values by their names as given.
    """
    new = {}
    for target in targets:
        value = values[target.key]
        given = _value_column(value, target.field)
        kind = _value_type(rows, given, value, target.field.name)
        new[target.path] = assigned_column(given, kind, target.field)
    return new[()] if () in new else _with_members(old, field.type, new)


def updated_columns(
    rows: DataFrame, row_type: RowType, values: Mapping[str, object]
) -> list[Column]:
    """Return the columns of updated rows.

    Args:
        rows: the rows to update, and what the new values read.
        row_type: the table's columns.
        values: the new values by name of a column or member.
    """
    assigned = targets_by_column(values, row_type)
    columns = []
    for field in row_type:
        column = f.col(quoted(field.name))
        if field.name in assigned:
            column = new_column(rows, column, field, assigned[field.name], values)
        columns.append(column.alias(field.name))
    return columns


def _with_members(old: Column, kind: DataType, new: Mapping[Path, Column]) -> Column:
    assert isinstance(kind, RowType)  # noqa: S101 - it has members
    members = []
    for field in kind:
        member = old.getField(field.name)
        below = {path[1:]: value for path, value in new.items() if path[0] == field.name}
        if () in below:
            member = below[()]
        elif below:
            member = _with_members(member, field.type, below)
        members.append(member.alias(field.name))
    return f.struct(*members)
