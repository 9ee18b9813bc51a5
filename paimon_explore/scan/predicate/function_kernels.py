"""Kernels of SQL functions and arithmetic operators.

Each kernel takes columns in the types of the call's signature and returns one in the result's type.
An index of an array that is out of range gives null, also where Spark's ANSI mode fails, because a
condition is evaluated for rows that another part of it excludes.
"""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial, reduce
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    as_python,
    build_bool,
    build_fixed,
    expand_ranges,
    int64_values,
    list_offsets,
    map_distinct,
    null_scalar,
    nulls_like,
    take_column,
    take_rows,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.definitions import BOOLEAN, AtomicType, DataType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import CompareOp
from paimon_explore.scan.predicate.kernels import Value, aligned, call, compared, constant_of
from paimon_explore.scan.predicate.literals import values_array
from paimon_explore.scan.predicate.regex_pattern import re2_pattern

Kernel: TypeAlias = Callable[[Sequence[Column], DataType], Column]

_MAX_DIGITS = 76
_CONTEXT = Context(prec=_MAX_DIGITS, rounding=ROUND_HALF_UP)
_TEXT = AtomicType(root=TypeRoot.VARCHAR)


def _checked(kernel: str, *values: Value, result: DataType) -> Column:
    """Calls a numeric Arrow kernel and casts to the result's type.

    Raises:
        InvalidInputError: a value does not fit the type.
    """
    try:
        return _cast_result(call(kernel, *values), result)
    except pa.ArrowInvalid as error:
        name = kernel.removesuffix("_checked")
        raise InvalidInputError(
            f"A result of {name} does not fit {type_text(result)}: {error}.",
            hint="Cast an argument to a wider type.",
        ) from error


def _cast_result(values: Column, result: DataType) -> Column:
    """Casts numbers to the result's type; decimals are rounded half up to its scale."""
    arrow = to_arrow(result)
    if isinstance(arrow, pa.Decimal128Type):
        options = pc.RoundOptions(arrow.scale, "half_towards_infinity")
        values = call(
            "round", values.cast(pa.decimal256(_MAX_DIGITS, _scale(values))), options=options
        )
        return values.cast(pa.decimal256(_MAX_DIGITS, arrow.scale)).cast(arrow)
    return values if values.type == arrow else values.cast(arrow)


def _scale(values: Column) -> int:
    arrow = values.type
    return arrow.scale if isinstance(arrow, pa.Decimal128Type | pa.Decimal256Type) else 0


