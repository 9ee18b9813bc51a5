"""Assignment of keys to the dynamic buckets of a partition.

The hash index files of the buckets list the hashes of all keys of a partition. A known hash keeps
its bucket; a new one goes to the first bucket that is not full, or to a new bucket with the lowest
unused number. Keys with equal hashes share a bucket.

Only one job may assign buckets of a table at a time.

Spec: primary-key-table/data-distribution, dynamic bucket. Seen in: golden java200/pk_dynamic.
"""

from collections.abc import Mapping
from itertools import count

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import InvalidInputError

Hashes = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int32]

MAX_BUCKET_COUNT = 32767


class HashAssigner:
    """Assigns the keys of one partition to buckets.

    Args:
        known: key hashes by bucket, from the hash index files.
        target_rows: number of keys at which a bucket is full.
        max_buckets: maximum number of buckets.
    """

    def __init__(self, known: Mapping[int, Hashes], *, target_rows: int, max_buckets: int) -> None:
        self._target = target_rows
        self._max = max_buckets
        self._counts = {bucket: len(hashes) for bucket, hashes in sorted(known.items())}
        self._old = dict(known)
        self._new: dict[int, list[Hashes]] = {}
        parts = [np.full(len(hashes), bucket, np.int32) for bucket, hashes in known.items()]
        self._set_assignment(
            np.concatenate([*known.values(), np.zeros(0, np.int32)]),
            np.concatenate([*parts, np.zeros(0, np.int32)]),
        )

    def _set_assignment(self, hashes: Hashes, buckets: Buckets) -> None:
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._buckets = buckets[order]

    def assign(self, hashes: Hashes) -> Buckets:
        """Return the bucket of each key; assign new keys to buckets.

        Args:
            hashes: hashes of n keys in input order.

        Raises:
            InvalidInputError: the keys need more than the maximum number of buckets.
        """
        distinct, firsts = np.unique(hashes, return_index=True)
        is_new = ~np.isin(distinct, self._hashes, assume_unique=False)
        if is_new.any():
            in_order = np.sort(firsts[is_new])
            self._add(hashes[in_order])
        return self._buckets[np.searchsorted(self._hashes, hashes)]

    def _add(self, hashes: Hashes) -> None:
        buckets = np.empty(len(hashes), np.int32)
        start = 0
        while start < len(hashes):
            bucket = self._bucket_with_room()
            count = min(self._target - self._counts[bucket], len(hashes) - start)
            buckets[start : start + count] = bucket
            self._counts[bucket] += count
            self._new.setdefault(bucket, []).append(hashes[start : start + count])
            start += count
        self._set_assignment(
            np.concatenate([self._hashes, hashes]), np.concatenate([self._buckets, buckets])
        )

    def _bucket_with_room(self) -> int:
        for bucket, keys in self._counts.items():
            if keys < self._target:
                return bucket
        unused = next(i for i in count() if i not in self._counts)
        if unused >= self._max:
            raise InvalidInputError(
                f"All {self._max} buckets of the partition are full.",
                hint="Increase 'dynamic-bucket.max-buckets' or 'dynamic-bucket.target-row-num'.",
            )
        self._counts[unused] = 0
        return unused

    def changed(self) -> Mapping[int, Hashes]:
        """Return all hashes of each bucket that has new ones."""
        none = np.zeros(0, np.int32)
        return {
            bucket: np.concatenate([self._old.get(bucket, none), *parts])
            for bucket, parts in self._new.items()
        }


def bucket_limit(option: int) -> int:
    """Return the maximum number of buckets for `dynamic-bucket.max-buckets`; -1 is no limit."""
    return MAX_BUCKET_COUNT if option < 0 else option
