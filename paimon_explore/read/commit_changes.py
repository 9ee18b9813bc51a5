"""What each commit of a range changed, such that replaying it gives the rows of the table.

Changes are replayed in order onto the rows before the range. With a primary key that is by key: +I
and +U set the row of the key, -U and -D remove it. Without one it is as a multiset: +I and +U add a
row, -U and -D take one away.

Most commits are told by files that they wrote, as Java does it: the added files of APPEND commits,
or changelog files. These commits are not, because such files alone do not give the new rows:

| table | commits | told by |
| --- | --- | --- |
| without a primary key | OVERWRITE (also UPDATE, DELETE, MERGE), new columns of old rows | states |
| deduplicate, changelog producer none or input | OVERWRITE | states |
| the same, but `sequence.field`, `ignore-delete`, a filter on other columns, … | all | states |
| other merge engines; rows visible only once compacted; keys across partitions | all | states |
| changelog producer lookup or full-compaction | see `CompactedLog` | changelog files, states |

Told by states means: the rows of the snapshot before and of the snapshot itself are compared, of
the buckets whose files differ. Both snapshots must be there then; a tag will do. Where one has
expired, the commit is refused with an error.

`streaming-read-overwrite` and `streaming-read-append-overwrite`, where they are set, keep Java's
meaning for OVERWRITE commits; see `scan.incremental`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto

from paimon_explore.data_types.arrow_buffers import as_python, valid_mask
from paimon_explore.errors import SnapshotExpiredError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    IncrementalBetweenScanMode,
    MergeEngine,
)
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    CHANGELOG_PRODUCER,
    DATA_EVOLUTION_ENABLED,
    IGNORE_DELETE,
    MERGE_ENGINE,
    RECORD_LEVEL_EXPIRE_TIME,
    SEQUENCE_FIELD,
)
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.read.snapshot_diff import ComparedRows, difference_splits
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.incremental import (
    SnapshotRange,
    added_splits,
    commits,
    listed_entries,
    overwrite_option,
    partition_filter_of,
    replaced_splits,
)
from paimon_explore.scan.live_entries import live_files
from paimon_explore.scan.manifest_arrays import column, numbers, numbers_of
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import PlainSplit, Split
from paimon_explore.store.expired import explain_missing_files

DELTA, CHANGELOG = IncrementalBetweenScanMode.DELTA, IncrementalBetweenScanMode.CHANGELOG
_KINDS_OF_ROWS = (CommitKind.APPEND, CommitKind.COMPACT, CommitKind.OVERWRITE)


def change_log(
    target: ScanTarget, span: SnapshotRange, predicate: Expression = TRUE
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """What each commit of a range changed, oldest first; commits that change nothing are left out.

    Args:
        target: the table; its snapshot does not matter, its schema is the reading one.
        span: the commits.
        predicate: bound to the reading schema; which rows are told. Here it cuts partitions, and
            decides how commits are told; splits have to be read with it.

    Raises:
        NotFoundError: a commit of the range expired and left no changelog.
        SnapshotExpiredError: it does so while it is read, or what it changed cannot be told without
            a state that has expired.
        UnsupportedFeatureError: the rows of the table lie in several branches.
    """
    if len(branches_read(target)) > 1:
        raise UnsupportedFeatureError(
            "telling the changes of a table whose rows lie in several branches",
            target.store.paths.root,
            hint="Read the changes of each branch by itself, without the options that name another "
            "branch; or compare two snapshots: between(…, mode='diff').",
        )
    states = _States(target, predicate)
    found = commits(target.store, span)
    for snapshot, how in _told(states, span.start, found):
        with explain_missing_files(target.store, snapshot, changes=True):
            splits = _splits(states, snapshot, how)
        if splits:
            yield snapshot, splits


def first_told(target: ScanTarget, span: SnapshotRange, predicate: Expression = TRUE) -> int:
    """The first commit of a range from which on everything can be told.

    Commits before it are left that need a state which has expired, and so are those before them.
    """
    first = span.start + 1
    kept = target.store.snapshots.earliest_id()
    if kept is None or first > kept or len(branches_read(target)) > 1:
        return first
    states = _States(target, predicate)
    for snapshot, how in _told(states, span.start, commits(target.store, span)):
        if snapshot.id > kept:
            break
        if how is _How.STATES and states.lacks_state(snapshot):
            first = snapshot.id + 1
    return first


class _How(Enum):
    """By what a commit is told."""

    NOTHING = auto()
    ADDED = auto()
    CHANGELOG = auto()
    OVERWRITE = auto()
    STATES = auto()


_Told = tuple[Snapshot, _How]


def _told(states: "_States", start: int, found: Iterator[Snapshot]) -> Iterator[_Told]:
    """By what each commit is told."""
    target = states.target
    if not target.schema.primary_keys:
        return ((s, _without_keys(states, s)) for s in found)
    producer = target.options.value(CHANGELOG_PRODUCER)
    if not _keeps_log(target):
        return ((s, _by_states(states, s)) for s in found)
    if producer in {ChangelogProducer.LOOKUP, ChangelogProducer.FULL_COMPACTION}:
        return CompactedLog(states=states).told(start, found)
    if not _is_replayable(target, states.predicate):
        return ((s, _by_states(states, s)) for s in found)
    return ((s, _by_records(target, s)) for s in found)


def _without_keys(states: "_States", snapshot: Snapshot) -> _How:
    match snapshot.commit_kind:
        case CommitKind.APPEND if states.adds_columns(snapshot):
            return _How.STATES
        case CommitKind.APPEND:
            return _How.ADDED
        case CommitKind.OVERWRITE:
            return _overwrite(states.target)
        case _:
            return _How.NOTHING


def _by_records(target: ScanTarget, snapshot: Snapshot) -> _How:
    match snapshot.commit_kind:
        case CommitKind.APPEND:
            return _How.ADDED if snapshot.changelog_manifest_list is None else _How.CHANGELOG
        case CommitKind.OVERWRITE:
            return _overwrite(target)
        case _:
            return _How.NOTHING


def _by_states(states: "_States", snapshot: Snapshot) -> _How:
    match snapshot.commit_kind:
        case CommitKind.OVERWRITE:
            return _overwrite(states.target)
        case CommitKind.APPEND:
            return _How.STATES
        case CommitKind.COMPACT if states.shown_by_compaction:
            return _How.STATES
        case _:
            return _How.NOTHING


def _overwrite(target: ScanTarget) -> _How:
    """How an OVERWRITE commit is told: as the table says in Java's words, else by states."""
    option = overwrite_option(target)
    if not target.options.has(option):
        return _How.STATES
    return _How.OVERWRITE if target.options.value(option) else _How.NOTHING


