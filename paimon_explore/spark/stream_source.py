"""Structured Streaming source: its offsets, and the batches that follow a table's commits.

An offset is `{"snapshot": n, "whole": …, "commit": …}`: everything up to snapshot n is delivered.
The name of its delta manifest list tells whether the snapshot was replaced since, as a rollback
does; then the stream fails, like all streams (`read.stream_log`).

The first batch is the state of the table (`whole`), unless the options `scan.*` or `consumer-id`
set another start position, in Java's meaning (`scan.stream_start`). The commits come from the log
that all streams share.

A batch takes whole snapshots: as many as fit `read.stream.maxFilesPerTrigger`,
`…maxRowsPerTrigger`, `…maxBytesPerTrigger` and `…maxSnapshotsPerTrigger`, but at least one; the
state of the table is one batch. A consumer's progress is kept when Spark begins the next batch, so
its snapshots do not expire before.

Replaying the changes gives the rows of the table (`read.commit_changes`). The option
`read.changelog` adds the column `_row_kind`: +I and +U rows exist after the commit, -U and -D rows
do not. All changes of a key are in one partition of a batch, in order. Without that column a stream
fails if a row was deleted, or replaced in a table without a primary key; with the option
`read.ignore-deletes` it skips such rows (`spark.streaming.stream_changes`).

Spark's classes for admission control of streams, with stand-ins for Spark before 4.2.

Spark 4.1 has no admission control and reads everything at once; it never uses the stand-ins.

The changes of a stream: their assignment to tasks, and the rows of streams without row kinds.

The tasks of a batch run in parallel, so all changes of a key go to one task, in the order of the
commits. In a table without a primary key the order does not matter.

A stream without row kinds contains new rows only. With a primary key an update is represented by
its new row. Deleted rows, and replaced rows without a key, cannot be represented: the task raises
an error, unless `read.ignore-deletes` is set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StringType, StructField, StructType

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import int64_values
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.numpy_columns import mask_array
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.refused_options import check_not_postponed
from paimon_explore.metadata.options.tag_options import CONSUMER_ID
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.read.stream_log import StreamLog
from paimon_explore.scan.branch_scan import stream_state, stream_target
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit, DifferenceSplit, RetractedSplit, Split
from paimon_explore.scan.stream_start import stream_start
from paimon_explore.spark.python_worker_patches import lighten_worker
from paimon_explore.spark.read_plan import groups, whole_columns
from paimon_explore.spark.spark_types import spark_schema, to_spark, wire_schema
from paimon_explore.table.row_changes import row_kinds
from paimon_explore.table.scan import Scan

_UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 1, 2, 3


class ChangeGroup(InputPartition):
    """The splits of one task: of the table's state, or of changes.

    Attributes:
        splits: read one after the other.
        commits: the kinds of the commits by snapshot id, for errors; empty for a state.
        whole: whether they belong to a state.
    """

    def __init__(
        self, splits: Sequence[Split], commits: Mapping[int, str], *, whole: bool = False
    ) -> None:
        super().__init__(None)
        self.splits = tuple(splits)
        self.commits = dict(commits)
        self.whole = whole

    def commit_of(self, split: Split) -> str:
        """Return the commit of a split, for errors."""
        number = split.snapshot_id
        kind = self.commits.get(number or 0)
        return f"snapshot {number} ({kind})" if kind else "a commit"


def change_groups(
    target: ScanTarget, found: Iterable[tuple[Snapshot, Sequence[Split]]], parallelism: int
) -> list[ChangeGroup]:
    """Group the changes of commits into tasks.

    Args:
        target: the table.
        found: the changes of each commit, oldest first.
        parallelism: tasks that can run at the same time.
    """
    splits: list[Split] = []
    commits: dict[int, str] = {}
    for snapshot, splits_of_commit in found:
        commits[snapshot.id] = snapshot.commit_kind.value
        splits.extend(splits_of_commit)
    parts = _by_key(target, splits) if target.keys is not None else groups(splits, parallelism)
    return [ChangeGroup(part, commits) for part in parts]


def _by_key(target: ScanTarget, splits: Sequence[Split]) -> Iterable[Sequence[Split]]:
    """Group splits in order, such that all changes of a key are in one group."""
    if not set(target.schema.partition_keys) <= set(target.schema.primary_keys):
        return [splits] if splits else []
    counts: dict[bytes, set[int]] = {}
    for split in splits:
        counts.setdefault(split.partition, set()).update(n for _, n in _buckets(split))
    found: dict[object, list[Split]] = {}
    for split in splits:
        first = min(counts[split.partition])
        in_bucket = len(counts[split.partition]) == 1 and first > 0
        where = (split.partition, *(_buckets(split) if in_bucket else ()))
        found.setdefault(where, []).append(split)
    return found.values()


def _buckets(split: Split) -> set[tuple[int, int]]:
    """Return the buckets of a split, each with the bucket count its files were written with."""
    match split:
        case DataSplit():
            return {(split.bucket, split.total_buckets)}
        case RetractedSplit():
            return _buckets(split.of)
        case DifferenceSplit():
            return {found for part in (*split.before, *split.after) for found in _buckets(part)}
        case _:
            return {(0, -1)}


def new_rows(
    batches: Iterator[pa.RecordBatch], *, keyed: bool, commit: str, place: str
) -> Iterator[pa.RecordBatch]:
    """Return the rows that exist after a commit, of batches whose last column is the row kind.

    Args:
        batches: the changes of one split.
        keyed: whether a new row replaces the one of the same key.
        commit: the commit.
        place: the table's folder.

    Raises:
        UnsupportedFeatureError: a row was deleted, or replaced in a table without a key.
    """
    replaced = False
    for batch in batches:
        kinds = int64_values(batch.column(batch.num_columns - 1))
        before = kinds == _UPDATE_BEFORE
        after = np.append(kinds[1:] == _UPDATE_AFTER, True)
        lone = (before & ~after).any() or (replaced and kinds[0] != _UPDATE_AFTER)
        if lone or (kinds == _DELETE).any() or (before.any() and not keyed):
            raise _refused(commit, place)
        replaced = bool(before[-1])
        yield batch.filter(mask_array(~before)) if before.any() else batch
    if replaced:
        raise _refused(commit, place)


def _refused(commit: str, place: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"streaming without row kinds from {commit}, which deletes or replaces rows,",
        place,
        hint="Set the option 'read.changelog' to true to read the changes with their row kinds, or "
        "'read.ignore-deletes' to true to skip such changes.",
    )


__all__ = ["ReadAllAvailable", "ReadLimit", "ReadMaxFiles", "SupportsTriggerAvailableNow"]

_MODULE = "pyspark.sql.streaming.datasource"

if TYPE_CHECKING or find_spec(_MODULE) is not None:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
else:

    class ReadLimit:
        """A limit on how much a batch reads."""

    class ReadAllAvailable(ReadLimit):
        """No limit: a batch reads everything available."""

    class ReadMaxFiles(ReadLimit):
        """A limit on the number of files."""

        def __init__(self, max_files: int) -> None:
            self.max_files = max_files

    class SupportsTriggerAvailableNow:
        """A source that supports the trigger `availableNow`."""


ROW_KIND = "_row_kind"
_INSERT = "+I"
_ADDED = (0, 2)


def stream_schema(scan: Scan, *, kinds: bool) -> StructType:
    """Return the Spark schema of a stream's rows."""
    columns = spark_schema(whole_columns(scan).target.schema.project(scan.columns)).fields
    first = [StructField(ROW_KIND, StringType(), nullable=False)] if kinds else []
    return StructType([*first, *columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """Limits of a batch; None for no limit."""

    files: int | None = None
    rows: int | None = None
    size: int | None = None
    snapshots: int | None = None

    @property
    def given(self) -> bool:
        """Return whether any limit is set."""
        return self != NO_LIMITS

    def last(self, counted: Iterable[tuple[int, tuple[int, int, int]]]) -> int | None:
        """Return the last snapshot within the limits, but at least the first."""
        sums = [0, 0, 0]
        found = None
        for place, (number, figures) in enumerate(counted):
            sums = [total + more for total, more in zip(sums, figures, strict=True)]
            limits = (self.files, self.rows, self.size)
            over = any(cap is not None and n > cap for n, cap in zip(sums, limits, strict=True))
            if found is not None and (over or place == self.snapshots):
                return found
            found = number
        return found


NO_LIMITS = StreamLimits()


class PaimonStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Spark's stream reader for a table."""

    def __init__(
        self,
        scan: Scan,
        schema: StructType,
        parallelism: int,
        limits: StreamLimits,
        *,
        ignores_deletes: bool = False,
    ) -> None:
        check_not_postponed(
            scan.target.options, "streaming from a table", scan.target.store.paths.root
        )
        target = stream_target(scan.target)
        self._table = scan.target
        self._scan = replace(scan, target=target)
        self._start = stream_start(target.store, target.options)
        self._parallelism = parallelism
        self._limits = limits
        self._ignores_deletes = ignores_deletes
        self._until: int | None = None
        self._kinds = ROW_KIND in schema.fieldNames()
        self._wire = wire_schema(StructType([f for f in schema.fields if f.name != ROW_KIND]))

    def initialOffset(self) -> dict[str, object]:  # noqa: N802 - Spark's name
        """Return the offset before the first batch."""
        return {"snapshot": self._start.snapshot, "whole": self._start.whole}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Return whether batches are limited; `latestOffset` applies the limits."""
        return ReadMaxFiles(1) if self._limits.given else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """End the query at the latest snapshot of this moment."""
        done = 0 if self._start.whole else self._start.snapshot
        self._until = self._log.ready(done).last

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, object] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, object]:
        """Return the end of the next batch; Spark before 4.2 passes no start and gets all.

        Raises:
            StreamRollbackError: commits that were delivered are rolled back or replaced.
        """
        begin = dict(start or self.initialOffset())
        done = int(str(begin["snapshot"]))
        now = self._log.ready(done, self._seen(begin)).last
        latest = self._until or now
        if latest <= done:
            return begin
        if begin["whole"] and start is not None:
            latest = self._first or latest
        elif self._limits.given and limit is not None and not isinstance(limit, ReadAllAvailable):
            latest = self._limits.last(self._counted(done, latest)) or latest
        found = self._snapshot(latest)
        commit = {} if found is None else {"commit": found.delta_manifest_list}
        return {"snapshot": latest, "whole": False, **commit}

    def _snapshot(self, number: int) -> Snapshot | None:
        return self._scan.target.store.snapshots.find(number)

    def _seen(self, offset: Mapping[str, object]) -> Snapshot | None:
        """Return the snapshot of an offset as it was then; None if unknown."""
        found = self._snapshot(int(str(offset["snapshot"])))
        if found is None or "commit" not in offset:
            return None
        return replace(found, delta_manifest_list=str(offset["commit"]))

    def _counted(self, done: int, latest: int) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """Return the number of files, rows and bytes of each snapshot."""
        for number in range(done + 1, latest + 1):
            found = self._changes(number - 1, number)
            files = [split.files for _, splits in found for split in splits]
            rows = sum(entries.total_rows for entries in files)
            size = sum(entries.total_size for entries in files)
            yield number, (sum(map(len, files)), rows, size)

    def partitions(
        self, start: Mapping[str, object], end: Mapping[str, object]
    ) -> Sequence[InputPartition]:
        """Return the splits between two offsets, grouped into tasks.

        Raises:
            StreamRollbackError: commits that were delivered are rolled back or replaced.
        """
        first, last = int(str(start["snapshot"])), int(str(end["snapshot"]))
        self._log.ready(first, self._seen(start))
        if first >= last:
            return []
        if not start["whole"]:
            return self._changed(first, last)
        state = min(self._first or last, last)
        whole = groups(self._state(state), self._parallelism)
        return [
            *(ChangeGroup(group, {}, whole=True) for group in whole),
            *self._changed(state, last),
        ]

    def _changed(self, first: int, last: int) -> list[ChangeGroup]:
        found = self._changes(first, last)
        return change_groups(self._scan.target, found, self._parallelism)

    def _state(self, snapshot_id: int) -> Sequence[Split]:
        store = self._scan.target.store
        first = self._start.first
        known = first is not None and first.id == snapshot_id
        found = first if known else store.snapshots.load(snapshot_id)
        target = stream_state(self._table, replace(self._scan.target, snapshot=found))
        return replace(self._scan, target=target).plan().splits

    @property
    def _first(self) -> int | None:
        """The snapshot whose rows come first; None for the newest."""
        return None if self._start.first is None else self._start.first.id

    @property
    def _log(self) -> StreamLog:
        return StreamLog(target=self._scan.target, where=self._scan.where)

    def _changes(self, first: int, last: int) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
        return self._log.changes(first, last)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the rows of one group in Spark's Arrow schema."""
        lighten_worker()
        if not isinstance(partition, ChangeGroup):
            return
        for split in partition.splits:
            batches = self._reader(whole=partition.whole).read(split)
            if not (partition.whole or self._kinds or self._ignores_deletes):
                target = self._scan.target
                batches = new_rows(
                    batches,
                    keyed=target.keys is not None,
                    commit=partition.commit_of(split),
                    place=target.store.paths.branch_root,
                )
            for batch in batches:
                yield from self._out(batch, whole=partition.whole)

    def _reader(self, *, whole: bool) -> SplitReader:
        target = self._scan.target
        return SplitReader(
            target=target,
            columns=self._scan.columns,
            predicate=self._scan.where,
            system_columns=() if whole else (SystemColumn.VALUE_KIND,),
        )

    def _out(self, batch: pa.RecordBatch, *, whole: bool) -> Iterator[pa.RecordBatch]:
        if not whole and not self._kinds:
            kinds = batch.column(batch.num_columns - 1)
            batch = batch.filter(pc.is_in(kinds, pa.array(_ADDED, kinds.type)))
        if not batch.num_rows:
            return
        columns = batch.select(list(self._scan.columns))
        rows = to_spark(columns, self._scan.target.schema.project(self._scan.columns), self._wire)
        if self._kinds:
            texts = (
                pa.array([_INSERT] * batch.num_rows, pa.string())
                if whole
                else row_kinds(batch.column(batch.num_columns - 1))
            )
            field = pa.field(ROW_KIND, pa.string(), nullable=False)
            rows = rows.add_column(0, field, texts)
        yield rows

    def commit(self, end: Mapping[str, object]) -> None:
        """Store the progress of the consumer; the checkpoint stores the offsets."""
        name = self._scan.target.options.value(CONSUMER_ID)
        if name is not None:
            progress = Consumer(next_snapshot=int(str(end["snapshot"])) + 1)
            self._scan.target.store.consumers.save(name, progress)

    def stop(self) -> None:
        """Do nothing: the reader has no open resources."""
