"""Incremental scans: the files that hold the changes between two snapshots.

`delta` reads the files that APPEND commits added, `changelog` the changelog files of commits other
than OVERWRITE. Rows are not merged: a row appears as often as it was written. The start is
exclusive, the end inclusive. `diff` compares two states row by row, see `read.snapshot_diff`.
Seen with the official Java 2.0.0: rows are not merged across the commits of the range, except
columns of the same row (data evolution).

Streams also skip OVERWRITE commits by default. With `streaming-read-overwrite` (primary-key tables)
they emit the rows of the removed files as retractions, then those of the new files; with
`streaming-read-append-overwrite` (append tables) only the new rows.
Spec: flink/sql-query, incremental query; `incremental-between*` options.

Incremental scans of tables that read two branches (`scan.fallback-branch`, chain tables).

As in Java, the increment is that of the first branch, plus the increment of the second branch in
partitions that the first increment lacks. Snapshot ids of the range apply to both branches;
timestamps are resolved in each branch. Seen with the official Java 2.0.0.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import pyarrow as pa

from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StreamRollbackError,
)
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_enums import (
    ChangelogProducer,
    IncrementalBetweenScanMode,
)
from paimon_explore.metadata.options.table_options import (
    CHANGELOG_PRODUCER,
    DATA_EVOLUTION_ENABLED,
    STREAMING_READ_APPEND_OVERWRITE,
    STREAMING_READ_OVERWRITE,
)
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.branch_scan import branches_read, is_chain
from paimon_explore.scan.live_entries import PartitionFilter, read_entries
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import DataSplit, RetractedSplit, Split
from paimon_explore.scan.splits.split_generator import files_as_splits, whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore

_MAX_AHEAD, _MAX_AHEAD_BYTES = 64, 32 << 10
"""Number of commits whose manifests are read together, and size of the manifests of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRange:
    """Commits after `start` up to and including `end`; `start` may be 0 or expired.

    Attributes:
        start: the last commit before the range.
        end: the last commit of the range.
        is_checked: whether it is checked that no commit is replaced while the range is read, as a
            rollback does; this takes one more read of each snapshot.
        after: the snapshot `start`, for this check; None if unknown.
    """

    start: int
    end: int
    is_checked: bool = False
    after: Snapshot | None = None


def change_mode(target: ScanTarget) -> IncrementalBetweenScanMode:
    """Resolves mode `auto`: `changelog` if the table produces changelog files, else `delta`."""
    none = target.options.value(CHANGELOG_PRODUCER) is ChangelogProducer.NONE
    return IncrementalBetweenScanMode.DELTA if none else IncrementalBetweenScanMode.CHANGELOG


