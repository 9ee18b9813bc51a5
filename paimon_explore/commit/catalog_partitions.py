"""Tells a catalog that keeps partitions, such as Hive, which partitions commits add and drop.

The commit has taken effect by then, so that a failure is a warning.
"""

import warnings
from collections.abc import Iterable

from paimon_explore.commit.partition_changes import partition_specs
from paimon_explore.errors import CatalogSyncWarning, PaimonError
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.options.table_options import (
    METASTORE_PARTITIONED_TABLE,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.store.table_store import TableStore


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
            every = PartitionFilter(row_type=schema.partition_type, predicate=None)
            found += partition_specs(live_files(other, snapshot, every), schema, options)
    return found
