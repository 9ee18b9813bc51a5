"""Arguments of the methods of `Table.maintenance`: ages, retentions and tags."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from paimon_explore.arguments import (
    instance,
    invalid_argument,
    optional_integer,
    string,
)
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention
from paimon_explore.maintenance.references.tag_operations import TagRequest
from paimon_explore.metadata.options.option_definition import UnreadableValueError, parse_duration
from paimon_explore.scan.time_travel import epoch_ms, parse_epoch_ms

Age = timedelta | datetime | str
"""How long ago (as text `1 d`), or a point in time (text is ISO, local without a zone)."""
Duration = timedelta | str
"""A length of time, also as text such as `7 d`."""
_AGES = "an age (a timedelta, or '1 d') or a time (a datetime, or '2026-11-20 10:00')"


@dataclass(frozen=True, slots=True)
class RetentionArguments:
    """Arguments of an expiry that override the options of the table."""

    retain_min: int | None
    retain_max: int | None
    older_than: Age | None
    limit: int | None

    def over(self, retention: Retention) -> Retention:
        """Return a retention with the given arguments instead of its own."""
        for name in ("retain_min", "retain_max", "limit"):
            optional_integer(name, getattr(self, name), minimum=1)
        low = retention.retain_min if self.retain_min is None else self.retain_min
        high = retention.retain_max if self.retain_max is None else self.retain_max
        if self.retain_max is not None and self.retain_min is None:
            low = min(low, high)
        older = self.older_than
        return replace(
            retention,
            retain_min=low,
            retain_max=high,
            keep_after_ms=retention.keep_after_ms if older is None else time_before(older),
            limit=retention.limit if self.limit is None else self.limit,
        )


def tag_request(name: str, snapshot: int | None, retained: Duration | None) -> TagRequest:
    """Return the checked arguments of `create_tag`."""
    return TagRequest(
        name=string("name", name),
        snapshot_id=optional_integer("snapshot", snapshot),
        retained=optional_duration("retained", retained),
    )


def optional_duration(name: str, value: object) -> timedelta | None:
    """Return a duration that is not negative, or None.

    Raises:
        InvalidInputError: a negative duration, or a value that is no duration.
    """
    found = value
    if isinstance(value, str):
        with suppress(UnreadableValueError, OverflowError):
            found = timedelta(milliseconds=parse_duration(value))
    if found is None:
        return None
    if not isinstance(found, timedelta):
        raise invalid_argument(name, value, "a datetime.timedelta, text such as '7 d', or None")
    if found < timedelta(0):
        raise InvalidInputError(f"{name} must not be negative, but {value} was given.")
    return found


def time_before(age: Age) -> int:
    """Return a time, or the time an age ago, in epoch milliseconds.

    Raises:
        InvalidInputError: a negative age, or text that is neither an age nor a time.
    """
    if isinstance(age, str):
        return _time_in(age)
    if isinstance(age, datetime):
        return epoch_ms(age)
    age = instance("older_than", age, timedelta, _AGES)
    if age < timedelta(0):
        raise InvalidInputError(f"older_than must not be negative, but {age} was given.")
    return system_clock() - age // timedelta(milliseconds=1)


def _time_in(text: str) -> int:
    """A time, or the time a duration ago, in epoch milliseconds."""
    moment = parse_epoch_ms(text)
    if moment is not None:
        return moment
    try:
        if not text.strip()[-1:].isalpha():
            raise invalid_argument("older_than", text, _AGES)
        return system_clock() - parse_duration(text)
    except UnreadableValueError as error:
        raise invalid_argument("older_than", text, _AGES) from error
