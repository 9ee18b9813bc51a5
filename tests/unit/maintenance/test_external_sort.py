"""The external sort of index keys."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python, build_fixed
from paimon_explore.encoding.global_index.column_keys import SortKeys
from paimon_explore.maintenance.index_files.external_sort import sorted_keys


def parts(numbers: list[int], kind: str) -> Iterator[SortKeys]:
    """Rows in parts of different sizes."""
    sizes = iter(range(1, len(numbers) + 1))
    start = 0
    while start < len(numbers):
        some = numbers[start : start + next(sizes) % 37]
        keys = build_fixed(pa.int64(), np.array(some, np.int64))
        if kind == "texts":
            keys = pa.array([str(number).encode() for number in some], pa.binary())
        yield SortKeys(keys, np.arange(start, start + len(some)))
        start += len(some)


@pytest.mark.parametrize("kind", ["numbers", "texts"])
@pytest.mark.parametrize("different", [1, 3, 50, 100_000])
@pytest.mark.parametrize("run_bytes", [0, 300, 5_000, 1 << 20])
def test_rows_are_sorted_by_key_and_then_as_given(
    kind: str, different: int, run_bytes: int
) -> None:
    numbers = np.random.default_rng(different).integers(-different, different, 2_000).tolist()
    found = [*sorted_keys(parts(numbers, kind), run_bytes=run_bytes, block_rows=16)]
    keys = [str(number).encode() for number in numbers] if kind == "texts" else numbers
    expected = sorted(zip(keys, range(len(keys)), strict=True))
    rows = [pair for one in found for pair in zip(as_python(one.keys), one.row_ids, strict=True)]
    assert rows == expected
    ends = [(as_python(one.keys)[0], as_python(one.keys)[-1]) for one in found]
    assert all(before[1] < after[0] for before, after in pairwise(ends))  # type: ignore[operator]  # keys
    if run_bytes <= 5_000 and different > 3:
        assert len(found) > 10


def test_no_rows_are_no_parts() -> None:
    assert [*sorted_keys([])] == []
