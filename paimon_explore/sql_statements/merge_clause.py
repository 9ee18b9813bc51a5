"""The clauses of MERGE INTO, and what WITH SCHEMA EVOLUTION adds to a table.

Columns of the source that the table lacks are added, also as members of structs, and types become
wider, as when rows are appended with their schema (`metadata.schema.schema_merge`), for the columns
that clauses assign: all of the source for a clause of all columns. The schema changes before the
merge, and stays if the merge fails, as in Java.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.key_validation import SYSTEM_COLUMNS
from paimon_explore.metadata.schema.schema_change import AddColumn, ChangeType
from paimon_explore.metadata.schema.schema_merge import merged_changes
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NotGiven
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

if TYPE_CHECKING:
    from paimon_explore.maintenance.row_level.assignments import NewValue
    from paimon_explore.table.merge_builder import Merge

Condition_co = TypeVar("Condition_co", covariant=True)
Value_co = TypeVar("Value_co", covariant=True)


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
class MergeClause(Generic[Condition_co, Value_co]):
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows; None for all.
        action: what it does.
        values: the new value of each changed column; None for all columns as the source has them.
    """

    rows: MergeRows
    condition: Condition_co | None
    action: MergeAction
    values: Mapping[str, Value_co] | None = None

    def added_to(
        self,
        made: "Merge",
        condition: Where | NotGiven,
        values: "Mapping[str, NewValue] | None",
    ) -> "Merge":
        """Return a merge of the table with one more clause.

        Args:
            made: the merge.
            condition: the condition of the clause as `Table.merge` takes it.
            values: the values of the clause as `Table.merge` takes them.
        """
        if self.action is MergeAction.INSERT:
            return made.when_not_matched_insert(values, condition)
        if self.rows is MergeRows.NOT_MATCHED_BY_SOURCE:
            if self.action is MergeAction.DELETE:
                return made.when_not_matched_by_source_delete(condition)
            return made.when_not_matched_by_source_update(values or {}, condition)
        if self.action is MergeAction.DELETE:
            return made.when_matched_delete(condition)
        if values is None:
            return made.when_matched_update_all(condition)
        return made.when_matched_update(values, condition)


SqlClause = MergeClause[str, str]
"""A clause whose condition and values are SQL text."""


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
