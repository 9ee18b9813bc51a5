"""Errors for files of a snapshot that were deleted while it was read.

Only tags, branches and consumers protect a snapshot. During a long read, an expiry, a rollback or
the deletion of a tag may delete its files; the error then says what happened to the snapshot.

Spec: maintenance/manage-snapshots, expire snapshots.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from paimon_explore.errors import MissingFileError, SnapshotExpiredError
from paimon_explore.fileio.local import without_file_scheme
from paimon_explore.metadata.options.table_options import (
    FILE_INDEX_READ_ENABLED,
    GLOBAL_INDEX_ENABLED,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import INDEX_SUFFIX
from paimon_explore.store.table_store import TableStore


@contextmanager
def explain_missing_files(
    store: TableStore, *snapshots: Snapshot | None, changes: bool = False
) -> Iterator[None]:
    """Explain a missing file that is read in this block by the state of its snapshot.

    Args:
        store: the branch.
        snapshots: the snapshots that are read; None for a table without snapshots.
        changes: whether the changes of the snapshots are read, which long-lived changelogs keep.

    Raises:
        SnapshotExpiredError: a file is missing because the snapshot was removed.
        MissingFileError: a file is missing although the snapshot exists: it was lost, or is at an
            external path that cannot be accessed.
    """
    try:
        yield
    except MissingFileError as error:
        read = [snapshot for snapshot in snapshots if snapshot is not None]
        for snapshot in read:
            problem = _problem(store, snapshot, changes=changes)
            if problem is not None:
                raise _expired(store, snapshot, problem, error.path) from error
        if not read or error.hint:
            raise
        hint = _hint(store, read[-1], error.path)
        raise MissingFileError(error.operation, error.path, hint=hint) from error


def _expired(
    store: TableStore, snapshot: Snapshot, problem: str, path: str
) -> SnapshotExpiredError:
    ids = store.snapshots.history()
    available = f"Available snapshots: {ids[0]} to {ids[-1]}. " if ids else ""
    return SnapshotExpiredError(
        f"Snapshot {snapshot.id} of {store.paths.branch_root} {problem} while it was read: "
        f"{path} does not exist any more.",
        hint=f"{available}Read an available snapshot. Create a tag to keep a snapshot for long "
        "reads.",
    )


def _problem(store: TableStore, snapshot: Snapshot, *, changes: bool) -> str | None:
    """Return what happened to a snapshot with a missing file; None if it still exists."""
    has_changelog = changes and snapshot.changelog_manifest_list is not None
    holders = [store.snapshots.find(snapshot.id)]
    if changes:
        holders.append(store.changelogs.find(snapshot.id))
    if not has_changelog:  # which tags do not keep
        holders += [tag.snapshot for tag in store.tags.list()]
    copies = [one for one in holders if one is not None]
    if has_changelog:
        copies = [one for one in copies if one.changelog_manifest_list is not None]
    if any(one.delta_manifest_list == snapshot.delta_manifest_list for one in copies):
        return None
    newest = store.snapshots.latest_id() or 0
    return "expired" if snapshot.id < newest else "was rolled back"


def _hint(store: TableStore, snapshot: Snapshot, path: str) -> str:
    """Return a hint for a missing file of an existing snapshot."""
    root = store.paths.root
    if not without_file_scheme(path).startswith(f"{root}/"):
        return (
            f"Snapshot {snapshot.id} of {root} refers to this file outside the table's folder: "
            "check that this location is accessible, or restore the file."
        )
    hint = (
        f"Snapshot {snapshot.id} of {store.paths.branch_root} exists and needs this file. Read "
        "again. If the file is still missing and no other engine is expiring snapshots, the file "
        "is lost; t.maintenance.fsck() lists all lost files."
    )
    if not path.endswith(INDEX_SUFFIX):
        return hint
    folder = f"{store.paths.index_dir}/"
    of_table = without_file_scheme(path).startswith(folder)
    option = GLOBAL_INDEX_ENABLED if of_table else FILE_INDEX_READ_ENABLED
    return f"{hint} Filters do without indexes if the option {option.key!r} is 'false'."
