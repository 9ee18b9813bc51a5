"""Automatic tags: the first snapshot after the end of each period is tagged.

The time of a snapshot is its commit time or its watermark. The tag `2024-01-01` is created for the
first snapshot after the end of that day plus `tag.creation-delay`. Only snapshots after the latest
automatic tag are considered, so the tags themselves are the only state.

In batch mode each commit moves the tag `batch-write-<day>` to its snapshot.

Spec: maintenance/manage-tags, automatic creation.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from paimon_explore.data_types.local_time import in_zone, utc_moment
from paimon_explore.errors import AlreadyExistsError, InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.references.tag_operations import (
    TagRequest,
    create_tag,
    delete_tag,
    expire_tags,
)
from paimon_explore.metadata.options import tag_options as opt
from paimon_explore.metadata.options.option_definition import Option
from paimon_explore.metadata.options.option_enums import (
    TagCreationMode,
    TagCreationPeriod,
    TagPeriodFormatter,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.table_store import TableStore

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - periods count in wall clock time
_BATCH = "batch-write-"
_YEAR_10000_MS = 253_402_300_800_000
_PERIODS = {
    TagCreationPeriod.DAILY: timedelta(days=1),
    TagCreationPeriod.HOURLY: timedelta(hours=1),
    TagCreationPeriod.TWO_HOURS: timedelta(hours=2),
}
_DAYS = {TagPeriodFormatter.WITH_DASHES: "%Y-%m-%d"}
_HOURS = {
    TagPeriodFormatter.WITH_DASHES: "%Y-%m-%d %H",
    TagPeriodFormatter.WITHOUT_DASHES: "%Y%m%d %H",
    TagPeriodFormatter.WITHOUT_DASHES_AND_SPACES: "%Y%m%d%H",
}
_MINUTES = "%Y%m%d%H%M"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPeriods:
    """The periods of automatic tags.

    Attributes:
        length: length of a period.
        formatter: `strftime` format of the tag name for the start of a period.
        delay: time after the end of a period until it is complete.
    """

    length: timedelta
    formatter: str
    delay: timedelta = timedelta(0)

    def before(self, time: datetime) -> datetime:
        """Return the start of the last period that ended before a time."""
        return time - (time - _EPOCH) % self.length - self.length

    def after(self, begin: datetime) -> datetime:
        """Return the start of the next period."""
        return begin + self.length

    def is_over(self, begin: datetime, time: datetime) -> bool:
        """Whether a period is complete at a time."""
        return time - self.delay >= self.after(begin)

    def name(self, begin: datetime) -> str:
        """Return the tag name of a period."""
        return begin.strftime(self.formatter)

    def begin(self, name: str) -> datetime | None:
        """Return the start of a tag's period; None for names of other tags."""
        try:
            begin = datetime.strptime(name, self.formatter)  # noqa: DTZ007 - wall clock
        except ValueError:
            return None
        return begin if self.name(begin) == name else None


def periods_of(options: TableOptions) -> TagPeriods:
    """Return the tag periods configured by the options.

    Raises:
        InvalidInputError: the delay is not shorter than a period.
    """
    delay = timedelta(milliseconds=options.value(opt.TAG_CREATION_DELAY))
    given_ms = options.value(opt.TAG_CREATION_PERIOD_DURATION)
    period = options.value(opt.TAG_CREATION_PERIOD)
    formatter = options.value(opt.TAG_PERIOD_FORMATTER)
    if given_ms is not None:
        periods = TagPeriods(
            length=timedelta(milliseconds=given_ms), formatter=_MINUTES, delay=delay
        )
    elif period is TagCreationPeriod.DAILY:
        text = _DAYS.get(formatter, "%Y%m%d")
        periods = TagPeriods(length=_PERIODS[period], formatter=text, delay=delay)
    else:
        periods = TagPeriods(length=_PERIODS[period], formatter=_HOURS[formatter], delay=delay)
    if periods.length <= delay:
        raise InvalidInputError(
            f"Option {opt.TAG_CREATION_DELAY.key!r} is {delay}, but it must be shorter than the "
            f"tag creation period {periods.length}."
        )
    return periods


