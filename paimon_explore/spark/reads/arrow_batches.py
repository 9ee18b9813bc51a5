"""Limits the size of the Arrow batches that Spark passes to Python workers.

By default Spark (4.1 and newer) ends a batch at 10,000 rows or 64 MB. For the latter it sums the
size of all buffers after every row, which takes more than half of the JVM's time for making
batches. If rows cannot be large, a row limit alone keeps batches small.

The limits are local properties of the calling thread: other jobs of the session keep theirs, and
settings of the user for the session take precedence.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame
from pyspark.sql import types as st

_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_UNMEASURED = 2**31 - 1
"""The value of a limit that disables it."""
_MAX_ROWS = 2048
_MIN_ROWS = 256
_MAX_STRINGS = 16_384
"""Rows of a batch with strings: 1 GB if they have 64 kB on average."""
_FIXED = (
    st.BooleanType,
    st.NumericType,
    st.DateType,
    st.TimestampType,
    st.TimestampNTZType,
    st.DayTimeIntervalType,
    st.YearMonthIntervalType,
)


@contextmanager
def counted_batches(df: DataFrame) -> Iterator[None]:
    """Limit batches by rows instead of bytes for jobs of this thread inside the context.

    Does nothing if rows may be large, e.g. with binary or nested columns.
    """
    rows = rows_of_a_batch(df.schema)
    if rows is None:
        yield
        return
    context = df.sparkSession.sparkContext
    wanted = {_ROWS: str(rows), _BYTES: str(_UNMEASURED)}
    before = {key: context.getLocalProperty(key) for key in wanted}
    try:
        for key, value in wanted.items():
            context.setLocalProperty(key, value)
        yield
    finally:
        for key, old in before.items():
            context.setLocalProperty(key, old)  # type: ignore[arg-type]  # None takes it away


def rows_of_a_batch(schema: st.StructType) -> int | None:
    """Return a number of rows that always fits into one batch; None if unknown."""
    texts = 0
    for field in schema.fields:
        if isinstance(field.dataType, st.StringType | st.CharType | st.VarcharType):
            texts += 1
        elif not isinstance(field.dataType, _FIXED):
            return None
    return max(min(_MAX_ROWS, _MAX_STRINGS // max(texts, 1)), _MIN_ROWS)
