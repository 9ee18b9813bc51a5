"""Snapshot expiry: remove the oldest snapshots and the files that nothing else references.

Which snapshots expire: the history is the contiguous range of ids that ends at the latest snapshot
(see `store.snapshots`). The newest `retain_min` snapshots are kept, and snapshots before the newest
`retain_max` expire; those in between expire by age. At most `limit` snapshots expire at once.
Snapshots that a consumer has not read yet, and those from the one named by the hint LATEST on, are
kept; so is the snapshot before these if a stream may need its rows for the next changes, which Java
does not keep. Expiring snapshots are the range [first, end); `end` becomes the earliest snapshot.

Which files are removed: a file that a commit in (first, end] deleted is in no later snapshot,
unless a compaction only changed its level. These files, and the changelog files and manifests of
[first, end), are the candidates, without those that another snapshot, tag, changelog or branch
references. All references are read before the first file is removed.

Steps, and the state after a crash:

| step | state after a crash |
| --- | --- |
| write the hint EARLIEST | the hint is above the oldest snapshot, which readers tolerate |
| create changelogs, if they outlive snapshots | both files exist; the next expiry continues |
| delete snapshot files, oldest first | fewer expiring snapshots, all complete; as above |
| look for tags created meanwhile, whose files are kept | the same |
| delete data files, changelog files | orphan files, removed by the removal of orphan files |
| delete manifests, manifest lists, statistics | orphan files |

An existing snapshot is therefore always complete; reading a snapshot while it expires raises
SnapshotExpiredError. Java deletes snapshot files last, so after an interrupted expiry of Java
snapshots may be incomplete; the next expiry completes it. If a concurrent expiry or rollback
removes files of the plan, the expiry is planned again. If the table is concurrently rolled back to
an expiring snapshot, or main is fast-forwarded to a branch, nothing expires (see
`expiry_protocol`).

Spec: maintenance/manage-snapshots, expire snapshots.

Repair of the hint EARLIEST of a table whose snapshot files have a gap.

Java finds the earliest snapshot by the hint, and fails on a gap between it and the latest snapshot,
which an interrupted expiry or a lost file leaves. This package reads the snapshots after the last
gap in any case.

Spec: spark procedures, repair_earliest_snapshot.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import pairwise

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    NotFoundError,
)
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.expiry_protocol import (
    ExpiringSnapshots,
    remove_snapshot_files,
)
from paimon_explore.maintenance.expiry.file_removal import Removal, remove, unreachable
from paimon_explore.maintenance.expiry.linked_folders import check_no_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import (
    FileSet,
    Roots,
    TableFiles,
    in_batches,
    roots_of,
    without_changelog_files,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import is_changelog_decoupled
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_CHANGELOG_ONLY
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.commit_changes import may_read_previous
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.snapshots import last_run
from paimon_explore.store.table_store import TableStore

_MAX_PLANS = 20
"""Maximum number of plans of an expiry if others remove snapshots concurrently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The retention of snapshots or changelogs.

    Attributes:
        retain_min: number of newest ones that are always kept, at least 1.
        retain_max: number of newest ones that may be kept.
        keep_after_ms: between these numbers, keep those not older than this; epoch milliseconds.
        limit: maximum number that expire at once.
    """

    retain_min: int
    retain_max: int
    keep_after_ms: int
    limit: int

    def check(self) -> None:
        """Check that the values are consistent.

        Raises:
            InvalidInputError: a value is invalid.
        """
        if self.retain_min < 1:
            raise InvalidInputError(
                f"retain_min must be at least 1, not {self.retain_min}, because "
                "the latest snapshot never expires."
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
    """The result of an expiry.

    Attributes:
        expired: ids of the expired snapshots or changelogs, ascending.
        files: the files removed with them.
        dry_run: whether nothing was removed.
    """

    expired: tuple[int, ...] = ()
    files: Removal = field(default_factory=Removal)
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the number of snapshots and files, and the first and last id."""
        count = f"{len(self.expired):,} snapshot{'' if len(self.expired) == 1 else 's'}"
        ids = f" ({self.expired[0]} to {self.expired[-1]})" if self.expired else ""
        act = "would remove" if self.dry_run else "removed"
        return f"{act} {count}{ids} and {self.files!r}"


def snapshot_retention(options: TableOptions, clock: Callable[[], int] = system_clock) -> Retention:
    """Return the retention of snapshots from the options."""
    return Retention(
        retain_min=options.value(opt.SNAPSHOT_NUM_RETAINED_MIN),
        retain_max=options.value(opt.SNAPSHOT_NUM_RETAINED_MAX),
        keep_after_ms=clock() - options.value(opt.SNAPSHOT_TIME_RETAINED),
        limit=options.value(opt.SNAPSHOT_EXPIRE_LIMIT),
    )


