"""Files that Spark's own Parquet reader gives as they have to be: no merge, no cast, no deletion.

Through Python an append scan costs twice as much CPU, so such files do not go there. The one plan
decides, file by file. A file is Spark's if

- the file's rows are the table's rows, with no deletion vector, and no predicate is left to check;
- it is Parquet of the reading schema, with all columns, and each wanted column is of a type that
  every writer stores in the one way that Spark reads: no times, timestamps, variants, nested types;
- it lies on a local disk under a path that means itself to Spark, which takes paths as patterns.

Spark declares all columns of files nullable.
"""

import re
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.scan.expression import TRUE
from paimon_explore.scan.split import DataSplit, Split
from paimon_explore.spark.plan import ReadJob
from paimon_explore.types.data_types import AtomicType, DataType, TypeRoot

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
    if (
        reader.predicate != TRUE
        or not job.row_type.fields
        or not isinstance(reader.store.file_io, LocalFileIO)
        or not all(is_same_everywhere(field.type) for field in job.row_type)
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


def read_native(spark: SparkSession, paths: Sequence[str], schema: StructType) -> DataFrame:
    """The rows of Parquet files, dates as they are written however old."""
    reader = spark.read.schema(schema).option("datetimeRebaseMode", "CORRECTED")
    return reader.parquet(*(f"file://{path}" for path in paths))
