"""Code that yields the rows of a view: Python, PySpark, Spark SQL and DuckDB."""

from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rows.row_scope import RowScope
from paimon_explore.inspection.rows.row_sort import MAX_SORTED, RowOrder
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjunction
from paimon_explore.scan.predicate.sql_formatter import to_sql


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRequest:
    """What a view shows.

    Attributes:
        expression: the table at its snapshot, as Python code.
        location: of the table.
        snapshot_id: the pinned snapshot; 0 for the latest.
        scope: which files.
        where: condition on rows.
        columns: names of the columns; None for all.
        merged: as given; None for the default.
        order: the order of the rows; None for the order of the files.
        in_partition: condition on the partition columns that selects the scope's partition.
    """

    expression: str
    location: str
    snapshot_id: int
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
    options = {"scan.snapshot-id": request.snapshot_id} if request.snapshot_id else None
    then = f".where({condition!r})" if condition else ""
    imports, order = "", request.order
    if order is not None:
        direction = "desc_nulls_last" if order.descending else "asc_nulls_last"
        then += f".orderBy(F.col({quoted_name(order.column)!r}).{direction}()).limit({MAX_SORTED})"
        imports = "from pyspark.sql import functions as F\n"
    if request.columns is not None:
        then += f".select({', '.join(repr(quoted_name(name)) for name in request.columns)})"
    return imports + read_code(request.location, options, then)


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
    options = {"scan.snapshot-id": request.snapshot_id} if request.snapshot_id else None
    frame = read_code(request.location, options)
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
