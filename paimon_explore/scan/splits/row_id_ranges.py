"""Row id ranges of data files: groups of files with different columns of the same rows.

In tables with data evolution several files cover one range of row ids: one with all columns, later
ones with rewritten columns, blob files with single columns of parts of the range.
Spec: append-table/data-evolution; row ids are first row id plus position.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from paimon_explore.data_types.arrow_buffers import valid_mask
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import Rows, column, numbers

RowRange = tuple[int, int]
"""First row id, and last row id plus 1."""
_BLOB_MARKS, _VECTOR_MARK = (".blob", ".video"), ".vector."


def column_mark(name: str) -> str | None:
    """Return what marks, in its name, a file of a BLOB or VECTOR column beside its data file.

    >>> column_mark("data-1-0.blob"), column_mark("data-1-0.parquet")
    ('.blob', None)
    """
    return next((mark for mark in (*_BLOB_MARKS, _VECTOR_MARK) if mark in name), None)


def is_column_file(name: str) -> bool:
    """Whether a file stores a BLOB or VECTOR column beside the data file of its rows."""
    return column_mark(name) is not None


def is_blob_file(name: str) -> bool:
    """Whether a file stores a BLOB column beside the data file of its rows."""
    return column_mark(name) in _BLOB_MARKS


def grouped_indices(numbers: Sequence[int]) -> list[list[int]]:
    """Groups indices of consecutive equal numbers.

    >>> grouped_indices([5, 5, 7])
    [[0, 1], [2]]
    """
    groups = groupby(range(len(numbers)), key=numbers.__getitem__)
    return [list(indices) for _, indices in groups]


def row_ranges(entries: ManifestEntries) -> tuple[Rows, Rows]:
    """First row id of n files, and last row id plus 1; -1 for files without row ids."""
    known = valid_mask(column(entries.table, "first_row_id"))
    first = np.where(known, numbers(entries.table, "first_row_id"), -1)
    return first, np.where(known, first + numbers(entries.table, "row_count"), -1)


def consecutive_row_ids(entries: ManifestEntries) -> list[RowRange]:
    """Return the ranges of consecutive row ids of files with row ids, ascending."""
    first, after = row_ranges(entries)
    return merged_ranges(zip(first.tolist(), after.tolist(), strict=True))


def merged_ranges(ranges: Iterable[RowRange]) -> list[RowRange]:
    """Return ranges without gaps and overlaps between them, ascending.

    >>> merged_ranges([(3, 5), (0, 3), (7, 9), (7, 8)])
    [(0, 5), (7, 9)]
    """
    found: list[RowRange] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def same_rows(entries: ManifestEntries) -> list[Rows]:
    """Groups files whose row ids overlap, by ascending row id.

    Each file without row ids is a separate group; these come first.
    """
    if not len(entries):
        return []
    first, after = row_ranges(entries)
    order = np.lexsort((after, first))
    reach = np.maximum.accumulate(after[order])
    starts = (first[order][1:] >= reach[:-1]) | (first[order][1:] < 0)
    return np.split(order, np.flatnonzero(starts) + 1)
