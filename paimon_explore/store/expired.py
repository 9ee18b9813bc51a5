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
def naming_expiry(store: TableStore, snapshot: Snapshot | None) -> Iterator[None]:
    """Read files of a snapshot; if one is missing because the snapshot expired, say so.

    Args:
        store: the branch.
        snapshot: what is read.

    Raises:
        SnapshotExpiredError: a file is missing, and the snapshot is gone or on its way out.
        MissingFileError: a file is missing that should be there: the table is damaged.
    """
    try:
        yield
    except MissingFileError as error:
        if snapshot is None:
            raise
        problem = _problem(store, snapshot)
        if problem is None:
            raise
        ids = store.snapshots.history()
        kept = f"Snapshots {ids[0]} to {ids[-1]} are there; read" if ids else "Read"
        raise SnapshotExpiredError(
            f"Snapshot {snapshot.id} of {store.paths.branch_root} {problem} while it was read: "
            f"{error.path} is gone.",
            hint=f"{kept} again from one that is kept. A tag keeps a snapshot for long reads.",
        ) from error


def _problem(store: TableStore, snapshot: Snapshot) -> str | None:
    """What became of a snapshot some file of which is missing; None if it should be whole."""
    name = snapshot.delta_manifest_list
    if any(tag.snapshot.delta_manifest_list == name for tag in store.tags.list()):
        return None
    there = store.snapshots.find(snapshot.id)
    newest = store.snapshots.latest_id() or 0
    if there is not None and there.delta_manifest_list == name:
        return "began to expire" if snapshot.id < newest else None
    return "expired" if snapshot.id < newest else "was rolled back"
