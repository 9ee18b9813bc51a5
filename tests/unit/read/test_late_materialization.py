"""Filtered reads of large row groups: only matches come, whichever way leads to them."""

import io
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Ints, as_python, fixed_values
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.data_file_reader import PositionedBatch, StoredColumn
from paimon_explore.encoding.parquet.reader import ParquetDataFile
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
)
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col, expression_of

ROWS = 400_000
FIELDS = (
    DataField(id=0, name="n", type=parse_type("BIGINT", "t")),
    DataField(id=1, name="mod", type=parse_type("BIGINT", "t")),
    DataField(id=2, name="s", type=parse_type("STRING", "t")),
)
SCHEMA = TableSchema(id=0, fields=FIELDS, highest_field_id=2)


@cache
def data(*, index: bool, rows: int = ROWS) -> bytes:
    """One row group: ascending numbers, their rest by 1000, and texts."""
    numbers = np.arange(rows)
    table = pa.table(
        {
            "n": pa.array(numbers),
            "mod": pa.array(numbers % 1000),
            "s": pa.array(numbers).cast(pa.string()),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=ROWS, write_page_index=index)
    return out.getvalue()


def found(
    where: object,
    *,
    index: bool = False,
    deleted: BitMap | None = None,
    selection: BitMap | None = None,
    rows: int = ROWS,
) -> tuple[Ints, Ints]:
    """Numbers and positions of the rows that come; the texts are checked."""
    file_io = MemoryFileIO(name="late rows")
    file_io.replace("/t/f.parquet", data(index=index, rows=rows))
    request = ReadRequest(
        fields=FIELDS,
        system_columns=(SystemColumn.POSITION,),
        predicate=bind(expression_of(where), RowType(fields=FIELDS)),
        deleted=deleted,
        selection=selection,
        batch_rows=50_000,
    )
    source = DataFileSource(file_io=file_io, path="/t/f.parquet", schema=SCHEMA)
    numbers = [np.zeros(0, np.int64)]
    places = [np.zeros(0, np.int64)]
    for batch in read_data_file(source, request):
        assert 0 < batch.num_rows <= request.batch_rows
        numbers.append(fixed_values(batch.column("n"), np.int64).view(np.int64))
        places.append(fixed_values(batch.column("_POSITION"), np.int64).view(np.int64))
        assert as_python(batch.column("s").slice(0, 1)) == [str(numbers[-1][0])]
        assert as_python(batch.column("s").slice(batch.num_rows - 1)) == [str(numbers[-1][-1])]
    return np.concatenate(numbers), np.concatenate(places)


@pytest.mark.parametrize("index", [True, False])
def test_matches_that_lie_together_come_alone(*, index: bool) -> None:
    numbers, places = found(col("n").between(123_000, 124_999), index=index)
    assert numbers.tolist() == [*range(123_000, 125_000)]
    assert places.tolist() == numbers.tolist()


@pytest.mark.parametrize("index", [True, False])
def test_matches_all_over_the_row_group_come_alone(*, index: bool) -> None:
    numbers, places = found(col("mod") == 7, index=index)
    assert numbers.tolist() == [*range(7, ROWS, 1000)]
    assert places.tolist() == numbers.tolist()


@pytest.mark.parametrize("index", [True, False])
def test_many_matches_come_in_order(*, index: bool) -> None:
    numbers, _ = found(col("mod") < 900, index=index)
    assert len(numbers) == ROWS * 9 // 10
    assert bool((np.diff(numbers) > 0).all())
    assert int((numbers % 1000).max()) == 899


def test_nothing_comes_where_nothing_matches() -> None:
    for index in (True, False):
        assert len(found((col("n") > 5) & (col("mod") == 1001), index=index)[0]) == 0
        assert len(found((col("n") < 9) & (col("mod") == 10), index=index)[0]) == 0


@pytest.mark.parametrize("index", [True, False])
def test_deleted_rows_do_not_come(*, index: bool) -> None:
    gone = BitMap(range(123_000, 124_000))
    numbers, places = found(col("n").between(122_999, 124_001), index=index, deleted=gone)
    assert numbers.tolist() == [122_999, 124_000, 124_001]
    assert places.tolist() == [122_999, 124_000, 124_001]


@pytest.mark.parametrize("index", [True, False])
def test_rows_that_a_file_index_names_are_looked_up(*, index: bool) -> None:
    named = BitMap([5, 17, 200_017, 399_999])
    numbers, _ = found(col("mod") == 17, index=index, selection=named)
    assert numbers.tolist() == [17, 200_017]


def test_of_small_files_other_columns_are_read_up_to_the_last_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = ParquetDataFile.batches
    read: list[tuple[list[str], int]] = []

    def counted(
        self: ParquetDataFile, columns: Sequence[StoredColumn], spans: Sequence[int], rows: int
    ) -> Iterator[PositionedBatch]:
        for batch in batches(self, columns, spans, rows):
            read.append(([column.name for column in columns], batch.rows))
            yield batch

    monkeypatch.setattr(ParquetDataFile, "batches", counted)
    assert found(col("n") == 777, rows=40_000)[0].tolist() == [777]
    assert read == [(["n"], 40_000), (["mod", "s"], 778)]
    read.clear()
    assert not len(found(col("n").isin([3, 30_000]), rows=40_000, deleted=BitMap([3, 30_000]))[0])
    assert read == [(["n"], 40_000)]
    read.clear()
    assert len(found(col("n") < 3, rows=40_000)[0]) == len(found(col("mod") == 3, rows=3_001)[0])
    assert {tuple(names) for names, _ in read} == {("n", "mod", "s")}
