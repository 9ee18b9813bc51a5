"""UPDATE and DELETE: from the caller's arguments to what a commit makes visible."""

from collections.abc import Mapping, Sequence

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.append_table_rows import AppendRows, Inserts
from paimon_explore.maintenance.row_level.assignments import NewValue, assignments
from paimon_explore.maintenance.row_level.data_evolution_update import ColumnFiles
from paimon_explore.maintenance.row_level.primary_key_rows import KeyedRows
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLevelResult:
    """What an operation has written.

    Attributes:
        messages: what a commit makes visible; none if nothing changes.
        planned_on: the snapshot that was read; None before the first.
        checks_columns: whether the commit has to look for others' new values of the same columns.
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
    """Give rows new values, without committing them.

    Args:
        store: the table.
        schema: its latest schema.
        options: in force.
        values: by column; see `assignments`.
        where: which rows; None for all.

    Raises:
        InvalidInputError: an unknown or key column, a value or predicate that cannot be
            understood, or a merge engine that takes no updates.
        UnsupportedFeatureError: the table has something that is not updated here.
    """
    scan = scan_of(store, schema, options)
    new = assignments(values, schema.row_type)
    check_update(schema, options, new.names)
    change = WhereChange(row_type=schema.row_type, where=bound(where, scan), assignments=new)
    return run_change(scan, change)


def delete_rows(
    store: TableStore, schema: TableSchema, options: TableOptions, where: Where | None
) -> RowLevelResult:
    """Delete rows, without committing it; arguments as for `update_rows`.

    Raises:
        InvalidInputError: a predicate that cannot be understood, or a merge engine that takes no
            deletes.
        UnsupportedFeatureError: the table has something that is not deleted from here.
    """
    scan = scan_of(store, schema, options)
    check_delete(schema, options)
    change = WhereChange(row_type=schema.row_type, where=bound(where, scan), assignments=None)
    return run_change(scan, change)


def scan_of(store: TableStore, schema: TableSchema, options: TableOptions) -> ScanTarget:
    """The table as it is now."""
    return ScanTarget(
        store=store,
        schema=schema,
        options=options,
        snapshot=store.snapshots.latest(),
        branch=store.paths.branch,
    )


def bound(where: Where | None, scan: ScanTarget) -> Expression:
    """A condition on the table's rows.

    Raises:
        InvalidInputError: it cannot be understood.
    """
    return TRUE if where is None else bind(predicate(where), scan.schema.row_type)


def _refuse_indexed(scan: ScanTarget, columns: Sequence[str]) -> None:
    """Refuse new values of columns with a global index, which would tell the old ones.

    Raises:
        UnsupportedFeatureError: a column has one.
    """
    if scan.snapshot is None or scan.schema.primary_keys:
        return
    names = {field.id: field.name for field in scan.schema.fields if field.name in columns}
    for row in scan.store.manifests.index_of(scan.snapshot).rows():
        index = row["global_index"]
        if isinstance(index, dict) and index["index_field_id"] in names:
            raise UnsupportedFeatureError(
                f"updating column {names[index['index_field_id']]!r}, which has a global index,",
                hint="Drop the index first, or write the rows again.",
            )


def run_change(
    scan: ScanTarget, change: RowChange, inserts: Inserts | None = None
) -> RowLevelResult:
    """Do what a change says, in the way of the table's kind."""
    planned_on = None if scan.snapshot is None else scan.snapshot.id
    _refuse_indexed(scan, change.updated)
    if scan.schema.primary_keys:
        messages = KeyedRows(scan, change).run(inserts)
    elif scan.options.value(opt.DATA_EVOLUTION_ENABLED):
        messages = ColumnFiles(scan, change).run(inserts)
        return RowLevelResult(messages=messages, planned_on=planned_on, checks_columns=True)
    else:
        messages = AppendRows(scan, change).run(inserts)
    return RowLevelResult(messages=messages, planned_on=planned_on)
