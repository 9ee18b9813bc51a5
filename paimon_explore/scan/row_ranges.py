"""Files that hold different columns of the same rows.

In tables with data evolution several files cover one range of row ids: one with all columns, later
ones with the columns that were written anew, blob files with single columns of parts of the range.
Spec: append-table/data-evolution; row ids are first row id plus position.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.metadata.manifest_entry import ManifestEntries

Rows: TypeAlias = npt.NDArray[np.int64]


def row_ranges(entries: ManifestEntries) -> tuple[Rows, Rows]:
    """First row id and the one after the last of n files; -1 and -1 for files without row ids."""
    first = np.asarray(
        pc.fill_null(entries.column("first_row_id"), -1).combine_chunks().cast(pa.int64())
    )
    count = np.asarray(entries.column("row_count").combine_chunks())
    return first, np.where(first < 0, -1, first + count)


def same_rows(entries: ManifestEntries) -> list[Rows]:
    """File numbers in groups whose row ids overlap, by ascending row id.

    Files without row ids are groups of their own and come first.
    """
    if not len(entries):
        return []
    first, after = row_ranges(entries)
    order = np.lexsort((after, first))
    reach = np.maximum.accumulate(after[order])
    starts = (first[order][1:] >= reach[:-1]) | (first[order][1:] < 0)
    return np.split(order, np.flatnonzero(starts) + 1)
