"""Expiry of Iceberg snapshots, and deletion of the metadata files that only they refer to."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from paimon_explore.commit.iceberg.manifest_files import ManifestFolder
from paimon_explore.commit.iceberg.metadata_folder import MetadataFolder
from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.commit.iceberg.table_metadata import IcebergMetadata, IcebergSnapshot
from paimon_explore.errors import CorruptFileError, MissingFileError
from paimon_explore.fileio.file_io import FileIO


def kept_snapshots(
    snapshots: Sequence[IcebergSnapshot], retained: tuple[int, int, int], now_ms: int
) -> list[IcebergSnapshot]:
    """Return the snapshots that are not expired, oldest first; the last one always remains.

    Args:
        snapshots: the snapshots, oldest first.
        retained: the minimum and the maximum number, and the age in milliseconds from which those
            between are expired.
        now_ms: epoch milliseconds.
    """
    newest = snapshots[-1].id
    minimum, maximum, age_ms = retained

    def is_expired(snapshot: IcebergSnapshot) -> bool:
        behind = newest - snapshot.id
        if behind < minimum:
            return False
        return behind >= maximum or snapshot.timestamp_ms < now_ms - age_ms

    for position, snapshot in enumerate(snapshots[:-1]):
        if not is_expired(snapshot):
            return list(snapshots[position:])
    return [snapshots[-1]]


def delete_old_versions(folder: MetadataFolder, settings: IcebergSettings, version: int) -> None:
    """Delete metadata files of earlier versions beyond the number to keep."""
    if not settings.deletes_old:
        return
    first = version - settings.previous_versions
    for old in folder.versions():
        if old < first:
            folder.delete(old)


def delete_unused_manifests(
    file_io: FileIO, manifests: ManifestFolder, snapshots: Sequence[IcebergSnapshot]
) -> None:
    """Delete the manifest lists of all snapshots but the last one, and manifests of only these."""
    if len(snapshots) == 1:
        return
    kept = {manifests.stored(one.path) for one in manifests.read_list(snapshots[-1].manifest_list)}
    for snapshot in snapshots[:-1]:
        _delete_list(file_io, manifests, snapshot.manifest_list, kept)


def delete_later_versions(
    folder: MetadataFolder, is_current: Callable[[int], bool], version: int
) -> None:
    """Delete the metadata files of later snapshots that a rollback has removed.

    Args:
        folder: the folder of the metadata.
        is_current: returns whether the metadata of a version belongs to a snapshot of the table.
        version: the version after which files are deleted.
    """
    for later in folder.versions():
        if later > version and not is_current(later):
            folder.delete(later)


def delete_earlier_versions(
    folder: MetadataFolder, manifests: ManifestFolder, settings: IcebergSettings, version: int
) -> None:
    """Delete the manifests of all earlier versions, and the versions, except those to keep."""
    first = version - settings.previous_versions
    kept = set(manifests.written)
    for other in folder.versions():
        if other >= version:
            continue
        for snapshot in _snapshots_of(folder, other):
            if manifests.stored(snapshot.manifest_list) not in kept:
                _delete_list(folder.file_io, manifests, snapshot.manifest_list, kept)
        if settings.deletes_old and other < first:
            folder.delete(other)


def _snapshots_of(folder: MetadataFolder, version: int) -> Sequence[IcebergSnapshot]:
    found: IcebergMetadata | None = None
    with suppress(CorruptFileError):
        found = folder.find(version)
    return () if found is None else found.snapshots


def _delete_list(file_io: FileIO, manifests: ManifestFolder, path: str, kept: set[str]) -> None:
    """Delete a manifest list and its manifests, except those to keep."""
    with suppress(MissingFileError, CorruptFileError):
        for manifest in manifests.read_list(path):
            stored = manifests.stored(manifest.path)
            if stored not in kept:
                file_io.delete(stored)
    file_io.delete(manifests.stored(path))
