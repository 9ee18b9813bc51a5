"""Parquet footers with which Arrow ends the process when a column chunk is asked for."""

from collections.abc import Callable

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
    sizes = struct_of(struct_of(chunk[_META][1])[_SIZES][1])
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
