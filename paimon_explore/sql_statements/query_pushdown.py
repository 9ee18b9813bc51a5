"""Projection and predicate pushdown for SQL queries.

Spark requests all columns of all files from a Python data source, and DuckDB passes few conditions
to a scan: no LIKE, no long IN, no order of DOUBLE. So before the query runs, each
table is read with only the columns whose names occur in the query's text, and with those conditions
of the WHERE that have the same meaning here as in Spark: comparisons of numbers, strings and times
with constants, prefixes of LIKE, IN and IS NULL, also of members of structs, combined by AND and
OR. The engine still applies the whole WHERE to the rows it gets.

Nothing is pushed down where that could change the result: `*` reads all columns of the tables
beside it, PIVOT, NATURAL JOIN and the like those of all tables. Conditions are those of the WHERE
and of the ON of inner joins, also of the SELECTs around a subquery, a CTE that is read once, and a
set operation: conditions on their columns hold for the columns that these return. For the outer
side of an outer join only its own ON counts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime

from sqlglot import exp

from paimon_explore.data_types.definitions import (
    INTEGERS,
    TEXTS,
    AtomicType,
    DataField,
    RowType,
    TypeRoot,
)
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.scan.predicate.expression import conjunction, disjunction
from paimon_explore.sql_statements.clauses import conjuncts
from paimon_explore.sql_statements.table_references import Reference
from paimon_explore.sql_statements.tokenizer import Token

_ALL_COLUMNS = frozenset({"NATURAL", "PIVOT", "UNPIVOT", "TABLE", "TRANSFORM", "COLUMNS"})
_EXACT = INTEGERS | {TypeRoot.DECIMAL}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LIMITS = ("limit", "offset", "fetch", "sample", "match", "connect")
_OTHER_ROWS = ("pivots", *_LIMITS)
"""What makes other rows of a table or subquery before the conditions apply."""
_GROUPS = ("grouping_sets", "cube", "rollup", "totals", "all")
_LARGEST = 2**63 - 1
SOURCE = "source"
"""Metadata of a column that is not qualified: the alias of the table or subquery that has it."""
_MICROSECONDS = 6
"""Digits of the fraction of seconds that Spark compares."""
_TIMES = {TypeRoot.TIMESTAMP: "timestampntz", TypeRoot.TIMESTAMP_LTZ: "timestamptz"}
_SMALL = (
    TypeRoot.BOOLEAN,
    TypeRoot.TINYINT,
    TypeRoot.SMALLINT,
    TypeRoot.INT,
    TypeRoot.DATE,
    TypeRoot.BIGINT,
)


def wanted_columns(
    reference: Reference, tokens: Sequence[Token], row_type: RowType, counted: str = ""
) -> list[str] | None:
    """Return the columns of a table that a query may need; None for all.

    Args:
        reference: the table in the query.
        tokens: of the whole query.
        row_type: its columns.
        counted: the column to read for counting rows; by default the smallest.
    """
    node = reference.node
    if node is None or names_columns(node) or any(_needs_all(token) for token in tokens):
        return None
    select = node.parent_select
    stars = (node.root() if select is None else select).find_all(exp.Star)
    if any(star.parent_select is select and _is_wanted(star) for star in stars):
        return None
    alias = (node.alias_or_name or reference.parts[-1]).lower()
    columns = node.root().find_all(exp.Column)
    if any(len(one.parts) == 1 and one.name.lower() == alias for one in columns):
        return None  # the table as a column: its whole rows
    words = {token.text.lower() for token in tokens if token.is_name}
    found = [name for name in row_type.names if name.lower() in words]
    return found or [counted or _smallest(row_type.fields)]


def names_columns(node: exp.Expr) -> bool:
    """Return whether the alias of a table or subquery gives its columns other names."""
    alias = node.args.get("alias")
    return isinstance(alias, exp.TableAlias) and bool(alias.args.get("columns"))


def _needs_all(token: Token) -> bool:
    return token.word in _ALL_COLUMNS or token.sign == "|>"


def _is_wanted(star: exp.Star) -> bool:
    """Return whether `*` stands for columns: it does not in `count(*)` and `EXISTS (SELECT *`."""
    item = star.parent if isinstance(star.parent, exp.Column) else star
    inside = item.parent
    if isinstance(inside, exp.Count):
        return item is not star
    return not (isinstance(inside, exp.Select) and isinstance(inside.parent, exp.Exists))


def _smallest(fields: Sequence[DataField]) -> str:
    """Return the column that is cheapest to read, for counting rows."""

    def rank(field: DataField) -> int:
        root = field.type.root if isinstance(field.type, AtomicType) else None
        return _SMALL.index(root) if root in _SMALL else len(_SMALL)

    return min(fields, key=rank).name


def usable_where(node: exp.Expr | None, row_type: RowType, alias: str = "") -> Term | None:
    """Return the part of the query's WHERE that can be pushed down to a table; None for none.

    Args:
        node: the table in the query.
        row_type: its columns.
        alias: by which the query may qualify its columns if it gives no other one.
    """
    return _translated(node, row_type, alias)[0]


def whole_where(node: exp.Table, row_type: RowType) -> Term | None:
    """Return the WHERE over a table; None if a part of it cannot be translated exactly."""
    term, is_exact = _translated(node, row_type)
    return term if is_exact else None


def _translated(
    node: exp.Expr | None, row_type: RowType, alias: str = ""
) -> tuple[Term | None, bool]:
    """Return what of the WHERE can be translated, and whether that is all of it."""
    select = None if node is None else node.parent_select
    if node is None or select is None:
        return None, False
    names = {field.name.lower(): field for field in row_type.fields}
    if len(names) < len(row_type.fields):
        return None, False
    alias = node.alias or alias or node.name
    scope = _Scope(alias.lower(), names, alone=_is_alone(select))
    terms = [scope.term(part) for part in _conditions_of(node)]
    return _joined([term for term in terms if term is not None]), scope.is_exact


def _conditions_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions on the rows of a table, in names of the SELECT that reads it.

    Args:
        node: a table or subquery in FROM or JOIN.
    """
    source = node.parent
    select = None if source is None else source.parent
    if not isinstance(select, exp.Select) or not isinstance(source, exp.From | exp.Join):
        return []
    if names_columns(node) or any(node.args.get(key) for key in _OTHER_ROWS):
        return []
    joins = [join for join in select.args.get("joins") or [] if isinstance(join, exp.Join)]
    if any(map(keeps_right, joins)):
        return []
    where = select.args.get("where")
    found = conjuncts(where and where.this)
    found += _after_groups(select) + _around(select)
    for join in joins:
        found += conjuncts(join.args.get("on")) if is_inner(join) else []
    if isinstance(source, exp.From) or is_inner(source):
        return found + _of_equal_columns(found)
    own, alias = conjuncts(source.args.get("on")), node.alias_or_name.lower()
    others = [one for one in found if alias not in {"", *_tables(one)}]
    return own + _of_equal_columns(own + others)


