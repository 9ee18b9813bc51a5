"""Row id ranges of data files: groups of files with different columns of the same rows.

In tables with data evolution several files cover one range of row ids: one with all columns, later
ones with rewritten columns, blob files with single columns of parts of the range.
Spec: append-table/data-evolution; row ids are first row id plus position.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import as_python, valid_mask
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import Rows, column, numbers, row_array, true_rows

RowRange = tuple[int, int]
"""First row id, and last row id plus 1."""
_BLOB_MARKS, _VECTOR_MARK = (".blob", ".video"), ".vector."
_COLUMN_FILE = "|".join(map(re.escape, (*_BLOB_MARKS, _VECTOR_MARK)))


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


def column_numbers(entries: ManifestEntries, known: dict[str, int]) -> Rows:
    """Numbers of the columns of n files of BLOB or VECTOR columns; -1 for other files.

    Args:
        entries: the files.
        known: the numbers by column; new columns are added.
    """
    found = np.full(len(entries), -1, np.int64)
    names, marks = column(entries.table, "file_name"), pc.MatchSubstringOptions(_COLUMN_FILE)
    has_mark = pc.call_function("match_substring_regex", [names], marks)
    places = true_rows(has_mark).nonzero()[0]
    written = as_python(column(entries.table, "write_cols").take(row_array(places)))
    found[places] = [known.setdefault(str(columns), len(known)) for columns in written]
    return found


def partly_covered(first: Rows, after: Rows, columns: Rows) -> list[tuple[RowRange, int]]:
    """Return ranges of data files with a column of which files have only some of the rows.

    Readers require that files of a BLOB or VECTOR column have all rows of a range, or none.

    Args:
        first: first row ids of n files; -1 for files without row ids.
        after: their last row ids plus 1.
        columns: the numbers of their columns; -1 for files with several columns.

    Returns:
        Each range with the number of the column.

    >>> files = [(0, 4, -1), (0, 2, 7), (2, 4, 7), (4, 8, -1), (4, 7, 7)]
    >>> partly_covered(*np.array(files).T)
    [((4, 8), 7)]
    """
    if not bool((columns >= 0).any()):
        return []
    is_part, is_whole = (columns >= 0) & (first >= 0), (columns < 0) & (first >= 0)
    whole = np.unique(np.stack([first[is_whole], after[is_whole]], axis=1), axis=0)
    place = np.searchsorted(whole[:, 0], first[is_part], "right") - 1
    keys = np.stack([place, columns[is_part], first[is_part], after[is_part]], axis=1)[place >= 0]
    keys = keys[np.lexsort(keys.T[::-1])]
    found = []
    starts = np.flatnonzero((np.diff(keys[:, :2], axis=0, prepend=-2) != 0).any(axis=1))
    for group in np.split(keys, starts[1:]) if len(keys) else ():
        start, end = whole[group[0, 0]].tolist()
        reach = np.maximum.accumulate(group[:, 3])
        has_gap = bool((group[1:, 2] > reach[:-1]).any())
        if has_gap or (group[0, 2], reach[-1]) != (start, end):
            found.append(((start, end), int(group[0, 1])))
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
