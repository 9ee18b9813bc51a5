"""`SELECT … FROM t ORDER BY c LIMIT n` reads only files that can contain the first rows.

The bounds of the files give a value that at least n rows reach; rows beyond it are not read.
"""

from collections.abc import Mapping
from itertools import accumulate
from operator import itemgetter

from sqlglot import exp

from paimon_explore.data_types.arrow_buffers import as_python, int64_values
from paimon_explore.data_types.definitions import DataField
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.sql_statements.duckdb.metadata_answers import (
    has_exact_bounds,
    only_table,
    statistics_of,
)
from paimon_explore.table.scan import Scan

_CLAUSES = frozenset({"expressions", "from", "from_", "order", "limit", "offset"})
_OTHER_ROWS = (exp.AggFunc, exp.Window, exp.Query, exp.UDTF, exp.Explode, exp.Anonymous)


def top_rows(tree: exp.Expr, scans: Mapping[str, Scan]) -> tuple[str, Scan] | None:
    """Return a table of a query with the scan of the rows that can be among the first.

    Args:
        tree: the query.
        scans: the tables by the names that the query uses.
    """
    table = only_table(tree, _CLAUSES)
    scan = None if table is None else scans.get(table.name)
    order, limit = tree.args.get("order"), tree.args.get("limit")
    counts = [part.expression for part in (limit, tree.args.get("offset")) if part is not None]
    if table is None or scan is None or order is None or limit is None:
        return None
    if not all(isinstance(count, exp.Literal) and count.name.isdigit() for count in counts):
        return None
    ordered, rows = order.expressions[0], sum(int(count.name) for count in counts)
    field = _field(ordered.this, tree, scan)
    if field is None:
        return None
    condition = _reached(field, ordered, scan, rows)
    return None if condition is None else (table.name, scan.filter(condition))


def _field(node: exp.Expr, tree: exp.Expr, scan: Scan) -> DataField | None:
    """Return the column of the order; None for the alias of an expression, or of other rows."""
    if not isinstance(node, exp.Column) or any(
        item.find(*_OTHER_ROWS) for item in tree.expressions
    ):
        return None
    name = node.name.lower()
    for item in tree.expressions:
        is_column = isinstance(item, exp.Column | exp.Star)
        if not is_column and item.alias_or_name.lower() == name:
            return None
    found = [field for field in scan.row_type if field.name.lower() == name]
    return found[0] if len(found) == 1 and has_exact_bounds(found[0]) else None


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
