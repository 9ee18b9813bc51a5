"""Odd times in metadata have a wall clock, too."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Self

import pytest

from paimon_explore.data_types.local_time import in_zone, local_millis, local_moment, utc_moment

KATHMANDU = timedelta(hours=5, minutes=45)


class WindowsTime(datetime):
    """A time whose local time is known from 1971 to 3000 only, as on Windows."""

    def astimezone(self, tz: tzinfo | None = None) -> Self:
        if tz is None and not 1970 < self.year <= 3000:
            raise OSError(22, "Invalid argument")
        return super().astimezone(tz)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_any_number_of_milliseconds_has_a_local_clock(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert [local_moment(m).year for m in (2**63 - 1, -(2**63), 0)][:2] == [9999, 1]
        assert all(abs(local_millis(m)) <= 2**63 for m in (2**63 - 1, -(2**63)))
        hours = {"UTC": 0.0, "Asia/Kolkata": 5.5, "America/New_York": -5.0}[zone]
        assert local_millis(1_700_000_000_000) == 1_700_000_000_000 + hours * 3_600_000
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
@pytest.mark.parametrize("year", [4, 1904, 2024, 9996])
def test_local_time_that_the_system_does_not_know_has_the_offset_of_the_nearest_year(
    year: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "NPT-5:45")
    time.tzset()
    try:
        for moment in (WindowsTime(year, 2, 29, 12, tzinfo=UTC), WindowsTime(year, 2, 29, 12)):
            assert in_zone(moment, None).utcoffset() == KATHMANDU
            clock = moment if moment.tzinfo is None else moment + KATHMANDU
            assert in_zone(moment, None).replace(tzinfo=None) == clock.replace(tzinfo=None)
            assert in_zone(moment, UTC).utcoffset() == timedelta()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_times_before_1970_and_after_3000_are_known_on_every_system() -> None:
    assert utc_moment(-62_135_596_800_000) == datetime(1, 1, 1, tzinfo=UTC)
    assert utc_moment(253_402_300_799_999).isoformat() == "9999-12-31T23:59:59.999000+00:00"
    assert {local_moment(at).year for at in (-(10**12), 10**14)} == {1938, 5138}
