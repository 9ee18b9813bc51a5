"""Projection and predicate pushdown for SQL queries.

Spark requests all columns of all files from a Python data source, and DuckDB passes few conditions
to a scan: no LIKE, no long IN, no order of DOUBLE. So before the query runs, each
table is read with only the columns whose names occur in the query's text, and with those conditions
of the WHERE that have the same meaning here as in Spark: comparisons of numbers, strings and times
with constants, prefixes of LIKE, IN and IS NULL, also of members of structs, combined by AND and
OR. The engine still applies the whole WHERE to the rows it gets.

Nothing is pushed down where that could change the result: `*` reads all columns of the tables
beside it, PIVOT, NATURAL JOIN and the like those of all tables; a WHERE over the outer side of an
outer join reads all rows (see `implied_conditions`).
"""

import re
from collections.abc import Callable, Iterable, Sequence
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
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.sql_statements.implied_conditions import conditions_of
from paimon_explore.sql_statements.table_references import Reference
from paimon_explore.sql_statements.tokenizer import Kind, Token

_ALL_COLUMNS = frozenset({"NATURAL", "PIVOT", "UNPIVOT", "TABLE", "TRANSFORM"})
_EXACT = INTEGERS | {TypeRoot.DECIMAL}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LARGEST = 2**63 - 1
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
    reference: Reference, tokens: Sequence[Token], schema: TableSchema
) -> list[str] | None:
    """Return the columns of a table that a query may need; None for all.

    Args:
        reference: the table in the query.
        tokens: of the whole query.
        schema: of the table.
    """
    node = reference.node
    if node is None or any(_needs_all(token) for token in tokens):
        return None
    select = node.parent_select
    stars = (node.root() if select is None else select).find_all(exp.Star)
    if any(star.parent_select is select and _is_wanted(star) for star in stars):
        return None
    words = {token.text.lower() for token in tokens if token.kind in {Kind.WORD, Kind.NAME}}
    found = [name for name in schema.row_type.names if name.lower() in words]
    return found or [_smallest(schema.fields)]


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


def usable_where(node: exp.Expr | None, schema: TableSchema, alias: str = "") -> Term | None:
    """Return the part of the query's WHERE that can be pushed down to a table; None for none.

    Args:
        node: the table in the query.
        schema: of the table.
        alias: by which the query may qualify its columns if it gives no other one.
    """
    return _translated(node, schema, alias)[0]


def whole_where(node: exp.Table, schema: TableSchema) -> Term | None:
    """Return the WHERE over a table; None if a part of it cannot be translated exactly."""
    term, is_exact = _translated(node, schema)
    return term if is_exact else None


def _translated(
    node: exp.Expr | None, schema: TableSchema, alias: str = ""
) -> tuple[Term | None, bool]:
    """Return what of the WHERE can be translated, and whether that is all of it."""
    select = None if node is None else node.parent_select
    if node is None or select is None:
        return None, False
    names = {field.name.lower(): field for field in schema.fields}
    if len(names) < len(schema.fields):
        return None, False
    alias = node.alias or alias or node.name
    scope = _Scope(alias.lower(), names, alone=_is_alone(select))
    terms = [scope.term(part) for part in conditions_of(node)]
    return _joined([term for term in terms if term is not None]), scope.is_exact


def _joined(terms: Iterable[Term]) -> Term | None:
    whole: Term | None = None
    for term in terms:
        whole = term if whole is None else whole & term
    return whole


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
        left, right = self.term(part.left), self.term(part.right)
        if isinstance(part, exp.And):
            return _joined([one for one in (left, right) if one is not None])
        return None if left is None or right is None else left | right

    def _field(self, node: object) -> tuple[Term, DataField] | None:
        """Return a column or member of a struct, with its field."""
        names: list[str] = []
        while isinstance(node, exp.Dot):
            names.insert(0, node.name)
            node = node.this
        if not isinstance(node, exp.Column):
            return None
        names = [part.name for part in node.parts] + names
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
        if found is None or not part.expressions or part.args.get("query") is not None:
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
