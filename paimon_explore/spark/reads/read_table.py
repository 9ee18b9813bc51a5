"""`pe.spark.read`: reads a table as a DataFrame, in Spark tasks that return Arrow batches.

Faster than `spark.read.format("paimon_explore")`: the plan is made in this process rather than a
separate one, only the selected columns are read, and Spark reads Parquet files that need no merge.
Both use the same planner and reader.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from os import PathLike
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from paimon_explore.metadata.options.table_options import BRANCH
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.pruning.bucket_pruning import lists_values
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.executor_tasks import read_splits
from paimon_explore.spark.read_plan import (
    TASK_BYTES,
    ReadJob,
    groups,
    plan_splits,
    table_with_options,
)
from paimon_explore.spark.reads.native_parquet_read import (
    is_same_everywhere,
    native_files,
    read_native,
)
from paimon_explore.spark.reads.special_reads import (
    SpecialRead,
    local_rows,
    special_read,
    system_of,
)
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table, open_table

DRIVER_BYTES = "spark.paimon_explore.readInDriver.bytes"
"""Setting of a session: the size of the files up to which the driver reads few rows itself."""
_DRIVER_BYTES = 1024 * 1024
_DRIVER_FILES = 32
_DRIVER_ROWS = 10_000


def read(  # noqa: PLR0913 - the choices of one read
    spark: SparkSession,
    table: Table | RowSource | str | PathLike[str],
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    branch: str | None = None,
    snapshot: int | None = None,
    tag: str | None = None,
    timestamp: datetime | str | None = None,
    watermark: int | None = None,
    version: str | None = None,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Read a table as a DataFrame.

    This call fixes the snapshot and files: later commits are not visible. A `filter` on the
    DataFrame removes rows after they are read; `where` also prunes files.

    Args:
        spark: the session.
        table: the table, a view of it at a point in time, a system table, or the path of a table
            with an optional suffix such as `$files`.
        columns: the columns to read, in order; None for all.
        where: rows to read: SQL text or `pe.col("a") > 3`.
        branch: of the table at the path.
        snapshot: the point in time: a snapshot id.
        tag: or a tag's name.
        timestamp: or the latest snapshot at or before that time.
        watermark: or the first snapshot with at least this watermark.
        version: or a tag's name, `watermark-<n>` or a snapshot id, as text.
        options: table options for this read.

    Raises:
        NotFoundError: there is no such table, branch, snapshot or tag.
        InvalidInputError: unknown columns, or an invalid predicate.
    """
    check_session(spark)
    if isinstance(table, RowSource):
        return local_rows(table.scan(columns, where)).frame(spark)
    base, system = (table, None) if isinstance(table, Table) else system_of(table)
    found = table_at(
        base,
        branch,
        options,
        snapshot=snapshot,
        tag=tag,
        timestamp=timestamp,
        watermark=watermark,
        version=version,
    )
    return read_planned(spark, special_read(found, system, columns, where))


def read_planned(spark: SparkSession, scan: Scan | SpecialRead) -> DataFrame:
    """Return the rows of a scan or special read as a DataFrame."""
    if isinstance(scan, SpecialRead):
        return scan.frame(spark)
    job, splits = plan_splits(scan)
    if job.reader.predicate != TRUE:
        found = _read_in_driver(spark, job, splits)
        if found is not None:
            return found
    paths, rest = native_files(job, splits)
    if not paths:
        return _through_python(spark, job, rest)
    files = read_native(spark, paths, job)
    return files.union(_through_python(spark, job, rest)) if rest else files


def _through_python(spark: SparkSession, job: ReadJob, splits: Sequence[Split]) -> DataFrame:
    if job.reader.predicate == TRUE:  # else tried already, with all splits
        found = _read_in_driver(spark, job, splits)
        if found is not None:
            return found
    tasks = groups(splits, spark.sparkContext.defaultParallelism)
    rows = sum(split.row_count for split in splits)
    return map_tasks(spark, tasks, partial(read_splits, job), job.schema, rows=rows)


def _read_in_driver(spark: SparkSession, job: ReadJob, splits: Sequence[Split]) -> DataFrame | None:
    """Return the rows, read by the driver, if they are few; None if tasks are faster.

    The driver hands over rows at several times the cost of a task, which costs more to start.
    """
    if not _is_small(spark, job, splits):
        return None
    batches: list[pa.RecordBatch] = []
    count = 0
    for batch in read_splits(job, splits):
        batches.append(batch)
        count += batch.num_rows
        if count > _DRIVER_ROWS:
            return None
    rows = pa.Table.from_batches(batches, schema=job.wire)
    return spark.createDataFrame(rows, schema=job.schema)


def _is_small(spark: SparkSession, job: ReadJob, splits: Sequence[Split]) -> bool:
    """Return whether the driver reads files in less time than a task needs to start."""
    predicate, schema = job.reader.predicate, job.reader.target.schema
    limit = driver_bytes(spark)
    if predicate == TRUE:
        if sum(split.row_count for split in splits) > _DRIVER_ROWS:
            return False
    elif limit and schema.primary_keys:
        keys = set(schema.primary_keys) - set(schema.partition_keys)
        if lists_values(predicate, keys):
            limit = max(limit, TASK_BYTES)  # row groups with other keys are not read
    files = sum(len(split.files) for split in splits)
    return (
        0 < files <= _DRIVER_FILES
        and sum(split.files.total_size for split in splits) <= limit
        and all(is_same_everywhere(field.type) for field in job.row_type)
    )


def driver_bytes(spark: SparkSession) -> int:
    """Return the size of the files up to which the driver reads them itself; 0 for never."""
    return int(str(spark.conf.get(DRIVER_BYTES, str(_DRIVER_BYTES))))


def table_at(
    table: Table | str | PathLike[str],
    branch: str | None,
    options: Mapping[str, str] | None,
    **points: Any,  # noqa: ANN401 - as `Table.at`
) -> Table:
    """Open a table at a point in time.

    Raises:
        NotFoundError: there is no such table, branch, snapshot or tag.
    """
    if isinstance(table, Table):
        given = {**(options or {}), **({} if branch is None else {BRANCH.key: branch})}
        found = table_with_options(table, given)
    else:
        found = open_table(table, branch, options=options)
    if all(point is None for point in points.values()):
        return found
    return found.at(**points)
