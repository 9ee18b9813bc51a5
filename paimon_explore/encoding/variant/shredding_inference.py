"""Inference of the types by which VARIANT columns are shredded, with the rules of Java.

What the values of a column have in common is observed: scalars of one type, arrays, and objects,
whose fields are counted. Integers and decimals become a decimal with enough digits; values of
different types become VARIANT, which is not shredded. Then rare fields are dropped, decimals are
widened to the integers or decimals of 8 and 16 bytes, and the number of columns is limited.
Dates, timestamps and bytes are not shredded: Java 2.0 infers their types and then fails.

Spec: option `variant.inferShreddingSchema`. Seen in: golden java200/variant_inferred.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import ceil
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.arrow_values import variant_readers
from paimon_explore.encoding.variant.decoder import Kind, Raw, VariantReader
from paimon_explore.encoding.variant.shredding_writer import INTEGERS, leaf_at
from paimon_explore.frozen_dataclass import dataclass

_MAX_FIELDS = 1000
"""Maximum number of fields of merged objects."""
_LONG_DIGITS, _MAX_DIGITS = 18, 38
_VARIANT = AtomicType(root=TypeRoot.VARIANT)
_BIGINT = AtomicType(root=TypeRoot.BIGINT)
_BOOLEAN = AtomicType(root=TypeRoot.BOOLEAN)
_LEAVES: Mapping[Kind, DataType] = {
    Kind.TRUE: _BOOLEAN,
    Kind.FALSE: _BOOLEAN,
    Kind.TEXT: AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH),
    Kind.FLOAT: AtomicType(root=TypeRoot.FLOAT),
    Kind.DOUBLE: AtomicType(root=TypeRoot.DOUBLE),
}


class _Fields(dict[str, "tuple[_Seen, int]"]):
    """What was observed in the fields of objects, and how often each field occurred."""


@dataclass(frozen=True, slots=True)
class _Elements:
    """What was observed in the elements of arrays."""

    seen: "_Seen"


_Seen: TypeAlias = DataType | _Fields | _Elements | None
"""What was observed; None for nulls only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceLimits:
    """Limits of inferred types.

    Attributes:
        width: maximum number of physical columns of all inferred types of a file.
        depth: maximum depth of objects and arrays.
        ratio: minimum share of the values that have a field.
    """

    width: int
    depth: int
    ratio: float


def has_variants(data_type: DataType) -> bool:
    """Return whether variants of a column are shredded: not those inside arrays and maps."""
    if isinstance(data_type, RowType):
        return any(has_variants(field.type) for field in data_type.fields)
    return is_root(data_type, TypeRoot.VARIANT)


def inferred_types(
    columns: Sequence[Column], fields: Sequence[DataField], limits: InferenceLimits
) -> dict[str, DataType]:
    """Infer the types by which the variants of columns are shredded, as of `physical_type`.

    Args:
        columns: the first rows of a file.
        fields: the columns; those without variants are left out of the result.
        limits: limits of the types.

    Raises:
        CorruptFileError: a variant is damaged.
    """
    left = limits.width

    def finalized(seen: _Seen, least: int) -> DataType:
        nonlocal left
        left -= 1
        if left <= 0 or seen is None or seen == _VARIANT:
            return _VARIANT
        if isinstance(seen, _Elements):
            return ArrayType(element=finalized(seen.seen, least))
        if isinstance(seen, _Fields):
            kept: list[DataField] = []
            for name, (inner, count) in seen.items():
                if count >= least and left > 0:
                    kind = finalized(inner, least)
                    kept.append(DataField(id=len(kept), name=name, type=kind))
            return RowType(fields=tuple(kept)) if kept else _VARIANT
        left -= 1
        return _widened(seen)

    def inferred(column: Column, data_type: DataType) -> DataType:
        if isinstance(data_type, RowType) and isinstance(column, pa.StructArray):
            inner = [
                DataField(id=field.id, name=field.name, type=inferred(child, field.type))
                for child, field in zip(column.flatten(), data_type.fields, strict=True)
                if has_variants(field.type)
            ]
            return RowType(fields=tuple(inner))
        readers = [reader for _, reader in variant_readers(column) if reader is not None]
        seen: _Seen = None
        for reader in readers:
            seen = _merged(seen, _observed(reader, 0, limits.depth))
        return finalized(seen, ceil(len(readers) * limits.ratio))

    return {
        field.name: inferred(column, field.type)
        for column, field in zip(columns, fields, strict=True)
        if has_variants(field.type)
    }


