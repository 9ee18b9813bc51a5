"""Results of SQL commands: small DataFrames made in the driver."""

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as st

from paimon_explore.spark.spark_types import wire_schema
from paimon_explore.sql_statements.outcome import Answer

_TYPES: dict[str, st.DataType] = {
    "string": st.StringType(),
    "int": st.IntegerType(),
    "bigint": st.LongType(),
    "boolean": st.BooleanType(),
}


def answer(spark: SparkSession, found: Answer) -> DataFrame:
    """Return the result of a command as a DataFrame."""
    pairs = [column.split() for column in found.columns.split(", ") if column]
    schema = st.StructType([st.StructField(name, _TYPES[kind]) for name, kind in pairs])
    wire = wire_schema(schema)
    arrays = [pa.array([row[at] for row in found.rows], one.type) for at, one in enumerate(wire)]
    return spark.createDataFrame(pa.Table.from_arrays(arrays, schema=wire), schema=schema)
