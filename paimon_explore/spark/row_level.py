"""`pe.spark.delete` and `pe.spark.update`: rows changed by the tasks, in one commit.

Spark refuses DELETE and UPDATE for Python sources. Rows that others write meanwhile are not seen;
in a table with a primary key, of a row that both write the later commit counts.
"""

from collections.abc import Mapping
from os import PathLike

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.sql import Where, predicate
from paimon_explore.scan.sql_text import to_sql
from paimon_explore.spark.assign import assigned_column
from paimon_explore.spark.changes import ACT, DELETE, UPDATE, ChangeTarget, change_target
from paimon_explore.spark.names import quoted
from paimon_explore.table.table import Table, open_table


def delete(
    spark: SparkSession, table: Table | str | PathLike[str], where: Where | Column
) -> Snapshot | None:
    """Delete the rows that a predicate is true of, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        where: SQL text or `pe.col("a") > 3`, by which files are left out; or any condition of
            Spark, for which all files are read.

    Returns:
        The snapshot; None if no row was deleted.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed on Spark.
        InvalidInputError: a predicate that cannot be understood, or the table takes no deletes.
        CommitConflictError: others have replaced the files of a row meanwhile.
    """
    opened = table if isinstance(table, Table) else open_table(table)
    target, condition = _target(spark, opened, where)
    target.check_delete()
    return target.apply(target.rows.filter(condition).withColumn(ACT, f.lit(DELETE)))


def update(
    spark: SparkSession,
    table: Table | str | PathLike[str],
    values: Mapping[str, object],
    where: Where | Column | None = None,
) -> Snapshot | None:
    """Change columns of rows, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        values: the new value of each changed column: a Spark column over the old row, or a value.
        where: rows to change, as for `delete`; None for all.

    Returns:
        The snapshot; None if no row was changed.

    Raises:
        UnsupportedFeatureError: rows of the table cannot be changed on Spark, or a merge engine
            that combines values.
        InvalidInputError: an unknown, key or partition column, or a wrong predicate.
        CommitConflictError: others have replaced the files of a row meanwhile.
    """
    opened = table if isinstance(table, Table) else open_table(table)
    target, condition = _target(spark, opened, where)
    target.check_update(values)
    old = target.rows.filter(condition)
    given = {name: _value(value) for name, value in values.items()}
    types = old.select([column.alias(name) for name, column in given.items()]).schema
    columns = [
        assigned_column(given[field.name], types[field.name].dataType, field).alias(field.name)
        if field.name in given
        else f.col(quoted(field.name))
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


def _value(value: object) -> Column:
    return value if isinstance(value, Column) else f.lit(value)
