"""Conditions on one column that indexes and readers of file formats can evaluate by themselves."""

import math

from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.scan.predicate.expression import (
    TRUE,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    Literal,
)

_RELATIONS = {
    CompareOp.EQ: (Relation.EQ, Relation.NE),
    CompareOp.NE: (Relation.NE, Relation.EQ),
    CompareOp.LT: (Relation.LT, Relation.GE),
    CompareOp.LE: (Relation.LE, Relation.GT),
    CompareOp.GT: (Relation.GT, Relation.LE),
    CompareOp.GE: (Relation.GE, Relation.LT),
}
"""Index relations for a comparison that has to be true, and for one that has to be false."""


def column_condition(expr: Expression, *, wanted: bool) -> tuple[str, Condition] | None:
    """Return the column and the condition on it for which `expr` is `wanted` (true or false).

    None for other expressions, and for comparisons with NaN, which has many encodings.
    """
    match expr:
        case Column():
            return column_condition(Compare(op=CompareOp.EQ, left=expr, right=TRUE), wanted=wanted)
        case Compare(op=op, left=Column(path=(name,)), right=Literal(value=value)):
            relation, values = _relation(op, wanted=wanted), [] if value is None else [value]
        case In(operand=Column(path=(name,)), values=listed):
            values = [value.value for value in listed if value.value is not None]
            relation = Relation.IN if wanted else Relation.NOT_IN
            if not wanted and len(values) < len(listed):
                relation, values = Relation.IN, []  # with a null in the list never true
        case IsNull(operand=Column(path=(name,))):
            return name, Condition(Relation.IS_NULL if wanted else Relation.IS_NOT_NULL)
        case _:
            return None
    if relation is None or any(isinstance(v, float) and math.isnan(v) for v in values):
        return None
    if not values and not isinstance(expr, In):
        return None
    return name, Condition(relation, tuple(values))


def _relation(op: CompareOp, *, wanted: bool) -> Relation | None:
    if op is CompareOp.SAME:
        return Relation.EQ if wanted else None
    return _RELATIONS[op][0 if wanted else 1]