def _observed(reader: VariantReader, at: int, depth: int) -> _Seen:
    leaf = leaf_at(reader, at)
    if leaf is not None:
        return _leaf_type(*leaf)
    if depth <= 0:
        return _VARIANT
    container = reader.container(at)
    values = [_observed(reader, start, depth - 1) for start in container.starts]
    if reader.is_object(at):
        names = map(reader.key, container.key_numbers)
        return _Fields((name, (seen, 1)) for name, seen in zip(names, values, strict=True))
    elements: _Seen = None
    for seen in values:
        elements = _merged(elements, seen)
    return _Elements(_VARIANT if elements is None else elements)


def _leaf_type(kind: Kind, raw: Raw) -> DataType | None:
    if kind is Kind.NULL:
        return None
    if isinstance(raw, Decimal):
        digits = "".join(map(str, raw.as_tuple().digits)).lstrip("0")
        scale = -int(raw.as_tuple().exponent) if digits else 0
        while scale > 0 and digits.endswith("0"):
            digits, scale = digits[:-1], scale - 1
        return _decimal(max(len(digits), scale, 1), scale)
    if kind in _LEAVES:
        return _LEAVES[kind]
    if kind in INTEGERS and isinstance(raw, int):
        size = len(str(abs(raw)))
        return _decimal(size, 0) if size <= _LONG_DIGITS else _BIGINT
    return _VARIANT


def _decimal(precision: int, scale: int) -> AtomicType:
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def _merged(one: _Seen, other: _Seen) -> _Seen:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, _Fields) and isinstance(other, _Fields):
        return _merged_fields(one, other)
    if isinstance(one, _Elements) and isinstance(other, _Elements):
        return _Elements(_merged(one.seen, other.seen))
    if isinstance(one, AtomicType) and isinstance(other, AtomicType):
        if one == other:
            return one
        roots = {one.root, other.root}
        if roots <= {TypeRoot.DECIMAL, TypeRoot.BIGINT}:
            return _merged_numbers(one, other)
    return _VARIANT


def _merged_fields(one: _Fields, other: _Fields) -> _Fields:
    found = _Fields(one)
    for name, (seen, count) in other.items():
        before, number = found.get(name, (None, 0))
        found[name] = (_merged(before, seen), number + count)
    names = sorted(found, key=lambda name: name.encode("utf-16-be", "surrogatepass"))  # as in Java
    return _Fields((name, found[name]) for name in names[:_MAX_FIELDS])


def _merged_numbers(one: AtomicType, other: AtomicType) -> AtomicType:
    """Merge decimals and integers that are too long for a decimal of 8 bytes."""
    pairs = [(n.precision or 0, n.scale or 0) for n in (one, other) if n.root is TypeRoot.DECIMAL]
    if len(pairs) == 1:
        if pairs[0][0] <= _LONG_DIGITS and not pairs[0][1]:
            return _BIGINT
        pairs.append((_LONG_DIGITS + 1, 0))
    scale = max(scale for _, scale in pairs)
    precision = scale + max(precision - scale for precision, scale in pairs)
    return _decimal(precision, scale) if precision <= _MAX_DIGITS else _VARIANT


def _widened(seen: DataType) -> DataType:
    if not (isinstance(seen, AtomicType) and seen.root is TypeRoot.DECIMAL):
        return seen
    precision, scale = seen.precision or 0, seen.scale or 0
    if precision <= _LONG_DIGITS:
        return _decimal(_LONG_DIGITS, scale) if scale else _BIGINT
    return _decimal(_MAX_DIGITS, scale)
