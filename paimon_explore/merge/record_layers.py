"""Records of many keys in layers: a key has at most one record in each.

Sorted runs whose records are each newer than those before are such layers, from the oldest to the
newest. What an engine or a function does record by record it can then do layer by layer, for all
keys at once: numbers of keys ascend within a layer, so memory is walked in order.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.merge.keys.key_index import Slots


class Layers:
    """The records of g keys, layer by layer, oldest first.

    Args:
        slots: of every layer the numbers of its keys, each number below g occurs.
    """

    def __init__(self, slots: Slots) -> None:
        self._parts: Sequence[Ints] = slots.parts
        self.count = slots.count
        self.rows = sum(len(part) for part in slots.parts)
        self._newest: Ints | None = None
        self._oldest: Ints | None = None

    def __len__(self) -> int:
        """How many layers there are."""
        return len(self._parts)

    def steps(self, known: Bools | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Key numbers and row numbers of each layer, oldest first.

        Args:
            known: for each row whether it counts; None: all do.
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
        """For each key its newest row that counts; -1 where none does."""
        found = np.full(self.count, -1, np.int64)
        for numbers, rows in self.steps(known):
            found[numbers] = rows
        return found

    def first(self, known: Bools | None = None) -> Ints:
        """For each key its oldest row that counts; -1 where none does."""
        found = np.full(self.count, -1, np.int64)
        for numbers, rows in reversed(list(self.steps(known))):
            found[numbers] = rows
        return found
