"""The first and last timestamps of 64 bits: `pandas.Timestamp.max`, infinity of DuckDB."""

from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import build_fixed
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.catalog.catalog import Catalog

UNITS: tuple[Literal["ms", "us", "ns"], ...] = ("ms", "us", "ns")
LAST, FIRST = 2**63 - 1, -(2**63)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro", "row"])
@pytest.mark.parametrize("is_key", [False, True])
def test_the_first_and_last_timestamps_are_read_back(
    tmp_path: Path, file_format: str, *, is_key: bool
) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("db")
    for unit, value in product(UNITS, (LAST, LAST - 1, FIRST + 1, FIRST)):
        if (file_format, unit) == ("avro", "ns") or (file_format, unit, value < 0) == (
            *("orc", "ms"),
            True,  # ORC counts seconds from 2015
        ):
            continue
        times = build_fixed(pa.timestamp(unit), np.array([0, value], np.int64))
        fields = [pa.field("k", pa.int32(), nullable=False), pa.field("t", times.type, not is_key)]
        rows = pa.table({"k": pa.array([0, 1], pa.int32()), "t": times}, pa.schema(fields))
        name = f"db.t_{unit}_{value % 7}_{value < 0}"
        keys = ["k", "t"] if is_key else None
        options = {"file.format": file_format, "bucket": "1" if is_key else "-1"}
        table = catalog.create_table(name, rows.schema, primary_key=keys, options=options)
        (table.upsert if is_key else table.append)(rows)
        found = catalog.table(name)
        assert found.to_arrow().sort_by("k")["t"].combine_chunks().equals(times)
        later = found.scan(where="t > '1970-01-02 00:00:00'").to_arrow()
        assert later["k"].to_pylist() == [1] * (value > 0)


def test_seconds_beyond_64_bit_milliseconds_are_refused(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"t": "TIMESTAMP(0)"})
    for value in (LAST // 1000, -(LAST // 1000)):
        table.append(pa.table({"t": pa.array([value], pa.timestamp("s"))}))
    for value in (LAST, LAST // 1000 + 1, FIRST):
        with pytest.raises(InvalidInputError, match="is out of range"):
            table.append(pa.table({"t": pa.array([value], pa.timestamp("s"))}))
    assert catalog.table("db.t").count() == len((1, -1))
