"""Results of SQL commands: small DataFrames made in the driver."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as st

from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.spark.spark_types import wire_schema

_TYPES: dict[str, st.DataType] = {
    "string": st.StringType(),
    "int": st.IntegerType(),
    "bigint": st.LongType(),
    "boolean": st.BooleanType(),
}


def answer(spark: SparkSession, columns: str, rows: Sequence[Sequence[object]]) -> DataFrame:
    """Return rows as a DataFrame.

    Args:
        spark: the session.
        columns: names and types: string, int, bigint or boolean, as `name string, count bigint`.
        rows: the values.
    """
    pairs = [column.split() for column in columns.split(", ")]
    schema = st.StructType([st.StructField(name, _TYPES[kind]) for name, kind in pairs])
    wire = wire_schema(schema)
    arrays = [pa.array([row[at] for row in rows], one.type) for at, one in enumerate(wire)]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=wire), schema=schema)


def done(spark: SparkSession) -> DataFrame:
    """Return an empty result."""
    return spark.createDataFrame(pa.table({}), schema=st.StructType([]))


def committed(spark: SparkSession, snapshot: Snapshot | None) -> DataFrame:
    """Return the id of the snapshot of a change; null if nothing changed."""
    return answer(spark, "snapshot_id bigint", [(None if snapshot is None else snapshot.id,)])
