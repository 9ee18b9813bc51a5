"""Tables made on the spot, and what their files hold, read without the package's readers."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.field_ids import assigned_ids, highest_field_id
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.manifest.entry_cancellation import live_entries, merge_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget

ROOT = "/warehouse/db.db/t"


def new_table(  # what a table may have
    columns: Mapping[str, object],
    *,
    primary_keys: Sequence[str] = (),
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    file_io: FileIO | None = None,
    root: str = ROOT,
) -> tuple[TableStore, TableSchema]:
    """A table with schema 0 and no snapshot, in memory unless a storage is given."""
    fields = assigned_ids(
        [DataField(id=0, name=n, type=parse_type(t, n)) for n, t in columns.items()]
    )
    schema = TableSchema(
        id=0,
        fields=fields,
        highest_field_id=highest_field_id(fields),
        partition_keys=tuple(partition_keys),
        primary_keys=tuple(primary_keys),
        options=dict(options or {}),
    )
    store = TableStore(file_io or MemoryFileIO(str(uuid4())), TablePaths(root))
    assert store.schemas.create(schema)
    return store, schema


def target_of(store: TableStore, schema: TableSchema) -> WriteTarget:
    """The table as something to write to."""
    return WriteTarget(store=store, schema=schema, options=TableOptions(schema.options))


def latest(store: TableStore) -> Snapshot:
    """The newest snapshot, which must be there."""
    found = store.snapshots.latest()
    assert found is not None
    return found


def live_files(store: TableStore, snapshot: Snapshot | None = None) -> ManifestEntries:
    """The live files of a snapshot; none before the first."""
    chosen = snapshot or store.snapshots.latest()
    if chosen is None:
        return ManifestEntries.empty()
    manifests = store.manifests
    live = live_entries(manifests.read_many(manifests.all(chosen).names))
    return merge_entries(live)  # checks that no file is added twice


def file_rows(store: TableStore, folder: str, row: Mapping[str, object]) -> pa.Table:
    """The rows of a Parquet file of an unpartitioned table, as they are stored."""
    path = f"{store.paths.root}/{folder}/{row['file_name']}"
    return pq.ParquetFile(pa.BufferReader(store.file_io.read(path))).read()


def live_values(store: TableStore, column: str, snapshot: Snapshot | None = None) -> list[object]:
    """The values of one column of an unpartitioned Parquet append table, sorted."""
    values: list[object] = []
    for row in live_files(store, snapshot).rows():
        table = file_rows(store, f"bucket-{row['bucket']}", row)
        values.extend(value.as_py() for value in table.column(column))
    return sorted(values, key=str)


def all_files(store: TableStore) -> set[str]:
    """The paths of all files of the table, relative to its root."""
    root = store.paths.root
    return {status.path.removeprefix(f"{root}/") for status in store.file_io.walk(root)}


def referenced_files(store: TableStore) -> set[str]:
    """The paths that the snapshots, hints and schemas of an unpartitioned table account for."""
    found = {path for path in all_files(store) if path.startswith(("schema/", "snapshot/"))}
    manifests = store.manifests
    for snapshot in store.snapshots.list():
        lists = [
            snapshot.base_manifest_list,
            snapshot.delta_manifest_list,
            snapshot.changelog_manifest_list,
        ]
        names = [name for name in lists if name is not None]
        below = [name for listed in names for name in manifests.list(listed).names]
        found.update(f"manifest/{name}" for name in [*names, *below])
        if snapshot.index_manifest is not None:
            found.add(f"manifest/{snapshot.index_manifest}")
            index = manifests.index(snapshot.index_manifest)
            found.update(f"index/{row['file_name']}" for row in index.rows())
        for row in manifests.read_many(below).rows():
            found.add(f"bucket-{row['bucket']}/{row['file_name']}")
    return found
