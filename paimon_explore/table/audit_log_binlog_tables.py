"""System tables that contain the table's rows: `$audit_log`, `$binlog`, `$ro`, `$row_tracking`.

Spec: concepts/system-tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Column, build_list
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.table_options import (
    ROW_TRACKING_ENABLED,
    TABLE_READ_SEQUENCE_NUMBER_ENABLED,
)
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.incremental_range import increment_of
from paimon_explore.table.row_changes import ROWKIND, ChangeReader, row_kinds

_SEQUENCE_NUMBER = pa.field("_SEQUENCE_NUMBER", pa.int64(), nullable=False)

RowTable = tuple[pa.Schema, Callable[[], Iterator[pa.RecordBatch]]]


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
    count = len(target.schema.fields)

    def rows() -> Iterator[pa.RecordBatch]:
        increment = increment_of(target)
        if increment is not None:
            reader = ChangeReader(target=target, columns=target.schema.row_type.names)
            changes = reader.between(increment)
            if numbered:
                raise UnsupportedFeatureError("Sequence numbers of changes between two points")
            yield from changes.select(schema.names).cast(schema).to_batches()
            return
        for batch in _with_system(target, system):
            values, (kinds, *found) = batch.columns[:count], batch.columns[count:]
            columns = [row_kinds(kinds), *found, *values]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return schema, rows


def binlog(target: ScanTarget) -> RowTable:
    """Return the rows of `audit_log` with lists: one value, or those before and after an update."""
    columns = [pa.field(f.name, pa.list_(f.type)) for f in arrow_schema(target.schema.row_type)]
    log, plain = audit_log(target)
    count = len(log) - len(columns)
    schema = pa.schema([*list(log)[:count], *columns])

    def rows() -> Iterator[pa.RecordBatch]:
        for batch in plain():
            lists = [_ones(column) for column in batch.columns[count:]]
            yield pa.RecordBatch.from_arrays([*batch.columns[:count], *lists], schema=schema)

    return schema, rows


def read_optimized(target: ScanTarget) -> RowTable:
    """Return the rows of the highest level, without a merge; the newest rows may be missing."""
    keyed = target.keys is not None
    top = level_count(target.options) - 1 if keyed else None
    return _plain(replace(target, only_level=top))


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
    return schema, lambda: _cast(_with_system(target, system), schema)


ROW_TABLES: Mapping[str, Callable[[ScanTarget], RowTable]] = {
    "audit_log": audit_log,
    "binlog": binlog,
    "ro": read_optimized,
    "row_tracking": row_tracking,
}
"""The tables of this module by name."""


def _ones(values: Column) -> Column:
    """Wrap each value in a list of length one."""
    valid = np.ones(len(values), np.bool_)
    return build_list(pa.list_(values.type), np.arange(len(values) + 1), [values], valid)


def _plain(target: ScanTarget) -> RowTable:
    schema = arrow_schema(target.schema.row_type)
    return schema, lambda: _cast(_with_system(target, ()), schema)


def _cast(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    return (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in batches)


def _with_system(target: ScanTarget, system: tuple[SystemColumn, ...]) -> Iterator[pa.RecordBatch]:
    reader = SplitReader(target=target, columns=target.schema.row_type.names, system_columns=system)
    with explain_missing_files(target.store, target.snapshot):
        yield from reader.read_each(plan_table(target.without_postponed()).splits)
