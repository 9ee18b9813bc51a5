"""Reads a stream: the state that comes first, then the changes of each commit.

The rows have the columns of the schema at the start, as in Java: columns that are added later do
not appear, until a new stream is started. If a column that is read is dropped, is renamed or gets
another type, the stream ends with an error before the first commit of the new schema; Java reads
nulls, keeps the old name, or casts the values. Options of the new schema apply from then on.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, StreamRollbackError, StreamSchemaError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode
from paimon_explore.metadata.options.refused_options import Use, check_supported_options
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import BATCH_ROWS
from paimon_explore.read.stream_log import StreamLog
from paimon_explore.scan.branch_scan import stream_state, stream_target
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.stream_start import StreamStart
from paimon_explore.scan.time_travel import NEWEST
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.row_changes import ChangeReader
from paimon_explore.table.streams.change_batch import BatchLimits, ChangeBatch
from paimon_explore.table.streams.stream_position import without_positions

_INSERT, _UPDATE = pa.scalar("+I"), pa.scalar("+U")


class TableScan(Protocol):
    """A scan of a table: what `table.scan` makes, which imports the types of streams."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The selected columns."""

    @property
    def narrowed(self) -> RowType | None:
        """Their types where fields of ROW columns were selected; else None."""

    @property
    def where(self) -> Expression:
        """The filter, bound to the columns of the table."""

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """What a stream reads.

    Attributes:
        store: the branch.
        options: options of the table object, which override those of the schema.
        start_options: options that replace those for the start position; None keeps them.
        columns: the selected columns; None for all at the start.
        scan_of: makes the scan of some columns of a target, with the filter.
        mode: as in `StreamLog`.
        limits: of a batch.
    """

    store: TableStore
    options: dict[str, str]
    start_options: dict[str, str] | None = None
    columns: tuple[str, ...] | None = None
    scan_of: Callable[[ScanTarget, tuple[str, ...] | None], TableScan]
    mode: IncrementalBetweenScanMode = IncrementalBetweenScanMode.AUTO
    limits: BatchLimits = BatchLimits()

    def table(self) -> ScanTarget:
        """Return the table at its latest schema."""
        schema = latest_schema(self.store)
        options = {**schema.options, **self.options}
        if self.start_options is not None:
            options = without_positions(options) | self.start_options
        known = TableOptions(options)
        check_supported_options(known, Use.STREAM, self.store.paths.root)
        return ScanTarget(
            store=self.store, schema=schema, options=known, snapshot=None, travel=NEWEST
        )

    def target(self) -> ScanTarget:
        """Return the branch of the table whose commits are read."""
        return stream_target(self.table())

    def reader(self, target: ScanTarget) -> ChangeReader:
        """Return the reader of the changes.

        Raises:
            InvalidInputError: unknown columns, or a filter that cannot be parsed.
        """
        scan = self.scan_of(target, self.columns)
        return ChangeReader(
            target=target,
            columns=scan.columns,
            narrowed=scan.narrowed,
            where=scan.where,
            mode=self.mode,
        )


