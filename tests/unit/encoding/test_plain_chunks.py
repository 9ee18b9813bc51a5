"""Column chunks of nothing but values are read as Arrow reads them; others are refused."""

import datetime as dt
import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.parquet.plain_chunks import PlainChunk, plain_chunk

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


def chunk_of(data: bytes) -> PlainChunk | None:
    """The first column chunk of a file."""
    file = pq.ParquetFile(pa.BufferReader(data))
    group, column = file.metadata.row_group(0), file.metadata.schema.column(0)
    return plain_chunk(group, column, 0, file.schema_arrow.field(0).type)


def read(data: bytes) -> "Column | None":
    """The values of the first column chunk; None if it is refused."""
    chunk = chunk_of(data)
    return None if chunk is None else chunk.read(pa.BufferReader(data))


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("page_bytes", [1 << 20, 1000])
@pytest.mark.parametrize("name", VALUES)
def test_values_of_fixed_width_are_read(name: str, page_bytes: int, *, nullable: bool) -> None:
    for statistics in (True, False):
        data = written(
            VALUES[name],
            data_page_size=page_bytes,
            write_batch_size=100,
            write_statistics=statistics,
            nullable=nullable,
        )
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
    values = VALUES["double"].slice(0, 300)
    data = bytearray(written(values, data_page_size=800, write_batch_size=50))
    chunk = chunk_of(bytes(data))
    assert chunk is not None
    agreed = 0
    for at in range(chunk.offset, chunk.offset + chunk.size):
        for bit in (1, 4, 128):
            data[at] ^= bit
            found = chunk.read(pa.BufferReader(bytes(data)))
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
    assert agreed > 1000  # most damage is in the values


@pytest.mark.parametrize("size", [0, 1, -1])
def test_a_wrong_size_is_refused(size: int) -> None:
    data = written(VALUES["int64"])
    found = chunk_of(data)
    assert found is not None
    chunk = PlainChunk(
        type=found.type,
        width=found.width,
        rows=found.rows,
        offset=found.offset,
        size=found.size + size if size else 0,
        optional=found.optional,
    )
    assert chunk.read(pa.BufferReader(data)) is None


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
