"""Type coercion of function arguments."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from decimal import Decimal

from paimon_explore.data_types.definitions import (
    INTEGER_BITS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.cast_expression import can_cast
from paimon_explore.scan.predicate.expression import Cast, Expression, Literal, is_operand
from paimon_explore.scan.predicate.functions import common_type
from paimon_explore.scan.predicate.literal_range import literal_range
from paimon_explore.scan.predicate.sql_formatter import to_sql

PEERS = frozenset({*"+-*/%", "coalesce", "nullif", "case", "greatest", "least"})
"""Functions whose arguments have one common type, which constants take from the others."""

DIVISIONS = frozenset("/%")
"""Functions that are null for a divisor of zero."""
COLLECTIONS = frozenset({"size", "array_contains", "element_at", "[]"})
"""Functions of an array or map; null if an argument is."""
_INDEX = AtomicType(root=TypeRoot.INT)


def coerced(
    bound: Sequence[Expression], kinds: Sequence[DataType], zone: tzinfo | None, *, conditions: bool
) -> tuple[list[Expression], list[DataType]]:
    """Converts constant arguments to the common type of the others, if it can represent them.

    Args:
        bound: the arguments.
        kinds: their types.
        zone: for timestamps without a zone.
        conditions: whether every second argument except the last is a condition.
    """
    count = len(bound)
    peers = [i for i in range(count) if not conditions or i % 2 or i == count - 1]
    others = [kinds[i] for i in peers if not isinstance(bound[i], Literal)]
    known = [kinds[i] for i in peers if not is_null(bound[i])]
    common = common_type(others) if others else common_type(known) if known else None
    parts, types = list(bound), list(kinds)
    for i in peers:
        part = parts[i]
        if isinstance(part, Literal) and isinstance(common, AtomicType):
            found = _coerced_literal(part, common, zone)
            parts[i], types[i] = found, found.type or types[i]
        elif isinstance(part, Literal) and common is not None and part.value is None:
            raise InvalidInputError(
                "NULL cannot be an argument of a function with arguments of type "
                f"{type_text(common)}."
            )
    return parts, types


def coerced_part(
    function: str, bound: Sequence[Expression], kinds: Sequence[DataType], zone: tzinfo | None
) -> tuple[list[Expression], list[DataType]]:
    """Converts a constant key, index or element to the type in the array or map, if possible.

    Args:
        function: one of `COLLECTIONS`.
        bound: the arguments: the array or map, and the constant if there is one.
        kinds: their types.
        zone: for timestamps without a zone.

    Raises:
        InvalidInputError: element 0 of `element_at`.
    """
    parts, types, part = list(bound), list(kinds), bound[-1]
    kind = kinds[0].key if isinstance(kinds[0], MapType) else _INDEX
    if function == "array_contains" and isinstance(kinds[0], ArrayType):
        kind = kinds[0].element
    if isinstance(part, Literal) and isinstance(kind, AtomicType):
        found = _coerced_literal(part, kind, zone)
        parts[-1], types[-1] = found, found.type or kind
        if function == "element_at" and isinstance(kinds[0], ArrayType) and found.value == 0:
            raise InvalidInputError(
                "element_at counts the elements of an array from 1: 0 is not a valid index.",
                hint="Write 1 for the first element, -1 for the last one, or use [0].",
            )
    return parts, types


def is_null(part: Expression) -> bool:
    """Whether an expression is the constant NULL."""
    return isinstance(part, Literal) and part.value is None


def _coerced_literal(constant: Literal, kind: AtomicType, zone: tzinfo | None) -> Literal:
    """Converts a constant to a type; unchanged if the type cannot represent it exactly."""
    plain = replace(kind, nullable=True)
    if constant.value is None:
        return Literal(value=None, type=plain)
    if kind.root is TypeRoot.DECIMAL:
        return _as_decimal(constant)
    try:
        exact = literal_range(constant, kind, zone).exact
    except InvalidInputError:
        return constant
    return constant if exact is None else Literal(value=exact, type=plain)


def _as_decimal(constant: Literal) -> Literal:
    """Converts an integer to a decimal with exactly its number of digits."""
    if constant.type is None or constant.type.root not in INTEGER_BITS:
        return constant
    digits = len(str(abs(int(constant.value or 0))))
    kind = AtomicType(root=TypeRoot.DECIMAL, precision=digits, scale=0)
    return Literal(value=Decimal(int(constant.value or 0)), type=kind)


def cast_arguments(
    bound: Sequence[Expression], kinds: Sequence[DataType], wanted: Sequence[DataType]
) -> tuple[Expression, ...]:
    """Casts the arguments to the types of a function's signature.

    Raises:
        InvalidInputError: an argument cannot be cast.
    """
    triples = zip(bound, kinds, wanted, strict=True)
    return tuple(_cast(part, kind, target) for part, kind, target in triples)


def _cast(part: Expression, kind: DataType, target: DataType) -> Expression:
    if with_nullable(kind, nullable=True) == with_nullable(target, nullable=True):
        return part
    if is_operand(part) and can_cast(kind, target):
        return Cast(operand=part, type=with_nullable(target, nullable=True))
    raise InvalidInputError(
        f"{to_sql(part)} has type {type_text(kind)}, but {type_text(target)} is required."
    )
