"""Writes the Iceberg metadata of new snapshots: `IcebergWriter`.

After snapshot N of the table, these files are written in this order:

| step | writes | after a crash |
| --- | --- | --- |
| manifests, if data files change | `<uuid>-m<n>.avro` | they remain as orphan files |
| manifest list | `snap-<n>-<uuid>.avro` | the same |
| metadata of snapshot N | `vN.metadata.json` | the hint names an older version |
| hint | `version-hint.text` | |
| registration in a catalog, if any | | readers of the catalog return older rows |
| expiry of old snapshots | deletes files that only they refer to | files remain as orphan files |

The metadata of snapshot N - 1 is continued if it exists and belongs to this history of the table:
a rollback may have replaced its snapshot. Otherwise the metadata is made from all files of
snapshot N; thus a commit repairs what an earlier one could not write.

Snapshots of branches have no Iceberg metadata.
"""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from uuid import uuid4

from paimon_explore.commit.iceberg.file_paths import path_prefixes, plain_path
from paimon_explore.commit.iceberg.manifest_changes import (
    ManifestChanges,
    apply_changes,
    merge_small_manifests,
    snapshot_summary,
)
from paimon_explore.commit.iceberg.manifest_files import ManifestFolder
from paimon_explore.commit.iceberg.manifest_records import (
    Content,
    IcebergManifest,
    added_entry,
    with_row_ids,
)
from paimon_explore.commit.iceberg.metadata_folder import MetadataFolder
from paimon_explore.commit.iceberg.schema_json import Json, iceberg_schema, partition_fields
from paimon_explore.commit.iceberg.settings import IcebergSettings, iceberg_settings
from paimon_explore.commit.iceberg.snapshot_files import SnapshotFiles
from paimon_explore.commit.iceberg.table_metadata import (
    IcebergMetadata,
    IcebergSnapshot,
    parse_metadata,
)
from paimon_explore.errors import (
    CorruptFileError,
    IcebergMetadataWarning,
    MissingFileError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import join, name, parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.iceberg_options import ICEBERG_FORMAT_VERSION, ICEBERG_STORAGE
from paimon_explore.metadata.options.table_options import (
    DELETION_VECTORS_BITMAP64,
    DELETION_VECTORS_ENABLED,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.iceberg_catalog import ExportedTable, IcebergCatalog
from paimon_explore.store.table_store import TableStore
from paimon_explore.threads import free_in_forks

_FIRST_SNAPSHOT = 1
_FILES_SIZE = "total-files-size"


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergWriter:
    """Writes the Iceberg metadata of one table.

    Attributes:
        store: the table.
        options: its effective options.
        settings: the settings of the metadata.
        clock: epoch milliseconds.
        catalog: where the metadata is registered, if anywhere.
    """

    store: TableStore
    options: TableOptions
    settings: IcebergSettings
    clock: Callable[[], int]
    catalog: IcebergCatalog | None = None

    def write_all(self, snapshots: Iterable[Snapshot]) -> None:
        """Write the metadata of committed snapshots; failures are warnings."""
        for snapshot in snapshots:
            try:
                self.write(snapshot)
            except PaimonError as error:
                warnings.warn(
                    f"Snapshot {snapshot.id} of {self.store.paths.root} is committed, but its "
                    f"Iceberg metadata could not be written: {error} Iceberg readers return older "
                    "rows; the next commit writes the metadata again.",
                    IcebergMetadataWarning,
                    stacklevel=2,
                )

    def write(self, snapshot: Snapshot, *, rolled_back: bool = False) -> None:
        """Write the metadata of a committed snapshot, unless it exists, and register it.

        Files that the catalog may still refer to are deleted after the registration.

        Args:
            snapshot: the snapshot.
            rolled_back: the table was rolled back to it; otherwise the first snapshot of a table
                removes the metadata of another one, which was dropped.

        Raises:
            StorageError: a file could not be read or written.
            UnsupportedFeatureError: Iceberg cannot represent the table.
            FormatError: a file of the table is invalid.
        """
        folder = self._folder
        delete_old = self._written(folder, snapshot, rolled_back=rolled_back)
        if register_newest(folder, self.catalog, self.store.paths.root):
            with suppress(StorageError, CorruptFileError):  # what remains is not referred to
                delete_old()

    def write_tags(self) -> None:
        """Write the tags of the table to the newest metadata, and register it."""
        folder = self._folder
        version = folder.hint()
        metadata = None if version is None else folder.find(version)
        if version is None or metadata is None:
            return
        tags = self._tags(metadata.snapshots)
        if tags != metadata.tags:
            folder.replace(version, replace(metadata, tags=tags), self.clock())
            register_newest(folder, self.catalog, self.store.paths.root)

    @property
    def _folder(self) -> MetadataFolder:
        return MetadataFolder(self.store.file_io, self.settings.folder)

    def _written(
        self, folder: MetadataFolder, snapshot: Snapshot, *, rolled_back: bool
    ) -> Callable[[], None]:
        """Write the metadata of a snapshot; return what deletes the files it replaces."""
        if self._is_written(folder, snapshot):
            return _delete_nothing
        if snapshot.id == _FIRST_SNAPSHOT and not rolled_back:
            folder.clear()
        schema = self.store.schemas.load(snapshot.schema_id)
        base = self._base(folder, snapshot, schema)
        if base is not None:
            with suppress(MissingFileError, CorruptFileError):
                return self._continue(folder, snapshot, schema, base)
        return self._make(folder, snapshot, schema)

    def _is_written(self, folder: MetadataFolder, snapshot: Snapshot) -> bool:
        """Return whether the metadata of this or of a later snapshot exists."""
        hint = folder.hint()
        if hint is None or hint < snapshot.id:
            return False
        if hint > snapshot.id:
            return self._is_current(folder, hint)
        with suppress(CorruptFileError):
            return folder.is_written(snapshot)
        return False

    def _is_current(self, folder: MetadataFolder, version: int) -> bool:
        """Return whether the metadata of a version belongs to a snapshot of the table."""
        snapshot = self.store.snapshots.find(version)
        with suppress(CorruptFileError):
            return snapshot is not None and folder.is_written(snapshot)
        return False

    def _base(
        self, folder: MetadataFolder, snapshot: Snapshot, schema: TableSchema
    ) -> IcebergMetadata | None:
        """Return the metadata of the previous snapshot, if it can be continued."""
        try:
            base = folder.find(snapshot.id - 1)
        except CorruptFileError:
            return None
        if base is None:
            return None
        before = self.store.snapshots.find(snapshot.id - 1)
        belongs = before is None or base.current.is_of(before)
        is_same = (
            base.format_version == self.settings.format_version
            and list(base.partition_fields) == partition_fields(schema)
            and base.schema_id <= schema.id
            and plain_path(base.location) == plain_path(self.store.paths.root)  # it may be a copy
        )
        return base if belongs and is_same else None

    def _continue(
        self, folder: MetadataFolder, snapshot: Snapshot, schema: TableSchema, base: IcebergMetadata
    ) -> Callable[[], None]:
        """Write the metadata from that of the previous snapshot and the changes."""
        prefixes = path_prefixes(self.store.paths.root, self.settings.folder, base)
        manifests = ManifestFolder(self.store.file_io, self.settings, schema, prefixes.metadata)
        files = SnapshotFiles(self.store, schema, self.options, self.settings, prefixes)
        before = manifests.read_list(base.current.manifest_list)
        data = [one for one in before if one.content is Content.DATA]
        changes = apply_changes(manifests, data, files.changes(snapshot), snapshot.id)
        vectors = self._vectors(manifests, files, snapshot, before)
        merged = merge_small_manifests(manifests, changes.manifests, self.settings, snapshot.id)
        listed, row_ids = self._row_ids(base, [*merged, *vectors])
        size = base.current.summary.get(_FILES_SIZE, "")
        bytes_before = int(size) if size.isdigit() else 0
        new = IcebergSnapshot(
            id=snapshot.id,
            timestamp_ms=max(self.clock(), snapshot.time_millis),
            summary=snapshot_summary(snapshot, changes, vectors, bytes_before),
            manifest_list=manifests.write_list(listed),
            schema_id=schema.id,
            row_ids=row_ids,
        )
        now = self.clock()
        kept = kept_snapshots([*base.snapshots, new], self.settings.retained, now)
        metadata = IcebergMetadata(
            format_version=base.format_version,
            uuid=base.uuid,
            location=base.location,
            last_column_id=max(base.last_column_id, schema.highest_field_id),
            schemas=[*base.schemas, *self._schemas(base.schema_id + 1, schema)],
            schema_id=schema.id,
            partition_fields=base.partition_fields,
            snapshots=kept,
            tags=self._tags(kept),
            next_row_id=None if row_ids is None else sum(row_ids),
        )
        folder.write(metadata, now)
        expired = [one for one in base.snapshots if one not in kept]

        def delete_old() -> None:
            delete_old_versions(folder, self.settings, snapshot.id)
            delete_unused_manifests(self.store.file_io, manifests, [*expired, kept[0]])

        return delete_old

    def _vectors(
        self,
        manifests: ManifestFolder,
        files: SnapshotFiles,
        snapshot: Snapshot,
        before: Sequence[IcebergManifest],
    ) -> list[IcebergManifest]:
        """Return the manifests of the deletion vectors; written again if an index file changes."""
        if not self.settings.with_vectors:
            return []
        previous = self.store.snapshots.find(snapshot.id - 1)
        if previous is not None and previous.index_manifest == snapshot.index_manifest:
            return [one for one in before if one.content is Content.DELETES]
        records = files.deletion_vectors(snapshot)
        entries = [added_entry(record, snapshot.id) for record in records]
        return manifests.write(entries, Content.DELETES, snapshot.id)

    def _make(
        self, folder: MetadataFolder, snapshot: Snapshot, schema: TableSchema
    ) -> Callable[[], None]:
        """Write the metadata from all files of the snapshot."""
        others = folder.newest()
        prefixes = path_prefixes(self.store.paths.root, self.settings.folder, others)
        manifests = ManifestFolder(self.store.file_io, self.settings, schema, prefixes.metadata)
        files = SnapshotFiles(self.store, schema, self.options, self.settings, prefixes)
        data = [added_entry(record, snapshot.id) for record in files.all(snapshot).values()]
        vectors = [added_entry(record, snapshot.id) for record in files.deletion_vectors(snapshot)]
        changes = ManifestChanges(
            manifests=manifests.write(data, Content.DATA, snapshot.id), added=data, deleted=[]
        )
        of_vectors = manifests.write(vectors, Content.DELETES, snapshot.id)
        listed, row_ids = self._row_ids(others, [*changes.manifests, *of_vectors])
        new = IcebergSnapshot(
            id=snapshot.id,
            timestamp_ms=max(self.clock(), snapshot.time_millis),
            summary=snapshot_summary(snapshot, changes, of_vectors, 0),
            manifest_list=manifests.write_list(listed),
            schema_id=schema.id,
            row_ids=row_ids,
        )
        metadata = IcebergMetadata(
            format_version=self.settings.format_version,
            uuid=str(uuid4()) if others is None else others.uuid,
            location=prefixes.location,
            last_column_id=max(
                schema.highest_field_id, 0 if others is None else others.last_column_id
            ),
            schemas=self._schemas(0, schema),
            schema_id=schema.id,
            partition_fields=partition_fields(schema),
            snapshots=[new],
            tags=self._tags([new]),
            next_row_id=None if row_ids is None else sum(row_ids),
        )
        folder.write(metadata, self.clock())

        def delete_old() -> None:
            delete_earlier_versions(folder, manifests, self.settings, snapshot.id)
            delete_later_versions(folder, partial(self._is_current, folder), snapshot.id)

        return delete_old

    def _row_ids(
        self, base: IcebergMetadata | None, manifests: Sequence[IcebergManifest]
    ) -> tuple[Sequence[IcebergManifest], tuple[int, int] | None]:
        """Return the manifests with row ids, if rows have ids: the first new one, and how many.

        Ids that earlier metadata has given to rows are not given to others.
        """
        if not self.settings.with_row_ids:
            return manifests, None
        first = 0 if base is None else base.next_row_id or 0
        found, count = with_row_ids(manifests, first)
        return found, (first, count)

    def _schemas(self, first_id: int, schema: TableSchema) -> list[Json]:
        """Return the schemas from an id up to the current one."""
        older = [self.store.schemas.load(number) for number in self._schema_ids(first_id, schema)]
        current = [schema] if schema.id >= first_id else []
        return [iceberg_schema(one) for one in (*older, *current)]

    def _schema_ids(self, first_id: int, schema: TableSchema) -> list[int]:
        if schema.id <= first_id:
            return []
        return [number for number in self.store.schemas.ids() if first_id <= number < schema.id]

    def _tags(self, snapshots: Sequence[IcebergSnapshot]) -> dict[str, int]:
        """Return the tags of snapshots that are part of the metadata."""
        known = {one.id for one in snapshots}
        tags = self.store.tags.list()
        return {tag.name: tag.snapshot.id for tag in tags if tag.snapshot.id in known}


def _delete_nothing() -> None:
    """The metadata was there: nothing is replaced."""


def iceberg_writer(
    store: TableStore, schema: TableSchema, options: TableOptions, clock: Callable[[], int]
) -> IcebergWriter:
    """Return the writer of a table with Iceberg metadata, before anything is committed.

    Warnings are given now, in case they are errors: nothing is committed then.

    Raises:
        InvalidInputError: an option of Iceberg metadata is invalid for the table.
    """
    settings = iceberg_settings(store.paths.root, schema, options)
    catalog, problem = None, None
    try:
        catalog = open_catalog(store, schema, options, settings)
    except PaimonError as error:
        problem = error
    warn_of_limits(store.paths.root, settings, options, problem)
    return IcebergWriter(
        store=store, options=options, settings=settings, clock=clock, catalog=catalog
    )


_warned: set[str] = set()
_lock = free_in_forks(threading.Lock())


def warn_of_limits(
    root: str, settings: IcebergSettings, options: TableOptions, problem: PaimonError | None
) -> None:
    """Warn of a catalog that is not called, and of deletion vectors that readers do not see.

    Args:
        root: the folder of the table.
        settings: the settings of the Iceberg metadata.
        options: the effective options.
        problem: why the catalog cannot be called, if it should be.
    """
    limits = [*_limits(settings, options, problem)]
    if not limits:
        return
    with _lock:
        if root in _warned:
            return
        _warned.add(root)
    for limit in limits:
        warnings.warn(f"Iceberg metadata of {root}: {limit}", IcebergMetadataWarning, stacklevel=2)


def _limits(
    settings: IcebergSettings, options: TableOptions, problem: PaimonError | None
) -> Iterator[str]:
    if problem is not None:
        yield (
            f"{ICEBERG_STORAGE.key} = {settings.storage.value} asks for registration in a catalog. "
            f"Commits write the metadata files to {settings.folder}, but do not register them: "
            f"{problem}"
        )
    if options.value(DELETION_VECTORS_ENABLED) and not settings.with_vectors:
        yield (
            "Iceberg readers return rows that deletion vectors delete. They see the vectors with "
            f"{ICEBERG_FORMAT_VERSION.key} = 3 and {DELETION_VECTORS_BITMAP64.key} = true."
        )


def open_catalog(
    store: TableStore, schema: TableSchema, options: TableOptions, settings: IcebergSettings
) -> IcebergCatalog | None:
    """Return the catalog of a table, if its options ask for registration.

    Raises:
        PaimonError: the options do not describe a catalog that this package can use.
    """
    if not settings.registers:
        return None
    if store.open_iceberg_catalog is None:
        raise UnsupportedFeatureError("registration in a catalog", "this access to the table")
    environment = store.environment
    table = ExportedTable(
        root=store.paths.root,
        name=None if environment is None else environment.identifier,
        folder=settings.folder,
        schema=schema,
        options=options,
    )
    return store.open_iceberg_catalog(table)


def register_newest(folder: MetadataFolder, catalog: IcebergCatalog | None, root: str) -> bool:
    """Register the newest metadata.

    Args:
        folder: the folder of the metadata.
        catalog: the catalog; None for a table that is registered nowhere.
        root: the folder of the table.

    Returns:
        Whether no reader of the catalog needs older metadata.
    """
    if catalog is None:
        return True
    try:
        catalog.register(partial(_newest, folder))
    except PaimonError as error:
        warnings.warn(
            f"The table {root} has changed and its Iceberg metadata is written, but it could not "
            f"be registered as {catalog.place}: {error} Readers of that catalog return older "
            "rows; the next commit registers the newest metadata.",
            IcebergMetadataWarning,
            stacklevel=2,
        )
        return False
    return True


def _newest(folder: MetadataFolder) -> tuple[str, bytes] | None:
    version = folder.hint()
    data = None if version is None else folder.data(version)
    if version is None or data is None:
        return None
    path = folder.file(version)
    lists = parent(parse_metadata(data, path).current.manifest_list)
    return join(lists, name(path)), data


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
