"""Whole partitions of a chain table that overwrites drop.

An overwrite of partitions in the delta branch also drops them in the snapshot branch, after its
commit: reads merge them again, with the new changes. A partition is not dropped if later changes
would have no whole partition left that they are merged with. Java checks the latter only after the
commit to the delta branch.

Spec: primary-key-table/chain-table. Seen with the official Java 2.0.0.
"""

from collections.abc import Iterable

from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.overwrite import all_files
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.chains import chain_branches, chains_of
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import byte_array
from paimon_explore.store.table_store import TableStore


def check_dropped_partitions(
    store: TableStore, schema: TableSchema, options: TableOptions, changes: Changes
) -> None:
    """Check that an overwrite drops no whole partition that later changes need.

    Args:
        store: a branch of a chain table.
        schema: its schema.
        options: its options.
        changes: the changes of the overwrite.

    Raises:
        InvalidInputError: later changes need a dropped partition.
    """
    names = chain_branches(options)
    if store.paths.branch not in names:
        return
    added = changes.entries.of_kind(FileKind.ADD).partitions
    is_whole = store.paths.branch == names[0]
    if is_whole and (added or len(changes.added_index)):
        return
    whole, deltas = (partitions(store.for_branch(name)) for name in names)
    if not is_whole:
        deltas = deltas - changes.partitions | added
    for chain in chains_of(whole | deltas, schema, options):
        first = next((place for place, one in enumerate(chain) if one in whole), 0)
        needed = chain[first + 1 : first + 2]
        if chain[first] in whole & changes.partitions and needed and needed[0] not in whole:
            rows = PartitionFilter(row_type=schema.partition_type)
            dropped, later = rows.decode(byte_array([chain[first], *needed])).to_pylist()
            raise InvalidInputError(
                f"Partition {dropped} of branch {names[0]!r} cannot be dropped: it is the first "
                f"whole partition of its chain, and changes of {later} in branch {names[1]!r} are "
                "merged with it.",
                hint="Call compact_chain_table() for the later partition, or drop it first.",
            )


def overwritten_partitions(
    store: TableStore, options: TableOptions, snapshots: Iterable[Snapshot]
) -> tuple[TableStore, frozenset[bytes]]:
    """Return the snapshot branch of a chain table, and its partitions that commits overwrote."""
    names = chain_branches(options)
    whole = store.for_branch(names[0])
    found: set[bytes] = set()
    if store.paths.branch == names[1]:
        for snapshot in snapshots:
            if snapshot.commit_kind is CommitKind.OVERWRITE:
                manifests = store.manifests.delta(snapshot).names
                found |= store.manifests.read_many(manifests).partitions
    return whole, partitions(whole) & found if found else frozenset()


def partitions(store: TableStore) -> frozenset[bytes]:
    """Return the partitions of the latest snapshot of a branch."""
    schema, snapshot = store.schemas.latest(), store.snapshots.latest()
    if schema is None or snapshot is None:
        return frozenset()
    return all_files(store, schema, snapshot).partitions
