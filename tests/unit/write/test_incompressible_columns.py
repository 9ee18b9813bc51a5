"""Parquet columns that zstd hardly compresses are stored uncompressed, unless a codec is set."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_explore as pe

ROWS = 10_000
RANDOM = np.random.default_rng(5)
COLUMNS: dict[str, tuple[npt.NDArray[np.generic], str]] = {
    "random_doubles": (RANDOM.random(ROWS), "UNCOMPRESSED"),
    "random_floats": (RANDOM.random(ROWS, np.float32), "UNCOMPRESSED"),
    "hashes": (RANDOM.integers(-(2**63), 2**63 - 1, ROWS), "UNCOMPRESSED"),
    "small_integers": (RANDOM.integers(0, 10**9, ROWS), "ZSTD"),
    "prices": (np.round(RANDOM.random(ROWS) * 100, 2), "ZSTD"),
    "consecutive": (np.arange(ROWS), "ZSTD"),
    "constant": (np.full(ROWS, 0.1), "ZSTD"),
    "few_values": (RANDOM.choice(RANDOM.random(10), ROWS), "ZSTD"),
    "bytes": (RANDOM.integers(-128, 128, ROWS).astype(np.int8), "ZSTD"),
}


def codecs(table: pe.Table) -> dict[str, str]:
    """The codec of each column of the only data file."""
    (path,) = Path(table.path).rglob("data-*.parquet")
    group = pq.ParquetFile(path).metadata.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    return {chunk.path_in_schema: chunk.compression for chunk in chunks}


def table_of(data: pa.Table, warehouse: Path, options: dict[str, str]) -> pe.Table:
    """A new table with these rows."""
    catalog = pe.Catalog(warehouse)
    catalog.create_database("d")
    table = catalog.create_table("d.t", schema=data.schema, options=options)
    table.append(data)
    return table


def test_columns_that_do_not_compress_are_stored_uncompressed(tmp_path: Path) -> None:
    data = pa.table({name: pa.array(values) for name, (values, _) in COLUMNS.items()})
    table = table_of(data, tmp_path, {})
    assert codecs(table) == {name: codec for name, (_, codec) in COLUMNS.items()}
    assert table.to_arrow().equals(data.cast(table.to_arrow().schema))


@pytest.mark.parametrize(
    "options",
    [
        {"file.compression": "zstd"},
        {"file.compression": "ZSTD", "file.compression.zstd-level": "3"},
        {"file.compression.zstd-level": "1"},
        {"file.compression.per.level": "0:zstd"},
        {"changelog-file.compression": "zstd"},
    ],
    ids=str,
)
def test_a_codec_that_the_table_names_is_used_for_all_columns(
    tmp_path: Path, options: dict[str, str]
) -> None:
    data = pa.table({name: pa.array(values) for name, (values, _) in COLUMNS.items()})
    assert set(codecs(table_of(data, tmp_path, options)).values()) == {"ZSTD"}


def test_random_values_are_stored_as_they_are_between_nulls_and_in_lists_but_not_if_few(
    tmp_path: Path,
) -> None:
    few = pa.table({"v": pa.array(RANDOM.random(4095))})
    assert codecs(table_of(few, tmp_path / "few", {})) == {"v": "ZSTD"}
    values = RANDOM.random(ROWS)
    mixed = pa.table(
        {
            "nulls": pa.array(values, mask=np.arange(ROWS) % 2 == 0),
            "nested": pa.array([[value] for value in values.tolist()]),
            "dense": pa.array(values),
        }
    )
    assert codecs(table_of(mixed, tmp_path / "mixed", {})) == {
        "nulls": "UNCOMPRESSED",
        "nested.list.element": "UNCOMPRESSED",
        "dense": "UNCOMPRESSED",
    }
