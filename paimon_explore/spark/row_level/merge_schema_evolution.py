"""MERGE WITH SCHEMA EVOLUTION of a DataFrame; see `sql_statements.schema_evolution`."""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.spark.row_level.row_change_job import INSERT
from paimon_explore.spark.row_level.when_clauses import Clause
from paimon_explore.spark.spark_types import paimon_type
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.schema_evolution import evolve
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table


def evolved(
    table: Table, source: DataFrame, clauses: Sequence[Clause], alias: str
) -> tuple[Clause, ...]:
    """Change the schema of a table for a merge, and return the clauses with explicit columns.

    Args:
        table: the table.
        source: the rows to merge.
        clauses: in order.
        alias: alias of the source.

    Raises:
        InvalidInputError: a column of the source has a type that Paimon does not support.
    """
    schema = latest_schema(table.store)
    assigned = [name for clause in clauses for name in clause.values or {}]
    takes_all = any(clause.values is None for clause in clauses)
    evolve(table, _source_type(source), assigned, takes_all=takes_all)
    names = latest_schema(table.store).row_type.names
    given = {name.lower(): name for name in source.columns}
    values = {
        name: f"{quoted(alias)}.{quoted(given[name.lower()])}"
        for name in names
        if name.lower() in given
    }
    return tuple(
        replace(clause, values=_updatable(clause, values, schema))
        if clause.values is None
        else clause
        for clause in clauses
    )


def _updatable(clause: Clause, values: dict[str, str], schema: TableSchema) -> dict[str, str]:
    """Return the columns that a clause of all columns assigns: updates leave keys."""
    if clause.act == INSERT:
        return values
    fixed = (*schema.primary_keys, *schema.partition_keys) if schema.primary_keys else ()
    return {name: text for name, text in values.items() if name not in fixed}


def _source_type(source: DataFrame) -> RowType:
    fields = []
    for at, one in enumerate(source.schema.fields):
        kind = paimon_type(one.dataType)
        if kind is None:
            raise InvalidInputError(
                f"Column {one.name!r} of the source has type {one.dataType.simpleString()}, which "
                "Paimon does not support.",
                hint="Cast the column to another type in the source.",
            )
        fields.append(DataField(id=at, name=one.name, type=kind))
    return RowType(fields=tuple(fields))