def keeps_right(join: exp.Join) -> bool:
    """Return whether a join returns also rows without a match of what it joins."""
    return str(join.side).upper() in {"RIGHT", "FULL"}


def is_inner(join: exp.Join) -> bool:
    """Return whether a join returns only pairs of rows for which its condition holds."""
    kinds = {str(join.args.get(key) or "").upper() for key in ("side", "kind", "method")}
    return kinds <= {"", "INNER", "CROSS"}


def _tables(condition: exp.Expr) -> set[str]:
    """Return by what a condition qualifies its columns; "" for a column that is not qualified."""
    found = (column_parts(column) for column in condition.find_all(exp.Column))
    return {parts[0] if len(parts) > 1 else "" for parts in found}


def _after_groups(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions of HAVING on columns by which a SELECT groups."""
    having = select.args.get("having")
    parts = conjuncts(having and having.this)
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}

    def inside(column: exp.Column) -> exp.Expr | None:
        return None if column.name.lower() in aliases else column

    return [part for part in parts if _holds_before(select, part, inside) is not None]


def _around(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions of the query around a subquery or CTE, on what its SELECT returns."""
    top: exp.Expr = select
    while isinstance(top.parent, exp.SetOperation):
        top = top.parent
        if top.args.get("by_name") or any(top.args.get(key) for key in _LIMITS):
            return []
    outer = top.parent
    node = _only_use(outer) if isinstance(outer, exp.CTE) else outer
    if outer is None or names_columns(outer) or not isinstance(node, exp.Subquery | exp.Table):
        return []
    conditions = _conditions_of(node)
    if not conditions:
        return []
    returned = _returned(select, top)
    reader = node.parent_select
    alias, is_alone = node.alias_or_name.lower(), reader is not None and _is_alone(reader)

    def inside(column: exp.Column) -> exp.Expr | None:
        parts = column_parts(column)
        is_own = parts[0] == alias if len(parts) > 1 else is_alone
        return returned(parts[-1]) if is_own and len(parts) <= 2 else None  # noqa: PLR2004 - alias and column

    found = [_holds_before(select, one, inside) for one in conditions]
    return [one for one in found if one is not None]


def _only_use(cte: exp.CTE) -> exp.Table | None:
    """Return the table that stands for a CTE; None if there are several, or it reads itself."""
    clause, name = cte.parent, cte.alias.lower()
    if clause is None or clause.args.get("recursive"):
        return None
    root = cte.root()
    if sum(one.alias.lower() == name for one in root.find_all(exp.CTE)) > 1:
        return None
    own = {id(one) for one in cte.find_all(exp.Table)}
    uses = [one for one in root.find_all(exp.Table) if one.name.lower() == name and not one.db]
    uses = [one for one in uses if id(one) not in own]
    return uses[0] if len(uses) == 1 else None


def _returned(select: exp.Select, top: exp.Expr) -> Callable[[str], exp.Expr | None]:
    """Return a function that gives the column of a SELECT by the name that the query has."""
    first = top
    while isinstance(first, exp.SetOperation):
        first = first.left
    items, named = select.expressions, getattr(first, "expressions", [])
    has_star = any(item.is_star for item in (*items, *named))
    source = select.args.get("from_")

    def found(name: str) -> exp.Expr | None:
        at = [n for n, item in enumerate(named) if item.alias_or_name.lower() == name]
        if len(at) == 1 and not (has_star and first is not select):
            inner = items[at[0]].unalias()
            return inner if isinstance(inner, exp.Column) else None
        stars = [one.this if isinstance(one, exp.Column) else one for one in items if one.is_star]
        is_whole = any(not any(one.args.values()) for one in stars)
        if at or not is_whole or first is not select or source is None or not _is_alone(select):
            return None
        return exp.column(exp.to_identifier(name, quoted=True))

    return found


def _holds_before(
    select: exp.Select, condition: exp.Expr, inside: Callable[[exp.Column], exp.Expr | None]
) -> exp.Expr | None:
    """Return a condition on the result of a SELECT as one on its rows; None if it is none.

    Args:
        select: must not choose rows otherwise, so it has no LIMIT, and groups by the columns.
        condition: on columns of its result.
        inside: returns the column of the rows.
    """
    if any(select.args.get(key) for key in _LIMITS) or condition.find(exp.Query, exp.AggFunc):
        return None
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return None
    keys = list(_keys(select))
    copy = exp.Paren(this=condition.copy())
    for column in list(copy.find_all(exp.Column)):
        found = inside(column)
        if found is None or not all(_names(found) in key for key in keys):
            return None
        column.replace(found.copy())
    held: exp.Expr = copy.this
    return held


def _keys(select: exp.Select) -> Iterator[set[object]]:
    """Yield the columns by which a SELECT groups, and by which each window is partitioned."""
    group = select.args.get("group")
    own = [one for one in select.find_all(exp.AggFunc) if one.parent_select is select]
    windows = [one for one in select.find_all(exp.Window) if one.parent_select is select]
    if group is not None:
        is_plain = not any(group.args.get(key) for key in _GROUPS)
        yield {_names(_item(select, one)) for one in group.expressions} if is_plain else set()
    elif any(one.find_ancestor(exp.Window, exp.Select) is select for one in own):
        yield set()
    for window in windows:
        yield {_names(one) for one in window.args.get("partition_by") or []}
    if select.args.get("windows"):
        yield set()


def _item(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """Return what a key of GROUP BY stands for: its number or alias names an item."""
    items = select.expressions
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(items):
        key = items[int(key.name) - 1].unalias()
    return key


def _names(value: exp.Expr) -> object:
    """Return what is the same for the same column."""
    if isinstance(value, exp.Column):
        return tuple(column_parts(value))
    return value.sql()


def column_parts(column: exp.Column) -> list[str]:
    """Return the parts of the name of a column in lower case, with the source that it has."""
    parts = [part.name.lower() for part in column.parts]
    source = column.meta.get(SOURCE) if len(parts) == 1 else None
    return parts if source is None else [str(source), *parts]


def _of_equal_columns(conditions: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return conditions on a column also for the columns that are equal to it, of the same type."""
    equal: dict[object, list[exp.Column]] = {}
    for one in conditions:
        left, right = (one.left, one.right) if isinstance(one, exp.EQ) else (None, None)
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            continue
        if left.type is not None and left.type == right.type:
            equal.setdefault(_names(left), []).append(right)
            equal.setdefault(_names(right), []).append(left)
    found: list[exp.Expr] = []
    for one in conditions if equal else ():
        seen = {_names(column) for column in one.find_all(exp.Column)}
        others = [other for name in seen for other in equal.get(name, ())] if len(seen) == 1 else []
        while others:
            other = others.pop()
            if _names(other) in seen:
                continue
            seen.add(_names(other))
            others += equal[_names(other)]
            copy = exp.Paren(this=one.copy())
            for column in list(copy.find_all(exp.Column)):
                column.replace(other.copy())
            found.append(copy.this)
    return found


def _joined(terms: Sequence[Term]) -> Term | None:
    return Term(conjunction(term.expression for term in terms)) if terms else None


def _is_alone(select: exp.Select) -> bool:
    return not (select.args.get("joins") or select.args.get("laterals"))


class _Scope:
    """Translates conditions on one table into predicates; None where the meaning could differ.

    Attributes:
        alias: the table's alias in the query.
        names: its columns by lower-case name.
        alone: the query reads no other table, so an unqualified name is a column of this one.
        is_exact: whether the predicates so far match no more rows than the conditions.
    """

    def __init__(self, alias: str, names: dict[str, DataField], *, alone: bool) -> None:
        self._alias = alias
        self._names = names
        self._alone = alone
        self.is_exact = True

    def term(self, part: exp.Expr) -> Term | None:
        found = self._term(part)
        self.is_exact &= found is not None
        return found

    def _term(self, part: exp.Expr) -> Term | None:  # noqa: PLR0911 - one for each kind
        if isinstance(part, exp.Paren):
            return self.term(part.this)
        if isinstance(part, exp.And | exp.Or):
            return self._both(part)
        if isinstance(part, exp.In):
            return self._in(part)
        if isinstance(part, exp.Like):
            return self._like(part)
        if isinstance(part, exp.Between):
            return self._between(part)
        if isinstance(part, exp.Is):
            return self._null(part)
        if isinstance(part, exp.Not) and isinstance(part.this, exp.Is):
            found = self._null(part.this)
            return None if found is None else ~found
        return self._compared(part)

    def _both(self, part: exp.And | exp.Or) -> Term | None:
        terms = [self.term(one) for one in conjuncts(part, type(part))]
        known = [one for one in terms if one is not None]
        if isinstance(part, exp.And):
            return _joined(known)
        is_known = len(known) == len(terms)
        return Term(disjunction(one.expression for one in known)) if is_known else None

    def _field(self, node: object) -> tuple[Term, DataField] | None:
        """Return a column or member of a struct, with its field."""
        names: list[str] = []
        while isinstance(node, exp.Dot):
            names.insert(0, node.name)
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        names = column_parts(node) + names
        is_qualified = len(names) > 1 and names[0].lower() == self._alias
        if (is_qualified and self._alias in self._names) or not (is_qualified or self._alone):
            return None
        path, fields, field = list[str](), self._names, None
        for name in names[int(is_qualified) :]:
            field = fields.get(name.lower())
            if field is None:
                return None
            path.append(field.name)
            members = field.type.fields if isinstance(field.type, RowType) else ()
            fields = {member.name.lower(): member for member in members}
            if len(fields) < len(members):
                return None
        return None if field is None else (col(*path), field)

    def _null(self, part: exp.Is) -> Term | None:
        found = self._field(part.this)
        is_null = isinstance(part.expression, exp.Null)
        return found[0].is_null() if found is not None and is_null else None

    def _like(self, part: exp.Like) -> Term | None:
        """Return that the text begins as the pattern does, up to its first special character."""
        found, pattern = self._field(part.this), part.expression
        is_text = found is not None and _root(found[1]) in TEXTS
        if found is None or not is_text or part.args.get("negate"):
            return None
        if not isinstance(pattern, exp.Literal):
            return None
        prefix = re.split(r"[%_\\]", pattern.name)[0]
        self.is_exact &= pattern.name == f"{prefix}%"
        if _root(found[1]) is TypeRoot.CHAR:
            self.is_exact = False
            prefix = prefix.rstrip(" ")  # stored values may have no spaces
        return found[0].startswith(prefix) if prefix else None

    def _in(self, part: exp.In) -> Term | None:
        found = self._field(part.this)
        if found is None or any(part.args.get(key) for key in ("query", "unnest", "field")):
            return None
        values = [_constant(one, found[1]) for one in part.expressions]
        if None in values:
            return None
        same = self._chars(*found, values)
        return found[0].isin(values) if same is None else same

    def _chars(self, column: Term, field: DataField, values: Sequence[object]) -> Term | None:
        """Return that a CHAR column has one of some values, with any number of spaces after it."""
        if not isinstance(field.type, AtomicType) or field.type.root is not TypeRoot.CHAR:
            return None
        self.is_exact = False
        texts = [str(value).rstrip(" ") for value in values]
        lengths = range((field.type.length or 1) + 1)
        return column.isin(list(dict.fromkeys(text.ljust(n) for text in texts for n in lengths)))

    def _between(self, part: exp.Between) -> Term | None:
        found = self._field(part.this)
        if found is None or part.args.get("symmetric") or _root(found[1]) is TypeRoot.CHAR:
            return None
        low, high = (_constant(part.args[side], found[1]) for side in ("low", "high"))
        return None if low is None or high is None else (found[0] >= low) & (found[0] <= high)

    def _compared(self, part: exp.Expr) -> Term | None:
        if not isinstance(part, exp.EQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
            return None
        found, other = self._field(part.left), part.right
        kind: type[exp.Expr] = type(part)
        if found is None:
            found, other, kind = self._field(part.right), part.left, _TURNED[kind]
        value = None if found is None else _constant(other, found[1])
        if found is None or value is None:
            return None
        if _root(found[1]) is TypeRoot.CHAR:
            return self._chars(*found, [value]) if kind is exp.EQ else None
        return _COMPARISONS[kind](found[0], value)


_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_COMPARISONS: dict[type[exp.Expr], Callable[[Term, object], Term]] = {
    exp.EQ: Term.__eq__,
    exp.LT: Term.__lt__,
    exp.LTE: Term.__le__,
    exp.GT: Term.__gt__,
    exp.GTE: Term.__ge__,
}


def _root(field: DataField) -> TypeRoot | None:
    return field.type.root if isinstance(field.type, AtomicType) else None


def _constant(node: exp.Expr, field: DataField) -> object | None:
    """Return a constant that compares with the column as it does in Spark; else None."""
    root = _root(field)
    negative = isinstance(node, exp.Neg)
    if negative:
        node = node.this
    if root in _EXACT or root is TypeRoot.DOUBLE:
        number = _real_number(node) if root is TypeRoot.DOUBLE else _whole_number(node)
        return -number if negative and number is not None else number
    if negative:
        return None
    if root in TEXTS and isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    return _day(node) if root is TypeRoot.DATE else _moment(node, field)


def _whole_number(node: exp.Expr) -> int | None:
    if isinstance(node, exp.Cast) and node.is_type("bigint"):
        node = node.this  # 3L
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        return None
    number = int(str(node.this))
    return number if number <= _LARGEST else None


def _real_number(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Cast) and node.is_type("double", "bigint"):
        node = node.this  # 3.5D
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    return float(node.name)


def _day(node: exp.Expr) -> date | None:
    if isinstance(node, exp.Cast) and node.is_type("date"):
        node = node.this
    if not isinstance(node, exp.Literal) or not node.is_string:
        return None
    text = str(node.this)
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _moment(node: exp.Expr, field: DataField) -> datetime | None:
    """Return a time with a zone for TIMESTAMP WITH LOCAL TIME ZONE, one without for TIMESTAMP."""
    is_known = isinstance(field.type, AtomicType) and (field.type.precision or 0) <= _MICROSECONDS
    root = _root(field)
    kind = _TIMES.get(root) if is_known and root is not None else None
    if kind is None or not isinstance(node, exp.Cast) or not node.is_type(kind):
        return None
    try:
        found = datetime.fromisoformat(node.name)
    except ValueError:
        return None
    return found if (found.tzinfo is not None) == (kind == "timestamptz") else None
