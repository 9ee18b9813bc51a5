"""Changes of each commit of a range, such that replaying them gives the rows of the table.

Changes are replayed in order onto the rows before the range. With a primary key, +I and +U set the
row of the key, -U and -D remove it. Without one the rows are a multiset: +I and +U add a row, -U
and -D remove one.

For most commits the changes are read from the files they wrote, as in Java: the added files of
APPEND commits, or changelog files. For the following commits these files do not determine the new
rows, so the changes are the difference between two snapshots:

| table | commits | changes from |
| --- | --- | --- |
| append table | OVERWRITE (also UPDATE, DELETE, MERGE), new columns of old rows | difference |
| deduplicate, changelog producer none or input | OVERWRITE | difference |
| the same, but `sequence.field`, `ignore-delete`, a filter on other columns, … | all | difference |
| other merge engines; rows visible after compaction; keys across partitions | all | difference |
| changelog producer lookup or full-compaction | see `CompactedChangelog` | both |

The difference compares the rows of the snapshot with those of the snapshot before it, in buckets
whose files differ. Both snapshots have to exist (a tag is sufficient), else the commit is refused
with an error.

`streaming-read-overwrite` and `streaming-read-append-overwrite`, if set, have Java's meaning for
OVERWRITE commits; see `scan.incremental`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto

from paimon_explore.data_types.arrow_buffers import as_python, int64_values, valid_mask
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
    change_mode,
    commits,
    listed_entries,
    overwrite_option,
    partition_filter_of,
    replaced_splits,
)
from paimon_explore.scan.live_entries import live_files
from paimon_explore.scan.manifest_arrays import column, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import PlainSplit, Split
from paimon_explore.store.expired import explain_missing_files

DELTA, CHANGELOG = IncrementalBetweenScanMode.DELTA, IncrementalBetweenScanMode.CHANGELOG
_ROW_CHANGING_KINDS = (CommitKind.APPEND, CommitKind.COMPACT, CommitKind.OVERWRITE)


def change_log(
    target: ScanTarget, span: SnapshotRange, predicate: Expression = TRUE
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """The splits with the changes of each commit of a range, oldest first, without empty ones.

    Args:
        target: the table; its schema is the reading schema, its snapshot is ignored.
        span: the commit range.
        predicate: bound to the reading schema. Here it prunes partitions and decides where changes
            are read from; the splits have to be read with it.

    Raises:
        NotFoundError: a commit of the range expired and left no changelog.
        SnapshotExpiredError: a commit expired during the read, or its changes need the rows of a
            snapshot that has expired.
        UnsupportedFeatureError: the table reads several branches.
    """
    if len(branches_read(target)) > 1:
        raise UnsupportedFeatureError(
            "reading the changes of a table with a fallback branch",
            target.store.paths.root,
            hint="Unset scan.fallback-branch and scan.primary-branch and read the changes of each "
            "branch separately, or compare two snapshots: between(…, mode='diff').",
        )
    states = _States(target, predicate)
    for snapshot, source in _sources(states, span):
        kept = source in {_Source.ADDED, _Source.CHANGELOG}  # by long-lived changelogs
        with explain_missing_files(target.store, snapshot, changes=kept):
            splits = _splits(states, snapshot, source)
        if splits:
            yield snapshot, splits


def first_readable_commit(
    target: ScanTarget, span: SnapshotRange, predicate: Expression = TRUE
) -> int:
    """The first commit of a range from which on the changes of all commits can be read.

    Earlier commits, or commits before them, need the rows of a snapshot that has expired.
    """
    first = span.start + 1
    kept = target.store.snapshots.earliest_id()
    if kept is None or first > kept or len(branches_read(target)) > 1:
        return first
    states = _States(target, predicate)
    for snapshot, source in _sources(states, span):
        if snapshot.id > kept:
            break
        if source is _Source.DIFFERENCE and states.lacks_state(snapshot):
            first = snapshot.id + 1
    return first


def may_read_previous(target: ScanTarget, snapshot: Snapshot) -> bool:
    """Whether a stream with any filter may read changes of a commit from the state before it."""
    if target.schema.primary_keys:
        return snapshot.commit_kind in _ROW_CHANGING_KINDS
    states = _States(target, TRUE)
    if _without_keys(states, snapshot) is _Source.DIFFERENCE:
        return True
    is_append = snapshot.commit_kind is CommitKind.APPEND
    return is_append and states.has_partial_files(snapshot)  # it tells whether their rows are new


class _Source(Enum):
    """Where the changes of a commit are read from."""

    NOTHING = auto()
    ADDED = auto()
    CHANGELOG = auto()
    OVERWRITE = auto()
    DIFFERENCE = auto()


_CommitSource = tuple[Snapshot, _Source]


def _sources(states: "_States", span: SnapshotRange) -> Iterator[_CommitSource]:
    """Determines for each commit of a range where its changes are read from."""
    target = states.target
    found = commits(target, span, change_mode(target), states.partitions)
    if not target.schema.primary_keys:
        return ((s, _without_keys(states, s)) for s in found)
    producer = target.options.value(CHANGELOG_PRODUCER)
    if not _may_replay(target):
        return ((s, _by_difference(states, s)) for s in found)
    if producer in {ChangelogProducer.LOOKUP, ChangelogProducer.FULL_COMPACTION}:
        return CompactedChangelog(states=states).sources(span.start, found)
    if not _is_replayable(target, states.predicate):
        return ((s, _by_difference(states, s)) for s in found)
    return ((s, _by_records(target, s)) for s in found)


def _without_keys(states: "_States", snapshot: Snapshot) -> _Source:
    match snapshot.commit_kind:
        case CommitKind.APPEND if states.adds_columns(snapshot):
            return _Source.DIFFERENCE
        case CommitKind.APPEND:
            return _Source.ADDED
        case CommitKind.OVERWRITE:
            return _overwrite(states.target)
        case _:
            return _Source.NOTHING


def _by_records(target: ScanTarget, snapshot: Snapshot) -> _Source:
    match snapshot.commit_kind:
        case CommitKind.APPEND:
            return _Source.ADDED if snapshot.changelog_manifest_list is None else _Source.CHANGELOG
        case CommitKind.OVERWRITE:
            return _overwrite(target)
        case _:
            return _Source.NOTHING


def _by_difference(states: "_States", snapshot: Snapshot) -> _Source:
    match snapshot.commit_kind:
        case CommitKind.OVERWRITE:
            return _overwrite(states.target)
        case CommitKind.APPEND:
            return _Source.DIFFERENCE
        case CommitKind.COMPACT if states.visible_after_compaction:
            return _Source.DIFFERENCE
        case _:
            return _Source.NOTHING


def _overwrite(target: ScanTarget) -> _Source:
    """OVERWRITE commits: as the streaming-read option says if it is set, else by difference."""
    option = overwrite_option(target)
    if not target.options.has(option):
        return _Source.DIFFERENCE
    return _Source.OVERWRITE if target.options.value(option) else _Source.NOTHING


def _may_replay(target: ScanTarget) -> bool:
    """Whether replaying records or changelog files may give the rows of the table."""
    options, schema = target.options, target.schema
    return (
        set(schema.partition_keys) <= set(schema.primary_keys)
        and options.value(BUCKET) != POSTPONE_BUCKET
        and options.value(RECORD_LEVEL_EXPIRE_TIME) is None
    )


def _is_replayable(target: ScanTarget, predicate: Expression) -> bool:
    """Whether the newest record of a key is its row, immediately after the commit."""
    options = target.options
    return (
        options.value(MERGE_ENGINE) is MergeEngine.DEDUPLICATE
        and not target.hides_level_0
        and not options.value(SEQUENCE_FIELD)
        and not options.value(IGNORE_DELETE)
        and names_of(predicate) <= set(target.schema.primary_keys)
    )


def _splits(states: "_States", snapshot: Snapshot, source: _Source) -> Sequence[Split]:
    target = states.target
    match source:
        case _Source.NOTHING:
            return ()
        case _Source.ADDED:
            return added_splits(target, snapshot, DELTA, states.partitions)
        case _Source.CHANGELOG:
            return added_splits(target, snapshot, CHANGELOG, states.partitions)
        case _Source.OVERWRITE:
            return replaced_splits(target, snapshot, states.partitions)
        case _Source.DIFFERENCE:
            return states.difference(snapshot)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedChangelog:
    """Changes of tables whose changelog is written by compactions (lookup and full-compaction).

    A batch read sees new records at once, the changelog contains them after compaction. A snapshot
    is complete if all its records are compacted: its changelog then describes exactly the rows of
    the table. Between two complete snapshots the changelog files are read. Other commits, and those
    around an OVERWRITE of an incomplete snapshot, are read by difference. So the changes of a range
    always lead to the rows of its last snapshot, and a range may be read in parts.

    Of expired snapshots only the changelog exists; it is read as it is.
    """

    states: "_States"

    def sources(self, start: int, found: Iterator[Snapshot]) -> Iterator[_CommitSource]:
        """Determines for each commit where its changes are read from.

        Args:
            start: the snapshot before the first commit.
            found: the commits.
        """
        pending = self._pending_at(self.states.find(start)) if start else frozenset[str]()
        is_complete = not pending
        block: list[Snapshot] = []
        for snapshot in found:
            if self.states.find(snapshot.id) is None:
                yield snapshot, self._expired(snapshot)
                pending = None
                continue
            block.append(snapshot)
            pending = self._pending_after(snapshot, pending)
            if not pending:
                yield from self._block(block, from_changelog=is_complete)
                block, is_complete = [], True
        yield from self._block(block, from_changelog=False)

    def _block(self, block: list[Snapshot], *, from_changelog: bool) -> Iterator[_CommitSource]:
        """Commits up to a complete snapshot."""
        if from_changelog and len(block) == 1 and block[0].commit_kind is CommitKind.OVERWRITE:
            yield block[0], _overwrite(self.states.target)
            return
        from_changelog = from_changelog and self._is_in_changelog(block)
        for snapshot in block:
            if snapshot.commit_kind not in _ROW_CHANGING_KINDS:
                yield snapshot, _Source.NOTHING
            else:
                yield snapshot, _Source.CHANGELOG if from_changelog else _Source.DIFFERENCE

    def _is_in_changelog(self, block: list[Snapshot]) -> bool:
        """Whether changelog files cover these commits: no OVERWRITE, no compaction without them.

        The changelog producer may have been a different one at the time of a commit.
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

    def _expired(self, snapshot: Snapshot) -> _Source:
        if snapshot.commit_kind is CommitKind.OVERWRITE:
            return _overwrite(self.states.target)
        return _Source.CHANGELOG

    def _pending_at(self, snapshot: Snapshot | None) -> frozenset[str] | None:
        """The files of a snapshot that are not in the changelog yet; None if unknown."""
        if snapshot is None:
            return None
        if self.states.target.hides_level_0:  # batch reads do not see them either
            return frozenset()
        target = self.states.target
        with explain_missing_files(target.store, snapshot):
            return self._names(
                live_files(target.store, snapshot, self.states.partitions), FileKind.ADD
            )

    def _pending_after(
        self, snapshot: Snapshot, before: frozenset[str] | None
    ) -> frozenset[str] | None:
        if before is None or self.states.target.hides_level_0:
            return self._pending_at(snapshot)
        with explain_missing_files(self.states.target.store, snapshot):
            delta = self._delta(snapshot)
        return before - self._names(delta, FileKind.DELETE) | self._names(delta, FileKind.ADD)

    def _delta(self, snapshot: Snapshot) -> ManifestEntries:
        return listed_entries(
            self.states.target, snapshot.delta_manifest_list, self.states.partitions
        )

    def _names(self, entries: ManifestEntries, kind: FileKind) -> frozenset[str]:
        """The files on levels whose records are not in the changelog yet."""
        selected = entries.of_kind(kind)
        levels = numbers(selected.table, "level")
        options = self.states.target.options
        if options.value(CHANGELOG_PRODUCER) is ChangelogProducer.LOOKUP:
            selected = selected.filter(levels == 0)
        else:
            selected = selected.filter(levels != level_count(options) - 1)
        return frozenset(map(str, as_python(column(selected.table, "file_name"))))


