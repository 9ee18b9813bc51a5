"""`pe.spark.delete` and `pe.spark.update`: rows of a primary-key table changed by the tasks.

Spark refuses DELETE and UPDATE for Python sources. Here the rows are read with the predicate, and
written back: as `-D` records, or with their new values. Rows that others write meanwhile are not
seen; for a row that both write, the later commit wins.
"""

from collections.abc import Mapping
from os import PathLike

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metadata.option_choices import MergeEngine
from paimon_explore.metadata.options import MERGE_ENGINE
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.spark.read import read
from paimon_explore.spark.schema import spark_type
from paimon_explore.spark.write import quoted, write
from paimon_explore.table.scan import Where
from paimon_explore.table.table import Table, open_table
from paimon_explore.write.row_kinds import ROW_KIND


def delete(
    spark: SparkSession, table: Table | str | PathLike[str], where: Where
) -> Snapshot | None:
    """Delete the rows of a primary-key table that a predicate is true of, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        where: SQL text or `pe.col("a") > 3`.

    Returns:
        The snapshot; None if no row was deleted.

    Raises:
        UnsupportedFeatureError: the table has no primary key.
        InvalidInputError: a predicate that cannot be understood, or the table takes no deletes.
    """
    opened = _keyed(table, "delete")
    rows = read(spark, opened, where=where).withColumn(ROW_KIND, f.lit("-D"))
    return write(rows, opened, "upsert")


def update(
    spark: SparkSession,
    table: Table | str | PathLike[str],
    values: Mapping[str, object],
    where: Where | None = None,
) -> Snapshot | None:
    """Change columns of the rows of a primary-key table, in one commit.

    Args:
        spark: the session.
        table: the table, or its path.
        values: the new value of each changed column: a Spark column over the old row, or a value.
        where: rows to change; None for all.

    Returns:
        The snapshot; None if no row was changed.

    Raises:
        UnsupportedFeatureError: no primary key, or a merge engine that combines values.
        InvalidInputError: an unknown, key or partition column, or a wrong predicate.
    """
    opened = _keyed(table, "update")
    schema = opened.schema
    engine = opened.options.value(MERGE_ENGINE)
    if engine is not MergeEngine.DEDUPLICATE:
        raise UnsupportedFeatureError(
            f"update with the merge engine {engine.value}",
            opened.name,
            hint="It would combine old and new values; upsert what it is to combine.",
        )
    names = schema.row_type.names
    fixed = (*schema.primary_keys, *schema.partition_keys)
    for name in values:
        if name not in names:
            msg = f"The table has no column {name!r}."
            raise InvalidInputError(msg, hint=f"Its columns: {choices(names)}.")
        if name in fixed:
            msg = f"Column {name!r} identifies the row and cannot be updated."
            raise InvalidInputError(msg, hint="Delete the rows, and write them anew.")
    columns = [
        _value(values[field.name]).cast(spark_type(field.type)).alias(field.name)
        if field.name in values
        else f.col(quoted(field.name))
        for field in schema.fields
    ]
    return write(read(spark, opened, where=where).select(columns), opened, "upsert")


def _value(value: object) -> Column:
    return value if isinstance(value, Column) else f.lit(value)


def _keyed(table: Table | str | PathLike[str], act: str) -> Table:
    opened = table if isinstance(table, Table) else open_table(table)
    if not opened.schema.primary_keys:
        raise UnsupportedFeatureError(f"{act} on a table without primary key", opened.name)
    return opened
