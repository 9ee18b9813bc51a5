"""Structured Streaming source: its offsets, and the batches that follow a table's commits.

An offset is `{"snapshot": n, "whole": …}`: everything up to snapshot n is delivered. The
first batch is the state of the table (`whole`), unless the options `scan.*` or `consumer-id` set
another start position, in Java's meaning (`scan.stream_start`). The commits come from the log that
all streams share (`read.stream_log`).

A batch takes whole snapshots: as many as fit `read.stream.maxFilesPerTrigger`,
`…maxRowsPerTrigger`, `…maxBytesPerTrigger` and `…maxSnapshotsPerTrigger`, but at least one; the
state of the table is one batch. A consumer's progress is kept when Spark begins the next batch, so
its snapshots do not expire before.

Replaying the changes gives the rows of the table (`read.commit_changes`). The option
`read.changelog` adds the column `_row_kind`: +I and +U rows exist after the commit, -U and -D rows
do not. All changes of a key are in one partition of a batch, in order. Without that column a stream
fails if a row was deleted, or replaced in a table without a primary key; with the option
`read.ignore-deletes` it skips such rows (`spark.streaming.stream_changes`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StringType, StructField, StructType

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.tag_options import CONSUMER_ID
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.read.stream_log import StreamLog
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.scan.stream_start import stream_start
from paimon_explore.spark.python_worker_patches import lighten_worker
from paimon_explore.spark.read_plan import groups, whole_columns
from paimon_explore.spark.spark_types import spark_schema, to_spark, wire_schema
from paimon_explore.spark.streaming.read_limit_stand_ins import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from paimon_explore.spark.streaming.stream_changes import ChangeGroup, change_groups, new_rows
from paimon_explore.table.audit_log_binlog_tables import row_kinds
from paimon_explore.table.scan import Scan

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
        self._scan = scan
        self._start = stream_start(scan.target.store, scan.target.options)
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
        """Return the end of the next batch; Spark before 4.2 passes no start and gets all."""
        begin = dict(start or self.initialOffset())
        done = int(str(begin["snapshot"]))
        latest = self._until or self._log.ready(done).last
        if latest <= done:
            return begin
        if begin["whole"] and start is not None:
            return {"snapshot": self._first or latest, "whole": False}
        if self._limits.given and limit is not None and not isinstance(limit, ReadAllAvailable):
            latest = self._limits.last(self._counted(done, latest)) or latest
        return {"snapshot": latest, "whole": False}

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
        """Return the splits between two offsets, grouped into tasks."""
        first, last = int(str(start["snapshot"])), int(str(end["snapshot"]))
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
        target = replace(self._scan.target, snapshot=found)
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
            store=target.store,
            schema=target.schema,
            options=target.options,
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
