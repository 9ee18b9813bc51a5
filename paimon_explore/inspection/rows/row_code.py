"""Code that yields the rows of a view: Python, PySpark, Spark SQL and DuckDB.

Which files a row view reads: those of a snapshot, a partition, a bucket, or a single file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, as_python
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.partition_argument import Given, resolve_partition
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.value_text import Partitions, partitions_of
from paimon_explore.inspection.rows.row_sort import MAX_SORTED, RowOrder
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import numbers, text
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction
from paimon_explore.scan.predicate.sql_formatter import to_sql


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScope:
    """The files of a row view.

    Attributes:
        partition: a partition as `dt=d1/hr=3`; None for all.
        bucket: a bucket; None for all.
        file: name of a data file; None for all.
    """

    partition: str | None = None
    bucket: int | None = None
    file: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all files of the snapshot are read."""
        return self == RowScope()

    @property
    def text(self) -> str:
        """The scope for headings."""
        if self.file is not None:
            return f"file {self.file}"
        parts = [] if self.partition is None else [self.partition or "unpartitioned"]
        parts += [] if self.bucket is None else [f"bucket {self.bucket}"]
        return ", ".join(parts) or "all rows"


class LiveFiles:
    """The live files of a snapshot, to select a scope from.

    Args:
        entries: the files.
        partition_type: types of the partition columns.
    """

    def __init__(self, entries: ManifestEntries, partition_type: RowType) -> None:
        self.entries = entries
        self.partitions: Partitions = partitions_of(entries.table, partition_type)
        self._partition_type = partition_type

    def scope(self, partition: Given, bucket: int | None, file: str | None) -> RowScope:
        """The scope of the arguments of `Table.rows`.

        Raises:
            NotFoundError: there is no such partition, bucket or live file.
            InvalidInputError: the table does not have these partition columns.
        """
        names = self._partition_type.names
        texts = self.partitions.texts
        found = RowScope(
            partition=resolve_partition(partition, names, texts), bucket=bucket, file=file
        )
        if not found.is_whole and not self.mask(found).any():
            raise self._nothing(found)
        return found

    def _nothing(self, scope: RowScope) -> NotFoundError | InvalidInputError:
        if scope.file is not None:
            hint = "List the live files with t.files(); a removed file is in an older snapshot."
            return NotFoundError("data file", scope.file, hint=hint)
        buckets = sorted(set(numbers(self.entries.table, "bucket").tolist()))
        hint = f"Existing buckets: {choices([str(one) for one in buckets], limit=20) or 'none'}."
        return NotFoundError("bucket", scope.text, hint=hint)

    def mask(self, scope: RowScope) -> Bools:
        """Which files are in a scope."""
        table = self.entries.table
        found = np.ones(len(self.entries), np.bool_)
        if scope.partition is not None:
            codes = [self.partitions.texts.index(scope.partition)]
            found &= np.isin(self.partitions.codes, codes)
        if scope.bucket is not None:
            found &= numbers(table, "bucket") == scope.bucket
        if scope.file is not None:
            names = as_python(text(table, "file_name"))
            found &= np.array([name == scope.file for name in names], np.bool_)
        return found

    def names(self, scope: RowScope) -> frozenset[str]:
        """Names of the files in a scope."""
        names = as_python(text(self.entries.table, "file_name"))
        return frozenset(str(names[at]) for at in np.flatnonzero(self.mask(scope)).tolist())

    def condition(self, scope: RowScope) -> Expression:
        """The condition on the partition columns of a scope's partition; TRUE if it has none."""
        columns = self.partitions.columns
        if not scope.partition or columns is None:
            return TRUE
        at = self.partitions.texts.index(scope.partition)
        terms = [
            (col(name).is_null() if value is None else col(name) == value).expression
            for name, column in zip(self._partition_type.names, columns, strict=True)
            for value in [column[at].as_py()]
        ]
        return bind(conjunction(terms), self._partition_type)

    def in_order(self) -> Sequence[int]:
        """The files by partition, bucket, level and age."""
        table = self.entries.table
        order = np.lexsort(
            (
                numbers(table, "min_sequence_number"),
                numbers(table, "level"),
                numbers(table, "bucket"),
                self.partitions.codes,
            )
        )
        found: list[int] = order.tolist()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRequest:
    """What a view shows.

    Attributes:
        expression: the table at its snapshot, as Python code.
        location: of the table.
        options: those of a PySpark read of the pinned snapshot; none for the latest.
        scope: which files.
        where: condition on rows.
        columns: names of the columns; None for all.
        merged: as given; None for the default.
        order: the order of the rows; None for the order of the files.
        in_partition: condition on the partition columns that selects the scope's partition.
    """

    expression: str
    location: str
    options: Mapping[str, object]
    scope: RowScope = field(default_factory=RowScope)
    where: Expression = TRUE
    columns: tuple[str, ...] | None = None
    merged: bool | None = None
    order: RowOrder | None = None
    in_partition: Expression = TRUE


