"""UPDATE and DELETE: the entry points that return commit messages."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from paimon_explore.commit.planned_again import snapshot_to_plan
from paimon_explore.commit.squash import bucket_messages
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.append_table_rows import AppendRows, Inserts
from paimon_explore.maintenance.row_level.assignments import NewValue, assignments
from paimon_explore.maintenance.row_level.data_evolution_rows import DataEvolutionRows
from paimon_explore.maintenance.row_level.primary_key_rows import PrimaryKeyRows
from paimon_explore.maintenance.row_level.row_change import RowChange, WhereChange
from paimon_explore.maintenance.row_level.supported_operations import check_delete, check_update
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.sql_parser import Where, predicate
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.table_layouts import ROW_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLevelResult:
    """The result of a row-level operation.

    Attributes:
        messages: the commit messages; empty if nothing changes.
        planned_on: the snapshot that was read; None if the table had none.
        checks_columns: whether the commit must check for concurrent updates of the same columns.
    """

    messages: list[CommitMessage]
    planned_on: SeenSnapshot | None
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
        store=store, schema=schema, options=options, snapshot=snapshot_to_plan(store, schema)
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
    """Apply a change to a table of any kind.

    Raises:
        SnapshotExpiredError: the snapshot of the scan expired meanwhile.
    """
    with explain_missing_files(scan.store, scan.snapshot):
        return _run(scan, change, inserts)


def _run(scan: ScanTarget, change: RowChange, inserts: Inserts | None) -> RowLevelResult:
    planned_on = None if scan.snapshot is None else SeenSnapshot.of(scan.snapshot)
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


# `global-index.column-update-action` says what happens: the update fails, the indexes of the
# changed partitions are dropped with it, or they stay and are outdated; scans here then do not use
# them.
def outdated_indexes(scan: ScanTarget, columns: Sequence[str]) -> IndexEntries:
    """Return the global indexes that an update of some columns drops.

    Args:
        scan: of the table that is updated.
        columns: the updated columns.

    Raises:
        UnsupportedFeatureError: a column has a global index, and the option refuses its update.
    """
    if scan.snapshot is None or scan.schema.primary_keys:
        return IndexEntries.empty()
    names = {field.id: field.name for field in scan.schema.fields if field.name in columns}
    entries = scan.store.manifests.index_of(scan.snapshot)
    indexed = [_indexed_fields(row["global_index"]) & set(names) for row in entries.rows()]
    found = entries.filter(np.array([bool(fields) for fields in indexed], np.bool_))
    action = scan.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    if not len(found) or action is GlobalIndexColumnUpdateAction.DROP_PARTITION_INDEX:
        return found
    if action is GlobalIndexColumnUpdateAction.IGNORE:
        return IndexEntries.empty()
    name = names[min(field for fields in indexed for field in fields)]
    raise UnsupportedFeatureError(
        f"updating column {name!r}, which has a global index,",
        hint=f"Drop the index first, or set {GLOBAL_INDEX_COLUMN_UPDATE_ACTION.key!r} = "
        "'drop-partition-index'.",
    )


def dropped_with(messages: Iterable[CommitMessage], outdated: IndexEntries) -> list[CommitMessage]:
    """Return messages that drop the outdated indexes of the partitions with new files.

    Args:
        messages: the update.
        outdated: the indexes that it makes outdated, of all partitions.
    """
    changed = {message.partition for message in messages if len(message.new_files)}
    rows = [row for row in outdated.rows() if row["partition"] in changed]
    return bucket_messages({"deleted_index_files": rows})


def _indexed_fields(index: object) -> set[int]:
    """Return the ids of the columns of a global index; none for other index files."""
    if not isinstance(index, dict):
        return set()
    return {index["index_field_id"], *(index["extra_field_ids"] or ())}
