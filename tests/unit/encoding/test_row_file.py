"""Row files: golden ones, the blocks of a large one, and damage."""

import io
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.row_format.row_file import RowDataFile, RowFileWriter
from paimon_explore.errors import CorruptFileError, InvalidInputError, UnsupportedVersionError
from support.arrow import as_python, column_of
from support.golden import GoldenTables


def columns_of(**types: object) -> list[StoredColumn]:
    return [StoredColumn(name=n, type=parse_type(t, "a test")) for n, t in types.items()]


GOLDEN = columns_of(id="INT", name="STRING", price="DOUBLE", dt="STRING")


def golden_file(golden: GoldenTables) -> tuple[bytes, Path]:
    table = golden.table("java200", "append_row_format")
    [path] = table.folder.glob("bucket-0/*.row")
    return path.read_bytes(), table.expected / "1.parquet"


def table_of(data: bytes, columns: list[StoredColumn]) -> pa.Table:
    file = RowDataFile(pa.BufferReader(data), "a file", columns)
    names = [column.name for column in columns]
    batches = file.batches(columns, range(len(file.spans)), 7)
    return pa.Table.from_batches(
        [pa.RecordBatch.from_arrays(list(batch.columns), names) for batch in batches]
    )


def written(table: pa.Table, columns: list[StoredColumn], **settings: int) -> bytes:
    out = io.BytesIO()
    writer = RowFileWriter(out.write, columns, **settings)
    for batch in table.to_batches():
        writer.write(batch.columns)
    writer.close()
    assert writer.size == len(out.getvalue())
    assert writer.row_count == table.num_rows
    return out.getvalue()


def test_the_golden_file_has_the_rows_that_java_reads(golden: GoldenTables) -> None:
    data, expected = golden_file(golden)

    table = table_of(data, GOLDEN)

    assert table.sort_by("id").equals(pq.ParquetFile(expected).read().sort_by("id"))


def test_a_file_of_the_same_rows_has_the_same_blocks(golden: GoldenTables) -> None:
    data, _ = golden_file(golden)
    rows = table_of(data, GOLDEN).combine_chunks()

    ours = written(rows, GOLDEN)

    assert table_of(ours, GOLDEN).equals(rows)
    assert ours[-32:-24] == data[-32:-24]  # as many rows
    assert ours[-12:] == data[-12:]  # and the same end


def test_a_large_file_is_cut_into_blocks_that_can_be_skipped() -> None:
    columns = columns_of(k="INT NOT NULL", v="STRING")
    table = pa.table(
        {"k": pa.array(range(1000), pa.int32()), "v": [f"value {n}" for n in range(1000)]}
    )
    data = written(table, columns, block_bytes=1000)
    file = RowDataFile(pa.BufferReader(data), "a file", columns)

    [batch] = file.batches(columns[1:], [3], 10_000)

    span = file.spans[3]
    assert len(file.spans) == 19
    assert (batch.first, batch.rows) == (span.first, span.rows)
    assert as_python(batch.columns[0]) == [
        f"value {n}" for n in range(span.first, span.first + span.rows)
    ]
    apart = [b.first for b in file.batches(columns, [0, 1, 5], 10_000)]
    assert apart == [0, file.spans[5].first]


def test_a_block_is_closed_by_the_row_that_reaches_its_size() -> None:
    columns = columns_of(v="BIGINT")
    table = pa.table({"v": pa.array(range(10), pa.int64())})

    # A row takes 1 + 8 bytes and 4 for its offset, the block 4 for the count.
    file = RowDataFile(pa.BufferReader(written(table, columns, block_bytes=43)), "f", columns)

    assert [span.rows for span in file.spans] == [3, 3, 3, 1]