def rows_code(request: RowsRequest) -> Code:
    """The code in Python and PySpark; PySpark only for merged rows of whole partitions."""
    scope = request.scope
    python = call_code(
        f"{request.expression}.rows",
        where=None if request.where == TRUE else to_sql(request.where),
        columns=None if request.columns is None else list(request.columns),
        partition=scope.partition,
        bucket=scope.bucket,
        file=scope.file,
        merged=request.merged,
    )
    order = request.order
    if order is not None:
        python += f".sort({order.column!r}{', descending=True' if order.descending else ''})"
    return Code(python=python, spark=_pyspark(request))


def _pyspark(request: RowsRequest) -> str:
    condition = sql_condition(request)
    if condition is None:
        return ""
    then = f".where({condition!r})" if condition else ""
    imports, order = "", request.order
    if order is not None:
        direction = "desc_nulls_last" if order.descending else "asc_nulls_last"
        then += f".orderBy(F.col({quoted_name(order.column)!r}).{direction}()).limit({MAX_SORTED})"
        imports = "from pyspark.sql import functions as F\n"
    if request.columns is not None:
        then += f".select({', '.join(repr(quoted_name(name)) for name in request.columns)})"
    return imports + read_code(request.location, request.options, then)


def sql_condition(request: RowsRequest) -> str | None:
    """The condition that selects the rows; None if SQL cannot select them.

    A bucket or a file has no column in SQL, and stored records are not rows.
    """
    scope = request.scope
    if scope.bucket is not None or scope.file is not None or request.merged is False:
        return None
    if scope.partition and request.in_partition == TRUE:
        return None
    parts = [part for part in (request.in_partition, request.where) if part != TRUE]
    return to_sql(conjunction(parts)) if parts else ""


def quoted_name(name: str, mark: str = "`") -> str:
    """A column name in Spark SQL, or in standard SQL with double quotes as the mark.

    >>> quoted_name("a`b"), quoted_name("order", '"')
    ('`a``b`', '"order"')
    """
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def sql_codes(request: RowsRequest) -> dict[str, str]:
    """The statements in Spark SQL and DuckDB; empty where SQL cannot select the rows."""
    condition = sql_condition(request)
    if condition is None:
        return {}
    frame = read_code(request.location, request.options)
    query = _query(request, "`", condition)
    scan = call_code(f"{request.expression}.scan", where=condition or None)
    return {
        "spark_sql": f"{frame}.createOrReplaceTempView('t')\nspark.sql({query!r})",
        "duckdb": f"{scan}.to_duckdb('t').sql({_query(request, chr(34), '')!r})",
    }


def _query(request: RowsRequest, mark: str, condition: str) -> str:
    names, order = request.columns, request.order
    columns = "*" if names is None else ", ".join(quoted_name(name, mark) for name in names)
    query = f"SELECT {columns} FROM t"  # noqa: S608 - code to show, which quotes names
    query += f" WHERE {condition}" if condition else ""
    if order is None:
        return query
    by = f"{quoted_name(order.column, mark)} {order.direction}"
    return f"{query} ORDER BY {by} LIMIT {MAX_SORTED}"
