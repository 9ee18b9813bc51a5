"""Column chunks of nothing but values are read as Arrow reads them; others are refused."""

import datetime as dt
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.plain_chunks import (
    PlainChunk,
    plain_chunk,
    read_plain_chunks,
)
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.fileio.local import LocalFileIO

ROWS = 3000
RANDOM = np.random.default_rng(11)
VALUES: Mapping[str, Column] = {
    "int32": pa.array(RANDOM.integers(-(2**31), 2**31, ROWS).astype(np.int32)),
    "int64": pa.array(RANDOM.integers(-(2**63), 2**63 - 1, ROWS)),
    "float": pa.array(RANDOM.random(ROWS, np.float32)),
    "double": pa.array(np.where(RANDOM.random(ROWS) < 0.1, np.nan, RANDOM.random(ROWS))),
    "date": pa.array(RANDOM.integers(0, 40_000, ROWS).astype(np.int32)).cast(pa.date32()),
    "millis": pa.array(RANDOM.integers(0, 10**12, ROWS)).cast(pa.timestamp("ms")),
    "micros": pa.array(RANDOM.integers(0, 10**15, ROWS)).cast(pa.timestamp("us", tz="UTC")),
}
OTHERS: Mapping[str, Column] = {
    "int8": pa.array(np.arange(ROWS).astype(np.int8)),
    "text": pa.array([str(i) for i in range(ROWS)]),
    "boolean": pa.array([i % 2 == 0 for i in range(ROWS)]),
    "decimal": pa.array(np.arange(ROWS)).cast(pa.decimal128(30, 2)),
    "list": pa.array([[i] for i in range(ROWS)]),
    "struct": pa.array([{"a": i} for i in range(ROWS)]),
    "nulls": pa.array([None if i % 7 == 0 else float(i) for i in range(ROWS)]),
}


def written(values: Column, **options: object) -> bytes:
    """A Parquet file with one column."""
    settings: dict[str, object] = {"compression": "none", "use_dictionary": False, **options}
    nullable = bool(settings.pop("nullable", True))
    schema = pa.schema([pa.field("v", values.type, nullable=nullable)])
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([values], schema=schema), sink, **settings)  # type: ignore[arg-type]  # settings of a writer
    return sink.getvalue()