def _keeps_log(target: ScanTarget) -> bool:
    """Whether records or changelog files, one after the other, may give the rows of the table."""
    options, schema = target.options, target.schema
    return (
        set(schema.partition_keys) <= set(schema.primary_keys)
        and options.value(BUCKET) != POSTPONE_BUCKET
        and options.value(RECORD_LEVEL_EXPIRE_TIME) is None
    )


def _is_replayable(target: ScanTarget, predicate: Expression) -> bool:
    """Whether the newest record of a key is its row, as soon as it is written."""
    options = target.options
    return (
        options.value(MERGE_ENGINE) is MergeEngine.DEDUPLICATE
        and not target.hides_level_0
        and not options.value(SEQUENCE_FIELD)
        and not options.value(IGNORE_DELETE)
        and names_of(predicate) <= set(target.schema.primary_keys)
    )


def _splits(states: "_States", snapshot: Snapshot, how: _How) -> Sequence[Split]:
    target = states.target
    match how:
        case _How.NOTHING:
            return ()
        case _How.ADDED:
            return added_splits(target, snapshot, DELTA, states.cut)
        case _How.CHANGELOG:
            return added_splits(target, snapshot, CHANGELOG, states.cut)
        case _How.OVERWRITE:
            return replaced_splits(target, snapshot, states.cut)
        case _How.STATES:
            return states.difference(snapshot)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedLog:
    """Changelogs that compactions write (changelog producers lookup and full-compaction).

    A batch read sees new records at once, the changelog tells them when they are compacted. Where
    all records are compacted, the changelog has told exactly the rows of the table: such a snapshot
    is complete. From one complete snapshot to another the changelog files tell what happened.
    Commits that are not between two complete snapshots of the range, and those around an OVERWRITE
    of a table that was not complete, are told by states. So a range ends with the rows of its last
    snapshot, and one range may be read in parts.

    Of expired snapshots only the changelog is left, which is taken as it is.
    """

    states: "_States"

    def told(self, start: int, found: Iterator[Snapshot]) -> Iterator[_Told]:
        """By what each commit is told.

        Args:
            start: the snapshot before the first commit.
            found: the commits.
        """
        waiting = self._waiting_at(self.states.find(start)) if start else frozenset[str]()
        is_complete = not waiting
        block: list[Snapshot] = []
        for snapshot in found:
            if self.states.find(snapshot.id) is None:
                yield snapshot, self._expired(snapshot)
                waiting = None
                continue
            block.append(snapshot)
            waiting = self._waiting_after(snapshot, waiting)
            if not waiting:
                yield from self._block(block, by_log=is_complete)
                block, is_complete = [], True
        yield from self._block(block, by_log=False)

    def _block(self, block: list[Snapshot], *, by_log: bool) -> Iterator[_Told]:
        """Commits up to a complete snapshot."""
        if by_log and len(block) == 1 and block[0].commit_kind is CommitKind.OVERWRITE:
            yield block[0], _overwrite(self.states.target)
            return
        by_log = by_log and self._is_logged(block)
        for snapshot in block:
            if snapshot.commit_kind not in _KINDS_OF_ROWS:
                yield snapshot, _How.NOTHING
            else:
                yield snapshot, _How.CHANGELOG if by_log else _How.STATES

    def _is_logged(self, block: list[Snapshot]) -> bool:
        """Whether changelog files tell all of these commits: no OVERWRITE, no compaction without.

        The option may have been another one when a commit was made.
        """
        return not any(
            snapshot.commit_kind is CommitKind.OVERWRITE
            or (
                snapshot.commit_kind is CommitKind.COMPACT
                and snapshot.changelog_manifest_list is None
                and self._names(self._delta(snapshot), FileKind.DELETE)
            )
            for snapshot in block
        )

    def _expired(self, snapshot: Snapshot) -> _How:
        if snapshot.commit_kind is CommitKind.OVERWRITE:
            return _overwrite(self.states.target)
        return _How.CHANGELOG

    def _waiting_at(self, snapshot: Snapshot | None) -> frozenset[str] | None:
        """The files of a snapshot whose records no changelog tells yet; None if nobody knows."""
        if snapshot is None:
            return None
        if self.states.target.hides_level_0:  # and then batch reads do not see them either
            return frozenset()
        target = self.states.target
        with explain_missing_files(target.store, snapshot):
            return self._names(live_files(target.store, snapshot, self.states.cut), FileKind.ADD)

    def _waiting_after(
        self, snapshot: Snapshot, before: frozenset[str] | None
    ) -> frozenset[str] | None:
        if before is None or self.states.target.hides_level_0:
            return self._waiting_at(snapshot)
        with explain_missing_files(self.states.target.store, snapshot):
            delta = self._delta(snapshot)
        return before - self._names(delta, FileKind.DELETE) | self._names(delta, FileKind.ADD)

    def _delta(self, snapshot: Snapshot) -> ManifestEntries:
        return listed_entries(self.states.target, snapshot.delta_manifest_list, self.states.cut)

    def _names(self, entries: ManifestEntries, kind: FileKind) -> frozenset[str]:
        """The files of levels from which a compaction tells records."""
        chosen = entries.of_kind(kind)
        levels = numbers(chosen.table, "level")
        options = self.states.target.options
        if options.value(CHANGELOG_PRODUCER) is ChangelogProducer.LOOKUP:
            chosen = chosen.filter(levels == 0)
        else:
            chosen = chosen.filter(levels != level_count(options) - 1)
        return frozenset(map(str, as_python(column(chosen.table, "file_name"))))


