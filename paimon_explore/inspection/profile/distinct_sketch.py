"""Number of distinct values from the smallest hashes (k minimum values, KMV).

Up to k distinct values the count is exact; above, the standard error is 1 / sqrt(k - 2).
Spec: Bar-Yossef et al., Counting distinct elements in a data stream; Beyer et al., On synopses for
distinct-value estimation under multiset operations.
"""

import math

import numpy as np

from paimon_explore.data_types.arrow_buffers import UInt64s

SKETCH_SIZE = 16_384
"""Number of hashes that are kept; the standard error is 0.8 %."""
_RANGE = 2.0**64


class DistinctSketch:
    """Estimates the number of distinct values from their hashes, in bounded memory.

    Args:
        size: maximum number of hashes that are kept.

    >>> sketch = DistinctSketch()
    >>> sketch.add(np.array([3, 1, 3], np.uint64))
    >>> sketch.count
    2
    """

    def __init__(self, size: int = SKETCH_SIZE) -> None:
        self._size = size
        self._hashes: UInt64s = np.empty(0, np.uint64)
        self._dropped = False

    def add(self, hashes: UInt64s) -> None:
        """Add the hashes of values in any order, with any number of repetitions."""
        if len(self._hashes) == self._size:
            hashes = hashes[hashes <= self._hashes[-1]]
        if not len(hashes):
            return
        found = np.concatenate([self._hashes, hashes])
        found.sort()  # several times as fast as np.unique
        found = found[np.concatenate([[True], found[1:] != found[:-1]])]
        self._dropped |= len(found) > self._size
        self._hashes = found[: self._size]

    @property
    def count(self) -> int:
        """The number of distinct values: exact, or an estimate."""
        if not self._dropped:
            return len(self._hashes)
        return round((self._size - 1) / ((float(self._hashes[-1]) + 1) / _RANGE))

    @property
    def error(self) -> float:
        """The relative standard error of the count; 0 if it is exact."""
        return 1 / math.sqrt(self._size - 2) if self._dropped else 0.0
