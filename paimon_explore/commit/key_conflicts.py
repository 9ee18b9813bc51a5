"""Whether records of a primary-key table still fit what others have written for the same keys.

A record replaces the records of its key with smaller sequence numbers. Numbers continue those of
the snapshot that a writer has seen; records that were made from rows of the table (updates, merges,
rows that leave another partition) depend on more of it, and so does the bucket of a key where
buckets are dynamic. If others have committed since then, their changes are looked at:

| records | conflict with others' records of the same keys |
| --- | --- |
| made from rows of the table | any, also removed ones |
| with dynamic buckets, in a table whose key does not hold the partition | the same, in any partition |
| with dynamic or postponed buckets | in another bucket; any file of the partition that was removed |
| else | numbered no lower: the new record would not replace them |

Files tell the first and last key that they hold, so a conflict may be found where there is none.
Compactions change no rows, so they never conflict. Where a sequence field orders the records,
numbers do not matter; and rows that wait for a bucket are ordered by the time of writing.

Spec: concepts/concurrency-control.
"""  # noqa: E501  # a table

from collections.abc import Iterator

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

_WRITES = frozenset({CommitKind.APPEND, CommitKind.OVERWRITE})
_AGAIN = "Do it again on the latest snapshot."


class StaleRecordsError(CommitConflictError):
    """Records were made on a state of the table that others have changed; write them again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRules:
    """What the check has to know of the table.

    Attributes:
        keys: the trimmed primary key; empty for append tables.
        has_fixed_buckets: whether the bucket of a key never changes.
        crosses_partitions: whether the primary key does not hold the partition.
        by_sequence_field: whether a column orders the records of a key.
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
    """Refuse records that were made on a state that others have changed.

    Args:
        store: the table.
        latest: the newest snapshot.
        changes: the new files.
        seen: the snapshot that they were made on.
        rules: of the table.

    Raises:
        CommitConflictError: another commit has changed the same keys.
    """
    if latest is not None and (latest.id, latest.delta_manifest_list) == (seen.id, seen.delta):
        return
    if latest is None and seen.id == 0:
        return
    if latest is None or not _is_past(store, seen):
        raise StaleRecordsError(
            f"Snapshot {seen.id}, on which the rows were written, was replaced by a rollback.",
            hint=_AGAIN,
        )
    others = _written_since(store, latest, seen)
    if len(others):
        _check(changes.entries.of_kind(FileKind.ADD), others, seen, rules)


def _is_past(store: TableStore, seen: SeenSnapshot) -> bool:
    """Whether a snapshot is one that the newest one builds on, as far as can be told."""
    if seen.id == 0:
        return True
    found = store.snapshots.find(seen.id)
    if found is not None:
        return found.delta_manifest_list == seen.delta
    earliest = store.snapshots.earliest_id()
    return earliest is not None and earliest > seen.id


def _written_since(store: TableStore, latest: Snapshot, seen: SeenSnapshot) -> ManifestEntries:
    """Files that others have added and removed since a snapshot, but by compactions."""
    parts = [ManifestEntries.empty()]
    for number in range(seen.id + 1, latest.id + 1):
        snapshot = latest if number == latest.id else store.snapshots.find(number)
        if snapshot is None:
            raise StaleRecordsError(
                f"Snapshot {number}, made since the rows were written, has expired or was rolled "
                "back: whether it has the same keys cannot be told.",
                hint=_AGAIN,
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
    files = list(_files(both, lows.tolist(), highs.tolist()))
    groups: dict[object, list[_File]] = {}
    for file in files[len(own) :]:
        groups.setdefault(_place(file, rules), []).append(file)
    for file in files[: len(own)]:
        for other in groups.get(_place(file, rules), ()):
            if _clashes(file, other, seen, rules):
                raise StaleRecordsError(
                    f"Another commit has changed keys of bucket {other.bucket} that the commit "
                    f"writes: file {other.name}.",
                    hint=_AGAIN,
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """What matters of a file: place, keys by rank, sequence numbers."""

    name: str
    is_added: bool
    partition: object
    bucket: int
    low: int
    high: int
    first: int
    last: int


def _files(entries: ManifestEntries, lows: list[int], highs: list[int]) -> Iterator[_File]:
    columns = [
        "file_name",
        "kind",
        "partition",
        "bucket",
        "min_sequence_number",
        "max_sequence_number",
    ]
    rows = entries.table.select(columns).to_pylist()
    for row, low, high in zip(rows, lows, highs, strict=True):
        yield _File(
            name=row["file_name"],
            is_added=row["kind"] == FileKind.ADD.value,
            partition=row["partition"],
            bucket=row["bucket"],
            low=low,
            high=high,
            first=row["min_sequence_number"],
            last=row["max_sequence_number"],
        )


def _place(file: _File, rules: KeyRules) -> object:
    """Where the other records of a file's keys may be."""
    if rules.crosses_partitions:
        return None
    return (file.partition, file.bucket) if rules.has_fixed_buckets else file.partition


def _clashes(own: _File, other: _File, seen: SeenSnapshot, rules: KeyRules) -> bool:
    overlaps = own.low <= other.high and other.low <= own.high
    if seen.reads:
        return overlaps
    if not other.is_added:  # keys get other buckets, once an overwrite has taken theirs away
        return not rules.has_fixed_buckets
    if not overlaps or own.bucket < 0:
        return False
    if (own.partition, own.bucket) != (other.partition, other.bucket):
        return True
    return not rules.by_sequence_field and other.last >= own.first
