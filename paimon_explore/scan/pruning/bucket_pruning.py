"""Bucket pruning: the buckets that equality conditions on the bucket key leave.

Each entry is tested with the bucket count it was written with, so rescaled tables are handled.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types.definitions import FLOATS, AtomicType, DataField, TypeRoot
from paimon_explore.encoding.bucket_function import BucketFunction, bucket_of
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import BUCKET_FUNCTION, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import Mask, numbers
from paimon_explore.scan.predicate.expression import (
    NULL,
    TRUE,
    And,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    IsTrue,
    Literal,
    LiteralValue,
    Or,
)
from paimon_explore.scan.predicate.literals import values_array

_MAX_KEYS = 1000
"""Maximum number of bucket keys to enumerate; with more, no bucket is pruned."""
_FUNCTIONS: Mapping[str, BucketFunction] = {"default": "default", "mod": "mod", "hive": "hive"}

_Key: TypeAlias = frozenset[tuple[str, Literal]]
"""Required values of some bucket key columns."""


def bucket_mask(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions, predicate: Expression
) -> Mask:
    """True for those of n files whose bucket may contain matching rows."""
    mask = np.ones(len(entries), dtype=np.bool_)
    keys = schema.project(schema.bucket_keys).fields
    if not keys or predicate == TRUE:
        return mask
    totals = numbers(entries.table, "total_buckets")
    buckets = numbers(entries.table, "bucket")
    function = options.value(BUCKET_FUNCTION).value
    for total in np.unique(totals[totals > 0]).tolist():
        allowed = allowed_buckets(predicate, keys, total, function)
        if allowed is not None:
            fits = np.isin(buckets, np.fromiter(allowed, dtype=np.int64))
            mask &= (totals != total) | fits
    return mask


def allowed_buckets(
    expr: Expression, keys: Sequence[DataField], total_buckets: int, function: str
) -> frozenset[int] | None:
    """The buckets that may contain rows for which a bound predicate is true.

    Args:
        expr: bound to the table's row type.
        keys: the bucket key's fields in order.
        total_buckets: bucket count of the entries, at least 1.
        function: the table's `bucket-function.type`.

    Returns:
        Bucket ids; None if no bucket can be excluded.

    Spec: concepts/spec/datafile, bucket section.
    """
    names = frozenset(key.name for key in keys if _is_exact(key))
    rows = _keys_of(expr, names)
    known = _FUNCTIONS.get(function)
    if rows is None or known is None or any(len(row) < len(keys) for row in rows):
        return None
    if not rows:
        return frozenset()
    kinds = [key.type for key in keys if isinstance(key.type, AtomicType)]
    forms = [
        [
            _stored_forms(dict(row)[key.name].value, kind)
            for key, kind in zip(keys, kinds, strict=True)
        ]
        for row in rows
    ]
    if sum(prod(map(len, row)) for row in forms) > _MAX_KEYS:
        return None
    values = [found for row in forms for found in product(*row)]
    columns = [
        values_array([row[place] for row in values], kind) for place, kind in enumerate(kinds)
    ]
    try:
        return frozenset(bucket_of(columns, kinds, total_buckets, known).tolist())
    except (InvalidInputError, UnsupportedFeatureError):
        return None  # the bucket function does not support this key


def _stored_forms(value: LiteralValue, kind: AtomicType) -> list[LiteralValue]:
    """The values that a value may be written as: reads of ORC files trim CHAR, with any spaces."""
    if kind.root is not TypeRoot.CHAR or not isinstance(value, str):
        return [value]
    return [value + " " * count for count in range(max((kind.length or 1) - len(value), 0) + 1)]


def lists_values(expr: Expression, names: Collection[str]) -> bool:
    """Whether a bound predicate is true only for few listed values of all these columns."""
    rows = _keys_of(expr, frozenset(names))
    return rows is not None and all(len(row) == len(names) for row in rows)


def _is_exact(key: DataField) -> bool:
    """Whether equal values have equal bytes, hence one bucket; 0.0 and -0.0 do not."""
    return isinstance(key.type, AtomicType) and key.type.root not in FLOATS


def _keys_of(expr: Expression, names: frozenset[str]) -> frozenset[_Key] | None:
    """The bucket keys that a matching row may have; None for any, or too many to enumerate."""
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


def _both(children: tuple[Expression, ...], names: frozenset[str]) -> frozenset[_Key]:
    """The bucket keys that satisfy all children; a child with any or too many is ignored."""
    found: frozenset[_Key] = frozenset({frozenset()})
    for child in children:
        rows = _keys_of(child, names)
        if rows is None or len(rows) * len(found) > _MAX_KEYS:
            continue
        merged = (left | right for left in found for right in rows)
        found = frozenset(row for row in merged if len(dict(row)) == len(row))
    return found


def _leaf_keys(expr: Expression, names: frozenset[str]) -> frozenset[_Key] | None:
    column, values = _equal_to(expr)
    if column is None or len(column.path) > 1 or column.name not in names:
        return None
    if len(values) > _MAX_KEYS:
        return None
    return frozenset(frozenset({(column.name, value)}) for value in values)


def _equal_to(expr: Expression) -> tuple[Column | None, tuple[Literal, ...]]:
    """The column of an equality, IN or IS NULL, with the values it may have."""
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