def change_splits(
    target: ScanTarget,
    span: SnapshotRange,
    mode: IncrementalBetweenScanMode = IncrementalBetweenScanMode.AUTO,
    predicate: Expression = TRUE,
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """The splits of each commit of a range, oldest first; commits without files are skipped.

    Args:
        target: the table; its schema is the reading schema, its snapshot is ignored.
        span: the commit range.
        mode: `delta`, `changelog`, or `auto` to choose by the table's changelog producer.
        predicate: bound to the reading schema; used to prune partitions only.

    Raises:
        InvalidInputError: mode `diff`, which needs rows, not only files.
        NotFoundError: a commit of the range expired and left no changelog.
        SnapshotExpiredError: a commit expired during the read.
    """
    overwrites = mode is IncrementalBetweenScanMode.AUTO and target.options.value(
        overwrite_option(target)
    )
    if mode is IncrementalBetweenScanMode.AUTO:
        mode = change_mode(target)
    if mode is IncrementalBetweenScanMode.DIFF:
        raise InvalidInputError(
            "Mode 'diff' compares the rows of two snapshots; it cannot list the files of each "
            "commit.",
            hint="Use mode 'delta' or 'changelog'.",
        )
    partitions = partition_filter_of(target, predicate)
    for snapshot in commits(target, span, mode, partitions):
        is_overwrite = overwrites and snapshot.commit_kind is CommitKind.OVERWRITE
        # changelogs that outlive their snapshots keep added files, not those that were replaced
        with explain_missing_files(target.store, snapshot, changes=not is_overwrite):
            splits: Sequence[Split] = (
                replaced_splits(target, snapshot, partitions)
                if is_overwrite
                else added_splits(target, snapshot, mode, partitions)
            )
        if splits:
            yield snapshot, splits


def partition_filter_of(target: ScanTarget, predicate: Expression) -> PartitionFilter:
    """The partition filter of a predicate: its part on partition columns."""
    pushed = split_predicate(predicate, target.schema.partition_keys).pushed
    return PartitionFilter(row_type=target.schema.partition_type, predicate=pushed)


def overwrite_option(target: ScanTarget) -> Option[bool]:
    """The option that makes streams of the table read OVERWRITE commits."""
    keyed = target.schema.primary_keys
    return STREAMING_READ_OVERWRITE if keyed else STREAMING_READ_APPEND_OVERWRITE


def replaced_splits(
    target: ScanTarget, snapshot: Snapshot, partitions: PartitionFilter
) -> list[Split]:
    """The splits of an OVERWRITE commit: removed files (primary-key tables only), then new ones."""
    entries = listed_entries(target, snapshot.delta_manifest_list, partitions)
    new = target.located(entries.of_kind(FileKind.ADD), snapshot)
    brought: list[Split] = list(files_as_splits(new, target.rules))
    if not target.schema.primary_keys:
        return brought
    # The deletion vectors of the removed files are in the snapshot before, unless it expired.
    before = target.store.snapshots.find(snapshot.id - 1)
    old = target.located(entries.of_kind(FileKind.DELETE), before or snapshot)
    return [*(RetractedSplit(of=bucket) for bucket in whole_buckets(old)), *brought]


def commits(
    target: ScanTarget,
    span: SnapshotRange,
    mode: IncrementalBetweenScanMode,
    partitions: PartitionFilter,
) -> Iterator[Snapshot]:
    """The snapshots of a range; where a snapshot expired, its long-lived changelog.

    Small manifests of the next commits are read together into the cache: of one commit first, then
    of twice as many each time, up to a limit.

    Args:
        target: the table; its snapshot is ignored.
        span: the commit range.
        mode: `delta` or `changelog`: the manifests that are read.
        partitions: the partitions that are read.

    Raises:
        NotFoundError: neither exists.
        StreamRollbackError: a commit was replaced, if the range asks to check this.
    """
    store, before = target.store, span.after
    known: dict[int, Snapshot | None] = {}
    count = 1
    for number in range(span.start + 1, span.end + 1):
        is_read = number in known
        if not is_read:
            known = _next_commits(store, range(number, min(number + count, span.end + 1)))
            _read_ahead(
                target, [one for one in known.values() if one is not None], mode, partitions
            )
            count = min(2 * count, _MAX_AHEAD)
        found = _commit(store, number) if is_read and span.is_checked else known[number]
        if span.is_checked:
            if before is not None:
                check_unchanged(store, before, number)
            before = found
        if found is not None:
            yield found
        else:
            earliest = min([*store.snapshots.ids(), *store.changelogs.ids()], default=None)
            hint = (
                f"The earliest available snapshot is {earliest}: "
                "start with this snapshot, or read the whole table first."
            )
            raise NotFoundError("snapshot", number, store.paths.root, hint=hint)


def _commit(store: TableStore, number: int) -> Snapshot | None:
    return store.snapshots.find(number) or store.changelogs.find(number)


def _next_commits(store: TableStore, numbers: range) -> dict[int, Snapshot | None]:
    """Read commits together; only the first one if another one cannot be read."""
    calls = [partial(_commit, store, number) for number in numbers]
    try:
        return dict(zip(numbers, at_once(store.file_io, calls), strict=True))
    except PaimonError:
        return {numbers[0]: calls[0]()}


def _read_ahead(
    target: ScanTarget,
    found: Sequence[Snapshot],
    mode: IncrementalBetweenScanMode,
    partitions: PartitionFilter,
) -> None:
    """Read small manifests into the cache; an error is raised later, where its commit is read."""
    if mode is IncrementalBetweenScanMode.CHANGELOG:
        names = [one.changelog_manifest_list for one in found]
    else:
        written = [one for one in found if one.commit_kind is not CommitKind.COMPACT]
        names = [one.delta_manifest_list for one in written]
    if len(names) < 2:  # noqa: PLR2004 - nothing to read together
        return
    manifests = target.store.manifests
    with suppress(PaimonError):
        lists = manifests.list_many([name for name in names if name is not None])
        small = [one for one in lists if one.numbers("file_size").sum() <= _MAX_AHEAD_BYTES]
        files = ManifestFiles.concat(small)
        manifests.read_many(files.filter(partitions.manifest_mask(files)).names)


def check_unchanged(store: TableStore, seen: Snapshot, position: int) -> None:
    """Check that a snapshot that was read is still part of the history, or has expired.

    Args:
        store: the branch.
        seen: the snapshot as it was read.
        position: the next snapshot to read, for the error.

    Raises:
        StreamRollbackError: it was rolled back or replaced.
    """
    found = store.snapshots.find(seen.id)
    if found == seen:
        return
    ids = store.snapshots.history() if found is None else []
    if ids and ids[0] > seen.id:  # expired
        return
    root = store.paths.branch_root
    if found is not None:
        now = "the snapshot has other contents now"
    else:
        now = f"the latest snapshot is {ids[-1]}" if ids else "there is no snapshot"
    raise StreamRollbackError(
        f"Snapshot {seen.id} of {root}, whose changes were read, was rolled back or replaced, or "
        f"the table was created anew: {now}.",
        position=position,
        hint="Undo in your target what the stream delivered after the snapshot to which the table "
        "was rolled back, and start a new stream from that snapshot; or fill the target anew by a "
        "stream with from_='full'.",
    )


def added_splits(
    target: ScanTarget,
    snapshot: Snapshot,
    mode: IncrementalBetweenScanMode,
    partitions: PartitionFilter,
) -> Sequence[Split]:
    """The files that one commit added, selected as Java does in mode `delta` or `changelog`."""
    if mode is IncrementalBetweenScanMode.CHANGELOG:
        wanted = snapshot.commit_kind is not CommitKind.OVERWRITE
        name = snapshot.changelog_manifest_list if wanted else None
    else:
        added = snapshot.commit_kind is CommitKind.APPEND
        name = snapshot.delta_manifest_list if added else None
    if name is None:
        return ()
    entries = listed_entries(target, name, partitions).of_kind(FileKind.ADD)
    if not len(entries):
        return ()
    return files_as_splits(target.located_changes(entries, snapshot), target.rules)


def listed_entries(
    target: ScanTarget, manifest_list: str, partitions: PartitionFilter
) -> ManifestEntries:
    """The entries of a manifest list in the wanted partitions."""
    manifests = target.store.manifests.list(manifest_list)
    return read_entries(
        target.store, manifests.filter(partitions.manifest_mask(manifests)), partitions
    )


SpanOf = Callable[[ScanTarget], SnapshotRange]
"""The commits of a branch."""


def branch_changes(
    target: ScanTarget,
    span_of: SpanOf,
    mode: IncrementalBetweenScanMode,
    predicate: Expression = TRUE,
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """Like `change_splits`, for all branches that the table's options name.

    As in batch reads of Java, records of postponed buckets are left out, and with data evolution
    the files of all commits are read together: a row that was added and updated is one row.

    Args:
        target: the table.
        span_of: returns the commit range of a branch.
        mode: `delta` or `changelog`.
        predicate: bound to the reading schema.

    Raises:
        NotFoundError: a commit of a range does not exist.
    """
    own = is_chain(target)  # of which only the table's own commits are read
    first, *others = (target,) if own else branches_read(target)
    present: set[bytes] = set()
    for branch in (first, *others):
        changes = change_splits(branch, span_of(branch), mode, predicate)
        for snapshot, splits in _together(branch, changes):
            found = [split for split in splits if not _is_postponed(split)]
            if branch is not first:
                found = [split for split in found if split.partition not in present]
            elif others:
                present.update(split.partition for split in found)
            if found:
                yield snapshot, splits if len(found) == len(splits) else found


def _together(
    target: ScanTarget, changes: Iterator[tuple[Snapshot, Sequence[Split]]]
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """With data evolution, the files of all commits as those of the last one."""
    if not target.options.value(DATA_EVOLUTION_ENABLED):
        yield from changes
        return
    found = list(changes)
    splits = [split for _, own in found for split in own if isinstance(split, DataSplit)]
    if splits:
        entries = ManifestEntries(pa.concat_tables([split.files.table for split in splits]))
        last = found[-1][0]
        yield last, files_as_splits(target.located_changes(entries, last), target.rules)


def _is_postponed(split: Split) -> bool:
    return isinstance(split, DataSplit) and split.bucket == POSTPONE_BUCKET
