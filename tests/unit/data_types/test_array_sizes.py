"""Batches with more bytes than a column of a table can have are divided."""

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_list,
    decoded_size,
    within_size,
)

TEXTS = [None if at % 7 == 3 else "x" * (at % 50) for at in range(200)]
LISTS = [None if text is None else [text, "y"] for text in TEXTS]
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


def test_lists_with_more_elements_than_arrow_counts_are_refused() -> None:
    offsets, valid = np.array([0, 2**31]), np.ones(1, np.bool_)

    with pytest.raises(pa.ArrowCapacityError, match="1 lists have 2147483648 elements"):
        build_list(pa.list_(pa.null()), offsets, [pa.nulls(0)], valid)
