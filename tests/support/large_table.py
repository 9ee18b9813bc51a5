"""A table with many snapshots and files, of metadata alone: for what must stay quick if large."""

from pathlib import Path

import pyarrow as pa

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from support.entries import entry
from support.explored import text_row
from support.new_tables import new_table


def large_table(folder: Path, *, snapshots: int, files_per_snapshot: int) -> Path:
    """Write the table: each snapshot adds files.

    Manifests are merged every 50 snapshots, as writers do.
    """
    _, schema = new_table({"dt": "STRING", "id": "INT"}, partition_keys=["dt"])
    store = TableStore(LocalFileIO(), TablePaths(str(folder)))
    assert store.schemas.create(schema)
    listed: list[dict[str, object]] = []
    merged: list[ManifestEntries] = []
    for number in range(1, snapshots + 1):
        if number % 50 == 0 and merged:
            name = f"manifest-{number:08d}-0000-0000-0000-000000000000-9"
            listed = [*listed[: -len(merged)], _write(store, name, ManifestEntries.concat(merged))]
            merged = []
        delta = _entries(number, files_per_snapshot)
        name = f"manifest-{number:08d}-0000-0000-0000-000000000000-0"
        own = _write(store, name, delta)
        _publish(store, schema, number, listed, own, len(delta))
        listed = [*listed, own]
        merged.append(delta)
    return folder


def _entries(number: int, count: int) -> ManifestEntries:
    partition = text_row(f"d{number % 40:02d}")
    one = ManifestEntries.from_rows([entry("data", partition=partition, row_count=10)])
    table = one.table.take([0] * count)
    names = [f"data-{number:08d}-0000-0000-0000-000000000000-{i}.parquet" for i in range(count)]
    sizes = [(number * 7919 + i * 104729) % 9_000_000 + 1000 for i in range(count)]
    buckets = [i % 4 for i in range(count)]
    for column, values in (("file_name", names), ("file_size", sizes), ("bucket", buckets)):
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        table = table.set_column(at, field, pa.array(values, field.type))
    return ManifestEntries(table)


def _write(store: TableStore, name: str, entries: ManifestEntries) -> dict[str, object]:
    data = encode_records(entries)
    assert store.file_io.create(store.paths.manifest(name), data)
    return {
        "file_name": name,
        "file_size": len(data),
        "num_added_files": len(entries),
        "num_deleted_files": 0,
        "partition_min": text_row("d00"),
        "partition_max": text_row("d39"),
        "partition_null_counts": [0],
        "schema_id": 0,
    }


def _publish(
    store: TableStore,
    schema: TableSchema,
    number: int,
    base: list[dict[str, object]],
    delta: dict[str, object],
    count: int,
) -> None:
    names = [f"manifest-list-{number:08d}-0000-0000-0000-000000000000-{i}" for i in (0, 1)]
    for name, rows in zip(names, (base, [delta]), strict=True):
        frame = ManifestFiles(pa.Table.from_pylist(rows, schema=ManifestFiles.empty().table.schema))
        assert store.file_io.create(store.paths.manifest(name), encode_records(frame))
    snapshot = Snapshot(
        id=number,
        schema_id=schema.id,
        base_manifest_list=names[0],
        delta_manifest_list=names[1],
        commit_user="writer",
        commit_identifier=number,
        commit_kind=CommitKind.APPEND,
        time_millis=1_795_000_000_000 + number * 60_000,
        total_record_count=number * count * 10,
        delta_record_count=count * 10,
    )
    assert store.snapshots.create(snapshot)
    store.snapshots.write_latest_hint(number)
