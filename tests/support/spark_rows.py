"""Rows as Spark has them."""

import pyarrow as pa
import pyarrow.compute as pc


def in_micros(rows: pa.Table) -> pa.Table:
    """The rows with nanoseconds cut off in top-level columns: Spark has none."""
    columns = [
        pc.floor_temporal(column, unit="microsecond").cast(pa.timestamp("us", column.type.tz))
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns"
        else column
        for column in rows.columns
    ]
    return pa.table(columns, names=rows.schema.names)
