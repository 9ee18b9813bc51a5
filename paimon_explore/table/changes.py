"""What happened to a table: the changes of each commit, and those between two points.

Spec: flink/sql-query, streaming and incremental queries; `incremental-between*`, `scan.mode`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import as_python, no_table
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.maintenance.auto_tags import automatic_tags, periods_of
from paimon_explore.maintenance.tags import local_now
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.option_choices import IncrementalBetweenScanMode, StartupMode
from paimon_explore.metadata.options import (
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_SCAN_MODE,
    INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    SCAN_MODE,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.difference import changed_splits, difference
from paimon_explore.read.split_read import SplitReader
from paimon_explore.scan.branch_plans import plan_table
from paimon_explore.scan.expression import TRUE, Expression
from paimon_explore.scan.frames import column, row_array
from paimon_explore.scan.incremental import SnapshotRange, change_mode, change_splits
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.split import Split
from paimon_explore.scan.time_travel import epoch_ms
from paimon_explore.store.expired import naming_expiry
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.row_tables import ROWKIND, row_kinds
from paimon_explore.types.arrow import arrow_schema

_RETRACTS = ("-U", "-D")
_ENDS = 2


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
class Increment:
    """What changed between two points.

    Attributes:
        span: the commits.
        mode: how it is told; not `auto`.
    """

    span: SnapshotRange
    mode: IncrementalBetweenScanMode


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
            rows = self._rows_of(snapshot, splits)
            if rows.num_rows:
                yield Change(snapshot=snapshot, rows=rows)

    def consumed(self, span: SnapshotRange, consumer_id: str) -> Iterator[Change]:
        """As `commits`, and keep a consumer's progress: what is asked beyond counts as consumed."""
        consumers = self.target.store.consumers
        for change in self.commits(span):
            yield change
            consumers.save(consumer_id, Consumer(next_snapshot=change.snapshot.id + 1))
        if span.end > span.start:
            consumers.save(consumer_id, Consumer(next_snapshot=span.end + 1))

    def between(self, increment: Increment) -> pa.Table:
        """All changes of a range together."""
        if increment.mode is IncrementalBetweenScanMode.DIFF:
            return self._diff(increment.span)
        found = change_splits(self.target, increment.span, increment.mode, self.where)
        return pa.concat_tables([no_table(self.schema), *(self._rows_of(*one) for one in found)])

    def _rows_of(self, snapshot: Snapshot, splits: Sequence[Split]) -> pa.Table:
        with naming_expiry(self.target.store, snapshot):
            return self._rows(splits)

    def _rows(self, splits: Sequence[Split]) -> pa.Table:
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
            replace(
                self.target,
                snapshot=snapshots.load(number) if number else None,  # before the first: no rows
                travelled=True,
            )
            for number in (span.start, span.end)
        ]
        oldest = states[0].snapshot or states[1].snapshot
        with naming_expiry(self.target.store, oldest):
            plans = [plan_table(state).splits for state in states]
            before, after = (self._state(splits) for splits in changed_splits(*plans))
        found = difference(before, after, self.target.schema.primary_keys)
        wanted = found.select([*self.columns, "_VALUE_KIND"]).combine_chunks()
        return self._named([self._kinds_first(batch) for batch in wanted.to_batches()])

    def _state(self, splits: list[Split]) -> pa.Table:
        reader = self._reader((), self.target.schema.row_type.names)
        batches = [batch for split in splits for batch in reader.read(split)]
        return pa.Table.from_batches(batches, schema=arrow_schema(self.target.schema.row_type))


def first_change(store: TableStore, consumer_id: str | None) -> int:
    """The commit that a reader begins with: a consumer's next one, else the earliest kept."""
    consumer = None if consumer_id is None else store.consumers.find(consumer_id)
    if consumer is not None:
        return consumer.next_snapshot
    kept = [store.snapshots.earliest_id(), store.changelogs.earliest_id()]
    return min((number for number in kept if number is not None), default=1)


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
    kinds = as_python(column(rows, ROWKIND.name))
    kept = np.flatnonzero([kind not in _RETRACTS for kind in kinds])
    return rows.take(row_array(kept)).drop_columns([ROWKIND.name])


def increment_of(target: ScanTarget) -> Increment | None:
    """The increment that `incremental-between*` options ask for instead of the table's rows.

    Raises:
        NotFoundError: no such tag or snapshot.
        InvalidInputError: not two points, or the second before the first; `scan.mode=incremental`
            without any; an automatic tag that is none by its name.
    """
    options = target.options
    tag = options.value(INCREMENTAL_TO_AUTO_TAG)
    if tag is not None:
        return _to_auto_tag(target, tag)
    points, times = (options.value(o) for o in (INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_TIMESTAMP))
    if not points and not times:
        if options.value(SCAN_MODE) is StartupMode.INCREMENTAL:
            msg = f"{SCAN_MODE.key}=incremental needs {INCREMENTAL_BETWEEN.key}."
            raise InvalidInputError(msg)
        return None
    given = points or times
    if len(given) != _ENDS:
        msg = f"An increment has two ends, but {', '.join(given)} is given."
        raise InvalidInputError(msg, hint="Write it as 3,7.")
    start, end = ((_point(target, text) if points else _number_at(target, text)) for text in given)
    mode = options.value(INCREMENTAL_BETWEEN_SCAN_MODE)
    by_tag = isinstance(start, str) and not options.value(INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)
    return Increment(
        span=span_of(target, start, end),
        mode=default_mode(target, start, mode) if by_tag else default_mode(target, 0, mode),
    )


def _to_auto_tag(target: ScanTarget, name: str) -> Increment:
    """What is between the automatic tag before one and that one; nothing if either is missing."""
    periods = periods_of(target.options)
    end = periods.begin(name)
    if end is None:
        msg = f"{INCREMENTAL_TO_AUTO_TAG.key}={name!r} is not named for a period."
        raise InvalidInputError(
            msg, hint=f"Names are as {periods.name(periods.before(local_now()))!r}."
        )
    begins = {
        begin: tag.name
        for tag in automatic_tags(target.store, target.options)
        if (begin := periods.begin(tag.name)) is not None and begin <= end
    }
    earlier = max((begin for begin in begins if begin < end), default=None)
    if end not in begins or earlier is None:
        none = SnapshotRange(start=0, end=0)
        return Increment(span=none, mode=IncrementalBetweenScanMode.DELTA)
    start = begins[earlier]
    mode = target.options.value(INCREMENTAL_BETWEEN_SCAN_MODE)
    return Increment(span=span_of(target, start, name), mode=default_mode(target, start, mode))


def _point(target: ScanTarget, text: str) -> int | str:
    """A tag's name, or a snapshot id where no tag is called so."""
    number = text.isascii() and text.isdigit() and text not in target.store.tags.names()
    return int(text) if number else text


def _number_at(target: ScanTarget, text: str) -> int:
    """The newest snapshot not younger than a time; before all, the number before the first."""
    moment = int(text) if text.isascii() and text.isdigit() else epoch_ms(text)
    number = (target.store.snapshots.earliest_id() or 1) - 1
    for snapshot in target.store.snapshots.list():
        if snapshot.time_millis > moment:
            break
        number = snapshot.id
    return number
