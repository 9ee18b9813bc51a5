"""Row ids and sequence numbers that only the commit can give.

On tables with row tracking a new file gets the snapshot's id as its sequence number, and the range
of row ids that is free next.

Spec: append-table/row-tracking. Seen in: golden java200/row_tracking.
"""

from collections.abc import Mapping

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.metadata.manifest.manifest_entry import (
    ENTRY_SCHEMA,
    FileKind,
    FileSource,
    ManifestEntries,
)

_ROW_ID = "_ROW_ID"
_SIDE_FILES = (".blob", ".vector.")


def assign_row_ids(
    entries: ManifestEntries, *, snapshot_id: int, next_row_id: int
) -> tuple[ManifestEntries, int]:
    """Give new files their sequence number and row ids.

    Blob and vector files share the row ids of the normal file before them.

    Args:
        entries: of the delta, deletions included.
        snapshot_id: of the snapshot about to be made.
        next_row_id: first row id that is free.

    Returns:
        The same entries with the numbers filled in, and the first row id that is free after them.
    """
    counter = _Counter(next_row_id)
    rows = entries.table.select(_READ).to_pylist()
    firsts: list[int | None] = []
    lows: list[int] = []
    highs: list[int] = []
    for row in rows:
        low, high, first = row["min_sequence_number"], row["max_sequence_number"], None
        first = row["first_row_id"]
        if row["kind"] == FileKind.ADD:
            low, high = _sequences(low, high, snapshot_id)
            if _wants_ids(row):
                first = counter.range_for(row)
        firsts.append(first)
        lows.append(low)
        highs.append(high)
    table = entries.table
    for name, values in (
        ("first_row_id", firsts),
        ("min_sequence_number", lows),
        ("max_sequence_number", highs),
    ):
        position = ENTRY_SCHEMA.get_field_index(name)
        column: Column = pa.array(values, pa.int64())
        table = table.set_column(position, ENTRY_SCHEMA.field(name), column)
    return ManifestEntries(table), counter.free


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


def _wants_ids(row: dict[str, object]) -> bool:
    columns = row["write_cols"]
    stores_ids = isinstance(columns, list) and _ROW_ID in columns
    is_new = row["file_source"] in {FileSource.APPEND.value, None}
    return is_new and row["first_row_id"] is None and not stores_ids


class _Counter:
    """Hands out ranges of row ids."""

    def __init__(self, free: int) -> None:
        self.free = free
        self._side_starts: dict[str, int] = {}
        self._normal_start = free

    def range_for(self, row: Mapping[str, object]) -> int:
        """The first id of a file; side files of each column run along the normal file before."""
        name, rows = str(row["file_name"]), int(str(row["row_count"]))
        mark = next((mark for mark in _SIDE_FILES if mark in name), None)
        kind = f"{mark} {row['write_cols']}"
        if mark is None:
            self._normal_start = self.free
            self._side_starts = {}
            self.free += rows
            return self._normal_start
        start = self._side_starts.get(kind, self._normal_start)
        self._side_starts[kind] = start + rows
        return start