def expire_snapshots(
    store: TableStore, options: TableOptions, retention: Retention, *, dry_run: bool = False
) -> ExpiryReport:
    """Expire snapshots of a branch and the files that only they reference.

    Args:
        store: the table and branch.
        options: effective options.
        retention: the retention.
        dry_run: whether to only report what would be removed.

    Raises:
        InvalidInputError: the retention is inconsistent.
        CorruptFileError, UnsupportedVersionError, StorageError: a kept file could not be read, and
            nothing was removed; or a removal failed and can be repeated.
    """
    retention.check()
    plan = _plan_with_retry(store, options, retention)
    if plan is None:
        return ExpiryReport(dry_run=dry_run)
    check_no_linked_metadata(store.paths)
    found = plan.files
    if not dry_run:
        outlive = is_changelog_decoupled(options)
        if not remove_snapshot_files(store, plan.expiring, outlive=outlive):
            return ExpiryReport()
        files = TableFiles(store=store, options=options)
        found = _without_new_tags(files, plan)
        remove(files, found)
    ids = tuple(snapshot.id for snapshot in plan.expiring.snapshots)
    return ExpiryReport(expired=ids, files=found, dry_run=dry_run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The plan of an expiry.

    Attributes:
        expiring: the expiring snapshots.
        files: the files that only they reference.
        states: what references the files of a state, each by `Snapshot.referenced_files`.
    """

    expiring: ExpiringSnapshots
    files: Removal
    states: frozenset[tuple[str | None, ...]]


def _plan_with_retry(
    store: TableStore, options: TableOptions, retention: Retention
) -> _Plan | None:
    """Plan an expiry, again while others remove snapshots or tags; None if nothing expires."""
    known: Roots | None = None
    for _ in range(_MAX_PLANS):
        try:
            return _plan(store, options, retention, store.snapshots.ids())
        except (MissingFileError, NotFoundError):
            roots = roots_of(store, options)
            if roots == known:
                raise
            known = roots
    return None  # they keep changing


def _plan(
    store: TableStore, options: TableOptions, retention: Retention, listed: Sequence[int]
) -> _Plan | None:
    expiring = _expiring(store, options, retention, last_run(listed))
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
        deltas = without_changelog_files(store, options, expiring)
        roots = replace(roots, logs=logs, delta_logs=(*roots.delta_logs, *deltas))
    return _Plan(
        expiring=ExpiringSnapshots(
            snapshots=expiring,
            end=end,
            shared=_shared_ids(roots, expiring),
            listed=frozenset(listed),
        ),
        files=unreachable(files, candidates, roots),
        states=frozenset(one.referenced_files for one in roots.states),
    )


def _without_new_tags(files: TableFiles, plan: _Plan) -> Removal:
    """Return the files to remove without those of tags that were created since the plan."""
    tagged = [tag.snapshot for tag in files.store.tags.list()]
    new = tuple(one for one in tagged if one.referenced_files not in plan.states)
    if not new:
        return plan.files
    planned = FileSet(
        data=frozenset(plan.files.data_files), metadata=frozenset(plan.files.metadata_files)
    )
    return unreachable(files, planned, Roots(states=new))


def _shared_ids(roots: Roots, expiring: Sequence[Snapshot]) -> frozenset[int]:
    """Return the ids of expiring snapshots all of whose files the roots keep.

    A tag, or a restored copy in a branch, keeps the state but not the changelog.
    """
    states = {one.state_files for one in (*roots.states, *(after for _, after in roots.followers))}
    changelogs = {None, *(log.changelog_manifest_list for log in roots.logs)}
    return frozenset(
        one.id
        for one in expiring
        if one.state_files in states and one.changelog_manifest_list in changelogs
    )


def expiring_ids(
    ids: Sequence[int], time_of: Callable[[int], int], retention: Retention, kept_from: int | None
) -> tuple[int, ...]:
    """Return the ids that expire.

    Args:
        ids: all ids, ascending.
        time_of: returns the commit time of an id in epoch milliseconds.
        retention: the retention.
        kept_from: this id and later ones are kept, for example for a consumer; None for no limit.
    """
    if not ids:
        return ()
    earliest, latest = ids[0], ids[-1]
    first = max(latest - retention.retain_max + 1, earliest)
    end = min(latest - retention.retain_min + 1, earliest + retention.limit)
    if kept_from is not None:
        end = min(end, kept_from)
    for before, kept in pairwise(ids):
        if first <= before < end and time_of(kept) >= retention.keep_after_ms:
            end = before
            break
    return tuple(number for number in ids if number < end)


def _expiring(
    store: TableStore, options: TableOptions, retention: Retention, history: Sequence[int]
) -> list[Snapshot]:
    snapshots = store.snapshots

    def time_of(snapshot_id: int) -> int:
        return snapshots.load(snapshot_id).time_millis

    ids = expiring_ids(history, time_of, retention, kept_from(store, options, history))
    return at_once(store.file_io, [partial(snapshots.load, number) for number in ids])


def kept_from(store: TableStore, options: TableOptions, history: Sequence[int]) -> int | None:
    """Return the earliest snapshot that a consumer or a rollback in progress keeps, or None."""
    consumers_count = not options.value(CONSUMER_CHANGELOG_ONLY)
    first = store.consumers.min_next_snapshot() if consumers_count else None
    limits = [] if first is None else [kept_for_consumer(store, options, first)]
    hint = store.snapshots.latest_hint()
    if hint is not None and hint in history:
        limits.append(hint)  # a rollback to it may be in progress
    return min(limits, default=None)


def kept_for_consumer(store: TableStore, options: TableOptions, next_snapshot: int) -> int:
    """Return the earliest snapshot that a stream may read whose consumer has a next snapshot."""
    snapshot = store.snapshots.find(next_snapshot)
    if snapshot is None:
        return next_snapshot
    target = ScanTarget(
        store=store,
        schema=store.schemas.load(snapshot.schema_id),
        options=options,
        snapshot=snapshot,
    )
    return next_snapshot - 1 if may_read_previous(target, snapshot) else next_snapshot


def _candidates(
    files: TableFiles, expiring: Sequence[Snapshot], end: Snapshot, *, outlive: bool
) -> FileSet:
    """Return the files that may be referenced only by the expiring snapshots.

    Files that an earlier, interrupted expiry has removed are skipped.
    """

    def deleted(snapshot: Snapshot) -> FileSet:
        gone = _read(files.delta, snapshot).of_kind(FileKind.DELETE)
        return FileSet(data=files.paths(gone))

    def own(snapshot: Snapshot) -> FileSet:
        data = _found(files.index, snapshot)
        metadata = _found(files.state_metadata, snapshot)
        if not outlive:
            data |= files.paths(_read(files.changelog, snapshot))
            metadata |= _found(files.changelog_metadata, snapshot)
        return FileSet(data=data, metadata=metadata)

    found: list[FileSet] = []
    for some in in_batches((*expiring, end)):
        files.read_ahead(some)
        calls = [partial(deleted, one) for one in some if one is not expiring[0]]
        calls += [partial(own, one) for one in some if one is not end]
        found += at_once(files.store.file_io, calls)
    return FileSet(
        data=frozenset[str]().union(*(one.data for one in found)),
        metadata=frozenset[str]().union(*(one.metadata for one in found)),
    )


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


def repair_earliest_snapshot(store: TableStore, snapshot_id: int) -> int:
    """Set the hint EARLIEST to a snapshot after a gap.

    Args:
        store: the table and branch.
        snapshot_id: the first snapshot after the gap.

    Returns:
        The earliest snapshot before: the one of the hint if it exists, else the lowest id.

    Raises:
        NotFoundError: the table has no snapshots, or one from the id to the latest is missing.
        InvalidInputError: the id is out of range, or does not follow a gap.
    """
    snapshots = store.snapshots
    ids = snapshots.ids()
    if not ids:
        message = f"Table {store.paths.root} has no snapshots."
        raise NotFoundError("snapshot", snapshot_id, store.paths.root, message=message)
    hint, latest = snapshots.earliest_hint(), ids[-1]
    previous = hint if hint in ids else ids[0]
    if not previous <= snapshot_id <= latest:
        raise InvalidInputError(
            f"Snapshot {snapshot_id} is not between the earliest snapshot {previous} and the "
            f"latest snapshot {latest}.",
            hint=f"Pass a number from {previous} to {latest}.",
        )
    known = frozenset(ids)
    missing = [number for number in range(snapshot_id, latest + 1) if number not in known]
    if missing:
        start = snapshots.history()[0]
        hint_text = f"The snapshots {start} to {latest} follow each other: pass snapshot {start}."
        raise NotFoundError("snapshot", missing[0], store.paths.root, hint=hint_text)
    if snapshot_id != previous and snapshot_id - 1 in known:
        raise InvalidInputError(
            f"Snapshot {snapshot_id} does not follow a gap: snapshot {snapshot_id - 1} exists.",
            hint="To remove complete snapshots, expire them.",
        )
    snapshots.write_earliest_hint(snapshot_id)
    return previous
