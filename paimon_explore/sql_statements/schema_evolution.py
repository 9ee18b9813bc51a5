"""MERGE WITH SCHEMA EVOLUTION: the columns of the source that the table lacks are added to it.

Columns are added, also as members of structs, and types become wider, as when rows are appended
with their schema (`metadata.schema.schema_merge`), for the columns that clauses assign: all of the
source for a clause of all columns. The schema changes before the merge, and stays if the merge
fails, as in Java.
"""

from collections.abc import Iterable
from dataclasses import replace

from paimon_explore.data_types.definitions import RowType
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import AddColumn, ChangeType
from paimon_explore.metadata.schema.schema_merge import merged_changes
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of


def schema_with_source(schema: TableSchema, source: RowType) -> TableSchema:
    """Return a table's schema with all columns of the source of a merge."""
    changes = _changes(schema, source)
    return apply_changes(schema, changes, has_snapshots=True) if changes else schema


def evolve(table: Table, source: RowType, assigned: Iterable[str], *, takes_all: bool) -> None:
    """Change the schema of a table for a merge.

    Args:
        table: the table.
        source: the columns of the rows to merge.
        assigned: columns, or members of them, that clauses assign.
        takes_all: whether a clause assigns all columns of the source.
    """
    wanted = {name.partition(".")[0].lower() for name in assigned}
    changes = [
        change
        for change in _changes(latest_schema(store_of(table)), source)
        if takes_all or change.column[0].lower() in wanted
    ]
    if changes:
        table.alter(*changes)


def _changes(schema: TableSchema, source: RowType) -> list[AddColumn | ChangeType]:
    known = {field.name.lower(): field.name for field in schema.fields}
    named = (replace(field, name=known.get(field.name.lower(), field.name)) for field in source)
    row_type = RowType(fields=tuple(named))
    return [
        change
        for change in merged_changes(schema, row_type, row_type)
        if isinstance(change, AddColumn | ChangeType)
    ]
