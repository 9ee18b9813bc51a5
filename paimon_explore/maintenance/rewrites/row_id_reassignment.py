"""Reassignment of row ids: consecutive row ids for the rows of each partition.

Commits that write to several partitions in turn leave each with many short ranges of row ids, and
global indexes with a file for each range. A reassignment gives the rows of such partitions new ids,
in the order of the old ones, partition after partition from the next free row id on. Only manifests
are written. Global indexes move with their rows; those whose rows part are dropped. Long ranges
keep their ids, see `data-evolution.reassign.skip-contiguous-row-count`.

Every other commit is a conflict, after which the reassignment is planned again.

Spec: spark procedures, reassign_row_id (after 2.0).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.planned_again import planned_again
from paimon_explore.commit.row_tracking import RowIdMapping
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.rewrites.rewrite_commit import (
    commit_rewrite,
    live_files_of,
    partition_specs,
)
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.scan.manifest_arrays import byte_rows
from paimon_explore.scan.splits.row_id_ranges import RowRange, consecutive_row_ids
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIdReport:
    """The result of a reassignment of row ids.

    Attributes:
        partitions: number of partitions whose rows have new ids, or would have.
        row_count: number of row ids, including those of deleted rows.
        first_row_id: the first new row id.
        dropped_indexes: names of the global index files that were dropped, or would be.
        snapshot_id: the snapshot that was created; None if nothing was reassigned.
        dry_run: whether the reassignment was only planned.
    """

    partitions: int = 0
    row_count: int = 0
    first_row_id: int = 0
    dropped_indexes: tuple[str, ...] = ()
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the numbers of row ids and partitions."""
        act = "would reassign" if self.dry_run else "reassigned"
        last = self.first_row_id + self.row_count - 1
        new = f", from {self.first_row_id:,} to {last:,}" if self.row_count else ""
        return f"{act} {self.row_count:,} row ids of {self.partitions:,} partitions{new}"


@planned_again
def reassign_row_ids(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    partitions: Sequence[PartitionSpec] | None = None,
    dry_run: bool = False,
) -> RowIdReport:
    """Give the rows of partitions with several ranges of row ids consecutive ids, in one commit.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        partitions: the partitions that match one of these; None for all.
        dry_run: only return what would be reassigned.

    Raises:
        UnsupportedFeatureError: the table has no data evolution, or a file stores row ids.
        InvalidInputError: a partition names a column that is not a partition column.
    """
    if not options.value(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedFeatureError(
            "reassigning the row ids of a table without data evolution",
            hint="Only tables with data evolution have row ids in their manifests alone.",
        )
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return RowIdReport(dry_run=dry_run)
    target = WriteTarget(store=store, schema=schema, options=options)
    row_ids = _mapping(target, snapshot, partitions)
    first = snapshot.next_row_id or 0
    index = store.manifests.index_of(snapshot)
    kept = {row["file_name"] for row in row_ids.moved_index(index).rows()}
    report = RowIdReport(
        partitions=len(row_ids.ranges),
        row_count=row_ids.next_row_id - first,
        first_row_id=first,
        dropped_indexes=tuple(
            str(row["file_name"]) for row in index.rows() if row["file_name"] not in kept
        ),
        dry_run=dry_run,
    )
    if dry_run or not row_ids.ranges:
        return report
    seen = SeenSnapshot.of(snapshot)
    made = commit_rewrite(target, (), lambda own: [own.reassign_row_ids(row_ids, planned_on=seen)])
    return replace(report, snapshot_id=None if made is None else made.id)


def _mapping(
    target: WriteTarget, snapshot: Snapshot, partitions: Sequence[PartitionSpec] | None
) -> RowIdMapping:
    """Return the new row ids."""
    free = snapshot.next_row_id or 0
    found: dict[bytes, dict[RowRange, int]] = {}
    entries = live_files_of(target, snapshot, partitions)
    if target.schema.partition_keys and len(entries):
        for partition, ranges in _separate_ranges(target, entries):
            new: dict[RowRange, int] = {}
            for start, end in ranges:
                new[start, end] = free
                free += end - start
            found[partition] = new
    return RowIdMapping(ranges=found, next_row_id=free)


def _separate_ranges(
    target: WriteTarget, entries: ManifestEntries
) -> Iterator[tuple[bytes, list[RowRange]]]:
    """Yield the partitions with several ranges of row ids, ascending, and the ranges to move."""
    _check_files(entries)
    limit = target.options.value(opt.DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT)
    rows = byte_rows(entries.column("partition").combine_chunks())

    def order(partition: bytes) -> list[tuple[bool, object]]:
        values = partition_specs(target.schema, [partition])[0].values()
        return [(value is not None, value) for value in values]

    for partition in sorted(set(rows), key=order):
        own = entries.filter(np.array([row == partition for row in rows], np.bool_))
        ranges = [
            (start, end)
            for start, end in consecutive_row_ids(own)
            if limit <= 0 or end - start <= limit
        ]
        if len(ranges) > 1:
            yield partition, ranges


def _check_files(entries: ManifestEntries) -> None:
    for row in entries.table.select(["file_name", "first_row_id", "write_cols"]).to_pylist():
        if row["first_row_id"] is None or SystemColumn.ROW_ID.value in (row["write_cols"] or ()):
            raise UnsupportedFeatureError(
                "reassigning row ids that a file stores as a column", str(row["file_name"])
            )
