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
    """Remove the partitions whose files snapshots removed from the catalog of the table."""
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
    tell = environment.add_partitions if kind is FileKind.ADD else environment.drop_partitions
    try:
        for snapshot in snapshots:
            names = store.manifests.delta(snapshot).names
            tell(partition_specs(store.manifests.read_many(names).of_kind(kind), schema, options))
    except PaimonError as error:
        warnings.warn(
            f"The commit took effect, but its partitions did not reach the catalog: {error}",
            CatalogSyncWarning,
            stacklevel=2,
        )
