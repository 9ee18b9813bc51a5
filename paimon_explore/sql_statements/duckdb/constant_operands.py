"""Constants beside columns in conditions, computed before the query runs, to exclude files.

So `dt >= date_sub(current_date(), 7)` and `dt = (SELECT max(dt) FROM t)` become conditions that the
statistics of partitions and files decide, and times have the time zone of the session.
"""

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.types as pat
from sqlglot import exp

from paimon_explore.errors import PaimonError
from paimon_explore.sql_statements.parameter_markers import constant

RANDOM = (exp.Rand, exp.Randn, exp.Uuid)
"""Functions with another value in each row."""
_RANDOM_NAMES = frozenset({"monotonically_increasing_id", "randstr", "shuffle", "uniform"})
_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_NOT_CONSTANT = (exp.Column, exp.Query, exp.AggFunc, exp.Window, exp.UDTF, exp.Star)
_PLAIN = (exp.Literal, exp.Null, exp.Boolean)
_Compute = Callable[[exp.Query], pa.Table]
_Columns = Callable[[str], Collection[str] | None]


def compute_constants(tree: exp.Expr, compute: _Compute, columns: _Columns) -> bool:
    """Replace constant operands of conditions, and queries of one value, by their values.

    What cannot be computed stays, so that the query itself raises the error.

    Args:
        tree: the query, whose columns have types; it is changed.
        compute: runs a query that needs no columns of this one.
        columns: returns the columns of a table by its name in the query; None for another name.

    Returns:
        Whether an operand was replaced.
    """
    is_changed = False
    for node in _comparisons(tree):
        column, others = _sides(node)
        kind = _time_type(column)
        for operand in others if column is not None else ():
            query = _query_of(operand, kind, columns)
            found = None if query is None else _literal(query, kind, compute)
            if found is not None:
                operand.replace(found)
                is_changed = True
    return is_changed


def _comparisons(tree: exp.Expr) -> list[exp.Expr]:
    """Return the comparisons in conditions, each once."""
    parts = list(tree.find_all(exp.Where, exp.Having, exp.Join))
    conditions = [one.args.get("on" if isinstance(one, exp.Join) else "this") for one in parts]
    found = [one for part in conditions if part is not None for one in part.find_all(*_COMPARISONS)]
    return list({id(one): one for one in found}.values())


def _sides(node: exp.Expr) -> tuple[exp.Expr | None, list[exp.Expr]]:
    """Return the column of a comparison, and its other operands."""
    operands = [] if node.args.get("query") else list(node.iter_expressions())
    found = [one for one in operands if isinstance(one, exp.Column | exp.Dot)]
    return (found[0] if len(found) == 1 else None), [one for one in operands if one not in found]


def _query_of(operand: exp.Expr, kind: str, columns: _Columns) -> exp.Query | None:
    """Return a query of the value of an operand; None if it is no constant, or a plain one."""
    inner = operand.unnest()
    if isinstance(inner, exp.Query):
        query = inner.copy() if _is_independent(inner, columns) else None
    else:
        plain = inner.this if isinstance(inner, exp.Neg | exp.Cast) else inner
        is_constant = bool(kind) or not isinstance(plain, _PLAIN)
        if kind and isinstance(inner, exp.Literal) and inner.is_string:
            inner = exp.cast(inner.copy(), kind)
        is_constant = is_constant and inner.find(*_NOT_CONSTANT) is None
        query = exp.select(exp.alias_(inner.copy(), "v")) if is_constant else None
    is_random = query is not None and any(
        isinstance(one, RANDOM) or (isinstance(one, exp.Func) and one.name.lower() in _RANDOM_NAMES)
        for one in query.walk()
    )
    return None if is_random else query


def _is_independent(query: exp.Query, columns: _Columns) -> bool:
    """Return whether all columns of a subquery are certainly its own."""
    names = {alias.alias.lower() for alias in query.find_all(exp.Alias)}
    tables = set[str]()
    for table in query.find_all(exp.Table):
        found = columns(table.name)
        if found is None:
            return False
        names.update(map(str.lower, found))
        tables.add(table.alias_or_name.lower())
    return all(
        column.parts[0].name.lower() in (names if len(column.parts) == 1 else tables)
        for column in query.find_all(exp.Column)
        if not isinstance(column.this, exp.Star)
    )


def _time_type(column: exp.Expr | None) -> str:
    kinds = ("timestamptz", "timestampntz")
    return next((one for one in kinds if column is not None and column.is_type(one)), "")


def _literal(query: exp.Query, kind: str, compute: _Compute) -> exp.Expr | None:
    """Return a constant that compares with a column of a type as the value of a query does."""
    try:
        value = _single(compute(query))
        has_zone = isinstance(value, datetime) and value.tzinfo is not None
        if has_zone and kind == "timestampntz":
            return None  # the column is cast
        if isinstance(value, str | date) and kind and not has_zone:
            value = _single(compute(exp.select(exp.cast(constant(value), kind))))
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.astimezone(UTC)
        return None if value is None else constant(value)
    except (PaimonError, pa.ArrowException, ValueError, OverflowError):
        return None


def _single(rows: pa.Table) -> object:
    """Return the value of a table with one row and column; None for another table."""
    if rows.num_rows != 1 or rows.num_columns != 1:
        return None
    found = rows.column(0)
    is_fine = pat.is_timestamp(found.type) and found.type.unit == "ns"
    return None if is_fine else found[0].as_py()
