"""Files that went while a snapshot was read: told as what happened to the snapshot.

Nobody holds a snapshot for a reader but a tag, a branch or a consumer. So a reader that takes long
may find that an expiry, a rollback or the removal of a tag has taken its files away.

Spec: maintenance/manage-snapshots, expire snapshots.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from paimon_explore.errors import MissingFileError, SnapshotExpiredError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


@contextmanager
def naming_expiry(
    store: TableStore, *snapshots: Snapshot | None, changes: bool = False
) -> Iterator[None]:
    """Read files of snapshots; if one is missing, say what became of its snapshot.

    Args:
        store: the branch.
        snapshots: what is read; None for a table without any.
        changes: what the commit brought is read, which a long-lived changelog keeps as well.

    Raises:
        SnapshotExpiredError: a file is missing, and the snapshot is gone.
        MissingFileError: a file is missing although the snapshot is there: it was lost, or lies
            outside the table in a place that cannot be reached.
    """
    try:
        yield
    except MissingFileError as error:
        read = [snapshot for snapshot in snapshots if snapshot is not None]
        if not read or error.hint:
            raise
        for snapshot in read:
            problem = _problem(store, snapshot, changes=changes)
            if problem is not None:
                raise _expired(store, snapshot, problem, error.path) from error
        hint = _hint(store, read[-1], error.path)
        raise MissingFileError(error.operation, error.path, hint=hint) from error


def _expired(
    store: TableStore, snapshot: Snapshot, problem: str, path: str
) -> SnapshotExpiredError:
    ids = store.snapshots.history()
    kept = f"Snapshots {ids[0]} to {ids[-1]} are there; read" if ids else "Read"
    return SnapshotExpiredError(
        f"Snapshot {snapshot.id} of {store.paths.branch_root} {problem} while it was read: "
        f"{path} is gone.",
        hint=f"{kept} again from one that is kept. A tag keeps a snapshot for long reads.",
    )


def _problem(store: TableStore, snapshot: Snapshot, *, changes: bool) -> str | None:
    """What became of a snapshot some file of which is missing; None if it is there."""
    name = snapshot.delta_manifest_list
    if any(tag.snapshot.delta_manifest_list == name for tag in store.tags.list()):
        return None
    there = [store.snapshots.find(snapshot.id)]
    if changes:
        there.append(store.changelogs.find(snapshot.id))
    if any(found is not None and found.delta_manifest_list == name for found in there):
        return None
    newest = store.snapshots.latest_id() or 0
    return "expired" if snapshot.id < newest else "was rolled back"


def _hint(store: TableStore, snapshot: Snapshot, path: str) -> str:
    """What to do about a file that a snapshot needs."""
    root = store.paths.root
    if not path.removeprefix("file://").removeprefix("file:").startswith(f"{root}/"):
        return (
            f"Snapshot {snapshot.id} of {root} names this file outside the table's folder: see "
            "that its place can be reached from here, or restore the file."
        )
    return (
        f"Snapshot {snapshot.id} of {store.paths.branch_root} is there and needs this file. Read "
        "again: if it is still missing and no other engine is expiring snapshots, the file is "
        "lost; maintenance.fsck() names all that are."
    )
