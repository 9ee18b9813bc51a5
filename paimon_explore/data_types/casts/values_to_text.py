"""Casts of values to text, as Java formats them.

Spec: Paimon's casts to strings.
"""

from datetime import tzinfo
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    binary_scalar,
    build_like,
    int64_values,
    map_distinct,
    string_array,
)
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.casts.datetime_casts import seconds_and_nanos
from paimon_explore.data_types.casts.float_to_text import float_texts
from paimon_explore.data_types.casts.java_formatting import (
    DAY_MS,
    date_text,
    decimal_text,
    time_text,
    timestamp_text,
)
from paimon_explore.data_types.casts.text_functions import (
    computed,
    concatenated,
    cut_bytes,
    cut_texts,
    padded_texts,
    replaced,
    where_valid,
)
from paimon_explore.data_types.definitions import MAX_LENGTH, AtomicType, TypeRoot
from paimon_explore.data_types.time_zones import wall_clock

MAX_PADDED_LENGTH = 2**20
"""Maximum length of CHAR or BINARY for which values are padded."""

_FIRST_DAY = -719_162
_LAST_DAY = 2_932_896
_NANO_DIGITS = 9


def sized_texts(texts: Column, target: AtomicType) -> Column:
    """Truncate texts to the length of CHAR or VARCHAR; for CHAR also pad them with spaces.

    Raises:
        UncastableError: the length of the CHAR exceeds `MAX_PADDED_LENGTH`.
    """
    length = target.length or 1
    if length == MAX_LENGTH:
        return texts
    cut = cut_texts(texts, length)
    if target.root is TypeRoot.VARCHAR:
        return cut
    _check_padding(length)
    return padded_texts(cut, length)


def sized_bytes(values: Column, target: AtomicType) -> Column:
    """Truncate bytes to the length of BINARY or VARBINARY; for BINARY also pad them with zeros.

    Raises:
        UncastableError: the length of the BINARY exceeds `MAX_PADDED_LENGTH`.
    """
    length = target.length or 1
    if length == MAX_LENGTH:
        return values
    cut = cut_bytes(values, length)
    if target.root is TypeRoot.VARBINARY:
        return cut
    _check_padding(length)
    return cut_bytes(concatenated(cut, binary_scalar(bytes(length))), length)


def _check_padding(length: int) -> None:
    if length > MAX_PADDED_LENGTH:
        raise UncastableError(
            f"a cast can pad values to at most {MAX_PADDED_LENGTH} characters, but the target type "
            f"has a length of {length}"
        )


def texts_of(array: Column, source: AtomicType, zone: tzinfo | None) -> Column:
    """Format the values of an atomic type as text of any length.

    Args:
        array: n values of `to_arrow(source)`.
        source: their type.
        zone: the zone in which TIMESTAMP_LTZ is formatted; None for the zone of this process.
    """
    match source.root:
        case TypeRoot.CHAR | TypeRoot.VARCHAR:
            return array
        case TypeRoot.BINARY | TypeRoot.VARBINARY:
            return _decoded(array)
        case TypeRoot.DATE:
            return _dates(array)
        case TypeRoot.TIME:
            return _times(array, source.precision or 0)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamps(array, source, zone)
        case _:
            return _numbers(array, source.root)


def _numbers(array: Column, root: TypeRoot) -> Column:
    if root is TypeRoot.DECIMAL:
        return map_distinct(array, decimal_text, pa.string())  # type: ignore[arg-type]  # decimals
    if root in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return float_texts(array, root)
    return array.cast(pa.string())


def _take_texts(texts: list[str], places: Ints, like: Column) -> Column:
    indices = build_like(pa.int64(), places, like)
    return computed("take", [string_array(texts), indices])


def _decoded(array: Column) -> Column:
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        lenient = partial(str, encoding="utf-8", errors="replace")
        return map_distinct(array, lenient, pa.string())


def _dates(array: Column) -> Column:
    days, places = np.unique(int64_values(array), return_inverse=True)
    return _take_texts([date_text(int(day)) for day in days], places.astype(np.int64), array)


def _times(array: Column, precision: int) -> Column:
    millis = int64_values(array)
    if len(millis) and (millis.min() < 0 or millis.max() >= DAY_MS):
        distinct, places = np.unique(millis, return_inverse=True)
        forms = [time_text(int(value), precision) for value in distinct]
        return _take_texts(forms, places.astype(np.int64), array)
    texts = build_like(pa.time32("ms"), millis.astype(np.int32), array).cast(pa.string())
    if precision == 0:
        return cut_texts(texts, len("HH:mm:ss"))
    # at least one digit, at most the digits of the type
    shortened = replaced(texts, r"(\.\d\d??)0+$", r"\1")
    return cut_texts(shortened, len("HH:mm:ss.") + precision)


def _timestamps(array: Column, source: AtomicType, zone: tzinfo | None) -> Column:
    seconds, nanos = seconds_and_nanos(array, source)
    if source.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = wall_clock(seconds, zone)
    precision = source.precision or 0
    days = seconds // (DAY_MS // 1000)
    if len(days) and (days.min() < _FIRST_DAY or days.max() > _LAST_DAY):
        pairs = zip(seconds.tolist(), nanos.tolist(), strict=True)
        texts = [timestamp_text(second, nano, precision) for second, nano in pairs]
        return where_valid(array, string_array(texts))
    clock = build_like(pa.timestamp("s"), seconds, array).cast(pa.string())
    fraction = _fraction_texts(nanos, precision, array)
    return clock if fraction is None else concatenated(clock, fraction)


def _fraction_texts(nanos: Ints, precision: int, like: Column) -> "Column | None":
    if precision == 0 and not nanos.any():
        return None
    # the leading 1 preserves leading zeros; zeros beyond the digits of the type are removed
    digits = build_like(pa.int64(), nanos + 10**_NANO_DIGITS, like).cast(pa.string())
    kept = f"^1([0-9]{{{precision}}}[0-9]*?)0*$"
    texts = replaced(digits, kept, r".\1")
    return replaced(texts, r"^\.$", "")
