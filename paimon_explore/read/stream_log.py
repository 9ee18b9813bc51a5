"""The log of changes that streams read: iteration, the command `tail` and Spark share it.

A stream asks for the commits that are ready after its position, and reads their changes. The log
ends where the options say:

| option | effect |
| --- | --- |
| `scan.bounded.watermark` | the stream ends before the first snapshot with a greater watermark |
| `streaming.read.snapshot.delay` | younger snapshots, by the local clock, are not ready yet |
| `streaming-read-overwrite`, `streaming-read-append-overwrite` | how OVERWRITE commits are read |

A stream never skips a commit silently. If the next one has expired, or the commits that were read
are replaced, by a rollback for example, it fails. Seen with the official Java 2.0.0, which notices
a rollback only while the next snapshot is greater than the latest one plus one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import NotFoundError, SnapshotExpiredError, StreamRollbackError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    IncrementalBetweenScanMode,
)
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_PRODUCER,
    DELETION_VECTORS_MERGE_ON_READ,
    POSTPONE_BUCKET,
    SCAN_BOUNDED_WATERMARK,
    STREAMING_READ_SNAPSHOT_DELAY,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.commit_changes import change_log
from paimon_explore.scan.commit_times import known_commits
from paimon_explore.scan.incremental import (
    SnapshotRange,
    change_mode,
    change_splits,
    check_unchanged,
    partition_filter_of,
)
from paimon_explore.scan.live_entries import live_files
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.scan.splits.postponed_splits import write_order
from paimon_explore.scan.splits.split_generator import files_as_splits
from paimon_explore.store.expired import explain_missing_files

AUTO = IncrementalBetweenScanMode.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The commits that a stream can read now.

    Attributes:
        last: the last of them; the position of the stream if there are none.
        is_end: whether the stream ends after them.
    """

    last: int
    is_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLog:
    """The commits of a table, in order.

    Attributes:
        target: the table; its schema is the reading schema, its snapshot is ignored.
        where: bound to the reading schema.
        mode: `auto` for complete changes, which can be replayed. `delta` and `changelog` are the
            streams of Java: the files that APPEND commits added, and changelog files.
        is_checked: whether rollbacks are noticed while commits are read; see `SnapshotRange`.
        now_ms: epoch milliseconds.
    """

    target: ScanTarget
    where: Expression = TRUE
    mode: IncrementalBetweenScanMode = AUTO
    is_checked: bool = False
    now_ms: Callable[[], int] = system_clock

    def ready(self, done: int, seen: Snapshot | None = None) -> Ready:
        """Return the commits after a position that can be read now.

        Args:
            done: everything up to this snapshot was read.
            seen: that snapshot, to check that it was not replaced; None if unknown.

        Raises:
            StreamRollbackError: commits that were read are rolled back or replaced.
        """
        store = self.target.store
        latest = store.snapshots.latest_id() or 0
        if seen is not None:
            check_unchanged(store, seen, done + 1)
        if latest < done:
            raise StreamRollbackError(
                f"The next snapshot of the stream is {done + 1}, but the latest snapshot of "
                f"{store.paths.branch_root} is {latest or 'none'}: the table was rolled back or "
                "created anew.",
                position=done + 1,
                hint="Start a new stream with from_='full', or after the snapshot to which the "
                "table was rolled back. A consumer must be deleted or reset before.",
            )
        options = self.target.options
        bound = options.value(SCAN_BOUNDED_WATERMARK)
        delay = options.value(STREAMING_READ_SNAPSHOT_DELAY)
        if bound is None and delay is None:
            return Ready(last=latest)
        return self._limited(done, latest, bound, delay)

    def _limited(self, done: int, latest: int, bound: int | None, delay: int | None) -> Ready:
        """The commits up to a watermark, and older than a delay."""
        store = self.target.store
        for number in range(max(done, 1), latest + 1):
            found = store.snapshots.find(number) or store.changelogs.find(number)
            if found is None:  # expired; reading the changes tells
                continue
            if bound is not None and found.watermark is not None and found.watermark > bound:
                return Ready(last=max(number - 1, done), is_end=True)
            if number > done and delay is not None and self.now_ms() - delay < found.time_millis:
                return Ready(last=number - 1)
        return Ready(last=latest)

    def changes(
        self, done: int, last: int, seen: Snapshot | None = None
    ) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
        """The splits with the changes of each commit, oldest first, without empty ones.

        Args:
            done: everything up to this snapshot was read.
            last: the last commit to read.
            seen: the snapshot `done`; None if unknown.

        Raises:
            SnapshotExpiredError: a commit, or a state that its changes need, has expired.
            StreamRollbackError: commits were rolled back or replaced meanwhile.
        """
        span = SnapshotRange(start=done, end=last, is_checked=self.is_checked, after=seen)
        try:
            yield from self._found(span)
        except NotFoundError as error:
            if error.kind != "snapshot" or not isinstance(error.name, int):
                raise
            raise self._expired(error.name) from error

    def _found(self, span: SnapshotRange) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
        target = self.target
        if self.mode is AUTO:
            return change_log(target, span, self.where)
        # With the mode of the table's changelog producer, streams also read OVERWRITE commits.
        mode = AUTO if self.mode is change_mode(target) else self.mode
        return change_splits(target, span, mode, self.where)

    def _expired(self, number: int) -> SnapshotExpiredError:
        known = known_commits(self.target.store)
        earliest = f"the earliest one is {known[0]}" if known else "there is no snapshot"
        return SnapshotExpiredError(
            f"The next snapshot of the stream, {number} of "
            f"{self.target.store.paths.branch_root}, has expired: {earliest}.",
            hint="Start a new stream with from_='full', which reads the whole table first, or with "
            "from_='earliest', which leaves out the expired changes. A consumer must be deleted or "
            "reset before. A stream with a consumer keeps its snapshots from expiring.",
        )

    def state_target(self, snapshot: Snapshot | None) -> ScanTarget:
        """The target with which a stream reads the rows of a snapshot that come first.

        The streams of Java leave out records whose changes come later, with a compaction, and
        merge all others, also where batch reads do not see them before a compaction.
        """
        state = replace(self.target, snapshot=snapshot, travelled=True)
        options = self.target.options
        if self.mode is AUTO:
            return state
        state = replace(
            state, options=options.changed({DELETION_VECTORS_MERGE_ON_READ.key: "true"})
        )
        match options.value(CHANGELOG_PRODUCER):
            case ChangelogProducer.LOOKUP:
                return replace(state, min_level=1)
            case ChangelogProducer.FULL_COMPACTION:
                return replace(state, min_level=level_count(options) - 1)
            case _:
                return state

    def postponed(self, snapshot: Snapshot) -> Sequence[Split]:
        """The postponed records of a snapshot, in write order, which are part of a state.

        Streams of mode `delta` return such records when they are committed, and nothing when they
        are compacted. Java returns them unmerged.
        """
        target = self.target.for_read()
        if (
            self.mode is not IncrementalBetweenScanMode.DELTA
            or target.options.value(BUCKET) != POSTPONE_BUCKET
        ):
            return ()
        with explain_missing_files(target.store, snapshot):
            files = live_files(target.store, snapshot, partition_filter_of(target, self.where))
        wanted = numbers(files.table, "bucket") == POSTPONE_BUCKET
        wanted &= numbers(files.table, "creation_time") >= (target.created_since or 0)
        files = files.filter(wanted)
        files = files.take(write_order(files))
        return files_as_splits(target.located_changes(files, snapshot), target.rules)
