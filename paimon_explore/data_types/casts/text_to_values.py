"""Casts of text to other types, as Java does.

Surrounding white space is allowed only for floats.

Spec: Paimon's casts from strings.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal, InvalidOperation

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    int64_values,
    map_distinct,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.casts.cast_errors import uncastable_value
from paimon_explore.data_types.casts.datetime_casts import timestamps_of
from paimon_explore.data_types.casts.numeric_casts import fitted_decimal
from paimon_explore.data_types.casts.text_functions import (
    computed,
    is_one_of,
    matches,
    replaced,
    where_valid,
)
from paimon_explore.data_types.casts.text_to_datetime import (
    is_numeric,
    parse_date,
    parse_epoch,
    parse_time,
    parse_timestamp,
)
from paimon_explore.data_types.casts.values_to_text import sized_bytes
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.data_types.time_zones import instants_of

_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")
_WHOLE = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]*)$"
_FLOAT = r"^[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)$"
_HEX_FLOAT = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
)
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,10})?")
_JAVA_SPACE = "".join(map(chr, range(33)))
_SECOND_NANOS = 10**9


def flags_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast `t`, `true`, `y`, `yes`, `1` and their opposites, in any case, to BOOLEAN.

    Raises:
        UncastableError: a text in another format.
    """
    lower = computed("utf8_lower", [array])
    _require(array, is_one_of(lower, _TRUE + _FALSE), target)
    return where_valid(array, is_one_of(lower, _TRUE))


def integers_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast digits with an optional sign to integers; a fraction is truncated.

    Raises:
        UncastableError: a text in another format, or a number out of range.
    """
    _require(array, matches(array, _WHOLE), target)
    digits = replaced(array, r"^\+?(-?)0*([0-9]*).*$", r"\1\2")
    digits = replaced(digits, r"^-?$", "0")
    try:
        return digits.cast(to_arrow(target))
    except pa.ArrowInvalid:
        return map_distinct(array, _bounded(target), to_arrow(target))


def _bounded(target: AtomicType) -> Callable[[Sequence[object]], list[object]]:
    bits = to_arrow(target).bit_width

    def convert(values: Sequence[object]) -> list[object]:
        found: list[object] = []
        for value in values:
            number = int(str(value).partition(".")[0] or "0")
            if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
                raise uncastable_value(value, target)
            found.append(number)
        return found

    return convert


def floats_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast numbers in the syntax of Java's `parseDouble`, with suffixes and hexadecimal.

    Raises:
        UncastableError: a text in another format.
    """
    trimmed = computed("utf8_trim", [array], pc.TrimOptions(_JAVA_SPACE))
    is_plain = matches(trimmed, _FLOAT)
    if not true_mask(where_valid(array, is_plain))[valid_mask(array)].all():
        return map_distinct(trimmed, _hex_or_plain(target), to_arrow(target))
    unsigned = replaced(trimmed, r"^\+", "")
    return replaced(unsigned, "([0-9.])[fFdD]$", r"\1").cast(to_arrow(target))


def _hex_or_plain(target: AtomicType) -> Callable[[Sequence[object]], list[object]]:
    plain = re.compile(_FLOAT)

    def convert(values: Sequence[object]) -> list[object]:
        found: list[object] = []
        for value in values:
            text = str(value)
            hexadecimal = _HEX_FLOAT.fullmatch(text)
            if hexadecimal is not None:
                found.append(float.fromhex(hexadecimal[1]))
            elif plain.fullmatch(text):
                bare = text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD")
                found.append(pa.scalar(bare.removeprefix("+")).cast(to_arrow(target)).as_py())
            else:
                raise uncastable_value(value, target)
        return found

    return convert


def decimals_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast digits with sign, point and exponent to DECIMAL, rounded half up, null on overflow.

    Raises:
        UncastableError: a text in another format.
    """

    def convert(values: Sequence[object]) -> list[object]:
        found: list[object] = []
        for value in values:
            if not _DECIMAL.fullmatch(str(value)):
                raise uncastable_value(value, target)
            try:
                found.append(fitted_decimal(Decimal(str(value)), target))
            except InvalidOperation as error:
                raise uncastable_value(value, target) from error
        return found

    # a loop over distinct values: Arrow has no function that rounds and gives null on overflow
    return map_distinct(array, convert, to_arrow(target))


def dates_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast `yyyy-MM-dd` and shorter forms, or a number of days, to DATE.

    Raises:
        UncastableError: a text in another format.
    """
    days = map_distinct(array, _each_or_refuse(parse_date, target), pa.int32())
    return days.view(pa.date32())


def times_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast `HH:mm:ss.SSS` and shorter forms, or a number of milliseconds, to TIME.

    Raises:
        UncastableError: a text in another format.
    """
    millis = map_distinct(array, _each_or_refuse(parse_time, target), pa.int32())
    return millis.view(pa.time32("ms"))


def _each_or_refuse(
    parse: Callable[[str], object], target: AtomicType
) -> Callable[[Sequence[object]], list[object]]:
    def convert(values: Sequence[object]) -> list[object]:
        found: list[object] = []
        for value in values:
            parsed = parse(str(value))
            if parsed is None:
                raise uncastable_value(value, target)
            found.append(parsed)
        return found

    return convert


def timestamps_from_texts(
    array: Column, _: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast `yyyy-MM-dd HH:mm:ss.S` and shorter forms to TIMESTAMP or TIMESTAMP_LTZ.

    For TIMESTAMP_LTZ the text is the wall clock of the zone. TIMESTAMP also accepts digits, in the
    unit of its precision.

    Raises:
        UncastableError: a text in another format, or a time out of range.
    """
    precision = target.precision or 0
    takes_digits = target.root is TypeRoot.TIMESTAMP

    def parse(text: str) -> Mapping[str, int] | None:
        is_epoch = takes_digits and is_numeric(text)
        parsed = parse_epoch(text, precision) if is_epoch else parse_timestamp(text, precision)
        return (
            None
            if parsed is None
            else dict(zip(_PARTS, divmod(parsed, _SECOND_NANOS), strict=True))
        )

    pairs = map_distinct(array, _each_or_refuse(parse, target), _PAIR)
    columns = pairs.flatten() if isinstance(pairs, pa.StructArray) else []
    seconds, nanos = map(int64_values, columns)
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = instants_of(seconds, zone)
    return timestamps_of(seconds, nanos, target, array)


_PARTS = ("seconds", "nanos")
_PAIR = pa.struct([pa.field(name, pa.int64()) for name in _PARTS])


def bytes_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast text to BINARY or VARBINARY: its UTF-8 bytes."""
    return sized_bytes(array.cast(pa.binary()), target)


def _require(array: Column, is_fine: Column, target: AtomicType) -> None:
    refused = valid_mask(array) & ~true_mask(is_fine)
    if refused.any():
        raise uncastable_value(array[int(refused.argmax())].as_py(), target)
