"""The snapshot files that an expiry removes, and how it gives way to a rollback at the same time.

An expiry keeps the newest snapshots. If the table is rolled back meanwhile to one that expires,
that one becomes the newest and must stay. There are no locks; each of the two writes first and
looks at what the other has written afterwards:

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

An expiry that starts when LATEST already names an older snapshot keeps that snapshot and those
after it. LATEST may only lag there, until the next commit; what is kept expires later.

In between a reader may find that LATEST names a file that is gone. Readers list the folder then,
as Java's do. Commits at the same time may write LATEST over what a rollback has written; so this
holds for one expiry, one rollback and any readers.
"""

from collections.abc import Sequence
from contextlib import suppress

from paimon_explore.errors import SnapshotExpiredError, StorageError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


def remove_snapshot_files(
    store: TableStore, expiring: Sequence[Snapshot], end: int, *, outlive: bool
) -> bool:
    """Remove the files of expiring snapshots, unless the table is rolled back to one of them.

    Args:
        store: the table and branch.
        expiring: the snapshots, oldest first.
        end: the id of the first that stays.
        outlive: whether changelogs outlive snapshots.

    Returns:
        Whether they are removed, and their data files may follow.
    """
    expired = frozenset(snapshot.id for snapshot in expiring)
    others = frozenset(store.snapshots.all_ids()) - expired
    if store.snapshots.latest_hint() in expired:
        return False
    logs: list[int] = []
    for snapshot in expiring:
        if outlive:
            if store.changelogs.create(snapshot):
                logs.append(snapshot.id)
            with suppress(StorageError):  # readers list the folder
                store.changelogs.hint_latest(snapshot.id)
        store.snapshots.delete(snapshot.id)
    hint = store.snapshots.latest_hint()
    if hint in expired:
        is_from_tag = any(n < hint and n not in others for n in store.snapshots.all_ids())
        if not is_from_tag:
            _restore(store, expiring, end)
        _remove_changelogs(store, logs)
        return False
    with suppress(StorageError):
        store.snapshots.hint_earliest(end)
    return True


def _restore(store: TableStore, expiring: Sequence[Snapshot], end: int) -> None:
    """Make snapshot files again, without those that a rollback has removed meanwhile."""
    made = [snapshot.id for snapshot in expiring if store.snapshots.create(snapshot)]
    if store.file_io.exists(store.paths.snapshot(end)):
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
            store.changelogs.hint_latest(store.changelogs.latest_id() or 0)


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
        store.snapshots.hint_latest(before)
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
