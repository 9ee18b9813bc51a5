"""Predicates as SQL text, for messages and for `scan.sql` to read back."""

import math
from decimal import Decimal

import numpy as np

from paimon_explore.scan.expression import (
    And,
    Cast,
    Column,
    Compare,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Or,
    unit_nanos,
)
from paimon_explore.scan.sql_tokens import quoted_name, quoted_text
from paimon_explore.scan.temporal import date_text, time_text, timestamp_text
from paimon_explore.types.data_types import AtomicType, TypeRoot
from paimon_explore.types.render import type_text


def to_sql(expr: Expression) -> str:
    """The text of a tree; `parse_where` of it gives an equal tree if `expr` is not bound yet.

    >>> from paimon_explore.scan.builder import col
    >>> to_sql((col("a").isin([1, 2]) & ~col("odd name").is_null()).expression)
    'a IN (1, 2) AND `odd name` IS NOT NULL'
    """
    match expr:
        case And(children=children):
            text = " AND ".join(_wrapped(child, (Or, And)) for child in children)
        case Or(children=children):
            text = " OR ".join(_wrapped(child, (Or,)) for child in children)
        case Not(child=child):
            text = _not_text(child)
        case IsTrue(child=child):
            text = _truth_text(child, "")
        case Compare(op=op, left=left, right=right):
            text = f"{to_sql(left)} {op.value} {to_sql(right)}"
        case In() | Like() | IsNull():
            text = _test_text(expr, "")
        case Column(path=path):
            text = ".".join(map(quoted_name, path))
        case Cast(operand=operand, type=target):
            text = f"CAST({to_sql(operand)} AS {type_text(target)})"
        case Literal():
            text = literal_text(expr)
    return text


def literal_text(constant: Literal) -> str:
    """A constant as SQL text.

    >>> from paimon_explore.scan.builder import lit
    >>> literal_text(lit("it's").expression)
    "'it''s'"
    """
    value = constant.value
    match value:
        case None:
            text = "NULL"
        case bool():
            text = str(value).upper()
        case bytes():
            text = f"X'{value.hex().upper()}'"
        case str():
            text = quoted_text(value)
        case float():
            text = _float_text(value, constant.type)
        case Decimal():
            text = f"{value:f}"
        case int():
            text = _int_text(value, constant.type)
    return text


def _wrapped(child: Expression, kinds: tuple[type, ...] = (And, Or, Not, Compare)) -> str:
    text = to_sql(child)
    return f"({text})" if isinstance(child, kinds) else text


def _not_text(child: Expression) -> str:
    match child:
        case In() | Like() | IsNull():
            return _test_text(child, "NOT ")
        case IsTrue(child=inner):
            return _truth_text(inner, "NOT ")
        case _:
            return f"NOT {_wrapped(child)}"


def _truth_text(child: Expression, negation: str) -> str:
    if isinstance(child, Not):
        return f"{_wrapped(child.child)} IS {negation}FALSE"
    return f"{_wrapped(child)} IS {negation}TRUE"


def _test_text(test: In | Like | IsNull, negation: str) -> str:
    operand = to_sql(test.operand)
    match test:
        case In(values=values):
            return f"{operand} {negation}IN ({', '.join(map(literal_text, values))})"
        case Like(pattern=pattern, escape=escape):
            extra = "" if escape == "\\" else f" ESCAPE {quoted_text(escape)}"
            return f"{operand} {negation}LIKE {quoted_text(pattern)}{extra}"
        case IsNull():
            return f"{operand} IS {negation}NULL"


def _float_text(value: float, kind: AtomicType | None) -> str:
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{name}' AS DOUBLE)"
    single = kind is not None and kind.root is TypeRoot.FLOAT
    text = str(np.float32(value)) if single else repr(value)
    return text if "e" in text else text + "e0"


def _int_text(value: int, kind: AtomicType | None) -> str:
    match None if kind is None else kind.root:
        case TypeRoot.DATE:
            return f"DATE '{date_text(value)}'"
        case TypeRoot.TIME:
            return f"TIME '{time_text(value)}'"
        case TypeRoot.TIMESTAMP:
            return f"TIMESTAMP '{timestamp_text(value * unit_nanos(kind))}'"
        case TypeRoot.TIMESTAMP_LTZ:
            return f"TIMESTAMP '{timestamp_text(value * unit_nanos(kind))}Z'"
        case _:
            return str(value)
