"""Projection and predicate pushdown for SQL queries.

Spark requests all columns of all files from a Python data source. So before the query runs, each
table is read with only the columns whose names occur in the query's text, and with those conditions
of the WHERE that have the same meaning here as in Spark: comparisons of numbers, strings and dates
with constants, combined by AND and OR. Spark still applies the whole WHERE to the rows it gets.

Nothing is pushed down where that could change the result: `*`, PIVOT, NATURAL JOIN and the like
read all columns; a WHERE over the outer side of an outer join reads all rows.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from sqlglot import exp

from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.sql_statements.table_references import Reference
from paimon_explore.sql_statements.tokenizer import Kind, Token

_ALL_COLUMNS = frozenset({"NATURAL", "PIVOT", "UNPIVOT", "TABLE", "TRANSFORM"})
_WHOLE = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})
_EXACT = _WHOLE | {TypeRoot.DECIMAL}
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LARGEST = 2**63 - 1
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
    root = None if reference.node is None else reference.node.root()
    if root is None or any(_needs_all(token) for token in tokens):
        return None
    if any(not isinstance(star.parent, exp.Count) for star in root.find_all(exp.Star)):
        return None
    words = {token.text.lower() for token in tokens if token.kind in {Kind.WORD, Kind.NAME}}
    found = [name for name in schema.row_type.names if name.lower() in words]
    return found or [_smallest(schema.fields)]


def _needs_all(token: Token) -> bool:
    return token.word in _ALL_COLUMNS or token.sign == "|>"


def _smallest(fields: Sequence[DataField]) -> str:
    """Return the column that is cheapest to read, for counting rows."""

    def rank(field: DataField) -> int:
        root = field.type.root if isinstance(field.type, AtomicType) else None
        return _SMALL.index(root) if root in _SMALL else len(_SMALL)

    return min(fields, key=rank).name


def usable_where(reference: Reference, schema: TableSchema) -> Term | None:
    """Return the part of the query's WHERE that can be pushed down to a table; None for none."""
    node = reference.node
    select = _select_of(node)
    where = None if select is None else select.args.get("where")
    if node is None or select is None or not isinstance(where, exp.Where):
        return None
    names = {field.name.lower(): field for field in schema.fields}
    if len(names) < len(schema.fields):
        return None
    scope = _Scope(node.alias_or_name.lower(), names, alone=_is_alone(select))
    terms = [scope.term(part) for part in _conjuncts(where.this)]
    return _joined([term for term in terms if term is not None])


def _joined(terms: Iterable[Term]) -> Term | None:
    whole: Term | None = None
    for term in terms:
        whole = term if whole is None else whole & term
    return whole


def _select_of(node: exp.Expr | None) -> exp.Select | None:
    """Return the SELECT whose WHERE applies to a table's rows."""
    source = None if node is None else node.parent
    select = None if source is None else source.parent
    if not isinstance(select, exp.Select):
        return None
    joins = [join for join in select.args.get("joins") or [] if isinstance(join, exp.Join)]
    sides = {str(join.side).upper() for join in joins}
    kinds = {str(join.kind).upper() for join in joins}
    if isinstance(source, exp.From):
        return None if sides & {"RIGHT", "FULL"} else select
    is_inner = sides <= {""} and kinds <= {"", "INNER", "CROSS"}
    return select if isinstance(source, exp.Join) and is_inner else None


def _is_alone(select: exp.Select) -> bool:
    return not (select.args.get("joins") or select.args.get("laterals"))


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.Paren):
        return _conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return [condition]


class _Scope:
    """Translates conditions on one table into predicates; None where the meaning could differ.

    Attributes:
        alias: the table's alias in the query.
        names: its columns by lower-case name.
        alone: the query reads no other table, so an unqualified name is a column of this one.
    """

    def __init__(self, alias: str, names: dict[str, DataField], *, alone: bool) -> None:
        self._alias = alias
        self._names = names
        self._alone = alone

    def term(self, part: exp.Expr) -> Term | None:  # noqa: PLR0911 - one for each kind
        if isinstance(part, exp.Paren):
            return self.term(part.this)
        if isinstance(part, exp.And | exp.Or):
            return self._both(part)
        if isinstance(part, exp.In):
            return self._in(part)
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

    def _field(self, node: object) -> DataField | None:
        if not isinstance(node, exp.Column) or node.args.get("db") is not None:
            return None
        is_ours = node.table.lower() == self._alias if node.table else self._alone
        return self._names.get(node.name.lower()) if is_ours else None

    def _null(self, part: exp.Is) -> Term | None:
        field = self._field(part.this)
        is_null = isinstance(part.expression, exp.Null)
        return col(field.name).is_null() if field is not None and is_null else None

    def _in(self, part: exp.In) -> Term | None:
        field = self._field(part.this)
        if field is None or not part.expressions or part.args.get("query") is not None:
            return None
        values = [_constant(one, field) for one in part.expressions]
        known = [value for value in values if value is not None]
        return col(field.name).isin(known) if len(known) == len(values) else None

    def _between(self, part: exp.Between) -> Term | None:
        field = self._field(part.this)
        if field is None or part.args.get("symmetric"):
            return None
        low, high = (_constant(part.args[side], field) for side in ("low", "high"))
        if low is None or high is None:
            return None
        return (col(field.name) >= low) & (col(field.name) <= high)

    def _compared(self, part: exp.Expr) -> Term | None:
        if not isinstance(part, exp.EQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
            return None
        field, other = self._field(part.left), part.right
        kind: type[exp.Expr] = type(part)
        if field is None:
            field, other, kind = self._field(part.right), part.left, _TURNED[kind]
        value = None if field is None else _constant(other, field)
        return None if field is None or value is None else _comparison(kind, field.name, value)


_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


def _comparison(kind: type[exp.Expr], name: str, value: object) -> Term:
    column = col(name)
    if kind is exp.EQ:
        return column == value
    if kind is exp.LT:
        return column < value
    if kind is exp.LTE:
        return column <= value
    return column > value if kind is exp.GT else column >= value


def _constant(node: exp.Expr, field: DataField) -> object | None:
    """Return a constant that compares with the column as it does in Spark; else None."""
    root = field.type.root if isinstance(field.type, AtomicType) else None
    negative = isinstance(node, exp.Neg)
    if negative:
        node = node.this
    if root in _EXACT:
        number = _whole_number(node)
        return -number if negative and number is not None else number
    if negative:
        return None
    if root in _TEXTS and isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    return _day(node) if root is TypeRoot.DATE else None


def _whole_number(node: exp.Expr) -> int | None:
    if isinstance(node, exp.Cast) and node.is_type("bigint"):
        node = node.this  # 3L
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit():
        return None
    number = int(str(node.this))
    return number if number <= _LARGEST else None


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
