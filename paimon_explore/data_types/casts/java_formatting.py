"""Formatting of numbers, times and dates as Java does, one value at a time.

Spec: Java's Double.toString, Float.toString and BigDecimal.toPlainString; Paimon's formats of
dates, times and timestamps.
"""

import math
from decimal import Decimal

import numpy as np

DAY_MS = 86_400_000
_HOUR_MS = 3_600_000
_MINUTE_MS = 60_000
_SECOND_MS = 1_000
_PLAIN_LEAST = -3
_PLAIN_MOST = 7


def double_text(value: float) -> str:
    """Format a DOUBLE as Java does: the shortest digits that round-trip.

    >>> double_text(1e7), double_text(0.001), double_text(5e-324)
    ('1.0E7', '0.001', '4.9E-324')
    """
    if not math.isfinite(value):
        return _special_text(value)
    return _java_form(repr(value), f"{value:.1e}")


def float_text(value: float) -> str:
    """Format a FLOAT as Java does.

    >>> float_text(0.1), float_text(3.4028234663852886e38)
    ('0.1', '3.4028235E38')
    """
    if not math.isfinite(value):
        return _special_text(value)
    return _java_form(np.format_float_scientific(np.float32(value)), f"{value:.1e}")


def _special_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _java_form(shortest: str, two_digits: str) -> str:
    sign, digits, exponent = Decimal(shortest).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    if not text:
        return "-0.0" if sign else "0.0"
    magnitude = len(digits) + int(exponent) - 1
    if len(text) == 1:
        # Java prints the nearest of all two-digit numbers that round-trip
        _, nearest, nearest_exponent = Decimal(two_digits).as_tuple()
        text = "".join(map(str, nearest)).rstrip("0")
        magnitude = len(nearest) + int(nearest_exponent) - 1
    minus = "-" if sign else ""
    if _PLAIN_LEAST <= magnitude < _PLAIN_MOST:
        return minus + _plain_form(text, magnitude)
    return f"{minus}{text[0]}.{text[1:] or '0'}E{magnitude}"


def _plain_form(digits: str, magnitude: int) -> str:
    if magnitude < 0:
        return "0." + "0" * (-magnitude - 1) + digits
    whole = digits[: magnitude + 1].ljust(magnitude + 1, "0")
    return f"{whole}.{digits[magnitude + 1 :] or '0'}"


def decimal_text(value: Decimal) -> str:
    """Format a DECIMAL with all digits of its scale, without exponent."""
    return format(value, "f")


def date_text(days: int) -> str:
    """Format a DATE of epoch days; of years above 9999 only the last four digits are printed.

    >>> date_text(0), date_text(2932897)
    ('1970-01-01', '0000-01-01')
    """
    text = str(np.datetime64(days, "D"))
    return text if text.startswith("-") else text[-len("yyyy-mm-dd") :]


def time_text(millis: int, precision: int) -> str:
    """Format a TIME of milliseconds, with at least one fraction digit unless the precision is 0.

    >>> time_text(3_723_100, 3), time_text(3_723_100, 0)
    ('01:02:03.1', '01:02:03')
    """
    if millis < 0:
        millis %= DAY_MS
    hours, rest = divmod(millis, _HOUR_MS)
    minutes, rest = divmod(rest, _MINUTE_MS)
    seconds, fraction = divmod(rest, _SECOND_MS)
    text = f"{hours % 100:02d}:{minutes:02d}:{seconds:02d}"
    if precision <= 0:
        return text
    return f"{text}.{(f'{fraction:03d}'.rstrip('0') or '0')[:precision]}"


def timestamp_text(seconds: int, nanos: int, precision: int) -> str:
    """Format a timestamp of epoch seconds and nanoseconds of the second.

    The fraction has as many digits as the type, or more if the value has more.

    >>> timestamp_text(-1, 500_000_000, 3), timestamp_text(0, 0, 0)
    ('1969-12-31 23:59:59.500', '1970-01-01 00:00:00')
    """
    days, second_of_day = divmod(seconds, DAY_MS // _SECOND_MS)
    text = f"{date_text(days)} {time_text(second_of_day * _SECOND_MS, 0)}"
    fraction = f"{nanos:09d}"
    while len(fraction) > precision and fraction.endswith("0"):
        fraction = fraction[:-1]
    return f"{text}.{fraction}" if fraction else text
