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
    """Consecutive ranges of one group each whose weights fit the target.

    Args:
        sizes: n sizes in bytes, in the order to keep.
        groups: n ascending numbers; items of different groups are never together.
        target: bytes a bin may hold; a single larger item has a bin of its own.
        open_cost: least weight of an item in bytes.

    Returns:
        Where each of the k bins begins, and n: k + 1 numbers.

    >>> pack(np.array([5, 5, 20, 1, 1]), np.array([0, 0, 0, 0, 1]), target=10, open_cost=2).tolist()
    [0, 2, 3, 4, 5]
    """
    count = len(sizes)
    # What is above the target fills a bin alone, however large it is: so sums stay small.
    ends = np.cumsum(np.minimum(np.maximum(sizes, open_cost), target + 1))
    after = np.searchsorted(ends, np.concatenate(([0], ends[:-1])) + target, side="right")
    group_ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, count)
    own_end = np.repeat(group_ends, np.diff(group_ends, prepend=0))
    following = memoryview(np.clip(after, np.arange(1, count + 1), own_end).data)
    # One by one: where a bin begins depends on the bin before.
    starts = [0] if count else []
    place = 0
    while place < count:
        place = following[place]
        starts.append(place)
    return np.array(starts or [0], np.int64)
