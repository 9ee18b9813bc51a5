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
   commit deletes rows; and no columns remain of rows whose files this commit removes.

A conflict ends the commit: its changes must be planned again.

Spec: concepts/concurrency-control.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.commit.file_changes import PLAN_AGAIN, Changes
from paimon_explore.commit.index_conflicts import (
    check_indexed_columns,
    check_indexed_files,
    check_indexed_rows,
    check_marked_files,
    check_replaced,
)
from paimon_explore.commit.row_id_conflicts import (
    check_columns,
    check_compacted_ranges,
    check_deleted_rows,
    check_removed_ranges,
    check_row_ranges,
    check_updated_rows,
)
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import CommitConflictError, CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import merge_entries
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.snapshot import CommitKind
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.key_range_sections import key_ranks


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
        check_row_ranges(live, added)
        check_compacted_ranges(after, added)
        check_removed_ranges(after, changes.entries)
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
        raise CommitConflictError(f"The commit must not add {error.where} twice.") from error


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
            "commit removed or replaced the same files.",
            hint=PLAN_AGAIN,
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
