"""Conflict checks of row ids: concurrent changes of the same rows of tables with data evolution.

The columns of a row may be stored in several files, which all have the same range of row ids, and a
deletion vector of one of them applies to all. So a commit may conflict with another one although
both change different files. The vector of a file only grows: its number of deleted rows tells
whether it has changed.

Spec: append-table/data-evolution.
"""

from collections.abc import Mapping

import numpy as np

from paimon_explore.commit.file_changes import PLAN_AGAIN, Changes
from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries
from paimon_explore.scan.manifest_arrays import Rows
from paimon_explore.scan.splits.row_id_ranges import is_column_file, row_ranges


def check_row_ranges(live: ManifestEntries, added: ManifestEntries) -> None:
    """Check that files with new columns have the same row ranges as live files.

    Raises:
        CommitConflictError: another commit compacted the files of the rows.
    """
    known = {
        (row["first_row_id"], row["row_count"])
        for row in live.table.select(["first_row_id", "row_count", "file_name"]).to_pylist()
        if row["first_row_id"] is not None and not is_column_file(row["file_name"])
    }
    read = ["first_row_id", "row_count", "file_name", "file_source"]
    for row in added.table.select(read).to_pylist():
        first, rows = row["first_row_id"], row["row_count"]
        is_update = first is not None and row["file_source"] != FileSource.COMPACT
        if is_update and not _is_known(row, known):
            raise CommitConflictError(
                f"File {row['file_name']} of this commit updates columns of the rows with ids "
                f"{first} to {first + rows - 1}, but another commit compacted the files of these "
                "rows.",
                hint=PLAN_AGAIN,
            )


def _is_known(row: Mapping[str, object], known: set[tuple[int, int]]) -> bool:
    """Return whether a file has a known range of row ids, or a blob file a part of one."""
    first, rows = row["first_row_id"], row["row_count"]
    assert isinstance(first, int)  # noqa: S101 - an update
    assert isinstance(rows, int)  # noqa: S101 - the column is NOT NULL
    if not is_column_file(str(row["file_name"])):
        return (first, rows) in known
    return any(start <= first and first + rows <= start + count for start, count in known)


def check_compacted_ranges(after: ManifestEntries, added: ManifestEntries) -> None:
    """Check that no other commit has written columns of rows that this commit compacts.

    Readers require that all files of a row have the same row range.

    Raises:
        CommitConflictError: it has.
    """
    read = ["first_row_id", "row_count", "file_name", "file_source"]
    compacted = [
        row
        for row in added.table.select(read).to_pylist()
        if row["first_row_id"] is not None and row["file_source"] == FileSource.COMPACT
    ]
    if not compacted:
        return
    for row in after.table.select(read).to_pylist():
        beside = row["first_row_id"] is None or ".blob" in row["file_name"]
        for new in compacted:
            same = row["file_name"] == new["file_name"] or ".vector." in row["file_name"]
            if not beside and not same and _overlap(row, new):
                raise CommitConflictError(
                    f"File {row['file_name']} of another commit updates columns of rows that this "
                    "commit compacts.",
                    hint=PLAN_AGAIN,
                )


def check_removed_ranges(after: ManifestEntries, entries: ManifestEntries) -> None:
    """Check that no columns remain of rows whose data files this commit removes.

    Another commit may have written them since the removal was planned.

    Raises:
        CommitConflictError: it has.
    """
    first, end = row_ranges(_data_files(entries.of_kind(FileKind.DELETE)))
    added = row_ranges(_data_files(entries.of_kind(FileKind.ADD)))
    is_gone = ~_overlapped(first, end, *added)
    remaining = after.filter(row_ranges(after)[0] >= 0)
    conflicts = is_gone & _overlapped(first, end, *row_ranges(remaining))
    if not conflicts.any():
        return
    at = int(np.flatnonzero(conflicts)[0])
    starts, stops = row_ranges(remaining)
    other = remaining.filter((starts < end[at]) & (stops > first[at]))
    raise CommitConflictError(
        f"File {other.column('file_name')[0].as_py()} of another commit has columns of rows that "
        f"this commit removes, from row id {first[at]} on.",
        hint=PLAN_AGAIN,
    )


def _data_files(entries: ManifestEntries) -> ManifestEntries:
    """Return the files with row ids that are no files of single columns."""
    names = entries.table.select(["file_name"]).to_pylist()
    is_data = np.array([not is_column_file(row["file_name"]) for row in names], np.bool_)
    return entries.filter(is_data & (row_ranges(entries)[0] >= 0))


