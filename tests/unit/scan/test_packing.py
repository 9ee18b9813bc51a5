import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.scan.packing import pack


def test_files_fill_a_split_up_to_the_target() -> None:
    sizes = np.array([4, 4, 4, 9, 1], dtype=np.int64)
    assert pack(sizes, target=10, open_cost=1) == [(0, 2), (2, 3), (3, 5)]


def test_a_file_above_the_target_is_a_split_of_its_own() -> None:
    sizes = np.array([50, 1], dtype=np.int64)
    assert pack(sizes, target=10, open_cost=1) == [(0, 1), (1, 2)]


def test_small_files_count_at_least_the_open_cost() -> None:
    sizes = np.array([1, 1, 1], dtype=np.int64)
    assert pack(sizes, target=8, open_cost=4) == [(0, 2), (2, 3)]


def test_no_files_give_no_split() -> None:
    assert pack(np.array([], dtype=np.int64), target=8, open_cost=4) == []


@given(
    st.lists(st.integers(0, 100)),
    st.integers(1, 150),
    st.integers(0, 20),
)
def test_every_file_is_in_one_split_and_no_split_could_take_one_more(
    sizes: list[int], target: int, open_cost: int
) -> None:
    bins = pack(np.array(sizes, dtype=np.int64), target=target, open_cost=open_cost)
    assert [i for start, end in bins for i in range(start, end)] == list(range(len(sizes)))
    weights = [max(size, open_cost) for size in sizes]
    for start, end in bins:
        assert end - start == 1 or sum(weights[start:end]) <= target
        assert end == len(sizes) or sum(weights[start : end + 1]) > target