class StreamReader:
    """Reads a stream from its position on.

    Args:
        request: what to read.
        reader: the changes, at the schema of the start.
        start: the start position.
        until: the last snapshot to read; None for no end.
        moved: is called with the last snapshot that has been taken, whenever that changes.
        acknowledge: is called when a batch is acknowledged.

    Attributes:
        taken: everything up to this snapshot has been taken; None before the state has been.
    """

    def __init__(
        self,
        request: StreamRequest,
        reader: ChangeReader,
        start: StreamStart,
        until: int | None,
        moved: Callable[[int], None],
        acknowledge: Callable[[ChangeBatch], None],
    ) -> None:
        columns = reader.columns if request.columns is None else request.columns
        self._request = replace(request, columns=columns)
        self._reader = reader
        self._start = start
        self._until = until
        self._moved = moved
        self._acknowledge = acknowledge
        self.taken = None if start.whole else start.snapshot
        self._seen = self._store.snapshots.find(start.snapshot) if start.snapshot else None

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return self._reader.schema

    @property
    def _store(self) -> TableStore:
        return self._reader.target.store

    @property
    def _log(self) -> StreamLog:
        reader = self._reader
        return StreamLog(
            target=reader.target, where=reader.where, mode=reader.mode, is_checked=True
        )

    def parts(self) -> Iterator[ChangeBatch | None]:
        """Iterate over the batches; None where there is nothing new at the moment.

        May be called again after an error: it goes on with the first commit that was not taken.
        """
        done = self.taken
        while done is None:
            if self._until == 0:  # there was no snapshot yet
                return
            first = self._start.first or self._store.snapshots.latest()
            if first is None:
                latest_schema(self._store)  # the table still exists
                yield None
                continue
            yield from self._parts(first, self._state(first), is_state=True)
            self._take(first.id, first)
            done = first.id
        while True:
            last, is_end = self._ready(done)
            if last > done:
                done, before = self._follow_schema(done, last), done
                yield from self._commits(before, done)
            elif is_end or (self._until is not None and done >= self._until):
                return
            else:
                yield None

    def _ready(self, done: int) -> tuple[int, bool]:
        """The last commit that can be read now, and whether the stream ends after it."""
        try:
            ready = self._log.ready(done, self._seen)
        except StreamRollbackError:
            latest_schema(self._store)  # the table still exists
            raise
        if not ready.last:
            latest_schema(self._store)
        last = ready.last if self._until is None else max(min(ready.last, self._until), done)
        return last, ready.is_end

    def _commits(self, done: int, last: int) -> Iterator[ChangeBatch]:
        for snapshot, splits in self._log.changes(done, last, self._seen):
            batches = self._reader.batches(snapshot, splits, self._batch_rows)
            yield from self._parts(snapshot, batches, is_state=False)
            self._take(snapshot.id, snapshot)
        if self.taken != last:
            self._take(last, self._store.snapshots.find(last))

    def _state(self, first: Snapshot) -> Iterator[pa.RecordBatch]:
        reader, request = self._reader, self._request
        state = stream_state(request.table(), self._log.state_target(first))
        scan = request.scan_of(state, request.columns)
        for batch in scan.to_batches():
            kinds = pa.repeat(_INSERT, batch.num_rows)
            yield pa.RecordBatch.from_arrays([kinds, *batch.columns], schema=reader.schema)
        for batch in reader.batches(first, self._log.postponed(first), self._batch_rows):
            stored = batch.column(0)
            found = pc.call_function("if_else", [pc.equal(stored, _UPDATE), _INSERT, stored])
            yield batch.set_column(0, batch.schema.field(0), found)

    def _parts(
        self, snapshot: Snapshot, batches: Iterable[pa.RecordBatch], *, is_state: bool
    ) -> Iterator[ChangeBatch]:
        found = self._request.limits.batches(batches, self.schema)
        for number, (rows, is_last) in enumerate(found):
            yield ChangeBatch(
                snapshot=snapshot,
                rows=rows,
                part=number,
                is_last=is_last,
                is_state=is_state,
                _acknowledge=self._acknowledge,
            )

    def _take(self, number: int, seen: Snapshot | None) -> None:
        self.taken, self._seen = number, seen
        self._moved(number)

    @property
    def _batch_rows(self) -> int:
        return min(BATCH_ROWS, self._request.limits.rows)

    def _follow_schema(self, done: int, last: int) -> int:
        """Read on with the latest schema if a commit has a newer one.

        Returns:
            the last commit that can be read with the columns of the stream.
        """
        known = self._reader.target.schema.id
        found = self._store.snapshots.find(last)
        if found is None or found.schema_id <= known:
            return last
        problem = self._use_latest_schema()
        if not problem:
            return last
        for number in range(done + 1, last):
            newer = self._store.snapshots.find(number)
            if newer is not None and newer.schema_id > known:
                last = number
                break
        if last > done + 1:
            return last - 1
        raise self._changed(done, problem)

    def _use_latest_schema(self) -> str:
        """Read on with the latest schema; return why that is not possible, or ""."""
        try:
            reader = self._request.reader(self._request.target())
        except InvalidInputError as error:
            return str(error)
        problem = _other_types(self.schema, reader.schema)
        if not problem:
            self._reader = reader
        return problem

    def _changed(self, done: int, what: str) -> StreamSchemaError:
        return StreamSchemaError(
            f"The schema of {self._store.paths.root} changed after snapshot {done}, and the stream "
            f"cannot go on with its columns: {what.removesuffix('.')}.",
            position=done + 1,
            hint=f"Start a new stream with from_={done + 1}, or with the same consumer; it has the "
            "columns of the new schema.",
        )


def _other_types(old: pa.Schema, new: pa.Schema) -> str:
    """Which columns of a new schema have other types; "" if none."""
    return "; ".join(
        f"column {after.name!r} is {after.type}, it was {before.type}"
        for before, after in zip(old, new, strict=True)
        if before.type != after.type
    )
