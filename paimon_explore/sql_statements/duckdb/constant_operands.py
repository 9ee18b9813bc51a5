"""Constants beside columns in conditions, computed before the query runs, to exclude files.

So `dt >= date_sub(current_date(), 7)` and `dt = (SELECT max(dt) FROM t)` become conditions that the
statistics of partitions and files decide, and times have the time zone of the session. Likewise
the keys of a small table with a condition exclude files of the tables that are joined to it (known
as dynamic partition pruning), as do the rows of `dt IN (SELECT …)`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.types as pat
from sqlglot import exp

from paimon_explore import arrow_compute as pc
from paimon_explore.errors import PaimonError
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.sql_statements.clauses import conjuncts
from paimon_explore.sql_statements.parameter_markers import constant
from paimon_explore.sql_statements.query_pushdown import column_parts, is_inner, keeps_right
from paimon_explore.table.scan import Scan

RANDOM = (exp.Rand, exp.Randn, exp.Uuid)
"""Functions with another value in each row."""
_RANDOM_NAMES = frozenset({"monotonically_increasing_id", "randstr", "shuffle", "uniform"})
_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_NOT_CONSTANT = (exp.Column, exp.Query, exp.AggFunc, exp.Window, exp.UDTF, exp.Star)
_CHOOSING = (exp.Limit, exp.Offset, exp.Fetch, exp.TableSample, exp.Window)
_PLAIN = (exp.Literal, exp.Null, exp.Boolean)
_Values: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"
_Compute = Callable[[exp.Query], pa.Table]
_Columns = Callable[[str], Collection[str] | None]
_ROUNDS = 3
"""How often keys are pushed down: through chains of that many joins."""
_MAX_ROWS = 100_000
"""Maximum number of rows of tables whose keys are read before the query runs."""
_MAX_SPLITS = 16
"""Maximum number of splits of such a table."""
_MAX_KEYS = 100
"""Maximum number of keys that a condition lists; beyond, and without gaps, it has their range."""


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
    operands = [
        (operand, query, kind)
        for column, others in map(_sides, _comparisons(tree))
        for kind in [_time_type(column)]
        for operand in (others if column is not None else ())
        if (query := _query_of(operand, kind, columns)) is not None
    ]
    known = _rows_at_once([query for _, query, _ in operands], compute)
    is_changed = False
    for operand, query, kind in operands:
        found = _literal(query, kind, partial(_known_rows, known, compute))
        if found is not None:
            operand.replace(found)
            is_changed = True
    return is_changed


def _known_rows(known: Mapping[int, pa.Table], compute: _Compute, query: exp.Query) -> pa.Table:
    return known[id(query)] if id(query) in known else compute(query)


def _rows_at_once(queries: Sequence[exp.Query], compute: _Compute) -> dict[int, pa.Table]:
    """Return the rows of queries of one constant by their id, which one query computes.

    Empty if one of them fails, so that the others are computed alone.
    """
    plain = [
        one for one in queries if [key for key in one.args if one.args[key]] == ["expressions"]
    ]
    plain = [one for one in plain if len(one.selects) == 1 and one.find(exp.From) is None]
    items = [exp.alias_(one.selects[0].unalias().copy(), f"v{at}") for at, one in enumerate(plain)]
    if len(plain) <= 1:
        return {}
    try:
        rows = compute(exp.select(*items))
    except (PaimonError, pa.ArrowException):
        return {}
    return {id(one): rows.select([at]) for at, one in enumerate(plain)}


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
    return None if query is None or _is_random(query) else query


def _is_random(query: exp.Query) -> bool:
    return any(
        isinstance(one, RANDOM) or (isinstance(one, exp.Func) and one.name.lower() in _RANDOM_NAMES)
        for one in query.walk()
    )


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


def _may_vary(query: exp.Query) -> bool:
    """Return whether a query may return other rows when it runs again: those of LIMIT, or ties."""
    aggregates = query.find_all(exp.AggFunc)
    return query.find(*_CHOOSING) is not None or not all(
        isinstance(one, exp.Min | exp.Max | exp.Count) for one in aggregates
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


def push_keys(
    tree: exp.Query,
    scan_of: Callable[[str], Scan | None],
    compute: _Compute,
    push_down: Callable[[exp.Query], None],
) -> None:
    """Push down which keys small tables with conditions have, and then those that these leave.

    Args:
        tree: the query, whose columns have types and sources; it is changed meanwhile.
        scan_of: returns the scan of a table by its name in the query; None for another name.
        compute: runs a query that needs no columns of this one.
        push_down: replaces the scans by those with the conditions of the query.
    """
    keys = _Keys(scan_of, compute)
    scans = [scan_of(table.name) for table in tree.find_all(exp.Table)]
    is_worth = any(scan is not None and _has_parts(scan) for scan in scans)
    for _ in range(_ROUNDS if is_worth else 0):
        known = keys.count
        added: list[tuple[exp.Select, exp.Expr | None]] = []
        try:
            for select in list(tree.find_all(exp.Select)):
                where = select.args.get("where")
                conditions = [
                    one
                    for column, source, name, other in _key_columns(select)
                    if (one := _is_one_of(column, keys(source, name, other))) is not None
                ]
                if conditions:
                    added.append((select, where and where.this))
                    both = exp.and_(where and where.this, *conditions, copy=False)
                    select.set("where", exp.Where(this=both))
            if keys.count == known:
                return
            push_down(tree)
        finally:
            for select, before in added:
                select.set("where", before and exp.Where(this=before))


class _Keys:
    """The keys of small tables, and the rows of subqueries over them; each is read once.

    Args:
        scan_of: returns the scan of a table by its name in the query; None for another name.
        compute: runs a query.
    """

    def __init__(self, scan_of: Callable[[str], Scan | None], compute: _Compute) -> None:
        self._scan_of = scan_of
        self._compute = compute
        self._known: dict[tuple[object, str], _Values | None] = {}

    @property
    def count(self) -> int:
        """How many were read."""
        return len(self._known)

    def __call__(
        self, source: exp.Expr, name: str, other: exp.Expr | None = None
    ) -> "_Values | None":
        """Return the values of a column of a table, or of the only column of a query.

        None if they are not known: of a table without a condition, or one with more rows than
        another table, or with many.
        """
        key = (source.name if isinstance(source, exp.Table) else id(source), name)
        if key not in self._known:
            scans = [self._scan_of(table.name) for table in source.find_all(exp.Table)]
            larger = None if other is None else self._scan_of(other.name)
            most = _MAX_ROWS if larger is None else min(_row_count(larger), _MAX_ROWS)
            if not _are_small([scan for scan in scans if scan is not None], most) or None in scans:
                return None
            if isinstance(source, exp.Query):
                self._known[key] = self._of_query(source)
            elif scans[0] is not None and scans[0].where != TRUE:
                self._known[key] = _of_table(scans[0], name)
        return self._known.get(key)

    def _of_query(self, query: exp.Query) -> "_Values | None":
        names = partial(_column_names, self._scan_of)
        if not _is_independent(query, names) or _is_random(query) or _may_vary(query):
            return None
        try:
            rows = self._compute(query.copy())
        except PaimonError:  # which the query itself raises
            return None
        return rows.column(0) if rows.num_columns == 1 else None


def _are_small(scans: Sequence[Scan], most: int) -> bool:
    """Return whether tables have at most that many rows, in a few splits."""
    is_few = sum(map(_row_count, scans)) <= most
    return is_few and all(len(scan.plan().splits) <= _MAX_SPLITS for scan in scans)


def _has_parts(scan: Scan) -> bool:
    """Return whether a table has partitions, or many rows, of which keys may exclude some."""
    return bool(scan.target.schema.partition_keys) or _row_count(scan) > _MAX_ROWS


def _row_count(scan: Scan) -> int:
    """Return the number of stored rows of a table; too many if it is not known."""
    snapshot = scan.target.snapshot
    rows = None if snapshot is None or scan.increment else snapshot.total_record_count
    return _MAX_ROWS + 1 if rows is None else rows


def _of_table(scan: Scan, name: str) -> "_Values | None":
    found = [one for one in scan.target.schema.row_type.names if one.lower() == name]
    return scan.select(found).to_arrow().column(0) if len(found) == 1 else None


def _column_names(scan_of: Callable[[str], Scan | None], view: str) -> list[str] | None:
    scan = scan_of(view)
    return None if scan is None else list(scan.target.schema.row_type.names)


def _key_columns(
    select: exp.Select,
) -> Iterator[tuple[exp.Column, exp.Expr, str, exp.Expr | None]]:
    """Yield columns with the table and its column, or the subquery, whose values they have.

    The last item is the table of the column; None if it is not known.
    """
    where, joins = select.args.get("where"), select.args.get("joins") or []
    conditions = conjuncts(where and where.this)
    for one in conditions:
        query = one.args.get("query") if isinstance(one, exp.In) else None
        if isinstance(query, exp.Subquery) and isinstance(one.this, exp.Column):
            yield one.this, query.this, "", None
    if any(map(keeps_right, joins)):
        return
    inner = [select.args.get("from_"), *filter(is_inner, joins)]
    tables = {one.this.alias_or_name.lower(): one.this for one in inner if one is not None}
    for one in joins:
        conditions += conjuncts(one.args.get("on")) if is_inner(one) else []
    for one in conditions:
        sides = [one.left, one.right] if isinstance(one, exp.EQ) else []
        columns = [side for side in sides if isinstance(side, exp.Column)]
        if len(columns) == 2 and _kind(columns[0]) == _kind(columns[1]) != "":  # noqa: PLR2004 - both sides
            for column, other in (columns, columns[::-1]):
                source, *rest = column_parts(other)
                table = tables.get(source)
                if isinstance(table, exp.Table) and len(rest) == 1:
                    yield column, table, rest[0], tables.get(column_parts(column)[0])


def _kind(column: exp.Column) -> str:
    """Return the type of keys, which have the same order and equality everywhere; "" for others."""
    if column.is_type("tinyint", "smallint", "int", "bigint"):
        return "integer"
    return next((one for one in ("date", "text") if column.is_type(one)), "")


def _kind_of(values: pa.DataType) -> str:
    if pat.is_integer(values):
        return "integer"
    return "date" if pat.is_date(values) else "text" if pat.is_string(values) else "other"


def _is_one_of(column: exp.Column, values: "_Values | None") -> exp.Expr | None:
    """Return the condition that a column has one of some values; None for other types."""
    if values is None or _kind(column) != _kind_of(values.type):
        return None
    found = values.unique().drop_null()
    ends = pc.min_max(found)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    is_range = len(found) > _MAX_KEYS or (len(found) > 1 and _count(low, high) == len(found))
    if is_range:
        return exp.Between(this=column.copy(), low=constant(low), high=constant(high))
    return exp.In(this=column.copy(), expressions=[constant(one.as_py()) for one in found])


def _count(low: object, high: object) -> int:
    """Return the number of integers or dates from one to another; 0 for texts."""
    if isinstance(low, date) and isinstance(high, date):
        return (high - low).days + 1
    return high - low + 1 if isinstance(low, int) and isinstance(high, int) else 0
