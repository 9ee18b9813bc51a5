"""ANALYZE: table and column statistics for query planners.

Rows are processed in batches; memory grows with the distinct values of each column. Counts are
exact. Lengths are in bytes: of the value for strings and binaries, otherwise of the type.

Spec: concepts/spec/snapshot, statistics. Seen in: golden java200 `analyze`.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.planned_again import repeated_after_conflicts
from paimon_explore.data_types.arrow_buffers import Column, as_python, fixed_values, valid_mask
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.definitions import (
    BYTES,
    FIXED_WIDTHS,
    TEXTS,
    AtomicType,
    DataField,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.statistics_file import ColumnStatistics, Statistics
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore

_STRING = parse_type_text("STRING")
_FIXED = (*FIXED_WIDTHS, TypeRoot.DECIMAL)
_LARGE_PRECISION = 18


@dataclass(slots=True)
class _ColumnCollector:
    """Collects the statistics of one column."""

    column: DataField
    rows: int = 0
    nulls: int = 0
    length: int = 0
    max_length: int = 0
    distinct: "Column | None" = None

    def add(self, values: Column) -> None:
        """Add the values of a batch."""
        kind = self.column.type
        self.rows += len(values)
        self.nulls += values.null_count
        if not isinstance(kind, AtomicType) or kind.root not in (*TEXTS, *BYTES, *_FIXED):
            return
        if kind.root in (*TEXTS, *BYTES):
            lengths = fixed_values(pc.binary_length(values), np.int32)[valid_mask(values)]  # type: ignore[call-overload]  # in stubs
            self.length += int(lengths.sum())
            self.max_length = max(self.max_length, int(lengths.max(initial=0)))
        distinct = values.drop_null().unique()
        if self.distinct is not None:
            distinct = pa.concat_arrays([self.distinct, distinct]).unique()
        self.distinct = distinct

    def result(self) -> ColumnStatistics:
        """Return the statistics of all batches."""
        kind = self.column.type
        basic = ColumnStatistics(column_id=self.column.id, null_count=self.nulls)
        if not isinstance(kind, AtomicType) or self.distinct is None:
            return basic
        filled = self.rows - self.nulls
        size = FIXED_WIDTHS.get(kind.root, 16 if (kind.precision or 0) > _LARGE_PRECISION else 8)
        is_long = kind.root in (*TEXTS, *BYTES)
        low, high = (None, None) if kind.root in BYTES else _bounds(self.column, self.distinct)
        return ColumnStatistics(
            column_id=self.column.id,
            distinct_count=len(self.distinct),
            min=low,
            max=high,
            null_count=self.nulls,
            average_length=-(-self.length // max(filled, 1)) if is_long else size,
            max_length=self.max_length if is_long else size,
        )


def _bounds(column: DataField, values: Column) -> tuple[str | None, str | None]:
    """Return the minimum and maximum as strings, ignoring NaN.

    Java parses those of DATE and TIME as numbers: of the day, and of milliseconds.
    """
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    if not len(values):
        return None, None
    ranks = pc.sort_indices(values)
    ends = values.take(pa.array([ranks[0].as_py(), ranks[-1].as_py()]))
    texts = (
        ends.cast(pa.int32())
        if is_root(column.type, TypeRoot.DATE, TypeRoot.TIME)
        else cast_column(ends, column.type, _STRING)
    )
    low, high = map(str, as_python(texts))
    return low, high


@repeated_after_conflicts
def analyze_table(
    store: TableStore, options: TableOptions, columns: Sequence[str] | None = None
) -> Snapshot:
    """Collect the statistics of the latest snapshot and commit them.

    Args:
        store: the table.
        options: its options.
        columns: columns to collect statistics of; None for all.

    Returns:
        The snapshot that refers to the statistics.

    Raises:
        NotFoundError: the table has no snapshot, or no such column.
    """
    snapshot, schema = store.snapshots.latest(), store.schemas.latest()
    if snapshot is None or schema is None:
        message = f"The table {store.paths.root} has no snapshot to analyze."
        raise NotFoundError("snapshot", "latest", message=message)
    target = ScanTarget(
        store=store, schema=schema, options=options, snapshot=snapshot, travelled=True
    )
    known = {field.name: field for field in schema.fields}
    names = tuple(known) if columns is None else tuple(columns)
    for name in names:
        if name not in known:
            hint = f"Columns: {choices(known)}."
            raise NotFoundError("column", name, str(store.paths.root), hint=hint)
    collectors = [_ColumnCollector(known[name]) for name in names]
    reader = SplitReader(target=target, columns=names)
    rows = stored = size = 0
    with explain_missing_files(store, snapshot):
        for split in plan_table(target).splits:
            stored += split.row_count
            size += split.files.total_size
            for batch in read_split(reader, split):
                rows += batch.num_rows
                for collector in collectors:
                    collector.add(batch.column(collector.column.name))
    figures = Statistics(
        snapshot_id=snapshot.id,
        schema_id=schema.id,
        merged_record_count=rows,
        merged_record_size=size * rows // max(stored, 1),  # as by Paimon's Spark connector
        columns={collector.column.name: collector.result() for collector in collectors},
    )
    return Committer(store, schema, options=options).analyze(figures)
