"""The files of a snapshot that Iceberg readers see: the changes of a commit, or all of them.

Iceberg readers merge no rows. Of a primary-key table they see the files of the highest level, which
full compactions write; with deletion vectors, in format version 3, all files above level 0.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paimon_explore.commit.iceberg.data_files import (
    SchemaOf,
    data_file_records,
    deletion_vector_record,
)
from paimon_explore.commit.iceberg.file_paths import PathPrefixes
from paimon_explore.commit.iceberg.manifest_records import Record
from paimon_explore.commit.iceberg.settings import IcebergSettings
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_MERGE_ON_READ,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import Mask, numbers, text
from paimon_explore.scan.plan import ScanTarget, plan_scan
from paimon_explore.scan.splits.data_split import DataSplit, vectors_of
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """The changes of a snapshot.

    Attributes:
        added: records of the data files that Iceberg readers see from now on, by path.
        removed: the paths of all files that the snapshot removes.
        is_append: whether the snapshot only adds files; else added files may be known already.
    """

    added: Mapping[str, Record]
    removed: frozenset[str]
    is_append: bool


class SnapshotFiles:
    """Finds the files of snapshots of one table.

    Args:
        store: the table.
        schema: the schema of the snapshot.
        options: the effective options.
        settings: the settings of the Iceberg metadata.
        prefixes: the prefixes of paths.
    """

    def __init__(
        self,
        store: TableStore,
        schema: TableSchema,
        options: TableOptions,
        settings: IcebergSettings,
        prefixes: PathPrefixes,
    ) -> None:
        if options.value(DATA_EVOLUTION_ENABLED):
            raise UnsupportedFeatureError(
                "a table with data evolution in Iceberg metadata", store.paths.root
            )
        self._store = store
        self._schema = schema
        self._options = options
        self._settings = settings
        self._prefixes = prefixes
        self._schemas: dict[int, TableSchema] = {schema.id: schema}

    def changes(self, snapshot: Snapshot) -> FileChanges:
        """Return the changes of a snapshot."""
        manifests = self._store.manifests
        entries = manifests.read_many(manifests.delta(snapshot).names)
        paths = self._paths(entries)
        wanted = numbers(entries.table, "level") >= self._settings.first_level
        adds = numbers(entries.table, "kind") == FileKind.ADD
        added: dict[str, int] = {}
        removed: dict[str, None] = {}
        for row, path in enumerate(paths):
            if not adds[row]:
                added.pop(path, None)
                removed[path] = None
            elif wanted[row]:
                removed.pop(path, None)
                added[path] = row
        rows = np.fromiter(added.values(), np.int64, len(added))
        records = self._records(entries.take(rows), list(added))
        return FileChanges(
            added=dict(zip(added, records, strict=True)),
            removed=frozenset(removed),
            is_append=bool(adds.all()),
        )

    def all(self, snapshot: Snapshot) -> Mapping[str, Record]:
        """Return the records of all data files that Iceberg readers see, by path.

        Of a primary-key table they also see files of lower levels whose keys no other file has.
        """
        live = self._live(snapshot)
        seen = numbers(live.table, "level") >= self._settings.first_level
        if not seen.all():
            seen |= _mask_of(live, self._read_without_merge(snapshot))
        entries = live.filter(seen)
        paths = self._paths(entries)
        return dict(zip(paths, self._records(entries, paths), strict=True))

    def deletion_vectors(self, snapshot: Snapshot) -> list[Record]:
        """Return the records of the deletion vectors of all files that Iceberg readers see."""
        if not self._settings.with_vectors or snapshot.index_manifest is None:
            return []
        index = self._store.manifests.index(snapshot.index_manifest)
        table = index.of_type(DELETION_VECTORS_INDEX).table
        index_names = map(str, as_python(text(table, "file_name")))
        sizes = dict(zip(index_names, numbers(table, "file_size").tolist(), strict=True))
        live = self._live(snapshot)
        seen = live.filter(numbers(live.table, "level") >= self._settings.first_level)
        found = vectors_of(seen, deletion_files(self._store, snapshot, self._schema, self._options))
        entries = seen.filter(np.array([one is not None for one in found], np.bool_))
        files = self._records(entries, self._paths(entries))
        vectors = [one for one in found if one is not None]
        return [
            deletion_vector_record(
                vector,
                self._prefixes.written(vector.path),
                file,
                size=sizes.get(vector.path.rpartition("/")[2], -1),
            )
            for vector, file in zip(vectors, files, strict=True)
        ]

    def _target(self, snapshot: Snapshot) -> ScanTarget:
        return ScanTarget(
            store=self._store, schema=self._schema, options=self._options, snapshot=snapshot
        )

    def _live(self, snapshot: Snapshot) -> ManifestEntries:
        manifests = self._store.manifests
        return live_entries(manifests.read_many(manifests.all(snapshot).names))

    def _read_without_merge(self, snapshot: Snapshot) -> frozenset[tuple[object, ...]]:
        """Return the files whose rows are rows of the table, whatever their level is."""
        all_levels = self._options.changed({DELETION_VECTORS_MERGE_ON_READ.key: "true"})
        target = replace(self._target(snapshot), options=all_levels)
        splits = plan_scan(target.without_postponed()).splits
        return frozenset(
            key
            for split in splits
            if isinstance(split, DataSplit) and split.raw_convertible
            for key in _keys(split.files)
        )

    def _paths(self, entries: ManifestEntries) -> list[str]:
        paths = data_file_paths(entries, self._schema, self._options, self._store.paths)
        return [self._prefixes.written(str(path)) for path in as_python(paths)]

    def _records(self, entries: ManifestEntries, paths: list[str]) -> list[Record]:
        partition_type = self._schema.partition_type
        return data_file_records(entries, paths, partition_type, self._schema_of)

    @property
    def _schema_of(self) -> SchemaOf:
        def load(schema_id: int) -> TableSchema:
            found = self._schemas.get(schema_id)
            if found is None:
                found = self._schemas[schema_id] = self._store.schemas.load(schema_id)
            return found

        return load


def _keys(entries: ManifestEntries) -> list[tuple[object, ...]]:
    """Return partition, bucket and name of each file."""
    table = entries.table
    columns = [table.column(name).to_pylist() for name in ("partition", "bucket", "file_name")]
    return list(zip(*columns, strict=True))


def _mask_of(entries: ManifestEntries, wanted: frozenset[tuple[object, ...]]) -> Mask:
    return np.array([key in wanted for key in _keys(entries)], np.bool_)
