"""Strings whose dictionary could repeat a long value: the bound, and what is decoded."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import limits
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.data_file_reader import StoredColumn, decode_dictionary
from paimon_explore.encoding.parquet.dictionary_page import longest_value
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import ResourceLimitError
from paimon_explore.fileio.object_reader import open_object
from support.depth import some

CODECS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
LIMIT = 64 << 20


def written(values: Sequence[str | None], codec: str = "zstd", **options: object) -> pa.Buffer:
    """A Parquet file with a column `s`."""
    sink = pa.BufferOutputStream()
    settings: dict[str, object] = {"compression": codec, "store_schema": False, **options}
    pq.write_table(pa.table({"s": values}), sink, **settings)  # type: ignore[arg-type]
    return sink.getvalue()


def mixed(longest: int, rows: int = 40_000) -> list[str | None]:
    """More distinct values than the dictionary page holds, one of them long, and nulls."""
    values: list[str | None] = [f"{place * 7919:012d}" for place in range(rows)]
    values[5] = "x" * longest
    values[7::100] = [None] * len(values[7::100])
    return values


def bound(data: pa.Buffer, rows: int, limit: int) -> bool:
    """Whether so many rows of the file may exceed a limit."""
    file = pa.BufferReader(data)
    chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
    enough = (limit - chunk.total_uncompressed_size) // rows
    return longest_value(file, chunk, enough) > enough


@pytest.fixture
def little_memory() -> Iterator[None]:
    limits.set_memory_limit(LIMIT)
    yield
    limits.set_memory_limit(None)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("longest", [12, 5_000, 200_000])
def test_the_longest_value_of_a_dictionary_decides(codec: str, version: str, longest: int) -> None:
    data = written(
        mixed(longest), codec, dictionary_pagesize_limit=1 << 18, data_page_version=version
    )
    chunk = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(0).column(0)
    assert "PLAIN" in chunk.encodings
    most = chunk.total_uncompressed_size + longest * 1000
    assert not bound(data, 1000, most)
    assert bound(data, 1000, most - 1)


def test_a_dictionary_page_of_few_bytes_is_not_decoded() -> None:
    """Neither is a column without one; both are known to fit."""
    data = written(["a", "b"] * 500)
    assert not bound(data, 1000, 1 << 20)
    limits.set_memory_limit("1 MB")
    (plain,) = read(written(["a" * 900, "b" * 900] * 500, use_dictionary=False))
    limits.set_memory_limit(None)
    assert not isinstance(plain, pa.DictionaryArray)


@pytest.mark.parametrize("place", ["header", "values"])
def test_a_damaged_dictionary_page_counts_as_too_long(place: str) -> None:
    data = bytearray(written(mixed(50)).to_pybytes())
    assert not bound(pa.py_buffer(bytes(data)), 1000, 1 << 20)
    at = 4 if place == "header" else 60
    data[at : at + 8] = b"\xff" * 8
    assert bound(pa.py_buffer(bytes(data)), 1000, 1 << 20)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.usefixtures("little_memory")
def test_values_beyond_the_dictionary_are_decoded_without_one(codec: str, groups: int) -> None:
    """Arrow would build a dictionary of all values, which takes several times as long."""
    values = mixed(1000)
    data = written(
        values, codec, dictionary_pagesize_limit=1 << 16, row_group_size=len(values) // groups
    )
    arrays = read(data)
    assert not any(isinstance(array, pa.DictionaryArray) for array in arrays)
    assert as_python(pa.concat_arrays(arrays)) == values


@pytest.mark.parametrize("codec", some(CODECS, 3))
@pytest.mark.usefixtures("little_memory")
def test_one_long_value_among_many_short_ones_is_not_copied_for_every_row(codec: str) -> None:
    """The average does not tell: most values are short."""
    long = "x" * (1 << 16)
    values = [long] * 5000 + [f"{place:024d}" for place in range(30_000)]
    data = written(values, codec, dictionary_pagesize_limit=1 << 30)
    with pytest.raises(ResourceLimitError) as raised:
        read(data)
    assert raised.value.where == "column 's'"
    limits.set_memory_limit("1 GB")
    found = pa.concat_arrays([decode_dictionary(array) for array in read(data)])
    assert as_python(found.slice(4999)) == [long, *values[5000:]]


@pytest.mark.parametrize(("distinct", "is_coded"), [(200, True), (2000, False)])
def test_few_long_values_are_read_as_indices(distinct: int, *, is_coded: bool) -> None:
    """Each batch has the whole dictionary, so that of many values would cost more than it saves."""
    values = [f"{place * 7919 % distinct:01000d}" for place in range(10_000)]
    arrays = read(written(values, dictionary_pagesize_limit=1 << 22))
    assert all(isinstance(array, pa.DictionaryArray) == is_coded for array in arrays)
    assert as_python(pa.concat_arrays([decode_dictionary(array) for array in arrays])) == values


@pytest.mark.parametrize(("length", "most"), [(1000, 4096), (5, 40_000)])
def test_batches_of_long_values_are_small(length: int, most: int) -> None:
    values = [f"{place:0{length}d}" for place in range(40_000)]
    sizes = [len(array) for array in read(written(values), batch_bytes=64 << 20)]
    assert sum(sizes) == len(values)
    assert max(sizes) <= most
    assert max(sizes) > most // 4


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.usefixtures("little_memory")
def test_on_a_store_the_dictionary_needs_no_request_of_its_own(groups: int) -> None:
    """It is part of the column chunk, which is requested as a whole."""
    values = mixed(1000)
    data = written(
        values, "none", dictionary_pagesize_limit=1 << 16, row_group_size=len(values) // groups
    )
    asked = []

    def read_range(offset: int, length: int) -> bytes:
        asked.append((offset, length))
        return data.slice(offset, length).to_pybytes()

    tail = data.size - (1 << 16)  # the footer
    file = open_object(read_range, data.size, [(tail, data.slice(tail).to_pybytes())])
    arrays = read(file)
    assert not any(isinstance(array, pa.DictionaryArray) for array in arrays)
    assert as_python(pa.concat_arrays(arrays)) == values
    assert len(asked) == groups


def read(data: pa.Buffer | pa.NativeFile, batch_bytes: int = 16 << 20) -> list[Column]:
    opened = pa.BufferReader(data) if isinstance(data, pa.Buffer) else data
    file = open_parquet(opened, "f", batch_bytes=batch_bytes)
    wanted = [StoredColumn(name="s", type=parse_type("STRING", "s"))]
    spans = range(len(file.spans))
    return [batch.columns[0] for batch in file.batches(wanted, spans, 1 << 20)]
