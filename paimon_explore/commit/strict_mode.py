"""Checks that options ask for beyond the usual ones.

- `commit.strict-mode.last-safe-snapshot`: nobody else may have compacted or overwritten what the
  commit changes since that snapshot; and an overwrite also suffers no rows that others have added.
- `commit.discard-duplicate-files`: files that the table has already are not added again, where the
  commit would fail else.

Spec: concepts/concurrency-control; maintenance/configurations.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.commit.file_changes import Changes
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.store.table_store import TableStore

_IDENTITY = ("partition", "bucket", "level", "file_name")
_REWRITES = frozenset({CommitKind.COMPACT, CommitKind.OVERWRITE})
_UNCHECKED = -1


def check_strictly(
    store: TableStore,
    options: TableOptions,
    *,
    user: str,
    kind: CommitKind,
    changes: Changes,
    latest: Snapshot,
) -> None:
    """Refuse a commit beside which others have rewritten the same partitions.

    Args:
        store: the table.
        options: the options in force.
        user: who commits; snapshots of the same user are fine.
        kind: of the new commit.
        changes: of the new commit.
        latest: the newest snapshot.

    Raises:
        CommitConflictError: another's snapshot is in the way.
    """
    safe = options.value(opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT)
    if safe is None or safe == _UNCHECKED:
        return
    for number in range(safe + 1, latest.id + 1):
        snapshot = latest if number == latest.id else store.snapshots.load(number)
        if snapshot.commit_user == user:
            continue
        rewrites = snapshot.commit_kind in _REWRITES
        if not rewrites and kind is not CommitKind.OVERWRITE:
            continue
        if _touches(store, snapshot, changes.partitions, any_bucket=rewrites):
            key = opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT.key
            raise CommitConflictError(
                f"Snapshot {number} of user {snapshot.commit_user!r} "
                f"({snapshot.commit_kind.value}) changes the same partitions; {key!r} is {safe}.",
                hint="Plan the change again on the latest snapshot.",
            )


def _touches(
    store: TableStore, snapshot: Snapshot, partitions: frozenset[bytes], *, any_bucket: bool
) -> bool:
    manifests = store.manifests
    entries = manifests.read_many(manifests.list(snapshot.delta_manifest_list).names)
    if not any_bucket:  # files that wait for a bucket are nobody's business
        entries = entries.filter(numbers(entries.table, "bucket") >= 0)
    changed = {partition.as_py() for partition in entries.column("partition")}
    return not changed.isdisjoint(partitions)


def without_duplicates(live: ManifestEntries, changes: Changes) -> Changes:
    """The changes without files that the table has already."""
    known = set(_identities(live.table))
    entries = changes.entries
    is_add = (numbers(entries.table, "kind") == FileKind.ADD.value).tolist()
    kept = [
        not (add and identity in known)
        for add, identity in zip(is_add, _identities(entries.table), strict=True)
    ]
    return replace(changes, entries=entries.filter(np.array(kept, np.bool_)))


def _identities(table: pa.Table) -> Iterable[tuple[object, ...]]:
    return zip(*(table.column(name).to_pylist() for name in _IDENTITY), strict=True)
