"""Random predicates and tables, and a plain reading of SQL's logic to check against."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.scan.predicate.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    CompareOp,
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
    conjunction,
    disjunction,
    literal,
    unit_nanos,
)

Row = Mapping[str, object]

COLUMNS = {
    "i": "INT",
    "t": "TINYINT",
    "m": "DECIMAL(5, 2)",
    "f": "FLOAT",
    "d": "DOUBLE",
    "s": "STRING",
    "x": "BYTES",
    "dt": "DATE",
    "ts": "TIMESTAMP(3)",
    "flag": "BOOLEAN",
    "r": "ROW<a INT>",
}


def row_type_of(columns: Mapping[str, str]) -> RowType:
    """Columns by name and type text, numbered in order."""
    return RowType(
        fields=tuple(
            DataField(id=i, name=name, type=parse_type_text(text))
            for i, (name, text) in enumerate(columns.items())
        )
    )


ROW_TYPE = row_type_of(COLUMNS)


def _moment(*parts: int) -> datetime:
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 - a wall clock reading


_FLOATS = [0.0, -0.0, 0.1, 1.0, -1.5, math.nan, math.inf, -math.inf]
_DAYS = [date(1969, 12, 31), date(1970, 1, 1), date(2026, 1, 31)]
_MOMENTS = [_moment(1970, 1, 1), _moment(2026, 1, 31, 10, 0, 0, 5000), _moment(1969, 12, 31, 23)]
_TEXTS = ["", "a", "ab", "abc", "b%", "é", "a\nb", "\U0010ffff"]
_VALUES: Mapping[str, st.SearchStrategy[object]] = {
    "i": st.integers(-3, 3),
    "t": st.sampled_from([-128, -1, 0, 1, 127]),
    "m": st.sampled_from([Decimal("1.50"), Decimal("-3.00"), Decimal("999.99"), Decimal("0.00")]),
    "f": st.sampled_from([float(np.float32(value)) for value in _FLOATS]),
    "d": st.sampled_from(_FLOATS),
    "s": st.sampled_from(_TEXTS),
    "x": st.sampled_from([b"", b"\x00", b"a", b"\xff"]),
    "dt": st.sampled_from(_DAYS),
    "ts": st.sampled_from(_MOMENTS),
    "flag": st.booleans(),
    "r": st.one_of(st.none(), st.integers(0, 2)).map(lambda value: {"a": value}),
}
_NUMBERS = st.sampled_from(
    [
        *(-129, -3, -1, 0, 1, 2, 3, 128, 10**20),
        *(Decimal("1.5"), Decimal("-2.505"), Decimal("1000.00")),
        *(0.1, 1.0, 2.5, -1.5, 1e300, math.nan, math.inf, -math.inf),
    ]
)
_CONSTANTS: Mapping[str, st.SearchStrategy[object]] = {
    **dict.fromkeys(("i", "t", "m", "f", "d", "r"), _NUMBERS),
    "s": st.sampled_from([*_TEXTS, "aa", "z"]),
    "x": st.sampled_from([b"", b"a", b"ab", b"\xff\xff"]),
    "dt": st.sampled_from([*_DAYS, date(2000, 1, 1), _moment(1970, 1, 1, 12)]),
    "ts": st.sampled_from([*_MOMENTS, date(1970, 1, 1), _moment(1970, 1, 1, 0, 0, 0, 1)]),
    "flag": st.booleans(),
}
_PATTERNS = st.sampled_from(["%", "", "a%", "%b", "%b%", "a_", "a%b", "_", r"b\%", r"b\%%", "ab%"])

_OPS = st.sampled_from(CompareOp)
_NOTHING = st.just(literal(None))

rows = st.lists(
    st.fixed_dictionaries({name: st.one_of(st.none(), values) for name, values in _VALUES.items()}),
    max_size=8,
)
"""Up to eight rows of `COLUMNS`."""


def batch_of(found: Sequence[Row]) -> pa.RecordBatch:
    """Rows as a batch."""
    schema = arrow_schema(ROW_TYPE)
    return pa.RecordBatch.from_pylist([dict(row) for row in found], schema=schema)


def _column(name: str) -> Column:
    return Column(path=("r", "a") if name == "r" else (name,))


def conditions(names: Sequence[str] = tuple(COLUMNS)) -> st.SearchStrategy[Expression]:
    """Trees without AND, OR and NOT, as written over some of `COLUMNS`."""
    return st.sampled_from(names).flatmap(_conditions_on)


def _conditions_on(name: str) -> st.SearchStrategy[Expression]:
    column = st.just(_column(name))
    constants = _CONSTANTS[name].map(literal)
    listed = st.lists(st.one_of(constants, constants, _NOTHING), min_size=1, max_size=20)
    compared = st.builds(Compare, op=_OPS, left=column, right=st.one_of(constants, _NOTHING))
    found: list[st.SearchStrategy[Expression]] = [
        st.builds(Compare, op=_OPS, left=column, right=constants),
        st.builds(Compare, op=_OPS, left=constants, right=column),
        compared,
        st.builds(In, operand=column, values=listed.map(tuple)),
        st.builds(IsNull, operand=column),
    ]
    if name == "s":
        found.append(st.builds(Like, operand=column, pattern=_PATTERNS))
    if name == "flag":
        found.append(column)
    if name == "i":
        found.append(st.builds(Compare, op=_OPS, left=column, right=column))
    return st.one_of(found)


def _many_choices(names: Sequence[str]) -> st.SearchStrategy[Expression]:
    """Pairs of a value of one column and another condition, of which one has to hold."""

    def pairs(name: str) -> st.SearchStrategy[Expression]:
        column, constants = st.just(_column(name)), _CONSTANTS[name].map(literal)
        value = st.builds(Compare, op=st.just(CompareOp.EQ), left=column, right=constants)
        pair = st.tuples(value, conditions(names)).map(conjunction)
        return st.lists(pair, min_size=8, max_size=10).map(disjunction)

    return st.sampled_from(names).flatmap(pairs)


def predicates(names: Sequence[str] = tuple(COLUMNS)) -> st.SearchStrategy[Expression]:
    """Trees as written over some of `COLUMNS`."""
    return st.recursive(
        st.one_of(conditions(names), conditions(names), _many_choices(names)),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(conjunction),
            st.lists(inner, min_size=2, max_size=3).map(disjunction),
            inner.map(lambda child: Not(child=child)),
            inner.map(lambda child: IsTrue(child=child)),
        ),
        max_leaves=6,
    )


def truth(expr: Expression, row: Row) -> bool | None:
    """What a tree as written is on a row; None is unknown."""
    match expr:
        case And(children=children):
            return _all([truth(child, row) for child in children])
        case Or(children=children):
            return _not(_all([_not(truth(child, row)) for child in children]))
        case Not(child=child):
            return _not(truth(child, row))
        case IsTrue(child=child):
            return truth(child, row) is True
        case _:
            return _leaf_truth(expr, row)


def _leaf_truth(expr: Expression, row: Row) -> bool | None:
    match expr:
        case Compare(op=op, left=left, right=right):
            return _compare(op, left, right, row)
        case In(operand=operand, values=values):
            found = [_compare(CompareOp.EQ, operand, value, row) for value in values]
            return _not(_all([_not(one) for one in found]))
        case Like(operand=operand, pattern=pattern):
            text = _value(operand, row)
            return None if text is None else _like(str(text), pattern)
        case IsNull(operand=operand):
            return _value(operand, row) is None
        case Column() | Literal():
            value = _value(expr, row)
            return None if value is None else value is True
        case _:
            raise AssertionError(expr)


def _not(value: bool | None) -> bool | None:  # noqa: FBT001 - a truth value
    return None if value is None else not value


def _all(values: Sequence[bool | None]) -> bool | None:
    if False in values:
        return False
    return None if None in values else True


def _like(text: str, pattern: str) -> bool:
    regex = ""
    escaped = False
    for character in pattern:
        if escaped or character not in "%_\\":
            regex += re.escape(character)
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            regex += ".*" if character == "%" else "."
    return re.fullmatch(regex, text, re.DOTALL) is not None


def _value(operand: Operand, row: Row) -> object:
    match operand:
        case Computed():
            raise AssertionError(operand)  # an engine's, which no test here makes
        case Literal(value=value, type=kind):
            instants = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
            if kind is not None and kind.root in instants and isinstance(value, int):
                return timedelta(microseconds=value * unit_nanos(kind) // 1000)
            if kind is not None and kind.root is TypeRoot.DATE and isinstance(value, int):
                return timedelta(days=value)
            return value
        case Column(path=path):
            found: object = row
            for name in path:
                found = found[name] if isinstance(found, dict | Mapping) else None
            if isinstance(found, datetime):
                return found - _moment(1970, 1, 1)
            return found - date(1970, 1, 1) if isinstance(found, date) else found
        case Cast() | Call():
            raise AssertionError("the reference knows no casts and no functions")


def _compare(op: CompareOp, left: Operand, right: Operand, row: Row) -> bool | None:
    first, second = _value(left, row), _value(right, row)
    if first is None or second is None:
        return first is second if op is CompareOp.SAME else None
    kind = next((_kind(side) for side in (left, right) if isinstance(side, Column)), None)
    low, high = (_key(value, kind) for value in (first, second))
    return {
        CompareOp.EQ: low == high,
        CompareOp.SAME: low == high,
        CompareOp.NE: low != high,
        CompareOp.LT: low < high,
        CompareOp.LE: low <= high,
        CompareOp.GT: low > high,
        CompareOp.GE: low >= high,
    }[op]


def _kind(column: Column) -> TypeRoot | None:
    found = ROW_TYPE.field(column.name)
    return found.type.root if found is not None and isinstance(found.type, AtomicType) else None


def _key(value: object, kind: TypeRoot | None) -> tuple[int, object]:
    """What sorts as the value does: NaN last, -inf first; numbers rounded for float columns."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return 0, value.encode() if isinstance(value, str) else value
    if kind in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        exact = isinstance(value, int | Decimal) or math.isfinite(value)
        with np.errstate(over="ignore"):
            number = float(np.float32(value)) if kind is TypeRoot.FLOAT else float(value)
        value = value if exact and math.isinf(number) else number
    if isinstance(value, float) and not math.isfinite(value):
        return (2 if math.isnan(value) else 1 if value > 0 else -1), 0
    return 0, Fraction(value)
