"""COPY INTO without Spark."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.errors import InvalidInputError
from support.copy_into_tests import *  # noqa: F403 - the tests of all engines
from support.spark_sql import Rows, Run


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("ARRAY<INT>", pa.array([[1 << 40]])),
        ("STRUCT<x: INT>", pa.array([{"x": 1 << 40}])),
        ("MAP<STRING, SMALLINT>", pa.array([[("a", 70_000)]], pa.map_(pa.string(), pa.int64()))),
    ],
)
def test_a_nested_number_that_does_not_fit_is_not_loaded(
    run: Run, rows: Rows, tmp_path: Path, kind: str, value: "pa.Array[pa.Scalar[pa.DataType]]"
) -> None:
    (tmp_path / "files").mkdir()
    pq.write_table(pa.table({"v": value}), tmp_path / "files" / "a.parquet")
    run(f"CREATE TABLE nested (v {kind})")
    with pytest.raises(InvalidInputError, match="'v' does not fit its type"):
        run(f"COPY INTO nested FROM '{tmp_path / 'files'}' FILE_FORMAT = (TYPE = PARQUET)")
    assert rows("SELECT * FROM nested") == []
