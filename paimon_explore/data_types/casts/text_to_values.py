"""Casts of text to other types, as Java does.

Surrounding white space is allowed only for floats.

Spec: Paimon's casts from strings.

Parsing of dates, times and timestamps as Java does, one value at a time.

Each function returns None for a text that it cannot parse.

Spec: Paimon's casts from strings; `java.time` where they use it.
"""

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, tzinfo
from decimal import Decimal, InvalidOperation
from functools import partial

import pyarrow as pa

from paimon_explore import arrow_compute as pc
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
from paimon_explore.data_types.casts.numeric_casts import decimals_from_decimals, fitted_decimal
from paimon_explore.data_types.casts.text_functions import (
    computed,
    cut_texts,
    is_one_of,
    kept_where,
    matches,
    replaced,
    where_valid,
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
_PLAIN_DECIMAL = r"^-?[0-9]{1,20}(\.[0-9]{1,18})?$"
_PLAIN_TYPE = pa.decimal128(38, 18)
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
        return map_distinct(array, partial(_bounded, target), to_arrow(target))


def _bounded(target: AtomicType, value: object) -> int:
    bound = 2 ** (to_arrow(target).bit_width - 1)
    number = int(str(value).partition(".")[0] or "0")
    if not -bound <= number < bound:
        raise uncastable_value(value, target)
    return number


def floats_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast numbers in the syntax of Java's `parseDouble`, with suffixes and hexadecimal.

    Raises:
        UncastableError: a text in another format.
    """
    trimmed = computed("utf8_trim", [array], pc.TrimOptions(_JAVA_SPACE))
    is_plain = matches(trimmed, _FLOAT)
    if not true_mask(where_valid(array, is_plain))[valid_mask(array)].all():
        return map_distinct(trimmed, partial(_hex_or_plain, target), to_arrow(target))
    unsigned = replaced(trimmed, r"^\+", "")
    return replaced(unsigned, "([0-9.])[fFdD]$", r"\1").cast(to_arrow(target))


def _hex_or_plain(target: AtomicType, value: object) -> object:
    text = str(value)
    hexadecimal = _HEX_FLOAT.fullmatch(text)
    if hexadecimal is not None:
        return float.fromhex(hexadecimal[1])
    if re.fullmatch(_FLOAT, text) is None:
        raise uncastable_value(value, target)
    bare = text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD")
    return pa.scalar(bare.removeprefix("+")).cast(to_arrow(target)).as_py()


def decimals_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast digits with sign, point and exponent to DECIMAL, rounded half up, null on overflow.

    Raises:
        UncastableError: a text in another format.
    """
    plain = true_mask(matches(array, _PLAIN_DECIMAL))
    found = decimals_from_decimals(kept_where(plain, array).cast(_PLAIN_TYPE), target, target)
    if plain.all():
        return found

    def convert(value: object) -> Decimal | None:
        if not _DECIMAL.fullmatch(str(value)):
            raise uncastable_value(value, target)
        try:
            return fitted_decimal(Decimal(str(value)), target)
        except InvalidOperation as error:
            raise uncastable_value(value, target) from error

    # a loop over distinct values: Arrow does not parse every form that Java does
    others = map_distinct(kept_where(~plain, array), convert, to_arrow(target))
    return computed("coalesce", [found, others])


def dates_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast `yyyy-MM-dd` and shorter forms, or a number of days, to DATE.

    Raises:
        UncastableError: a text in another format.
    """
    days = map_distinct(array, partial(_parsed, parse_date, target), pa.int32())
    return days.view(pa.date32())


def times_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast `HH:mm:ss.SSS` and shorter forms, or a number of milliseconds, to TIME.

    Raises:
        UncastableError: a text in another format.
    """
    millis = map_distinct(array, partial(_parsed, parse_time, target), pa.int32())
    return millis.view(pa.time32("ms"))


def _parsed(parse: Callable[[str], object], target: AtomicType, value: object) -> object:
    found = parse(str(value))
    if found is None:
        raise uncastable_value(value, target)
    return found


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

    columns = _regular_parts(array, precision)
    if columns is None:
        pairs = map_distinct(array, partial(_parsed, parse, target), _PAIR)
        columns = pairs.flatten() if isinstance(pairs, pa.StructArray) else []
    seconds, nanos = map(int64_values, columns)
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = instants_of(seconds, zone)
    return timestamps_of(seconds, nanos, target, array)


def _regular_parts(array: Column, precision: int) -> list[Column] | None:
    """Return seconds and nanoseconds of `yyyy-MM-dd HH:mm:ss.S`; None if a text is otherwise."""
    if not true_mask(matches(array, _REGULAR))[valid_mask(array)].all():
        return None
    try:
        seconds = cut_texts(array, _CLOCK).cast(pa.timestamp("s"))
    except pa.ArrowInvalid:  # such as the last day of a month that has fewer
        return None
    options = pc.SliceOptions(_CLOCK + 1, _CLOCK + 1 + precision)
    fraction = computed("utf8_slice_codeunits", [array], options)
    nanos = computed("utf8_rpad", [fraction], pc.PadOptions(9, "0")).cast(pa.int64())
    return [seconds, nanos]


_CLOCK = len("yyyy-MM-dd HH:mm:ss")
_REGULAR = (
    r"^(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-[0-9]{2}-[0-9]{2} "
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?$"
)
_PARTS = ("seconds", "nanos")
_PAIR = pa.struct([pa.field(name, pa.int64()) for name in _PARTS])


def bytes_from_texts(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast text to BINARY or VARBINARY: its UTF-8 bytes."""
    return sized_bytes(array.cast(pa.binary()), target)


def _require(array: Column, is_fine: Column, target: AtomicType) -> None:
    refused = valid_mask(array) & ~true_mask(is_fine)
    if refused.any():
        raise uncastable_value(array[int(refused.argmax())].as_py(), target)


DAY_NANOS = 86_400 * 10**9

_DIGITS = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"[0-9]+")
_INT32 = 2**31
_EPOCH = date(1970, 1, 1).toordinal()
_MAX_YEAR = 9999
_MONTHS = 12
_MAX_DAYS = 31

_TIMESTAMP = re.compile(
    r"(?P<year>[0-9]{4}|\+[0-9]{5,9})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"(?: (?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:\.(?P<fraction>[0-9]{0,9}))?)?"
    r"(?:T(?P<hour_t>[0-9]{1,2}):(?P<minute_t>[0-9]{1,2})"
    r"(?::(?P<second_t>[0-9]{1,2})(?:\.(?P<fraction_t>[0-9]{0,9}))?)?)?"
)


def is_numeric(text: str) -> bool:
    """Return whether a text consists of digits, after an optional minus."""
    return _DIGITS.fullmatch(text) is not None


def parse_date(text: str) -> int | None:
    """Parse `2024-01-31`, `2024-1`, or a number of days, to epoch days.

    Text after a space is ignored.

    >>> parse_date("1970-01-02 12:00:00"), parse_date("12")
    (1, 12)
    """
    if is_numeric(text):
        days = int(text)
        return days if -_INT32 <= days < _INT32 else None
    space = text.find(" ")
    head = text[:space] if space > 0 else text
    parts = [part.strip() for part in head.split("-", 2)]
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    year, month, day = ([int(part) for part in parts] + [1, 1])[:3]
    return _days(year, month, day)


def _days(year: int, month: int, day: int) -> int | None:
    if not 0 <= year <= _MAX_YEAR or not 1 <= month <= _MONTHS or day < 1:
        return None
    shifted = year or 400  # Python has no year 0; 400 is a leap year as well
    if day > calendar.monthrange(shifted, month)[1]:
        return None
    days = date(shifted, month, day).toordinal() - _EPOCH
    return days if year else days - 146_097


def parse_time(text: str) -> int | None:
    """Parse `12:30:15.25`, shorter forms, or a number of milliseconds, to milliseconds of the day.

    An offset such as `+02:00` is applied modulo one day.

    >>> parse_time("00:00:01.5"), parse_time("1500"), parse_time("1:2")
    (1500, 1500, 3720000)
    """
    if is_numeric(text):
        millis = int(text)
        return millis if -_INT32 <= millis < _INT32 else None
    zone_at = text.find("-") if "-" in text else text.find("+")
    clock, zone = (text, "") if zone_at < 0 else (text[:zone_at], text[zone_at:])
    millis_of_clock = _clock_millis(clock)
    millis_of_zone = _zone_millis(zone) if zone else 0
    if millis_of_clock is None or millis_of_zone is None:
        return None
    return _wrapped(millis_of_clock + millis_of_zone)


def _clock_millis(text: str) -> int | None:
    parts = text.split(":", 2)
    fraction = ""
    if len(parts) == 3:  # noqa: PLR2004 - hours, minutes, seconds
        parts[2], _, fraction = parts[2].partition(".")
    stripped = [part.strip() for part in parts]
    if not all(map(_NUMBER.fullmatch, stripped)):
        return None
    hours, minutes, seconds = ([int(part) for part in stripped] + [0, 0])[:3]
    return hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + _millis(fraction.strip())


def _millis(fraction: str) -> int:
    digits = [int(char) if char in "0123456789" else 0 for char in fraction]
    head = [*digits, 0, 0, 0][:3]
    rounds_up = len(fraction) > 3 and fraction[3] >= "5"  # noqa: PLR2004 - milliseconds
    return head[0] * 100 + head[1] * 10 + head[2] + rounds_up


def _zone_millis(zone: str) -> int | None:
    sign = -1 if zone[0] == "-" else 1
    hours, colon, minutes = zone[1:].partition(":")
    parts = [hours.strip(), minutes.strip() if colon else "0"]
    if not all(map(_NUMBER.fullmatch, parts)):
        return None
    return sign * (int(parts[0]) * 3_600_000 + int(parts[1]) * 60_000)


def _wrapped(value: int) -> int:
    return (value + _INT32) % (2 * _INT32) - _INT32


def parse_timestamp(text: str, precision: int) -> int | None:
    """Parse `2024-01-31 12:30:15.25`, `2024-1-1` or `2024-01-01T12:30` to epoch nanoseconds.

    Digits beyond the precision are truncated. A day beyond the end of its month becomes the last
    day of the month, and 24:00:00 the next day, as in `java.time`.

    >>> parse_timestamp("1970-01-01 00:00:01.25", 1)
    1200000000
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    days = _smart_days(int(match["year"]), int(match["month"]), int(match["day"]))
    parts = [match["hour"] or match["hour_t"], match["minute"] or match["minute_t"]]
    hour, minute, second = (
        int(part or 0) for part in (*parts, match["second"] or match["second_t"])
    )
    fraction = (match["fraction"] or match["fraction_t"] or "")[:precision]
    nanos = int(fraction.ljust(9, "0"))
    is_next_day = hour == 24 and minute == second == nanos == 0  # noqa: PLR2004 - hours of a day
    if days is None or not (is_next_day or (hour < 24 and minute < 60 and second < 60)):  # noqa: PLR2004
        return None
    return days * DAY_NANOS + ((hour * 60 + minute) * 60 + second) * 10**9 + nanos


def parse_epoch(text: str, precision: int) -> int | None:
    """Parse epoch digits, in the unit of a precision of 0, 3, 6 or 9, to epoch nanoseconds."""
    value = int(text)
    if not -(2**63) <= value < 2**63 or precision not in {0, 3, 6, 9}:
        return None
    return value * int(10 ** (9 - precision))


def _smart_days(year: int, month: int, day: int) -> int | None:
    if year < 1 or not 1 <= month <= _MONTHS or not 1 <= day <= _MAX_DAYS:
        return None
    eras, year_of_era = divmod(year, 400)
    shifted = year_of_era or 400
    last = calendar.monthrange(shifted, month)[1]
    days = date(shifted, month, min(day, last)).toordinal() - _EPOCH
    return days + (eras if year_of_era else eras - 1) * 146_097
