"""`pe.spark.read`: reads a table as a DataFrame, in Spark tasks that return Arrow batches.

Faster than `spark.read.format("paimon_explore")`: the plan is made in this process rather than a
separate one, only the selected columns are read, and Spark reads Parquet files that need no merge.
Both use the same planner and reader.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from os import PathLike
from typing import TypedDict

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from paimon_explore.metadata.options.table_options import BRANCH
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.spark.argument_checks import check_session
from paimon_explore.spark.driver_tasks import map_tasks
from paimon_explore.spark.executor_tasks import read_splits
from paimon_explore.spark.read_plan import ReadJob, groups, plan_splits, table_with_options
from paimon_explore.spark.reads.native_parquet_read import (
    is_same_everywhere,
    native_files,
    read_native,
)
from paimon_explore.spark.reads.special_reads import (
    PREDICATED,
    SpecialRead,
    local_rows,
    special_read,
    system_of,
    where_text,
)
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan
from paimon_explore.table.table import Table, open_table

DRIVER_BYTES = "spark.paimon_explore.readInDriver.bytes"
"""Setting of a session: tables that need a merge and are not larger are read by the driver."""
_DRIVER_BYTES = 1024 * 1024
_DRIVER_FILES = 32


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
        local = local_rows(table).frame(spark)
        local = local if where is None else local.filter(where_text(where))
        return local if columns is None else local.select([quoted(name) for name in columns])
    points: Points = {
        "snapshot": snapshot,
        "tag": tag,
        "timestamp": timestamp,
        "watermark": watermark,
        "version": version,
    }
    base, system = (table, None) if isinstance(table, Table) else system_of(table)
    found = table_at(base, branch, options, points)
    pushed = where if system is None or system in PREDICATED else None
    if pushed is not where:
        rows = read_planned(spark, special_read(found, system, None, None))
        rows = rows.filter(where_text(where or ""))
        return rows if columns is None else rows.select([quoted(name) for name in columns])
    return read_planned(spark, special_read(found, system, columns, where))


def read_planned(spark: SparkSession, scan: Scan | SpecialRead) -> DataFrame:
    """Return the rows of a scan or special read as a DataFrame."""
    if isinstance(scan, SpecialRead):
        return scan.frame(spark)
    job, splits = plan_splits(scan)
    if job.reader.predicate != TRUE and _is_small(spark, job, splits):
        return _through_python(spark, job, splits)
    paths, rest = native_files(job, splits)
    if not paths:
        return _through_python(spark, job, rest)
    files = read_native(spark, paths, job)
    return files.union(_through_python(spark, job, rest)) if rest else files


def _through_python(spark: SparkSession, job: ReadJob, splits: Sequence[Split]) -> DataFrame:
    if _is_small(spark, job, splits):
        rows = pa.Table.from_batches(read_splits(job, splits), schema=job.wire)
        return spark.createDataFrame(rows, schema=job.schema)
    tasks = groups(splits, spark.sparkContext.defaultParallelism)
    return map_tasks(spark, tasks, partial(read_splits, job), job.schema)


def _is_small(spark: SparkSession, job: ReadJob, splits: Sequence[Split]) -> bool:
    """Return whether reading in the driver is faster than starting tasks."""
    limit = int(str(spark.conf.get(DRIVER_BYTES, str(_DRIVER_BYTES))))
    files = sum(len(split.files) for split in splits)
    return (
        0 < files <= _DRIVER_FILES
        and sum(split.files.total_size for split in splits) <= limit
        and all(is_same_everywhere(field.type) for field in job.row_type)
    )


class Points(TypedDict):
    """The points in time that a read may name, as for `Table.at`."""

    snapshot: int | None
    tag: str | None
    timestamp: datetime | str | None
    watermark: int | None
    version: str | None


def table_at(
    table: Table | str | PathLike[str],
    branch: str | None,
    options: Mapping[str, str] | None,
    points: Points,
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
