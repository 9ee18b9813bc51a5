"""Optional commit checks that are enabled by table options.

- `commit.strict-mode.last-safe-snapshot`: since that snapshot, no other user may have compacted or
  overwritten the changed partitions, or deleted rows of them by deletion vectors; for an overwrite,
  no other user may have added rows either. Global indexes built for data evolution change no rows.
- `commit.discard-duplicate-files`: an append does not add files again that already exist in the
  table; without the option, appends are not checked.

Spec: concepts/concurrency-control; maintenance/configurations.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.commit.file_changes import Changes
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.store.table_store import TableStore

_IDENTITY = ("partition", "bucket", "level", "file_name")
_REWRITES = frozenset({CommitKind.COMPACT, CommitKind.OVERWRITE})
_UNCHECKED = -1


def last_safe_snapshot(options: TableOptions) -> int | None:
    """Return the snapshot since which other users must not have changed the same partitions."""
    safe = options.value(opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT)
    return None if safe == _UNCHECKED else safe


def check_strict_mode(
    store: TableStore,
    options: TableOptions,
    *,
    user: str,
    kind: CommitKind,
    changes: Changes,
    latest: Snapshot,
) -> None:
    """Check that no other user has rewritten the changed partitions.

    Args:
        store: the table.
        options: the effective options.
        user: the commit user; snapshots of the same user are allowed.
        kind: the kind of the new commit.
        changes: the changes of the new commit.
        latest: the latest snapshot.

    Raises:
        CommitConflictError: a snapshot of another user conflicts.
    """
    safe = last_safe_snapshot(options)
    if safe is None:
        return
    for number in range(safe + 1, latest.id + 1):
        snapshot = latest if number == latest.id else store.snapshots.load(number)
        if snapshot.commit_user == user:
            continue
        rewrites = snapshot.commit_kind in _REWRITES
        if not rewrites and kind is not CommitKind.OVERWRITE:
            continue
        counts_index = rewrites and not (
            snapshot.commit_kind is CommitKind.COMPACT and options.value(opt.DATA_EVOLUTION_ENABLED)
        )
        changed = _changed_partitions(store, snapshot, any_bucket=rewrites)
        if counts_index:
            changed |= _indexed_partitions(store, snapshot)
        if not changed.isdisjoint(changes.partitions):
            key = opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT.key
            raise CommitConflictError(
                f"Snapshot {number} of user {snapshot.commit_user!r} "
                f"({snapshot.commit_kind.value}) changes partitions that this commit also changes, "
                f"and is later than {key!r} = {safe}."
            )


def _changed_partitions(store: TableStore, snapshot: Snapshot, *, any_bucket: bool) -> set[bytes]:
    """Return the partitions whose data files a snapshot changes."""
    manifests = store.manifests
    entries = manifests.read_many(manifests.list(snapshot.delta_manifest_list).names)
    if not any_bucket:  # ignore postponed files
        entries = entries.filter(numbers(entries.table, "bucket") >= 0)
    return {partition.as_py() for partition in entries.column("partition")}


def _indexed_partitions(store: TableStore, snapshot: Snapshot) -> set[bytes]:
    """Return the partitions whose index files, such as deletion vectors, a snapshot changes.

    If the snapshot before it has expired, these are all partitions with index files.
    """
    before = store.snapshots.find(snapshot.id - 1)
    names = [None if one is None else one.index_manifest for one in (before, snapshot)]
    if names[0] == names[1]:
        return set()
    old, new = (set(_index_files(store.manifests.index(name))) for name in names)
    return {partition for partition, _ in old ^ new}


def _index_files(index: IndexEntries) -> Iterable[tuple[bytes, str]]:
    columns = (index.table.column(name).to_pylist() for name in ("partition", "file_name"))
    return zip(*columns, strict=True)


def without_duplicates(live: ManifestEntries, changes: Changes) -> Changes:
    """Return the changes without files that already exist in the table."""
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
