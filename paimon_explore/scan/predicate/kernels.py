"""Vectorized SQL comparisons on Arrow arrays, with three-valued logic (null is unknown)."""

import math
from typing import TypeAlias, TypeVar

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import FALSE, NULL, TRUE, CompareOp, Like
from paimon_explore.scan.predicate.like_pattern import Wildcard, pattern_parts, regex_of
from paimon_explore.scan.predicate.literals import scalar_of, values_array

T = TypeVar("T")

Value: TypeAlias = "Column | pa.Scalar[pa.DataType]"
"""An array, or a scalar for all rows."""

_MAX_DIGITS = 76
_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY_NANOS = 86_400 * 10**9


def call(kernel: str, *values: Value, options: pc.FunctionOptions | None = None) -> Column:
    """Calls an Arrow compute function with at least one array."""
    result: Column = pc.call_function(kernel, list(values), options)
    return result


def constant_of(column: Column, default: T, rule: str) -> T:
    """Returns the value of a constant column; the default if it has no rows.

    Raises:
        InvalidInputError: it has several values, or of another type than the default; the rule is
            the message.
    """
    values = set(nb.as_python(column)) or {default}
    found = values.pop()
    if values or not isinstance(found, type(default)):
        raise InvalidInputError(rule)
    return found


def floored(times: Column, unit: str) -> Column:
    """Rounds dates or times down to a unit; weeks begin on Monday."""
    options = pc.RoundTemporalOptions(1, unit)  # type: ignore[arg-type]  # unit is a Literal there
    return call("floor_temporal", times, options=options)


def compared(op: CompareOp, left: Value, right: Value) -> Column:
    """Compares values of one Arrow type, at least one of them an array.

    NaN equals itself and is greater than all numbers, as in Java and Spark; -0.0 equals 0.0.
    """
    match op:
        case CompareOp.EQ:
            return _equal(left, right)
        case CompareOp.NE:
            return call("invert", _equal(left, right))
        case CompareOp.SAME:
            both_null = call("and", call("is_null", left), call("is_null", right))
            return call("or", true_only(_equal(left, right)), both_null)
        case CompareOp.LT | CompareOp.GT:
            return _less(left, right) if op is CompareOp.LT else _less(right, left)
        case CompareOp.LE | CompareOp.GE if not pa.types.is_floating(left.type):
            return call("less_equal" if op is CompareOp.LE else "greater_equal", left, right)
        case CompareOp.LE | CompareOp.GE:
            swapped = _less(right, left) if op is CompareOp.LE else _less(left, right)
            return call("invert", swapped)


def true_only(truth: Column) -> Column:
    """Replaces unknown by false."""
    return call("coalesce", truth, scalar_of(FALSE))


def contained(array: Column, values: Column) -> Column:
    """Whether each value is in a list; unknown if it is not and the list contains a null."""
    found = _found(array, values)
    if not array.null_count and not values.null_count:
        return found
    missing = scalar_of(NULL if values.null_count else FALSE)
    null = call("is_null", array)
    return call("if_else", null, scalar_of(NULL), call("if_else", found, scalar_of(TRUE), missing))


def matched(array: Column, test: Like) -> Column:
    """Whether each text matches a LIKE pattern."""
    parts = pattern_parts(test)
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == 1 and Wildcard.ONE not in parts:
        options = pc.MatchSubstringOptions(texts[0])
        if len(parts) == 1:
            text = AtomicType(root=TypeRoot.VARCHAR)
            return call("equal", array, values_array(texts, text)[0])
        if parts[0] is Wildcard.ANY:
            kernel = "ends_with" if parts[-1] == texts[0] else "match_substring"
            return call(kernel, array, options=options)
        return call("starts_with", array, options=options)
    return call("match_substring_regex", array, options=pc.MatchSubstringOptions(regex_of(test)))


def aligned(left: Column, right: Column) -> tuple[Column, Column]:
    """Casts two comparable columns to one type, without loss.

    Only BIGINT or DECIMAL compared with a floating-point column is rounded, to DOUBLE, as in Spark.
    """
    if left.type == right.type:
        return left, right
    if pa.types.is_temporal(left.type):
        return _nanos(left), _nanos(right)
    if pa.types.is_floating(left.type) or pa.types.is_floating(right.type):
        return _doubles(left), _doubles(right)
    if pa.types.is_decimal(left.type) or pa.types.is_decimal(right.type):
        wide = pa.decimal256(_MAX_DIGITS, max(_scale(left.type), _scale(right.type)))
        return _cast(left, wide), _cast(right, wide)
    return _cast(left, pa.int64()), _cast(right, pa.int64())


def _equal(left: Value, right: Value) -> Column:
    same = call("equal", left, right)
    if not (_may_be_nan(left) and _may_be_nan(right)):
        return same
    return call("or", same, call("and", call("is_nan", left), call("is_nan", right)))


def _less(left: Value, right: Value) -> Column:
    less = call("less", left, right)
    if not _may_be_nan(right):
        return less
    number = call("invert", call("is_nan", left))
    return call("or", less, call("and", number, call("is_nan", right)))


def _may_be_nan(value: Value) -> bool:
    if not pa.types.is_floating(value.type):
        return False
    return not isinstance(value, pa.Scalar) or math.isnan(value.as_py())


def _found(array: Column, values: Column) -> Column:
    found = call("is_in", array, options=pc.SetLookupOptions(value_set=values, skip_nulls=True))
    if not pa.types.is_floating(array.type):
        return found
    one = AtomicType(root=TypeRoot.FLOAT if array.type == pa.float32() else TypeRoot.DOUBLE)
    for special in (0.0, float("nan")):  # equal values with different bits
        number = values_array([special], one)
        if nb.bool_values(true_only(_equal(values, number[0]))).any():
            found = call("or", found, true_only(_equal(array, number[0])))
    return found


def _doubles(array: Column) -> Column:
    """Casts numbers to DOUBLE, rounded to the nearest."""
    if not isinstance(array.type, pa.Decimal128Type):
        return array.cast(pa.float64(), safe=False)
    from paimon_explore.data_types.casts.numeric_casts import numbers_from_decimals  # noqa: PLC0415 - for few reads

    precision, scale = array.type.precision, array.type.scale
    source = AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)
    return numbers_from_decimals(array, source, AtomicType(root=TypeRoot.DOUBLE))


def _cast(array: Column, target: pa.DataType) -> Column:
    """Casts an array; integers are cast to decimals by way of DECIMAL(20, 0)."""
    if pa.types.is_decimal(target) and pa.types.is_integer(array.type):
        array = array.cast(pa.decimal256(20, 0))
    return array.cast(target)


def _scale(arrow: pa.DataType) -> int:
    return arrow.scale if isinstance(arrow, pa.Decimal128Type) else 0


def _nanos(array: Column) -> Column:
    """Dates and timestamps as decimal nanoseconds, which cannot overflow."""
    arrow = array.type
    wide = isinstance(arrow, pa.TimestampType)
    factor = _NANOS[arrow.unit] if isinstance(arrow, pa.TimestampType) else _DAY_NANOS
    count = array.cast(pa.int64() if wide else pa.int32()).cast(pa.decimal128(19, 0))
    kind = AtomicType(root=TypeRoot.DECIMAL, precision=15, scale=0)
    return call("multiply", count, values_array([scaled(factor, 0)], kind)[0])
