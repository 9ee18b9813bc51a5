"""Detection of values that a cast to another type would change.

Java casts without checks: integers wrap around, decimals that do not fit become null, texts are
truncated. A value *fits* a type if the cast preserves it: casting back gives the same value, text
is not truncated, and a text can be parsed as the type.

Spec: concepts/schema evolution.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Column, as_python, int64_values, true_mask
from paimon_explore.data_types.casts.allowed_type_changes import is_executable, is_same
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.casts.text_functions import computed
from paimon_explore.data_types.definitions import (
    BYTES,
    INTEGER_BITS,
    INTEGERS,
    MAX_LENGTH,
    STRING,
    TEXTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.frozen_dataclass import dataclass

_DIGITS = {root: len(str(2 ** (bits - 1))) for root, bits in INTEGER_BITS.items()}
_EXACT_DIGITS: Mapping[TypeRoot, int] = {TypeRoot.FLOAT: 5, TypeRoot.DOUBLE: 10}
"""Number of digits up to which a float represents all integers exactly."""
_MAX_REPORTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Values of one column or nested field that do not fit.

    Attributes:
        where: the path below the column, such as `.y.p` or `.element`; empty for the column itself.
        count: number of values.
        example: one of them, as text.
    """

    where: str
    count: int
    example: str


def may_lose(source: DataType, target: DataType) -> bool:
    """Return whether a value of one type may not fit the other, judging by the types alone."""
    if source.nullable and not target.nullable:
        return True
    if is_same(source, target):
        return False
    if isinstance(source, RowType) and isinstance(target, RowType):
        pairs = [(source.field_by_id(field.id), field) for field in target.fields]
        return any(old is not None and may_lose(old.type, new.type) for old, new in pairs)
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return may_lose(source.element, target.element)
    if isinstance(source, MapType) and isinstance(target, MapType):
        return may_lose(source.key, target.key) or may_lose(source.value, target.value)
    return not isinstance(target, AtomicType) or not _keeps_all(source, target)


def _keeps_all(source: DataType, target: AtomicType) -> bool:
    if target.root is TypeRoot.VARCHAR and target.length == MAX_LENGTH:
        return is_executable(source, target)
    if not isinstance(source, AtomicType):
        return False
    if source.root in TEXTS | BYTES:
        is_alike = {source.root, target.root} <= TEXTS or {source.root, target.root} <= BYTES
        return is_alike and (source.length or 0) <= (target.length or 0)
    if target.root is TypeRoot.DECIMAL:
        return _keeps_digits(source, target)
    is_float = (source.root, target.root) == (TypeRoot.FLOAT, TypeRoot.DOUBLE)
    if source.root in INTEGERS:
        limit = {**_DIGITS, **_EXACT_DIGITS}.get(target.root, 0)
        return _DIGITS[source.root] <= limit
    is_finer = source.root is target.root and (source.precision or 0) <= (target.precision or 0)
    return is_float or is_finer


def _keeps_digits(source: AtomicType, target: AtomicType) -> bool:
    whole = (target.precision or 0) - (target.scale or 0)
    if source.root is TypeRoot.DECIMAL:
        scale = source.scale or 0
        return scale <= (target.scale or 0) and (source.precision or 0) - scale <= whole
    return _DIGITS.get(source.root, MAX_LENGTH) <= whole


def losses(
    array: Column, source: DataType, target: DataType, zone: tzinfo | None = None, where: str = ""
) -> Iterator[Loss]:
    """Yield the values of a column that do not fit another type, per nested field.

    Args:
        array: n values of exactly `to_arrow(source)`.
        source: the type of the values.
        target: the new type; nulls do not fit NOT NULL.
        zone: the session time zone for TIMESTAMP_LTZ; None for the zone of this process.
        where: the path below the column.
    """
    if not may_lose(source, target):
        return
    if not target.nullable and array.null_count:
        yield Loss(where=where, count=array.null_count, example="null")
    if isinstance(source, RowType) and isinstance(target, RowType):
        assert isinstance(array, pa.StructArray)  # noqa: S101 - by `to_arrow`
        members = dict(zip((field.id for field in source), array.flatten(), strict=True))
        present = array.is_valid()
        for field in target:
            old = source.field_by_id(field.id)
            if old is not None:
                column = computed("filter", [members[field.id], present])
                yield from losses(column, old.type, field.type, zone, f"{where}.{field.name}")
    elif isinstance(source, ArrayType) and isinstance(target, ArrayType):
        items = computed("list_flatten", [array])
        yield from losses(items, source.element, target.element, zone, f"{where}.element")
    elif isinstance(source, MapType) and isinstance(target, MapType):
        assert isinstance(array, pa.MapArray)  # noqa: S101 - by `to_arrow`
        present_maps = array.drop_null()
        assert isinstance(present_maps, pa.MapArray)  # noqa: S101 - as above
        start, end = present_maps.offsets[0].as_py(), present_maps.offsets[-1].as_py()
        values = present_maps.items.slice(start, end - start)
        yield from losses(values, source.value, target.value, zone, f"{where}.value")
    elif not is_same(source, target):
        yield from _atomic_losses(array, source, target, zone, where)


