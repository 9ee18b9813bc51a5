"""Formatting of predicates as SQL text that `scan.predicate.sql_parser` can parse."""

import math
from decimal import Decimal

import numpy as np

from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.scan.predicate.datetime_literals import date_text, time_text, timestamp_text
from paimon_explore.scan.predicate.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Computed,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Operand,
    Or,
    unit_nanos,
)
from paimon_explore.scan.predicate.sql_tokenizer import quoted_name, quoted_text


def to_sql(expr: Expression) -> str:
    """Formats an expression as SQL; `parse_where` returns an equal tree if `expr` is unbound.

    >>> from paimon_explore.scan.predicate.builder import col
    >>> to_sql((col("a").isin([1, 2]) & ~col("odd name").is_null()).expression)
    'a IN (1, 2) AND `odd name` IS NOT NULL'
    """
    match expr:
        case And(children=children):
            return " AND ".join(_wrapped(child, (Or, And)) for child in children)
        case Or(children=children):
            return " OR ".join(_wrapped(child, (Or,)) for child in children)
        case Not() | IsTrue():
            return _truth_text(expr)
        case Compare(op=op, left=left, right=right):
            return f"{to_sql(left)} {op.value} {to_sql(right)}"
        case In() | Like() | IsNull():
            return _test_text(expr, "")
        case Column() | Cast() | Call() | Computed() | Literal():
            return _operand_text(expr)


def _operand_text(operand: Operand) -> str:
    match operand:
        case Column(path=path):
            return ".".join(map(quoted_name, path))
        case Cast(operand=inner, type=target, tries=tries):
            return f"{'TRY_' if tries else ''}CAST({_operand_text(inner)} AS {type_text(target)})"
        case Call():
            return _call_text(operand)
        case Computed(text=text):
            return f"({text})"
        case Literal():
            return literal_text(operand)


def _call_text(call: Call) -> str:
    """Formats operators and CASE in SQL syntax, other functions by name."""
    parts = [to_sql(argument) for argument in call.arguments]
    if call.function in _SIGNS:
        first, second = (
            f"({part})" if isinstance(argument, Call) and argument.function in _SIGNS else part
            for part, argument in zip(parts, call.arguments, strict=True)
        )
        return f"{first} {call.function} {second}"
    if call.function == "[]":
        is_sign = isinstance(call.arguments[0], Call) and call.arguments[0].function in _SIGNS
        return f"({parts[0]})[{parts[1]}]" if is_sign else f"{parts[0]}[{parts[1]}]"
    if call.function == "case":
        tests = zip(parts[:-1:2], parts[1:-1:2], strict=True)
        whens = " ".join(f"WHEN {test} THEN {value}" for test, value in tests)
        return f"CASE {whens} ELSE {parts[-1]} END"
    return f"{call.function}({', '.join(parts)})"


_SIGNS = frozenset("+-*/%")


def literal_text(constant: Literal) -> str:
    """Formats a constant as SQL.

    >>> from paimon_explore.scan.predicate.builder import lit
    >>> literal_text(lit("it's").expression)
    "'it''s'"
    """
    value = constant.value
    match value:
        case None | bool():
            return "NULL" if value is None else str(value).upper()
        case bytes():
            return f"X'{value.hex().upper()}'"
        case str():
            return quoted_text(value)
        case float():
            return _float_text(value, constant.type)
        case Decimal():
            return f"{value:f}"
        case int():
            return _int_text(value, constant.type)


def _wrapped(child: Expression, kinds: tuple[type, ...] = (And, Or, Not, Compare)) -> str:
    text = to_sql(child)
    return f"({text})" if isinstance(child, kinds) else text


def _truth_text(expr: Not | IsTrue) -> str:
    match expr:
        case IsTrue(child=child):
            return _is_text(child, "")
        case Not(child=IsTrue(child=child)):
            return _is_text(child, "NOT ")
        case Not(child=In() | Like() | IsNull() as test):
            return _test_text(test, "NOT ")
        case Not(child=child):
            return f"NOT {_wrapped(child)}"


def _is_text(child: Expression, negation: str) -> str:
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
