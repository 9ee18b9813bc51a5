"""Which bucket new keys of a dynamic-bucket table go to."""

import numpy as np
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.write.buckets.dynamic_buckets import HashAssigner, bucket_limit


def hashes(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    return np.array(values, np.int32)


def test_new_keys_fill_buckets_in_the_order_they_come() -> None:
    assigner = HashAssigner({}, target_rows=2, max_buckets=10)
    assert assigner.assign(hashes(0, -5, 0, 7, 7, 1)).tolist() == [0, 0, 0, 1, 1, 1]
    assert {b: h.tolist() for b, h in assigner.changed().items()} == {0: [0, -5], 1: [7, 1]}


def test_known_keys_stay_in_their_bucket() -> None:
    assigner = HashAssigner({0: hashes(1, 2), 1: hashes(3)}, target_rows=2, max_buckets=10)
    assert assigner.assign(hashes(3, 2, 1)).tolist() == [1, 0, 0]
    assert assigner.changed() == {}


def test_a_bucket_that_is_not_full_is_filled_first() -> None:
    assigner = HashAssigner({0: hashes(1, 2), 1: hashes(3)}, target_rows=2, max_buckets=10)
    assert assigner.assign(hashes(4, 5)).tolist() == [1, 2]
    assert {b: h.tolist() for b, h in assigner.changed().items()} == {1: [3, 4], 2: [5]}


def test_the_lowest_unused_bucket_is_opened() -> None:
    assigner = HashAssigner({2: hashes(1)}, target_rows=1, max_buckets=10)
    assert assigner.assign(hashes(5, 6, 7)).tolist() == [0, 1, 3]


def test_keys_remembered_from_one_batch_are_known_in_the_next() -> None:
    assigner = HashAssigner({}, target_rows=2, max_buckets=10)
    assigner.assign(hashes(1, 2, 3))
    assert assigner.assign(hashes(3, 4, 1)).tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("existing", "shares"),
    [
        ({}, {0: 8, 1: 8}),
        ({0: [1], 1: [2]}, {0: 8, 1: 8}),
        ({0: [1, 2, 3], 1: [4]}, {0: 8, 1: 8}),
        ({0: [1], 7: [2]}, {0: 6, 1: 4, 7: 6}),
    ],
)
def test_full_buckets_share_further_keys_evenly(
    existing: dict[int, list[int]], shares: dict[int, int]
) -> None:
    known = {bucket: hashes(*keys) for bucket, keys in existing.items()}
    assigner = HashAssigner(known, target_rows=1, max_buckets=2)
    buckets = assigner.assign(hashes(*range(1, 13))).tolist()
    assert assigner.assign(hashes(*range(1, 17))).tolist()[:12] == buckets
    assert {bucket: len(keys) for bucket, keys in assigner.changed().items()} == shares


def test_without_a_limit_as_many_buckets_are_made_as_a_table_can_have() -> None:
    full = {bucket: hashes(bucket) for bucket in range(32766)}
    assigner = HashAssigner(full, target_rows=1, max_buckets=bucket_limit(-1))
    assert assigner.assign(hashes(40000)).tolist() == [32766]
    with pytest.raises(
        InvalidInputError, match=r"All 32767 buckets of the partition are full\. Increase"
    ):
        assigner.assign(hashes(40001))
