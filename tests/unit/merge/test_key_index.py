"""The numbers of the keys of sorted parts."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import FormatError
from paimon_explore.merge.keys.key_index import number_keys, winners
from support.merging import column_of


def numbered(parts: Sequence[Sequence[Column]]) -> list[list[int]]:
    """Numbers without gaps, as lists."""
    return [part.tolist() for part in number_keys(parts).without_gaps().parts]


def expected(parts: Sequence[Sequence[tuple[object, ...]]]) -> list[list[int]]:
    """The place of each key among all different ones."""
    known = sorted({key for part in parts for key in part})
    return [[known.index(key) for key in part] for part in parts]


def test_near_integers_are_their_own_numbers() -> None:
    slots = number_keys([[pa.array([-3, 1, 4])], [pa.array([1, 9])]])
    assert [part.tolist() for part in slots.parts] == [[0, 4, 7], [4, 12]]
    assert slots.count == 13
    assert numbered([[pa.array([-3, 1, 4])], [pa.array([1, 9])]]) == [[0, 1, 2], [1, 3]]


def test_integers_over_the_whole_range_are_ranked() -> None:
    low, high = -(2**63), 2**63 - 1
    parts = [[pa.array([low, 0, high])], [pa.array([low, high - 1])]]
    assert numbered(parts) == [[0, 1, 3], [0, 2]]


def test_keys_out_of_order_stay_inside_of_the_flags() -> None:
    slots = number_keys([[pa.array([5, 6, 7], pa.int32())], [pa.array([9, 1, 7], pa.int32())]])
    masks = slots.winners(newest=True)
    assert [mask.tolist() for mask in masks] == [[True, True, False], [True] * 3]


@pytest.mark.parametrize("far", [1, 2**40])
def test_the_last_or_the_first_part_that_has_a_key_wins(far: int) -> None:
    parts = [[pa.array([0, 2 * far])], [pa.array([1, 2 * far])]]
    newest = [mask.tolist() for mask in winners(parts, newest=True)]
    oldest = [mask.tolist() for mask in winners(parts, newest=False)]
    assert newest == [[True, False], [True, True]]
    assert oldest == [[True, True], [True, False]]


def test_wide_integers_are_cut_at_common_keys() -> None:
    rng = np.random.default_rng(7)
    keys = np.unique(rng.integers(-(2**63), 2**63 - 1, 60_000))
    parts = [np.sort(rng.choice(keys, size, replace=False)) for size in (50_000, 20_000, 1)]
    columns = [[column_of(part.tolist(), "BIGINT")] for part in parts]
    every = np.unique(np.concatenate(parts))
    found = number_keys(columns).parts
    assert all(
        (got == np.searchsorted(every, part)).all() for got, part in zip(found, parts, strict=True)
    )
    masks = winners(columns, newest=True)
    assert masks[2].all()
    assert (masks[1] == ~np.isin(parts[1], parts[2])).all()
    assert (masks[0] == ~np.isin(parts[0], np.concatenate(parts[1:]))).all()


def paths(folders: Sequence[str], numbers: Sequence[int]) -> list[str]:
    return sorted(f"/data/{folder}/item-{number}" for folder in folders for number in numbers)


def identifiers(folders: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """Keys of one length, of which many differ in the last bytes only."""
    return sorted(
        f"{number % 5:08d}-{number:012d}-{f[-3:]:3}" for f in folders for number in numbers
    )


@pytest.mark.parametrize("form", [paths, identifiers])
def test_texts_of_several_folders_are_numbered_in_order(
    form: Callable[[Sequence[str], Sequence[int]], list[str]],
) -> None:
    folders = ("garden", "kitchen", "kitchenware", "office", "")
    texts = [form(folders, range(at, 3_000, 2 + at)) for at in range(3)]
    every = np.unique(np.concatenate(texts))
    columns = [[pa.array(["", *part]).slice(1)] for part in texts]
    found = number_keys(columns).without_gaps().parts
    for got, part in zip(found, texts, strict=True):
        assert (got == np.searchsorted(every, part)).all()
    masks = winners(columns, newest=True)
    assert masks[2].all()
    assert (masks[1] == ~np.isin(texts[1], texts[2])).all()
    assert (masks[0] == ~np.isin(texts[0], np.concatenate(texts[1:]))).all()


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("DECIMAL(10, 2)", [["-1.50", "2.25"], ["2.25", "9.00"]]),
        ("DECIMAL(38, 2)", [["-1.50", "2.25"], ["2.25", "9.00"]]),
        ("DOUBLE", [[-1.5, 0.0, 2.0], [0.0, 7.0]]),
        ("BOOLEAN", [[False, True], [True]]),
        ("STRING", [["", "a", "a\0", "ab"], ["a", "a\0", "b"]]),
    ],
)
def test_keys_of_other_types_are_ranked(kind: str, parts: list[list[object]]) -> None:
    columns: list[list[Column]] = []
    for part in parts:
        digits = kind.startswith("DECIMAL")
        texts = column_of(part, "STRING" if digits else kind)
        columns.append([texts.cast(to_arrow(parse_type(kind, "test"))) if digits else texts])
    assert numbered(columns) == expected([[(value,) for value in part] for part in parts])


def test_a_null_in_a_key_comes_first() -> None:
    assert numbered([[pa.array([None, 1])], [pa.array([1, 2])]]) == [[0, 1], [1, 2]]
    assert numbered([[pa.array([None, "a"])], [pa.array(["a", "b"])]]) == [[0, 1], [1, 2]]


TEXT = st.one_of(
    st.text("ab\0", max_size=20),
    st.text("ab", min_size=12, max_size=12),
    st.text("ab", max_size=12).map(lambda rest: "a long common begin of all " + rest),
)


@given(st.lists(st.lists(TEXT, min_size=1, max_size=30, unique=True), min_size=1, max_size=4))
def test_texts_of_any_length_are_ranked_by_bytes(parts: list[list[str]]) -> None:
    sorted_parts = [sorted(part) for part in parts]
    columns = [[column_of(part, "STRING")] for part in sorted_parts]
    assert numbered(columns) == expected([[(text,) for text in part] for part in sorted_parts])


@given(
    st.lists(
        st.lists(st.text("0123456789abcdef", min_size=36, max_size=36), min_size=1, unique=True),
        min_size=2,
        max_size=3,
    ),
    st.booleans(),
)
def test_texts_of_one_length_that_differ_late_are_told_apart(
    parts: list[list[str]],
    late: bool,  # noqa: FBT001 - drawn
) -> None:
    cut = [sorted({text[-3:].rjust(36, "0") if late else text for text in part}) for part in parts]
    columns = [[column_of(part, "STRING")] for part in cut]
    assert numbered(columns) == expected([[(text,) for text in part] for part in cut])


def test_equal_words_with_different_rests_are_sorted_by_the_rest() -> None:
    parts = [
        ["x00000000-b-1", "x00000000-b-3", "y"],
        ["x00000000-a-7", "x00000000-b-1", "x00000000-b-30"],
    ]
    columns = [[column_of(part, "STRING")] for part in parts]
    assert numbered(columns) == [[1, 2, 4], [0, 1, 3]]


def test_long_parts_are_cut_at_common_keys() -> None:
    rng = np.random.default_rng(5)
    keys = [f"https://example.com/{kind}/{at}" for kind in ("a", "bb") for at in range(15_000)]
    parts = [sorted(rng.choice(keys, size, replace=False)) for size in (20_000, 9_000, 1)]
    rank = {key: at for at, key in enumerate(sorted({key for part in parts for key in part}))}
    found = numbered([[column_of(part, "STRING")] for part in parts])
    assert found == [[rank[key] for key in part] for part in parts]


KEY_COLUMNS = {
    "INT": st.integers(-(2**31), 2**31 - 1) | st.integers(0, 3),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DOUBLE": st.floats(allow_nan=False).map(lambda number: number + 0.0),
    "BOOLEAN": st.booleans(),
    "STRING": TEXT,
    "STRING of one length": st.text("abc", min_size=9, max_size=9),
    "STRING of few values": st.sampled_from(["", "a", "b"]),
    "DECIMAL(38, 0)": st.integers(-(2**99), 2**99),
}


@given(st.data(), st.lists(st.sampled_from(list(KEY_COLUMNS)), min_size=2, max_size=3))
def test_keys_of_several_columns_are_ranked(data: st.DataObject, kinds: list[str]) -> None:
    key = st.tuples(*(KEY_COLUMNS[kind] for kind in kinds))
    drawn = st.lists(st.lists(key, min_size=1, unique=True).map(sorted), min_size=1, max_size=3)
    parts = data.draw(drawn)
    types = [to_arrow(parse_type(kind.partition(" of ")[0], "test")) for kind in kinds]
    columns = [
        list(map(pa.array, zip(*part, strict=True), types))  # the values and the type of each
        for part in parts
    ]
    assert numbered(columns) == expected(parts)


@pytest.mark.parametrize("form", ["tenant of the number", "the number and the tenant"])
def test_long_parts_with_keys_of_texts_and_numbers_are_cut_at_common_keys(form: str) -> None:
    rng = np.random.default_rng(3)
    tenants = [f"tenant-{at}" for at in range(20)]
    keys: list[tuple[object, ...]] = [
        (tenants[at % 20], f"{at * 7919 % 15_000:08x}", at // 3) for at in range(15_000)
    ]
    if form == "the number and the tenant":
        keys = [key[::-1] for key in keys]
    parts = [
        sorted(keys[at] for at in rng.choice(len(keys), size, replace=False))
        for size in (9_000, 8_000, 1)
    ]
    columns = [[pa.array(values) for values in zip(*part, strict=True)] for part in parts]
    rank = {key: at for at, key in enumerate(sorted({key for part in parts for key in part}))}
    assert numbered(columns) == [[rank[key] for key in part] for part in parts]


def test_texts_shorter_than_what_all_should_share_are_refused() -> None:
    parts = [[column_of(["aaaaaaaaaa", "", "aaaaaaaaab"], "STRING")]] * 2
    with pytest.raises(FormatError, match="not in key order"):
        number_keys(parts)


def test_slices_of_columns_are_told_apart_from_their_buffers() -> None:
    texts = column_of(["a", "bcdefgh-1", "bcdefgh-2", "z"], "STRING")
    assert numbered([[texts.slice(1, 2)], [texts.slice(2, 2)]]) == [[0, 1], [1, 2]]
