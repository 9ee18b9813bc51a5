"""Only rows of which a predicate is true, without the columns that only the predicate reads."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
)
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.sql_parser import parse_where

KEY = DataField(id=0, name="key", type=parse_type("BIGINT", "t"))
NAME = DataField(id=1, name="name", type=parse_type("STRING", "t"))
LATER = DataField(id=2, name="later", type=parse_type("BIGINT", "t"))
WRITTEN = TableSchema(id=0, fields=(KEY, NAME), highest_field_id=1)
FIELDS = (KEY, NAME, LATER)


def written(groups: int, rows: int, *, index: bool = False) -> bytes:
    """Ascending keys in row groups of so many rows, and their texts; no dictionaries."""
    keys = np.arange(groups * rows)
    table = pa.table({"key": pa.array(keys), "name": pa.array(keys).cast(pa.string())})
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        row_group_size=rows,
        write_page_index=index,
        use_dictionary=False,
        compression="none",
    )
    return out.getvalue()


def damaged(data: bytes, group: int, pages: range | None = None) -> bytes:
    """The file with zeros instead of the keys of a row group, or of some of its pages."""
    chunk = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(group).column(0)
    first, size = chunk.data_page_offset, chunk.total_compressed_size
    if pages is not None:
        first, size = first + size * pages.start // 100, size * len(pages) // 100
    return data[:first] + bytes(size) + data[first + size :]


def found(
    data: bytes,
    where: str,
    wanted: tuple[DataField, ...] = (NAME,),
    *,
    deleted: BitMap | None = None,
) -> list[tuple[object, ...]]:
    """Rows of the wanted columns, each behind its position."""
    file_io = MemoryFileIO(name="predicate rows")
    file_io.replace("/t/f.parquet", data)
    request = ReadRequest(
        fields=wanted,
        filter_fields=tuple(field for field in FIELDS if field not in wanted),
        system_columns=(SystemColumn.POSITION,),
        predicate=bind(parse_where(where), RowType(fields=FIELDS)),
        deleted=deleted,
        batch_rows=40_000,
    )
    source = DataFileSource(file_io=file_io, path="/t/f.parquet", schema=WRITTEN)
    rows: list[tuple[object, ...]] = []
    for batch in read_data_file(source, request):
        assert 0 < batch.num_rows <= request.batch_rows
        assert batch.schema.names == [*(field.name for field in wanted), "_POSITION"]
        place, *values = (as_python(column) for column in reversed(batch.columns))
        rows += zip(place, *reversed(values), strict=True)
    return rows


def test_only_matches_come_and_only_the_wanted_columns() -> None:
    data = written(3, 10)
    assert found(data, "key between 8 and 21") == [(key, str(key)) for key in range(8, 22)]
    assert found(data, "key in (3, 25)") == [(3, "3"), (25, "25")]
    assert found(data, "key > 27", (NAME, KEY)) == [(28, "28", 28), (29, "29", 29)]
    assert found(data, "key < 2", ()) == [(0,), (1,)]
    assert found(data, "key > 30") == []


def test_deleted_rows_do_not_come() -> None:
    rows = found(written(3, 10), "key between 8 and 21", deleted=BitMap([9, *range(12, 20)]))
    assert rows == [(8, "8"), (10, "10"), (11, "11"), (20, "20"), (21, "21")]


def test_a_column_that_the_file_lacks_is_null_for_the_predicate() -> None:
    data = written(2, 10)
    assert len(found(data, "later is null")) == 20
    assert found(data, "later is null and key = 4", (LATER,)) == [(4, None)]
    assert found(data, "later > 3") == []


@pytest.mark.parametrize("rows", [10, 800_000])
def test_a_predicate_that_fails_on_a_row_says_so(rows: int) -> None:
    with pytest.raises(InvalidInputError):
        found(written(1, rows), "key * 9223372036854775807 > 3")


def test_where_statistics_say_that_all_rows_match_only_the_result_is_read() -> None:
    data = written(3, 1000)
    expected = [(key, str(key)) for key in range(500, 3000)]
    assert found(data, "key >= 500") == expected
    assert found(damaged(data, 1), "key >= 500") == expected
    with pytest.raises(CorruptFileError):
        found(damaged(data, 1), "key >= 1500")


def test_where_bounds_of_pages_say_that_all_rows_match_only_the_result_is_read() -> None:
    data = written(1, 800_000, index=True)
    expected = [(key, str(key)) for key in range(100_001, 300_002)]
    where = "key between 100001 and 300001"
    assert found(data, where) == expected
    assert found(damaged(data, 0, range(18, 31)), where) == expected
    assert found(data, where, (KEY,)) == [(key, key) for key, _ in expected]
    gone = BitMap(range(150_000, 250_000))
    rows = found(damaged(data, 0, range(18, 31)), where, deleted=gone)
    assert rows == expected[: 150_000 - 100_001] + expected[250_000 - 100_001 :]
