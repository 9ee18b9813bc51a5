"""Changes of a table: of each commit, and between two points.

Spec: flink/sql-query, streaming and incremental queries; `incremental-between*`, `scan.mode`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import (
    Column,
    bool_values,
    int64_values,
    string_array,
    take_rows,
)
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode
from paimon_explore.metadata.options.refused_options import check_not_postponed
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.commit_changes import change_log, first_readable_commit
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.small_files import read_all
from paimon_explore.read.snapshot_diff import changed_splits, difference
from paimon_explore.read.split_reader import BATCH_ROWS, SplitReader
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.incremental import SnapshotRange, branch_changes, change_splits
from paimon_explore.scan.manifest_arrays import column, row_array
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.requested_columns import projected_columns
from paimon_explore.scan.splits.data_split import DifferenceSplit, Split, Splits
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.incremental_range import Increment

_RETRACTS = string_array(("-U", "-D"))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Change:
    """The changes of one commit.

    Attributes:
        snapshot: the snapshot of the commit.
        rows: the changed rows: a column `rowkind` (`+I`, `-U`, `+U`, `-D`), then the selected
        columns.
    """

    snapshot: Snapshot
    rows: pa.Table

    def __repr__(self) -> str:
        """Return the snapshot, and the number and columns of the rows."""
        columns = sanitized(choices(self.rows.column_names, limit=8))
        return f"{self.rows.num_rows:,} changes of {self.snapshot!r}\n  columns: {columns}"


ROW_KINDS = ("+I", "-U", "+U", "-D")
"""Row kinds by their number in files."""

ROWKIND = pa.field("rowkind", pa.string())


def row_kinds(numbers: Column) -> Column:
    """Convert row kinds to text."""
    return take_rows(string_array(ROW_KINDS), int64_values(numbers))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReader:
    """Reads the changes of a table.

    Attributes:
        target: the table with the reading schema; its snapshot is ignored.
        columns: selected columns.
        narrowed: their types where fields of ROW columns were selected; else None.
        where: bound predicate.
        mode: `auto` returns complete changes, which can be replayed; `delta` and `changelog` are
            the modes of Java, which skip some commits.
    """

    target: ScanTarget
    columns: tuple[str, ...]
    narrowed: RowType | None = None
    where: Expression = TRUE
    mode: IncrementalBetweenScanMode = IncrementalBetweenScanMode.AUTO

    def __post_init__(self) -> None:
        """Refuse changes of postponed records."""
        check_not_postponed(self.target.options, "reading changes", self.target.store.paths.root)

    @property
    def schema(self) -> pa.Schema:
        """`rowkind`, then the selected columns."""
        row_type = self.narrowed or self.target.schema.project(self.columns)
        return pa.schema([ROWKIND, *arrow_schema(row_type)])

    def commits(self, span: SnapshotRange) -> Iterator[Change]:
        """Iterate over the commits of a range that have changes, oldest first."""
        found = (
            change_log(self.target, span, self.where)
            if self.mode is IncrementalBetweenScanMode.AUTO
            else change_splits(self.target, span, self.mode, self.where)
        )
        for snapshot, splits in found:
            rows = self._rows_of(snapshot, splits)
            if rows.num_rows:
                yield Change(snapshot=snapshot, rows=rows)

    def consumed(self, span: SnapshotRange, consumer_id: str) -> Iterator[Change]:
        """Iterate as `commits` does, and store the progress of a consumer after each commit."""
        consumers = self.target.store.consumers
        for change in self.commits(span):
            yield change
            consumers.save(consumer_id, Consumer(next_snapshot=change.snapshot.id + 1))
        if span.end > span.start:
            consumers.save(consumer_id, Consumer(next_snapshot=span.end + 1))

    def first_until(self, last: int) -> int:
        """Return the first commit from which on all changes up to `last` are known."""
        store = self.target.store
        ends = [store.snapshots.earliest_id(), store.changelogs.earliest_id()]
        first = min((number for number in ends if number is not None), default=1)
        if self.mode is not IncrementalBetweenScanMode.AUTO:
            return first
        return first_readable_commit(
            self.target, SnapshotRange(start=first - 1, end=last), self.where
        )

    def between(self, increment: Increment) -> pa.Table:
        """Return all changes of an increment."""
        if increment.mode is IncrementalBetweenScanMode.DIFF:
            return self._diff(increment)
        if increment.mode is IncrementalBetweenScanMode.AUTO:
            found = change_log(self.target, increment.span, self.where)
        else:
            found = branch_changes(self.target, increment.span_of, increment.mode, self.where)
        batches = chain.from_iterable(self._batches(*one, BATCH_ROWS) for one in _joined(found))
        return self._named(list(batches))

    def batches(
        self, snapshot: Snapshot, splits: Sequence[Split], batch_rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Iterate over the changes of a commit, in bounded memory.

        Args:
            snapshot: the commit.
            splits: its changes.
            batch_rows: maximum number of rows of a batch that is read from one file.
        """
        return self._batches([snapshot], splits, batch_rows)

    def _batches(
        self, snapshots: Sequence[Snapshot], splits: Sequence[Split], batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Iterate over the changes of one commit or several."""
        compared = [split.base for split in splits if isinstance(split, DifferenceSplit)]
        read = (*compared[:1], *snapshots)
        with explain_missing_files(self.target.store, *read, changes=not compared):
            kinds = (SystemColumn.VALUE_KIND,)
            reader = replace(self._reader(kinds, self.columns), batch_rows=batch_rows)
            for batch in read_all(reader, splits):
                yield self._kinds_first(batch)

    def _rows_of(self, snapshot: Snapshot, splits: Sequence[Split]) -> pa.Table:
        return self._named(list(self.batches(snapshot, splits)))

    def _reader(self, system: tuple[SystemColumn, ...], columns: tuple[str, ...]) -> SplitReader:
        return SplitReader(
            target=self.target, columns=columns, predicate=self.where, system_columns=system
        )

    def _kinds_first(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        *columns, kinds = batch.columns
        if self.narrowed is not None:
            whole = self.target.schema.project(self.columns)
            columns = projected_columns(columns, whole, self.narrowed)
        return pa.RecordBatch.from_arrays([row_kinds(kinds), *columns], schema=self.schema)

    def _named(self, batches: list[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches(batches, schema=self.schema)

    def _diff(self, increment: Increment) -> pa.Table:
        states = [
            replace(self.target, snapshot=self._snapshot(increment, number), travelled=True)
            for number in (increment.span.start, increment.span.end)
        ]
        keys = self.target.schema.primary_keys if self.target.keys is not None else ()
        with explain_missing_files(self.target.store, *(state.snapshot for state in states)):
            plans = [plan_table(state).splits for state in states]
            changed = changed_splits(*plans, whole_buckets=bool(keys))
            before, after = (self._state(splits) for splits in changed)
        found = difference(before, after, keys)
        wanted = found.select([*self.columns, "_VALUE_KIND"]).combine_chunks()
        return self._named([self._kinds_first(batch) for batch in wanted.to_batches()])

    def _snapshot(self, increment: Increment, number: int) -> Snapshot | None:
        """The snapshot of an id; None for 0, the empty table before the first snapshot."""
        if number in increment.tagged:
            return increment.tagged[number]
        return self.target.store.snapshots.load(number) if number else None

    def _state(self, splits: Sequence[Split]) -> pa.Table:
        reader = self._reader((), self.target.schema.row_type.names)
        batches = [*read_all(reader, splits)]
        return pa.Table.from_batches(batches, schema=arrow_schema(self.target.schema.row_type))


def _joined(
    changes: Iterator[tuple[Snapshot, Sequence[Split]]],
) -> Iterator[tuple[Sequence[Snapshot], Sequence[Split]]]:
    """Join commits that only added files of one branch, so that small files are read at once."""
    groups = groupby(changes, key=lambda change: _branch_of_added(change[1]))
    for branch, group in groups:
        if branch is None:
            yield from (([snapshot], splits) for snapshot, splits in group)
            continue
        snapshots, parts = zip(*group, strict=True)
        yield snapshots, Splits.joined(parts)


def _branch_of_added(splits: Sequence[Split]) -> str | None:
    """Return the branch of files that are read as they were added; None for other changes."""
    if not isinstance(splits, Splits) or splits.same_rows is not None:
        return None
    return None if splits.files.deletion_files else splits.files.branch


def next_change(store: TableStore, consumer_id: str | None) -> int | None:
    """Return the commit that a consumer reads next; None for a consumer that has read nothing."""
    consumer = None if consumer_id is None else store.consumers.find(consumer_id)
    return None if consumer is None else consumer.next_snapshot


def without_retracts(rows: pa.Table) -> pa.Table:
    """Return the rows that exist after a change, without their kind."""
    is_retract = pc.is_in(column(rows, ROWKIND.name), _RETRACTS)
    kept = np.flatnonzero(~bool_values(is_retract))
    rows = rows.drop_columns([ROWKIND.name])
    return rows if len(kept) == rows.num_rows else rows.take(row_array(kept))
