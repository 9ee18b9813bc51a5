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


def test_more_keys_than_buckets_may_hold_are_refused() -> None:
    assigner = HashAssigner({}, target_rows=1, max_buckets=2)
    with pytest.raises(InvalidInputError, match="All 2 buckets"):
        assigner.assign(hashes(1, 2, 3))


def test_no_limit_means_the_largest_number_of_buckets() -> None:
    assert (bucket_limit(-1), bucket_limit(4)) == (32767, 4)
