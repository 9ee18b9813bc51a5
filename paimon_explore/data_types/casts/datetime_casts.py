"""Casts between dates, times, timestamps and integers (seconds), with Java's results.

A timestamp is processed as whole seconds and nanoseconds of the second. Where Java uses the zone of
its process, the caller's zone is used.
"""

from datetime import tzinfo

import numpy as np

from paimon_explore.data_types.arrow import PER_SECOND, timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_like,
    int64_values,
    scaled_sum,
)
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.time_zones import instants_of, wall_clock

_DAY_SECONDS = 86_400
_DAY_MILLIS = 86_400_000
_SECOND_NANOS = 10**9
_MILLI_NANOS = 10**6
_MILLI_DIGITS = 3
_NANO_DIGITS = 9


def seconds_and_nanos(array: Column, source: AtomicType) -> tuple[Ints, Ints]:
    """Return the seconds of timestamps, rounded down, and the nanoseconds of the second."""
    per_second = PER_SECOND[timestamp_unit(source.precision)]
    seconds, parts = np.divmod(int64_values(array), per_second)
    return seconds, parts * (_SECOND_NANOS // per_second)


def timestamps_of(seconds: Ints, nanos: Ints, target: AtomicType, like: Column) -> Column:
    """Build timestamps from seconds and nanoseconds, truncated to the unit of the type.

    Raises:
        UncastableError: a value is out of range of the type.
    """
    per_second = PER_SECOND[timestamp_unit(target.precision)]
    values, fits = scaled_sum(seconds, per_second, nanos // (_SECOND_NANOS // per_second))
    if not fits.all():
        raise UncastableError(f"a value is out of range for {type_text(target)}")
    return build_like(to_arrow(target), values, like)


def timestamps_from_timestamps(
    array: Column, source: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast between TIMESTAMP and TIMESTAMP_LTZ, by the wall clock of the zone."""
    seconds, nanos = seconds_and_nanos(array, source)
    if source.root is not target.root:
        shift = instants_of if target.root is TypeRoot.TIMESTAMP_LTZ else wall_clock
        seconds = shift(seconds, zone)
    precision = target.precision or 0
    if precision < (source.precision or 0):
        seconds, nanos = _truncated(seconds, nanos, precision)
    return timestamps_of(seconds, nanos, target, array)


def _truncated(seconds: Ints, nanos: Ints, precision: int) -> tuple[Ints, Ints]:
    if precision > _MILLI_DIGITS:
        step = 10 ** (_NANO_DIGITS - precision)
        return seconds, nanos // step * step
    # Java truncates the epoch milliseconds towards zero
    millis = seconds * 1000 + nanos // _MILLI_NANOS
    step = 10 ** (_MILLI_DIGITS - precision)
    cut = np.sign(millis) * (np.abs(millis) // step * step)
    return cut // 1000, cut % 1000 * _MILLI_NANOS


def _clock_millis(array: Column, source: AtomicType, zone: tzinfo | None) -> Ints:
    seconds, nanos = seconds_and_nanos(array, source)
    if source.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = wall_clock(seconds, zone)
    return seconds * 1000 + nanos // _MILLI_NANOS


def dates_from_timestamps(
    array: Column, source: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast TIMESTAMP or TIMESTAMP_LTZ to DATE, by the wall clock of the zone.

    Java up to 2.0 gives the following day for a TIMESTAMP before 1970 other than midnight.
    """
    days = _clock_millis(array, source, zone) // _DAY_MILLIS
    return build_like(to_arrow(target), days.astype(np.int32), array)


def times_from_timestamps(
    array: Column, source: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast TIMESTAMP or TIMESTAMP_LTZ to TIME, by the wall clock of the zone."""
    millis = _clock_millis(array, source, zone) % _DAY_MILLIS
    return build_like(to_arrow(target), millis.astype(np.int32), array)


def timestamps_from_dates(
    array: Column, _: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast DATE to midnight as TIMESTAMP, or as TIMESTAMP_LTZ in the zone."""
    seconds = int64_values(array) * _DAY_SECONDS
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = instants_of(seconds, zone)
    return timestamps_of(seconds, np.zeros_like(seconds), target, array)


def timestamps_from_times(array: Column, _: AtomicType, target: AtomicType) -> Column:
    """Cast TIME to a timestamp on 1970-01-01, in UTC also for TIMESTAMP_LTZ."""
    seconds, millis = np.divmod(int64_values(array), 1000)
    return timestamps_of(seconds, millis * _MILLI_NANOS, target, array)


def timestamps_from_integers(
    array: Column, _: AtomicType, target: AtomicType, zone: tzinfo | None
) -> Column:
    """Cast epoch seconds to a timestamp.

    For TIMESTAMP_LTZ the wall clock of the zone is stored as if it were UTC, as in Java.
    """
    with np.errstate(over="ignore"):
        millis = int64_values(array) * np.int64(1000)
    seconds, rest = np.divmod(millis, 1000)
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        seconds = wall_clock(seconds, zone)
    return timestamps_of(seconds, rest * _MILLI_NANOS, target, array)


def integers_from_timestamps(array: Column, source: AtomicType, target: AtomicType) -> Column:
    """Cast timestamps to epoch seconds, truncated towards zero; the zone is not used."""
    seconds, nanos = seconds_and_nanos(array, source)
    cut = seconds + ((seconds < 0) & (nanos >= _MILLI_NANOS))
    dtype = np.int32 if target.root is TypeRoot.INT else np.int64
    return build_like(to_arrow(target), cut.astype(dtype), array)
