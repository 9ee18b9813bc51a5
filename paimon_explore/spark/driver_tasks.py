"""Spark jobs of a list of tasks that the driver has planned, such as groups of splits."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from paimon_explore.spark.python_worker_patches import lighten_worker

Task = TypeVar("Task")
_MOST_NUMBERS = 10_000_000
"""Spark generates and filters so many numbers within some 30 ms."""


def map_tasks(
    spark: SparkSession,
    tasks: Sequence[Task],
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    schema: StructType | str,
    *,
    rows: int = 0,
) -> DataFrame:
    """Return the rows that a function makes of each task, computed in one Spark task each.

    Args:
        spark: the session.
        tasks: sent to the workers by pickling.
        work: runs one task; sent by pickling, too.
        schema: the Spark schema of the rows.
        rows: how many rows there are at most, by which Spark chooses how to join them; 0 if they
            are not joined.
    """
    count = max(1, len(tasks))
    # to Spark, the result has half as many rows as there are numbers before the filter; it compiles
    # a filter once, so there are few of them
    step = 1 << (min(2 * rows, _MOST_NUMBERS) // count).bit_length()
    run = partial(_run, work, [pickle.dumps(task) for task in tasks], step)
    numbers = spark.range(0, len(tasks) * step, 1, count)
    return (numbers.filter(f"id % {step} = 0") if rows else numbers).mapInArrow(run, schema)


def _run(
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    tasks: Sequence[bytes],
    step: int,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run the tasks whose numbers, times the step, arrive."""
    lighten_worker()
    for batch in batches:
        for number in batch.column(0).to_pylist():
            task: Task = pickle.loads(tasks[(number or 0) // step])  # noqa: S301 - bytes of our driver
            yield from work(task)
