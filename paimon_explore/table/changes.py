"""What happened to a table: the changes of each commit, and those between two points.

Spec: flink/sql-query, streaming and incremental queries; `incremental-between*`, `scan.mode`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metadata.option_choices import IncrementalBetweenScanMode
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.difference import changed_splits, difference
from paimon_explore.read.split_read import SplitReader
from paimon_explore.scan.branch_plans import plan_table
from paimon_explore.scan.expression import TRUE, Expression
from paimon_explore.scan.incremental import SnapshotRange, change_mode, change_splits
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.split import Split
from paimon_explore.table.row_tables import ROWKIND, row_kinds
from paimon_explore.types.arrow import arrow_schema

_RETRACTS = ("-U", "-D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one commit changed.

    Attributes:
        snapshot: the commit.
        rows: the changed rows; the column `rowkind` (`+I`, `-U`, `+U`, `-D`), then the wanted ones.
    """

    snapshot: Snapshot
    rows: pa.Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReader:
    """Reads changes of a table.

    Attributes:
        target: the table; its schema is the reading one, its snapshot does not matter.
        columns: wanted columns.
        where: bound predicate.
    """

    target: ScanTarget
    columns: tuple[str, ...]
    where: Expression = TRUE

    @property
    def schema(self) -> pa.Schema:
        """`rowkind`, then the wanted columns."""
        return pa.schema([ROWKIND, *arrow_schema(self.target.schema.project(self.columns))])

    def commits(self, span: SnapshotRange) -> Iterator[Change]:
        """The changes of each commit of a range, oldest first; commits without any are left out."""
        for snapshot, splits in change_splits(self.target, span, predicate=self.where):
            rows = self._rows(splits)
            if rows.num_rows:
                yield Change(snapshot=snapshot, rows=rows)

    def between(self, span: SnapshotRange, mode: IncrementalBetweenScanMode) -> pa.Table:
        """All changes of a range together."""
        if mode is IncrementalBetweenScanMode.DIFF:
            return self._diff(span)
        found = change_splits(self.target, span, mode, self.where)
        return pa.concat_tables(
            [self.schema.empty_table(), *(self._rows(splits) for _, splits in found)]
        )

    def _rows(self, splits: tuple[Split, ...]) -> pa.Table:
        reader = self._reader((SystemColumn.VALUE_KIND,), self.columns)
        batches = [batch for split in splits for batch in reader.read(split)]
        return self._named([self._kinds_first(batch) for batch in batches])

    def _reader(self, system: tuple[SystemColumn, ...], columns: tuple[str, ...]) -> SplitReader:
        return SplitReader(
            store=self.target.store,
            schema=self.target.schema,
            options=self.target.options,
            columns=columns,
            predicate=self.where,
            system_columns=system,
        )

    def _kinds_first(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        kinds = row_kinds(batch.column(batch.num_columns - 1))
        return pa.RecordBatch.from_arrays([kinds, *batch.columns[:-1]], schema=self.schema)

    def _named(self, batches: list[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches(batches, schema=self.schema)

    def _diff(self, span: SnapshotRange) -> pa.Table:
        if self.target.keys is None:
            msg = "Only the states of a primary-key table can be compared by key."
            raise InvalidInputError(msg, hint="Use the mode 'delta' for added rows.")
        snapshots = self.target.store.snapshots
        states = [
            replace(self.target, snapshot=snapshots.load(number), travelled=True)
            for number in (span.start, span.end)
        ]
        plans = [plan_table(state).splits for state in states]
        before, after = (self._state(splits) for splits in changed_splits(*plans))
        found = difference(before, after, self.target.schema.primary_keys)
        wanted = found.select([*self.columns, "_VALUE_KIND"]).combine_chunks()
        return self._named([self._kinds_first(batch) for batch in wanted.to_batches()])

    def _state(self, splits: list[Split]) -> pa.Table:
        reader = self._reader((), self.target.schema.row_type.names)
        batches = [batch for split in splits for batch in reader.read(split)]
        return pa.Table.from_batches(batches, schema=arrow_schema(self.target.schema.row_type))


def span_of(target: ScanTarget, start: int | str, end: int | str) -> SnapshotRange:
    """The commits after `start` up to `end`, each a snapshot id or a tag's name.

    Raises:
        NotFoundError: no such tag; the end does not exist.
        InvalidInputError: the end is before the start.
    """
    numbers = [_number(target, point) for point in (start, end)]
    if numbers[0] > numbers[1]:
        raise InvalidInputError(f"The end {end!r} is before the start {start!r}.")
    latest = target.store.snapshots.latest_id() or 0
    if numbers[1] > latest:
        raise NotFoundError("snapshot", numbers[1], hint=f"The newest one is {latest}.")
    return SnapshotRange(start=numbers[0], end=numbers[1])


def _number(target: ScanTarget, point: int | str) -> int:
    return point if isinstance(point, int) else target.store.tags.load(point).snapshot.id


def default_mode(
    target: ScanTarget, start: int | str, mode: str | IncrementalBetweenScanMode
) -> IncrementalBetweenScanMode:
    """What `auto` stands for: two tags are compared, between snapshots changes are read.

    Raises:
        InvalidInputError: an unknown mode.
    """
    try:
        chosen = IncrementalBetweenScanMode(mode)
    except ValueError as error:
        known = ", ".join(repr(m.value) for m in IncrementalBetweenScanMode)
        raise InvalidInputError(f"{mode!r} is no mode.", hint=f"Modes: {known}.") from error
    if chosen is not IncrementalBetweenScanMode.AUTO:
        return chosen
    if isinstance(start, str) and target.keys is not None:
        return IncrementalBetweenScanMode.DIFF
    return change_mode(target)


def without_retracts(rows: pa.Table) -> pa.Table:
    """The rows that are there after a change, without their kind."""
    kinds = rows.column(0).to_pylist()
    kept = [number for number, kind in enumerate(kinds) if kind not in _RETRACTS]
    return rows.take(pa.array(kept, pa.int64())).drop_columns([ROWKIND.name])
