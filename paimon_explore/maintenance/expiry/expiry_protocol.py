"""Removal of snapshot files by an expiry, and its protocol with rollback and fast-forward.

An expiry keeps the newest snapshots, while a concurrent rollback or fast-forward makes one of the
expiring ids the latest. There are no locks: each operation first writes a hint and then reads the
hints of the others, so of two operations at least one sees the other.

An expiry announces itself: before it removes a file, it writes EARLIEST = `end`, the first snapshot
that is kept. Then it reads LATEST and `end`. If LATEST names an expiring snapshot, or `end` is no
longer the commit of the plan, it restores EARLIEST and removes nothing. Each snapshot file is read
again right before it is removed: a file of another commit is kept, and the expiry ends there.
Commits are compared by their manifest lists, whose names are unique.

**Rollback.** Snapshots keep their content, so the expiry can restore their files:

| expiry | rollback |
| --- | --- |
| 1. removes the snapshot files, oldest first | 1. writes LATEST = target |
| 2. reads LATEST | 2. checks that the target's file exists |
| 3. deletes data files and manifests | 3. removes newer snapshots |

Every order of these steps is safe:

- LATEST is written before the expiry reads it: it names an expired snapshot. The expiry restores
  the snapshot files from memory and deletes no other file, whatever the rollback does.
- LATEST is written after the expiry has read it: the snapshot files have been removed before, so
  the rollback finds that its target is missing. It restores LATEST and raises SnapshotExpiredError
  before it removes anything, and the expiry continues. A target with a tag is restored from the tag
  instead: the expiry has seen the tag and keeps its files.

Restored snapshot files that are newer than the target must not survive the rollback. The rollback
removes newer snapshots from the newest to the oldest, hence `end`, the first that is kept, before
them. The expiry checks for `end` after it has restored the files: if `end` exists, the rollback
will remove them later; otherwise the expiry removes them again.

A rollback to a tag whose snapshot is below the history restores that snapshot, writes LATEST = the
oldest snapshot of the history, removes the whole history, and then writes LATEST = target.

- If the oldest snapshot it has seen is the oldest that expires, the expiry may restore it after the
  rollback has removed it. The rollback checks for it again after its last step.
- If it is a later one, because the expiry had started, the target's file has appeared since then,
  below the snapshot that LATEST names. Nothing has to be restored: the tag keeps the target. The
  files of the expired snapshots are left to the removal of orphan files.

Commits may follow a rollback's LATEST with one of their own, after which an expiry does not see the
rollback. So a rollback that finds such commits writes LATEST again, and checks its target again,
before it removes them.

A rollback that has found its target restores it at the end if it is missing: an expiry that was
interrupted between its steps 1 and 2 has deleted no data file.

**Fast-forward of main to a branch.** It replaces snapshot files by others of the same ids, so no
expiry of main may still remove files of these ids (`check_no_expiry`):

| expiry | fast-forward |
| --- | --- |
| 1. writes EARLIEST = `end` | 1. writes LATEST = the newest snapshot of main that it keeps |
| 2. reads LATEST, then `end` | 2. reads EARLIEST |
| 3. removes the snapshot files | 3. replaces the snapshot files, then writes LATEST |

- LATEST is written before the expiry reads it: it names an expiring snapshot, or the fast-forward
  has finished and `end` is another commit. The expiry removes nothing.
- LATEST is written after the expiry has read it: the fast-forward finds EARLIEST above the ids that
  it keeps, and the snapshot before EARLIEST still in its list. It restores LATEST and raises
  CommitConflictError before it removes anything. It also does so after an interrupted expiry, until
  snapshots are expired again.
- The expiry has removed all of its snapshot files: the files it deletes afterwards do not belong to
  the branch. If LATEST names a snapshot of another commit, it restores nothing.
- The fast-forward happens between the expiry's listing and its reads: the plan names snapshots of
  the branch. If the branch begins below main's listed history, its older snapshots have appeared
  since the listing, and would be left outside of the history. The expiry compares its listing with
  another one before step 1, and removes nothing.

Expiry of the branch during a fast-forward to it: the expiry announces itself as above, and then
looks for its snapshots in main; the fast-forward copies first, and reads the branch's EARLIEST
afterwards. Either the expiry finds snapshots in main whose files it has not planned to keep, and
removes nothing, or the fast-forward removes the expiring ones from main again.

An expiry that starts when LATEST already names an older snapshot keeps that snapshot and the
following ones. If LATEST was only stale, they expire after the next commit.

Meanwhile a reader may find that LATEST names a missing file; readers then list the directory, as in
Java. Concurrent commits may overwrite the LATEST that a rollback has written; therefore the
protocol covers one expiry, one rollback or fast-forward, and any number of readers.
"""

