"""Dates and times as integers."""

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from paimon_explore.scan.predicate.datetime_literals import (
    ParsedTimestamp,
    date_text,
    parse_date,
    parse_time,
    parse_timestamp,
    time_text,
    timestamp_text,
    to_utc,
    to_wall_clock,
)

HOUR = 3600 * 10**9


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0),
        (" 1969-12-31 ", -1),
        ("2024-2-29", 19782),
        ("2023-02-29", None),
        ("2026-13-01", None),
        ("2026-00-01", None),
        ("2026-01-00", None),
        ("0000-01-01", -719528),
        ("-0001-12-31", -719529),
        ("10000-01-01", 2932897),
        ("26-01-01", None),
        ("2026-01-01x", None),
    ],
)
def test_dates_are_days(text: str, days: int | None) -> None:
    assert parse_date(text) == days


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("00:00", 0),
        ("1:02:03", 3723 * 10**9),
        ("23:59:59.999999999", 24 * HOUR - 1),
        ("24:00:00", None),
        ("10:60", None),
        ("10:00:60", None),
        ("10", None),
    ],
)
def test_times_are_nanoseconds_of_the_day(text: str, nanos: int | None) -> None:
    assert parse_time(text) == nanos


@pytest.mark.parametrize(
    ("text", "nanos", "zoned"),
    [
        ("1970-01-01", 0, False),
        ("1970-01-01T01:00", HOUR, False),
        ("1970-01-01 00:00:00.000000001", 1, False),
        ("1970-01-01 01:00:00Z", HOUR, True),
        ("1970-01-01 01:00:00+02:00", -HOUR, True),
        ("1970-01-01 01:00:00-0230", 3 * HOUR + HOUR // 2, True),
        ("1970-01-01 01:00:00+00:53:28", HOUR - 3208 * 10**9, True),
        ("1970-01-01 01:00:00 Europe/Berlin", 0, True),
    ],
)
def test_timestamps_are_nanoseconds(text: str, nanos: int, zoned: bool) -> None:  # noqa: FBT001 - a value
    moment = parse_timestamp(text)
    assert moment == ParsedTimestamp(nanos=nanos, zoned=zoned)


@pytest.mark.parametrize(
    "text", ["", "1970-01-01 25:00", "1970-01-01 01:00 Nowhere/X", "1970-01-01 01:00+99:00", "x"]
)
def test_other_texts_are_no_timestamps(text: str) -> None:
    assert parse_timestamp(text) is None


def test_a_reading_that_occurs_twice_means_the_first() -> None:
    moment = parse_timestamp("2026-10-25 02:30:00")
    assert moment is not None
    berlin = ZoneInfo("Europe/Berlin")
    assert timestamp_text(to_utc(moment.nanos, berlin)) == "2026-10-25 00:30:00"
    assert to_wall_clock(to_utc(moment.nanos, berlin), berlin) == moment.nanos


def test_years_that_python_does_not_know_have_offsets_too() -> None:
    zone = timezone(timedelta(hours=2))
    far = 400_000 * 86_400 * 10**9 * 30
    for nanos in (far, -far):
        assert to_utc(nanos, zone) == nanos - 2 * HOUR
        assert to_wall_clock(nanos, zone) == nanos + 2 * HOUR
    assert to_utc(far, UTC) == far


def test_the_local_zone_is_used_without_another() -> None:
    assert to_wall_clock(to_utc(HOUR, None), None) == HOUR


@pytest.mark.parametrize("days", [0, -1, 20454, -719528, 2932897])
def test_date_texts_read_back(days: int) -> None:
    assert parse_date(date_text(days)) == days


def test_texts_have_no_needless_digits() -> None:
    assert time_text(3_723_120) == "01:02:03.12"
    assert timestamp_text(-1) == "1969-12-31 23:59:59.999999999"
    assert timestamp_text(0) == "1970-01-01 00:00:00"
