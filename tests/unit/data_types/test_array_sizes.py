"""Batches with more bytes than a column of a table can have are divided."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types import array_sizes
from paimon_explore.data_types.array_sizes import decoded_size, taken, within_size
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_list,
    build_var,
)
from paimon_explore.errors import InvalidInputError
from support.small_tables import append_table, columns

TEXTS = [None if at % 7 == 3 else "x" * (at % 50) for at in range(200)]
LISTS = [None if text is None else [text, "y"] for text in TEXTS]
ONE = np.ones(1, np.bool_)
BYTES = sum(len(text or "") for text in TEXTS)
COLUMNS: dict[str, Column] = {
    "text": pa.array(TEXTS),
    "large": pa.array(TEXTS, pa.large_string()),
    "view": pa.array(TEXTS, pa.string_view()),
    "categories": pa.array(TEXTS).dictionary_encode(),
    "categories of views": pa.DictionaryArray.from_arrays(
        pa.array(range(200), pa.int32()), pa.array(TEXTS, pa.string_view())
    ),
    "lists": pa.array(LISTS),
    "large lists": pa.array(LISTS, pa.large_list(pa.large_string())),
    "maps": pa.array(
        [None if text is None else [("k", text)] for text in TEXTS],
        pa.map_(pa.string(), pa.string()),
    ),
    "rows": pa.array([{"a": text, "b": 1} for text in TEXTS]),
    "uuids": pa.array([b"0" * 16] * 200, pa.uuid()),
}


@pytest.mark.parametrize("array", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize(("first", "count"), [(0, 200), (33, 100), (200, 0)])
def test_no_part_of_a_batch_has_more_bytes(array: Column, first: int, count: int) -> None:
    batch = pa.record_batch({"n": pa.array(range(200)), "v": array}).slice(first, count)

    parts = [*within_size(batch, 800)]

    assert all(decoded_size(part["v"]) <= 800 for part in parts)
    assert len(parts) > 1 or not count
    assert (
        pa.Table.from_batches(parts)
        .combine_chunks()
        .equals(pa.Table.from_batches([batch]).combine_chunks())
    )


def test_encoded_values_count_with_the_bytes_that_they_decode_to() -> None:
    for name in ("view", "categories", "categories of views"):
        assert decoded_size(COLUMNS[name]) == BYTES


def test_a_small_batch_and_a_large_row_stay_whole() -> None:
    batch = pa.record_batch({"v": ["x" * 100]})

    assert [*within_size(batch, 10)] == [batch]
    assert next(within_size(batch)) is batch


@pytest.mark.parametrize(
    "build",
    [
        lambda offsets: build_list(pa.list_(pa.null()), offsets, [pa.nulls(0)], ONE),
        lambda offsets: build_var(pa.string(), offsets, np.zeros(0, np.uint8)),
    ],
    ids=["list", "text"],
)
def test_values_beyond_32_bit_offsets_are_refused(build: Callable[[Ints], Column]) -> None:
    with pytest.raises(pa.ArrowCapacityError, match="1 values end at 2147483648"):
        build(np.array([0, 2**31]))


@pytest.mark.parametrize("name", sorted(COLUMNS.keys() - {"view"}))  # which Arrow cannot take
def test_rows_are_taken_from_several_batches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pa.record_batch({"n": pa.array(range(200)), "v": COLUMNS[name]})
    batches = [whole.slice(0, 50), whole.slice(50, 1), whole.slice(51, 0), whole.slice(51)]
    positions = np.random.default_rng(3).permutation(200)[:150]
    expected = pa.Table.from_batches([whole]).take(positions).combine_chunks()

    assert pa.Table.from_batches(taken(batches, positions)).combine_chunks() == expected
    monkeypatch.setattr(array_sizes, "_MAX_BYTES", 800)
    parts = [*taken(batches, positions)]
    assert len(parts) > 1
    assert all(decoded_size(part["v"]) <= 800 for part in parts)
    assert pa.Table.from_batches(parts).combine_chunks() == expected


def test_a_row_is_taken_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_sizes, "_MAX_BYTES", 2)
    batch = pa.record_batch({"v": ["abc", "d"]})

    assert [part["v"].to_pylist() for part in taken([batch], np.array([1, 0]))] == [["d"], ["abc"]]


def test_states_that_no_array_can_have_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    table = append_table(
        columns(k=pa.int32(), s=pa.string()), [{"k": 1, "s": "x" * 90}], [{"k": 2, "s": "y" * 20}]
    )
    table.compact()
    table.delete("k = 1")
    monkeypatch.setattr(array_sizes, "_MAX_BYTES", 100)
    with pytest.raises(InvalidInputError, match=r"'s' has more than 2 GiB .* where="):
        table.between(2, 4, mode="diff").to_arrow()
    found = table.between(2, 4, mode="diff", where="k = 2").to_arrow()
    assert found.num_rows == 0
