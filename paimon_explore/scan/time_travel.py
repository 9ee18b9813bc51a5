"""Time travel: the snapshot that a read uses.

At most one of snapshot id, tag, timestamp, watermark and version is given; without any, the latest
snapshot is read. Spec: maintenance/time-travel, `scan.*` options.
"""

import re
from dataclasses import field, replace
from datetime import date, datetime, time, timedelta
from typing import TypeAlias, assert_never

import numpy as np

from paimon_explore.arguments import integer, invalid_argument, python_value
from paimon_explore.data_types.local_time import in_zone, local_moment
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import ChangelogProducer, StartupMode
from paimon_explore.metadata.options.table_options import (
    CHAIN_TABLE_CHAIN_PARTITION_KEYS,
    CHAIN_TABLE_ENABLED,
    CHANGELOG_PRODUCER,
    FULL_COMPACTION_DELTA_COMMITS,
    SCAN_CREATION_TIME_MILLIS,
    SCAN_FALLBACK_BRANCH,
    SCAN_FALLBACK_DELTA_BRANCH,
    SCAN_FALLBACK_SNAPSHOT_BRANCH,
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_MODE,
    SCAN_PRIMARY_BRANCH,
    SCAN_SNAPSHOT_ID,
    SCAN_TAG_NAME,
    SCAN_TIMESTAMP,
    SCAN_TIMESTAMP_MILLIS,
    SCAN_VERSION,
    SCAN_WATERMARK,
    TableOptions,
)
from paimon_explore.metadata.schema.scan_option_validation import startup_mode
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import (
    BATCH_COMMIT_IDENTIFIER,
    NO_WATERMARK,
    CommitKind,
    Snapshot,
)
from paimon_explore.scan.commit_times import first_created
from paimon_explore.store.table_store import TableStore

TimestampLike: TypeAlias = date | np.datetime64 | str | int | np.integer
"""Any supported form of a point in time; see `epoch_ms`."""

