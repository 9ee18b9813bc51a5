"""Tables of other writers read through Spark as without it: all of them when asked for.

`PAIMON_EXPLORE_ALL_GOLDEN=1` reads every table; else `test_reading.py` reads a sample.

Not compared, for Spark's types cannot hold the values or PySpark cannot carry them:
columns with VARIANT (Arrow conversion fails on nulls, `to_json` works). Timestamps are compared to
the microsecond, which is all that Spark has.
"""

import os

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.spark.reads.read_table import read
from support.golden import WRITERS, GoldenTables
from support.rows import difference
from support.spark_rows import in_micros

pytestmark = pytest.mark.skipif(
    not os.environ.get("PAIMON_EXPLORE_ALL_GOLDEN"),
    reason="set PAIMON_EXPLORE_ALL_GOLDEN=1 to read every table",
)


def compared(spark: SparkSession, folder: str) -> str:
    """What differs; nothing if the rows are the same, or the table is not read at all."""
    table = pe.open_table(folder)
    try:
        rows = table.to_arrow()
    except PaimonError:
        return ""
    columns = [c.name for c in table.schema.fields if "VARIANT" not in str(c.type)]
    found: pa.Table = read(spark, table, columns).toArrow()
    return difference(in_micros(rows.select(columns)), found)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_table_reads_the_same(writer: str, golden: GoldenTables, spark: SparkSession) -> None:
    wrong = {}
    for name in golden.names(writer):
        said = compared(spark, str(golden.table(writer, name).folder))
        if said:
            wrong[name] = said
    assert wrong == {}
