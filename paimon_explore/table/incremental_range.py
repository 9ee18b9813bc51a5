"""Incremental reads: the range of commits between two points, and the mode of the read.

Spec: flink/sql-query, incremental queries; `incremental-between*`, `scan.mode`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from paimon_explore.arguments import integer, invalid_argument
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode, StartupMode
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_SCAN_MODE,
    INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    SCAN_MODE,
)
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.incremental import SnapshotRange, change_mode
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import epoch_ms, parse_epoch_ms

_ENDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Increment:
    """The changes between two points.

    Attributes:
        span: the commits.
        mode: how the changes are determined. `auto` reads commit by commit, such that replaying the
            changes gives the rows of the table.
        tagged: the snapshots of the named tags, by id; they may have expired.
        times: the points as times (epoch ms), if times were given instead of snapshots.
    """

    span: SnapshotRange
    mode: IncrementalBetweenScanMode
    tagged: Mapping[int, Snapshot] = field(default_factory=dict)
    times: tuple[int, int] | None = None

    def span_of(self, target: ScanTarget) -> SnapshotRange:
        """Return the commits of a branch, for tables whose rows are in several branches."""
        if self.times is None:
            return self.span
        start, end = (_number_at(target, moment) for moment in self.times)
        return SnapshotRange(start=start, end=end)


def increment_between(
    target: ScanTarget,
    start: int | str | datetime,
    end: int | str | datetime,
    mode: str | IncrementalBetweenScanMode = IncrementalBetweenScanMode.AUTO,
) -> Increment:
    """Return the increment after `start` up to `end`: snapshot ids, names of tags, or times.

    Args:
        target: the table.
        start: its own changes are not included.
        end: its changes are included.
        mode: how the changes are determined. `auto` compares the two states, whatever commits are
            between them; where a state has expired, it reads the changes of the commits.

    Raises:
        NotFoundError: there is no such tag, or the end does not exist.
        InvalidInputError: the end is before the start; an unknown mode.
    """
    first, last = _point("start", start, target), _point("end", end, target)
    found = _span(target, first[0], last[0], _mode_of(mode))
    if first[1] is not None and last[1] is not None:
        found = replace(found, times=(first[1], last[1]))
    if found.mode is IncrementalBetweenScanMode.AUTO:
        return replace(found, mode=_complete_mode(target, found))
    return found


def _span(
    target: ScanTarget, start: int | str, end: int | str, mode: IncrementalBetweenScanMode
) -> Increment:
    tags = target.store.tags
    tagged = [tags.load(point).snapshot for point in (start, end) if isinstance(point, str)]
    first = tagged[0].id if isinstance(start, str) else start
    last = tagged[-1].id if isinstance(end, str) else end
    if first > last:
        raise InvalidInputError(
            f"The end of an incremental read, {end!r}, is before the start, {start!r}."
        )
    latest = target.store.snapshots.latest_id() or 0
    if last > latest:
        raise NotFoundError(
            "snapshot",
            last,
            hint=f"The latest snapshot is {latest}."
            if latest
            else "The table has no snapshot yet.",
        )
    return Increment(
        span=SnapshotRange(start=first, end=last),
        mode=mode,
        tagged={snapshot.id: snapshot for snapshot in tagged},
    )


def _point(
    name: str, point: int | str | datetime, target: ScanTarget
) -> tuple[int | str, int | None]:
    """Return a snapshot id or the name of a tag, and the time (epoch ms) if a time was given."""
    if isinstance(point, str | datetime):
        is_tag = isinstance(point, str) and point in target.store.tags.names()
        moment = epoch_ms(point) if isinstance(point, datetime) else parse_epoch_ms(point)
        if not is_tag and moment is not None:
            return _number_at(target, moment), moment
        return str(point), None
    try:
        return integer(name, point, minimum=0), None
    except InvalidInputError as error:
        allowed = "a snapshot id, the name of a tag or a time"
        raise invalid_argument(name, point, allowed) from error


def _mode_of(mode: str | IncrementalBetweenScanMode) -> IncrementalBetweenScanMode:
    try:
        return IncrementalBetweenScanMode(mode)
    except ValueError as error:
        known = choices(m.value for m in IncrementalBetweenScanMode)
        raise invalid_argument("mode", mode, f"one of {known}") from error


def commit_mode(mode: str) -> IncrementalBetweenScanMode:
    """Return the mode for reading commit by commit.

    Raises:
        InvalidInputError: an unknown mode, or `diff`, which compares two points.
    """
    found = _mode_of(mode)
    if found is IncrementalBetweenScanMode.DIFF:
        raise InvalidInputError(
            "mode='diff' cannot be used to read the changes commit by commit, because it only "
            "compares two snapshots.",
            hint="Use between(start, end, mode='diff').",
        )
    return found


def _complete_mode(target: ScanTarget, increment: Increment) -> IncrementalBetweenScanMode:
    """The cheapest mode that finds exactly the difference between two states."""
    if _only_adds(target, increment.span):
        return IncrementalBetweenScanMode.DELTA
    snapshots = target.store.snapshots
    ends = (increment.span.start, increment.span.end)
    if all(n == 0 or n in increment.tagged or snapshots.find(n) is not None for n in ends):
        return IncrementalBetweenScanMode.DIFF
    return IncrementalBetweenScanMode.AUTO


def _only_adds(target: ScanTarget, span: SnapshotRange) -> bool:
    """Whether the added rows are the whole difference: no primary key, nothing replaced."""
    if (
        bool(target.schema.primary_keys)
        or bool(target.options.value(DATA_EVOLUTION_ENABLED))
        or len(branches_read(target)) > 1
    ):
        return False
    found = (target.store.snapshots.find(n) for n in range(span.start + 1, span.end + 1))
    return all(s is not None and s.commit_kind is not CommitKind.OVERWRITE for s in found)


def _java_mode(
    target: ScanTarget, start: int | str, mode: IncrementalBetweenScanMode
) -> IncrementalBetweenScanMode:
    """The mode that `auto` means in Java: compare two tags, otherwise read the written files."""
    if mode is not IncrementalBetweenScanMode.AUTO:
        return mode
    as_snapshots = target.options.value(INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)
    if isinstance(start, str) and not as_snapshots:
        return IncrementalBetweenScanMode.DIFF
    return change_mode(target)


def increment_of(target: ScanTarget) -> Increment | None:
    """Return the increment of the `incremental-between*` options; None if they are not set.

    That of `scan.mode` = `latest-delta` is the latest snapshot.

    The options mean the same as in Java: mode `auto` reads the files that APPEND commits added, or
    changelog files, and skips OVERWRITE commits, unlike `increment_between`.

    Raises:
        NotFoundError: there is no such tag or snapshot.
        InvalidInputError: not two points, or the second before the first; `scan.mode=incremental`
            without points; a name that is not the name of an automatic tag.
    """
    options = target.options
    if options.value(SCAN_MODE) is StartupMode.LATEST_DELTA:
        for other in (INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_TIMESTAMP, INCREMENTAL_TO_AUTO_TAG):
            if options.has(other):
                msg = f"{other.key!r} cannot be combined with {SCAN_MODE.key!r} = 'latest-delta'."
                raise InvalidInputError(msg)
        latest = target.store.snapshots.latest_id() or 0
        newest = SnapshotRange(start=max(latest - 1, 0), end=latest)
        return Increment(span=newest, mode=IncrementalBetweenScanMode.DELTA)
    tag = options.value(INCREMENTAL_TO_AUTO_TAG)
    if tag is not None:
        return _to_auto_tag(target, tag)
    points, times = (options.value(o) for o in (INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_TIMESTAMP))
    if not points and not times:
        if options.value(SCAN_MODE) is StartupMode.INCREMENTAL:
            msg = f"{SCAN_MODE.key!r} = 'incremental' requires option {INCREMENTAL_BETWEEN.key!r}."
            raise InvalidInputError(msg)
        return None
    given = points or times
    if len(given) != _ENDS:
        msg = f"An incremental read requires a start and an end, not {','.join(given)!r}."
        raise InvalidInputError(msg, hint="Write the start and the end as '3,7'.")
    named = None if points else (_moment(given[0]), _moment(given[1]))
    start, end = (
        _points(target, given)
        if named is None
        else (_number_at(target, moment) for moment in named)
    )
    mode = options.value(INCREMENTAL_BETWEEN_SCAN_MODE)
    return replace(_span(target, start, end, _java_mode(target, start, mode)), times=named)


def _to_auto_tag(target: ScanTarget, name: str) -> Increment:
    """The increment from the previous automatic tag to one; empty if either does not exist."""
    from paimon_explore.data_types.local_time import local_now
    from paimon_explore.maintenance.references.auto_tags import automatic_tags, periods_of

    periods = periods_of(target.options)
    end = periods.begin(name)
    if end is None:
        msg = f"Option {INCREMENTAL_TO_AUTO_TAG.key!r} is {name!r}, which is not an automatic tag."
        raise InvalidInputError(
            msg, hint=f"Use a name such as {periods.name(periods.before(local_now()))!r}."
        )
    begins = {
        begin: tag.name
        for tag in automatic_tags(target.store, target.options)
        if (begin := periods.begin(tag.name)) is not None and begin <= end
    }
    earlier = max((begin for begin in begins if begin < end), default=None)
    if end not in begins or earlier is None:
        none = SnapshotRange(start=0, end=0)
        return Increment(span=none, mode=IncrementalBetweenScanMode.DELTA)
    mode = target.options.value(INCREMENTAL_BETWEEN_SCAN_MODE)
    start = begins[earlier]
    return _span(
        target,
        start,
        name,
        IncrementalBetweenScanMode.DIFF if mode is IncrementalBetweenScanMode.AUTO else mode,
    )


def _points(target: ScanTarget, texts: Sequence[str]) -> list[int | str]:
    """The names of tags; a number is a snapshot id unless all are names of tags, as in Java."""
    if set(texts) <= set(target.store.tags.names()):
        return list(texts)
    return [int(text) if text.isascii() and text.isdigit() else text for text in texts]


def _moment(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else epoch_ms(text)


def _number_at(target: ScanTarget, moment: int) -> int:
    """The id of the latest snapshot at or before a time, or the number before the first id."""
    number = (target.store.snapshots.earliest_id() or 1) - 1
    for snapshot in target.store.snapshots.list():
        if snapshot.time_millis > moment:
            break
        number = snapshot.id
    return number
