"""Casts between numbers, and between numbers and booleans, with Java's results.

Integers wrap around on overflow. Floats saturate at the bounds of INT or BIGINT, then wrap around
for smaller types; NaN becomes 0. Decimals are rounded half up, and become null on overflow.
"""

import math
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Floats,
    Ints,
    build_bool,
    build_like,
    decimal256_scalar,
    decimal_low_bits,
    float64_values,
    int64_values,
    map_distinct,
    null_scalar,
    true_mask,
)
from paimon_explore.data_types.casts.cast_errors import uncastable_value
from paimon_explore.data_types.casts.float_to_text import is_plain, plain_texts
from paimon_explore.data_types.casts.java_formatting import double_text
from paimon_explore.data_types.casts.text_functions import computed, kept_where, where_valid
from paimon_explore.data_types.definitions import AtomicType, TypeRoot

_DTYPES: Mapping[TypeRoot, type[np.generic]] = {
    TypeRoot.TINYINT: np.int8,
    TypeRoot.SMALLINT: np.int16,
    TypeRoot.INT: np.int32,
    TypeRoot.BIGINT: np.int64,
    TypeRoot.FLOAT: np.float32,
    TypeRoot.DOUBLE: np.float64,
}
_WIDE = 76
_COMPACT_PRECISION = 18
_MAX_PRECISION = 38
_INT64_DIGITS = 19
_PLAIN_DIGITS = 20
_INT32_BOUNDS = (-(2**31), 2**31 - 1)
_INT64_BOUNDS = (-(2**63), 2**63 - 1)


def numbers_from_integers(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast TINYINT, SMALLINT, INT and BIGINT to any number except DECIMAL."""
    return _numbers(int64_values(array), target, array)


def numbers_from_floats(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast FLOAT and DOUBLE to any number except DECIMAL."""
    values = float64_values(array)
    if target.root in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return _numbers(values, target, array)
    bounds = _INT64_BOUNDS if target.root is TypeRoot.BIGINT else _INT32_BOUNDS
    return _numbers(_saturated(values, *bounds), target, array)


def _saturated(values: Floats, low: int, high: int) -> Ints:
    with np.errstate(all="ignore"):
        inside = np.where((values >= float(low)) & (values < float(high)), values, 0.0)
        whole = inside.astype(np.int64)
    whole[values >= float(high)] = high
    whole[values < float(low)] = low
    return whole


def _numbers(values: Ints | Floats, target: AtomicType, like: Column) -> Column:
    with np.errstate(all="ignore"):
        return build_like(to_arrow(target), values.astype(_DTYPES[target.root]), like)


def numbers_from_decimals(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """Cast DECIMAL to any other number; the fraction is truncated, integers wrap around."""
    if target.root not in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        whole = array.cast(pa.decimal128(_MAX_PRECISION, 0), safe=False)
        return _numbers(decimal_low_bits(whole), target, array)
    if (source.precision or 0) <= _COMPACT_PRECISION:
        values = decimal_low_bits(array) / np.float64(10 ** (source.scale or 0))
        return _numbers(values, target, array)
    doubles = map_distinct(array, float, pa.float64())  # type: ignore[arg-type]  # decimals
    return _numbers(float64_values(doubles), target, array)


def decimals_from_integers(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast TINYINT, SMALLINT, INT and BIGINT to DECIMAL."""
    wide = array.cast(pa.int64()).cast(pa.decimal128(_INT64_DIGITS, 0))
    return _fitted(wide, target)


def decimals_from_floats(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """Cast FLOAT and DOUBLE to DECIMAL, by the digits that Java prints for the double.

    Raises:
        UncastableError: a value is not finite.
    """
    doubles = array.cast(pa.float64()) if source.root is TypeRoot.FLOAT else array
    plain = is_plain(doubles)
    texts = kept_where(plain, plain_texts(doubles))
    found = _fitted(texts.cast(pa.decimal128(_MAX_PRECISION, _PLAIN_DIGITS)), target)
    if plain.all():
        return found

    def convert(value: object) -> Decimal | None:
        if not isinstance(value, float) or not math.isfinite(value):
            raise uncastable_value(value, target)
        return fitted_decimal(Decimal(double_text(value)), target)

    # a loop over distinct values: Arrow has no function that gives Java's digits
    others = map_distinct(kept_where(~plain, doubles), convert, to_arrow(target))
    return computed("coalesce", [found, others])


def decimals_from_decimals(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast DECIMAL to another precision or scale."""
    return _fitted(array, target)


def fitted_decimal(value: Decimal, target: AtomicType) -> Decimal | None:
    """Round a decimal half up to the scale of a type; None on overflow."""
    precision, scale = target.precision or 1, target.scale or 0
    if not value:
        return Decimal(0)
    if value.adjusted() >= precision - scale:
        return None
    if value.adjusted() < -scale - 1:
        return Decimal(0)
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    shift = int(exponent) + scale
    if shift >= 0:
        unscaled *= int(10**shift)
    else:
        unscaled = (unscaled * 2 + int(10**-shift)) // (2 * int(10**-shift))
    if unscaled >= int(10**precision):
        return None
    return Decimal((sign, tuple(map(int, str(unscaled))), -scale))


def _fitted(array: Column, target: AtomicType) -> Column:
    precision, scale = target.precision or 1, target.scale or 0
    source_scale = array.type.scale if isinstance(array.type, pa.Decimal128Type) else 0
    wide = array.cast(pa.decimal256(_WIDE, source_scale))
    if scale < source_scale:
        wide = pc.round(wide, scale, "half_towards_infinity")
    wide = wide.cast(pa.decimal256(_WIDE, scale))
    bound = decimal256_scalar(int(10**precision), pa.decimal256(_WIDE, scale))
    fits = pc.less(pc.abs(wide), bound)
    missing = null_scalar(wide.type)
    fitted: Column = pc.if_else(fits, wide, missing)
    return fitted.cast(to_arrow(target))


def numbers_from_flags(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast BOOLEAN to any number: 1 and 0."""
    ones = true_mask(array).astype(np.int64)
    if target.root is not TypeRoot.DECIMAL:
        return _numbers(ones, target, array)
    return _fitted(
        build_like(pa.int64(), ones, array).cast(pa.decimal128(_INT64_DIGITS, 0)), target
    )


def flags_from_integers(array: Column, _: AtomicType, __: AtomicType) -> Column:
    """Cast TINYINT, SMALLINT, INT and BIGINT to BOOLEAN: whether they are not 0."""
    return where_valid(array, build_bool(int64_values(array) != 0))
