"""`pe.spark.delete` and `pe.spark.update`: rows changed by the tasks, in one commit.

Spark refuses DELETE and UPDATE for Python sources. Rows that others write meanwhile are not seen;
in a table with a primary key, of a row that both write the later commit counts.
"""

from collections.abc import Mapping
from os import PathLike

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.arguments import mapping
from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.quoted_names import quoted
from paimon_explore.spark.row_level.row_change_tasks import (
    ACT,
    DELETE,
    UPDATE,
    ChangeTarget,
    change_target,
)
from paimon_explore.spark.row_level.row_tracking_write import delete_here, has_row_ids, update_here
from paimon_explore.spark.row_level.value_columns import value_column, value_type
from paimon_explore.spark.writes.store_assignment import assigned_column
from paimon_explore.table.table import Table, open_table


def delete(
    spark: SparkSession, table: Table | str | PathLike[str], where: Where | Column
) -> Snapshot | None:
    """Delete the rows that a predicate is true of, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        where: SQL text or `pe.col("a") > 3`, by which files are left out; or any condition of
            Spark, for which all files are read. None is refused.

    Returns:
        The snapshot; None if no row was deleted.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed on Spark.
        InvalidInputError: a predicate that cannot be understood, or the table takes no deletes.
        CommitConflictError: others have replaced the files of a row meanwhile.
    """
    check_session(spark)
    if where is None:
        raise InvalidInputError(
            "delete needs a condition: where is None, which does not select all rows.",
            hint="Table.truncate() removes all rows.",
        )
    opened = table if isinstance(table, Table) else open_table(table)
    if has_row_ids(opened):
        return delete_here(opened, where)
    target, condition = _target(spark, opened, where)
    target.check_delete()
    return target.apply(target.rows.filter(condition).withColumn(ACT, f.lit(DELETE)))


def update(
    spark: SparkSession,
    table: Table | str | PathLike[str],
    set: Mapping[str, object],  # noqa: A002 - as Table.update calls it
    where: Where | Column | NotGiven = NOT_GIVEN,
) -> Snapshot | None:
    """Change columns of rows, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        set: the new values by column, as for `Table.update`: a text is an SQL expression over the
            row as it was, so is a Spark column or a term such as `pe.col("a") + 1`; anything else
            is the value itself. A text as a value is written in quotes, `{"city": "'Rome'"}`.
        where: rows to change, as for `delete`; all if it is left out. None is refused.

    Returns:
        The snapshot; None if no row was changed.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed on Spark, or a merge engine
            that combines values.
        InvalidInputError: an unknown, key or partition column, or a wrong predicate.
        CommitConflictError: others have replaced the files of a row meanwhile.
    """
    check_session(spark)
    mapping("set", set, hint='Pass the new values by column: {"qty": "qty + 1"}.')
    refuse_none(where, "where", "Leave where out to update all rows.")
    stated = None if where is NOT_GIVEN else where
    opened = table if isinstance(table, Table) else open_table(table)
    if has_row_ids(opened):
        return update_here(opened, set, stated)
    target, condition = _target(spark, opened, stated)
    target.check_update(set)
    old = target.rows.filter(condition)
    columns = [
        _assigned(old, set[field.name], field) if field.name in set else f.col(quoted(field.name))
        for field in target.schema.fields
    ]
    places = [f.col(name) for name in target.place]
    return target.apply(old.select(*columns, *places, f.lit(UPDATE).alias(ACT)))


def _target(
    spark: SparkSession, table: Table, where: Where | Column | None
) -> tuple[ChangeTarget, Column]:
    """The table, and Spark's condition for the rows to change."""
    if isinstance(where, Column):
        return change_target(spark, table), where
    target = change_target(spark, table, where)
    if where is None:
        return target, f.lit(True)  # noqa: FBT003 - a column
    if target.placed is None:
        return target, f.lit(True)  # noqa: FBT003 - the read has left the others out
    text = where if isinstance(where, str) else to_sql(predicate(where))
    return target, f.expr(text)


def _assigned(old: DataFrame, value: object, field: DataField) -> Column:
    column = value_column(value, field)
    kind = value_type(old, column, value, field.name)
    return assigned_column(column, kind, field).alias(field.name)
