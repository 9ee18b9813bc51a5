"""Expression trees of SQL conditions and values.

A tree is built by `scan.predicate.builder` (`col("a") > 3`) or from SQL text by
`scan.predicate.sql_parser`, bound to a table's columns by `scan.predicate.binder`, and then
evaluated, used for pruning, or formatted by `scan.predicate.sql_formatter`. Nodes are immutable,
hashable, picklable and compared by structure. Logic is three-valued as in SQL: true, false, unknown
(null).

Each meaning has one canonical form: `IS NOT NULL` is `Not(IsNull)`, `BETWEEN` is an `And` of two
comparisons, `startswith` is a `Like`; nested And and Or are flattened.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import TypeGuard

import numpy as np

from paimon_explore.arguments import python_value
from paimon_explore.data_types.arrow_buffers import Column as Values
from paimon_explore.data_types.definitions import (
    BOOLEAN,
    MAX_LENGTH,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.datetime_literals import parse_date, parse_time, parse_timestamp

LITERAL_KINDS = "None, bool, int, float, Decimal, str, bytes, date, time and datetime"
_BIGINT_LIMIT = 2**63
_MAX_DIGITS = 38
_DECIMAL_LIMIT: int = 10**_MAX_DIGITS


class CompareOp(Enum):
    """Comparison operators."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    SAME = "<=>"
    """Equal or both null; never unknown."""

    @property
    def flipped(self) -> "CompareOp":
        """The equivalent operator with its operands swapped."""
        return _FLIPPED.get(self, self)


_FLIPPED = {
    CompareOp.LT: CompareOp.GT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.GT: CompareOp.LT,
    CompareOp.GE: CompareOp.LE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column, or a nested field of a ROW column by its path of names."""

    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The top-level column it reads."""
        return self.path[0]


LiteralValue = bool | int | float | Decimal | str | bytes | None
"""Python types of a constant's value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Literal:
    """A constant.

    Attributes:
        value: None, bool, int, float, Decimal, str or bytes; the integer of
            `scan.predicate.datetime_literals` for DATE and TIME, and for TIMESTAMP and
            TIMESTAMP_LTZ the integer of the unit of the type's precision (0: seconds, 1-3:
            milliseconds, 4-6: microseconds, 7-9: nanoseconds).
        type: the type as written until it is bound, then the type of the column it is compared
            with; None for a null.
    """

    value: LiteralValue
    type: AtomicType | None

    def __eq__(self, other: object) -> bool:
        """Equal type and value; NaN equals itself here."""
        return isinstance(other, Literal) and self._identity == other._identity

    def __hash__(self) -> int:
        """Hash of the value; that of the type would take most of the time."""
        return hash("NaN" if self.value != self.value else self.value)

    @property
    def _identity(self) -> tuple[AtomicType | None, object]:
        return self.type, "NaN" if self.value != self.value else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """CAST(operand AS type); in conditions, a value that cannot be cast is null.

    Attributes:
        operand: the value.
        type: the type.
        tries: whether it is TRY_CAST, which is null for such a value everywhere.
    """

    operand: "Operand"
    type: DataType
    tries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a function or an arithmetic operator of `scan.predicate.functions`.

    Attributes:
        function: its name in lower case, or its operator.
        arguments: operands, and conditions where the function takes them.
        type: of the result; None until it is bound.
    """

    function: str
    arguments: tuple["Expression", ...]
    type: DataType | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Computed:
    """A value that a query engine computes.

    Attributes:
        text: the expression, for messages.
        arguments: the columns that it reads.
        type: of the result.
        compute: returns the values for n rows of the arguments; gets the arguments and n.
    """

    text: str
    arguments: tuple[Column, ...]
    type: DataType
    compute: "Callable[[Sequence[Values], int], Values]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """A comparison of two operands; unknown if one is null, except for `SAME`."""

    op: CompareOp
    left: "Operand"
    right: "Operand"


@dataclass(frozen=True, slots=True, kw_only=True)
class In:
    """Whether an operand equals one of the values; unknown if not and one of them is null."""

    operand: "Operand"
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Like:
    """SQL's LIKE on a whole text: `%` matches any number of characters, `_` exactly one.

    Attributes:
        operand: the text.
        pattern: with wildcards.
        escape: the character that makes the next one literal; empty for none.
    """

    operand: "Operand"
    pattern: str
    escape: str = "\\"


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNull:
    """Whether an operand is null; never unknown."""

    operand: "Operand"


@dataclass(frozen=True, slots=True, kw_only=True)
class IsTrue:
    """Whether a condition is true; false where it is unknown."""

    child: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """The opposite; unknown stays unknown."""

    child: "Expression"


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """All conditions; see `conjunction`, which keeps it flat."""

    children: tuple["Expression", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """Any condition; see `disjunction`, which keeps it flat."""

    children: tuple["Expression", ...]


Operand = Column | Literal | Cast | Call | Computed
"""Expressions with a value of a column's type."""

