"""The clauses of MERGE INTO, and what WITH SCHEMA EVOLUTION adds to a table.

Columns of the source that the table lacks are added, also as members of structs, and types become
wider, as when rows are appended with their schema (`metadata.schema.schema_merge`), for the columns
that clauses assign: all of the source for a clause of all columns. The schema changes before the
merge, and stays if the merge fails, as in Java.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.key_validation import SYSTEM_COLUMNS
from paimon_explore.metadata.schema.schema_change import AddColumn, ChangeType
from paimon_explore.metadata.schema.schema_merge import merged_changes
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of


class MergeRows(Enum):
    """The rows to which a clause applies."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


class MergeAction(Enum):
    """What a clause does with a row."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeClause:
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows, as SQL text; None for all.
        action: what it does.
        values: the new value of each changed column as SQL text; None for all columns as the
            source has them.
    """

    rows: MergeRows
    condition: str | None
    action: MergeAction
    values: Mapping[str, str] | None = None


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
    named = (
        replace(field, name=known.get(field.name.lower(), field.name))
        for field in source
        if field.name not in SYSTEM_COLUMNS
    )
    row_type = RowType(fields=tuple(named))
    return [
        change
        for change in merged_changes(schema, row_type, row_type)
        if isinstance(change, AddColumn | ChangeType)
    ]
