"""`pe.spark.write`: writes a DataFrame in Spark tasks, with one commit on the driver.

| table | rows go to tasks |
| --- | --- |
| append, no buckets | unshuffled; often written by Spark itself, see `native_parquet_write` |
| postponed buckets | unshuffled |
| primary key, fixed buckets, no partitions, few tasks | unshuffled: each writes all buckets |
| other fixed buckets | by partition and bucket: one task writes a bucket |
| dynamic buckets | by partition: one task assigns the buckets of a partition |
| the same, keys without the partition | to one task, which has the index of all keys |

Without a shuffle an upsert costs half as much, and every task adds a sorted run to every bucket.
Sequence numbers keep the rows of one key in order for every merge engine: each task has its own
range, and later tasks have higher ranges. Rows are shuffled only if the sorted runs of this write
alone would trigger a compaction, or if sequence numbers are not used
(`sequence.snapshot-ordering`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.arguments import optional_mapping
from paimon_explore.commit.overwrite import Overwrite
from paimon_explore.data_types.arrow_buffers import gathered
from paimon_explore.errors import InvalidInputError, choices, undo_on_error
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET
from paimon_explore.metadata.schema.fixed_buckets import fixed_buckets
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.spark.argument_checks import check_frame
from paimon_explore.spark.column_matching import matched_columns
from paimon_explore.spark.executor_tasks import WRITE_ROWS, WriteJob, pack, unpack, write_rows
from paimon_explore.spark.read_plan import table_with_options
from paimon_explore.spark.spark_types import from_spark, spark_type
from paimon_explore.spark.writes.bucket_assignment import bucket_expression, task_expression
from paimon_explore.spark.writes.distributed_compaction import compact_written
from paimon_explore.spark.writes.driver_commit import publish, withdraw
from paimon_explore.spark.writes.native_parquet_write import is_native_write, write_natively
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import write_target
from paimon_explore.table.table_write import TableWriter, partition_hint
from paimon_explore.write.buckets.partition_grouping import partitions_of
from paimon_explore.write.input.table_batches import InputShape, open_rows
from paimon_explore.write.primary_key_writer import needs_key_index
from paimon_explore.write.write_target import WriteTarget

Mode = Literal["append", "upsert", "overwrite"]

MODES: tuple[Mode, ...] = ("append", "upsert", "overwrite")
_TASK = "_paimon_task"
_MOST_RUNS = 8
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


def write(
    df: DataFrame,
    table: Table | str | PathLike[str],
    mode: Mode = "append",
    *,
    partition: Mapping[str, object] | NotGiven | None = NOT_GIVEN,
    options: Mapping[str, str] | None = None,
) -> Snapshot | None:
    """Write a DataFrame into a table in one commit.

    Columns are matched by name, and their values cast where they fit. If several rows in the
    DataFrame have the same key, any of them may win, because Spark's rows have no order.

    Args:
        df: the rows; for a primary-key table the column `_ROW_KIND` may give their row kinds.
        table: the table, or its path.
        mode: `append` adds rows; `upsert` is the same and requires a primary-key table;
            `overwrite` replaces rows, as `Table.overwrite` does.
        partition: values of the partition columns to overwrite; None or no values mean the same
            as for `Table.overwrite`.
        options: table options for this write.

    Returns:
        The snapshot with the rows; None if there were none.

    Raises:
        InvalidInputError: columns or values that do not fit, an unknown mode, a table opened with
            time travel, or an upsert into a table without primary key.
        CommitError: the commit failed; nothing is visible, and all files were removed.
        CommitOutcomeUnknownError: the storage did not confirm the commit; check before retrying.
    """
    if mode not in MODES:
        raise InvalidInputError(f"Unknown mode {mode!r}.", hint=f"Use {choices(MODES)}.")
    check_frame(df)
    found = table_with_options(table, options or {})
    if partition is not NOT_GIVEN:
        hint = partition_hint(found.schema.partition_keys)
        optional_mapping("partition", partition, hint=hint)
    target = write_target(found, replaces=mode == "overwrite")
    if mode == "upsert" and not target.schema.primary_keys:
        msg = f"Mode 'upsert' requires a primary key, but table {found.name} has none."
        raise InvalidInputError(msg, hint="Use mode 'append', or INSERT INTO for 'upsert-key'.")
    writer = TableWriter(store=target.store, schema=target.schema, options=target.options)
    stated = writer.partition_argument(partition) if mode == "overwrite" else None
    what = writer.replaced(stated) if mode == "overwrite" else None
    return written(df, target, what)


def written(
    df: DataFrame,
    target: WriteTarget,
    what: Overwrite | None,
    removals: Callable[[], list[CommitMessage]] = list,
    commit: Callable[[WriteTarget, list[CommitMessage]], Snapshot | None] | None = None,
) -> Snapshot | None:
    """Write rows in Spark tasks and commit once; removes all new files on failure.

    Args:
        df: the rows.
        target: the table, with a separate job id.
        what: what an overwrite replaces; None for an append or upsert.
        removals: returns the files that the same commit removes.
        commit: commits the messages instead of an append, upsert or overwrite.

    Raises:
        InvalidInputError: columns or values that do not fit.
        CommitError: the commit failed; nothing is visible, and all files were removed.
    """
    tasks = df.sparkSession.sparkContext.defaultParallelism
    job = WriteJob(
        target=target,
        columns=matched_columns(df.schema, target.schema),
        shares_buckets=shares_buckets(target, tasks),
    )
    rows = df.toDF(*(f"_{at}" for at in range(len(df.columns))))  # mapInArrow accepts no dots
    messages: list[CommitMessage] = []
    with undo_on_error(withdraw, target, messages):
        messages += _messages(rows, job)
        messages += removals()
        made = publish(target, messages, what) if commit is None else commit(target, messages)
    if made is None or what is not None or commit is not None:
        return made
    return compact_written(df.sparkSession, target, messages) or made


def _messages(df: DataFrame, job: WriteJob) -> list[CommitMessage]:
    """Write rows in Spark tasks without a commit; returns the commit messages."""
    if is_native_write(df, job):
        return write_natively(distributed(df, job), job)
    rows = distributed(df, job)
    with counted_batches(rows):
        sent = rows.mapInArrow(partial(_run, job), "message binary").collect()
    return [message for row in sent for message in unpack(bytes(row["message"]))]


def _run(job: WriteJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    message = pack(write_rows(job, batches))
    yield pa.RecordBatch.from_arrays([pa.array([message], pa.binary())], names=["message"])


def shares_buckets(target: WriteTarget, tasks: int) -> bool:
    """Return whether every task writes all buckets.

    Args:
        target: the table.
        tasks: number of tasks that write at the same time.
    """
    schema, options = target.schema, target.options
    if (
        not schema.primary_keys
        or schema.partition_keys
        or options.value(opt.BUCKET) <= 0
        or options.value(opt.SEQUENCE_SNAPSHOT_ORDERING)
    ):
        return False
    if options.value(opt.WRITE_ONLY):
        return tasks <= _MOST_RUNS
    return tasks < min(options.value(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER), _MOST_RUNS)


def _is_in_driver(df: DataFrame) -> bool:
    """Return whether the rows are local to the driver and too few for several tasks."""
    plan = df._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - PySpark has no other way to ask
    return str(plan.getClass().getSimpleName()) == "LocalRelation"


def distributed(df: DataFrame, job: WriteJob) -> DataFrame:
    """Shuffle the rows to the tasks that write them."""
    schema, options = job.target.schema, job.target.options
    tasks = df.sparkSession.sparkContext.defaultParallelism
    buckets = options.value(opt.BUCKET)
    if _is_in_driver(df):
        return df.coalesce(1)
    if job.shares_buckets:
        return df.coalesce(tasks)
    if buckets > 0:
        return _by_bucket(df, job, tasks if schema.partition_keys else min(tasks, buckets))
    if buckets == DYNAMIC_BUCKET and schema.primary_keys:
        own = {column: df.columns[i] for i, column in enumerate(job.columns)}
        names = [quoted(own[key]) for key in schema.partition_keys if key in own]
        one = not names or needs_key_index(schema, options)
        return df.coalesce(1) if one else df.repartition(tasks, *names)
    return df


def _by_bucket(df: DataFrame, job: WriteJob, count: int) -> DataFrame:
    """Shuffle the rows so that one task has all rows of a bucket."""
    if count == 1:
        return df.coalesce(1)
    expression = _task_column(df, job, count)
    if expression is not None:
        return df.withColumn(_TASK, expression).repartitionById(count, _TASK)
    number = st.StructField(_TASK, st.IntegerType(), nullable=False)
    schema = st.StructType([*df.schema.fields, number])
    return df.mapInArrow(partial(_number, job, count), schema).repartitionById(count, _TASK)


def _task_column(df: DataFrame, job: WriteJob, count: int) -> Column | None:
    """Return the task of a row as an expression; None if Python has to compute it."""
    schema, options = job.target.schema, job.target.options
    positions = {name: at for at, name in enumerate(job.columns)}
    wanted = schema.project(dict.fromkeys((*schema.partition_keys, *schema.bucket_keys)))
    if options.value(opt.BUCKET_FUNCTION).value != "default":
        return None
    if not all(
        field.name in positions
        and df.schema.fields[positions[field.name]].dataType == spark_type(field.type)
        for field in wanted
    ):
        return None
    own = {name: f.col(quoted(df.columns[at])) for name, at in positions.items()}
    keys = schema.project(schema.bucket_keys)
    types = [field.type for field in keys]
    bucket = bucket_expression([own[name] for name in keys.names], types, options.value(opt.BUCKET))
    if bucket is None:
        return None
    return task_expression(bucket, [own[name] for name in schema.partition_keys], count)


def _number(
    job: WriteJob, count: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add the number of the task that writes their bucket to the rows."""
    for batch in gathered(batches, WRITE_ROWS):
        numbers = pa.array(task_numbers(batch, job, count).tolist(), pa.int32())
        yield batch.append_column(pa.field(_TASK, pa.int32(), nullable=False), numbers)


