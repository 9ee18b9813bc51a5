"""The buckets that a predicate's equalities on the bucket key leave."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.encoding.bucket import BucketFunction, bucket_of
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.scan.predicate.expression import (
    NULL,
    And,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    IsTrue,
    Literal,
    Or,
)
from paimon_explore.scan.predicate.literals import values_array

_MAX_KEYS = 1000
"""Most bucket keys that are tried; a predicate that allows more leaves all buckets."""
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_FUNCTIONS: Mapping[str, BucketFunction] = {"default": "default", "mod": "mod", "hive": "hive"}

_Key: TypeAlias = frozenset[tuple[str, Literal]]
"""Column values that a row must have, of some columns of the bucket key."""


def allowed_buckets(
    expr: Expression, keys: Sequence[DataField], total_buckets: int, function: str = "default"
) -> frozenset[int] | None:
    """The buckets that may hold a row of which a bound predicate is true.

    Args:
        expr: bound to the table's row type.
        keys: the bucket key's fields in order.
        total_buckets: bucket count of the entries in question, at least 1.
        function: the table's `bucket-function.type`.

    Returns:
        Bucket ids; None if the predicate leaves all.

    Spec: concepts/spec/datafile, bucket section.
    """
    names = frozenset(key.name for key in keys if _is_exact(key))
    rows = _keys_of(expr, names)
    known = _FUNCTIONS.get(function)
    if rows is None or known is None or any(len(row) < len(keys) for row in rows):
        return None
    if not rows:
        return frozenset()
    values = [dict(row) for row in rows]
    kinds = [key.type for key in keys if isinstance(key.type, AtomicType)]
    columns = [
        values_array([row[key.name].value for row in values], kind)
        for key, kind in zip(keys, kinds, strict=True)
    ]
    try:
        return frozenset(bucket_of(columns, kinds, total_buckets, known).tolist())
    except (InvalidInputError, UnsupportedFeatureError):
        return None  # the function takes no such key: nothing can be said


def _is_exact(key: DataField) -> bool:
    """Whether equal values have equal bytes, and so one bucket; the two zeros of floats do not."""
    return isinstance(key.type, AtomicType) and key.type.root not in _FLOATS


def _keys_of(expr: Expression, names: frozenset[str]) -> frozenset[_Key] | None:
    """Values of which a matching row must have one; None for too many to list."""
    match expr:
        case And(children=children):
            return _both(children, names)
        case Or(children=children):
            found: set[_Key] = set()
            for child in children:
                rows = _keys_of(child, names)
                if rows is None:
                    return None
                found |= rows
            return frozenset(found) if len(found) <= _MAX_KEYS else None
        case IsTrue(child=child):
            return _keys_of(child, names)
        case Literal(value=value) if value is not True:
            return frozenset()
        case _:
            return _leaf_keys(expr, names)


def _both(children: tuple[Expression, ...], names: frozenset[str]) -> frozenset[_Key] | None:
    """Values that fit all children; a child with too many to list is left out."""
    found: frozenset[_Key] = frozenset({frozenset()})
    listed = False
    for child in children:
        rows = _keys_of(child, names)
        if rows is None or len(rows) * len(found) > _MAX_KEYS:
            continue
        listed = True
        merged = (left | right for left, right in product(found, rows))
        found = frozenset(row for row in merged if len(dict(row)) == len(row))
    return found if listed else None


def _leaf_keys(expr: Expression, names: frozenset[str]) -> frozenset[_Key] | None:
    column, values = _equal_to(expr)
    if column is None or len(column.path) > 1 or column.name not in names:
        return frozenset({frozenset()})
    if len(values) > _MAX_KEYS:
        return None
    return frozenset(frozenset({(column.name, value)}) for value in values)


def _equal_to(expr: Expression) -> tuple[Column | None, tuple[Literal, ...]]:
    """The column that an equality, a list or IS NULL asks, with the values it may have."""
    match expr:
        case Compare(
            op=CompareOp.EQ | CompareOp.SAME, left=Column() as column, right=Literal() as value
        ):
            return column, (value,)
        case In(operand=Column() as column, values=values):
            return column, tuple(value for value in values if value.value is not None)
        case IsNull(operand=Column() as column):
            return column, (NULL,)
        case _:
            return None, ()