def _wide(values: Column) -> Column:
    """Widens decimals, so that a result has enough digits."""
    arrow = values.type
    if not isinstance(arrow, pa.Decimal128Type):
        return values
    # the type of a product has at most 76 digits; 256 bits have room for all digits of the values
    wide = pa.decimal256(min(arrow.precision, _MAX_DIGITS // 2 - 1), arrow.scale)
    return values.cast(wide, safe=False)


def added(columns: Sequence[Column], result: DataType) -> Column:
    """`+`: the sum; for a date, adds days."""
    if pa.types.is_date(columns[0].type):
        return _days(columns[0], columns[1], result)
    return _checked("add_checked", *map(_wide, columns), result=result)


def subtracted(columns: Sequence[Column], result: DataType) -> Column:
    """`-`: the difference; of two dates, in days."""
    if pa.types.is_date(columns[0].type):
        if pa.types.is_date(columns[1].type):
            first, second = (column.cast(pa.int32()) for column in columns)
            return _checked("subtract_checked", first, second, result=result)
        negative = call("negate_checked", columns[1])
        return _days(columns[0], negative, result)
    return _checked("subtract_checked", *map(_wide, columns), result=result)


def _days(dates: Column, days: Column, result: DataType) -> Column:
    number = AtomicType(root=TypeRoot.INT)
    whole: Column = dates.cast(pa.int32())
    return _checked("add_checked", whole, days, result=number).cast(to_arrow(result))


def multiplied(columns: Sequence[Column], result: DataType) -> Column:
    """The product."""
    return _checked("multiply_checked", *map(_wide, columns), result=result)


def _nonzero(values: Column) -> Column:
    """Replaces 0 by null."""
    zero = call("equal", values, _zero(values.type))
    return call("if_else", zero, null_scalar(values.type), values)


def _zero(arrow: pa.DataType) -> Value:
    whole = AtomicType(root=TypeRoot.TINYINT)
    value: Value = values_array([0], whole).cast(arrow)[0]
    return value


def divided(columns: Sequence[Column], result: DataType) -> Column:
    """`/`: the quotient; null for division by 0."""
    first, second = columns
    if pa.types.is_floating(first.type):
        return call("divide", first, _nonzero(second))
    # In Python, because Arrow's decimal division has another scale and may overflow.
    arrow = to_arrow(result)
    assert isinstance(arrow, pa.Decimal128Type)  # noqa: S101 - by the signature
    step = Decimal(1).scaleb(-arrow.scale)
    pairs = zip(as_python(first), as_python(second), strict=True)
    values = [_quotient(a, b, step) for a, b in pairs]
    limit: int = 10 ** (arrow.precision - arrow.scale)
    if any(value is not None and abs(value) >= limit for value in values):
        raise InvalidInputError(f"A result of the division does not fit {type_text(result)}.")
    kind = AtomicType(root=TypeRoot.DECIMAL, precision=arrow.precision, scale=arrow.scale)
    return values_array(values, kind)


def _quotient(first: object, second: object, step: Decimal) -> Decimal | None:
    if not isinstance(first, Decimal) or not isinstance(second, Decimal) or not second:
        return None
    return _CONTEXT.quantize(_CONTEXT.divide(first, second), step)


def remainder(columns: Sequence[Column], result: DataType) -> Column:
    """`%`: the remainder, with the sign of the dividend; null for division by 0."""
    first, second = columns[0], _nonzero(columns[1])
    if not pa.types.is_floating(first.type):
        return call("subtract", first, call("multiply", call("divide", first, second), second))
    valid = valid_mask(first) & valid_mask(second)
    width = np.float32 if first.type == pa.float32() else np.float64
    numbers = [
        call("coalesce", part, _zero(part.type)).to_numpy(zero_copy_only=False)
        for part in (first, second)
    ]
    with np.errstate(invalid="ignore"):
        found = np.fmod(numbers[0], numbers[1]).astype(width)
    return build_fixed(to_arrow(result), found, valid)


def negated(columns: Sequence[Column], result: DataType) -> Column:
    """Unary minus."""
    return _checked("negate_checked", columns[0], result=result)


def absolute(columns: Sequence[Column], result: DataType) -> Column:
    """`abs`."""
    return _checked("abs_checked", columns[0], result=result)


def rounded(columns: Sequence[Column], result: DataType) -> Column:
    """`round`: rounds half up to a constant number of fraction digits."""
    digits = 0
    if len(columns) > 1:
        rule = "The second argument of round must be a constant integer."
        digits = constant_of(columns[1], 0, rule)
    options = pc.RoundOptions(digits, "half_towards_infinity")
    try:
        return call("round", columns[0], options=options).cast(to_arrow(result))
    except pa.ArrowInvalid as error:
        raise InvalidInputError(
            f"A result of round does not fit {type_text(result)}: {error}."
        ) from error


def whole(kernel: str) -> Kernel:
    """Returns the kernel of `floor` or `ceil`."""

    def run(columns: Sequence[Column], result: DataType) -> Column:
        if pa.types.is_integer(columns[0].type):
            return columns[0]
        return _checked(kernel, columns[0], result=result)

    return run


def extreme(kernel: str) -> Kernel:
    """Returns the kernel of `greatest` or `least`, which ignore nulls; NaN is the largest value."""
    options = pc.ElementWiseAggregateOptions(skip_nulls=True)

    def run(columns: Sequence[Column], _result: DataType) -> Column:
        found = call(kernel, *columns, options=options)
        if kernel.startswith("min") or not pa.types.is_floating(found.type):
            return found  # Arrow ignores NaN beside numbers
        nans = [call("coalesce", call("is_nan", one), _FALSE) for one in columns]
        nan = values_array([math.nan], AtomicType(root=TypeRoot.DOUBLE))[0].cast(found.type)
        return call("if_else", reduce(partial(call, "or"), nans), nan, found)

    return run


def coalesced(columns: Sequence[Column], _result: DataType) -> Column:
    """`coalesce`: the first value that is not null."""
    return call("coalesce", *columns)


def null_if(columns: Sequence[Column], _result: DataType) -> Column:
    """`nullif`: the first value; null where it equals the second."""
    same = call("coalesce", compared(CompareOp.EQ, columns[0], columns[1]), _FALSE)
    return call("if_else", same, nulls_like(columns[0]), columns[0])


_FALSE: Value = values_array([False], BOOLEAN)[0]


def case_when(columns: Sequence[Column], result: DataType) -> Column:
    """CASE: the value after the first condition that is true, else the last value."""
    source = np.full(len(columns[-1]), len(columns) - 1, np.int64)
    undecided = np.ones(len(source), np.bool_)
    for at in range(0, len(columns) - 1, 2):
        holds = call("coalesce", columns[at], values_array([False], BOOLEAN)[0])
        true = np.array(holds.to_numpy(zero_copy_only=False), np.bool_)
        source[undecided & true] = at + 1
        undecided &= ~true
    values = [*columns[1:-1:2], columns[-1]]
    indices = np.minimum(source // 2, len(values) - 1)
    return _take_by_source([part.cast(to_arrow(result)) for part in values], indices)


def _take_by_source(parts: Sequence[Column], owners: Ints) -> Column:
    """Takes each row from one of several columns of the same type: `owners` is its index."""
    count = len(owners)
    positions = owners * count + np.arange(count)
    index = build_fixed(pa.int64(), positions, np.ones(count, np.bool_))
    joined_parts: Column = pa.concat_arrays(list(parts))
    return joined_parts.take(index)  # type: ignore[arg-type]  # int64


def text(kernel: str) -> Kernel:
    """Returns the kernel of a function of one text."""
    return lambda columns, result: call(kernel, columns[0]).cast(to_arrow(result))


def cased(kernel: str, change: Callable[[str], str]) -> Kernel:
    """Returns the kernel of `upper` or `lower`; Arrow's keeps the length, but ß becomes SS."""
    options = pc.MatchSubstringOptions(r"[^\x00-\x7F]")

    def run(columns: Sequence[Column], _result: DataType) -> Column:
        found = call(kernel, columns[0])
        other = call("match_substring_regex", columns[0], options=options)
        if not true_mask(other).any():
            return found
        texts = call("filter", columns[0], other)
        return call(
            "replace_with_mask",
            found,
            other,
            map_distinct(texts, lambda one: change(str(one)), pa.string()),
        )

    return run


def joined(columns: Sequence[Column], _result: DataType) -> Column:
    """`concat`: joins the texts; null if one is null."""
    empty = values_array([""], _TEXT)[0]
    return call("binary_join_element_wise", *columns, empty)


def substring(columns: Sequence[Column], _result: DataType) -> Column:
    """`substring`: from a position that counts from 1, or from the end if negative."""
    rule = "The position and length in substring must be constant integers."
    starts = constant_of(columns[1], 1, rule)
    size = constant_of(columns[2], 1, rule) if len(columns) > 2 else None  # noqa: PLR2004
    begin = starts - 1 if starts > 0 else starts
    if size is not None and size <= 0:
        return call("utf8_slice_codeunits", columns[0], options=pc.SliceOptions(0, 0))
    end = None if size is None else begin + size
    if begin < 0 and end is not None and end >= 0:
        end = None
    return call("utf8_slice_codeunits", columns[0], options=pc.SliceOptions(begin, end))


def replaced(columns: Sequence[Column], _result: DataType) -> Column:
    """`replace`: replaces every occurrence of a constant text by another."""
    rule = "The second and third arguments of replace must be constant strings."
    pattern, by = (constant_of(column, "", rule) for column in columns[1:])
    if not pattern:
        return columns[0]
    options = pc.ReplaceSubstringOptions(pattern, by)
    return call("replace_substring", columns[0], options=options)


def not_a_number(columns: Sequence[Column], _result: DataType) -> Column:
    """`isnan`: whether a number is NaN; false for null."""
    return call("coalesce", call("is_nan", columns[0]), values_array([False], BOOLEAN)[0])


def matches_regex(columns: Sequence[Column], _result: DataType) -> Column:
    """`rlike`: whether a text contains a match of a constant regular expression of Java."""
    if columns[1].null_count == len(columns[1]) > 0:
        return pa.nulls(len(columns[0]), pa.bool_())
    pattern = constant_of(
        columns[1], "", "The regular expression of RLIKE must be a constant text."
    )
    options = pc.MatchSubstringOptions(re2_pattern(pattern))
    try:
        return call("match_substring_regex", columns[0], options=options)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"{pattern!r} is not a regular expression: {error}.") from error


def size(columns: Sequence[Column], _result: DataType) -> Column:
    """`size`: the number of elements or entries; null for null."""
    _, sizes = _extents(columns[0])
    return build_fixed(pa.int32(), sizes.astype(np.int32), valid_mask(columns[0]))


def array_contains(columns: Sequence[Column], _result: DataType) -> Column:
    """`array_contains`: unknown if the value is not found and an element is null."""
    lists, wanted = columns
    starts, sizes = _extents(lists)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    same = _equal(_children(lists), expand_ranges(starts, sizes), wanted, rows)
    found = np.bincount(rows[true_mask(same)], minlength=len(sizes)) > 0
    unknown = np.bincount(rows[~valid_mask(same)], minlength=len(sizes)) > 0
    return build_bool(found, valid_mask(lists) & valid_mask(wanted) & (found | ~unknown))


def item(first: int) -> Kernel:
    """Returns the kernel of `[]`, or of `element_at`, for which negative indices are from the end.

    Args:
        first: the index of the first element of an array: 0 for `[]`, 1 for `element_at`.
    """

    def run(columns: Sequence[Column], _result: DataType) -> Column:
        values, wanted = columns
        starts, sizes = _extents(values)
        if isinstance(values, pa.MapArray):
            return _map_value(values, wanted, starts, sizes)
        index = int64_values(wanted.cast(pa.int64()))
        at = np.where((index < 0) & bool(first), sizes + index, index - first)
        inside = valid_mask(wanted) & (at >= 0) & (at < sizes)
        positions = np.where(inside, starts + at, 0)
        return take_column(_children(values), build_fixed(pa.int64(), positions, inside))

    return run


def _map_value(entries: Column, wanted: Column, starts: Ints, sizes: Ints) -> Column:
    """The value of the first entry with a key; null if there is none."""
    keys, values = (_children(entries).field(at) for at in range(2))  # type: ignore[attr-defined]  # a struct
    rows, positions = np.repeat(np.arange(len(sizes)), sizes), expand_ranges(starts, sizes)
    hits = np.flatnonzero(true_mask(_equal(keys, positions, wanted, rows)))
    owners, firsts = np.unique(rows[hits], return_index=True)
    found, inside = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.bool_)
    found[owners], inside[owners] = positions[hits[firsts]], True
    return take_column(values, build_fixed(pa.int64(), found, inside))


def _children(values: Column) -> Column:
    """The elements of all rows of an array, or the structs of keys and values of a map."""
    children: Column = values.values  # type: ignore[attr-defined]  # a list
    return children


def _equal(children: Column, positions: Ints, wanted: Column, rows: Ints) -> Column:
    """Whether each child at a position equals the wanted value of its row."""
    pair = take_rows(children, positions), take_rows(wanted, rows)
    return compared(CompareOp.EQ, *aligned(*pair))


def _extents(values: Column) -> tuple[Ints, Ints]:
    """The first child and the number of children of each row; a null has none."""
    offsets = list_offsets(values)
    return offsets[:-1], np.where(valid_mask(values), np.diff(offsets), 0)