from collections.abc import Sequence
from contextlib import suppress

from paimon_explore.errors import CommitConflictError, SnapshotExpiredError, StorageError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiringSnapshots:
    """The snapshots that an expiry plans to remove.

    Attributes:
        snapshots: the snapshots, oldest first.
        end: the first snapshot that is kept.
        shared: ids of those whose files are all kept, because others have an equal copy.
        listed: ids of all snapshot files up to the latest one when the expiry was planned.
    """

    snapshots: Sequence[Snapshot]
    end: Snapshot
    shared: frozenset[int]
    listed: frozenset[int]

    @property
    def ids(self) -> frozenset[int]:
        """Return the ids of the snapshots."""
        return frozenset(snapshot.id for snapshot in self.snapshots)


def is_same_commit(snapshot: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are copies of the same commit: manifest list names are unique."""
    return (snapshot.id, snapshot.base_manifest_list, snapshot.delta_manifest_list) == (
        other.id,
        other.base_manifest_list,
        other.delta_manifest_list,
    )


def remove_snapshot_files(store: TableStore, plan: ExpiringSnapshots, *, outlive: bool) -> bool:
    """Remove the files of expiring snapshots, unless the history is rewritten concurrently.

    Args:
        store: the table and branch.
        plan: the expiring snapshots.
        outlive: whether changelogs outlive snapshots.

    Returns:
        Whether they were removed, so that their data files may be removed as well.
    """
    before = store.snapshots.earliest_hint()
    others = frozenset(store.snapshots.all_ids()) - plan.ids
    if any(n < plan.snapshots[0].id for n in others - plan.listed):
        return False
    store.snapshots.write_earliest_hint(plan.end.id)
    logs: list[int] = []
    is_removed = _matches_plan(store, plan) and _remove_each(store, plan, logs, outlive=outlive)
    if is_removed:
        hint = store.snapshots.latest_hint()
        if hint not in plan.ids:
            return True
        is_from_tag = any(n < hint and n not in others for n in store.snapshots.all_ids())
        if not is_from_tag and not _is_replaced(store, plan, hint):
            _restore(store, plan)
    _remove_changelogs(store, logs)
    _restore_earliest(store, plan.end.id, before)
    return False


def _matches_plan(store: TableStore, plan: ExpiringSnapshots) -> bool:
    """Whether no other operation has rewritten the history since the plan, or is about to."""
    if store.snapshots.latest_hint() in plan.ids:
        return False
    end = store.snapshots.find(plan.end.id)
    if end is None or not is_same_commit(end, plan.end):
        return False
    return _ids_in_main(store, plan.snapshots) <= plan.shared


def _ids_in_main(store: TableStore, snapshots: Sequence[Snapshot]) -> frozenset[int]:
    """Return the ids of a branch's snapshots that main also has; empty if the branch is main.

    A copy in main that references other files has kept them since the plan.
    """
    if store.paths.branch == MAIN_BRANCH:
        return frozenset()
    main = store.for_branch(MAIN_BRANCH).snapshots
    known = frozenset(main.all_ids())
    there = ((one, main.find(one.id)) for one in snapshots if one.id in known)
    return frozenset(
        one.id
        for one, found in there
        if found is not None and found.referenced_files == one.referenced_files
    )


def _remove_each(
    store: TableStore, plan: ExpiringSnapshots, logs: list[int], *, outlive: bool
) -> bool:
    """Remove the snapshot files, oldest first; False if one now contains another commit."""
    for snapshot in plan.snapshots:
        there = store.snapshots.find(snapshot.id)
        if there is not None and not is_same_commit(there, snapshot):
            return False
        if outlive:
            if store.changelogs.create(snapshot):
                logs.append(snapshot.id)
            with suppress(StorageError):  # hints are optional
                store.changelogs.write_latest_hint(snapshot.id)
        store.snapshots.delete(snapshot.id)
    return True


def _is_replaced(store: TableStore, plan: ExpiringSnapshots, snapshot_id: int) -> bool:
    """Whether an expired id now has a snapshot of another commit."""
    there = store.snapshots.find(snapshot_id)
    planned = next(one for one in plan.snapshots if one.id == snapshot_id)
    return there is not None and not is_same_commit(there, planned)


def _restore_earliest(store: TableStore, end: int, before: int | None) -> None:
    """Restore the hint EARLIEST, unless others have changed it."""
    if store.snapshots.earliest_hint() != end:
        return
    if before is None:
        store.file_io.delete(store.paths.earliest_hint)
    else:
        store.snapshots.write_earliest_hint(before)


def check_no_expiry(store: TableStore, kept_id: int, history: Sequence[int]) -> None:
    """Check that no expiry may be about to remove snapshots that are going to be replaced.

    Args:
        store: the table and branch.
        kept_id: the snapshots after this one are replaced.
        history: the ids of the branch before anything was written.

    Raises:
        CommitConflictError: an expiry has announced itself and has snapshots left to remove.
    """
    end = store.snapshots.earliest_hint()
    if end is None or end <= kept_id:
        return
    there = store.snapshots.all_ids()
    if end in there and (end - 1 in there or end - 1 in history):
        raise CommitConflictError(
            f"Cannot fast-forward main: the snapshots of {store.paths.branch_root} before {end} "
            "are being expired, or an expiry was interrupted.",
            hint="Retry when the expiry has finished. After an interrupted expiry, call "
            "expire_snapshots() first.",
        )


def _restore(store: TableStore, plan: ExpiringSnapshots) -> None:
    """Restore snapshot files, except those that a rollback has removed."""
    made = [snapshot.id for snapshot in plan.snapshots if store.snapshots.create(snapshot)]
    if store.file_io.exists(store.paths.snapshot(plan.end.id)):
        return
    target = store.snapshots.latest_hint()
    for number in reversed(made):
        if target is not None and number > target:
            store.snapshots.delete(number)


def _remove_changelogs(store: TableStore, made: Sequence[int]) -> None:
    """Remove the changelogs of snapshots that did not expire."""
    for number in made:
        store.changelogs.delete(number)
    if made:
        with suppress(StorageError):
            store.changelogs.write_latest_hint(store.changelogs.latest_id() or 0)


def confirm_target(store: TableStore, target: int, before: int | None) -> None:
    """Check that the target of a rollback has not expired after LATEST was written.

    Args:
        store: the table and branch.
        target: id of the target snapshot.
        before: id of the latest snapshot before the rollback; None without snapshots.

    Raises:
        SnapshotExpiredError: the target has expired; LATEST was restored.
    """
    if store.file_io.exists(store.paths.snapshot(target)):
        return
    if before is not None:
        store.snapshots.write_latest_hint(before)
    raise SnapshotExpiredError(
        f"Snapshot {target} of {store.paths.branch_root} expired during the rollback; "
        "the rows of the table are unchanged.",
        hint="Roll back to a later snapshot or to a tag.",
    )


def keep_target(store: TableStore, target: Snapshot) -> None:
    """Restore the target of a rollback if an expiry has removed it after it was confirmed.

    It is not restored if commits have followed: an expiry may then have removed its files. Nor if
    another rollback has removed it, whose target LATEST names.
    """
    there = store.file_io.exists
    if any(there(store.paths.snapshot(number)) for number in (target.id, target.id + 1)):
        return
    if store.snapshots.latest_hint() == target.id:
        store.snapshots.create(target)
