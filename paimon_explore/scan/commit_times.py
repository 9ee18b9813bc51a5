"""Snapshots by the time of their commit, as streams select them.

Batch reads use the newest snapshot at or before a time. Streams start with the first commit at or
after it. If the clock of a writer went back, the times are not ascending; then the result is that
of Java's binary search. Seen with the official Java 2.0.0.
"""

from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


def known_commits(store: TableStore) -> list[int]:
    """The ids of the snapshots and of the long-lived changelogs before them, ascending."""
    ids = store.snapshots.history()
    if not ids:
        return []
    return [*(number for number in store.changelogs.ids() if number < ids[0]), *ids]


def commit_of(store: TableStore, number: int) -> Snapshot:
    """A snapshot, or its long-lived changelog.

    Raises:
        NotFoundError: neither exists.
    """
    return (
        store.snapshots.find(number)
        or store.changelogs.find(number)
        or store.snapshots.load(number)
    )


def last_before(store: TableStore, timestamp_ms: int) -> int:
    """The last commit before a time; the number before the first id if all commits are later."""
    ids = known_commits(store)
    if not ids:
        return 0
    if commit_of(store, ids[0]).time_millis >= timestamp_ms:
        return ids[0] - 1
    low, high = 0, len(ids) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if commit_of(store, ids[middle]).time_millis < timestamp_ms:
            low = middle
        else:
            high = middle - 1
    return ids[low]


def first_created(store: TableStore, timestamp_ms: int) -> int | None:
    """The snapshot with which `from-creation-timestamp` starts.

    It is the first one at or after the time. None if the first known commit is not older than the
    time, because commits before it may have expired, or if all commits are older: then the files
    of the latest snapshot are selected by their creation time.
    """
    ids = known_commits(store)
    before = last_before(store, timestamp_ms)
    return before + 1 if ids and ids[0] <= before < ids[-1] else None
