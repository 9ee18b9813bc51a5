"""The order of keys and the groups of rows that share one."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.merge.keys.key_groups import group_rows, group_tied_rows, ranks
from paimon_explore.merge.keys.normalized_keys import key_source, normalized_keys
from paimon_explore.merge.numpy_columns import index_array
from paimon_explore.merge.sort_merge import key_at, rows_up_to
from support.merging import column_of
from support.ordered_values import IN_ORDER, type_of


@pytest.mark.parametrize("kind", IN_ORDER)
def test_values_sort_as_java_compares_them(kind: str) -> None:
    values = IN_ORDER[kind]
    shuffled = [values[at] for at in np.random.default_rng(3).permutation(len(values))]
    column = column_of(shuffled, type_of(kind))
    groups = group_rows([column], count=len(column))
    found = as_python(column.take(index_array(groups.order)))
    assert [repr(value) for value in found] == [
        repr(value) for value in as_python(column_of(values, type_of(kind)))
    ]
    assert groups.starts.tolist() == list(range(len(values)))


@pytest.mark.parametrize("kind", IN_ORDER)
def test_single_keys_compare_in_the_same_order(kind: str) -> None:
    column = column_of(IN_ORDER[kind], type_of(kind))
    keys = [key_at([column], row) for row in range(len(column))]
    assert all(first < second for first, second in pairwise(keys))
    assert [rows_up_to([column], key, count=len(column)) for key in keys] == list(
        range(1, len(column) + 1)
    )


@pytest.mark.parametrize("kind", IN_ORDER)
def test_a_row_alone_is_a_group(kind: str) -> None:
    for value in IN_ORDER[kind]:
        assert ranks([column_of([value], type_of(kind))], count=1).tolist() == [0]


@pytest.mark.parametrize("bits", range(57, 64))
def test_keys_of_any_range_are_sorted(bits: int) -> None:
    column = column_of([2**bits - 1, 0, 2 ** (bits - 1)], "BIGINT")
    assert group_rows([column], count=3).order.tolist() == [1, 2, 0]


def test_nan_of_any_bits_is_one_key_and_the_greatest() -> None:
    bits = [
        0xFFF8_0000_0000_0001,
        0x7FF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0x7FF0_0000_0000_0001,
    ]
    column = pa.array(np.array(bits, np.uint64).view(np.float64))
    assert ranks([column], count=4).tolist() == [1, 0, 1, 1]


def test_keys_are_compared_column_by_column_and_equal_ones_keep_their_order() -> None:
    first = column_of(["b", "a", "b", "a", "b"], "STRING")
    second = column_of([1, 2, 1, 1, 0], "INT")
    groups = group_rows([first, second], count=5)
    assert groups.order.tolist() == [3, 1, 4, 0, 2]
    assert groups.starts.tolist() == [0, 1, 2, 3]
    assert groups.sizes.tolist() == [1, 1, 1, 2]
    assert groups.lasts.tolist() == [0, 1, 2, 4]


def test_rows_of_a_key_are_ordered_by_further_words_that_make_no_groups() -> None:
    keys = column_of([7, 7, 5, 7], "INT")
    numbers = np.array([3, 1, 0, 2])
    groups = group_tied_rows([keys], [key_source(numbers)], count=4)[0]
    assert groups.order.tolist() == [2, 1, 3, 0]
    assert groups.starts.tolist() == [0, 1]


def test_long_texts_that_differ_in_their_last_byte_only_are_different_keys() -> None:
    texts = [f"{'x' * 35}{end}" for end in "cab"]
    assert ranks([column_of(texts, "STRING")], count=3).tolist() == [2, 0, 1]


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 31])
def test_texts_of_one_length_sort_by_any_of_their_bytes(length: int) -> None:
    texts = ["m" * at + letter + "m" * (length - at - 1) for at in range(length) for letter in "az"]
    found = ranks([column_of(texts, "STRING")], count=len(texts))
    assert [sorted(texts).index(text) for text in texts] == found.tolist()


def test_sliced_columns_are_seen_from_where_the_slice_begins() -> None:
    for kind, values in IN_ORDER.items():
        column = column_of([*values, *values], type_of(kind)).slice(len(values) - 2, 4)
        expected = [len(values) - 2, len(values) - 1, 0, 1]
        places = {place: rank for rank, place in enumerate(sorted(set(expected)))}
        assert ranks([column], count=4).tolist() == [places[at] for at in expected], kind


def test_descending_words_turn_values_but_leave_null_first() -> None:
    column = column_of([1, None, 3, 2], "INT")
    groups = group_tied_rows([], list(normalized_keys(column, descending=True)), count=4)[0]
    assert groups.order.tolist() == [1, 2, 3, 0]


def test_no_rows_make_no_groups() -> None:
    groups = group_rows([column_of([], "STRING")], count=0)
    assert (groups.order.tolist(), groups.starts.tolist(), groups.lasts.tolist()) == ([], [], [])


def test_without_key_columns_all_rows_are_one_group() -> None:
    assert group_rows([], count=3).starts.tolist() == [0]


def test_nested_values_have_no_order() -> None:
    with pytest.raises(UnsupportedFeatureError, match="list"):
        group_rows([pa.array([[1]])], count=1)


@pytest.mark.parametrize("far", [0, 2**62])
def test_equal_words_stay_as_they_came_in_whatever_range(far: int) -> None:
    keys = column_of([5, 3, 5, far + 3, 3, -far], "BIGINT")
    groups = group_rows([keys], count=6)
    assert groups.order.tolist() == ([5, 1, 3, 4, 0, 2] if not far else [5, 1, 4, 0, 2, 3])
    assert groups.starts.tolist() == ([0, 1, 4] if not far else [0, 1, 3, 5])
