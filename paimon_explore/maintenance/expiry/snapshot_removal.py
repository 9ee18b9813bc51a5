"""The snapshot files that an expiry removes, and how acts that rewrite the history are kept apart.

An expiry keeps the newest snapshots. A rollback or a fast-forward that runs at the same time makes
one of the expiring ids the newest. There are no locks; each act first writes a hint and then reads
what the others have written, so of two acts at least one sees the other.

The expiry announces itself: it writes EARLIEST = `end`, the first snapshot that stays, before it
removes a file. Then it reads LATEST and `end`. If LATEST names an expiring snapshot, or `end` is no
longer the commit that the plan was made for, it puts EARLIEST back and removes nothing. Each
snapshot file is read once more right before it is removed: a file of another commit stays, and the
expiry ends there. Commits are compared by their manifest lists, whose names are unique.

**Rollback.** The snapshots keep their content, so the expiry can make their files again:

| expiry | rollback |
| --- | --- |
| 1. removes the snapshot files, the oldest first | 1. writes LATEST = the target |
| 2. reads LATEST | 2. looks whether the target's file is there |
| 3. deletes data files and manifests | 3. removes the newer snapshots |

Every order of these steps is safe:

- LATEST is written before the expiry reads it: it names an expired snapshot. The expiry makes the
  snapshot files again from memory and deletes no other file, whatever the rollback does.
- LATEST is written after the expiry has read it: the snapshot files were removed before, so the
  rollback finds that its target is gone. It puts LATEST back and raises SnapshotExpiredError before
  it has removed anything, and the expiry may go on. A target that a tag holds is made again from
  the tag instead: the expiry has found the tag, and keeps its files.

Snapshot files that are made again and are newer than the target must not outlive the rollback. It
removes the newer snapshots from the newest downwards, so `end`, the first that stays, goes before
them. The expiry looks for `end` after it has made the files: if it is there, the rollback comes to
them later; otherwise the expiry removes them once more.

A rollback to a tag whose snapshot is below the history makes that snapshot, writes LATEST = the
oldest snapshot of the history, removes all of the history, and then writes LATEST = the target.

- The oldest it has seen is the oldest that expires: the expiry may make that one again when the
  rollback has already removed it. The rollback looks for it once more after its last step.
- It is a later one, because the expiry had begun: then the target's file has appeared since the
  expiry began, below the snapshot that LATEST names. Nothing has to be made again: the tag holds
  the target. The files of the expired snapshots are left to the removal of orphans.

A rollback that has found its target makes it again at the end if it is gone: an expiry that was cut
off between its steps 1 and 2 has deleted no data file.

**Fast-forward of main to a branch.** It replaces snapshot files by others of the same id, so there
must be no expiry of main that may still remove files of these ids (`refuse_beside_expiry`):

| expiry | fast-forward |
| --- | --- |
| 1. writes EARLIEST = `end` | 1. writes LATEST = the newest snapshot of main that it keeps |
| 2. reads LATEST, then `end` | 2. reads EARLIEST |
| 3. removes the snapshot files | 3. replaces the snapshot files, then writes LATEST |

- LATEST is written before the expiry reads it: it names an expiring snapshot, or the fast-forward
  is over and `end` is another commit. The expiry removes nothing.
- LATEST is written after the expiry has read it: the fast-forward finds EARLIEST above the ids that
  it keeps, and the snapshot before EARLIEST still in its list. It puts LATEST back and raises
  CommitConflictError before it has removed anything. So it does beside the rest of an expiry that
  was interrupted, until snapshots are expired again.
- The expiry has removed all of its snapshot files: what it deletes from there on is no file of the
  branch. If it finds that LATEST names a snapshot of another commit, it makes nothing again.

An expiry of the branch beside a fast-forward to it: the expiry announces itself as above, and then
looks for its snapshots in main; the fast-forward copies first, and reads the branch's EARLIEST
afterwards. Either the expiry finds snapshots in main whose files it has not planned to keep, and
removes nothing, or the fast-forward removes the expiring ones from main again.

An expiry that starts when LATEST already names an older snapshot keeps that snapshot and those
after it. LATEST may only lag there, until the next commit; what is kept expires later.

In between a reader may find that LATEST names a file that is gone. Readers list the folder then,
as Java's do. Commits at the same time may write LATEST over what a rollback has written; so this
holds for one expiry, one rollback or fast-forward, and any readers.
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
    """The snapshots that an expiry has planned to remove.

    Attributes:
        snapshots: oldest first.
        end: the first that stays.
        held: ids of those whose files stay, since main, a tag or another branch has them as well.
    """

    snapshots: Sequence[Snapshot]
    end: Snapshot
    held: frozenset[int]

    @property
    def ids(self) -> frozenset[int]:
        """The ids of the snapshots."""
        return frozenset(snapshot.id for snapshot in self.snapshots)


def is_same_commit(snapshot: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are copies of one: the names of manifest lists are unique."""
    return (snapshot.id, snapshot.base_manifest_list, snapshot.delta_manifest_list) == (
        other.id,
        other.base_manifest_list,
        other.delta_manifest_list,
    )


def remove_snapshot_files(store: TableStore, plan: ExpiringSnapshots, *, outlive: bool) -> bool:
    """Remove the files of expiring snapshots, unless the history is rewritten meanwhile.

    Args:
        store: the table and branch.
        plan: the snapshots.
        outlive: whether changelogs outlive snapshots.

    Returns:
        Whether they are removed, and their data files may follow.
    """
    before = store.snapshots.earliest_hint()
    others = frozenset(store.snapshots.all_ids()) - plan.ids
    store.snapshots.write_earliest_hint(plan.end.id)
    logs: list[int] = []
    is_removed = _is_as_planned(store, plan) and _remove_each(store, plan, logs, outlive=outlive)
    if is_removed:
        hint = store.snapshots.latest_hint()
        if hint not in plan.ids:
            return True
        is_from_tag = any(n < hint and n not in others for n in store.snapshots.all_ids())
        if not is_from_tag and not _is_replaced(store, plan, hint):
            _restore(store, plan)
    _remove_changelogs(store, logs)
    _put_back_earliest(store, plan.end.id, before)
    return False