class InMemory:
    """A file of bytes that is read like a local file."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def read_into(self, parts: Sequence[memoryview | pa.Buffer], offset: int) -> int:
        first = offset
        for part in parts:
            view = memoryview(part).cast("B")
            found = self._data[offset : offset + len(view)]
            view[: len(found)] = found
            offset += len(found)
        return offset - first


def chunk_of(data: bytes) -> PlainChunk | None:
    """The first column chunk of a file."""
    file = pq.ParquetFile(pa.BufferReader(data))
    return plain_chunk(file.metadata.row_group(0), 0, file.schema_arrow.field(0))


def read(data: bytes) -> "Column | None":
    """The values of the first column chunk; None if it is refused."""
    chunk = chunk_of(data)
    return None if chunk is None else read_plain_chunks(InMemory(data), {"v": chunk}).get("v")


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("name", VALUES)
def test_values_of_fixed_width_are_read(name: str, *, nullable: bool) -> None:
    for statistics in (True, False):
        data = written(VALUES[name], write_statistics=statistics, nullable=nullable)
        found = read(data)
        assert found is not None
        found.validate(full=True)
        expected = pq.read_table(io.BytesIO(data)).column(0).combine_chunks()
        assert found.type == expected.type
        assert [*map(repr, as_python(found))] == [*map(repr, as_python(expected))]


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_are_left_to_arrow(name: str) -> None:
    assert read(written(OTHERS[name])) is None


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd"},
        {"data_page_size": 1000, "write_batch_size": 100},
        {"compression": "snappy"},
        {"use_dictionary": True},
        {"data_page_version": "2.0"},
        {"column_encoding": {"v": "BYTE_STREAM_SPLIT"}},
        {"write_page_checksum": True},
    ],
    ids=str,
)
def test_other_pages_are_left_to_arrow(options: dict[str, object]) -> None:
    assert read(written(VALUES["double"], **options)) is None


def test_damaged_pages_give_the_values_that_arrow_reads_or_none() -> None:
    values = VALUES["double"].slice(0, 150)
    data = bytearray(written(values))
    chunk = chunk_of(bytes(data))
    assert chunk is not None
    agreed = 0
    for at in range(chunk.offset, chunk.end):
        for bit in (1, 4, 128):
            data[at] ^= bit
            found = read_plain_chunks(InMemory(bytes(data)), {"v": chunk}).get("v")
            if found is not None:
                try:
                    expected = pq.read_table(io.BytesIO(bytes(data))).column(0)
                except (OSError, pa.ArrowException):
                    expected = None  # in a part of the header that does not concern the values
                if expected is not None:
                    agreed += 1
                    bits = np.array(expected.combine_chunks()).view(np.int64)
                    assert (np.array(found).view(np.int64) == bits).all()
            data[at] ^= bit
    assert agreed > 500  # most damage is in the values


def test_a_file_that_ends_too_early_is_left_to_arrow() -> None:
    data = written(VALUES["int64"])
    chunk = chunk_of(data)
    assert chunk is not None
    assert read_plain_chunks(InMemory(data[: chunk.end]), {"v": chunk})
    assert not read_plain_chunks(InMemory(data[: chunk.end - 1]), {"v": chunk})


def test_a_file_that_is_deleted_while_it_is_open_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    values = {f"c{i}": pa.array(RANDOM.random(50)) for i in range(40)}
    pq.write_table(pa.table(values), path, compression="none", use_dictionary=False)
    columns = [StoredColumn(name=name, type=AtomicType(root=TypeRoot.DOUBLE)) for name in values]
    with LocalFileIO().open(str(path)) as file:
        data = open_parquet(file, str(path), use_threads=False)
        path.unlink()
        (batch,) = data.batches(columns, range(len(data.spans)), 100)
    assert batch.columns[7].equals(values["c7"])


def test_many_chunks_are_read_in_any_order() -> None:
    names = [f"c{i}" for i in range(1201)]
    values: dict[str, Column] = {
        name: pa.array(RANDOM.random(20) + i) for i, name in enumerate(names)
    }
    values["c700"] = pa.nulls(20, pa.float64())
    sink = io.BytesIO()
    pq.write_table(pa.table(values), sink, compression="none", use_dictionary=False)
    data = sink.getvalue()
    file = pq.ParquetFile(pa.BufferReader(data))
    group = file.metadata.row_group(0)
    chunks = {
        name: chunk
        for i, name in reversed([*enumerate(names)])
        if i % 10 != 3 and (chunk := plain_chunk(group, i, file.schema_arrow.field(i)))
    }
    found = read_plain_chunks(InMemory(data), chunks)
    assert len(found) == 1080
    assert "c700" not in found
    assert all(found[name].equals(values[name]) for name in found)


def test_a_table_of_many_columns_has_the_rows_that_were_written(tmp_path: Path) -> None:
    rows = 5000
    columns: dict[str, Column] = {"id": pa.array(np.arange(rows))}
    for i in range(40):
        columns[f"d{i}"] = pa.array(RANDOM.random(rows))
    columns["text"] = pa.array([f"t{i}" for i in range(rows)])
    columns["none"] = pa.nulls(rows, pa.float64())
    columns["day"] = pa.array([dt.date(2026, 1, 1 + i % 28) for i in range(rows)])
    columns["nested"] = pa.array([{"a": i, "b": [i]} for i in range(rows)])
    data = pa.table(columns)
    catalog = pe.Catalog(tmp_path)
    catalog.create_database("d")
    table = catalog.create_table("d.t", schema=data.schema)
    table.append(data)
    table.append(data.slice(100, 4500))
    found = table.to_arrow()
    expected = pa.concat_tables([data, data.slice(100, 4500)]).cast(found.schema)
    assert found.combine_chunks().equals(expected.combine_chunks())
    few = ["d3", "text", *(f"d{i}" for i in range(39, 4, -1))]
    batches = table.scan(few, "id < 4000 and d7 < 0.5").to_batches()
    mask = (np.array(expected["id"]) < 4000) & (np.array(expected["d7"]) < 0.5)
    assert (
        batches.read_all()
        .combine_chunks()
        .equals(expected.filter(pa.array(mask)).select(few).combine_chunks())
    )
