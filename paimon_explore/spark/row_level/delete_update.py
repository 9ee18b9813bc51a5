"""`pe.spark.delete` and `pe.spark.update`: change rows in Spark tasks, with one commit.

Spark does not support DELETE and UPDATE for Python sources. Concurrently written rows are not seen;
in a table with a primary key the later commit wins if both write a row.
"""

from collections.abc import Mapping
from os import PathLike

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from paimon_explore.arguments import mapping
from paimon_explore.commit.planned_again import repeated
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.reads.special_reads import where_text
from paimon_explore.spark.row_level.assigned_values import (
    updated_columns,
)
from paimon_explore.spark.row_level.row_change_job import (
    ACT,
    DELETE,
    UPDATE,
    ChangeTarget,
    change_target,
)
from paimon_explore.spark.row_level.row_tracking_write import delete_here, has_row_ids, update_here
from paimon_explore.table.table import Table, open_table


def delete(
    spark: SparkSession, table: Table | str | PathLike[str], where: Where | Column
) -> Snapshot | None:
    """Delete the rows that match a predicate, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        where: SQL text or `pe.col("a") > 3`, which also prunes files; or any Spark condition,
            which reads all files. None is rejected.

    Returns:
        The snapshot; None if no row was deleted.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed with Spark.
        InvalidInputError: an invalid predicate, or a table that does not accept deletes.
        CommitConflictError: concurrent commits replaced the files of a row in each of several
            attempts.
    """
    check_session(spark)
    if where is None:
        raise InvalidInputError(
            "delete() requires a condition, but where is None.",
            hint="Call Table.truncate() to delete all rows.",
        )
    opened = table if isinstance(table, Table) else open_table(table)
    if has_row_ids(opened):
        return delete_here(opened, where)

    def attempt(_: int) -> Snapshot | None:
        target, condition = _target(spark, opened, where)
        target.check_delete()
        return target.apply(target.rows.filter(condition).withColumn(ACT, f.lit(DELETE)))

    return repeated(opened.options, attempt)


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
        set: the new values by column, or member of a struct (`address.city`), as for
            `Table.update`: a string is an SQL expression over the old row, as is a Spark column
            or a term such as `pe.col("a") + 1`; anything else is a constant. Quote string
            constants: `{"city": "'Rome'"}`.
        where: rows to change, as for `delete`; all rows if omitted. None is rejected.

    Returns:
        The snapshot; None if no row was changed.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed with Spark, or its merge engine
            combines values.
        InvalidInputError: an unknown, key or partition column, or an invalid predicate.
        CommitConflictError: concurrent commits replaced the files of a row in each of several
            attempts.
    """
    check_session(spark)
    mapping("set", set, hint="Map each column name to its new value.")
    refuse_none(where, "where", "Omit where to update all rows.")
    stated = None if where is NOT_GIVEN else where
    opened = table if isinstance(table, Table) else open_table(table)
    if has_row_ids(opened):
        return update_here(opened, set, stated)

    def attempt(_: int) -> Snapshot | None:
        target, condition = _target(spark, opened, stated)
        target.check_update(set)
        old = target.rows.filter(condition)
        columns = updated_columns(old, target.schema.row_type, set)
        return target.apply(old.select(*columns, *target.place, f.lit(UPDATE).alias(ACT)))

    return repeated(opened.options, attempt)


def _target(
    spark: SparkSession, table: Table, where: Where | Column | None
) -> tuple[ChangeTarget, Column]:
    """Return the table, and the Spark condition for the rows to change."""
    if isinstance(where, Column):
        return change_target(spark, table), where
    target = change_target(spark, table, where)
    if where is None or target.placed is None:  # the read has left the others out
        return target, f.lit(True)  # noqa: FBT003 - a column
    return target, f.expr(where_text(where))
