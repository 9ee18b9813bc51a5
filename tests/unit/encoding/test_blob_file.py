"""Blob files: golden ones, what they can hold, and damage."""

import io

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.blob.blob_file import ELSEWHERE, BlobDataFile, BlobFileWriter
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)
from support.golden import GoldenTables

COLUMN = StoredColumn(name="b", type=parse_type("BLOB", "a test"))


def opened(data: bytes) -> BlobDataFile:
    return BlobDataFile(pa.BufferReader(data), "a file", COLUMN)


def values_of(data: bytes, batch_rows: int = 100) -> list[object]:
    batches = opened(data).batches([COLUMN], [0], batch_rows)
    return [value for batch in batches for value in as_python(batch.columns[0])]


def written(*values: bytes | None) -> bytes:
    out = io.BytesIO()
    writer = BlobFileWriter(out.write)
    writer.add(pa.array(values, pa.large_binary()))
    writer.finish()
    assert writer.row_count == len(values)
    assert writer.size == len(out.getvalue())
    return out.getvalue()


@pytest.mark.parametrize(
    ("writer", "table", "files"),
    [
        ("java200", "blob", 1),
        ("java200", "blob_more", 6),
        ("java142", "blob", 1),
        ("java142", "blob_more", 6),
        ("pypaimon21", "blob", 1),
    ],
)
def test_golden_files_are_read_and_written_back_byte_by_byte(
    golden: GoldenTables, writer: str, table: str, files: int
) -> None:
    paths = sorted(golden.table(writer, table).folder.glob("bucket-0/*.blob"))

    assert len(paths) == files
    for path in paths:
        data = path.read_bytes()
        values = [value if isinstance(value, bytes) else None for value in values_of(data, 3)]
        assert written(*values) == data


def test_the_bytes_are_those_of_the_format() -> None:
    assert written(b"ab", None).hex() == (
        "cf114e58" + "6162" + "1200000000000000" + "c8027545" + "2425" + "02000000" + "01"
    )


def test_nulls_and_empty_values_differ() -> None:
    assert values_of(written(None, b"", b"x")) == [None, b"", b"x"]
    assert values_of(written()) == []


def test_a_value_that_another_file_holds_is_null_here() -> None:
    out = io.BytesIO()
    writer = BlobFileWriter(out.write)
    writer.add_value(b"here")
    writer._entries.append(ELSEWHERE)
    writer.add_value(None)
    writer.finish()

    assert values_of(out.getvalue()) == [b"here", None, None]


def test_a_value_can_be_read_on_its_own() -> None:
    data = written(b"first", None, b"second")
    file = opened(data)

    start, size = int(file.offsets[2]), int(file.sizes[2])

    assert data[start : start + size] == b"second"


def test_batches_of_large_values_are_short() -> None:
    data = written(bytes(60), bytes(60), bytes(120), b"", b"")
    file = BlobDataFile(pa.BufferReader(data), "a file", COLUMN, batch_bytes=100)

    assert [batch.rows for batch in file.batches([COLUMN], [0], 100)] == [1, 1, 1, 2]
    assert [batch.rows for batch in file.batches([], [0], 1)] == [1, 1, 1, 1, 1]
    assert list(file.batches([COLUMN], [], 100)) == []


def test_other_columns_are_refused() -> None:
    inner = {"type": "ARRAY", "element": "BLOB"}
    nested = StoredColumn(name="b", type=parse_type({"type": "ARRAY", "element": inner}, "t"))

    with pytest.raises(UnsupportedFeatureError, match="A blob file for"):
        BlobDataFile(pa.BufferReader(written()), "a file", nested)
    with pytest.raises(InvalidInputError, match="must be Arrow large_binary, not binary"):
        BlobFileWriter(io.BytesIO().write).add(pa.array([b"x"]))


def test_damage_is_named() -> None:
    data = written(b"ab", None)

    def check(broken: bytes, rule: str) -> None:
        with pytest.raises(CorruptFileError, match=rule):
            values_of(broken)

    check(b"", "must end with the list of entries")
    check(data[:-5] + b"\xff\xff\xff\x7f\x01", "the list of entries must fit into the file")
    check(data[:-7] + b"\xff\xff" + data[-5:], "must consist of delta-encoded integers")
    check(data[:-7] + b"\x26\x25" + data[-5:], "the entries must fill the file")
    check(data[:-7] + b"\x24\x29" + data[-5:], "the entries must fill the file")
    check(b"x" + data[1:], "must start with the magic number 0xcf114e58")
    check(data[:6] + b"\x13" + data[7:], "but the list of entries states 18")
    check(data[:4] + b"x" + data[5:], "the checksum does not match")
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        values_of(data[:-1] + b"\x02")
