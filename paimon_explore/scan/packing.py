"""Ordered bin packing of files or sections into splits.

Spec: `source.split.target-size`, `source.split.open-file-cost`.
"""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt


def pack(sizes: npt.NDArray[np.int64], *, target: int, open_cost: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose weights fit the target.

    Args:
        sizes: n sizes in bytes, in the order to keep.
        target: bytes a bin may hold; a single larger item has a bin of its own.
        open_cost: least weight of an item in bytes.

    Returns:
        Half-open index ranges that cover 0..n in order.

    >>> pack(np.array([5, 5, 20, 1, 1]), target=10, open_cost=2)
    [(0, 2), (2, 3), (3, 5)]
    """
    ends: list[int] = np.cumsum(np.maximum(sizes, open_cost)).tolist()
    bins: list[tuple[int, int]] = []
    start = before = 0
    while start < len(ends):
        end = max(bisect_right(ends, before + target, start), start + 1)
        bins.append((start, end))
        start, before = end, ends[end - 1]
    return bins
