from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.scan.splits.split_generator import pack

ONE = np.zeros(9, dtype=np.int64)


def test_files_fill_a_split_up_to_the_target() -> None:
    sizes = np.array([4, 4, 4, 9, 1], dtype=np.int64)
    assert pack(sizes, ONE[:5], target=10, open_cost=1).tolist() == [0, 2, 3, 5]


def test_a_file_above_the_target_is_a_split_of_its_own() -> None:
    sizes = np.array([50, 1], dtype=np.int64)
    assert pack(sizes, ONE[:2], target=10, open_cost=1).tolist() == [0, 1, 2]


def test_small_files_count_at_least_the_open_cost() -> None:
    sizes = np.array([1, 1, 1], dtype=np.int64)
    assert pack(sizes, ONE[:3], target=8, open_cost=4).tolist() == [0, 2, 3]


def test_no_files_give_no_split() -> None:
    assert pack(ONE[:0], ONE[:0], target=8, open_cost=4).tolist() == [0]


def test_huge_sizes_are_not_added_up() -> None:
    sizes = np.array([2**62, 2**62, 2**62, 1], dtype=np.int64)
    assert pack(sizes, ONE[:4], target=8, open_cost=4).tolist() == [0, 1, 2, 3, 4]


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 3))),
    st.integers(1, 150),
    st.integers(0, 20),
)
def test_every_file_is_in_one_split_and_no_split_could_take_one_more(
    items: list[tuple[int, int]], target: int, open_cost: int
) -> None:
    items = sorted(items, key=lambda item: item[1])
    sizes = np.array([size for size, _ in items], dtype=np.int64)
    groups = np.array([group for _, group in items], dtype=np.int64)
    bounds = pack(sizes, groups, target=target, open_cost=open_cost).tolist()
    assert (bounds[0], bounds[-1]) == (0, len(items))
    weights = [max(size, open_cost) for size, _ in items]
    for start, end in pairwise(bounds):
        assert end > start
        assert len(set(groups[start:end].tolist())) == 1
        assert end - start == 1 or sum(weights[start:end]) <= target
        is_last = end == len(items) or groups[end] != groups[start]
        assert is_last or sum(weights[start : end + 1]) > target


def test_many_items_are_packed_as_few_are() -> None:
    sizes = np.random.default_rng(3).integers(1, 60, 200_000)
    groups = np.arange(len(sizes)) // 70_000
    expected, size = [0], 0
    for at, (item, group) in enumerate(zip(sizes.tolist(), groups.tolist(), strict=True)):
        weight = max(item, 5)
        if at and (size + weight > 100 or group != groups[at - 1]):
            expected.append(at)
            size = 0
        size += weight
    assert pack(sizes, groups, target=100, open_cost=5).tolist() == [*expected, len(sizes)]
