"""Conflict checks of records of a primary-key table with other commits to the same keys.

A record replaces records of its key with smaller sequence numbers, and sequence numbers continue
those of the snapshot that the writer has read. Records computed from rows of the table (updates,
merges, rows moved from another partition) depend on that snapshot, and so do the buckets of keys in
tables with dynamic buckets. If other commits have happened since, their files are checked:

| records | conflict with records of other commits for the same keys |
| --- | --- |
| computed from rows of the table | all, including removed ones |
| with dynamic buckets, if the primary key does not contain the partition | all, in any partition |
| with dynamic or postponed buckets | in another bucket; any removed file of the partition |
| others | with sequence numbers that are not lower: the new record would not replace them |

The check compares the key ranges of files, so it may report a conflict although no key is equal.
Compactions do not change rows and never conflict. With a sequence field, sequence numbers do not
matter; postponed rows are ordered by the time of writing.

Spec: concepts/concurrency-control.
"""  # a table

from typing import Any

import numpy as np

from paimon_explore.commit.file_changes import Changes
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import CommitConflictError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.store.table_store import TableStore

_File = dict[str, Any]
"""A new or removed data file with the ranks of its first and last key, `low` and `high`."""
_READ = [
    *("file_name", "kind", "partition", "bucket"),
    *("min_sequence_number", "max_sequence_number"),
]
_WRITES = frozenset({CommitKind.APPEND, CommitKind.OVERWRITE})


class StaleRecordsError(CommitConflictError):
    """Another commit has changed the state on which records are based; write them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRules:
    """Table settings for key conflict checks.

    Attributes:
        keys: the trimmed primary key; empty for append tables.
        has_fixed_buckets: whether the bucket of a key never changes.
        crosses_partitions: whether the primary key does not contain all partition columns.
        by_sequence_field: whether the table has a sequence field.
    """

    keys: RowType
    has_fixed_buckets: bool
    crosses_partitions: bool
    by_sequence_field: bool


def check_keys(
    store: TableStore,
    latest: Snapshot | None,
    changes: Changes,
    seen: SeenSnapshot,
    rules: KeyRules,
) -> None:
    """Check that no other commit has changed the keys of new records.

    Args:
        store: the table.
        latest: the latest snapshot.
        changes: the new files.
        seen: the snapshot on which they are based.
        rules: table settings.

    Raises:
        CommitConflictError: another commit has changed the same keys.
    """
    if is_same_snapshot(latest, seen):
        return
    others = written_since(store, latest, seen)
    if len(others):
        _check(changes.entries.of_kind(FileKind.ADD), others, seen, rules)


def is_same_snapshot(latest: Snapshot | None, seen: SeenSnapshot) -> bool:
    """Return whether the latest snapshot is the one that was seen."""
    if latest is None:
        return seen.id == 0
    return (latest.id, latest.delta_manifest_list) == (seen.id, seen.delta)


def is_ancestor(store: TableStore, seen: SeenSnapshot) -> bool:
    """Return whether a snapshot is an ancestor of the latest one, as far as can be determined."""
    if seen.id == 0:
        return True
    found = store.snapshots.find(seen.id)
    if found is not None:
        return found.delta_manifest_list == seen.delta
    earliest = store.snapshots.earliest_id()
    return earliest is not None and earliest > seen.id


def written_since(
    store: TableStore, latest: Snapshot | None, seen: SeenSnapshot
) -> ManifestEntries:
    """Return the files added and removed since a snapshot, except by compactions.

    Raises:
        StaleRecordsError: the snapshot was removed by a rollback, or a later one has expired.
    """
    if latest is None or not is_ancestor(store, seen):
        raise StaleRecordsError(
            f"Snapshot {seen.id}, on which the rows are based, was removed by a rollback."
        )
    parts = [ManifestEntries.empty()]
    for number in range(seen.id + 1, latest.id + 1):
        snapshot = latest if number == latest.id else store.snapshots.find(number)
        if snapshot is None:
            raise StaleRecordsError(
                f"Snapshot {number}, created after the rows were written, has expired or was "
                "rolled back, so conflicts with its keys cannot be checked."
            )
        if snapshot.commit_kind in _WRITES:
            names = store.manifests.list(snapshot.delta_manifest_list).names
            parts.append(store.manifests.read_many(names))
    return ManifestEntries.concat([part for part in parts if len(part)] or parts[:1])


def _check(
    own: ManifestEntries, others: ManifestEntries, seen: SeenSnapshot, rules: KeyRules
) -> None:
    if not len(own):
        return
    both = ManifestEntries.concat([part for part in (own, others) if len(part)])
    lows, highs = key_ranks(both, rules.keys)
    waits = numbers(both.table, "bucket") < 0
    lows, highs = np.where(waits, -1, lows), np.where(waits, len(both) * 2, highs)
    rows = both.table.select(_READ).to_pylist()
    ranges = zip(rows, lows.tolist(), highs.tolist(), strict=True)
    files: list[_File] = [{**row, "low": low, "high": high} for row, low, high in ranges]
    groups: dict[object, list[_File]] = {}
    for file in files[len(own) :]:
        groups.setdefault(_conflict_scope(file, rules), []).append(file)
    for file in files[: len(own)]:
        for other in groups.get(_conflict_scope(file, rules), ()):
            if _conflicts(file, other, seen, rules):
                raise StaleRecordsError(
                    f"File {other['file_name']} of another commit changes keys in bucket "
                    f"{other['bucket']} that this commit also writes."
                )


def _conflict_scope(file: _File, rules: KeyRules) -> object:
    """Return the bucket, partition or table in which other records of the same keys may be."""
    if rules.crosses_partitions:
        return None
    return _bucket(file) if rules.has_fixed_buckets else file["partition"]


def _bucket(file: _File) -> tuple[object, object]:
    return file["partition"], file["bucket"]


def _conflicts(own: _File, other: _File, seen: SeenSnapshot, rules: KeyRules) -> bool:
    overlaps: bool = own["low"] <= other["high"] and other["low"] <= own["high"]
    if seen.reads:
        return overlaps
    if other["kind"] != FileKind.ADD.value:  # after an overwrite, keys may get other buckets
        return not rules.has_fixed_buckets
    if not overlaps or own["bucket"] < 0:
        return False
    if _bucket(own) != _bucket(other):
        return True
    is_newer: bool = other["max_sequence_number"] >= own["min_sequence_number"]
    return not rules.by_sequence_field and is_newer
