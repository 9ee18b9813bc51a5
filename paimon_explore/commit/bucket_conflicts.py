"""Check that no other commit has changed the number of buckets that new files are written for.

A rescale, or an overwrite after a change of the option `bucket`, gives partitions another number of
buckets. Files that a concurrent writer assigned to buckets by the old number must not be added to
them: rows of one key would lie in two buckets. Plain appends are not checked otherwise, so the live
files are read only if there was an overwrite since the writer has begun.

Spec: concepts/concurrency-control; maintenance/rescale-bucket.
"""

from collections.abc import Callable

from paimon_explore.commit.conflicts import check_bucket_counts
from paimon_explore.commit.key_conflicts import is_same_snapshot
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.store.table_store import TableStore


def check_rescaled(
    store: TableStore,
    latest: Snapshot | None,
    since: SeenSnapshot,
    entries: ManifestEntries,
    live: Callable[[], ManifestEntries],
) -> None:
    """Check that the partitions of new files still have the number of buckets of these files.

    Args:
        store: the table.
        latest: the latest snapshot.
        since: the snapshot on which the writer has begun.
        entries: the changes of the commit.
        live: returns the live files of the changed partitions.

    Raises:
        CommitConflictError: a partition has another number of buckets.
    """
    if latest is None or is_same_snapshot(latest, since):
        return
    if _may_be_overwritten(store, latest, since):
        check_bucket_counts(live(), entries)


def _may_be_overwritten(store: TableStore, latest: Snapshot, since: SeenSnapshot) -> bool:
    """Whether there was an overwrite since a snapshot, or snapshots were removed."""
    if latest.id <= since.id:
        return True  # after a rollback
    for number in range(latest.id, since.id, -1):
        found = latest if number == latest.id else store.snapshots.find(number)
        if found is None or found.commit_kind is CommitKind.OVERWRITE:
            return True
    return False