def task_numbers(batch: pa.RecordBatch, job: WriteJob, count: int) -> npt.NDArray[np.int64]:
    """Return the task that writes each row, by partition and bucket.

    Args:
        batch: n rows of Spark.
        job: the write.
        count: number of tasks.
    """
    target: WriteTarget = job.target
    schema = target.schema
    wanted = list(dict.fromkeys((*schema.partition_keys, *schema.bucket_keys)))
    row_type = schema.project(wanted)
    positions = [job.columns.index(name) for name in wanted if name in job.columns]
    taken = from_spark(batch.select(positions), [job.columns[place] for place in positions])
    rows = next(iter(open_rows(taken, InputShape(row_type=row_type))))
    partitions = partitions_of(rows, schema.partition_type)
    offsets = np.array([crc32(key) % count for key in partitions.keys], np.int64)
    buckets = fixed_buckets(rows, schema, target.options)
    return (offsets[partitions.numbers] + buckets) % count


# By default Spark (4.1 and newer) ends a batch at 10,000 rows or 64 MB. For the latter it sums the
# size of all buffers after every row, which takes more than half of the JVM's time for making
# batches. If rows cannot be large, a row limit alone keeps batches small.
#
# The limits are local properties of the calling thread: other jobs of the session keep theirs, and
# settings of the user for the session take precedence.
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
