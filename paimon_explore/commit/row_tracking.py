"""Assignment of row ids and sequence numbers during a commit (row tracking).

In tables with row tracking, the commit assigns to each new file the snapshot id as sequence number
and the next free range of row ids. A reassignment gives rows new ids in the entries of their files
and in the index manifest: neither data files nor index files contain row ids.

Spec: append-table/row-tracking. Seen in: golden java200/row_tracking.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from paimon_explore.commit.file_changes import with_column
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    FileKind,
    FileSource,
    ManifestEntries,
)
from paimon_explore.scan.manifest_arrays import byte_rows, column, distinct
from paimon_explore.scan.splits.row_id_ranges import RowRange, column_mark, row_ranges

_ROW_ID = "_ROW_ID"


def assign_row_ids(
    entries: ManifestEntries, *, snapshot_id: int, next_row_id: int
) -> tuple[ManifestEntries, int]:
    """Assign sequence numbers and row ids to new files.

    Blob and vector files have the row ids of the preceding normal file.

    Args:
        entries: the delta entries, including deletions.
        snapshot_id: the id of the new snapshot.
        next_row_id: the next free row id.

    Returns:
        The entries with row ids and sequence numbers, and the next free row id.
    """
    counter = _RowIdAllocator(next_row_id)
    rows = entries.table.select(_READ).to_pylist()
    firsts: list[int | None] = []
    lows: list[int] = []
    highs: list[int] = []
    for row in rows:
        low, high, first = row["min_sequence_number"], row["max_sequence_number"], None
        first = row["first_row_id"]
        if row["kind"] == FileKind.ADD:
            low, high = _sequences(low, high, snapshot_id)
            if _needs_row_ids(row):
                first = counter.range_for(row)
        firsts.append(first)
        lows.append(low)
        highs.append(high)
    for name, values in (
        ("first_row_id", firsts),
        ("min_sequence_number", lows),
        ("max_sequence_number", highs),
    ):
        entries = with_column(entries, name, pa.array(values, pa.int64()))
    return entries, counter.free


def numbered_by_snapshot(entries: ManifestEntries, snapshot_id: int) -> ManifestEntries:
    """Return the entries with the snapshot id as sequence number of new files.

    In tables with `sequence.snapshot-ordering` readers use it for all rows of the file.
    """
    is_new = entries.numbers("kind") == FileKind.ADD
    for name in ("min_sequence_number", "max_sequence_number"):
        numbers = np.where(is_new, snapshot_id, entries.numbers(name))
        entries = with_column(entries, name, pa.array(numbers, pa.int64()))
    return entries


def grouped_by_partition(entries: ManifestEntries) -> ManifestEntries:
    """Return the entries with those of a partition together, partitions in order of appearance.

    New files of a partition then have contiguous row ids.
    """
    _, partitions = distinct(column(entries.table, "partition"))
    if not len(partitions) or bool((np.diff(partitions) >= 0).all()):
        return entries
    return entries.take(np.argsort(partitions, kind="stable"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowIdMapping:
    """New row ids of ranges of rows.

    Attributes:
        ranges: by partition: the ranges, ascending and disjoint, each with its new first row id.
        next_row_id: the next free row id after the new ones.
    """

    ranges: Mapping[bytes, Mapping[RowRange, int]]
    next_row_id: int

    def shifts(self, partition: bytes, first: Ints, after: Ints) -> Ints:
        """Return by how much the row ids of n ranges grow; 0 for those outside of the mapping."""
        ranges = self.ranges[partition]
        starts, ends = np.array(list(ranges), np.int64).T
        grown = np.array(list(ranges.values()), np.int64) - starts
        at = np.maximum(np.searchsorted(starts, first, side="right") - 1, 0)
        is_inside = (starts[at] <= first) & (after <= ends[at])
        return np.where(is_inside, grown[at], 0)

    def moved(self, entries: ManifestEntries) -> ManifestEntries | None:
        """Return the entries of a manifest with new row ids; None if none changes."""
        first, after = row_ranges(entries)
        partitions, codes = distinct(column(entries.table, "partition"))
        shifts = np.zeros(len(entries), np.int64)
        for code, partition in enumerate(byte_rows(partitions)):
            if partition in self.ranges:
                own = codes == code
                shifts[own] = self.shifts(partition, first[own], after[own])
        if not shifts.any():
            return None
        ids: Column = pa.array(first + shifts, pa.int64(), mask=first < 0)
        return with_column(entries, "first_row_id", ids)

    def moved_index(self, index: IndexEntries) -> IndexEntries:
        """Return the index files with new row ranges; without those whose rows part."""
        rows = []
        for row in index.rows():
            found, partition = row["global_index"], row["partition"]
            if not (isinstance(found, dict) and isinstance(partition, bytes)) or (
                partition not in self.ranges
            ):
                rows.append(row)
                continue
            first, after = found["row_range_start"], found["row_range_end"] + 1
            (shift,) = self.shifts(partition, np.array([first]), np.array([after])).tolist()
            if shift or all(
                end <= first or after <= start for start, end in self.ranges[partition]
            ):
                moved = {"row_range_start": first + shift, "row_range_end": after - 1 + shift}
                rows.append({**row, "global_index": {**found, **moved}})
        return IndexEntries.from_rows(rows)


_READ = [
    "kind",
    "file_name",
    "row_count",
    "min_sequence_number",
    "max_sequence_number",
    "file_source",
    "first_row_id",
    "write_cols",
]


def _sequences(low: int, high: int, snapshot_id: int) -> tuple[int, int]:
    if low == 0:
        return snapshot_id, snapshot_id
    return low, high or snapshot_id


def _needs_row_ids(row: dict[str, object]) -> bool:
    columns = row["write_cols"]
    stores_ids = isinstance(columns, list) and _ROW_ID in columns
    is_new = row["file_source"] in {FileSource.APPEND.value, None}
    return is_new and row["first_row_id"] is None and not stores_ids


class _RowIdAllocator:
    """Allocates ranges of row ids."""

    def __init__(self, free: int) -> None:
        self.free = free
        self._side_starts: dict[str, int] = {}
        self._normal_start = free

    def range_for(self, row: Mapping[str, object]) -> int:
        """Return the first row id of a file; blob and vector files continue per column."""
        name, rows = str(row["file_name"]), int(str(row["row_count"]))
        mark = column_mark(name)
        kind = f"{mark} {row['write_cols']}"
        if mark is None:
            self._normal_start = self.free
            self._side_starts = {}
            self.free += rows
            return self._normal_start
        start = self._side_starts.get(kind, self._normal_start)
        self._side_starts[kind] = start + rows
        return start
