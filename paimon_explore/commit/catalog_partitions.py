"""Tells a catalog that keeps partitions, such as Hive, which partitions commits add and drop.

The commit has taken effect by then, so that a failure is a warning.

The change of each partition by a commit, which a catalog server receives with the snapshot.
"""

import warnings
from collections.abc import Iterable

import numpy as np

from paimon_explore.commit.overwrite import all_files
from paimon_explore.data_types.local_time import in_zone, utc_moment
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import CatalogSyncWarning, PaimonError
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.options.table_options import (
    METASTORE_PARTITIONED_TABLE,
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import partition_name, partition_texts
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.store.table_store import TableStore
from paimon_explore.store.version_management import PartitionStatistics


def add_new_partitions(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshots: Iterable[Snapshot]
) -> None:
    """Add the partitions of the new files of snapshots to the catalog of the table."""
    _report(store, schema, options, snapshots, FileKind.ADD)


def remove_dropped_partitions(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshots: Iterable[Snapshot]
) -> None:
    """Remove dropped partitions from the catalog, unless another branch has them.

    Args:
        store: the table and branch.
        schema: its schema.
        options: its options.
        snapshots: the snapshots that removed all files of the partitions.
    """
    _report(store, schema, options, snapshots, FileKind.DELETE)


def _report(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    snapshots: Iterable[Snapshot],
    kind: FileKind,
) -> None:
    environment = store.environment
    if not schema.partition_keys or not options.value(METASTORE_PARTITIONED_TABLE):
        return
    if not isinstance(environment, PartitionEnvironment):
        return
    try:
        for snapshot in snapshots:
            names = store.manifests.delta(snapshot).names
            entries = store.manifests.read_many(names).of_kind(kind)
            specs = partition_specs(entries, schema, options)
            if kind is FileKind.ADD:
                environment.add_partitions(specs)
            elif specs:
                others = _partitions_of_other_branches(store, options)
                environment.drop_partitions([spec for spec in specs if spec not in others])
    except PaimonError as error:
        warnings.warn(
            f"The commit took effect, but its partitions did not reach the catalog: {error}",
            CatalogSyncWarning,
            stacklevel=2,
        )


def _partitions_of_other_branches(store: TableStore, options: TableOptions) -> list[dict[str, str]]:
    """Return the partitions of the other branches, which the catalog keeps in the same list."""
    found = []
    for branch in {MAIN_BRANCH, *store.branches.names()} - {store.paths.branch}:
        other = store.for_branch(branch)
        snapshot, schema = other.snapshots.latest(), other.schemas.latest()
        if snapshot is not None and schema is not None and schema.partition_keys:
            found += partition_specs(all_files(other, schema, snapshot), schema, options)
    return found


def partition_changes(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions
) -> list[PartitionStatistics]:
    """Sum the files of a commit by partition; removed files count negative.

    Args:
        entries: the new manifest entries of the commit.
        schema: the table's schema.
        options: the table's options.
    """
    table = entries.table
    if not table.num_rows:
        return []
    encoded = table.column("partition").combine_chunks().dictionary_encode()
    codes = np.asarray(encoded.indices)
    specs = _specs(encoded.dictionary, schema, options)
    signs = np.where(numbers(table, "kind") == FileKind.ADD, 1, -1)

    def summed(values: Rows) -> list[int]:
        sums = np.zeros(len(specs), np.int64)
        np.add.at(sums, codes, values)
        return [int(value) for value in sums]

    newest = np.zeros(len(specs), np.int64)
    np.maximum.at(newest, codes, numbers(table, "creation_time"))
    buckets = np.zeros(len(specs), np.int64)
    buckets[codes] = numbers(table, "total_buckets")  # the last file of a partition decides
    columns = zip(
        specs,
        summed(signs * numbers(table, "row_count")),
        summed(signs * numbers(table, "file_size")),
        summed(signs),
        newest.tolist(),
        buckets.tolist(),
        strict=True,
    )
    return [
        PartitionStatistics(
            spec=spec,
            record_count=rows,
            file_size_in_bytes=size,
            file_count=files,
            last_file_creation_time=_as_epoch(created),
            total_buckets=total,
        )
        for spec, rows, size, files, created, total in columns
    ]


def partition_specs(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions
) -> list[dict[str, str]]:
    """Return the distinct partitions of manifest entries as text by column."""
    if not entries.table.num_rows:
        return []
    column = entries.table.column("partition").combine_chunks()
    return _specs(column.dictionary_encode().dictionary, schema, options)


def _specs(partitions: object, schema: TableSchema, options: TableOptions) -> list[dict[str, str]]:
    row_type = schema.partition_type
    if not len(row_type):
        return [{}]
    types = [field.type for field in row_type]
    texts = partition_texts(
        decode_rows(partitions, types, where="_PARTITION"),  # type: ignore[arg-type]  # an array
        types,
        legacy_names=options.value(PARTITION_LEGACY_NAME),
    )
    default = options.value(PARTITION_DEFAULT_NAME)
    return [
        {
            name: partition_name(text, default)
            for name, text in zip(row_type.names, values, strict=True)
        }
        for values in zip(*texts, strict=True)
    ]


def _as_epoch(local_ms: int) -> int:
    """Return a local creation time as epoch milliseconds; 0 if it is unknown."""
    moment = utc_moment(local_ms).replace(tzinfo=None)
    return int(in_zone(moment, None).timestamp() * 1000) if local_ms else 0
