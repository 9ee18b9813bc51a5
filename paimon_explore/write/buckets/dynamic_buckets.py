"""Assignment of keys to the dynamic buckets of a partition.

The hash index files of the buckets list the hashes of all keys of a partition. A known hash keeps
its bucket; a new one goes to the first bucket that is not full, or to a new bucket with the lowest
unused number. Once `dynamic-bucket.max-buckets` buckets are full, they share further keys evenly;
Java chooses one of them at random for each key. Keys with equal hashes share a bucket.

Only one job may assign buckets of a table at a time.

Spec: primary-key-table/data-distribution, dynamic bucket. Seen in: golden java200/pk_dynamic.
"""

from collections.abc import Collection, Mapping
from itertools import count

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import InvalidInputError

Hashes = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int32]

MAX_BUCKET_COUNT = 32767
_BUCKET_BITS = 15


class HashAssigner:
    """Assigns the keys of one partition to buckets.

    Args:
        known: key hashes by bucket, from the hash index files.
        target_rows: number of keys at which a bucket is full.
        max_buckets: number of buckets that share all keys once they are full; None for no limit.
    """

    def __init__(
        self, known: Mapping[int, Hashes], *, target_rows: int, max_buckets: int | None
    ) -> None:
        self._target = target_rows
        self._max = max_buckets
        self._counts = {bucket: len(hashes) for bucket, hashes in sorted(known.items())}
        self._old = dict(known)
        self._new: dict[int, list[Hashes]] = {}
        packed = [
            (hashes.astype(np.int64) << _BUCKET_BITS) | bucket for bucket, hashes in known.items()
        ]
        ordered = np.sort(np.concatenate([*packed, np.zeros(0, np.int64)]))
        self._hashes = (ordered >> _BUCKET_BITS).astype(np.int32)
        self._buckets = (ordered & MAX_BUCKET_COUNT).astype(np.int32)

    def assign(self, hashes: Hashes) -> Buckets:
        """Return the bucket of each key; assign new keys to buckets.

        Args:
            hashes: hashes of n keys in input order.

        Raises:
            InvalidInputError: without a limit, the keys need more buckets than a table can have.
        """
        distinct, firsts, groups = np.unique(hashes, return_index=True, return_inverse=True)
        places = np.searchsorted(self._hashes, distinct)
        is_new = places == len(self._hashes)
        is_new[~is_new] = self._hashes[places[~is_new]] != distinct[~is_new]
        if is_new.any():
            in_order = np.argsort(firsts[is_new])
            buckets = np.empty(len(in_order), np.int32)
            buckets[in_order] = self._add(distinct[is_new][in_order])
            self._hashes = np.insert(self._hashes, places[is_new], distinct[is_new])
            self._buckets = np.insert(self._buckets, places[is_new], buckets)
            places = np.searchsorted(self._hashes, distinct)
        return self._buckets[places][groups]

    def _add(self, hashes: Hashes) -> Buckets:
        """Return the buckets of new hashes, which they fill in this order."""
        buckets = np.empty(len(hashes), np.int32)
        start = 0
        while start < len(hashes):
            bucket = self._bucket_with_room(len(hashes) - start)
            count = min(self._target - self._counts[bucket], len(hashes) - start)
            buckets[start : start + count] = bucket
            self._counts[bucket] += count
            self._new.setdefault(bucket, []).append(hashes[start : start + count])
            start += count
        return buckets

    def _bucket_with_room(self, needed: int) -> int:
        """Return the bucket for the next of this number of new keys."""
        for bucket, keys in self._counts.items():
            if keys < self._target:
                return bucket
        unused = next(i for i in count() if i not in self._counts)
        if unused < (self._max or MAX_BUCKET_COUNT):
            self._counts[unused] = 0
            return unused
        if self._max is None:
            raise too_many_buckets()
        self._target = shared_target(self._counts.values(), needed)
        return self._bucket_with_room(needed)

    def changed(self) -> Mapping[int, Hashes]:
        """Return all hashes of each bucket that has new ones."""
        none = np.zeros(0, np.int32)
        return {
            bucket: np.concatenate([self._old.get(bucket, none), *parts])
            for bucket, parts in self._new.items()
        }


def too_many_buckets() -> InvalidInputError:
    """Return the error for keys that need more buckets than a partition can have."""
    return InvalidInputError(
        f"All {MAX_BUCKET_COUNT} buckets of the partition are full.",
        hint="Increase 'dynamic-bucket.target-row-num', or set 'dynamic-bucket.max-buckets'.",
    )


def bucket_limit(option: int) -> int | None:
    """Return the maximum number of buckets for `dynamic-bucket.max-buckets`; None for -1."""
    return option if option > 0 else None


def shared_target(counts: Collection[int], needed: int) -> int:
    """Return the number of keys of each bucket if full buckets share further keys evenly."""
    return -(-(sum(counts) + needed) // len(counts))
