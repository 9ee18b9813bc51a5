"""The rows of data files that remain after indexes of the table and deletion vectors.

Global indexes find row ids of the table. A file that is read by itself gets positions from them;
files with different columns of the same rows are merged by row id, without the rows that a
deletion vector of one of them marks. Primary-key indexes find positions in files at once.
"""

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap, BitMap64

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_vector_filter import Positions, positions
from paimon_explore.scan.splits.data_split import LocatedFiles


@dataclass(frozen=True, slots=True)
class RowIdRange:
    """The row ids of a file, with its deletion vector.

    Attributes:
        first: its first row id.
        row_count: number of rows.
        deleted: positions of deleted rows, if any.
    """

    first: int
    row_count: int
    deleted: BitMap | BitMap64 | None = None

    @property
    def after(self) -> int:
        """The last row id plus 1."""
        return self.first + self.row_count


def selected_positions(
    files: LocatedFiles, others: BitMap | None, name: str, first: int | None, row_count: int
) -> BitMap | None:
    """Returns the positions to read in a file; None for all its rows.

    Args:
        files: with the rows that indexes of the table found.
        others: the positions to read by other means; None for all.
        name: of the file.
        first: its first row id; None if it has none.
        row_count: its number of rows.
    """
    found = None if files.positions is None else files.positions.get(name)
    if files.row_ids is not None and first is not None:
        own = files.row_ids & BitMap64(range(first, first + row_count))
        if len(own) < row_count:
            found = BitMap((positions(own) - first).astype(np.uint32))
    if found is None or others is None:
        return others if found is None else found
    return found & others


def remaining_row_ids(row_ids: BitMap64 | None, files: Sequence[RowIdRange]) -> Positions | None:
    """Returns the ascending row ids to read from files of the same rows; None for all.

    >>> from pyroaring import BitMap
    >>> files = [RowIdRange(10, 4, BitMap([1]))]
    >>> remaining_row_ids(None, files).tolist()
    [10, 12, 13]
    """
    if row_ids is None and all(file.deleted is None for file in files):
        return None
    first, after = min(file.first for file in files), max(file.after for file in files)
    wanted = np.ones(after - first, np.bool_)
    if row_ids is not None:
        wanted[:] = False
        wanted[positions(row_ids & BitMap64(range(first, after))) - first] = True
    for file in files:
        if file.deleted is not None:
            wanted[positions(file.deleted) + (file.first - first)] = False
    return np.flatnonzero(wanted) + first
