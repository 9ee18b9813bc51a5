"""Which values are equal."""

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, last_of_each, rank_in_group

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "equal"),
    [
        (pa.array([1, 2, 1, None, None]), "aba--"),
        (pa.array([0.0, -0.0, NAN, NAN, None]), "abcc-"),
        (pa.array(["x", "", "x", None]), "aba-"),
        (pa.array([[1, 2], [1], [1, 2], [], None, [None], [2, 1]]), "abac-de"),
        (pa.array([{"a": 1, "b": None}, {"a": 1, "b": None}, {"a": None, "b": 1}, None]), "aab-"),
        (pa.array([[{"a": [1]}], [{"a": [1]}], [{"a": [2]}], [None]]), "aabc"),
        (pa.array([[(1, "x")], [(1, "y")], [(1, "x")]], pa.map_(pa.int32(), pa.string())), "aba"),
        (pa.array([[1.0, 2.0], [1.0, NAN], [1.0, NAN], None], pa.list_(pa.float64(), 2)), "abb-"),
        (pa.array([True, False, True]), "aba"),
    ],
)
def test_equal_values_get_equal_codes(values: Column, equal: str) -> None:
    found = codes(values).tolist()
    names: dict[int, str] = {-1: "-"}
    for code in found:
        names.setdefault(code, "abcdefg"[len(names) - 1])
    assert "".join(names[code] for code in found) == equal


def test_slices_have_codes_of_their_own_values() -> None:
    values = pa.array([[9], [1, 2], [1, 2], [3]]).slice(1, 3)
    first, second, third = codes(values).tolist()
    assert first == second != third


def test_the_first_and_last_entry_of_each_value_of_a_group_are_found() -> None:
    groups = np.array([0, 0, 0, 1, 1])
    values = np.array([5, 3, 5, 5, 5])
    firsts, lasts = last_of_each(groups, values)
    assert (firsts.tolist(), lasts.tolist()) == ([0, 1, 3], [2, 1, 4])


def test_entries_are_counted_within_their_group() -> None:
    assert rank_in_group(np.array([0, 0, 2, 2, 2])).tolist() == [0, 1, 0, 1, 2]


def test_ranks_number_different_values_from_the_smallest() -> None:
    assert ranks([pa.array([30, None, 10, 30])], count=4).tolist() == [2, 0, 1, 2]