def _overlapped(first: Rows, end: Rows, starts: Rows, stops: Rows) -> Bools:
    """Return which of n ranges of row ids overlap any of m others."""
    if not len(starts):
        return np.zeros(len(first), np.bool_)
    order = np.argsort(starts, kind="stable")
    reach = np.maximum.accumulate(stops[order])
    before = np.searchsorted(starts[order], end, side="left")
    found: Bools = (before > 0) & (reach[np.maximum(before - 1, 0)] > first)
    return found


def check_columns(live: ManifestEntries, added: ManifestEntries, planned_on: int) -> None:
    """Check that no other commit has written the same columns of the same rows.

    Args:
        live: live files of the changed partitions.
        added: the files that the commit adds.
        planned_on: the snapshot whose rows were read.

    Raises:
        CommitConflictError: it has.
    """
    columns = ["first_row_id", "row_count", "max_sequence_number", "write_cols", "file_name"]
    newer = [
        row
        for row in live.table.select(columns).to_pylist()
        if row["first_row_id"] is not None and row["max_sequence_number"] > planned_on
    ]
    for row in added.table.select(columns).to_pylist():
        if row["first_row_id"] is None:
            continue
        for other in newer:
            if _overlap(row, other) and _share_columns(row["write_cols"], other["write_cols"]):
                raise CommitConflictError(
                    f"File {other['file_name']} of another commit updates the same columns of the "
                    f"same rows as this commit, from row id {row['first_row_id']} on.",
                    hint=PLAN_AGAIN,
                )


def check_updated_rows(
    changes: Changes, live: ManifestEntries, before: IndexEntries, planned_on: int
) -> None:
    """Check that no other commit has updated rows of files of which this commit deletes rows.

    Args:
        changes: the changes.
        live: live files of the changed partitions.
        before: all index files of the latest snapshot.
        planned_on: the snapshot whose rows were read to find the deleted ones.

    Raises:
        CommitConflictError: it has.
    """
    marked = _changed_vectors(changes.added_index, before)
    if not marked:
        return
    columns = ["partition", "first_row_id", "row_count", "max_sequence_number", "file_name"]
    rows = [
        row for row in live.table.select(columns).to_pylist() if row["first_row_id"] is not None
    ]
    newer = [row for row in rows if row["max_sequence_number"] > planned_on]
    anchors = [row for row in rows if newer and (row["partition"], row["file_name"]) in marked]
    for anchor in anchors:
        for other in newer:
            if _overlap(anchor, other):
                raise CommitConflictError(
                    f"File {other['file_name']} of another commit updates rows of data file "
                    f"{anchor['file_name']}, of which this commit deletes rows.",
                    hint=PLAN_AGAIN,
                )


def check_deleted_rows(
    added: ManifestEntries, live: ManifestEntries, before: IndexEntries, planned: IndexEntries
) -> None:
    """Check that no other commit has deleted rows of files whose columns this commit updates.

    Args:
        added: the files that the commit adds.
        live: live files of the changed partitions.
        before: all index files of the latest snapshot.
        planned: all index files of the snapshot whose rows were read.

    Raises:
        CommitConflictError: it has.
    """
    marked = _changed_vectors(before, planned)
    if not marked:
        return
    columns = ["partition", "first_row_id", "row_count", "file_name"]
    updates = [
        row for row in added.table.select(columns).to_pylist() if row["first_row_id"] is not None
    ]
    for row in live.table.select(columns).to_pylist() if updates else ():
        if row["first_row_id"] is None or (row["partition"], row["file_name"]) not in marked:
            continue
        if any(_overlap(row, update) for update in updates):
            raise CommitConflictError(
                f"Another commit deleted rows of data file {row['file_name']}, of whose rows this "
                "commit updates columns.",
                hint=PLAN_AGAIN,
            )


def _changed_vectors(new: IndexEntries, old: IndexEntries) -> set[tuple[object, str]]:
    """Return partition and data file of the deletion vectors that are new or have changed."""
    before = _vectors(old)
    return {
        key for key, count in _vectors(new).items() if key not in before or before[key] != count
    }


def _vectors(index: IndexEntries) -> dict[tuple[object, str], object]:
    """Return the number of deleted rows by partition and data file; None where it is unknown."""
    found: dict[tuple[object, str], object] = {}
    for row in index.of_type(DELETION_VECTORS_INDEX).rows():
        ranges = row["dv_ranges"]
        for part in ranges if isinstance(ranges, list) else ():
            found[row["partition"], str(part["data_file"])] = part["cardinality"]
    return found


def _overlap(first: Mapping[str, int], second: Mapping[str, int]) -> bool:
    ends = [row["first_row_id"] + row["row_count"] for row in (first, second)]
    return first["first_row_id"] < ends[1] and second["first_row_id"] < ends[0]


def _share_columns(first: list[str] | None, second: list[str] | None) -> bool:
    """Return whether two files have a common column; None means all columns."""
    return first is None or second is None or not set(first).isdisjoint(second)
