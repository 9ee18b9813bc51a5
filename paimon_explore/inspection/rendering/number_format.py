"""Formats numbers, sizes and times for display."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

Number = TypeVar("Number", int, float)

_STEP = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def scaled(value: float, units: tuple[str, ...]) -> str:
    """Format a number with about four characters and a unit prefix."""
    rest = float(abs(value))
    unit = 0
    while rest >= _STEP * 0.9995 and unit < len(units) - 1:
        rest /= _STEP
        unit += 1
    digits = f"{rest:.1f}" if unit and rest < 9.95 else f"{rest:.0f}"  # noqa: PLR2004 - two digits
    return f"{'-' if value < 0 else ''}{digits}{units[unit]}"


def bytes_text(size: float) -> str:
    """Format a number of bytes.

    >>> bytes_text(1_234_567)
    '1.2 MB'
    """
    return scaled(size, (" B", " kB", " MB", " GB", " TB", " PB"))


def short_text(count: float) -> str:
    """Format a count in short form.

    >>> short_text(4_100_000)
    '4.1M'
    """
    return scaled(count, ("", "k", "M", "G", "T", "P"))


def signed_text(number: Number, text: Callable[[Number], str]) -> str:
    """The text of a difference, with its sign."""
    return f"+{text(number)}" if number > 0 else text(number)


def count_text(count: int | None) -> str:
    """Format an integer with thousands separators.

    >>> count_text(4100233)
    '4,100,233'
    """
    return "unknown" if count is None else f"{count:,}"


def at_snapshot(name: str, snapshot_id: int) -> str:
    """Name a table at a snapshot.

    >>> at_snapshot("db.t", 7), at_snapshot("db.t", 0)
    ('db.t at snapshot 7', 'db.t without snapshots')
    """
    return f"{name} at snapshot {snapshot_id}" if snapshot_id else f"{name} without snapshots"


def plural(count: int, noun: str) -> str:
    """Format a count with its noun.

    >>> plural(1, "file"), plural(2, "file"), plural(2, "branch")
    ('1 file', '2 files', '2 branches')
    """
    return f"{count:,} {noun}{'' if count == 1 else _ending(noun)}"


def short_plural(count: int, noun: str) -> str:
    """Format a count in short form with its noun.

    >>> short_plural(1, "row"), short_plural(4_100, "row")
    ('1 row', '4.1k rows')
    """
    return f"{short_text(count)} {noun}{'' if count == 1 else _ending(noun)}"


def _ending(noun: str) -> str:
    return "es" if noun.endswith(("ch", "s", "x")) else "s"


def time_text(millis: int | None, *, zone: str = " UTC") -> str:
    """Format epoch milliseconds as date and time.

    >>> time_text(1_795_168_800_250)
    '2026-11-20 10:00:00.250 UTC'
    >>> time_text(2**62)
    '4611686018427387904 ms'
    """
    if millis is None:
        return "unknown"
    try:
        moment = _EPOCH + timedelta(milliseconds=millis)
    except OverflowError:
        return f"{millis} ms"
    return f"{moment.replace(tzinfo=None).isoformat(' ', 'milliseconds')}{zone}"
