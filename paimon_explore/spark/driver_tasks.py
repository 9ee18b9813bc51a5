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


def map_tasks(
    spark: SparkSession,
    tasks: Sequence[Task],
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    schema: StructType | str,
) -> DataFrame:
    """Return the rows that a function makes of each task, computed in one Spark task each.

    Args:
        spark: the session.
        tasks: sent to the workers by pickling.
        work: runs one task; sent by pickling, too.
        schema: the Spark schema of the rows.
    """
    run = partial(_run, work, [pickle.dumps(task) for task in tasks])
    numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return numbers.mapInArrow(run, schema)


def _run(
    work: Callable[[Task], Iterator[pa.RecordBatch]],
    tasks: Sequence[bytes],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Run the tasks whose numbers arrive."""
    lighten_worker()
    for batch in batches:
        for number in batch.column(0).to_pylist():
            task: Task = pickle.loads(tasks[number or 0])  # noqa: S301 - bytes of our driver
            yield from work(task)
