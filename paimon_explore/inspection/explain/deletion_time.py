"""When a file may be deleted under the table's present options."""

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
    """How old a file that nothing names must be, so that no commit in the making needs it."""
    return _DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """When a file may be deleted.

    Attributes:
        text: the same in words, with what it depends on.
        from_ms: earliest moment, epoch milliseconds; None when no moment can be told.
        commits: how many more commits are needed first.
    """

    text: str
    from_ms: int | None = None
    commits: int = 0


def due_of(
    view: TableView,
    timeline: Timeline,
    others: Sequence[str],
    found: Sequence[Reference],
    now_ms: int,
) -> Due:
    """When the last of what holds a file lets go of it.

    Args:
        view: the table.
        timeline: its snapshots.
        others: what holds it beside snapshots, in words.
        found: who names it.
        now_ms: the present.
    """
    mine = [one for one in found if one.branch == view.branch and one.holder == "snapshots"]
    if any(one.removed is None and one.snapshots for one in mine):
        text = "never as it stands: the newest snapshot needs it until a commit replaces it"
        return Due(text=text)
    kept = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    last = max((end for one in mine for _, end in one.snapshots), default=None)
    also = f"once {', '.join(others[:4])} let go of it" if others else ""
    if last is None:
        return Due(text=also or "now: no snapshot needs it any more")
    due = _of_expiry(view, timeline, last, kept[-1], now_ms)
    return Due(
        text=f"{due.text}, and {also}" if also else due.text,
        from_ms=None if others else due.from_ms,
        commits=due.commits,
    )


def _of_expiry(view: TableView, timeline: Timeline, last: int, newest: int, now_ms: int) -> Due:
    """When the snapshot `last` may expire: by age and number; see `snapshot_expiry`."""
    options = view.options
    least = options.value(SNAPSHOT_NUM_RETAINED_MIN)
    commits = max(0, last + least - newest)
    beyond = newest - options.value(SNAPSHOT_NUM_RETAINED_MAX) + 1 > last
    next_one = [m.snapshot for m in timeline.marks if m.snapshot_id == last + 1 and m.snapshot]
    moment = next_one[0].time_millis + options.value(SNAPSHOT_TIME_RETAINED) if next_one else now_ms
    moment = now_ms if beyond else moment
    when = "" if moment <= now_ms else f"from {time_text(moment)} on, "
    text = f"{when}when snapshot {last} expires ({SNAPSHOT_TIME_RETAINED.key})"
    text = text if when or commits else f"now, {text}"
    if commits:
        rule = f"{SNAPSHOT_NUM_RETAINED_MIN.key} {least}"
        text = f"after {plural(commits, 'more commit')} ({rule}), {text}"
    return Due(text=text, from_ms=moment, commits=commits)
