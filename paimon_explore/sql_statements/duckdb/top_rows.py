"""`SELECT … FROM t ORDER BY c LIMIT n` reads only what can be among the first rows.

The bounds of the files give a value that at least n rows reach; rows beyond it are not read. If
DuckDB reads the files itself, the column of the order is read first, which gives the exact value. A
merge decides by that column which rows it returns; the others are decoded for these only.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter

from sqlglot import exp

from paimon_explore.data_types.arrow_buffers import as_python, int64_values
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.first_rows import ORDERED, FirstRows
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.sql_statements.duckdb.database import FileRows
from paimon_explore.sql_statements.duckdb.dialect import DUCKDB
from paimon_explore.sql_statements.duckdb.metadata_answers import (
    has_exact_bounds,
    only_table,
    statistics_of,
)
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.duckdb.type_names import quoted
from paimon_explore.sql_statements.engine import TableRows
from paimon_explore.sql_statements.parameter_markers import constant
from paimon_explore.sql_statements.query_pushdown import whole_where
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan

_CLAUSES = frozenset({"expressions", "from", "from_", "order", "limit", "offset"})
_MAX_BOUNDED = 100
"""Most rows that are looked up; more would be in most of the pages."""
_OTHER_ROWS = (exp.AggFunc, exp.Window, exp.Query, exp.UDTF, exp.Explode, exp.Anonymous)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRows:
    """The first rows of a table by an order.

    Attributes:
        view: the table by the name that the query uses.
        scan: the rows that can be among the first by the bounds of the files, and by a merge.
        ordered: the first expression of the order.
        count: the number of rows that the query wants.
    """

    view: str
    scan: Scan
    ordered: exp.Ordered
    count: int

    def bounded(self, files: FileRows) -> FileRows:
        """Return only the rows of files that are not beyond the last wanted row.

        DuckDB reads the column of the order first, then of the other columns only pages with
        wanted rows.
        """
        if self.count > _MAX_BOUNDED:
            return files
        name = quoted(self.ordered.this.name)
        order = self.ordered.copy()
        order.set("this", exp.column(self.ordered.this.name, quoted=True))
        last = exp.select(name).from_("rows").order_by(order).limit(1).offset(self.count - 1)
        text = last.sql(dialect=DUCKDB)
        found = DuckRows(text, {"rows": files}).to_batches().read_all().column(0)
        if not len(found) or not found[0].is_valid:
            return files
        bound = constant(found[0].as_py()).sql(dialect=DUCKDB)
        condition = f"{name} {'>=' if self.ordered.args.get('desc') else '<='} {bound}"
        if self.ordered.args.get("nulls_first"):
            condition += f" OR {name} IS NULL"
        query = f"SELECT * FROM ({files.query}) WHERE {condition}"  # noqa: S608 - quoted
        return replace(files, query=query, is_bounded=True)


def top_rows(tree: exp.Expr, scans: Mapping[str, Scan]) -> TopRows | None:
    """Return the first rows that a query asks for; None if it is another query.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.
    """
    table = only_table(tree, _CLAUSES)
    scan = None if table is None else scans.get(table.name)
    order, rows = tree.args.get("order"), _count(tree)
    if table is None or scan is None or order is None or not rows:
        return None
    ordered = order.expressions[0]
    field = _field(ordered.this, tree, scan.row_type)
    if field is None:
        return None
    condition = _reached(field, ordered, scan, rows) if has_exact_bounds(field) else None
    scan = scan if condition is None else scan.filter(condition)
    if isinstance(field.type, AtomicType) and field.type.root in ORDERED:
        descending, nulls_first = (bool(ordered.args.get(k)) for k in ("desc", "nulls_first"))
        first = FirstRows(
            column=field.name, count=rows, descending=descending, nulls_first=nulls_first
        )
        scan = replace(scan, top_rows=first)
    return TopRows(view=table.name, scan=scan, ordered=ordered, count=rows)


def selected_rows(tree: exp.Query, rows: TableRows, source: RowSource) -> RowSource:
    """Return what a query needs of a system table, with LIMIT the first rows by its key.

    Args:
        tree: the query.
        rows: the columns and conditions.
        source: the system table.
    """
    table, count = only_table(tree, {*_CLAUSES, "where"}), _count(tree)
    found = source.scan(rows.columns, rows.where)
    if table is None or count is None or any(item.find(*_OTHER_ROWS) for item in tree.expressions):
        return found
    row_type = source.row_type
    if tree.args.get("where") is not None and whole_where(table, row_type) is None:
        return found
    order, key = tree.args.get("order"), source.schema.names[0]
    if order is None:
        return source.scan(rows.columns, rows.where, count)
    ordered = order.expressions[0]
    field = _field(ordered.this, tree, row_type)
    from paimon_explore.inspection.system_tables.history_tables import KEYED  # noqa: PLC0415 - for few queries

    if rows.system not in KEYED or field is None or field.name != key:
        return found
    values = source.scan([key], rows.where).to_arrow().column(0).to_pylist()
    keys = sorted(value for value in values if value is not None)
    at = len(keys) - count if ordered.args.get("desc") else count - 1
    if not 0 <= at < len(keys):
        return found
    reached = col(key) >= keys[at] if ordered.args.get("desc") else col(key) <= keys[at]
    return source.scan(rows.columns, reached if rows.where is None else rows.where & reached)


def _count(tree: exp.Expr) -> int | None:
    """Return the number of first rows that a query reads; None if it has no LIMIT."""
    limit, offset = tree.args.get("limit"), tree.args.get("offset")
    counts = [part.expression for part in (limit, offset) if part is not None]
    if limit is None or not all(
        isinstance(count, exp.Literal) and count.name.isdigit() for count in counts
    ):
        return None
    return sum(int(count.name) for count in counts)


def _field(node: exp.Expr, tree: exp.Expr, row_type: RowType) -> DataField | None:
    """Return the column of the order; None for the alias of an expression, or of other rows."""
    if not isinstance(node, exp.Column) or any(
        item.find(*_OTHER_ROWS) for item in tree.expressions
    ):
        return None
    name = node.name.lower()
    for item in tree.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star) and star.args.get("replace"):
            return None  # a column may have other values
        if not isinstance(item, exp.Column | exp.Star) and item.alias_or_name.lower() == name:
            return None
    found = [field for field in row_type if field.name.lower() == name]
    return found[0] if len(found) == 1 else None


def _reached(field: DataField, ordered: exp.Expr, scan: Scan, rows: int) -> Term | None:
    """Return a condition that at least so many rows fulfil, and all rows before others."""
    found = statistics_of(field, scan, scan.parts())
    if found is None:
        return None
    stats, counts = found
    descending = bool(ordered.args.get("desc"))
    bounds = as_python(stats.minimum if descending else stats.maximum)
    values = (counts - int64_values(stats.null_count)).tolist()
    known = [pair for pair in zip(bounds, values, strict=True) if pair[0] is not None]
    known.sort(key=itemgetter(0), reverse=descending)
    sums = accumulate(count for _, count in known)
    bound = next((one for (one, _), total in zip(known, sums, strict=True) if total >= rows), None)
    if bound is None:
        return None
    column = col(field.name)
    reached = column >= bound if descending else column <= bound
    return reached | column.is_null() if ordered.args.get("nulls_first") else reached
