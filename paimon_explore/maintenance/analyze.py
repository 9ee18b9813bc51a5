"""Statistics of a table's rows: what ANALYZE finds out for query planners.

Rows are looked at batch by batch; what grows is the set of different values of each column.
Counts are exact. Lengths are bytes: of the value itself for texts and bytes, of its type otherwise.

Spec: concepts/spec/snapshot, statistics. Seen in: golden java200 `analyze`.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.commit.committer import Committer
from paimon_explore.data_types.arrow_buffers import Column, fixed_values, valid_mask
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.statistics_file import ColumnStatistics, Statistics
from paimon_explore.read.column_cast import cast_array
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore

_STRING = parse_type_text("STRING")
_TEXTS = (TypeRoot.CHAR, TypeRoot.VARCHAR)
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_SIZES = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.FLOAT: 4,
    TypeRoot.DOUBLE: 8,
    TypeRoot.DATE: 4,
    TypeRoot.TIME: 4,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
}
_FIXED = (*_SIZES, TypeRoot.DECIMAL)
_LARGE_PRECISION = 18


@dataclass(slots=True)
class _Figures:
    """What is known of a column so far."""

    column: DataField
    rows: int = 0
    nulls: int = 0
    length: int = 0
    longest: int = 0
    different: "Column | None" = None

    def add(self, values: Column) -> None:
        """Look at the values of a batch."""
        kind = self.column.type
        self.rows += len(values)
        self.nulls += values.null_count
        if not isinstance(kind, AtomicType) or kind.root not in (*_TEXTS, *_BYTES, *_FIXED):
            return
        if kind.root in (*_TEXTS, *_BYTES):
            lengths = fixed_values(pc.binary_length(values), np.int32)[valid_mask(values)]  # type: ignore[call-overload]  # in stubs
            self.length += int(lengths.sum())
            self.longest = max(self.longest, int(lengths.max(initial=0)))
        known = values.drop_null().unique()
        if self.different is not None:
            known = pa.concat_arrays([self.different, known]).unique()
        self.different = known

    def result(self) -> ColumnStatistics:
        """The figures of all batches."""
        kind = self.column.type
        basic = ColumnStatistics(column_id=self.column.id, null_count=self.nulls)
        if not isinstance(kind, AtomicType) or self.different is None:
            return basic
        filled = self.rows - self.nulls
        size = _SIZES.get(kind.root, 16 if (kind.precision or 0) > _LARGE_PRECISION else 8)
        is_long = kind.root in (*_TEXTS, *_BYTES)
        low, high = (None, None) if kind.root in _BYTES else _bounds(self.column, self.different)
        return ColumnStatistics(
            column_id=self.column.id,
            distinct_count=len(self.different),
            min=low,
            max=high,
            null_count=self.nulls,
            average_length=-(-self.length // max(filled, 1)) if is_long else size,
            max_length=self.longest if is_long else size,
        )


def _bounds(column: DataField, values: Column) -> tuple[str | None, str | None]:
    """Smallest and largest value as texts; NaN is no bound."""
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    if not len(values):
        return None, None
    ranks = pc.sort_indices(values)
    ends = values.take(pa.array([ranks[0].as_py(), ranks[-1].as_py()]))
    low, high = (one.as_py() for one in cast_array(ends, column.type, _STRING, where=column.name))
    return str(low), str(high)


def analyze_table(store: TableStore, options: TableOptions) -> Snapshot:
    """Collect the statistics of the latest snapshot and commit them.

    Returns:
        The snapshot that refers to the statistics.

    Raises:
        NotFoundError: the table has no snapshot.
    """
    snapshot, schema = store.snapshots.latest(), store.schemas.latest()
    if snapshot is None or schema is None:
        message = f"The table {store.paths.root} has no snapshot to analyze."
        raise NotFoundError("snapshot", "latest", message=message)
    target = ScanTarget(
        store=store,
        schema=schema,
        options=options,
        snapshot=snapshot,
        travelled=True,
        branch=store.paths.branch,
    )
    columns = schema.row_type.names
    reader = SplitReader(store=store, schema=schema, options=options, columns=columns)
    with explain_missing_files(store, snapshot):
        splits = plan_table(target).splits
        batches = (batch for split in splits for batch in reader.read(split))
        figures = statistics_of(snapshot, schema, batches)
    return Committer(store, schema, options=options).analyze(figures)


def statistics_of(
    snapshot: Snapshot, schema: TableSchema, batches: Iterable[pa.RecordBatch]
) -> Statistics:
    """The figures of all rows of a snapshot.

    Args:
        snapshot: the snapshot.
        schema: that of the batches.
        batches: its rows, with these columns.
    """
    figures = [_Figures(column) for column in schema.fields]
    rows = size = 0
    for batch in batches:
        rows += batch.num_rows
        size += batch.nbytes
        for one in figures:
            one.add(batch.column(one.column.name))
    return Statistics(
        snapshot_id=snapshot.id,
        schema_id=schema.id,
        merged_record_count=rows,
        merged_record_size=size,
        columns={one.column.name: one.result() for one in figures},
    )
