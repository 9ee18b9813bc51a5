"""Row files of any types: what is written is read, and damage is an error of its own kind."""

import io

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.row_format.row_file import RowDataFile, RowFileWriter
from paimon_explore.errors import FormatError
from support.arrow import column_of
from support.damage import damaged
from support.type_strategies import columns

Drawn = tuple[list[DataType], list[list[object]]]


def stored(types: list[DataType]) -> list[StoredColumn]:
    return [StoredColumn(name=f"c{index}", type=t) for index, t in enumerate(types)]


def written(drawn: Drawn, block_bytes: int) -> tuple[bytes, list[Column]]:
    types, values = drawn
    found = [column_of(v, t) for v, t in zip(values, types, strict=True)]
    out = io.BytesIO()
    writer = RowFileWriter(out.write, stored(types), block_bytes=block_bytes)
    count = len(values[0])
    writer.write([column.slice(0, count // 2) for column in found])
    writer.write([column.slice(count // 2) for column in found])
    writer.close()
    return out.getvalue(), found


def read(data: bytes, types: list[DataType], batch_rows: int) -> list[list[Column]]:
    file = RowDataFile(pa.BufferReader(data), "a file", stored(types))
    batches = file.batches(stored(types), range(len(file.spans)), batch_rows)
    return [list(batch.columns) for batch in batches]


@given(drawn=columns(), block_bytes=st.integers(0, 200), batch_rows=st.integers(1, 9))
def test_a_row_file_comes_back_as_it_was(drawn: Drawn, block_bytes: int, batch_rows: int) -> None:
    data, columns_ = written(drawn, block_bytes)

    batches = read(data, drawn[0], batch_rows)

    for index, column in enumerate(columns_):
        parts = [batch[index] for batch in batches] or [column.slice(0, 0)]
        assert pa.concat_arrays(parts).equals(column)
    assert all(len(batch[0]) <= batch_rows for batch in batches)


@given(drawn=columns(), data=st.data())
def test_a_damaged_row_file_is_refused_or_read_as_other_values(
    drawn: Drawn, data: st.DataObject
) -> None:
    original, _ = written(drawn, 100)
    broken = data.draw(damaged(original))

    try:
        batches = read(broken, drawn[0], 100)
    except FormatError:
        return
    for batch in batches:
        for column in batch:
            column.validate(full=True)
