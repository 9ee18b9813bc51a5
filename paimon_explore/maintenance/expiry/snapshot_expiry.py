"""Snapshot expiry: the oldest snapshots go, with the files that nothing else needs.

Which go, of the history, the run of ids without a gap that ends at the latest snapshot (see
`store.snapshots`). Between the newest `retain_max` (all older ones go) and the newest `retain_min`
(which stay) a snapshot goes if it is old enough; at most `limit` at once, and none that a consumer
has yet to read, nor the one that the hint LATEST names or one after it. They are the range
[first, end); `end` becomes the earliest snapshot.

What goes with them. Files that a commit in (first, end] removed from the table are in no later
snapshot, unless a compaction only moved them to another level; so they are the candidates, with
the changelog files and manifests of [first, end). Whatever another snapshot, tag, changelog or
branch needs is taken out of them. All of that is found before the first file is removed.

The order of removal, and what a crash in between leaves:

| step | a crash right after it leaves |
| --- | --- |
| the hint EARLIEST | a hint above the oldest snapshot, which readers expect |
| changelogs, where these outlive snapshots | both files; expiring again goes on |
| snapshot files, the oldest first | fewer expiring snapshots, all of them whole; the same |
| data files, changelog files | orphans, which the removal of orphan files takes |
| manifests, lists, statistics | the same |

So a snapshot that is there can be read at any moment, kept or not; who reads one while it expires
is told so. Java removes the snapshot files last, so what its interrupted expiry has left may lack
files; the next expiry goes on from there. If another expiry or a rollback runs at the same time and
takes away what this one has planned on, it plans anew. If the table is rolled back to a snapshot
that expires, or main is fast-forwarded to a branch, nothing expires; `snapshot_removal` has the
steps of each.

Spec: maintenance/manage-snapshots, expire snapshots.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from paimon_explore.commit.backoff import system_clock
from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    NotFoundError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.file_removal import Removal, remove, unreachable
from paimon_explore.maintenance.expiry.linked_folders import refuse_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import (
    FileSet,
    Roots,
    TableFiles,
    has_changelogs,
    of_compactions,
    roots_of,
)
from paimon_explore.maintenance.expiry.snapshot_removal import (
    ExpiringSnapshots,
    remove_snapshot_files,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import is_changelog_decoupled
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_CHANGELOG_ONLY
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore

_PLANS = 20
"""How often an expiry plans anew because others have removed snapshots meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What stays of snapshots or changelogs.

    Attributes:
        retain_min: the newest that stay in any case, at least 1.
        retain_max: the newest that may stay.
        keep_after_ms: between them, those not older than this stay; epoch milliseconds.
        limit: most that go at once.
    """

    retain_min: int
    retain_max: int
    keep_after_ms: int
    limit: int

    def check(self) -> None:
        """Refuse contradictions.

        Raises:
            InvalidInputError: there is one.
        """
        if self.retain_min < 1:
            raise InvalidInputError(
                f"retain_min must be at least 1, not {self.retain_min}: "
                "the latest snapshot is always kept."
            )
        if self.retain_max < self.retain_min:
            raise InvalidInputError(
                f"retain_max ({self.retain_max}) must not be less than retain_min "
                f"({self.retain_min})."
            )
        if self.limit < 1:
            raise InvalidInputError(f"limit must be at least 1, not {self.limit}.")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpiryReport:
    """What an expiry removed, or would.

    Attributes:
        expired: ids, ascending.
        files: what went with them.
        dry_run: whether nothing was removed.
    """

    expired: tuple[int, ...] = ()
    files: Removal = field(default_factory=Removal)
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the number of snapshots and files, and the first and last id."""
        ids = f" ({self.expired[0]} to {self.expired[-1]})" if self.expired else ""
        act = "would remove" if self.dry_run else "removed"
        return f"{act} {len(self.expired):,} snapshots{ids} and {self.files!r}"


def snapshot_retention(options: TableOptions, clock: Callable[[], int] = system_clock) -> Retention:
    """What the table's options let stay of snapshots."""
    return Retention(
        retain_min=options.value(opt.SNAPSHOT_NUM_RETAINED_MIN),
        retain_max=options.value(opt.SNAPSHOT_NUM_RETAINED_MAX),
        keep_after_ms=clock() - options.value(opt.SNAPSHOT_TIME_RETAINED),
        limit=options.value(opt.SNAPSHOT_EXPIRE_LIMIT),
    )


