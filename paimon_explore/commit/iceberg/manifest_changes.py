"""The manifests of a snapshot, from those of the previous snapshot and the changes of a commit.

Also the summary of the snapshot: the totals of its files and rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from paimon_explore.commit.iceberg.file_paths import plain_path
from paimon_explore.commit.iceberg.manifest_files import ManifestFolder
from paimon_explore.commit.iceberg.manifest_records import (
    Content,
    IcebergEntry,
    IcebergManifest,
    Record,
    Status,
    added_entry,
    deleted_or_existing,
)
from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.commit.iceberg.snapshot_files import FileChanges
from paimon_explore.commit.iceberg.table_metadata import IDENTITY, commit_identity
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import CommitKind, Snapshot

_SMALL = 2 / 3
"""Manifests below this part of the target size are merged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestChanges:
    """The data manifests of a snapshot, and what it changes.

    Attributes:
        manifests: the manifests.
        added: the files that the snapshot adds.
        deleted: the files that it deletes.
    """

    manifests: Sequence[IcebergManifest]
    added: Sequence[IcebergEntry]
    deleted: Sequence[IcebergEntry]


def apply_changes(
    folder: ManifestFolder,
    before: Sequence[IcebergManifest],
    changes: FileChanges,
    snapshot_id: int,
) -> ManifestChanges:
    """Write the manifests that a commit changes; the others are used again.

    A file that moves to another level is removed and added: it is listed once.

    Args:
        folder: the manifests of the table.
        before: the data manifests of the previous snapshot.
        changes: the changes of the commit.
        snapshot_id: the snapshot.
    """
    added: dict[str, Record] = dict(changes.added)
    deleted: list[IcebergEntry] = []
    manifests: list[IcebergManifest] = []
    if changes.is_append:
        manifests = list(before)
    else:
        known = {plain_path(path): path for path in added}
        removed = frozenset(map(plain_path, changes.removed)) - known.keys()
        for manifest in before:
            live = [entry for entry in folder.read(manifest) if entry.is_live]
            for entry in live:
                added.pop(known.get(plain_path(entry.path), ""), None)
            gone = frozenset(entry.path for entry in live if plain_path(entry.path) in removed)
            if not gone:
                manifests.append(manifest)
                continue
            deleted += [entry for entry in live if entry.path in gone]
            changed = [deleted_or_existing(entry, gone, snapshot_id) for entry in live]
            manifests += folder.write(changed, Content.DATA, snapshot_id)
    new = [added_entry(record, snapshot_id) for record in added.values()]
    manifests += folder.write(new, Content.DATA, snapshot_id)
    return ManifestChanges(manifests=manifests, added=new, deleted=deleted)


def merge_small_manifests(
    folder: ManifestFolder,
    manifests: Sequence[IcebergManifest],
    settings: IcebergSettings,
    snapshot_id: int,
) -> Sequence[IcebergManifest]:
    """Merge small manifests if there are many of them.

    Args:
        folder: the manifests of the table.
        manifests: the data manifests of a new snapshot.
        settings: the settings of the table.
        snapshot_id: the snapshot.
    """
    limit = settings.target_bytes * _SMALL
    small = [manifest for manifest in manifests if manifest.length < limit]
    total = sum(manifest.length for manifest in small)
    is_worth = len(small) >= settings.max_manifests or total >= settings.target_bytes
    if len(small) < max(2, settings.min_manifests) or not is_worth:
        return manifests
    entries: list[IcebergEntry] = []
    for manifest in small:
        found = (_as_of(entry, snapshot_id) for entry in folder.read(manifest))
        entries += [entry for entry in found if entry is not None]
        if manifest.snapshot_id == snapshot_id:
            folder.discard(manifest)
    large = [manifest for manifest in manifests if manifest.length >= limit]
    return [*large, *folder.write(entries, Content.DATA, snapshot_id)]


def _as_of(entry: IcebergEntry, snapshot_id: int) -> IcebergEntry | None:
    """Return an entry as a later snapshot lists it; None for a file that is deleted for long."""
    is_new = snapshot_id in (entry.snapshot_id, entry.file_sequence_number)
    if is_new or entry.status is Status.EXISTING:
        return entry
    return None if entry.status is Status.DELETED else replace(entry, status=Status.EXISTING)


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
    partitions = {tuple(entry.partition.values()) for entry in (*added, *deleted)}
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


def _rows(entries: Iterable[IcebergEntry]) -> int:
    return sum(entry.rows for entry in entries)


def _bytes(entries: Iterable[IcebergEntry]) -> int:
    return sum(entry.size for entry in entries)
