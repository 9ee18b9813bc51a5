"""Conflict checks of a commit against the latest snapshot.

The changes were planned on an earlier snapshot; other commits may have happened since. Plain
appends never conflict. Commits that remove or replace files are checked against the live files of
the changed partitions:

1. all files of a partition have the same number of buckets, unless the commit is an overwrite;
2. no file is added twice, and every removed file is still live;
3. files of one bucket and level above 0 have disjoint key ranges (concurrent compactions);
4. index files: see `index_conflicts`;
5. with data evolution, no other commit has written the same columns of the same rows, has deleted
   rows of files whose columns this commit updates, or has updated rows of files of which this
   commit deletes rows; removed files have the row ids with which they were planned; and no columns
   remain of rows whose files this commit removes, nor global indexes, if it is a compaction.

A conflict ends the commit: its changes must be planned again.

Spec: concepts/concurrency-control.

Check that no other commit has changed the number of buckets that new files are written for.

A rescale, or an overwrite after a change of the option `bucket`, gives partitions another number of
buckets. Files that a concurrent writer assigned to buckets by the old number must not be added to
them: rows of one key would lie in two buckets. Plain appends are not checked otherwise, so the live
files are read only if there was an overwrite since the writer has begun.

Spec: concepts/concurrency-control; maintenance/rescale-bucket.

Conflict checks of row ids: concurrent changes of the same rows of tables with data evolution.

The columns of a row may be stored in several files, which all have the same range of row ids, and a
deletion vector of one of them applies to all. So a commit may conflict with another one although
both change different files. The vector of a file only grows: its number of deleted rows tells
whether it has changed.

Spec: append-table/data-evolution.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.index_conflicts import (
    check_indexed_columns,
    check_indexed_files,
    check_indexed_rows,
    check_marked_files,
    check_removed_rows,
    check_replaced,
)
from paimon_explore.commit.key_conflicts import is_ancestor, is_same_snapshot
from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import PLAN_AGAIN, CommitConflictError, CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.entry_cancellation import merge_entries
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.scan.splits.row_id_ranges import (
    column_numbers,
    is_blob_file,
    is_column_file,
    partly_covered,
    row_ranges,
)
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRules:
    """Table settings for conflict checks.

    Attributes:
        keys: the trimmed primary key; None for append tables.
        is_bucketed: whether the table has buckets.
        data_evolution: whether the columns of a row may be stored in several files.
        levels_overlap: whether files of one level may have overlapping keys, because they are
            sorted by other columns.
        indexable: name and id of each column whose global indexes an update has to drop; none if
            indexes may be outdated.
        planned_on: the snapshot whose rows were read to compute new values of some columns, to
            delete some of them, or to index them, if any.
        planned_index: the index files of that snapshot.
    """

    keys: RowType | None
    is_bucketed: bool
    data_evolution: bool = False
    levels_overlap: bool = False
    indexable: Mapping[str, int] = field(default_factory=dict)
    planned_on: int | None = None
    planned_index: IndexEntries | None = None


def check_conflicts(
    live: ManifestEntries,
    changes: Changes,
    index_before: IndexEntries,
    *,
    kind: CommitKind,
    rules: ConflictRules,
) -> None:
    """Check changes for conflicts.

    Args:
        live: live files of the changed partitions, one ADD entry each.
        changes: the changes.
        index_before: all index files of the latest snapshot.
        kind: the commit kind.
        rules: table settings.

    Raises:
        CommitConflictError: the changes conflict with the latest snapshot.
    """
    if kind is not CommitKind.OVERWRITE:
        check_bucket_counts(live, changes.entries)
    _check_alone(changes.entries)
    check_replaced(changes, index_before, is_bucketed=rules.is_bucketed)
    check_indexed_files(changes, index_before)
    after = _after(live, changes.entries)
    check_marked_files(changes, after)
    if rules.keys is not None and not rules.levels_overlap:
        _check_levels(after, rules.keys)
    if rules.data_evolution:
        added = changes.entries.of_kind(FileKind.ADD)
        check_row_ids(live, changes.entries)
        check_row_ranges(live, added)
        check_compacted_ranges(after, added)
        check_column_files(live, after, added)
        gone = check_removed_ranges(after, changes.entries)
        if kind is CommitKind.COMPACT:
            check_removed_rows(changes, index_before, gone)
        check_indexed_columns(changes, index_before, rules.indexable)
        if rules.planned_on is not None:
            check_columns(live, added, rules.planned_on)
            check_updated_rows(changes, live, index_before, rules.planned_on)
            if rules.planned_index is not None:
                check_deleted_rows(added, live, index_before, rules.planned_index)
            check_indexed_rows(changes, live, rules.planned_on)


def check_bucket_counts(live: ManifestEntries, entries: ManifestEntries) -> None:
    """Check that new files have the number of buckets of their partition.

    Raises:
        CommitConflictError: the numbers differ.
    """
    added = entries.of_kind(FileKind.ADD)
    both = pa.concat_tables([part.table.select(_BUCKETS) for part in (live, added)])
    fixed = both.filter(pc.field("total_buckets") > 0)
    counts: dict[object, object] = {}
    groups = fixed.select(_BUCKETS).group_by(_BUCKETS, use_threads=False)  # the table's files first
    for row in groups.aggregate([]).to_pylist():
        other = counts.setdefault(row["partition"], row["total_buckets"])
        if other != row["total_buckets"]:
            raise CommitConflictError(
                f"A partition has files with {other} buckets, and the commit adds files with "
                f"{row['total_buckets']} buckets.",
                hint="To change the number of buckets, overwrite the whole partition.",
            )


_BUCKETS = ["partition", "total_buckets"]


def _check_alone(entries: ManifestEntries) -> None:
    try:
        merge_entries(entries)
    except CorruptFileError as error:
        raise CommitConflictError(
            f"The commit adds {error.where} twice.", hint="Pass each file once."
        ) from error


def _after(live: ManifestEntries, entries: ManifestEntries) -> ManifestEntries:
    """Return the live files after the commit."""
    try:
        merged = merge_entries(ManifestEntries.concat([live, entries]))
    except CorruptFileError as error:
        raise CommitConflictError(
            f"The table already contains {error.where}, which this commit adds.",
            hint="Check whether the same commit has already succeeded.",
        ) from error
    missing = merged.of_kind(FileKind.DELETE)
    if len(missing):
        name = missing.column("file_name")[0].as_py()
        raise CommitConflictError(
            f"{_removed_files(str(name), len(missing) - 1)} no longer in the table: another "
            "commit removed or replaced the same files."
        )
    return merged


def _removed_files(name: str, others: int) -> str:
    if not others:
        return f"Data file {name}, which this commit removes, is"
    plural = "" if others == 1 else "s"
    return f"Data file {name} and {others} other data file{plural} that this commit removes are"


def _check_levels(files: ManifestEntries, keys: RowType) -> None:
    """Check that files of one bucket and level above 0 do not overlap."""
    upper = files.filter(numbers(files.table, "level") > 0)
    if len(upper) < 2:  # noqa: PLR2004  # one file cannot overlap
        return
    lows, highs = key_ranks(upper, keys)
    locations = upper.table.select(["partition", "bucket", "level", "file_name"]).to_pylist()
    runs: dict[tuple[object, int, int], list[tuple[int, int, str]]] = {}
    for place, low, high in zip(locations, lows.tolist(), highs.tolist(), strict=True):
        run = (place["partition"], int(place["bucket"]), int(place["level"]))
        runs.setdefault(run, []).append((low, high, place["file_name"]))
    for run, ranges in runs.items():
        for before, after in pairwise(sorted(ranges)):
            if after[0] <= before[1]:
                raise CommitConflictError(
                    f"Files {before[2]} and {after[2]} of bucket {run[1]}, level {run[2]} have "
                    "overlapping keys: two compactions ran concurrently.",
                    hint="Only one job at a time may compact a bucket. " + PLAN_AGAIN,
                )


def check_rescaled(
    store: TableStore,
    latest: Snapshot | None,
    since: SeenSnapshot,
    entries: ManifestEntries,
    live: Callable[[], ManifestEntries],
) -> None:
    """Check that the partitions of new files still have the number of buckets of these files.

    Args:
        store: the table.
        latest: the latest snapshot.
        since: the snapshot on which the writer has begun.
        entries: the changes of the commit.
        live: returns the live files of the changed partitions that the commit does not remove.

    Raises:
        CommitConflictError: a partition has another number of buckets.
    """
    if latest is None or is_same_snapshot(latest, since):
        return
    if _may_be_overwritten(store, latest, since):
        check_bucket_counts(live(), entries)


def _may_be_overwritten(store: TableStore, latest: Snapshot, since: SeenSnapshot) -> bool:
    """Whether there was an overwrite since a snapshot, or snapshots were removed."""
    if latest.id <= since.id or not is_ancestor(store, since):
        return True  # after a rollback
    for number in range(latest.id, since.id, -1):
        found = latest if number == latest.id else store.snapshots.find(number)
        if found is None or found.commit_kind is CommitKind.OVERWRITE:
            return True
    return False


def check_row_ids(live: ManifestEntries, entries: ManifestEntries) -> None:
    """Check that removed files still have the row ids with which they were planned.

    Raises:
        CommitConflictError: another commit has reassigned them.
    """
    read = ["file_name", "first_row_id"]
    removed = entries.of_kind(FileKind.DELETE).table.select(read).to_pylist()
    if not removed:
        return
    names = pa.array([row["file_name"] for row in removed], pa.string())
    found = live.table.select(read)
    rows = found.filter(pc.is_in(found["file_name"], names)).to_pylist()
    current = {row["file_name"]: row["first_row_id"] for row in rows}
    for row in removed:
        if current.get(row["file_name"], row["first_row_id"]) != row["first_row_id"]:
            raise CommitConflictError(
                f"Another commit has given the rows of data file {row['file_name']}, which this "
                "commit removes, new row ids."
            )


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
                "rows."
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
        beside = row["first_row_id"] is None or is_blob_file(row["file_name"])
        for new in compacted:
            same = row["file_name"] == new["file_name"] or ".vector." in row["file_name"]
            if not beside and not same and _overlap(row, new):
                raise CommitConflictError(
                    f"File {row['file_name']} of another commit updates columns of rows that this "
                    "commit compacts."
                )


def check_column_files(
    live: ManifestEntries, after: ManifestEntries, added: ManifestEntries
) -> None:
    """Check that files of a BLOB or VECTOR column have all rows of a range of row ids, or none.

    Readers require it. Only ranges are checked that the commit makes or writes such files of.

    Raises:
        CommitConflictError: another commit compacted these rows, or wrote the column for some.
    """
    changed = added.filter(row_ranges(added)[0] >= 0)
    if not len(changed):
        return
    known = set(zip(*(ids.tolist() for ids in row_ranges(_data_files(live))), strict=True))
    numbers_of: dict[str, int] = {}
    new, _ = row_ranges(changed)
    written = new[column_numbers(changed, numbers_of) >= 0]
    files = (*row_ranges(after), column_numbers(after, numbers_of))
    for (start, end), number in partly_covered(*files):
        if (start, end) not in known or bool(((start <= written) & (written < end)).any()):
            raise CommitConflictError(
                f"Files of {[*numbers_of][number]} have only some of the rows with ids {start} to "
                f"{end - 1}, which another commit compacted or wrote."
            )


def check_removed_ranges(
    after: ManifestEntries, entries: ManifestEntries
) -> Sequence[tuple[int, int]]:
    """Check that no columns remain of rows whose data files this commit removes.

    Another commit may have written them since the removal was planned.

    Returns:
        First row id, and last one plus 1, of the removed files whose rows get no other file.

    Raises:
        CommitConflictError: it has.
    """
    removed = _data_files(entries.of_kind(FileKind.DELETE))
    first, end = row_ranges(removed)
    added = row_ranges(_data_files(entries.of_kind(FileKind.ADD)))
    is_gone = ~_overlapped(first, end, *added)
    remaining = after.filter(row_ranges(after)[0] >= 0)
    starts, stops = row_ranges(remaining)
    for at in np.flatnonzero(is_gone & _overlapped(first, end, starts, stops)).tolist():
        others = remaining.filter((starts < end[at]) & (stops > first[at]))
        oldest = numbers(others.table, "max_sequence_number").min()
        if oldest >= numbers(removed.table, "max_sequence_number")[at]:
            raise CommitConflictError(
                f"File {others.column('file_name')[0].as_py()} of another commit has columns of "
                f"rows that this commit removes, from row id {first[at]} on."
            )
        is_gone[at] = False  # a file that updated columns of rows that stay
    return list(zip(first[is_gone].tolist(), end[is_gone].tolist(), strict=True))


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
                    f"same rows as this commit, from row id {row['first_row_id']} on."
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
                    f"{anchor['file_name']}, of which this commit deletes rows."
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
                "commit updates columns."
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
