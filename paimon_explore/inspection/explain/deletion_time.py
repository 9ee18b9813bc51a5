"""The earliest time at which a file may be deleted under the current table options."""

from collections.abc import Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.file_references import Reference
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.inspection.rendering.number_format import plural, time_text
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.options.table_options import (
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
)

_DAY_MS = 86_400_000


def orphan_age_ms() -> int:
    """Minimum age of an orphan file, so that files of running commits are not removed."""
    return _DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionTime:
    """When a file may be deleted.

    Attributes:
        text: a sentence with time and conditions.
        from_ms: earliest time, epoch milliseconds; None if it depends on tags or consumers.
        commits: number of further commits required before.
    """

    text: str
    from_ms: int | None = None
    commits: int = 0


def deletion_time(
    view: TableView,
    timeline: Timeline,
    others: Sequence[str],
    found: Sequence[Reference],
    now_ms: int,
) -> DeletionTime:
    """The time at which the last reference to a file ends.

    Args:
        view: the table.
        timeline: its snapshots.
        others: descriptions of the tags, consumers and changelogs that reference it.
        found: all references to it.
        now_ms: current time, epoch milliseconds.
    """
    mine = [one for one in found if one.branch == view.branch and one.holder == "snapshots"]
    if any(one.removed is None and one.snapshots for one in mine):
        text = "not yet: the latest snapshot contains the file; a commit must remove it first"
        return DeletionTime(text=text)
    kept = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    last = max((end for one in mine for _, end in one.snapshots), default=None)
    also = f"when no longer referenced by {', '.join(others[:4])}" if others else ""
    if last is None:
        return DeletionTime(text=also or "now: no snapshot references the file")
    expiry = _of_expiry(view, timeline, last, kept[-1], now_ms)
    return DeletionTime(
        text=f"{expiry.text}, and {also}" if also else expiry.text,
        from_ms=None if others else expiry.from_ms,
        commits=expiry.commits,
    )


def _of_expiry(
    view: TableView, timeline: Timeline, last: int, newest: int, now_ms: int
) -> DeletionTime:
    """The time at which snapshot `last` may expire, by age and count; see `snapshot_expiry`."""
    options = view.options
    retain_min = options.value(SNAPSHOT_NUM_RETAINED_MIN)
    commits = max(0, last + retain_min - newest)
    beyond = newest - options.value(SNAPSHOT_NUM_RETAINED_MAX) + 1 > last
    next_one = [m.snapshot for m in timeline.marks if m.snapshot_id == last + 1 and m.snapshot]
    moment = next_one[0].time_millis + options.value(SNAPSHOT_TIME_RETAINED) if next_one else now_ms
    moment = now_ms if beyond else moment
    waits = []
    if commits:
        key = SNAPSHOT_NUM_RETAINED_MIN.key
        waits.append(f"after {plural(commits, 'more commit')} ({key} = {retain_min})")
    if moment > now_ms:
        waits.append(f"from {time_text(moment)} on ({SNAPSHOT_TIME_RETAINED.key})")
    when = " and ".join(waits) or "which may happen now"
    text = f"when snapshot {last} expires, {when}"
    return DeletionTime(text=text, from_ms=moment, commits=commits)
