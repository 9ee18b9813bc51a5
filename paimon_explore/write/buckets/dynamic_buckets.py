"""Buckets of tables that have as many as their keys demand.

Each partition knows the hashes of all its keys, from the hash index files of its buckets. A known
hash stays where it is; a new one goes to the first bucket that is not full, or opens the lowest
unused one. Two keys of one hash share a bucket, which does no harm.

Only one job may assign buckets of a table at a time.

Spec: primary-key-table/data-distribution, dynamic bucket. Seen in: golden java200/pk_dynamic.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import InvalidInputError

Hashes = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int32]

LARGEST_BUCKET_COUNT = 32767


class HashAssigner:
    """Assigns the keys of one partition to buckets.

    Args:
        known: hashes by bucket, as the index files hold them.
        target_rows: keys at which a bucket is full.
        max_buckets: most buckets there may be.
    """

    def __init__(self, known: Mapping[int, Hashes], *, target_rows: int, max_buckets: int) -> None:
        self._target = target_rows
        self._max = max_buckets
        self._counts = {bucket: len(hashes) for bucket, hashes in sorted(known.items())}
        self._old = dict(known)
        self._new: dict[int, list[Hashes]] = {}
        parts = [np.full(len(hashes), bucket, np.int32) for bucket, hashes in known.items()]
        self._remember(
            np.concatenate([*known.values(), np.zeros(0, np.int32)]),
            np.concatenate([*parts, np.zeros(0, np.int32)]),
        )

    def _remember(self, hashes: Hashes, buckets: Buckets) -> None:
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._buckets = buckets[order]

    def assign(self, hashes: Hashes) -> Buckets:
        """The bucket of each key; new keys are remembered.

        Args:
            hashes: of n keys, in the order they come.

        Raises:
            InvalidInputError: the keys need more buckets than there may be.
        """
        distinct, firsts = np.unique(hashes, return_index=True)
        fresh = ~np.isin(distinct, self._hashes, assume_unique=False)
        if fresh.any():
            in_order = np.sort(firsts[fresh])
            self._add(hashes[in_order])
        return self._buckets[np.searchsorted(self._hashes, hashes)]

    def _add(self, fresh: Hashes) -> None:
        buckets = np.empty(len(fresh), np.int32)
        start = 0
        while start < len(fresh):
            bucket = self._open_bucket()
            taken = min(self._target - self._counts[bucket], len(fresh) - start)
            buckets[start : start + taken] = bucket
            self._counts[bucket] += taken
            self._new.setdefault(bucket, []).append(fresh[start : start + taken])
            start += taken
        self._remember(
            np.concatenate([self._hashes, fresh]), np.concatenate([self._buckets, buckets])
        )

    def _open_bucket(self) -> int:
        for bucket, count in self._counts.items():
            if count < self._target:
                return bucket
        unused = next(i for i in range(len(self._counts) + 1) if i not in self._counts)
        if unused >= self._max:
            raise InvalidInputError(
                f"All {self._max} buckets of the partition are full.",
                hint="Increase 'dynamic-bucket.max-buckets' or 'dynamic-bucket.target-row-num'.",
            )
        self._counts[unused] = 0
        return unused

    def changed(self) -> Mapping[int, Hashes]:
        """All hashes of every bucket that got new ones."""
        none = np.zeros(0, np.int32)
        return {
            bucket: np.concatenate([self._old.get(bucket, none), *parts])
            for bucket, parts in self._new.items()
        }


def bucket_limit(option: int) -> int:
    """The most buckets by the value of `dynamic-bucket.max-buckets`, where -1 is no limit."""
    return LARGEST_BUCKET_COUNT if option < 0 else option