def expire_snapshots(
    store: TableStore,
    options: TableOptions,
    retention: Retention,
    *,
    dry_run: bool = False,
) -> ExpiryReport:
    """Remove old snapshots of a branch and the files that only they need.

    Args:
        store: the table and branch.
        options: its options.
        retention: what stays.
        dry_run: only tell what would go.

    Raises:
        InvalidInputError: the retention contradicts itself.
        CorruptFileError, UnsupportedVersionError, StorageError: something that must stay could not
            be read, and nothing was removed; or a removal failed, and may be done again.
    """
    retention.check()
    plan = _planned(store, options, retention)
    if plan is None:
        return ExpiryReport(dry_run=dry_run)
    refuse_linked_metadata(store.paths)
    if not dry_run:
        outlive = is_changelog_decoupled(options)
        if not remove_snapshot_files(store, plan.expiring, outlive=outlive):
            return ExpiryReport()
        remove(TableFiles(store=store, options=options), plan.files)
    ids = tuple(snapshot.id for snapshot in plan.expiring.snapshots)
    return ExpiryReport(expired=ids, files=plan.files, dry_run=dry_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What an expiry removes.

    Attributes:
        expiring: the snapshots.
        files: the files that only they need.
    """

    expiring: ExpiringSnapshots
    files: Removal


def _planned(store: TableStore, options: TableOptions, retention: Retention) -> _Plan | None:
    """What goes; None if nothing does. Planned anew while others change the history meanwhile."""
    for _ in range(_PLANS):
        history = store.snapshots.history()
        try:
            return _plan(store, options, retention, history)
        except (MissingFileError, NotFoundError):
            if store.snapshots.history()[: len(history)] == history:
                raise
    return None  # others expire or roll back faster than this one can plan


def _plan(
    store: TableStore, options: TableOptions, retention: Retention, history: Sequence[int]
) -> _Plan | None:
    expiring = _expiring(store, options, retention, history)
    if not expiring:
        return None
    ids = tuple(snapshot.id for snapshot in expiring)
    outlive = is_changelog_decoupled(options)
    files = TableFiles(store=store, options=options)
    end = store.snapshots.load(ids[-1] + 1)
    candidates = _candidates(files, expiring, end, outlive=outlive)
    roots = roots_of(store, options, leaving=ids)
    if outlive:
        logs = (*roots.logs, *expiring)
        delta_logs = roots.delta_logs if has_changelogs(options) else (*roots.delta_logs, *expiring)
        roots = replace(roots, logs=logs, delta_logs=delta_logs)
    return _Plan(
        expiring=ExpiringSnapshots(snapshots=expiring, end=end, held=_held_ids(roots, expiring)),
        files=unreachable(files, candidates, roots),
    )


def _held_ids(roots: Roots, expiring: Sequence[Snapshot]) -> frozenset[int]:
    """The ids of expiring snapshots that are, as copies, among the roots: all their files stay."""
    kept = (*roots.states, *(after for _, after in roots.followers))
    lists = frozenset((one.base_manifest_list, one.delta_manifest_list) for one in kept)
    return frozenset(
        one.id for one in expiring if (one.base_manifest_list, one.delta_manifest_list) in lists
    )


def expiring_ids(
    ids: Sequence[int], time_of: Callable[[int], int], retention: Retention, held_from: int | None
) -> tuple[int, ...]:
    """Which of the ascending ids go.

    Args:
        ids: all there are.
        time_of: commit time of an id, epoch milliseconds.
        retention: what stays.
        held_from: the first id that somebody has yet to read.
    """
    if not ids:
        return ()
    earliest, latest = ids[0], ids[-1]
    first = max(latest - retention.retain_max + 1, earliest)
    end = min(latest - retention.retain_min + 1, earliest + retention.limit)
    if held_from is not None:
        end = min(end, held_from)
    for kept in ids:
        if first < kept <= end and time_of(kept) >= retention.keep_after_ms:
            end = kept - 1
            break
    return tuple(number for number in ids if number < end)


def _expiring(
    store: TableStore, options: TableOptions, retention: Retention, history: Sequence[int]
) -> list[Snapshot]:
    snapshots = store.snapshots

    def time_of(snapshot_id: int) -> int:
        return snapshots.load(snapshot_id).time_millis

    holds = not options.value(CONSUMER_CHANGELOG_ONLY)
    held = [store.consumers.min_next_snapshot() if holds else None]
    hint = snapshots.latest_hint()
    if hint in history:
        held.append(hint)  # the table may be on its way back to it
    held_from = min((number for number in held if number is not None), default=None)
    ids = expiring_ids(history, time_of, retention, held_from)
    return [snapshots.load(number) for number in ids]


def _candidates(
    files: TableFiles, expiring: Sequence[Snapshot], end: Snapshot, *, outlive: bool
) -> FileSet:
    """Files that the expiring snapshots may be the last to need.

    What an earlier, cut off expiry has removed is passed over.
    """
    data: set[str] = set()
    metadata: set[str] = set()
    keeps_appends = outlive and not has_changelogs(files.options)
    for snapshot in (*expiring[1:], end):
        removed = _read(files.delta, snapshot).of_kind(FileKind.DELETE)
        data |= files.paths(of_compactions(removed) if keeps_appends else removed)
    for snapshot in expiring:
        data |= _found(files.index, snapshot)
        metadata |= _found(files.state_metadata, snapshot)
        if not outlive:
            data |= files.paths(_read(files.changelog, snapshot))
            metadata |= _found(files.changelog_metadata, snapshot)
    return FileSet(data=frozenset(data), metadata=frozenset(metadata))


def _read(load: Callable[[Snapshot], ManifestEntries], snapshot: Snapshot) -> ManifestEntries:
    try:
        return load(snapshot)
    except MissingFileError:
        return ManifestEntries.empty()


def _found(load: Callable[[Snapshot], frozenset[str]], snapshot: Snapshot) -> frozenset[str]:
    try:
        return load(snapshot)
    except MissingFileError:
        return frozenset()
