"""Bit slices: numbers of rows stored as one bitmap per binary digit.

Comparisons use the algorithm of O'Neil and Quass, "Improved query performance with variant
indexes": from the highest digit down, keep the rows that are equal so far; a row becomes lower or
higher at the first digit that differs.
"""

from array import array
from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Ints, UInt64s
from paimon_explore.encoding.file_index.index_condition import Relation
from paimon_explore.frozen_dataclass import dataclass


def bitmap_of(rows: Ints) -> BitMap:
    """Build a bitmap of row positions."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


@dataclass(frozen=True, slots=True)
class BitSlices:
    """Non-negative numbers of rows.

    Attributes:
        rows: the rows that have a number.
        slices: for each binary digit, lowest first, the rows whose number has a 1.
    """

    rows: BitMap
    slices: Sequence[BitMap]

    def compared(self, relation: Relation, number: int) -> BitMap:
        """Return the rows whose number is =, <, <=, > or >= another number."""
        if number < 0 or number >> len(self.slices):
            wanted = {Relation.GT, Relation.GE} if number < 0 else {Relation.LT, Relation.LE}
            return self.rows.copy() if relation in wanted else BitMap()
        equal, lower = self.rows.copy(), BitMap()
        for digit in range(len(self.slices) - 1, -1, -1):
            if number >> digit & 1:
                lower |= equal - self.slices[digit]
                equal &= self.slices[digit]
            else:
                equal -= self.slices[digit]
        match relation:
            case Relation.EQ:
                return equal
            case Relation.LT:
                return lower
            case Relation.LE:
                return lower | equal
            case Relation.GT:
                return self.rows - lower - equal
            case _:
                return self.rows - lower


def slice_numbers(rows: Ints, numbers: UInt64s, digits: int) -> BitSlices:
    """Build slices of `digits` digits from the numbers of ascending rows."""
    slices = []
    for digit in range(digits):
        ones = (numbers >> np.uint64(digit)) & np.uint64(1) == 1
        slices.append(bitmap_of(rows[ones]))
    return BitSlices(bitmap_of(rows), slices)
