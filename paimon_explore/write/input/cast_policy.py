"""Policies for the conversion of input values to the types of a table's columns.

| policy | values of other types |
| --- | --- |
| `strict` | are an error, also where no value would change |
| `safe` | are cast if no value changes; see `safe_cast` |
| `parse` | as `safe`; texts are also parsed as numbers, booleans, times, and JSON for VARIANT |

Python values have no exact type: with `strict`, an `int` is a value of any integer type, a `float`
of FLOAT and DOUBLE, a `Decimal` of any DECIMAL, a `datetime` of any TIMESTAMP.

A text is parsed as a cast of Paimon does, but only if nothing is lost: no fraction of an INT, no
digit of a DECIMAL, no finite number that is infinite as a FLOAT. Dates and times are those of SQL
constants, `yyyy-MM-dd HH:mm:ss.SSS`, not Paimon's internal numbers. Blank text is null, as in CSV
files.

Spec: concepts/schema evolution, casts.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python, true_mask
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.lossy_values import unfit_positions
from paimon_explore.data_types.casts.text_functions import computed
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    STRING,
    TEXTS,
    AtomicType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.scan.predicate.datetime_literals import (
    NANOS_PER_DAY,
    parse_time,
    parse_timestamp,
    to_utc,
)
from paimon_explore.scan.predicate.expression import unit_nanos
from paimon_explore.write.input.safe_cast import Misfit, family_of, safe_cast


class CastPolicy(StrEnum):
    """How input values are converted to the type of their column."""

    STRICT = "strict"
    SAFE = "safe"
    PARSE = "parse"


_POLICY: ContextVar[CastPolicy] = ContextVar("cast_policy", default=CastPolicy.SAFE)
_NOT_PARSED = TEXTS | BYTES | {TypeRoot.VARIANT, TypeRoot.BLOB}
_INTEGER = r"^[+-]?[0-9]+$"
_NEVER = "$^"
_DIGIT = "[0-9]"
_NANO_DIGITS, _TIME_DIGITS = 9, 3
_HALF_WIDTH = 32
_LIMIT = 2**63


def cast_policy(name: object) -> CastPolicy:
    """Return the policy of an argument.

    Raises:
        InvalidInputError: there is no such policy.

    >>> cast_policy("parse").value
    'parse'
    """
    try:
        return CastPolicy(name)  # type: ignore[arg-type]  # checked here
    except ValueError:
        known = choices(policy.value for policy in CastPolicy)
        raise InvalidInputError(f"Unknown cast {name!r}.", hint=f"Use {known}.") from None


@contextmanager
def casting(policy: CastPolicy) -> Iterator[None]:
    """Convert values with a policy during the block."""
    token = _POLICY.set(policy)
    try:
        yield
    finally:
        _POLICY.reset(token)


def current_policy() -> CastPolicy:
    """Return the policy of the block."""
    return _POLICY.get()


def cast_values(array: Column, data_type: AtomicType, *, is_python: bool) -> "Column | Misfit":
    """Convert values to the Arrow type of a column with the policy of the block.

    Args:
        array: n values of any plain Arrow type.
        data_type: the column's type, any but VARIANT.
        is_python: whether the values were Python values, which have no exact type.

    Returns:
        n values in `to_arrow(data_type)`, or the first value that does not fit.
    """
    match _POLICY.get():
        case CastPolicy.STRICT:
            return _other_type(array, data_type, is_python=is_python) or safe_cast(array, data_type)
        case CastPolicy.PARSE if _is_text(array.type) and data_type.root not in _NOT_PARSED:
            return _parsed(array, data_type)
        case CastPolicy.SAFE | CastPolicy.PARSE:
            return safe_cast(array, data_type)


def _other_type(array: Column, data_type: AtomicType, *, is_python: bool) -> Misfit | None:
    """Return an error if the values have another type than the column."""
    found, target = array.type, to_arrow(data_type)
    is_same = found.equals(target) or pat.is_null(found)
    if family_of(found) is family_of(target):
        is_sized = not (_is_text(found) or pat.is_timestamp(found)) and not is_python
        is_unit = pat.is_timestamp(found) and not is_python
        is_same |= not is_sized and (not is_unit or found.unit == target.unit)  # type: ignore[attr-defined] # timestamps
        is_same &= not is_python or pat.is_floating(found) is pat.is_floating(target)
        is_same &= not is_python or pat.is_decimal(found) is pat.is_decimal(target)
    if is_same:
        return None
    return Misfit(
        position=None,
        problem=f"are not of its Arrow type {target}, and cast='strict' allows no other type",
        hint=f"Cast the column to {target} first, or pass cast='safe'.",
    )


def _is_text(found: pa.DataType) -> bool:
    return pat.is_string(found) or pat.is_large_string(found) or pat.is_string_view(found)


def _parsed(array: Column, data_type: AtomicType) -> "Column | Misfit":
    """Parse texts; return the first one that is not a value of the type."""
    texts = computed("utf8_trim_whitespace", [array.cast(pa.string())])
    blank = computed("equal", [texts, pa.scalar("")])
    texts = computed("if_else", [blank, pa.scalar(None, pa.string()), texts])
    distinct = texts.unique().drop_null()
    target, ticks = with_nullable(data_type, nullable=True), _TICKS.get(data_type.root)
    values: Column | None = None
    if ticks is None:
        bad = {*unfit_positions(distinct, STRING, target)}
        if not bad:
            values = cast_column(distinct, STRING, target)
            bad = {*true_mask(_is_lossy(distinct, values, data_type.root)).nonzero()[0].tolist()}
    else:
        numbers = [ticks(str(text), data_type.precision or 0) for text in as_python(distinct)]
        bad = {at for at, number in enumerate(numbers) if number is None}
        arrow = to_arrow(target)
        width = pa.int32() if arrow.bit_width == _HALF_WIDTH else pa.int64()
        values = pa.array(numbers, width).view(arrow)
    places = computed("index_in", [texts], pc.SetLookupOptions(distinct))
    if bad or values is None:
        wrong = computed("is_in", [places], pc.SetLookupOptions(pa.array(sorted(bad), pa.int32())))
        return Misfit(
            position=int(true_mask(wrong).argmax()),
            problem=f"is not the text of a value of type {type_text(target)}",
            hint=_HINTS.get(data_type.root, ""),
        )
    return values.take(places)  # type: ignore[arg-type]  # positions


def _days(text: str, _: int) -> int | None:
    moment = parse_timestamp(text)
    if moment is None or moment.zoned or moment.nanos % NANOS_PER_DAY:
        return None
    return moment.nanos // NANOS_PER_DAY


def _millis(text: str, precision: int) -> int | None:
    nanos = parse_time(text)
    step = 10 ** (_NANO_DIGITS - min(precision, _TIME_DIGITS))
    return None if nanos is None or nanos % step else nanos // 10**6


def _clock_ticks(text: str, precision: int) -> int | None:
    moment = parse_timestamp(text)
    return None if moment is None or moment.zoned else _in_unit(moment.nanos, precision)


def _instant_ticks(text: str, precision: int) -> int | None:
    """A text without a zone is a time of the zone of this process."""
    moment = parse_timestamp(text)
    if moment is None:
        return None
    return _in_unit(moment.nanos if moment.zoned else to_utc(moment.nanos, None), precision)


def _in_unit(nanos: int, precision: int) -> int | None:
    kind = AtomicType(root=TypeRoot.TIMESTAMP, precision=precision)
    ticks = nanos // unit_nanos(kind)
    return None if nanos % 10 ** (_NANO_DIGITS - precision) or abs(ticks) >= _LIMIT else ticks


_TICKS: Mapping[TypeRoot, Callable[[str, int], int | None]] = {
    TypeRoot.DATE: _days,
    TypeRoot.TIME: _millis,
    TypeRoot.TIMESTAMP: _clock_ticks,
    TypeRoot.TIMESTAMP_LTZ: _instant_ticks,
}
"""Functions of a text and a precision that return the integer in Arrow's array."""
_HINTS: Mapping[TypeRoot, str] = {
    TypeRoot.DATE: "Write yyyy-MM-dd.",
    TypeRoot.TIME: "Write HH:mm:ss[.fraction].",
    TypeRoot.TIMESTAMP: "Write yyyy-MM-dd HH:mm:ss[.fraction], without a time zone.",
    TypeRoot.TIMESTAMP_LTZ: "Write yyyy-MM-dd HH:mm:ss[.fraction], with or without a time zone.",
}


def _is_lossy(texts: Column, values: Column, root: TypeRoot) -> Column:
    """Return which values are not those of their texts: cut to integers, or out of range."""
    if root in INTEGERS:
        return computed("invert", [_matches(texts, _INTEGER)])
    if root in FLOATS:
        return computed("and", [computed("is_inf", [values]), _matches(texts, _DIGIT)])
    return _matches(texts, _NEVER)


def _matches(texts: Column, pattern: str) -> Column:
    return computed("match_substring_regex", [texts], pc.MatchSubstringOptions(pattern))
