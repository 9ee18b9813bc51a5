"""Ordered bin packing of files or sections into splits, of all buckets at once.

Spec: `source.split.target-size`, `source.split.open-file-cost`.
"""

import numpy as np
import numpy.typing as npt


def pack(
    sizes: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int64],
    *,
    target: int,
    open_cost: int,
) -> npt.NDArray[np.int64]:
    """Packs consecutive items of one group into bins of at most `target` bytes.

    Args:
        sizes: n sizes in bytes; their order is kept.
        groups: n ascending numbers; a bin contains items of one group only.
        target: maximum bytes per bin; a larger item is alone in its bin.
        open_cost: minimum weight of an item in bytes.

    Returns:
        The start of each of the k bins, then n: k + 1 numbers.

    >>> pack(np.array([5, 5, 20, 1, 1]), np.array([0, 0, 0, 0, 1]), target=10, open_cost=2).tolist()
    [0, 2, 3, 4, 5]
    """
    count = len(sizes)
    # Sizes above the target are clipped, so that sums do not overflow; such items are alone anyway.
    ends = np.cumsum(np.minimum(np.maximum(sizes, open_cost), target + 1))
    after = np.searchsorted(ends, np.concatenate(([0], ends[:-1])) + target, side="right")
    group_ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, count)
    own_end = np.repeat(group_ends, np.diff(group_ends, prepend=0))
    following = memoryview(np.clip(after, np.arange(1, count + 1), own_end).data)
    # A loop, because the start of a bin depends on the previous bin.
    starts = [0] if count else []
    start = 0
    while start < count:
        start = following[start]
        starts.append(start)
    return np.array(starts or [0], np.int64)