class _States:
    """The rows of snapshots, to be compared."""

    def __init__(self, target: ScanTarget, predicate: Expression) -> None:
        self.target = target
        self.predicate = predicate
        self.cut = partition_filter_of(target, predicate)
        self._on_partitions = split_predicate(predicate, target.schema.partition_keys).pushed
        self._known: dict[int, Snapshot | None] = {}
        self._plan: tuple[int, Sequence[PlainSplit]] = (0, ())

    @property
    def shown_by_compaction(self) -> bool:
        """Whether a compaction changes what batch reads see."""
        options = self.target.options
        return (
            self.target.hides_level_0
            or options.value(BUCKET) == POSTPONE_BUCKET
            or options.value(RECORD_LEVEL_EXPIRE_TIME) is not None
        )

    def find(self, number: int) -> Snapshot | None:
        """A snapshot that is kept, or that a tag keeps."""
        if number not in self._known:
            store = self.target.store
            found = store.snapshots.find(number)
            if found is None:
                tagged = (tag.snapshot for tag in store.tags.list())
                found = next((s for s in tagged if s.id == number), None)
            self._known[number] = found
        return self._known[number]

    def adds_columns(self, snapshot: Snapshot) -> bool:
        """Whether an APPEND commit wrote new columns of rows that were there (data evolution)."""
        if not self.target.options.value(DATA_EVOLUTION_ENABLED):
            return False
        entries = listed_entries(self.target, snapshot.delta_manifest_list, self.cut)
        before = self.find(snapshot.id - 1)
        if before is None or before.next_row_id is None:
            is_partial = valid_mask(column(entries.table, "write_cols")).any()
            return snapshot.id > 1 and bool(is_partial)
        first = column(entries.table, "first_row_id")
        return bool((valid_mask(first) & (numbers_of(first) < before.next_row_id)).any())

    def lacks_state(self, snapshot: Snapshot) -> bool:
        """Whether the rows of a snapshot or of the one before have expired."""
        number = snapshot.id
        return self.find(number) is None or (number > 1 and self.find(number - 1) is None)

    def difference(self, snapshot: Snapshot) -> Sequence[Split]:
        """What a commit changed: its rows compared with those of the snapshot before."""
        if self.lacks_state(snapshot):
            raise self._refused(snapshot)
        before = self.find(snapshot.id - 1)
        schema = self.target.schema
        keyed = self.target.keys is not None
        rows = ComparedRows(
            keys=schema.primary_keys if keyed else (),
            whole_buckets=keyed and not self.target.hides_level_0,
            across_partitions=keyed and not set(schema.partition_keys) <= set(schema.primary_keys),
            base=before,
            snapshot_id=snapshot.id,
        )
        with explain_missing_files(self.target.store, before, snapshot):
            return difference_splits(self._planned(before), self._planned(snapshot), rows)

    def _planned(self, snapshot: Snapshot | None) -> Sequence[PlainSplit]:
        """The splits of a state; the last one is remembered, for the next commit begins with it."""
        if snapshot is None:
            return ()
        if self._plan[0] != snapshot.id:
            state = replace(self.target, snapshot=snapshot, travelled=True)
            self._plan = (snapshot.id, plan_table(state, self._on_partitions).splits)
        return self._plan[1]

    def _refused(self, snapshot: Snapshot) -> SnapshotExpiredError:
        number, kind = snapshot.id, snapshot.commit_kind.value
        gone = number - 1 if self.find(number) is not None else number
        return SnapshotExpiredError(
            f"What snapshot {number} ({kind}) of {self.target.store.paths.branch_root} changed "
            f"cannot be told: that takes the rows of snapshot {gone}, which has expired.",
            hint=f"Read snapshot {self._kept(number)} as a whole and begin with the changes behind "
            "it. The modes 'delta' and 'changelog' give what is left of such commits in their "
            "files. A tag or a consumer keeps snapshots.",
        )

    def _kept(self, number: int) -> int:
        """The first snapshot that is kept from a number on."""
        ids: Iterable[int] = self.target.store.snapshots.history()
        return min((kept for kept in ids if kept >= number), default=number)
