"""A snapshot made of given entries, without a commit."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from paimon_explore.commit.manifest_writer import ManifestWriter
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table

_LARGE = 1 << 40
_MADE_MILLIS = 1_700_000_000_000


def new_table(
    warehouse: str,
    name: str,
    schema: pa.Schema,
    *,
    primary_key: Sequence[str] = (),
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> Table:
    """A table without snapshots, in place of one of the same name."""
    catalog = Catalog(warehouse)
    catalog.create_database("db", if_not_exists=True)
    shutil.rmtree(Path(warehouse) / "db.db" / name, ignore_errors=True)
    return catalog.create_table(
        f"db.{name}",
        schema,
        primary_key=primary_key,
        partition_by=partition_by,
        options=options,
    )


def publish(table: Table, parts: Iterable[ManifestEntries]) -> None:
    """Make entries the table's only snapshot, a manifest for each part."""
    writer = ManifestWriter(
        store=table._store,
        partition_type=table.schema.partition_type,
        codec="zstandard",
        target_bytes=_LARGE,
    )
    rows = 0
    manifests: list[ManifestFiles] = []
    for part in parts:
        rows += part.total_rows
        manifests.append(writer.entries(part))
    base = writer.list(ManifestFiles.concat(manifests))
    delta = writer.list(ManifestFiles.empty())
    snapshots = table._store.snapshots
    for number in snapshots.ids():
        snapshots.delete(number)
    made = snapshots.create(
        Snapshot(
            id=1,
            schema_id=table.schema.id,
            base_manifest_list=base.name,
            base_manifest_list_size=base.size,
            delta_manifest_list=delta.name,
            delta_manifest_list_size=delta.size,
            commit_user="benchmarks",
            commit_identifier=BATCH_COMMIT_IDENTIFIER,
            commit_kind=CommitKind.APPEND,
            time_millis=_MADE_MILLIS,
            total_record_count=rows,
            delta_record_count=0,
        )
    )
    assert made
    snapshots.write_latest_hint(1)
    snapshots.write_earliest_hint(1)
