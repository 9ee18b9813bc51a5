import time
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python, times_as_text
from paimon_explore.data_types.time_zones import instants_of, wall_clock

NEW_YORK = ZoneInfo("America/New_York")
WINTER = -5 * 3600
SUMMER = -4 * 3600
SPRING_CHANGE = 1_710_054_000  # 2024-03-10 07:00:00 UTC
AUTUMN_CHANGE = 1_730_613_600  # 2024-11-03 06:00:00 UTC


def test_offsets_change_to_the_second() -> None:
    instants = np.array([SPRING_CHANGE - 1, SPRING_CHANGE, AUTUMN_CHANGE - 1, AUTUMN_CHANGE])
    offsets = wall_clock(instants, NEW_YORK) - instants
    assert offsets.tolist() == [WINTER, SUMMER, SUMMER, WINTER]


def test_skipped_and_repeated_times_take_the_offset_before_the_change() -> None:
    skipped = SPRING_CHANGE + WINTER + 1800
    repeated = AUTUMN_CHANGE + SUMMER - 1800
    clocks = np.array([skipped, repeated])
    assert (clocks - instants_of(clocks, NEW_YORK)).tolist() == [WINTER, SUMMER]


def test_times_beyond_the_calendar_keep_the_last_offset() -> None:
    far = np.array([-(10**15), 10**15])
    shifted = wall_clock(far, NEW_YORK)
    assert instants_of(shifted, NEW_YORK).tolist() == far.tolist()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
def test_without_a_zone_the_process_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        instants = np.array([SPRING_CHANGE - 1, SPRING_CHANGE])
        clocks = wall_clock(instants, None)
        assert (clocks - instants).tolist() == [WINTER, SUMMER]
        assert instants_of(clocks, None).tolist() == instants.tolist()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_nothing_in_nothing_out() -> None:
    empty = np.zeros(0, np.int64)
    assert wall_clock(empty, NEW_YORK).tolist() == []
    assert instants_of(empty, None).tolist() == []


def test_times_in_a_zone_that_arrow_does_not_know_are_text_in_utc() -> None:
    """As in every zone on Windows, if Arrow finds no database of time zones."""
    times = pa.array([0, None], pa.int64()).cast(pa.timestamp("s", "No/Zone"))
    nested = pa.ListArray.from_arrays([0, 2], times)
    shown = ["1970-01-01 00:00:00+0000", None]
    assert as_python(times_as_text(times)) == shown
    assert as_python(times_as_text(nested)) == [shown]