_BRANCH_OPTIONS = (
    SCAN_FALLBACK_BRANCH,
    SCAN_PRIMARY_BRANCH,
    CHAIN_TABLE_ENABLED,
    CHAIN_TABLE_CHAIN_PARTITION_KEYS,
    SCAN_FALLBACK_SNAPSHOT_BRANCH,
    SCAN_FALLBACK_DELTA_BRANCH,
)
_CREATION_OPTIONS = {
    StartupMode.FROM_FILE_CREATION_TIME: SCAN_FILE_CREATION_TIME_MILLIS,
    StartupMode.FROM_CREATION_TIMESTAMP: SCAN_CREATION_TIME_MILLIS,
}
"""Scan mode -> the option that it needs."""
_DATE = re.compile(r"\d{4}-\d{1,2}-\d[\d T:.+Z-]*")
"""Text that is meant as a date or a time."""
_WATERMARK_VERSION = re.compile(r"watermark-(-?\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTravel:
    """The point in a table's history to read.

    Attributes:
        snapshot: a snapshot id.
        tag: a tag's name.
        timestamp_ms: epoch milliseconds: the newest snapshot committed at or before this time.
        watermark: the first snapshot whose watermark is at least this.
        version: text of `scan.version`: a tag's name, `watermark-<n>`, or a snapshot id.
        compacted: read the newest COMPACT snapshot instead of the latest; not a fixed point.
        compacted_every: of these only the full compactions, which are made every so many commits.
        created_ms: epoch milliseconds of `from-creation-timestamp`: the first snapshot at or after
            this time, if the earliest is older, else the latest; not a fixed point.
        before_first: read the empty state before the first snapshot; not a fixed point.
        found: the resolved snapshot, once pinned.
    """

    snapshot: int | None = None
    tag: str | None = None
    timestamp_ms: int | None = None
    watermark: int | None = None
    version: str | None = None
    compacted: bool = False
    compacted_every: int | None = None
    created_ms: int | None = None
    before_first: bool = False
    found: Snapshot | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuses more than one point in time."""
        given = self.given
        if len(given) > 1:
            shown = " and ".join(self.shown)
            msg = f"Exactly one point in time may be given, but {shown} were given."
            raise InvalidInputError(msg)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the fields that are set; empty for the latest snapshot."""
        points = {
            "snapshot": self.snapshot,
            "tag": self.tag,
            "timestamp_ms": self.timestamp_ms,
            "watermark": self.watermark,
            "version": self.version,
        }
        return tuple(name for name, point in points.items() if point is not None)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the arguments that are given, as in `Table.at`."""
        return tuple(name.removesuffix("_ms") for name in self.given)

    def pinned(self, store: TableStore) -> "TimeTravel":
        """The same point with its snapshot resolved.

        Raises:
            NotFoundError: the snapshot or tag does not exist, or no snapshot is that old.
        """
        return replace(self, found=resolve(store, self)) if self.given else self


NEWEST = TimeTravel()
"""No point in time: the latest snapshot."""


def asked_point(store: TableStore, given: TimeTravel, point: object, method: str) -> TimeTravel:
    """The point in time that the arguments of a method give.

    Args:
        store: the table.
        given: what the arguments with a name give.
        point: the argument without a name: a snapshot or its id, text as in `Table.at`, or a date
            or datetime.
        method: its name, for errors.

    Raises:
        InvalidInputError: not exactly one argument is given, or it is no point in time.
    """
    if point is not None and given.given:
        shown = " and ".join([repr(point), *given.shown])
        msg = f"{method}() accepts a single point in time, but {shown} were given."
        raise InvalidInputError(msg)
    asked = given if point is None else _point(store, python_value(point))
    if not asked.given:
        hint = "Pass a snapshot, tag or timestamp."
        raise InvalidInputError(f"{method}() needs a point in time.", hint=hint)
    return asked


def _point(store: TableStore, point: object) -> TimeTravel:
    if isinstance(point, date):
        return TimeTravel(timestamp_ms=epoch_ms(point))
    if isinstance(point, Snapshot):
        return TimeTravel(snapshot=point.id)
    if isinstance(point, str):
        moment = None if point.strip().isdigit() else parse_epoch_ms(point)
        is_tag = point in store.tags.names()
        if moment is None and not is_tag and _DATE.fullmatch(point):
            epoch_ms(point)  # which raises
        if moment is None or is_tag:
            return TimeTravel(version=point)
        return TimeTravel(timestamp_ms=moment)
    try:
        return TimeTravel(snapshot=integer("point", point))
    except InvalidInputError as error:
        allowed = "a snapshot id, the name of a tag or a time"
        raise invalid_argument("point", point, allowed) from error


def travel_of(options: TableOptions) -> TimeTravel:
    """The point in time that the `scan.*` options specify for a batch read.

    Raises:
        InvalidInputError: more than one is given, or `scan.mode` contradicts the others.
    """
    moment = options.value(SCAN_TIMESTAMP)
    millis = options.value(SCAN_TIMESTAMP_MILLIS)
    if moment is not None and millis is not None:
        msg = (
            f"Options {SCAN_TIMESTAMP.key!r} and {SCAN_TIMESTAMP_MILLIS.key!r} cannot be combined."
        )
        raise InvalidInputError(msg)
    mode = options.value(SCAN_MODE)
    since = _CREATION_OPTIONS.get(mode)
    if since is not None and not options.has(since):
        raise InvalidInputError(
            f"Option {SCAN_MODE.key!r} = {mode.value!r} needs option {since.key!r}."
        )
    travel = TimeTravel(
        snapshot=options.value(SCAN_SNAPSHOT_ID),
        tag=options.value(SCAN_TAG_NAME),
        timestamp_ms=millis if moment is None else epoch_ms(moment),
        watermark=options.value(SCAN_WATERMARK),
        version=options.value(SCAN_VERSION),
        compacted=mode is StartupMode.COMPACTED_FULL,
        compacted_every=_full_compactions(options),
        created_ms=_created_ms(options),
    )
    _check_mode(mode, travel.given)
    return travel


def _full_compactions(options: TableOptions) -> int | None:
    """Every how many commits a full compaction is made; None if that is not set."""
    every = options.value(FULL_COMPACTION_DELTA_COMMITS)
    # compared as text, because producers of later versions do not matter here
    producer = options.texts.get(CHANGELOG_PRODUCER.key, "").lower()
    return 1 if every is None and producer == ChangelogProducer.FULL_COMPACTION.value else every


def _created_ms(options: TableOptions) -> int | None:
    """The time of mode `from-creation-timestamp`, which is also the mode if only it is set."""
    moment = options.value(SCAN_CREATION_TIME_MILLIS)
    if moment is None or startup_mode(options) is not StartupMode.FROM_CREATION_TIMESTAMP:
        return None
    return moment


def created_since(store: TableStore, options: TableOptions) -> int | None:
    """Epoch milliseconds since when the files were created that a read uses; None for all files."""
    since = options.value(SCAN_FILE_CREATION_TIME_MILLIS)
    if since is not None:
        return since
    moment = _created_ms(options)
    return moment if moment is not None and first_created(store, moment) is None else None


def _check_mode(mode: StartupMode, given: tuple[str, ...]) -> None:
    """Refuses a mode without its point in time, or a point in time that the mode excludes."""
    match mode:
        case StartupMode.DEFAULT | StartupMode.INCREMENTAL:
            return
        case StartupMode.FROM_TIMESTAMP:
            fits, wants = (
                given == ("timestamp_ms",),
                f"needs a timestamp option, such as {SCAN_TIMESTAMP_MILLIS.key!r}",
            )
        case StartupMode.FROM_SNAPSHOT | StartupMode.FROM_SNAPSHOT_FULL:
            fits = bool(given) and given != ("timestamp_ms",)
            wants = f"needs an option such as {SCAN_SNAPSHOT_ID.key!r} or {SCAN_TAG_NAME.key!r}"
        case (
            StartupMode.LATEST
            | StartupMode.LATEST_DELTA
            | StartupMode.LATEST_FULL
            | StartupMode.FULL
            | StartupMode.COMPACTED_FULL
            | StartupMode.FROM_FILE_CREATION_TIME
            | StartupMode.FROM_CREATION_TIMESTAMP
        ):
            fits, wants = not given, "cannot be combined with a point in time"
        case _:
            assert_never(mode)
    if not fits:
        found = " and ".join(name.removesuffix("_ms") for name in given) or "none"
        msg = f"Option {SCAN_MODE.key!r} = {mode.value!r} {wants}, but {found} is given."
        raise InvalidInputError(msg)


def epoch_ms(moment: TimestampLike) -> int:
    """Converts a timestamp to epoch milliseconds.

    Args:
        moment: ISO text such as `2026-11-20 10:00` or `2026-11-20T10:00:00.5+01:00`, a datetime of
            Python, pandas or NumPy, a date (its midnight), or epoch milliseconds; without a zone
            it is local time, as everywhere in Paimon.

    Raises:
        InvalidInputError: it is not a valid time.

    >>> epoch_ms("2026-11-20 10:00:00.250+00:00"), epoch_ms("0001-01-01 00:00+01:00")
    (1795168800250, -62135600400000)
    """
    if isinstance(moment, int | np.integer) and not isinstance(moment, bool):
        return int(moment)
    found = _datetime_of(moment)
    wall = (found.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(milliseconds=1)  # noqa: DTZ001 - wall time
    return wall - _utc_offset(found, wall) // timedelta(milliseconds=1)


def _utc_offset(moment: datetime, wall_ms: int) -> timedelta:
    try:
        offset = moment.utcoffset() if moment.tzinfo is not None else None
        return in_zone(moment, None).utcoffset() or timedelta() if offset is None else offset
    except (OverflowError, ValueError):  # local times of the first and the last year
        return local_moment(wall_ms).utcoffset() or timedelta()


def parse_epoch_ms(text: str) -> int | None:
    """Epoch milliseconds of a text that `epoch_ms` accepts; None for any other text."""
    try:
        return epoch_ms(text)
    except InvalidInputError:
        return None


def _datetime_of(moment: object) -> datetime:
    try:
        match moment:
            case str():
                return datetime.fromisoformat(moment.strip())
            case datetime():  # pandas' Timestamp.astimezone() does not accept local time
                return datetime.combine(moment.date(), moment.timetz())
            case date():
                return datetime.combine(moment, time())
            case np.datetime64() if not np.isnat(moment):
                return datetime.fromisoformat(str(moment.astype("datetime64[us]")))
    except ValueError as error:
        raise _no_time(moment) from error
    raise _no_time(moment)


def _no_time(moment: object) -> InvalidInputError:
    return InvalidInputError(
        f"{moment!r} is not a valid timestamp.",
        hint="Write a timestamp such as '2026-11-20 10:00:00'.",
    )


def resolve(store: TableStore, travel: TimeTravel) -> Snapshot | None:
    """Returns the snapshot to read; None for a table without snapshots.

    Raises:
        NotFoundError: the snapshot or tag does not exist, or no snapshot is that old.
    """
    if travel.found is not None:
        return travel.found
    if travel.version is not None:
        travel = named_point(store, travel.version)
    if travel.snapshot is not None:
        return _by_id(store, travel.snapshot)
    if travel.tag is not None:
        return store.tags.load(travel.tag).snapshot
    if travel.timestamp_ms is not None:
        return _by_time(store, travel.timestamp_ms)
    if travel.watermark is not None:
        return _by_watermark(store, travel.watermark)
    return _moving(store, travel)


def _moving(store: TableStore, travel: TimeTravel) -> Snapshot | None:
    """The snapshot to read where no fixed point is given."""
    if travel.before_first:
        return None
    if travel.compacted:
        return _compacted(store, travel.compacted_every)
    first = None if travel.created_ms is None else first_created(store, travel.created_ms)
    return store.snapshots.latest() if first is None else store.snapshots.load(first)


def resolve_other(store: TableStore, travel: TimeTravel, pinned: Snapshot) -> Snapshot | None:
    """Returns the snapshot of another branch for a point in time of a table.

    Snapshot ids of two branches are unrelated, so a snapshot id or a tag is replaced by the commit
    time of its snapshot. A timestamp or watermark is looked up in the branch itself.
    Seen with the official Java 2.0.0, which differs in two cases: by a tag it finds no row of the
    other branch, because it looks up the tag of the main branch for both; and if all commits of the
    other branch are newer, it reads that branch's snapshot 1 (by snapshot id) or fails (by
    timestamp).

    Args:
        store: the other branch.
        travel: the requested point in time.
        pinned: the snapshot of the table that it resolves to.

    Returns:
        The newest snapshot committed at or before that time; None if there is none.

    Raises:
        NotFoundError: no snapshot of the branch has that watermark.
    """
    watermark = travel.watermark
    if travel.version is not None and (match := _WATERMARK_VERSION.fullmatch(travel.version)):
        watermark = int(match[1])
    if watermark is not None:
        return _by_watermark(store, watermark)
    timestamp_ms = pinned.time_millis if travel.timestamp_ms is None else travel.timestamp_ms
    return newest_until(store, timestamp_ms)


def _compacted(store: TableStore, every: int | None) -> Snapshot | None:
    """The newest COMPACT snapshot, else the latest snapshot.

    Full compactions are recognized by their commit identifier, as in Java: a multiple of the number
    of commits between them, or that of batch commits.
    """
    for number in reversed(store.snapshots.ids()):
        snapshot = store.snapshots.load(number)
        identifier = snapshot.commit_identifier
        is_full = not every or identifier % every == 0 or identifier == BATCH_COMMIT_IDENTIFIER
        if snapshot.commit_kind is CommitKind.COMPACT and is_full:
            return snapshot
    return store.snapshots.latest()


def pinned_options(store: TableStore, pinned: TableSchema) -> dict[str, str]:
    """The options for reading a pinned snapshot: those of its schema.

    Options that name other branches are taken from the latest schema, as in Java: they also apply
    to snapshots from before they were set.
    """
    newest = store.schemas.latest()
    if newest is None or newest.id == pinned.id:
        return dict(pinned.options)
    keys = {option.key for option in _BRANCH_OPTIONS}
    own = {key: value for key, value in pinned.options.items() if key not in keys}
    return own | {key: value for key, value in newest.options.items() if key in keys}


def named_point(store: TableStore, version: str) -> TimeTravel:
    """The tag, watermark or snapshot of a version.

    Raises:
        NotFoundError: there is no such tag, and it is none of the others.
    """
    if version in store.tags.names():
        return TimeTravel(tag=version)
    if match := _WATERMARK_VERSION.fullmatch(version):
        return TimeTravel(watermark=int(match[1]))
    if version.isascii() and version.isdigit():
        return TimeTravel(snapshot=int(version))
    raise NotFoundError(
        "version",
        version,
        hint="A version is the name of a tag, watermark-<n> or a snapshot id. "
        f"Tags: {choices(store.tags.names())}.",
    )


def _by_id(store: TableStore, snapshot_id: int) -> Snapshot:
    if snapshot_id in store.snapshots.all_ids():  # including orphan snapshots
        return store.snapshots.load(snapshot_id)
    held = [t.name for t in store.tags.list() if t.snapshot.id == snapshot_id]
    if held:
        hint = f"The snapshot expired, but tag {held[0]!r} keeps it: use tag={held[0]!r}."
    else:
        hint = _available(store.snapshots.ids())
    raise NotFoundError("snapshot", snapshot_id, hint=hint)


def _available(ids: list[int]) -> str:
    return (
        f"Available snapshots: {ids[0]} to {ids[-1]}." if ids else "The table has no snapshot yet."
    )


def _by_time(store: TableStore, timestamp_ms: int) -> Snapshot:
    """The newest snapshot with timeMillis at most the given one."""
    found = newest_until(store, timestamp_ms)
    if found is not None:
        return found
    ids = store.snapshots.ids()
    first = (
        f" The first snapshot was committed at {_local(store.snapshots.load(ids[0]).time_millis)}."
        if ids
        else ""
    )
    shown = _local(timestamp_ms)
    raise NotFoundError(
        "snapshot",
        f"at or before {shown}",
        message=f"There is no snapshot at or before {shown}.",
        hint=f"{_available(ids)}{first}",
    )


def newest_until(store: TableStore, timestamp_ms: int) -> Snapshot | None:
    """The newest snapshot with timeMillis at most the given one, by binary search over the ids."""
    ids = store.snapshots.ids()
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if store.snapshots.load(ids[middle]).time_millis <= timestamp_ms:
            low = middle + 1
        else:
            high = middle
    return store.snapshots.load(ids[low - 1]) if low else None


def _local(millis: int) -> str:
    return local_moment(millis).isoformat(sep=" ", timespec="milliseconds")


def _by_watermark(store: TableStore, watermark: int) -> Snapshot:
    ids = store.snapshots.ids()
    largest = NO_WATERMARK
    for snapshot_id in ids:
        snapshot = store.snapshots.load(snapshot_id)
        largest = max(largest, NO_WATERMARK if snapshot.watermark is None else snapshot.watermark)
        if NO_WATERMARK != largest >= watermark:
            return snapshot
    known = "none has one" if largest == NO_WATERMARK else f"the largest one is {largest}"
    raise NotFoundError(
        "snapshot",
        f"with watermark >= {watermark}",
        store.paths.branch_root,
        message=f"There is no snapshot with a watermark of at least {watermark} in "
        f"{store.paths.branch_root}: {known}.",
        hint=_available(ids),
    )
