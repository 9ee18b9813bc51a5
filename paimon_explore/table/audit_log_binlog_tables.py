"""System tables that contain the table's rows: `$audit_log`, `$binlog`, `$ro`, `$row_tracking`.

Spec: concepts/system-tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema, row_type_from_arrow, to_arrow
from paimon_explore.data_types.arrow_buffers import Column, build_list
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.table_options import (
    ROW_TRACKING_ENABLED,
    TABLE_READ_SEQUENCE_NUMBER_ENABLED,
)
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.small_files import read_all
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.requested_columns import Selection
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.incremental_range import increment_of
from paimon_explore.table.row_changes import ROWKIND, ChangeReader, row_kinds

_SEQUENCE_NUMBER = pa.field("_SEQUENCE_NUMBER", pa.int64(), nullable=False)

RowTable = tuple[pa.Schema, Callable[[Selection], Iterator[pa.RecordBatch]]]
"""The columns, and a function that reads the selected ones."""


def audit_log(target: ScanTarget) -> RowTable:
    """Return the rows with their row kind, including deleted rows that files still contain.

    The options `incremental-between*` select the changes between two points instead.

    The sequence number follows the row kind if the table's option
    `table-read.sequence-number.enabled` is set.
    """
    numbered = target.options.value(TABLE_READ_SEQUENCE_NUMBER_ENABLED)
    numbers = [_SEQUENCE_NUMBER] if numbered else []
    schema = pa.schema([ROWKIND, *numbers, *arrow_schema(target.schema.row_type)])
    system = (SystemColumn.VALUE_KIND, *((SystemColumn.SEQUENCE_NUMBER,) if numbered else ()))

    def rows(selection: Selection) -> Iterator[pa.RecordBatch]:
        increment = increment_of(target)
        wanted = selection.narrowed(schema)
        if increment is not None:
            reader = ChangeReader(target=target, columns=target.schema.row_type.names)
            changes = reader.between(increment)
            if numbered:
                raise UnsupportedFeatureError("Sequence numbers of changes between two points")
            yield from changes.select(wanted.names).cast(wanted).to_batches()
            return
        for values, (kinds, *found) in _with_system(target, system, selection):
            first = [row_kinds(kinds)] if ROWKIND.name in wanted.names else []
            more = found if _SEQUENCE_NUMBER.name in wanted.names else []
            yield pa.RecordBatch.from_arrays([*first, *more, *values], schema=wanted)

    return schema, rows


def binlog(target: ScanTarget) -> RowTable:
    """Return the rows of `audit_log` with lists: one value, or those before and after an update."""
    columns = [pa.field(f.name, pa.list_(f.type)) for f in arrow_schema(target.schema.row_type)]
    log, plain = audit_log(target)
    count = len(log) - len(columns)
    schema = pa.schema([*list(log)[:count], *columns])

    def rows(selection: Selection) -> Iterator[pa.RecordBatch]:
        wanted = selection.narrowed(schema)
        first = sum(name in wanted.names for name in schema.names[:count])
        for batch in plain(Selection(columns=tuple(wanted.names))):
            lists = [_ones(column) for column in batch.columns[first:]]
            yield pa.RecordBatch.from_arrays([*batch.columns[:first], *lists], schema=wanted)

    return schema, rows


def read_optimized(target: ScanTarget) -> RowTable:
    """Return the rows of the highest level, without a merge; the newest rows may be missing."""
    keyed = target.keys is not None
    top = level_count(target.options) - 1 if keyed else None
    schema = arrow_schema(target.schema.row_type)
    return schema, partial(_plain_rows, replace(target, only_level=top), schema, ())


def row_tracking(target: ScanTarget) -> RowTable:
    """Return the rows with their row id and the snapshot that last changed them."""
    if not target.options.value(ROW_TRACKING_ENABLED):
        msg = "The system table 'row_tracking' requires a table with row tracking."
        raise InvalidInputError(
            msg, hint=f"The option {ROW_TRACKING_ENABLED.key!r} of the table is false."
        )
    system = (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)
    added = [pa.field(str(c), pa.int64()) for c in system]
    schema = pa.schema([*arrow_schema(target.schema.row_type), *added])
    return schema, partial(_plain_rows, target, schema, system)


ROW_TABLES: Mapping[str, Callable[[ScanTarget], RowTable]] = {
    "audit_log": audit_log,
    "binlog": binlog,
    "ro": read_optimized,
    "row_tracking": row_tracking,
}
"""The tables of this module by name."""


def row_type_of(schema: pa.Schema, target: ScanTarget) -> RowType:
    """Return the columns of one of these tables, those of the table with its types."""
    own = {field.name: field for field in target.schema.fields}
    found = [
        own[field.name]
        if field.name in own and to_arrow(own[field.name].type) == arrow.type
        else field
        for arrow, field in zip(schema, row_type_from_arrow(schema), strict=True)
    ]
    return RowType(fields=tuple(found))


def _ones(values: Column) -> Column:
    """Wrap each value in a list of length one."""
    valid = np.ones(len(values), np.bool_)
    return build_list(pa.list_(values.type), np.arange(len(values) + 1), [values], valid)


def _plain_rows(
    target: ScanTarget,
    schema: pa.Schema,
    system: tuple[SystemColumn, ...],
    selection: Selection,
) -> Iterator[pa.RecordBatch]:
    """The selected ones of the table's columns and the system columns after them."""
    wanted = selection.narrowed(schema)
    for values, found in _with_system(target, system, selection):
        added = [one for one, name in zip(found, system, strict=True) if str(name) in wanted.names]
        yield pa.RecordBatch.from_arrays([*values, *added], schema=wanted)


def _with_system(
    target: ScanTarget, system: tuple[SystemColumn, ...], selection: Selection
) -> Iterator[tuple[list[Column], list[Column]]]:
    """The selected ones of the table's columns, and the system columns, batch by batch."""
    known = target.schema.row_type.names
    names = known if selection.columns is None else selection.names.intersection(known)
    columns = tuple(name for name in known if name in names) or known[:1]
    predicate = selection.pushed(known).where
    reader = SplitReader(target=target, columns=columns, predicate=predicate, system_columns=system)
    with explain_missing_files(target.store, target.snapshot):
        for batch in read_all(reader, plan_table(target.without_postponed(), predicate).splits):
            yield batch.columns[: len(names)], batch.columns[len(columns) :]
