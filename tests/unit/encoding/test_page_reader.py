"""Chosen rows of a row group through its pages."""

import io
from collections.abc import Mapping
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding.data_file_reader import PagedRows, PagesError, StoredColumn
from paimon_explore.encoding.parquet import page_reader
from paimon_explore.encoding.parquet.reader import open_parquet
from support.files import stored

ROWS = 1_000
COLUMNS: Mapping[str, Column] = {
    "n": pa.array(range(ROWS), pa.int64()),
    "s": pa.array([None if n % 7 == 0 else f"t{n % 90}" for n in range(ROWS)]),
    "a": pa.array([[n] for n in range(ROWS)]),
    "z": pa.array([650 if n == 650 else None for n in range(ROWS)], pa.int64()),
    "r": pa.array(
        [
            None
            if n % 11 == 0
            else {
                "x": n,
                "y": None if n % 5 == 0 else f"a long text {n}",
                "q": None if n % 3 == 0 else {"w": None if n % 4 == 0 else n / 2, "v": "v"},
            }
            for n in range(ROWS)
        ]
    ),
}


def group(
    *, span: int = 0, index: bool = True, size: int = 10_000, version: Literal["1.0", "2.0"] = "1.0"
) -> PagedRows:
    out = io.BytesIO()
    pq.write_table(
        pa.table(dict(COLUMNS)),
        out,
        row_group_size=size,
        data_page_size=1,
        write_batch_size=100,
        write_page_index=index,
        data_page_version=version,
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
    numbers, texts = pages.values([stored("n", "BIGINT"), stored("s", "STRING")], rows)
    assert as_python(numbers) == [3, 250, 251, 999]
    assert as_python(texts) == ["t3", "t70", "t71", "t9"]
    assert pages.share(stored("n", "BIGINT"), rows) == pytest.approx(0.3)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize(
    ("row_type", "fields"),
    [
        ("ROW<x BIGINT, y STRING, q ROW<w DOUBLE, v STRING>>", ["x", "y", "q"]),
        ("ROW<y STRING>", ["y"]),
        ("ROW<q ROW<v STRING>, x BIGINT>", ["q", "x"]),
    ],
)
def test_rows_of_a_row_column_come_from_the_pages_of_its_fields(
    row_type: str, fields: list[str], *, version: Literal["1.0", "2.0"], index: bool
) -> None:
    rows = np.array([0, 3, 10, 11, 250, 251, 252, 999])
    column = StoredColumn(name="r", type=parse_type_text(row_type))
    (found,) = group(index=index, version=version).values([column], rows)
    inner = ["w", "v"] if "w DOUBLE" in row_type else ["v"]
    expected = []
    for value in (COLUMNS["r"][int(row)].as_py() for row in rows):
        one = value and {name: value[name] for name in fields}
        if one and one.get("q"):
            one["q"] = {name: one["q"][name] for name in inner}
        expected.append(one)
    assert as_python(found) == expected


def test_rows_are_positions_in_the_file() -> None:
    pages = group(span=1, size=400)
    rows = np.arange(450, 460)
    assert as_python(pages.values([stored("n", "BIGINT")], rows)[0]) == [*range(450, 460)]
    with pytest.raises(PagesError):
        pages.values([stored("n", "BIGINT")], np.array([399, 450]))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("index", [True, False])
def test_bounds_of_pages_come_from_the_index_or_the_headers(
    monkeypatch: pytest.MonkeyPatch, *, index: bool, version: Literal["1.0", "2.0"]
) -> None:
    monkeypatch.setattr(page_reader, "_MIN_WALKED_ROWS", 100)
    pages = group(span=1, size=400, index=index, version=version)
    found = pages.bounds(stored("n", "BIGINT"))
    assert found is not None
    assert found.firsts.tolist() == [400, 500, 600, 700, 800]
    assert as_python(found.bounds.minimum) == [400, 500, 600, 700]
    assert as_python(found.bounds.maximum) == [499, 599, 699, 799]
    assert as_python(found.bounds.null_count) == [0, 0, 0, 0]
    texts = pages.bounds(stored("s", "STRING"))
    assert texts is not None
    assert as_python(texts.bounds.minimum) == ["t0", "t0", "t1", "t0"]
    assert as_python(texts.bounds.null_count) == [14, 14, 14, 15]
    nulls = pages.bounds(stored("z", "BIGINT"))
    assert nulls is not None
    assert as_python(nulls.bounds.minimum) == [None, None, 650, None]
    assert as_python(nulls.bounds.null_count) == [100, 100, 99, 100]


def test_headers_of_small_pages_are_not_read() -> None:
    assert group(index=False).bounds(stored("n", "BIGINT")) is None


def test_bounds_of_another_type_than_the_readers_are_not_told() -> None:
    assert group().bounds(stored("n", "INT")) is None


def test_columns_with_members_are_left_to_the_row_group() -> None:
    with pytest.raises(PagesError):
        group().values([stored("a", {"type": "ARRAY", "element": "BIGINT"})], np.array([1]))


def test_small_row_groups_have_no_pages() -> None:
    out = io.BytesIO()
    pq.write_table(pa.table(dict(COLUMNS)), out)
    file = open_parquet(pa.BufferReader(out.getvalue()), "/t/f.parquet")
    assert file.paged([stored("n", "BIGINT")], 0) is None


@pytest.mark.parametrize(("columns", "is_paged"), [(1, True), (200, False)])
def test_pages_of_many_small_chunks_are_not_looked_at(columns: int, *, is_paged: bool) -> None:
    """Most of these chunks are single pages."""
    names = [f"c{at}" for at in range(columns)]
    numbers = pa.array(np.random.default_rng(1).random(1_000_000 // columns))
    out = io.BytesIO()
    pq.write_table(pa.table(dict.fromkeys(names, numbers)), out, use_dictionary=False)
    file = open_parquet(pa.BufferReader(out.getvalue()), "/t/f.parquet")
    found = file.paged([stored(name, "DOUBLE") for name in names], 0)
    assert isinstance(found, page_reader.PagedGroup) == is_paged
