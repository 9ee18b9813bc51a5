"""The summary of an Iceberg snapshot: its operation and metrics, with the names of Java."""

from collections.abc import Iterable, Mapping, Sequence

from paimon_explore.commit.iceberg.manifest_changes import ManifestChanges
from paimon_explore.commit.iceberg.manifest_records import Content, IcebergEntry, IcebergManifest
from paimon_explore.commit.iceberg.table_metadata import IDENTITY, commit_identity
from paimon_explore.metadata.snapshot import CommitKind, Snapshot


def snapshot_summary(
    snapshot: Snapshot,
    changes: ManifestChanges,
    vectors: Sequence[IcebergManifest],
    bytes_before: int,
) -> dict[str, str]:
    """Return the summary of a snapshot.

    Args:
        snapshot: the Paimon snapshot.
        changes: its data manifests and changes.
        vectors: its manifests of deletion vectors.
        bytes_before: the total size of the data files of the previous snapshot.
    """
    data = [one for one in changes.manifests if one.content is Content.DATA]
    added, deleted = changes.added, changes.deleted
    partitions = {_partition(entry) for entry in (*added, *deleted)}
    numbers: Mapping[str, int] = {
        "added-data-files": len(added),
        "added-records": _rows(added),
        "added-files-size": _bytes(added),
        "deleted-data-files": len(deleted),
        "deleted-records": _rows(deleted),
        "removed-files-size": _bytes(deleted),
        "changed-partition-count": len(partitions),
        "total-records": sum(one.live_rows for one in data),
        "total-data-files": sum(one.live_files for one in data),
        "total-files-size": max(0, bytes_before + _bytes(added) - _bytes(deleted)),
        "total-delete-files": sum(one.live_files for one in vectors),
        "total-position-deletes": sum(one.live_rows for one in vectors),
        "total-equality-deletes": 0,
    }
    return {
        "operation": _operation(snapshot, deleted),
        **{name: str(number) for name, number in numbers.items()},
        **(snapshot.properties or {}),
        IDENTITY: commit_identity(snapshot),
    }


def _operation(snapshot: Snapshot, deleted: Sequence[IcebergEntry]) -> str:
    if not deleted:
        return "append"
    return "replace" if snapshot.commit_kind is CommitKind.COMPACT else "overwrite"


def _partition(entry: IcebergEntry) -> tuple[object, ...]:
    return tuple(entry.partition.values())


def _rows(entries: Iterable[IcebergEntry]) -> int:
    return sum(entry.rows for entry in entries)


def _bytes(entries: Iterable[IcebergEntry]) -> int:
    return sum(entry.size for entry in entries)