def test_members_of_a_row_can_be_asked_for_alone() -> None:
    members = [{"id": 1, "name": "a", "type": "INT"}, {"id": 2, "name": "b", "type": "STRING"}]
    row = {"type": "ROW", "fields": members}
    part = {"type": "ROW", "fields": members[1:]}
    columns = columns_of(r=row)
    values = column_of([{"a": 1, "b": "x"}, None], columns[0].type)
    data = written(pa.table({"r": values}), columns)
    file = RowDataFile(pa.BufferReader(data), "a file", columns)

    [batch] = file.batches(columns_of(r=part), [0], 10)

    assert as_python(batch.columns[0]) == [{"b": "x"}, None]


def test_an_empty_file_has_no_block() -> None:
    columns = columns_of(v="INT")
    data = written(pa.table({"v": pa.array([], pa.int32())}), columns)

    file = RowDataFile(pa.BufferReader(data), "a file", columns)

    assert len(file.spans) == 0
    assert list(file.batches(columns, [], 10)) == []


def test_a_column_of_another_type_is_refused() -> None:
    writer = RowFileWriter(io.BytesIO().write, columns_of(v="INT"))

    with pytest.raises(InvalidInputError, match="must be Arrow int32, not int64"):
        writer.write([pa.array([1], pa.int64())])


def one_block(types: list[DataType], rows: str, offsets: list[int]) -> bytes:
    """A file whose block holds exactly these bytes."""
    columns = [StoredColumn(name=f"c{i}", type=t) for i, t in enumerate(types)]
    out = io.BytesIO()
    writer = RowFileWriter(out.write, columns)
    writer._rows = [bytes.fromhex(rows)]
    writer._row_sizes = [b - a for a, b in pairwise(offsets)]
    writer.close()
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "rows", "offsets", "rule"),
    [
        ("INT", "00 010000", [0, 4], "must be within its row"),
        ("INT", "00 01000000 00", [0, 6], "a row must end where the next one starts"),
        ("STRING", "00 05 6161", [0, 4], "must be within its row"),
        ("STRING", "00 ffffffffff", [0, 6], "a length must be less than 2"),
        ("STRING", "00 01 ff", [0, 3], "(?i)utf8"),
        ("DECIMAL(20, 0)", "00 00", [0, 2], "1 to 16 bytes"),
        ("TIMESTAMP(6)", "00 0000000000000000 c0843d", [0, 12], "below 1,000,000"),
        ({"type": "ARRAY", "element": "INT"}, "00 ffffff7f", [0, 5], "must be within its row"),
        (
            {"type": "VECTOR", "element": "INT", "length": 2},
            "00 01 01000000",
            [0, 6],
            "a vector must have 2 elements",
        ),
        (
            {"type": "MAP", "key": "INT", "value": "INT"},
            "00 00 01 00 01000000",
            [0, 8],
            "as many keys as values",
        ),
        (
            {"type": "MAP", "key": "INT", "value": "INT"},
            "00 01 01 01 00 01000000",
            [0, 9],
            "keys must not be null",
        ),
    ],
)
def test_a_damaged_row_is_an_error(text: object, rows: str, offsets: list[int], rule: str) -> None:
    types = [parse_type(text, "a test")]
    data = one_block(types, rows, offsets)

    with pytest.raises(CorruptFileError, match=rule):
        table_of(data, columns_of(c0=text))


def test_a_damaged_footer_is_an_error(golden: GoldenTables) -> None:
    data, _ = golden_file(golden)

    def check(broken: bytes, rule: str) -> None:
        with pytest.raises(CorruptFileError, match=rule):
            table_of(broken, GOLDEN)

    check(b"", "a row file must end with")
    check(data[:-1] + b"x", "a row file must end with")
    check(data[:-20] + b"\xff" * 8 + data[-12:], "index must be before the footer")
    check(data[:-24] + b"\x02" + data[-23:], "2 blocks as stated in the footer")
    check(data[:-32] + b"\x15" + data[-31:], "rows as stated in the index")
    check(data[:9] + b"xxxxxxxx" + data[17:], "block 0")
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        table_of(data[:-8] + b"\x02" + data[-7:], GOLDEN)
