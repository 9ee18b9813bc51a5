"""Odd times in metadata have a wall clock, too."""

import time

import pytest

from paimon_explore.data_types.local_time import local_millis, local_moment


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
