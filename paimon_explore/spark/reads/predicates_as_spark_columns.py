"""Translates predicates of a scan to Spark columns, where they have the same meaning in Spark.

| | |
| --- | --- |
| tests | comparisons, IN, IS NULL, BETWEEN, LIKE without `_`; AND, OR, NOT |
| of columns | BOOLEAN, integers, DECIMAL, VARCHAR, DATE |
| with | constants and columns of the same type |

Anything else is evaluated by the reader of this package. So are FLOAT and DOUBLE: Spark treats NaN
as the greatest number, but the bounds of a Parquet file, by which Spark prunes, exclude NaN.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_

from pyspark.sql import Column
from pyspark.sql import functions as f

from paimon_explore.data_types.definitions import INTEGERS, AtomicType, DataType, RowType, TypeRoot
from paimon_explore.scan.predicate import expression as ex
from paimon_explore.scan.predicate.like_pattern import Wildcard, pattern_parts
from paimon_explore.spark.spark_types import spark_type
from paimon_explore.sql_statements.quoted_names import quoted

_SAME_ORDER = INTEGERS | {TypeRoot.BOOLEAN, TypeRoot.DECIMAL, TypeRoot.VARCHAR, TypeRoot.DATE}
_SIGNS: Mapping[ex.CompareOp, Callable[[Column, Column], Column]] = {
    ex.CompareOp.EQ: eq,
    ex.CompareOp.NE: ne,
    ex.CompareOp.LT: lt,
    ex.CompareOp.LE: le,
    ex.CompareOp.GT: gt,
    ex.CompareOp.GE: ge,
    ex.CompareOp.SAME: Column.eqNullSafe,
}
_EPOCH = date(1970, 1, 1)
_DAYS = range((date.min - _EPOCH).days, (date.max - _EPOCH).days + 1)


def spark_condition(expr: ex.Expression, row_type: RowType) -> Column | None:
    """Return a bound predicate as a column; None if its meaning in Spark may differ.

    Args:
        expr: bound to `row_type`.
        row_type: the columns' types; may list more.
    """
    match expr:
        case ex.And(children=children) | ex.Or(children=children):
            parts = [spark_condition(child, row_type) for child in children]
            return _joined(parts, both=isinstance(expr, ex.And))
        case ex.Not(child=child) | ex.IsTrue(child=child):
            found = spark_condition(child, row_type)
            if found is None:
                return None
            return ~found if isinstance(expr, ex.Not) else f.coalesce(found, f.lit(False))  # noqa: FBT003 - a value
        case _:
            return _test(expr, row_type)


def _joined(parts: Sequence[Column | None], *, both: bool) -> Column | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return reduce(and_ if both else or_, known)


def _test(expr: ex.Expression, row_type: RowType) -> Column | None:
    """A condition on values."""
    match expr:
        case ex.Compare():
            return _comparison(expr, row_type)
        case ex.In() | ex.Like() | ex.IsNull():
            found = _column(expr.operand, row_type)
            return None if found is None else _column_test(expr, *found)
        case _:
            column = _column(expr, row_type)
            return None if column is None else column[0]


def _column_test(
    test: ex.In | ex.Like | ex.IsNull, column: Column, kind: AtomicType
) -> Column | None:
    match test:
        case ex.In(values=values):
            return _membership(column, kind, values)
        case ex.Like():
            return _likeness(column, test)
        case ex.IsNull():
            return column.isNull()


def _column(operand: ex.Expression, row_type: RowType) -> tuple[Column, AtomicType] | None:
    """A column of the table, and its type."""
    if not isinstance(operand, ex.Column) or len(operand.path) > 1:
        return None
    field = row_type.field(operand.name)
    if field is None or not isinstance(field.type, AtomicType):
        return None
    return (f.col(quoted(operand.name)), field.type) if field.type.root in _SAME_ORDER else None


def _constant(operand: ex.Operand, like: AtomicType) -> Column | None:
    """A constant of a column's type."""
    if not isinstance(operand, ex.Literal) or not _is_same(operand.type, like):
        return None
    value = operand.value
    if like.root is TypeRoot.DATE:
        if not isinstance(value, int) or value not in _DAYS:
            return None
        return f.lit(_EPOCH + timedelta(days=value))
    return None if value is None else f.lit(value).cast(spark_type(like))


def _is_same(one: DataType | None, other: AtomicType) -> bool:
    if not isinstance(one, AtomicType) or one.root is not other.root:
        return False
    return one.root is not TypeRoot.DECIMAL or (
        (one.precision, one.scale) == (other.precision, other.scale)
    )


def _comparison(test: ex.Compare, row_type: RowType) -> Column | None:
    left, right, op = test.left, test.right, test.op
    if isinstance(left, ex.Literal):
        left, right, op = right, left, op.flipped
    first = _column(left, row_type)
    if first is None:
        return None
    other = _column(right, row_type)
    if other is not None:
        second = other[0] if _is_same(other[1], first[1]) else None
    else:
        second = _constant(right, first[1])
    return None if second is None else _SIGNS[op](first[0], second)


def _membership(column: Column, kind: AtomicType, values: Sequence[ex.Literal]) -> Column | None:
    constants = [_constant(value, kind) for value in values]
    known = [constant for constant in constants if constant is not None]
    return column.isin(*known) if known and len(known) == len(constants) else None


def _likeness(text: Column, test: ex.Like) -> Column | None:
    """Translate LIKE with a pattern of one text with `%` before it, after it, or both."""
    parts = pattern_parts(test)
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) != 1 or Wildcard.ONE in parts:
        return None
    wanted = f.lit(texts[0])
    if len(parts) == 1:
        return text == wanted
    if isinstance(parts[0], str):
        return text.startswith(wanted)
    return text.endswith(wanted) if isinstance(parts[-1], str) else text.contains(wanted)
