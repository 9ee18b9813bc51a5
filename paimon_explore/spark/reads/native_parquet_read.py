"""Reads of files with Spark's Parquet reader, for files without merge, cast or deletions.

Reading through Python costs an append scan twice as much CPU. The scan plan decides per file. Spark
reads a file if

- the file's rows are the table's rows, with no deletion vector;
- the rest of the predicate is empty or has the same meaning in Spark (see `pushed_predicates`):
  then Spark filters, and prunes row groups by their bounds;
- it is Parquet of the reading schema, with all columns (files of tables migrated from Hive have no
  partition columns), and each selected column has a type that
  all writers store as Spark reads it: no times, timestamps, variants or nested types;
- no names of its columns differ by case alone;
- it is on a local disk, under a path without the characters of Spark's path patterns.

Spark declares all columns of files nullable.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession

from paimon_explore.data_types.definitions import (
    BYTES,
    NUMBERS,
    TEXTS,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.expression import TRUE, names_of
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.spark.read_plan import ReadJob
from paimon_explore.spark.reads.predicates_as_spark_columns import spark_condition
from paimon_explore.spark.spark_types import spark_schema
from paimon_explore.sql_statements.quoted_names import are_distinct, quoted

_PLAIN_PATH = re.compile(r"[\w./=@ -]+")
_SAME_EVERYWHERE = NUMBERS | TEXTS | BYTES | {TypeRoot.BOOLEAN, TypeRoot.DATE}
_MOST_FILES = 1000


def native_files(job: ReadJob, splits: Sequence[Split]) -> tuple[list[str], list[Split]]:
    """Return the paths that Spark reads, and the remaining splits.

    Args:
        job: the read.
        splits: all splits of the read.
    """
    reader = job.reader
    fields = _stored(job).fields
    if (
        not job.row_type.fields
        or not isinstance(reader.store.file_io, LocalFileIO)
        or not are_distinct(reader.schema.row_type.names)
        or not all(is_same_everywhere(field.type) for field in fields)
        or (reader.predicate != TRUE and _condition(job) is None)
    ):
        return [], list(splits)
    paths: list[str] = []
    rest: list[Split] = []
    names = {field.name for field in fields}
    keys = names.intersection(reader.schema.partition_keys)
    for split in splits:
        taken = _taken(split, reader.schema, keys)
        if isinstance(split, DataSplit) and any(taken) and len(paths) < _MOST_FILES:
            paths += [path for path, hit in zip(split.paths, taken, strict=True) if hit]
            rest += [split.file(row) for row, hit in enumerate(taken) if not hit]
        else:
            rest.append(split)
    return paths, rest


def is_same_everywhere(data_type: DataType) -> bool:
    """Return whether all writers store values of a type as Spark reads and writes them."""
    return is_root(data_type, *_SAME_EVERYWHERE)


def is_plain_path(path: str) -> bool:
    """Return whether a path has no special characters of Spark's path patterns."""
    return _PLAIN_PATH.fullmatch(path) is not None


def _taken(split: Split, schema: TableSchema, keys: AbstractSet[str]) -> list[bool]:
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        return []
    wanted = ("file_name", "schema_id", "write_cols")
    rows = split.files.table.select(wanted).to_pylist()
    return [
        row["schema_id"] == schema.id
        and row["write_cols"] is None
        and row["file_name"] not in split.deletion_files
        and path.endswith(".parquet")
        and is_plain_path(path)
        and (not keys or _stores(path, keys))
        for row, path in zip(rows, split.paths, strict=True)
    ]


def _stores(path: str, keys: AbstractSet[str]) -> bool:
    """Return whether a file has these columns; False if it cannot be read."""
    try:
        return keys <= {*pq.read_schema(path).names}
    except (OSError, pa.ArrowException):
        return False  # the reader of single files names the problem


def read_native(spark: SparkSession, paths: Sequence[str], job: ReadJob) -> DataFrame:
    """Read Parquet files with Spark, without rebasing old dates."""
    stored = job.schema if job.reader.predicate == TRUE else spark_schema(_stored(job))
    reader = spark.read.schema(stored).option("datetimeRebaseMode", "CORRECTED")
    rows = reader.parquet(*(f"file://{path}" for path in paths))
    condition = _condition(job)
    if condition is None:
        return rows
    return rows.filter(condition).select([quoted(name) for name in job.schema.fieldNames()])


def _stored(job: ReadJob) -> RowType:
    """Return the selected columns and those that the predicate needs."""
    wanted = job.row_type.names
    more = sorted(names_of(job.reader.predicate) - set(wanted))
    return job.reader.schema.project((*wanted, *more))


def _condition(job: ReadJob) -> Column | None:
    return spark_condition(job.reader.predicate, _stored(job))
