"""Policies for the conversion of input values to the types of a table's columns.

| policy | values of other types |
| --- | --- |
| `strict` | are an error, also where no value would change |
| `safe` | are cast if no value changes; see `safe_cast` |
| `parse` | as `safe`; texts are also parsed as numbers, booleans, times, and JSON for VARIANT |

Python values have no exact type: with `strict`, an `int` is a value of any integer type, a `float`
of FLOAT and DOUBLE, a `Decimal` of any DECIMAL, a `datetime` of any TIMESTAMP.

A text is parsed as a cast of Paimon does, but only if nothing is lost: no fraction of an INT, no
digit of a DECIMAL, no time of a DATE. Blank text is null, as in CSV files.

Spec: concepts/schema evolution, casts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum

import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, true_mask
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.lossy_values import unfit_positions
from paimon_explore.data_types.casts.text_functions import computed
from paimon_explore.data_types.definitions import (
    BYTES,
    INTEGERS,
    MAX_LENGTH,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.write.input.safe_cast import Misfit, family_of, safe_cast


class CastPolicy(StrEnum):
    """How input values are converted to the type of their column."""

    STRICT = "strict"
    SAFE = "safe"
    PARSE = "parse"


_POLICY: ContextVar[CastPolicy] = ContextVar("cast_policy", default=CastPolicy.SAFE)
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_NOT_PARSED = TEXTS | BYTES | {TypeRoot.VARIANT, TypeRoot.BLOB}
_INTEGER = r"^[+-]?[0-9]+$"
_NEVER = "$^"
_TIME_DIGITS = 3
_TIME = r"^([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9](\.[0-9]+)?)?$"
_TIME_OF_DAY = r"[0-9][T ]+[0-9]*[1-9:]"


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
    if data_type.root in TIMESTAMPS:
        texts = computed("replace_substring_regex", [texts], _ISO_TIME)
    target = with_nullable(data_type, nullable=True)
    distinct = texts.unique().drop_null()
    unfit = unfit_positions(distinct, _STRING, target)
    lossy = true_mask(_is_lossy(distinct, data_type))
    if len(unfit) or lossy.any():
        bad = {*unfit, *lossy.nonzero()[0].tolist()}
        wrong = computed("is_in", [texts], pc.SetLookupOptions(distinct.take(sorted(bad))))
        return Misfit(
            position=int(true_mask(wrong).argmax()),
            problem=f"is not the text of a value of type {type_text(target)}",
            hint="",
        )
    return cast_column(texts, _STRING, target)


_ISO_TIME = pc.ReplaceSubstringOptions(r"^([0-9-]+)T([0-9])", r"\1 \2")


def _is_lossy(texts: Column, data_type: AtomicType) -> Column:
    """Return which texts a cast would cut: fractions of integers and seconds, times of dates."""
    root = data_type.root
    if root in INTEGERS:
        return computed("invert", [_matches(texts, _INTEGER)])
    if root is TypeRoot.DATE:
        return _matches(texts, _TIME_OF_DAY)
    if root is TypeRoot.TIME:
        finer = _matches(texts, _finer(min(data_type.precision or 0, _TIME_DIGITS)))
        return computed("or", [finer, computed("invert", [_matches(texts, _TIME)])])
    is_finer = root in TIMESTAMPS
    return _matches(texts, _finer(data_type.precision or 0) if is_finer else _NEVER)


def _matches(texts: Column, pattern: str) -> Column:
    return computed("match_substring_regex", [texts], pc.MatchSubstringOptions(pattern))


def _finer(digits: int) -> str:
    """Return a pattern of seconds with more fraction digits, of which one is not 0."""
    return rf"\.[0-9]{{{digits}}}[0-9]*[1-9]"
