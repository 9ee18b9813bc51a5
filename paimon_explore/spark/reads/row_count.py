"""`pe.spark.count`: counts rows from manifests, else in the driver or in Spark tasks."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from os import PathLike

import pyarrow as pa
from pyspark.sql import SparkSession

from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.read_plan import fit_one_task, groups
from paimon_explore.spark.reads.read_table import driver_bytes, table_at
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.scan import known_rows
from paimon_explore.table.table import Table


def count(  # noqa: PLR0913 - the choices of one read
    spark: SparkSession,
    table: Table | str | PathLike[str],
    where: Where | None = None,
    *,
    branch: str | None = None,
    snapshot: int | None = None,
    tag: str | None = None,
    timestamp: datetime | str | None = None,
    watermark: int | None = None,
    version: str | None = None,
    options: Mapping[str, str] | None = None,
) -> int:
    """Count the rows of a table.

    Files that need no merge or filter are counted by their manifest entries and deletion vectors.
    Tasks read only the other files, and only the columns that merging and filtering need; if one
    task is enough for them, the driver reads them instead.

    Args:
        spark: the session.
        table: the table, a view of it at a point in time, or its path.
        where: rows to count: SQL text or `pe.col("a") > 3`.
        branch: of the table at the path.
        snapshot: the point in time, as for `read`.
        tag: the same.
        timestamp: the same.
        watermark: the same.
        version: the same.
        options: table options for this read.

    Raises:
        NotFoundError: there is no such table, branch, snapshot or tag.
        InvalidInputError: an invalid predicate.
    """
    check_session(spark)
    opened = table_at(
        table,
        branch,
        options,
        snapshot=snapshot,
        tag=tag,
        timestamp=timestamp,
        watermark=watermark,
        version=version,
    )
    scan = opened.scan([], where)
    plan = scan.plan()
    total, rest = known_rows(plan)
    reader = SplitReader(target=scan.target, columns=(), predicate=plan.rest)
    if not rest:
        return total
    if driver_bytes(spark) and fit_one_task(rest):
        return total + _count(reader, scan.target.snapshot, rest)
    tasks = groups(rest, spark.sparkContext.defaultParallelism)
    work = partial(_counted, reader, scan.target.snapshot)
    counted = map_tasks(spark, tasks, work, "n long")
    return total + sum(int(row["n"]) for row in counted.collect())


def _counted(
    reader: SplitReader, snapshot: Snapshot | None, splits: Iterable[Split]
) -> Iterator[pa.RecordBatch]:
    """Count the rows of one task."""
    rows = _count(reader, snapshot, splits)
    yield pa.RecordBatch.from_arrays([pa.array([rows], pa.int64())], names=["n"])


def _count(reader: SplitReader, snapshot: Snapshot | None, splits: Iterable[Split]) -> int:
    with explain_missing_files(reader.target.store, snapshot):
        return sum(part.num_rows for split in splits for part in read_split(reader, split))
