"""Conflict check of a transaction that overwrites partitions.

A single overwrite plans the files that it removes in each commit attempt. A transaction has planned
them on its first snapshot, and may have read and written the partitions since. So another commit
that has written to the same partitions meanwhile is a conflict.

Spec: concepts/concurrency-control.
"""

from dataclasses import field

from paimon_explore.commit.key_conflicts import StaleRecordsError, is_same_snapshot, written_since
from paimon_explore.commit.overwrite import Overwrite, PartitionMatcher, PartitionSpec
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwrittenPartitions:
    """The partitions that a transaction overwrites.

    Attributes:
        since: the snapshot on which the transaction is based.
        specs: values of partition columns.
        partitions: binary rows of further partitions.
        only_real_buckets: ignore new rows in postpone buckets, which the overwrite keeps.
    """

    since: SeenSnapshot
    specs: tuple[PartitionSpec, ...] = ()
    partitions: frozenset[bytes] = field(default_factory=frozenset)
    only_real_buckets: bool = False


def check_overwritten(
    store: TableStore,
    latest: Snapshot | None,
    partition_type: RowType,
    overwritten: OverwrittenPartitions,
) -> None:
    """Check that no other commit has written to overwritten partitions.

    Args:
        store: the table.
        latest: the latest snapshot.
        partition_type: the partition columns.
        overwritten: the partitions.

    Raises:
        CommitConflictError: another commit has written to one of the partitions.
    """
    if is_same_snapshot(latest, overwritten.since):
        return
    written = written_since(store, latest, overwritten.since)
    if overwritten.only_real_buckets:
        written = written.filter(numbers(written.table, "bucket") >= 0)
    others = sorted(written.partitions)
    if not others:
        return
    matcher = PartitionMatcher(partition_type, Overwrite(specs=overwritten.specs), frozenset())
    known = [partition in overwritten.partitions for partition in others]
    if any(known) or bool(matcher.matches(others).any()):
        raise StaleRecordsError(
            "Another commit wrote to a partition that this transaction overwrites.",
            hint="Run the transaction again.",
        )
