"""Decoded Parquet footers, also those with which Arrow ends the process for a column chunk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.parquet.reader import ParquetDataFile, open_parquet
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftList,
    Wire,
    decode_struct,
    encode_struct,
    struct_of,
    structs_of,
)
from paimon_explore.errors import CorruptFileError
from support.arrow import column_of
from support.files import parquet_bytes, stored

COLUMNS = [stored("i", "BIGINT"), stored("n", "BIGINT"), stored("s", "STRING")]
DATA = parquet_bytes(
    {
        "i": column_of([1, 2, 3], COLUMNS[0].type),
        "n": column_of([4, None, None], COLUMNS[1].type),
        "s": column_of(["a", None, "b"], COLUMNS[2].type),
    },
    rows_per_group=2,
)
_CHUNKS, _META, _CRYPTO = 1, 3, 8
_STATISTICS, _SIZES = 12, 16


def damaged(change: Callable[[Struct], object], *, column: int = 0) -> ParquetDataFile:
    """The file with a changed column chunk in its last row group."""
    size = int.from_bytes(DATA[-8:-4], "little")
    footer = decode_struct(DATA[-8 - size : -8])
    *_, group = structs_of(footer[4][1])
    change([*structs_of(group[_CHUNKS][1])][column])
    new = encode_struct(footer)
    data = DATA[: -8 - size] + new + len(new).to_bytes(4, "little") + b"PAR1"
    return open_parquet(pa.BufferReader(data), "f")


def read(file: ParquetDataFile) -> int:
    return sum(batch.rows for batch in file.batches(COLUMNS, range(len(file.spans)), 100))


def longer_histogram(chunk: Struct) -> None:
    column = struct_of(chunk[_META][1])
    if _SIZES not in column:
        pytest.skip("this Arrow does not write histograms")
    sizes = struct_of(column[_SIZES][1])
    sizes[3] = (Wire.LIST, ThriftList(Wire.I64, [1, 1, 1]))


def encrypted(chunk: Struct) -> None:
    path = ThriftList(Wire.BINARY, [b"i"])
    chunk[_CRYPTO] = (Wire.STRUCT, {2: (Wire.STRUCT, {1: (Wire.LIST, path)})})


def shorter_minimum(chunk: Struct) -> None:
    statistics = struct_of(struct_of(chunk[_META][1])[_STATISTICS][1])
    statistics[6] = (Wire.BINARY, b"\1")


def test_an_intact_file_has_rows_and_bounds() -> None:
    file = damaged(lambda _: None)
    bounds = [file.bounds(column) for column in COLUMNS]
    assert [bound and as_python(bound.minimum) for bound in bounds] == [
        [1, 3],
        [4, None],
        ["a", "b"],
    ]
    assert read(file) == 3


@pytest.mark.parametrize("change", [longer_histogram, encrypted])
@pytest.mark.parametrize("column", range(3))
def test_damaged_metadata_of_a_column_chunk_is_an_error(
    change: Callable[[Struct], object], column: int
) -> None:
    for ask in (
        read,
        lambda file: file.bounds(COLUMNS[column]),
        lambda file: file.paged(COLUMNS, 1),
    ):
        with pytest.raises(CorruptFileError, match="Parquet file"):
            ask(damaged(change, column=column))


def test_column_chunks_that_are_not_asked_for_may_be_damaged() -> None:
    file = damaged(longer_histogram)
    assert sum(batch.rows for batch in file.batches(COLUMNS[1:], [0, 1], 100)) == 3


def test_bounds_of_another_width_are_not_used() -> None:
    file = damaged(shorter_minimum)
    assert file.bounds(COLUMNS[0]) is None
    assert file.bounds(COLUMNS[1]) is not None


def test_a_row_group_with_fewer_column_chunks_is_an_error() -> None:
    size = int.from_bytes(DATA[-8:-4], "little")
    footer = decode_struct(DATA[-8 - size : -8])
    for group in structs_of(footer[4][1]):
        chunks = group[_CHUNKS][1]
        assert isinstance(chunks, ThriftList)
        del chunks.items[2]
    new = encode_struct(footer)
    data = DATA[: -8 - size] + new + len(new).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(CorruptFileError, match="row group 0 must have 3 column chunks"):
        open_parquet(pa.BufferReader(data), "f")


def numbers(values: range) -> bytes:
    """A file of one column; all have the same size."""
    return parquet_bytes({"i": pa.array(values, pa.int64())}, rows_per_page=10)


def read_all_ways(path: str, data: bytes) -> tuple[list[object], list[object], list[object]]:
    """All numbers, the bounds, and the number at position 25 by its page."""
    file = open_parquet(pa.BufferReader(data), path)
    file.paged_bytes = 0
    bounds, pages = file.bounds(COLUMNS[0]), file.paged(COLUMNS[:1], 0)
    assert bounds is not None
    assert pages is not None
    rows = [one for batch in file.batches(COLUMNS[:1], (0,), 100) for one in batch.columns[0]]
    ends = [*as_python(bounds.minimum), *as_python(bounds.maximum)]
    (chosen,) = pages.values(COLUMNS[:1], np.array([25]))
    return [one.as_py() for one in rows], ends, as_python(chosen)


def test_a_file_that_is_replaced_under_its_name_is_decoded_again() -> None:
    first, second = numbers(range(150, 190)), numbers(range(180, 220))
    assert len(first) == len(second)
    for data, start in ((first, 150), (first, 150), (second, 180), (first, 150)):
        found = read_all_ways("/t/same.parquet", data)
        assert found == ([*range(start, start + 40)], [start, start + 39], [start + 25])


def test_a_file_of_the_same_content_elsewhere_is_another_one() -> None:
    names = ("/t/one.parquet", "/t/two.parquet")
    assert read_all_ways(names[0], numbers(range(40))) == read_all_ways(
        names[1], numbers(range(40))
    )
    with pytest.raises(CorruptFileError, match=r"/t/two\.parquet"):
        open_parquet(pa.BufferReader(numbers(range(40))[:-1]), names[1])


def test_a_footer_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    columns = {f"c{at}": pa.array([at], pa.int64()) for at in range(1_500)}
    data = parquet_bytes(columns)
    assert int.from_bytes(data[-8:-4], "little") > 64 << 10  # more than is read at once
    (tmp_path / "f.parquet").write_bytes(data)
    with pa.OSFile(str(tmp_path / "f.parquet"), "rb") as source:
        file = open_parquet(source, "f")
        (batch,) = file.batches([stored("c1499", "BIGINT")], (0,), 9)
    assert as_python(batch.columns[0]) == [1499]
