"""Combines consecutive commits of one writer into the messages of a single commit.

A transaction commits its operations one after the other to staged metadata. Only the difference
between the snapshot before the first one and the one after the last becomes visible: files that one
operation adds and a later one removes cancel out, and so do index files.

The commits assigned sequence numbers and row ids in tables with row tracking. These are reset, so
that the single commit assigns those of its own snapshot.

Spec: concepts/spec/manifest; append-table/row-tracking.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.entry_cancellation import merge_entries
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Row
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore

_Bucket: TypeAlias = tuple[bytes, int]
_Grouped: TypeAlias = defaultdict[_Bucket, defaultdict[str, list[Row]]]


def squash(
    store: TableStore, before: Snapshot | None, seen: SeenSnapshot | None
) -> list[CommitMessage]:
    """Return the changes of all snapshots after a snapshot, as one message per bucket.

    Args:
        store: the table with the snapshots to combine.
        before: the snapshot before the first of them; None for an empty table.
        seen: the snapshot on which the records of a primary-key table are based.
    """
    snapshots = _snapshots_after(store, before)
    if not snapshots:
        return []
    manifests = store.manifests
    names = [name for snapshot in snapshots for name in manifests.delta(snapshot).names]
    entries = merge_entries(manifests.read_many(names))
    added = _reset(entries.of_kind(FileKind.ADD).rows(), before)
    changelog = [
        manifests.read_many(manifests.changelog(snapshot).names)
        for snapshot in snapshots
        if snapshot.changelog_manifest_list is not None
    ]
    old_index = manifests.index(before.index_manifest if before is not None else None)
    new_index = manifests.index(snapshots[-1].index_manifest)
    rows = {
        "new_files": added,
        "deleted_files": entries.of_kind(FileKind.DELETE).rows(),
        "changelog_files": [row for part in changelog for row in part.rows()],
        "new_index_files": _without(new_index, old_index),
        "deleted_index_files": _without(old_index, new_index),
    }
    return bucket_messages(rows, seen)


def bucket_messages(
    rows: Mapping[str, Sequence[Row]], seen: SeenSnapshot | None = None
) -> list[CommitMessage]:
    """Return a message for each bucket.

    Args:
        rows: the rows of files and index files by the member of the message, such as `new_files`.
        seen: the snapshot on which the records of a primary-key table are based.
    """
    grouped: _Grouped = defaultdict(lambda: defaultdict(list))
    for name, found in rows.items():
        for row in found:
            grouped[_bucket(row)][name].append(row)
    return [_message(bucket, own, seen) for bucket, own in grouped.items()]


def written_partitions(store: TableStore, snapshot: Snapshot) -> frozenset[bytes]:
    """Return the partitions to which a snapshot has added files."""
    manifests = store.manifests
    return manifests.read_many(manifests.delta(snapshot).names).of_kind(FileKind.ADD).partitions


def _snapshots_after(store: TableStore, before: Snapshot | None) -> list[Snapshot]:
    latest = store.snapshots.latest()
    first = 1 if before is None else before.id + 1
    last = 0 if latest is None else latest.id
    return [store.snapshots.load(number) for number in range(first, last + 1)]


def _without(entries: IndexEntries, others: IndexEntries) -> list[dict[str, object]]:
    names = {row["file_name"] for row in others.rows()}
    return [row for row in entries.rows() if row["file_name"] not in names]


def _bucket(row: Row) -> _Bucket:
    partition, bucket = row["partition"], row["bucket"]
    assert isinstance(partition, bytes)  # noqa: S101 - the column is NOT NULL
    assert isinstance(bucket, int)  # noqa: S101 - the column is NOT NULL
    return partition, bucket


def _message(
    bucket: _Bucket, rows: Mapping[str, Sequence[Row]], seen: SeenSnapshot | None
) -> CommitMessage:
    total = next((row["total_buckets"] for row in rows.get("new_files", ())), None)

    def files(name: str) -> ManifestEntries:
        return ManifestEntries.from_rows(rows.get(name, ()))

    def index(name: str) -> IndexEntries:
        return IndexEntries.from_rows(rows.get(name, ()))

    return CommitMessage(
        partition=bucket[0],
        bucket=bucket[1],
        total_buckets=total if isinstance(total, int) else None,
        new_files=files("new_files"),
        deleted_files=files("deleted_files"),
        changelog_files=files("changelog_files"),
        new_index_files=index("new_index_files"),
        deleted_index_files=index("deleted_index_files"),
        seen=seen,
    )


def _reset(rows: list[dict[str, object]], before: Snapshot | None) -> list[dict[str, object]]:
    """Remove the row ids and sequence numbers that commits with row tracking have assigned."""
    last = 0 if before is None else before.id
    free = 0 if before is None else before.next_row_id or 0
    for row in rows:
        first, low, high = (row[name] for name in _ASSIGNED)
        columns = row["write_cols"]
        if first is None and not (isinstance(columns, list) and "_ROW_ID" in columns):
            continue  # a file without row ids
        if isinstance(first, int) and first >= free:
            row["first_row_id"] = None
        if isinstance(high, int) and high > last:
            row["max_sequence_number"] = 0
            row["min_sequence_number"] = 0 if low == high else low
    return rows


_ASSIGNED = ("first_row_id", "min_sequence_number", "max_sequence_number")
