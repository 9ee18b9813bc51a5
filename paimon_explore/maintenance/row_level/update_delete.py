"""UPDATE and DELETE: the entry points that return commit messages."""

from collections.abc import Mapping

from paimon_explore.commit.planned_again import snapshot_to_plan
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.append_table_rows import AppendRows, Inserts
from paimon_explore.maintenance.row_level.assignments import NewValue, assignments
from paimon_explore.maintenance.row_level.data_evolution_rows import DataEvolutionRows
from paimon_explore.maintenance.row_level.indexed_columns import dropped_with, outdated_indexes
from paimon_explore.maintenance.row_level.primary_key_rows import PrimaryKeyRows
from paimon_explore.maintenance.row_level.row_change import RowChange, WhereChange
from paimon_explore.maintenance.row_level.supported_operations import check_delete, check_update
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.table_layouts import ROW_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLevelResult:
    """The result of a row-level operation.

    Attributes:
        messages: the commit messages; empty if nothing changes.
        planned_on: id of the snapshot that was read; None if the table had none.
        checks_columns: whether the commit must check for concurrent updates of the same columns.
    """

    messages: list[CommitMessage]
    planned_on: int | None
    checks_columns: bool = False


def update_rows(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    values: Mapping[str, NewValue],
    where: Where | None,
) -> RowLevelResult:
    """Update rows, without committing the result.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        values: new values by column; see `assignments`.
        where: which rows to update; None for all.

    Raises:
        InvalidInputError: a column is unknown or a key, a value or predicate is invalid, or the
            merge engine does not support updates.
        UnsupportedFeatureError: the table uses a feature that updates do not support.
    """
    scan = scan_of(store, schema, options)
    new = assignments(values, schema.row_type)
    check_update(schema, options, new.names)
    change = WhereChange(
        row_type=readable_row_type(schema, options), where=bind_where(where, scan), assignments=new
    )
    return run_change(scan, change)


def delete_rows(
    store: TableStore, schema: TableSchema, options: TableOptions, where: Where | None
) -> RowLevelResult:
    """Delete rows, without committing the result; arguments as for `update_rows`.

    Raises:
        InvalidInputError: the predicate is invalid, or the merge engine does not support deletes.
        UnsupportedFeatureError: the table uses a feature that deletes do not support.
    """
    scan = scan_of(store, schema, options)
    check_delete(schema, options)
    change = WhereChange(
        row_type=readable_row_type(schema, options), where=bind_where(where, scan), assignments=None
    )
    return run_change(scan, change)


def scan_of(store: TableStore, schema: TableSchema, options: TableOptions) -> ScanTarget:
    """Return a scan of the latest snapshot."""
    return ScanTarget(
        store=store,
        schema=schema,
        options=options,
        snapshot=snapshot_to_plan(store, schema),
        branch=store.paths.branch,
    )


def bind_where(where: Where | None, scan: ScanTarget) -> Expression:
    """Bind a condition to the columns that it may read; TRUE without a condition.

    Raises:
        InvalidInputError: the condition is invalid.
    """
    return (
        TRUE
        if where is None
        else bind(predicate(where), readable_row_type(scan.schema, scan.options))
    )


def readable_row_type(schema: TableSchema, options: TableOptions) -> RowType:
    """Return the columns that conditions may read: the table's, and `_ROW_ID` of tracked rows."""
    if not options.value(opt.ROW_TRACKING_ENABLED):
        return schema.row_type
    return RowType(fields=(*schema.fields, ROW_ID))


def run_change(
    scan: ScanTarget, change: RowChange, inserts: Inserts | None = None
) -> RowLevelResult:
    """Apply a change to a table of any kind."""
    planned_on = None if scan.snapshot is None else scan.snapshot.id
    outdated = outdated_indexes(scan, change.updated)
    if scan.schema.primary_keys:
        messages = PrimaryKeyRows(scan, change).run(inserts)
    elif scan.options.value(opt.DATA_EVOLUTION_ENABLED):
        messages = DataEvolutionRows(scan, change).run(inserts)
        messages += dropped_with(messages, outdated)
        return RowLevelResult(messages=messages, planned_on=planned_on, checks_columns=True)
    else:
        messages = AppendRows(scan, change).run(inserts)
        messages += dropped_with(messages, outdated)
    return RowLevelResult(messages=messages, planned_on=planned_on)
