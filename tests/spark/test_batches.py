"""How many rows a worker gets at a time."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import _parse_datatype_string

from paimon_explore.spark.writes.write_table import counted_batches, rows_of_a_batch

BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


def sizes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The number of rows of every batch."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([batch.num_rows])], names=["rows"])


def handed_over(df: DataFrame) -> list[int]:
    return [row["rows"] for row in df.mapInArrow(sizes, "rows long").collect()]


def test_batches_are_counted_within_the_block_only(spark: SparkSession) -> None:
    df = spark.range(0, 5000, 1, 1).selectExpr("id", "concat('t', id) AS text")
    with counted_batches(df):
        assert handed_over(df) == [2048, 2048, 904]
        assert spark.sparkContext.getLocalProperty(BYTES) == "2147483647"
    assert handed_over(df) == [5000]
    assert spark.sparkContext.getLocalProperty(BYTES) is None


def test_what_the_user_has_set_stays(spark: SparkSession) -> None:
    df = spark.range(0, 5000, 1, 1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3000")
    try:
        with counted_batches(df):
            assert handed_over(df) == [3000, 2000]
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_rows_that_may_be_large_are_still_measured(spark: SparkSession) -> None:
    df = spark.range(0, 5000, 1, 1).selectExpr("id", "CAST('x' AS BINARY) AS bytes")
    with counted_batches(df):
        assert handed_over(df) == [5000]
        assert spark.sparkContext.getLocalProperty(BYTES) is None


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        ("a INT, b DOUBLE, c DECIMAL(38, 2), d DATE, e TIMESTAMP, f TIMESTAMP_NTZ", 2048),
        (", ".join(f"t{i} STRING" for i in range(8)), 2048),
        (", ".join(f"t{i} STRING" for i in range(32)), 512),
        (", ".join(f"t{i} STRING" for i in range(500)), 256),
        ("a BINARY", None),
        ("a ARRAY<INT>", None),
        ("a STRUCT<b: INT>", None),
        ("a VARIANT", None),
    ],
)
def test_the_number_of_rows_depends_on_what_may_be_large(
    spark: SparkSession, schema: str, rows: int | None
) -> None:
    assert spark is not None
    parsed = _parse_datatype_string(schema)
    assert rows_of_a_batch(parsed) == rows  # type: ignore[arg-type]  # a struct
