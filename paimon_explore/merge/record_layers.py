"""Record layers: sorted runs in age order, with at most one record per key in each.

If all records of each run are newer than those of the runs before, engines and functions can
process records layer by layer for all keys at once, instead of record by record. Key numbers are
ascending within a layer, so memory access is sequential.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.merge.keys.key_index import KeyNumbers


class RecordLayers:
    """The records of g keys, layer by layer, oldest first.

    Args:
        numbers: the key numbers of every layer, without gaps.
    """

    def __init__(self, numbers: KeyNumbers) -> None:
        self._parts: Sequence[Ints] = numbers.parts
        self.count = numbers.count
        self.rows = sum(len(part) for part in numbers.parts)
        self._newest: Ints | None = None
        self._oldest: Ints | None = None

    def __len__(self) -> int:
        """Number of layers."""
        return len(self._parts)

    def steps(self, known: Bools | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Key numbers and row numbers of each layer, oldest first.

        Args:
            known: for each row whether it is used; None for all.
        """
        begin = 0
        for numbers in self._parts:
            end = begin + len(numbers)
            if known is None:
                yield numbers, np.arange(begin, end)
            else:
                some = np.flatnonzero(known[begin:end])
                yield numbers.take(some), some + begin
            begin = end

    @property
    def newest(self) -> Ints:
        """For each key the row of its newest record."""
        if self._newest is None:
            self._newest = self.last()
        return self._newest

    @property
    def oldest(self) -> Ints:
        """For each key the row of its oldest record."""
        if self._oldest is None:
            self._oldest = self.first()
        return self._oldest

    def last(self, known: Bools | None = None) -> Ints:
        """For each key its newest row that is used; -1 if there is none."""
        found = np.full(self.count, -1, np.int64)
        for numbers, rows in self.steps(known):
            found[numbers] = rows
        return found

    def first(self, known: Bools | None = None) -> Ints:
        """For each key its oldest row that is used; -1 if there is none."""
        found = np.full(self.count, -1, np.int64)
        for numbers, rows in reversed(list(self.steps(known))):
            found[numbers] = rows
        return found
