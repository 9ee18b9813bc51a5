import pytest

from paimon_explore.data_types.casts.text_to_values import (
    parse_date,
    parse_epoch,
    parse_time,
    parse_timestamp,
)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0),
        ("1969-12-31", -1),
        ("0000-01-01", -719_528),
        ("0000-02-29", -719_469),
        ("9999-12-31", 2_932_896),
        ("2024-2-9 10:00", 19_762),
        (" 2024 - 1 - 2", 19_724),
        ("2024-02", 19_754),
        ("-5", -5),
        ("2023-02-29", None),
        ("2024-01-01T10:00", None),
        ("10000-01-01", None),
        ("2147483648", None),
        ("", None),
    ],
)
def test_dates(text: str, days: int | None) -> None:
    assert parse_date(text) == days


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("12:34:56.789", 45_296_789),
        ("00:00:00.0005", 1),
        ("25:61:61", 93_721_000),
        ("12:00:00+01:30", 48_600_000),
        ("12:00:00 - 1", 39_600_000),
        ("7", 7),
        ("1:2:3:4", None),
        ("12:", None),
        ("12:00:00+x", None),
        ("99999999999", None),
    ],
)
def test_times(text: str, millis: int | None) -> None:
    assert parse_time(text) == millis


@pytest.mark.parametrize(
    ("text", "precision", "nanos"),
    [
        ("1970-01-01", 3, 0),
        ("1970-1-1 0:0:1", 0, 10**9),
        ("1970-01-01 00:00:00.123456789", 4, 123_400_000),
        ("1970-01-01T00:01", 3, 60 * 10**9),
        ("1970-01-01T00:00:01.", 3, 10**9),
        ("1970-01-01 24:00:00", 3, 86_400 * 10**9),
        ("1970-02-30", 3, 58 * 86_400 * 10**9),
        ("+12000-01-01", 0, 316_516_204_800 * 10**9),
        ("1970-01-01 24:00:01", 3, None),
        ("1970-01-01 23:60:00", 3, None),
        ("1970-13-01", 3, None),
        ("0000-01-01", 3, None),
        ("1970-01-01 00:00", 3, None),
        ("1970-01-01 00:00:00.1234567890", 9, None),
    ],
)
def test_timestamps(text: str, precision: int, nanos: int | None) -> None:
    assert parse_timestamp(text, precision) == nanos


@pytest.mark.parametrize(
    ("text", "precision", "nanos"),
    [("5", 0, 5 * 10**9), ("-5", 3, -5 * 10**6), ("5", 6, 5000), ("5", 9, 5), ("5", 2, None)],
)
def test_digits_are_in_the_unit_of_the_precision(
    text: str, precision: int, nanos: int | None
) -> None:
    assert parse_epoch(text, precision) == nanos
