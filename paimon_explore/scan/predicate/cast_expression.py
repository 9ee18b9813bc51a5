"""CAST in predicates: supported type pairs and their kernels; an invalid value becomes null.

These casts follow Spark's TRY_CAST, so that a filter does not fail on a single bad value. Casts
after schema changes (`read.column_cast`) are different: they follow Java, including overflows.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, nulls_like
from paimon_explore.data_types.decimals import scaled
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    MAX_LENGTH,
    TEXTS,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.arrow_values import trees_of
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import unit_nanos
from paimon_explore.scan.predicate.kernels import Value, call, floored
from paimon_explore.scan.predicate.literals import values_array
from paimon_explore.scan.predicate.variants.casts import cast_trees

_BOOLEAN = frozenset({TypeRoot.BOOLEAN})
_DECIMAL = frozenset({TypeRoot.DECIMAL})
_DATE = frozenset({TypeRoot.DATE})
_TIMESTAMP = frozenset({TypeRoot.TIMESTAMP})
_ZONED = frozenset({TypeRoot.TIMESTAMP_LTZ})
_WHOLE_NUMBER = r"\A[+-]?[0-9]{1,19}\z"
_FLOAT_NUMBER = r"\A[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\z"
_DATE_TEXT = r"\A[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\z"

_UNIT_NAMES = {1: "nanosecond", 10**3: "microsecond", 10**6: "millisecond", 10**9: "second"}


def can_cast(source: DataType, target: DataType) -> bool:
    """Whether predicates support a cast from `source` to `target`."""
    return _kernel(source, target) is not None


def cast_values(array: Column, source: DataType, target: DataType) -> Column:
    """Casts values to another type; values that the type cannot represent become null.

    Args:
        array: n values in the Arrow type of `source`.
        source: their type.
        target: a type for which `can_cast` is true.

    Raises:
        InvalidInputError: `can_cast` is false.
    """
    kernel = _kernel(source, target)
    if kernel is None:
        raise InvalidInputError(
            f"A condition cannot cast {type_text(source)} to {type_text(target)}.",
            hint="Read the column and filter the rows afterwards.",
        )
    return kernel(array)


def _kernel(source: DataType, target: DataType) -> Callable[[Column], Column] | None:
    if is_root(source, TypeRoot.VARIANT):
        return lambda array: cast_trees(trees_of(array), target, None, fails=False)
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return None
    for sources, targets, kernel in _KERNELS:
        if source.root in sources and target.root in targets:
            return lambda array: kernel(array, source, target)
    return None


def _plain(array: Column, _source: AtomicType, target: AtomicType) -> Column:
    return array.cast(to_arrow(target), safe=False)


def _decimal_to_float(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """The nearest numbers, which Arrow's own cast misses by the last bit."""
    from paimon_explore.data_types.casts.numeric_casts import numbers_from_decimals  # noqa: PLC0415 - for few reads

    return numbers_from_decimals(array, source, target)


def _where(array: Column, keep: Column) -> Column:
    """The values where `keep` is true, else null."""
    return call("if_else", keep, array, nulls_like(array))


def _int_to_int(array: Column, source: AtomicType, target: AtomicType) -> Column:
    bits = np.iinfo(np.dtype(f"i{to_arrow(target).bit_width // 8}"))
    if to_arrow(source).bit_width > to_arrow(target).bit_width:
        low, high = values_array([int(bits.min), int(bits.max)], source)
        array = _where(array, _between(array, low, high))
    return _plain(array, source, target)


def _float_to_int(array: Column, source: AtomicType, target: AtomicType) -> Column:
    whole = call("trunc", array.cast(pa.float64()))
    bound = 2.0 ** (to_arrow(target).bit_width - 1)
    low, high = values_array([-bound, bound], AtomicType(root=TypeRoot.DOUBLE))
    fits = call("and", call("greater_equal", whole, low), call("less", whole, high))
    return _plain(_where(whole, fits), source, target)