class _States:
    """Snapshots of the table, for differences."""

    def __init__(self, target: ScanTarget, predicate: Expression) -> None:
        self.target = target
        self.predicate = predicate
        self.partitions = partition_filter_of(target, predicate)
        self._on_partitions = split_predicate(predicate, target.schema.partition_keys).pushed
        self._known: dict[int, Snapshot | None] = {}
        self._plan: tuple[int, Sequence[PlainSplit]] = (0, ())

    @property
    def visible_after_compaction(self) -> bool:
        """Whether a compaction changes the rows that batch reads see."""
        options = self.target.options
        return (
            self.target.hides_level_0
            or options.value(BUCKET) == POSTPONE_BUCKET
            or options.value(RECORD_LEVEL_EXPIRE_TIME) is not None
        )

    def find(self, number: int) -> Snapshot | None:
        """The snapshot with this id, from the snapshots or tags; None if it does not exist."""
        if number not in self._known:
            store = self.target.store
            found = store.snapshots.find(number)
            if found is None:
                tagged = (tag.snapshot for tag in store.tags.list())
                found = next((s for s in tagged if s.id == number), None)
            self._known[number] = found
        return self._known[number]

    def adds_columns(self, snapshot: Snapshot) -> bool:
        """Whether an APPEND commit wrote new columns of existing rows (data evolution)."""
        if not self.target.options.value(DATA_EVOLUTION_ENABLED):
            return False
        entries = listed_entries(self.target, snapshot.delta_manifest_list, self.partitions)
        before = self.find(snapshot.id - 1)
        if before is None or before.next_row_id is None:
            return snapshot.id > 1 and self.has_partial_files(snapshot)
        first = column(entries.table, "first_row_id")
        return bool((valid_mask(first) & (int64_values(first) < before.next_row_id)).any())

    def has_partial_files(self, snapshot: Snapshot) -> bool:
        """Whether files of a commit have only some columns, such as a BLOB (data evolution)."""
        if not self.target.options.value(DATA_EVOLUTION_ENABLED):
            return False
        entries = listed_entries(self.target, snapshot.delta_manifest_list, self.partitions)
        return bool(valid_mask(column(entries.table, "write_cols")).any())

    def lacks_state(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot or the one before it has expired."""
        number = snapshot.id
        return self.find(number) is None or (number > 1 and self.find(number - 1) is None)

    def difference(self, snapshot: Snapshot) -> Sequence[Split]:
        """The splits of the difference between a snapshot and the one before it."""
        if self.lacks_state(snapshot):
            raise self._expired_error(snapshot)
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
        """The splits of a snapshot; cached, because the next commit starts from it."""
        if snapshot is None:
            return ()
        if self._plan[0] != snapshot.id:
            state = replace(self.target, snapshot=snapshot, travelled=True)
            self._plan = (snapshot.id, plan_table(state, self._on_partitions).splits)
        return self._plan[1]

    def _expired_error(self, snapshot: Snapshot) -> SnapshotExpiredError:
        number, kind = snapshot.id, snapshot.commit_kind.value
        gone = number - 1 if self.find(number) is not None else number
        return SnapshotExpiredError(
            f"The changes of snapshot {number} ({kind}) of {self.target.store.paths.branch_root} "
            f"cannot be read, because they depend on snapshot {gone}, which has expired.",
            hint=f"Read snapshot {self._first_available(number)} as a whole and start with the "
            "changes after it. Mode 'delta' or 'changelog' reads only the files that a commit "
            "added. A tag or a consumer protects snapshots from expiry.",
        )

    def _first_available(self, number: int) -> int:
        """The first available snapshot with at least this id."""
        ids: Iterable[int] = self.target.store.snapshots.history()
        return min((kept for kept in ids if kept >= number), default=number)
