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
- it is on a local disk, under a path without the characters of Spark's path patterns, and its name
  is not that of a hidden file, which Spark skips.

Spark declares all columns of files nullable.

Translates predicates of a scan to Spark columns, where they have the same meaning in Spark.

| | |
| --- | --- |
| tests | comparisons, IN, IS NULL, BETWEEN, LIKE without `_`; AND, OR, NOT |
| of columns | BOOLEAN, integers, DECIMAL, VARCHAR, DATE |
| with | constants and columns of the same type |

Anything else is evaluated by the reader of this package. So are FLOAT and DOUBLE: Spark treats NaN
as the greatest number, but the bounds of a Parquet file, by which Spark prunes, exclude NaN.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from paimon_explore.data_types.definitions import (
    BYTES,
    INTEGERS,
    NUMBERS,
    TEXTS,
    AtomicType,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.scan.predicate import expression as ex
from paimon_explore.scan.predicate.expression import TRUE, names_of
from paimon_explore.scan.predicate.like_pattern import Wildcard, pattern_parts
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.spark.read_plan import ReadJob
from paimon_explore.spark.spark_types import spark_schema, spark_type
from paimon_explore.sql_statements.quoted_names import are_distinct, quoted
from paimon_explore.store.table_store import StoredTable

_PLAIN_PATH = re.compile(r"[\w./=@ -]+")
_HIDDEN = ("_", ".")
"""Spark skips files with such names, also if they are listed."""
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
        or not isinstance(reader.target.store.file_io, LocalFileIO)
        or not are_distinct(reader.target.schema.row_type.names)
        or not all(is_same_everywhere(field.type) for field in fields)
        or (reader.predicate != TRUE and _condition(job) is None)
    ):
        return [], list(splits)
    paths: list[str] = []
    rest: list[Split] = []
    names = {field.name for field in fields}
    keys = names.intersection(reader.target.schema.partition_keys)
    for split in splits:
        taken = _taken(split, reader.target, keys)
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


def _taken(split: Split, target: StoredTable, keys: AbstractSet[str]) -> list[bool]:
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        return []
    if split.branch != target.store.paths.branch:  # which has other schemas
        return [False] * split.count
    wanted = ("file_name", "schema_id", "write_cols")
    rows = split.files.table.select(wanted).to_pylist()
    deleted = split.deletion_files
    return [
        row["schema_id"] == target.schema.id
        and row["write_cols"] is None
        and row["file_name"] not in deleted
        and path.endswith(".parquet")
        and not row["file_name"].startswith(_HIDDEN)
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
    return job.reader.target.schema.project((*wanted, *more))


def _condition(job: ReadJob) -> Column | None:
    return spark_condition(job.reader.predicate, _stored(job))


_SAME_ORDER = INTEGERS | {TypeRoot.BOOLEAN, TypeRoot.DECIMAL, TypeRoot.VARCHAR, TypeRoot.DATE}
_SIGNS: Mapping[ex.CompareOp, Callable[[Column, Column], Column]] = {
    ex.CompareOp.EQ: eq,
    ex.CompareOp.NE: ne,
    ex.CompareOp.LT: lt,
    ex.CompareOp.LE: le,
    ex.CompareOp.GT: gt,
    ex.CompareOp.GE: ge,
    ex.CompareOp.SAME: Column.eqNullSafe,
}


def spark_condition(expr: ex.Expression, row_type: RowType) -> Column | None:
    """Return a bound predicate as a column; None if its meaning in Spark may differ.

    Args:
        expr: bound to `row_type`.
        row_type: the columns' types; may list more.
    """
    match expr:
        case ex.And(children=children) | ex.Or(children=children):
            parts = [spark_condition(child, row_type) for child in children]
            return _joined(parts, both=isinstance(expr, ex.And))
        case ex.Not(child=child) | ex.IsTrue(child=child):
            found = spark_condition(child, row_type)
            if found is None:
                return None
            return ~found if isinstance(expr, ex.Not) else f.coalesce(found, f.lit(False))  # noqa: FBT003 - a value
        case _:
            return _test(expr, row_type)


def _joined(parts: Sequence[Column | None], *, both: bool) -> Column | None:
    known = [part for part in parts if part is not None]
    return None if len(known) < len(parts) else reduce(and_ if both else or_, known)


def _test(expr: ex.Expression, row_type: RowType) -> Column | None:
    """A condition on values."""
    match expr:
        case ex.Compare():
            return _comparison(expr, row_type)
        case ex.In() | ex.Like() | ex.IsNull():
            found = _column(expr.operand, row_type)
            return None if found is None else _column_test(expr, *found)
        case _:
            column = _column(expr, row_type)
            return None if column is None else column[0]


def _column_test(
    test: ex.In | ex.Like | ex.IsNull, column: Column, kind: AtomicType
) -> Column | None:
    match test:
        case ex.In(values=values):
            return _membership(column, kind, values)
        case ex.Like():
            return _likeness(column, test)
        case ex.IsNull():
            return column.isNull()


def _column(operand: ex.Expression, row_type: RowType) -> tuple[Column, AtomicType] | None:
    """A column of the table, and its type."""
    if not isinstance(operand, ex.Column) or len(operand.path) > 1:
        return None
    field = row_type.field(operand.name)
    if field is None or not isinstance(field.type, AtomicType):
        return None
    return (f.col(quoted(operand.name)), field.type) if field.type.root in _SAME_ORDER else None


def _constant(operand: ex.Operand, like: AtomicType) -> Column | None:
    """A constant of a column's type."""
    if not isinstance(operand, ex.Literal) or not _is_same(operand.type, like):
        return None
    value = operand.value
    if like.root is TypeRoot.DATE and isinstance(value, int):
        return f.date_from_unix_date(f.lit(value))  # a date of Python would get Java's old calendar
    return None if value is None else f.lit(value).cast(spark_type(like))


def _is_same(one: DataType | None, other: AtomicType) -> bool:
    if not isinstance(one, AtomicType) or one.root is not other.root:
        return False
    return one.root is not TypeRoot.DECIMAL or (
        (one.precision, one.scale) == (other.precision, other.scale)
    )


def _comparison(test: ex.Compare, row_type: RowType) -> Column | None:
    left, right, op = test.left, test.right, test.op
    if isinstance(left, ex.Literal):
        left, right, op = right, left, op.flipped
    first = _column(left, row_type)
    if first is None:
        return None
    other = _column(right, row_type)
    if other is not None:
        second = other[0] if _is_same(other[1], first[1]) else None
    else:
        second = _constant(right, first[1])
    return None if second is None else _SIGNS[op](first[0], second)


def _membership(column: Column, kind: AtomicType, values: Sequence[ex.Literal]) -> Column | None:
    constants = [_constant(value, kind) for value in values]
    known = [constant for constant in constants if constant is not None]
    return column.isin(*known) if known and len(known) == len(constants) else None


def _likeness(text: Column, test: ex.Like) -> Column | None:
    """Translate LIKE with a pattern of one text with `%` before it, after it, or both."""
    parts = pattern_parts(test)
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != 1 or Wildcard.ONE in parts:
        return None
    wanted = f.lit(texts[0])
    if len(parts) == 1:
        return text == wanted
    if isinstance(parts[0], str):
        return text.startswith(wanted)
    return text.endswith(wanted) if isinstance(parts[-1], str) else text.contains(wanted)
