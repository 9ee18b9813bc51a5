"""Follows a table: finds out with small requests whether there are new snapshots.

A poll reads the latest known snapshot again and looks for the next one. Only if one of both has
changed, the whole timeline is read. Every `POLLS_PER_READ`-th poll reads it in any case, which also
finds new tags, consumers that moved on, and snapshots that expired without a commit.
"""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.errors import NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.snapshot import Snapshot

POLLS_PER_READ = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineUpdate(JsonMembers):
    """What a poll of a table found.

    Attributes:
        added: ids of new snapshots, and of those that were replaced after a rollback.
        removed: ids of snapshots that expired or were rolled back, replaced ones included.
        selected: the snapshot to select: the newest one if the newest was selected, else the same,
            or the nearest existing one; 0 if there is none.
        was_removed: whether the selected snapshot is among the removed ones.
        changed: whether the timeline differs in any way, such as a new tag.
    """

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    selected: int = 0
    was_removed: bool = False
    changed: bool = False


def is_current(inspector: Inspector) -> bool:
    """Whether the latest snapshot of the timeline is unchanged and still the latest one.

    Raises:
        StorageError: the snapshot folder cannot be read.
        PaimonError: the latest snapshot cannot be read.
    """
    snapshots = inspector.view.store.snapshots
    marks = inspector.timeline().marks
    known = marks[-1].snapshot if marks and not marks[-1].expired else None
    return snapshots.latest() is None if known is None else snapshots.is_latest(known)


def read_again(inspector: Inspector) -> Inspector:
    """Read the timeline and the latest schema again; file lists already read are reused.

    Raises:
        NotFoundError: the table or branch, which had snapshots, no longer exists.
        StorageError: the snapshot folder cannot be listed.
        PaimonError: the latest schema cannot be read.
    """
    view = inspector.view
    schema = view.store.schemas.latest()
    found = Inspector(replace(view, schema=schema or view.schema))
    if schema is None and len(inspector.timeline()) and not len(found.timeline()):
        message = f"Table {view.name} no longer exists: {view.location} has no schema any more."
        raise NotFoundError("table", view.name, message=message)
    found.history.reuse(inspector.history)
    return found


def compare_timelines(before: Timeline, after: Timeline, selected: int) -> TimelineUpdate:
    """Compare the timelines of two polls.

    Args:
        before: the known timeline.
        after: the timeline now.
        selected: the selected snapshot.
    """
    old, new = _snapshots(before), _snapshots(after)
    changed = {number for number in old.keys() & new.keys() if old[number] != new[number]}
    added = sorted((new.keys() - old.keys()) | changed)
    removed = sorted((old.keys() - new.keys()) | changed)
    follows = selected == max(old, default=0)
    return TimelineUpdate(
        added=tuple(added),
        removed=tuple(removed),
        selected=max(new, default=0) if follows else _nearest(selected, new),
        was_removed=selected in removed,
        changed=(before.marks, before.flags) != (after.marks, after.flags),
    )


def _snapshots(timeline: Timeline) -> Mapping[int, Snapshot | None]:
    return {mark.snapshot_id: mark.snapshot for mark in timeline.marks}


def _nearest(selected: int, known: Mapping[int, Snapshot | None]) -> int:
    """The selected snapshot if it exists, else the one before it, else the first."""
    if not selected:
        return 0
    earlier = [number for number in known if number <= selected]
    return max(earlier) if earlier else min(known, default=0)
