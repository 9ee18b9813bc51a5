"""Comparisons of a predicate that the library of a file format can evaluate by itself.

They are a superset: all matching rows fulfil them, and the predicate is evaluated on the rows that
are read. Floating-point columns are left out, since libraries order NaN and -0.0 differently.
"""

from collections.abc import Mapping

from paimon_explore.data_types.definitions import INTEGERS, TEXTS, AtomicType, TypeRoot
from paimon_explore.encoding.data_file_reader import Choice, StoredColumn
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.read.file_predicate import FilePredicate
from paimon_explore.scan.predicate.expression import (
    And,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    Or,
)

_COMPARABLE = INTEGERS | TEXTS | {TypeRoot.BOOLEAN, TypeRoot.DATE}
_RELATIONS = {
    CompareOp.EQ: Relation.EQ,
    CompareOp.NE: Relation.NE,
    CompareOp.LT: Relation.LT,
    CompareOp.LE: Relation.LE,
    CompareOp.GT: Relation.GT,
    CompareOp.GE: Relation.GE,
    CompareOp.SAME: Relation.EQ,
}


def comparisons_of(predicate: FilePredicate) -> list[Choice]:
    """Return comparisons with constants that all matching rows fulfil; see `Filtering`."""
    columns = {
        name: column
        for name, column in predicate.bounded.items()
        if isinstance(column.type, AtomicType) and column.type.root in _COMPARABLE
    }
    found: list[Choice] = []
    for part in _parts(predicate.predicate, And):
        choice = [_comparison(one, columns) for one in _parts(part, Or)]
        known = [one for one in choice if one is not None]
        if len(known) == len(choice):
            found.append(known)
    return found


def _parts(expr: Expression, kind: type[And | Or]) -> list[Expression]:
    """Return the parts that AND or OR combine, also in parentheses."""
    if not isinstance(expr, kind):
        return [expr]
    return [part for child in expr.children for part in _parts(child, kind)]


def _comparison(
    expr: Expression, columns: Mapping[str, StoredColumn]
) -> tuple[StoredColumn, Condition] | None:
    """Return a comparison of one of the columns; None for another predicate."""
    match expr:
        case Compare(op=op, left=Column(path=(name,)), right=Literal(value=value)):
            relation = _RELATIONS[op]
            values = tuple(one for one in (value,) if one is not None)
        case In(operand=Column(path=(name,)), values=listed):
            relation = Relation.IN
            values = tuple(one.value for one in listed if one.value is not None)
        case IsNull(operand=Column(path=(name,))):
            return (columns[name], Condition(Relation.IS_NULL)) if name in columns else None
        case Not(child=IsNull(operand=Column(path=(name,)))):
            return (columns[name], Condition(Relation.IS_NOT_NULL)) if name in columns else None
        case _:
            return None
    if not values or name not in columns:
        return None
    return columns[name], Condition(relation, values)
