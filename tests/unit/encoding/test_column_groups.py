"""Files of many columns are decoded by groups of columns, with the same rows."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.data_types.arrow import row_type_from_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet import column_groups, reader
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import CorruptFileError

ROWS = 1200
MAKERS: list[Callable[[int], Column]] = [
    lambda i: pa.array([None if n % 7 == i else n * i for n in range(ROWS)], pa.int64()),
    lambda i: pa.array([f"{n % 50 + i:04d}" for n in range(ROWS)]),
    lambda i: pa.array([{"a": n, "b": {"c": str(n + i)}} for n in range(ROWS)]),
    lambda i: pa.array([list(range(n % 4 + i)) for n in range(ROWS)], pa.list_(pa.int32())),
    lambda i: pa.array([[(f"k{i}", n)] for n in range(ROWS)], pa.map_(pa.string(), pa.int64())),
]


def wide_table(columns: int) -> pa.Table:
    arrays = {f"c{i}": MAKERS[i % len(MAKERS)](i % 7) for i in range(columns)}
    return pa.table({"id": pa.array(range(ROWS), pa.int64()), **arrays})


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The columns of each group that is decoded by a reader of its own."""
    monkeypatch.setattr(reader, "_THREADED_BYTES", 0)
    monkeypatch.setattr(pa, "cpu_count", lambda: 3)
    seen: list[list[str]] = []
    divide = column_groups.column_groups

    def noted(columns: list[str], count: int) -> list[list[str]]:
        found = divide(columns, count)
        seen.extend(found)
        return found

    monkeypatch.setattr(column_groups, "column_groups", noted)
    return seen


def read(path: Path, wanted: pa.Schema, spans: list[int]) -> list[dict[str, object]]:
    columns = [StoredColumn(name=f.name, type=f.type) for f in row_type_from_arrow(wanted).fields]
    with pa.OSFile(str(path), "r") as file:
        opened = open_parquet(file, str(path), batch_bytes=1 << 16)
        batches = list(opened.batches(columns, spans, 1024))
    assert [batch.first for batch in batches] == sorted(batch.first for batch in batches)
    tables = (pa.table(list(batch.columns), names=wanted.names) for batch in batches)
    return [row for table in tables for row in table.to_pylist()]


@pytest.mark.parametrize("columns", [39, 100])
def test_groups_of_columns_give_the_rows_of_the_file(
    columns: int, tmp_path: Path, groups: list[list[str]]
) -> None:
    table = wide_table(columns)
    path = tmp_path / "wide.parquet"
    pq.write_table(table, path, row_group_size=500)
    assert read(path, table.schema, [0, 1, 2]) == table.to_pylist()
    assert len(groups) == 3
    assert {name.split(".")[0] for group in groups for name in group} == set(table.column_names)
    some = table.select([table.column_names[i] for i in range(columns, 0, -1)])
    wanted = some.slice(0, 500).to_pylist() + some.slice(1000).to_pylist()
    assert read(path, some.schema, [0, 2]) == wanted


def test_a_nested_column_stays_in_one_group() -> None:
    names = ["a", "b.x", "b.y.z", "b.w", "c", "d"]
    assert column_groups.column_groups(names, 3) == [["a", "b.x", "b.y.z", "b.w"], ["c", "d"]]
    assert column_groups.column_groups(names, 1) == [names]
    assert column_groups.column_groups(["a", "b"], 4) == [["a"], ["b"]]


def test_a_damaged_page_of_any_group_is_reported(tmp_path: Path, groups: list[list[str]]) -> None:
    table = wide_table(60)
    path = tmp_path / "wide.parquet"
    pq.write_table(table, path)
    metadata = pq.read_metadata(path)
    for leaf in (1, metadata.num_columns - 1):
        chunk = metadata.row_group(0).column(leaf)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        damaged = bytearray(path.read_bytes())
        damaged[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
        other = tmp_path / f"damaged{leaf}.parquet"
        other.write_bytes(damaged)
        with pytest.raises(CorruptFileError, match=f"damaged{leaf}.parquet"):
            read(other, table.schema, [0])
    assert groups