Expression = Operand | Compare | In | Like | IsNull | IsTrue | Not | And | Or
"""Expressions that are true, false or unknown for a row; operands are conditions if BOOLEAN."""

_BIGINT = AtomicType(root=TypeRoot.BIGINT)
TRUE = Literal(value=True, type=BOOLEAN)
FALSE = Literal(value=False, type=BOOLEAN)
NULL = Literal(value=None, type=None)


def literal(value: object) -> Literal:
    """Converts a Python value to a literal; see `Literal` for the representation.

    Raises:
        InvalidInputError: a value of a type that is not in `LITERAL_KINDS`.

    >>> literal(Decimal("1.50")).type.scale
    2
    """
    plain = python_value(value)
    if isinstance(value, np.datetime64):
        plain = datetime_text_literal(str(value))
    for kinds, make in _LITERAL_MAKERS:
        if isinstance(plain, kinds):
            return make(plain)
    raise InvalidInputError(
        f"A condition cannot contain a value of type {type(value).__name__}: {value!r}.",
        hint=f"Supported: {LITERAL_KINDS}.",
    )


def datetime_text_literal(text: str) -> Literal:
    """Parses a timestamp literal, with or without a zone.

    Raises:
        InvalidInputError: the text is not a timestamp.
    """
    moment = parse_timestamp(text)
    if moment is None:
        raise InvalidInputError(
            f"{text!r} is not a valid timestamp.",
            hint="Write 'yyyy-MM-dd HH:mm:ss[.fraction]', with or without a zone.",
        )
    root = TypeRoot.TIMESTAMP_LTZ if moment.zoned else TypeRoot.TIMESTAMP
    # nanoseconds only where they are needed: Arrow's end in the year 2262
    kind = AtomicType(root=root, precision=9 if moment.nanos % 1000 else 6)
    return Literal(value=moment.nanos // unit_nanos(kind), type=kind)


def date_text_literal(text: str) -> Literal:
    """Parses a date literal.

    Raises:
        InvalidInputError: the text is not a date.
    """
    days = parse_date(text)
    if days is None:
        raise InvalidInputError(f"{text!r} is not a valid date.", hint="Write 'yyyy-MM-dd'.")
    return Literal(value=days, type=AtomicType(root=TypeRoot.DATE))


def time_text_literal(text: str) -> Literal:
    """Parses a literal for a time of day.

    Raises:
        InvalidInputError: the text is not a time, or has more than millisecond precision.
    """
    nanos = parse_time(text)
    if nanos is None or nanos % 1_000_000:
        raise InvalidInputError(
            f"{text!r} is not a valid time with at most 3 fractional-second digits.",
            hint="Write 'HH:mm:ss[.fraction]'.",
        )
    return Literal(value=nanos // 1_000_000, type=AtomicType(root=TypeRoot.TIME, precision=3))


def conjunction(parts: Iterable[Expression]) -> Expression:
    """Combines different parts by AND: TRUE for none, the part for one, else a flat And."""
    flat = tuple(dict.fromkeys(child for part in parts for child in conjuncts(part)))
    return TRUE if not flat else flat[0] if len(flat) == 1 else And(children=flat)


def disjunction(parts: Iterable[Expression]) -> Expression:
    """Combines parts by OR: FALSE for none, the part itself for one, else a flat Or."""
    flat = tuple(
        child for part in parts for child in (part.children if isinstance(part, Or) else (part,))
    )
    return FALSE if not flat else flat[0] if len(flat) == 1 else Or(children=flat)


def conjuncts(expr: Expression) -> tuple[Expression, ...]:
    """The parts that must all be true for `expr` to be true."""
    return expr.children if isinstance(expr, And) else (expr,)


def is_operand(expr: Expression) -> TypeGuard[Operand]:
    """Whether a node is an operand, not a condition."""
    return isinstance(expr, Column | Literal | Cast | Call | Computed)


def unit_nanos(kind: AtomicType | None) -> int:
    """Nanoseconds per unit of a timestamp type, by its precision."""
    precision = 0 if kind is None else kind.precision or 0
    nanos: int = 1000 ** (3 - (precision + 2) // 3)
    return nanos


def parts_of(expr: Expression) -> tuple[Expression, ...]:
    """The direct children of `expr`."""
    match expr:
        case Column() | Literal():
            return ()
        case (
            And(children=parts)
            | Or(children=parts)
            | (Call(arguments=parts) | Computed(arguments=parts))
        ):
            return parts
        case Not(child=child) | IsTrue(child=child):
            return (child,)
        case Compare(left=left, right=right):
            return left, right
        case In(operand=operand, values=values):
            return operand, *values
        case Cast(operand=operand) | Like(operand=operand) | IsNull(operand=operand):
            return (operand,)


def columns_of(expr: Expression) -> Iterator[Column]:
    """Iterates over the columns in `expr`, with duplicates."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Column):
            yield node
        # the values of an IN, often many, are constants
        pending.extend((node.operand,) if isinstance(node, In) else reversed(parts_of(node)))


def names_of(expr: Expression) -> frozenset[str]:
    """The top-level columns that `expr` reads."""
    return frozenset(column.name for column in columns_of(expr))


_FEWER_DIGITS = f"Use a number of at most {_MAX_DIGITS} digits."


def _int_literal(value: int) -> Literal:
    if -_BIGINT_LIMIT <= value < _BIGINT_LIMIT:
        return Literal(value=value, type=_BIGINT)
    if abs(value) >= _DECIMAL_LIMIT:
        raise InvalidInputError(
            f"A condition cannot contain an integer of more than {_MAX_DIGITS} digits.",
            hint=_FEWER_DIGITS,
        )
    return Literal(
        value=value, type=AtomicType(root=TypeRoot.DECIMAL, precision=_MAX_DIGITS, scale=0)
    )


def _float_literal(value: float) -> Literal:
    plain = math.nan if math.isnan(value) else value or 0.0  # -0.0 is 0.0
    return Literal(value=plain, type=AtomicType(root=TypeRoot.DOUBLE))


def _decimal_literal(value: Decimal) -> Literal:
    if not value.is_finite():
        raise InvalidInputError(
            f"A condition cannot contain the decimal {value}.", hint="Use a float instead."
        )
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0:
        return _int_literal(int(value))
    if -exponent > _MAX_DIGITS or len(digits) > _MAX_DIGITS:
        raise InvalidInputError(
            f"A condition cannot contain the decimal {value} of more than {_MAX_DIGITS} digits.",
            hint=_FEWER_DIGITS,
        )
    kind = AtomicType(root=TypeRoot.DECIMAL, precision=max(len(digits), -exponent), scale=-exponent)
    return Literal(value=value or value.copy_abs(), type=kind)


def _typed(root: TypeRoot) -> Callable[[str | bytes], Literal]:
    kind = AtomicType(root=root, length=MAX_LENGTH)
    return lambda value: Literal(value=value, type=kind)


def _literal_maker(
    kinds: type, make: Callable[..., Literal]
) -> tuple[type, Callable[..., Literal]]:
    return kinds, make


_LITERAL_MAKERS = (
    _literal_maker(Literal, lambda value: value),
    _literal_maker(type(None), lambda _: NULL),
    _literal_maker(bool, lambda value: TRUE if value else FALSE),
    _literal_maker(int, _int_literal),
    _literal_maker(float, _float_literal),
    _literal_maker(Decimal, _decimal_literal),
    _literal_maker(str, _typed(TypeRoot.VARCHAR)),
    _literal_maker(bytes, _typed(TypeRoot.VARBINARY)),
    _literal_maker(datetime, lambda value: datetime_text_literal(value.isoformat())),
    _literal_maker(date, lambda value: date_text_literal(value.isoformat())),
    _literal_maker(time, lambda value: time_text_literal(value.isoformat())),
)
"""Tried in this order, because a bool is also an int, and a datetime also a date."""


_MAX_DEPTH = 200
"""Maximum depth of a condition; trees are processed recursively."""


def checked_depth(expr: Expression) -> Expression:
    """Returns the expression after checking its depth.

    Raises:
        InvalidInputError: it has more than `_MAX_DEPTH` levels.
    """
    level: list[Expression] = [expr]
    for _ in range(_MAX_DEPTH):
        level = [child for one in level for child in parts_of(one)]
        if not level:
            return expr
    raise InvalidInputError(
        f"A condition has more than {_MAX_DEPTH} nested levels.",
        hint="Combine many comparisons by one & or |, or use isin().",
    )


def number_literal(sign: str, text: str) -> Literal:
    """Parses a number with Spark's suffixes: L, S, Y integer, D, F floating-point, BD decimal."""
    if "_" in text:
        raise ValueError(text)
    for suffix, make in (("BD", Decimal), ("L", int), ("S", int), ("Y", int)):
        if text.endswith(suffix):
            return literal(make(sign + text.removesuffix(suffix)))
    if text.endswith(("D", "F")) or "E" in text:
        return literal(float(sign + text.rstrip("DF")))
    return literal(Decimal(sign + text) if "." in text else int(sign + text))