def _atomic_losses(
    array: Column, source: DataType, target: DataType, zone: tzinfo | None, where: str
) -> Iterator[Loss]:
    values = array.drop_null()
    if not len(values):
        return
    counts = np.ones(len(values), np.int64)
    if isinstance(source, AtomicType):
        counted = computed("value_counts", [values])
        assert isinstance(counted, pa.StructArray)  # noqa: S101 - by value_counts
        values, counts = counted.field(0), int64_values(counted.field(1))
    unfit = unfit_positions(values, source, target, zone)
    if unfit:
        example = _shown(values[unfit[0]].as_py())
        yield Loss(where=where, count=int(counts[unfit].sum()), example=example)


def unfit_positions(
    values: Column, source: DataType, target: DataType, zone: tzinfo | None = None
) -> list[int]:
    """Return the positions of values that do not fit; stops after `_MAX_REPORTED` of them."""
    found: list[int] = []
    pending = [(0, len(values))]
    while pending and len(found) < _MAX_REPORTED:
        start, size = pending.pop()
        part = values.slice(start, size)
        try:
            fits = _fitting(part, source, target, zone)
        except (UncastableError, pa.ArrowInvalid):
            if size == 1:
                found.append(start)
            else:
                half = size // 2
                pending += [(start + half, size - half), (start, half)]
            continue
        found += [start + place for place, is_fit in enumerate(fits) if not is_fit]
    return sorted(found)


def _fitting(values: Column, source: DataType, target: DataType, zone: tzinfo | None) -> list[bool]:
    """Return whether each value fits.

    Raises:
        UncastableError: a value cannot be cast.
    """
    cast = cast_column(values, source, target, zone)
    if isinstance(target, AtomicType) and target.root in TEXTS:
        whole = cast_column(values, source, STRING, zone)
        return _equal(_trimmed(whole, target), _trimmed(cast, target))
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return [True] * len(values)
    if source.root in TEXTS | BYTES:
        return _readable(values, cast, target)
    if not is_executable(target, source):
        return flags(computed("is_valid", [cast]))
    return _equal(values, cast_column(cast, target, source, zone))


def _trimmed(texts: Column, target: AtomicType) -> Column:
    if target.root is TypeRoot.CHAR:  # padded with spaces
        return computed("utf8_rtrim", [texts], pc.TrimOptions(" "))
    return texts


def flags(mask: Column) -> list[bool]:
    """Convert a boolean array to a list; null becomes False."""
    return [*map(bool, true_mask(mask))]


def _equal(one: Column, other: Column) -> list[bool]:
    same = true_mask(computed("equal", [one, other]))
    if pa.types.is_floating(one.type):
        nan = [true_mask(computed("is_nan", [side])) for side in (one, other)]
        same |= nan[0] & nan[1]
    return [*map(bool, same)]


def _readable(values: Column, cast: Column, target: AtomicType) -> list[bool]:
    """Return whether each text was parsed without truncation or, for DECIMAL, rounding."""
    if target.root in BYTES:
        limit = target.length or MAX_LENGTH
        return [
            size <= limit for size in int64_values(computed("binary_length", [values])).tolist()
        ]
    valid = flags(computed("is_valid", [cast]))
    if target.root is not TypeRoot.DECIMAL:
        return valid
    pairs = zip(valid, as_python(values), as_python(cast), strict=True)
    return [is_valid and _is_number(text, number) for is_valid, text, number in pairs]


def _is_number(text: object, number: object) -> bool:
    try:
        return Decimal(str(text).strip()) == number
    except InvalidOperation:  # a format that only Java parses
        return True


def _shown(value: object, limit: int = 60) -> str:
    text = repr(value) if isinstance(value, str | bytes) else str(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
