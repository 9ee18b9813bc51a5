"""The keys of a column's rows, grouped and in ascending order."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.definitions import INTEGERS, TypeRoot
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.frozen_dataclass import dataclass

_COUNTED = {
    TypeRoot.DATE: pa.int32(),
    TypeRoot.TIME: pa.int32(),
    TypeRoot.TIMESTAMP: pa.int64(),
    TypeRoot.TIMESTAMP_LTZ: pa.int64(),
}
"""Types whose values are read as numbers of their unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRows:
    """Rows in the order of their keys.

    Attributes:
        keys: of the rows that are not null, ascending.
        row_ids: of these rows; ascending for equal keys.
        nulls: row ids of the other rows.
    """

    keys: list[Key]
    row_ids: Ints
    nulls: BitMap64

    def __len__(self) -> int:
        """Number of rows, with nulls."""
        return len(self.keys) + len(self.nulls)

    def groups(self) -> Iterator[tuple[Key, list[int]]]:
        """Yield each key with its row ids."""
        rows = self.row_ids.tolist()
        starts = [i for i, key in enumerate(self.keys) if not i or self.keys[i - 1] != key]
        for start, end in pairwise((*starts, len(rows))):
            yield self.keys[start], rows[start:end]

    def parts(self, rows: int) -> "Iterator[IndexedRows]":
        """Divide the rows into parts of so many; the nulls are in the first one."""
        for start in range(0, max(len(self.keys), 1), rows):
            yield IndexedRows(
                keys=self.keys[start : start + rows],
                row_ids=self.row_ids[start : start + rows],
                nulls=BitMap64() if start else self.nulls,
            )


def indexed_rows(
    column: "pa.ChunkedArray[Any]", row_ids: Ints, keys: GlobalIndexKeys
) -> IndexedRows:
    """Sort rows by their keys.

    Args:
        column: the values.
        row_ids: of the rows, ascending.
        keys: of the column's type.
    """
    root = keys.data_type.root
    valid = np.asarray(column.is_valid())
    nulls = BitMap64(row_ids[~valid].astype(np.uint64))
    rows = row_ids[valid]
    values = column.filter(pa.array(valid))
    if root in INTEGERS:
        numbers = values.to_numpy()
        order = np.argsort(numbers, kind="stable")
        return IndexedRows(keys=numbers[order].tolist(), row_ids=rows[order], nulls=nulls)
    if root in _COUNTED:
        values = values.cast(_COUNTED[root])
    found: list[Any] = [keys.of_value(value) for value in values.to_pylist() if value is not None]
    order = np.array(sorted(range(len(found)), key=found.__getitem__), np.int64)
    return IndexedRows(keys=[found[i] for i in order], row_ids=rows[order], nulls=nulls)
