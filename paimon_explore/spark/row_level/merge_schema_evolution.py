"""MERGE WITH SCHEMA EVOLUTION: the columns of the source that the table lacks are added to it.

Columns are added, also as members of structs, and types become wider, as when rows are appended
with their schema (`metadata.schema.schema_merge`), for the columns that clauses assign: all of the
source for a clause of all columns. The schema changes before the merge, and stays if the merge
fails, as in Java.
"""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import AddColumn, ChangeType
from paimon_explore.metadata.schema.schema_merge import merged_changes
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.spark.quoted_names import quoted
from paimon_explore.spark.row_level.row_change_job import INSERT
from paimon_explore.spark.row_level.when_clauses import Clause
from paimon_explore.spark.spark_types import paimon_type
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table


def schema_with_source(schema: TableSchema, source: StructType) -> TableSchema:
    """Return a table's schema with all columns of the source of a merge."""
    changes = _changes(schema, source)
    return apply_changes(schema, changes, has_snapshots=True) if changes else schema


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
    assigned = {name.partition(".")[0].lower() for one in clauses for name in one.values or {}}
    takes_all = any(clause.values is None for clause in clauses)
    changes = [
        change
        for change in _changes(schema, source.schema)
        if takes_all or change.column[0].lower() in assigned
    ]
    if changes:
        table.alter(*changes)
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


def _changes(schema: TableSchema, source: StructType) -> list[AddColumn | ChangeType]:
    known = {field.name.lower(): field.name for field in schema.fields}
    fields = []
    for at, one in enumerate(source.fields):
        kind = paimon_type(one.dataType)
        if kind is None:
            raise InvalidInputError(
                f"Column {one.name!r} of the source has type {one.dataType.simpleString()}, which "
                "Paimon does not support.",
                hint="Cast the column to another type in the source.",
            )
        name = known.get(one.name.lower(), one.name)
        fields.append(DataField(id=at, name=name, type=kind))
    row_type = RowType(fields=tuple(fields))
    return [
        change
        for change in merged_changes(schema, row_type, row_type)
        if isinstance(change, AddColumn | ChangeType)
    ]
