"""The most frequent values of a stream, in bounded memory (Misra-Gries summaries).

Counts are exact while there are few distinct values. Beyond that, summaries drop rare values and
reduce all counts by the same number; the sum of these numbers is the maximum by which a count is
too small.
Spec: Agarwal et al., Mergeable summaries.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    empty_array,
    fixed_values,
    take_rows,
)

CAPACITY = 4096
"""Maximum number of values whose counts are kept."""


class FrequentValues:
    """Counts values.

    Attributes:
        error: maximum by which a count is too small, and maximum count of a missing value.

    >>> values = FrequentValues()
    >>> values.add(pa.array(["a", "b"]), np.array([3, 1]))
    >>> values.add(pa.array(["b", "c"]), np.array([4, 1]))
    >>> [part.tolist() for part in values.top(2)]
    [['b', 'a'], [5, 3]]
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._values: Column | None = None
        self._counts: Ints = np.empty(0, np.int64)
        self.error = 0

    def add(self, values: Column, counts: Ints) -> None:
        """Add counts of distinct values."""
        values, counts = self._reduced(values, counts)
        if self._values is not None:
            encoded = pa.concat_arrays([self._values, values]).dictionary_encode()
            codes = fixed_values(encoded.indices, np.int32)
            weights = np.concatenate([self._counts, counts])
            counts = np.bincount(codes, weights=weights).astype(np.int64)
            values, counts = self._reduced(encoded.dictionary, counts)
        self._values, self._counts = values, counts

    def skip(self, rows: int) -> None:
        """Record rows that are not counted."""
        self.error += rows

    def top(self, limit: int) -> tuple[Column, Ints]:
        """Return the values that are more frequent than any missing value, and their counts."""
        if self._values is None:
            return empty_array(pa.null()), self._counts
        order = np.argsort(-self._counts, kind="stable")[:limit]
        order = order[self._counts[order] > self.error]
        return take_rows(self._values, order), self._counts[order]

    def _reduced(self, values: Column, counts: Ints) -> tuple[Column, Ints]:
        """Keep at most so many values as there is capacity."""
        excess = len(counts) - self._capacity
        if excess <= 0:
            return values, counts
        cut = int(np.partition(counts, excess - 1)[excess - 1])
        self.error += cut
        kept = np.flatnonzero(counts > cut)
        return take_rows(values, kept), counts[kept] - cut
