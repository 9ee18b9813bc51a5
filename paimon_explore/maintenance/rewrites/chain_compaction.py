"""Compaction of chain tables: a partition of changes becomes a whole partition.

A partition that only the delta branch has is read as the nearest earlier partition of the snapshot
branch, merged with the changes since. A compaction writes these rows to the snapshot branch, so
that later reads need no earlier partitions. Changes that are written to the partition afterwards
are not read any more, until it is compacted with `overwrite`.

If another commit wrote to the same partition of the snapshot branch meanwhile, the compaction is
planned again.

Spec: primary-key-table/chain-table; spark procedures, compact_chain_table.
"""

from collections.abc import Iterator

import pyarrow as pa

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import (
    Overwrite,
    PartitionMatcher,
    PartitionSpec,
    check_partition,
)
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import planned_again
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.maintenance.compaction.auto_compaction import auto_compact
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite
from paimon_explore.maintenance.row_level.primary_key_rows import write_primary_key_rows
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import ChainPartition, chain_partition, is_chain
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget


@planned_again
def compact_chain_partition(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    partition: PartitionSpec,
    *,
    overwrite: bool = False,
) -> Snapshot | None:
    """Write the rows of a partition of changes to the snapshot branch, in one commit.

    Args:
        store: the main branch of the table.
        schema: the latest schema.
        options: effective options.
        partition: the value of each partition column.
        overwrite: whether to replace a partition that the snapshot branch has, by the nearest
            earlier one with the changes since.

    Returns:
        The new snapshot of the snapshot branch; None if it has the partition and `overwrite` is
        false, or if the delta branch does not have the partition.

    Raises:
        InvalidInputError: the table is no chain table or is opened on a branch, or the partition
            is invalid.
    """
    scan = ScanTarget(
        store=store, schema=schema, options=options, snapshot=store.snapshots.latest()
    )
    if not is_chain(scan):
        raise InvalidInputError(
            "Only the main branch of a chain table can be compacted to its snapshot branch.",
            hint="compact() compacts other tables, and each branch of a chain table.",
        )
    check_partition(schema.partition_type, partition)
    missing = [name for name in schema.partition_keys if name not in partition]
    if missing:
        raise InvalidInputError(
            f"The partition to compact has no value for {choices(missing)}.",
            hint=f"Partition columns: {choices(schema.partition_keys)}.",
        )
    what = Overwrite(specs=(partition,))
    matcher = PartitionMatcher(schema.partition_type, what, frozenset())
    found = chain_partition(scan, matcher.matches)
    if found is None or not found.splits or (found.is_whole and not overwrite):
        return None
    return _commit(found)


def _commit(found: ChainPartition) -> Snapshot | None:
    """Write the rows to the snapshot branch."""
    whole = found.whole
    schema = whole.store.schemas.latest() or whole.schema
    options = TableOptions(schema.options)
    target = WriteTarget(store=whole.store, schema=schema, options=options)
    rows = pa.RecordBatchReader.from_batches(arrow_schema(whole.schema.row_type), _rows(found))
    with explain_missing_files(whole.store, whole.snapshot):
        messages = write_primary_key_rows(
            whole.store, schema, rows, options=options, replaces=found.is_whole
        )
    partitions = frozenset({found.partition})
    seen = OverwrittenPartitions(since=SeenSnapshot.of(whole.snapshot), partitions=partitions)
    committer = Committer(whole.store, schema, options=options)
    if found.is_whole:
        what = Overwrite(partitions=partitions)
        return commit_rewrite(
            target, messages, lambda own: own.overwrite(messages, what, overwritten=seen), committer
        )
    made = commit_rewrite(
        target, messages, lambda own: own.commit(messages, overwritten=seen), committer
    )
    auto_compact(committer, (whole.store, schema, options), messages)
    return made


def _rows(found: ChainPartition) -> Iterator[pa.RecordBatch]:
    whole = found.whole
    reader = SplitReader(unrestricted=True, target=whole, columns=whole.schema.row_type.names)
    return reader.read_each(found.splits)
