"""The manifests of a snapshot, from those of the previous snapshot and the changes of a commit."""

from collections.abc import Sequence
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
from paimon_explore.frozen_dataclass import dataclass

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