def _to_decimal(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """Rounds half up with 76 digits; values with too many digits for the target become null."""
    scale, digits = target.scale or 0, target.precision or 0
    if source.root in INTEGERS:
        array = array.cast(pa.decimal128(19, 0))
    wide = array.cast(pa.decimal256(76, max(scale, source.scale or 0)))
    rounding = pc.RoundOptions(scale, "half_towards_infinity")
    rounded = call("round", wide, options=rounding).cast(pa.decimal256(76, scale))
    kind = AtomicType(root=TypeRoot.DECIMAL, precision=digits, scale=scale)
    ends = scaled(1 - 10**digits, scale), scaled(10**digits - 1, scale)
    low, high = values_array(ends, kind).cast(rounded.type)
    return _where(rounded, _between(rounded, low, high)).cast(to_arrow(target))


def _decimal_to_int(array: Column, source: AtomicType, target: AtomicType) -> Column:
    whole = AtomicType(root=TypeRoot.DECIMAL, precision=38, scale=0)
    digits = call("trunc", array.cast(pa.decimal256(76, source.scale or 0)))
    bound = 2 ** (to_arrow(target).bit_width - 1)
    ends = values_array([scaled(-bound, 0), scaled(bound - 1, 0)], whole)
    low, high = ends.cast(digits.type)
    return _where(digits, _between(digits, low, high)).cast(to_arrow(target))


def _to_boolean(array: Column, source: AtomicType, _target: AtomicType) -> Column:
    return call("not_equal", array, values_array([0], source)[0])


def _to_text(array: Column, _source: AtomicType, target: AtomicType) -> Column:
    """Casts to text, truncated to the target's length; CHAR is padded with spaces."""
    text: Column = array.cast(pa.utf8())
    if target.length not in {None, MAX_LENGTH}:
        text = call("utf8_slice_codeunits", text, options=pc.SliceOptions(0, target.length))
    if target.root is TypeRoot.CHAR:
        text = call("utf8_rpad", text, options=pc.PadOptions(target.length or 1, " "))
    return text


def _text_to_number(array: Column, _source: AtomicType, target: AtomicType) -> Column:
    """Parses texts as numbers, ignoring surrounding white space; other texts become null."""
    trimmed = call("ascii_trim_whitespace", array)
    if target.root in FLOATS:
        good = call(
            "match_substring_regex", trimmed, options=pc.MatchSubstringOptions(_FLOAT_NUMBER)
        )
        return _where(trimmed, good).cast(to_arrow(target))
    good = call("match_substring_regex", trimmed, options=pc.MatchSubstringOptions(_WHOLE_NUMBER))
    unsigned = call("utf8_ltrim", _where(trimmed, good), options=pc.TrimOptions("+"))
    whole = AtomicType(root=TypeRoot.DECIMAL, precision=38, scale=0)
    return _decimal_to_int(unsigned.cast(to_arrow(whole)), whole, target)


def _text_to_date(array: Column, _source: AtomicType, _target: AtomicType) -> Column:
    """Parses texts as dates; other texts, such as April 31, become null."""
    trimmed = call("ascii_trim_whitespace", array)
    shaped = call("match_substring_regex", trimmed, options=pc.MatchSubstringOptions(_DATE_TEXT))
    parsed = call(
        "strptime",
        _where(trimmed, shaped),
        options=pc.StrptimeOptions("%Y-%m-%d", "s", error_is_null=True),
    ).cast(pa.date32())
    return _where(parsed, call("equal", parsed.cast(pa.utf8()), trimmed))


def _instant_to_instant(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """Casts timestamps to another precision or to DATE; lower precision rounds down."""
    if target.root is TypeRoot.DATE:
        return floored(array, "day").cast(pa.date32(), safe=False)
    unit = unit_nanos(target)
    finer = unit_nanos(source) // unit
    if finer > 1:
        low, high = values_array([-(2**63 - 1) // finer, (2**63 - 1) // finer], source)
        array = _where(array, _between(array, low, high))
    elif unit > unit_nanos(source):
        array = floored(array, _UNIT_NAMES[unit])
    return array.cast(to_arrow(target), safe=False)


def _date_to_timestamp(array: Column, source: AtomicType, target: AtomicType) -> Column:
    seconds = replace(source, root=TypeRoot.TIMESTAMP, precision=0)
    return _instant_to_instant(array.cast(pa.timestamp("s")), seconds, target)


def _between(array: Column, low: Value, high: Value) -> Column:
    return call("and", call("greater_equal", array, low), call("less_equal", array, high))


_KERNELS = (
    (INTEGERS, INTEGERS, _int_to_int),
    (INTEGERS | FLOATS, FLOATS, _plain),
    (_DECIMAL, FLOATS, _decimal_to_float),
    (FLOATS, INTEGERS, _float_to_int),
    (INTEGERS | _DECIMAL, _DECIMAL, _to_decimal),
    (_DECIMAL, INTEGERS, _decimal_to_int),
    (INTEGERS | FLOATS, _BOOLEAN, _to_boolean),
    (_BOOLEAN, INTEGERS | _BOOLEAN, _plain),
    (INTEGERS | _BOOLEAN | _DATE | TEXTS, TEXTS, _to_text),
    (TEXTS, INTEGERS | FLOATS, _text_to_number),
    (TEXTS, _DATE, _text_to_date),
    (BYTES, BYTES, _plain),
    (_DATE, _DATE, _plain),
    (_DATE, _TIMESTAMP, _date_to_timestamp),
    (_TIMESTAMP, _DATE | _TIMESTAMP, _instant_to_instant),
    (_ZONED, _ZONED, _instant_to_instant),
)
"""Source types, target types and kernel of each supported cast."""
