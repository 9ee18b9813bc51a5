from decimal import Decimal

import numpy as np
import pytest

from paimon_explore.data_types.casts.java_formatting import (
    date_text,
    decimal_text,
    double_text,
    float_text,
    time_text,
    timestamp_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (100.0, "100.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (0.00099999, "9.9999E-4"),
        (-1.5e-10, "-1.5E-10"),
        (1e22, "1.0E22"),
        (2e23, "2.0E23"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_doubles_print_like_java(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (16777216.0, "1.6777216E7"),
        (1.4e-45, "1.4E-45"),
        (3.4028234663852886e38, "3.4028235E38"),
        (-300.7, "-300.7"),
        (float("inf"), "Infinity"),
    ],
)
def test_floats_print_like_java(value: float, text: str) -> None:
    assert float_text(float(np.float32(value))) == text


def test_decimals_print_without_exponent() -> None:
    assert decimal_text(Decimal("1E+5")) == "100000"
    assert decimal_text(Decimal("0E-10")) == "0.0000000000"


def test_dates_print_four_digits_of_the_year() -> None:
    assert date_text(-719_162) == "0001-01-01"
    assert date_text(2_932_896) == "9999-12-31"


@pytest.mark.parametrize(
    ("millis", "precision", "text"),
    [
        (0, 0, "00:00:00"),
        (0, 3, "00:00:00.0"),
        (1, 3, "00:00:00.001"),
        (103, 2, "00:00:00.10"),
        (120, 9, "00:00:00.12"),
        (-1, 3, "23:59:59.999"),
        (90_000_000, 0, "25:00:00"),
    ],
)
def test_times_print_at_least_one_digit_of_their_fraction(
    millis: int, precision: int, text: str
) -> None:
    assert time_text(millis, precision) == text


@pytest.mark.parametrize(
    ("nanos", "precision", "text"),
    [
        (0, 0, "1970-01-01 00:00:00"),
        (0, 3, "1970-01-01 00:00:00.000"),
        (120_000_000, 0, "1970-01-01 00:00:00.12"),
        (5, 9, "1970-01-01 00:00:00.000000005"),
    ],
)
def test_timestamps_print_the_digits_of_their_type(nanos: int, precision: int, text: str) -> None:
    assert timestamp_text(0, nanos, precision) == text