def _is_as_planned(store: TableStore, plan: ExpiringSnapshots) -> bool:
    """Whether no other act has rewritten the history since the plan, or is about to."""
    if store.snapshots.latest_hint() in plan.ids:
        return False
    end = store.snapshots.find(plan.end.id)
    if end is None or not is_same_commit(end, plan.end):
        return False
    return _ids_in_main(store, plan.snapshots) <= plan.held


def _ids_in_main(store: TableStore, snapshots: Sequence[Snapshot]) -> frozenset[int]:
    """The ids of a branch's snapshots that main has as well; none if the branch is main."""
    if store.paths.branch == MAIN_BRANCH:
        return frozenset()
    main = store.for_branch(MAIN_BRANCH).snapshots
    known = frozenset(main.all_ids())
    there = ((one, main.find(one.id)) for one in snapshots if one.id in known)
    return frozenset(
        one.id for one, found in there if found is not None and is_same_commit(one, found)
    )


def _remove_each(
    store: TableStore, plan: ExpiringSnapshots, logs: list[int], *, outlive: bool
) -> bool:
    """Remove the snapshot files, the oldest first; False if one holds another commit by now."""
    for snapshot in plan.snapshots:
        there = store.snapshots.find(snapshot.id)
        if there is not None and not is_same_commit(there, snapshot):
            return False
        if outlive:
            if store.changelogs.create(snapshot):
                logs.append(snapshot.id)
            with suppress(StorageError):  # readers list the folder
                store.changelogs.write_latest_hint(snapshot.id)
        store.snapshots.delete(snapshot.id)
    return True


def _is_replaced(store: TableStore, plan: ExpiringSnapshots, snapshot_id: int) -> bool:
    """Whether an expired id has a snapshot of another commit by now."""
    there = store.snapshots.find(snapshot_id)
    planned = next(one for one in plan.snapshots if one.id == snapshot_id)
    return there is not None and not is_same_commit(there, planned)


def _put_back_earliest(store: TableStore, end: int, before: int | None) -> None:
    """Write the hint EARLIEST as it was, unless others have written it meanwhile."""
    if store.snapshots.earliest_hint() != end:
        return
    if before is None:
        store.file_io.delete(store.paths.earliest_hint)
    else:
        store.snapshots.write_earliest_hint(before)


def refuse_beside_expiry(store: TableStore, kept_id: int, history: Sequence[int]) -> None:
    """Refuse to replace snapshots that an expiry may be about to remove.

    Args:
        store: the table and branch.
        kept_id: the snapshots after this one are replaced.
        history: the ids of the branch before anything was written.

    Raises:
        CommitConflictError: an expiry has announced itself, and has snapshots left to remove.
    """
    end = store.snapshots.earliest_hint()
    if end is None or end <= kept_id:
        return
    there = store.snapshots.all_ids()
    if end in there and (end - 1 in there or end - 1 in history):
        raise CommitConflictError(
            f"The snapshots of {store.paths.branch_root} before {end} are being expired, or their "
            "expiry was interrupted; main was not fast-forwarded.",
            hint="Fast-forward again when the expiry has finished. If it was interrupted, call "
            f"expire_snapshots() so that the snapshots before {end} are removed.",
        )


def _restore(store: TableStore, plan: ExpiringSnapshots) -> None:
    """Make snapshot files again, without those that a rollback has removed meanwhile."""
    made = [snapshot.id for snapshot in plan.snapshots if store.snapshots.create(snapshot)]
    if store.file_io.exists(store.paths.snapshot(plan.end.id)):
        return
    target = store.snapshots.latest_hint()
    for number in reversed(made):
        if target is not None and number > target:
            store.snapshots.delete(number)


def _remove_changelogs(store: TableStore, made: Sequence[int]) -> None:
    """Remove the changelogs of snapshots that have not expired after all."""
    for number in made:
        store.changelogs.delete(number)
    if made:
        with suppress(StorageError):
            store.changelogs.write_latest_hint(store.changelogs.latest_id() or 0)


def confirm_target(store: TableStore, target: int, before: int | None) -> None:
    """See that the snapshot to which LATEST was set has not expired.

    Args:
        store: the table and branch.
        target: the snapshot.
        before: the latest snapshot before the rollback; None without any.

    Raises:
        SnapshotExpiredError: it has; LATEST names the former snapshot again.
    """
    if store.file_io.exists(store.paths.snapshot(target)):
        return
    if before is not None:
        store.snapshots.write_latest_hint(before)
    raise SnapshotExpiredError(
        f"Snapshot {target} of {store.paths.branch_root} expired while the table was rolled back "
        "to it; nothing was removed.",
        hint="Roll back to a snapshot that is kept, or to a tag: a tag keeps its snapshot.",
    )


def keep_target(store: TableStore, target: Snapshot) -> None:
    """Make the snapshot of a rollback again if an expiry has removed it after it was confirmed.

    Not if commits have followed it since: an expiry may then have removed it for good.
    """
    there = store.file_io.exists
    if not any(there(store.paths.snapshot(number)) for number in (target.id, target.id + 1)):
        store.snapshots.create(target)
