"""Chosen rows of a row group through its pages."""

import io
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.data_file_reader import PagedRows, PagesError
from paimon_explore.encoding.parquet.reader import open_parquet
from support.files import stored

ROWS = 1_000
COLUMNS: Mapping[str, Column] = {
    "n": pa.array(range(ROWS), pa.int64()),
    "s": pa.array([None if n % 7 == 0 else f"t{n % 90}" for n in range(ROWS)]),
    "a": pa.array([[n] for n in range(ROWS)]),
}


def group(*, span: int = 0, index: bool = True, size: int = 10_000) -> PagedRows:
    out = io.BytesIO()
    pq.write_table(
        pa.table(dict(COLUMNS)),
        out,
        row_group_size=size,
        data_page_size=1,
        write_batch_size=100,
        write_page_index=index,
    )
    file = open_parquet(pa.BufferReader(out.getvalue()), "/t/f.parquet")
    file.paged_bytes = 0
    found = file.paged([stored("n", "BIGINT"), stored("s", "STRING")], span)
    assert found is not None
    return found


@pytest.mark.parametrize("index", [True, False])
def test_rows_come_from_their_pages_by_index_or_headers(*, index: bool) -> None:
    rows = np.array([3, 250, 251, 999])
    pages = group(index=index)
    assert as_python(pages.values(stored("n", "BIGINT"), rows)) == [3, 250, 251, 999]
    assert as_python(pages.values(stored("s", "STRING"), rows)) == ["t3", "t70", "t71", "t9"]
    assert pages.share(stored("n", "BIGINT"), rows) == pytest.approx(0.3)


def test_rows_are_positions_in_the_file() -> None:
    pages = group(span=1, size=400)
    rows = np.arange(450, 460)
    assert as_python(pages.values(stored("n", "BIGINT"), rows)) == [*range(450, 460)]
    with pytest.raises(PagesError):
        pages.values(stored("n", "BIGINT"), np.array([399, 450]))


def test_bounds_of_pages_are_told_where_there_is_an_index() -> None:
    found = group(span=1, size=400).bounds(stored("n", "BIGINT"))
    assert found is not None
    assert found.firsts.tolist() == [400, 500, 600, 700, 800]
    assert as_python(found.bounds.minimum) == [400, 500, 600, 700]
    assert as_python(found.bounds.maximum) == [499, 599, 699, 799]
    assert as_python(found.bounds.null_count) == [0, 0, 0, 0]
    assert group(index=False).bounds(stored("n", "BIGINT")) is None


def test_bounds_of_another_type_than_the_readers_are_not_told() -> None:
    assert group().bounds(stored("n", "INT")) is None


def test_columns_with_members_are_left_to_the_row_group() -> None:
    with pytest.raises(PagesError):
        group().values(stored("a", {"type": "ARRAY", "element": "BIGINT"}), np.array([1]))


def test_small_row_groups_have_no_pages() -> None:
    out = io.BytesIO()
    pq.write_table(pa.table(dict(COLUMNS)), out)
    file = open_parquet(pa.BufferReader(out.getvalue()), "/t/f.parquet")
    assert file.paged([stored("n", "BIGINT")], 0) is None
