"""Files that Spark's own Parquet reader gives as they have to be: no merge, no cast, no deletion.

Through Python an append scan costs twice as much CPU, so such files do not go there. The one plan
decides, file by file. A file is Spark's if

- the file's rows are the table's rows, with no deletion vector;
- nothing is left to check of the predicate, or what Spark means the same by (see `conditions`):
  then Spark filters, and by the bounds in the file leaves out what cannot match;
- it is Parquet of the reading schema, with all columns, and each wanted column is of a type that
  every writer stores in the one way that Spark reads: no times, timestamps, variants, nested types;
- no names of its columns differ by their case alone;
- it lies on a local disk under a path that means itself to Spark, which takes paths as patterns.

Spark declares all columns of files nullable.
"""

import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession

from paimon_explore.data_types.definitions import AtomicType, DataType, RowType, TypeRoot
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.expression import TRUE, names_of
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.spark.quoted_names import are_distinct, quoted
from paimon_explore.spark.read_plan import ReadJob
from paimon_explore.spark.reads.pushed_predicates import spark_condition
from paimon_explore.spark.spark_types import spark_schema

_PLAIN_PATH = re.compile(r"[\w./=@ -]+")
_SAME_EVERYWHERE = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
        TypeRoot.DECIMAL,
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
        TypeRoot.BINARY,
        TypeRoot.VARBINARY,
        TypeRoot.DATE,
    }
)
_MOST_FILES = 1000


def native_files(job: ReadJob, splits: Sequence[Split]) -> tuple[list[str], list[Split]]:
    """The paths that Spark reads itself, and the splits that are left.

    Args:
        job: the read.
        splits: all that has to be read.
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
    for split in splits:
        taken = _taken(split, reader.schema)
        if isinstance(split, DataSplit) and any(taken) and len(paths) < _MOST_FILES:
            paths += [path for path, hit in zip(split.paths, taken, strict=True) if hit]
            rest += [split.file(row) for row, hit in enumerate(taken) if not hit]
        else:
            rest.append(split)
    return paths, rest


def is_same_everywhere(data_type: DataType) -> bool:
    """Whether every writer stores values of a type in the one way that Spark reads and writes."""
    return isinstance(data_type, AtomicType) and data_type.root in _SAME_EVERYWHERE


def is_plain_path(path: str) -> bool:
    """Whether a path means itself to Spark, which takes paths as patterns."""
    return _PLAIN_PATH.fullmatch(path) is not None


def _taken(split: Split, schema: TableSchema) -> list[bool]:
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
        for row, path in zip(rows, split.paths, strict=True)
    ]


def read_native(spark: SparkSession, paths: Sequence[str], job: ReadJob) -> DataFrame:
    """The rows of Parquet files, dates as they are written however old."""
    stored = job.schema if job.reader.predicate == TRUE else spark_schema(_stored(job))
    reader = spark.read.schema(stored).option("datetimeRebaseMode", "CORRECTED")
    rows = reader.parquet(*(f"file://{path}" for path in paths))
    condition = _condition(job)
    if condition is None:
        return rows
    return rows.filter(condition).select([quoted(name) for name in job.schema.fieldNames()])


def _stored(job: ReadJob) -> RowType:
    """The wanted columns, and those that the predicate needs."""
    wanted = job.row_type.names
    more = sorted(names_of(job.reader.predicate) - set(wanted))
    return job.reader.schema.project((*wanted, *more))


def _condition(job: ReadJob) -> Column | None:
    return spark_condition(job.reader.predicate, _stored(job))