def create_auto_tags(store: TableStore, options: TableOptions) -> list[Tag]:
    """Create missing automatic tags, and expire tags by number and age.

    Args:
        store: the table and branch.
        options: effective options.

    Returns:
        The new tags; empty if `tag.automatic-creation` is `none`.

    Raises:
        InvalidInputError: the options contradict each other.
    """
    mode = options.value(opt.TAG_AUTOMATIC_CREATION)
    if mode is TagCreationMode.NONE:
        return []
    if mode is TagCreationMode.BATCH:
        return _create_batch_tag(store, options)
    created = list(_create_missing_tags(store, options, periods_of(options)))
    if created:
        _keep_newest(store, options, automatic_tags(store, options))
        if options.value(opt.TAG_TIME_EXPIRE_ENABLED):
            expire_tags(store, options)
    return created


def automatic_tags(store: TableStore, options: TableOptions) -> list[Tag]:
    """Return the tags that are named after periods, ordered by snapshot."""
    periods = periods_of(options)
    return [tag for tag in store.tags.list() if periods.begin(tag.name) is not None]


def _create_missing_tags(
    store: TableStore, options: TableOptions, periods: TagPeriods
) -> Iterator[Tag]:
    tagged = automatic_tags(store, options)
    last = tagged[-1] if tagged else None
    next_begin = None
    if last is not None:
        begins = [begin for tag in tagged if (begin := periods.begin(tag.name)) is not None]
        next_begin = periods.after(max(begins))
    completes = options.value(opt.TAG_AUTOMATIC_COMPLETION)
    for snapshot in _untagged(store, 0 if last is None else last.snapshot.id):
        time = time_of(snapshot, options)
        while time is not None and (next_begin is None or periods.is_over(next_begin, time)):
            begin = next_begin if completes and next_begin is not None else periods.before(time)
            with suppress(AlreadyExistsError):  # a manual tag of that name is kept
                yield create_tag(
                    store, options, TagRequest(name=periods.name(begin), snapshot_id=snapshot.id)
                )
            next_begin = periods.after(begin)
            if not completes:
                break


def _untagged(store: TableStore, after_id: int) -> Iterator[Snapshot]:
    for snapshot_id in store.snapshots.history():
        if snapshot_id > after_id:
            found = store.snapshots.find(snapshot_id)
            if found is not None:
                yield found


def time_of(snapshot: Snapshot, options: TableOptions) -> datetime | None:
    """Return the local time of a snapshot for automatic tags; None without a watermark.

    Raises:
        InvalidInputError: the time zone is unknown.
    """
    if options.value(opt.TAG_AUTOMATIC_CREATION) is not TagCreationMode.WATERMARK:
        return _commit_time(snapshot, options)
    if snapshot.watermark is None or not 0 <= snapshot.watermark < _YEAR_10000_MS:
        return None
    zone = _time_zone(opt.SINK_WATERMARK_TIME_ZONE, options)
    return in_zone(utc_moment(snapshot.watermark), zone).replace(tzinfo=None)


def _commit_time(snapshot: Snapshot, options: TableOptions) -> datetime:
    """Return the commit time in the time zone of the option, by default in local time."""
    zone = _time_zone(opt.SINK_PROCESS_TIME_ZONE, options)
    zoned = in_zone(utc_moment(snapshot.time_millis), zone)
    return zoned.replace(tzinfo=None)


def _time_zone(option: Option[str] | Option[str | None], options: TableOptions) -> ZoneInfo | None:
    name = options.value(option)
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        msg = f"Option {option.key!r} is {name!r}, which is not a time zone."
        raise InvalidInputError(msg, hint="Use a name such as Europe/Berlin.") from error


def _keep_newest(store: TableStore, options: TableOptions, tags: list[Tag]) -> None:
    limit = options.value(opt.TAG_NUM_RETAINED_MAX)
    if limit is not None:
        for tag in tags[: max(len(tags) - limit, 0)]:
            delete_tag(store, options, tag.name)


def _create_batch_tag(store: TableStore, options: TableOptions) -> list[Tag]:
    newest = store.snapshots.latest()
    if newest is None:
        return []
    day = _commit_time(newest, options)
    given = options.value(opt.TAG_BATCH_CUSTOMIZED_NAME)
    name = given if given is not None else f"{_BATCH}{day:%Y-%m-%d}"
    request = TagRequest(name=name, snapshot_id=newest.id)
    tag = create_tag(store, options, request, replaces=store.tags.find(name) is not None)
    _keep_newest(store, options, [tag for tag in store.tags.list() if tag.name.startswith(_BATCH)])
    return [tag]
