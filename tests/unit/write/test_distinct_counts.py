"""Counts of distinct values agree with Arrow's."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.write.formats.parquet_format import bit_width, distinct_counts

NAN = float("nan")


def columns(rows: int) -> list[Column]:
    """Columns of all widths, with and without nulls, sliced and not."""
    numbers = np.random.default_rng(1).integers(0, max(rows // 3, 2), rows + 1)
    nulls = np.arange(rows + 1) % 5 == 0
    found: list[Column] = []
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()):
        wide = pa.array(numbers, pa.int64()).cast(kind, safe=False)
        found += [wide.slice(1), wide.slice(0, rows)]
        found.append(pc.if_else(pa.array(nulls), pa.nulls(rows + 1, kind), wide).slice(1))
    found.append(pa.array([NAN, -0.0, 0.0, 1.0] * rows, pa.float64()).slice(1, rows))
    texts = pa.array([str(number) for number in numbers.tolist()])
    found += [texts.slice(1), texts.cast(pa.binary()).slice(1), pa.array(numbers % 2 == 0).slice(1)]
    found.append(pa.array([None, "a"] * rows, pa.string()).slice(1, rows))
    found.append(pa.array(numbers).cast(pa.decimal128(20, 0)).slice(1))
    return found


@pytest.mark.parametrize("rows", [1, 2, 25, 64, 65, 3000])
def test_counts_agree_with_arrow(rows: int) -> None:
    made = columns(rows)
    expected = [pc.count_distinct(column, mode="all").as_py() for column in made]
    assert distinct_counts(made, [bit_width(column.type) for column in made]) == expected
    alone = [distinct_counts([column], [bit_width(column.type)])[0] for column in made]
    assert alone == expected
