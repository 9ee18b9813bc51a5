"""What a commit did, step by step, from the trace of our own commit code.

The steps are those that ran: collect changes, check for conflicts, merge manifests with thresholds
against actual sizes, write base list, new manifests and delta list, publish, hints; for a failure
what was removed, for a lost race what was kept and read again.
"""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.commit.commit_trace import CommitEvent, CommitStep
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    time_text,
)
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Frame,
    Grid,
    Section,
    facts,
    grid,
)

ACTS = {
    CommitStep.SKIP_EMPTY: "There is nothing to commit, so no snapshot is made.",
    CommitStep.LOOK_FOR_EARLIER: "Has this user committed this transaction before? Then nothing "
    "is done twice.",
    CommitStep.READ_LATEST: "The newest snapshot decides which number this commit wants.",
    CommitStep.PLAN_OVERWRITE: "The live files of the replaced partitions become DELETE entries.",
    CommitStep.CHECK_CONFLICTS: "Files that go must still be live, new ones must not overlap.",
    CommitStep.WRITE_BASE: "All manifests before this commit become the base list; small ones are "
    "merged where that pays.",
    CommitStep.ASSIGN_ROW_IDS: "New rows get the row ids that are free next.",
    CommitStep.WRITE_DELTA: "The changes become new manifests, and these the delta list.",
    CommitStep.WRITE_CHANGELOG: "Changelog files get manifests and a list of their own.",
    CommitStep.WRITE_INDEX: "Index files changed, so that their whole list is written anew.",
    CommitStep.PUBLISH: "The snapshot file is created, if there is none: the one act that makes "
    "everything visible.",
    CommitStep.WRITE_HINTS: "LATEST points at the new snapshot; a hint may lag, readers look on.",
    CommitStep.FAIL: "The error goes to the caller; nothing of this try is visible.",
    CommitStep.LOSE: "Another commit created that number first: this try is void.",
    CommitStep.DOUBT: "The storage gave no answer: from now on nothing may be removed.",
    CommitStep.WAIT: "A pause that grows with each try, so that not all try again at once.",
    CommitStep.CLEAN_UP: "Files that no snapshot will ever name are removed.",
    CommitStep.DONE: "Everybody who reads from now on sees the snapshot.",
}
"""What each step is for."""

_GOOD = {CommitStep.PUBLISH, CommitStep.DONE}
_BAD = {CommitStep.FAIL, CommitStep.LOSE, CommitStep.DOUBT}


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCommit:
    """The steps of what one call committed: one snapshot, two, or none.

    Attributes:
        table: the folder it was made to.
        events: the steps, in order.
    """

    table: str
    events: tuple[CommitEvent, ...]

    @property
    def snapshot_ids(self) -> tuple[int, ...]:
        """The snapshots that became visible."""
        return tuple(
            event.snapshot_id
            for event in self.events
            if event.step is CommitStep.DONE and event.snapshot_id is not None
        )

    @property
    def tries(self) -> int:
        """How often the newest snapshot was read."""
        return sum(event.step is CommitStep.READ_LATEST for event in self.events)

    @property
    def outcome(self) -> str:
        """What came of it, in a sentence."""
        made = self.snapshot_ids
        if made:
            names = " and ".join(map(str, made))
            again = f" after {self.tries} tries" if self.tries > len(made) else ""
            return f"snapshot{'s' if len(made) > 1 else ''} {names} made{again}"
        steps = {event.step for event in self.events}
        if CommitStep.SKIP_EMPTY in steps:
            return "nothing to commit"
        if CommitStep.FAIL in steps:
            return "failed, nothing is visible"
        if CommitStep.DOUBT in steps:
            return "in doubt: the storage did not say whether the snapshot was created"
        return "given up" if CommitStep.WAIT in steps else "done before, nothing to do"


def split_commits(heard: Sequence[tuple[str, CommitEvent]]) -> tuple[TracedCommit, ...]:
    """The commits that events belong to: a commit begins where a first try does."""
    found: list[TracedCommit] = []
    open_: dict[str, list[CommitEvent]] = {}

    def close(table: str) -> None:
        events = open_.pop(table, [])
        if events:
            found.append(TracedCommit(table=table, events=tuple(events)))

    for table, event in heard:
        mine = open_.get(table, [])
        begins = event.step is CommitStep.LOOK_FOR_EARLIER or event.step is CommitStep.SKIP_EMPTY
        first = event.step is CommitStep.READ_LATEST and event.attempt == 1
        looked = bool(mine) and mine[-1].step is CommitStep.LOOK_FOR_EARLIER
        if mine and (begins or (first and not looked)):
            close(table)
        open_.setdefault(table, []).append(event)
    for table in list(open_):
        close(table)
    return tuple(found)


def commit_sections(commit: TracedCommit, *, explained: bool = False) -> tuple[Section, ...]:
    """The steps of a commit, and how its manifests were merged.

    Args:
        commit: the commit.
        explained: whether each step says what it is for.
    """
    if not commit.events:
        return ()
    start = commit.events[0].time_millis
    spent = commit.events[-1].time_millis - start
    head = facts(
        ("outcome", commit.outcome),
        ("tries", commit.tries),
        ("time", f"{spent:,} ms from {time_text(start)}"),
    )
    return (head, steps_grid([commit], explained=explained), *_merges(commit))


def steps_grid(commits: Sequence[TracedCommit], *, explained: bool = False) -> Grid:
    """The steps of some commits, one after the other."""
    rows: list[tuple[Entry, ...]] = []
    for commit in commits:
        start = commit.events[0].time_millis
        for number, event in enumerate(commit.events, 1):
            step = Cell(text=event.step.value, tone=_tone(event.step))
            spent = event.time_millis - start
            did = figures_text(event)
            if explained:
                again = f"try {event.attempt}: " if event.attempt > 1 else ""
                why = ACTS.get(event.step, "")
                told = f"{again}{did}. {why}" if did else f"{again}{why}"
                rows.append((number, step, spent, told))
            else:
                rows.append((number, event.attempt or None, event.snapshot_id, step, spent, did))
    columns = ("#", "try#", "snapshot#", "step", "ms#", "did")
    shown = ("#", "step", "ms#", "did") if explained else columns
    return grid("steps of the commit", shown, rows)


def commit_frame(event: CommitEvent) -> Frame:
    """A step as a moment of a stage."""
    did, why = figures_text(event), ACTS.get(event.step, "")
    again = f"Try {event.attempt}: " if event.attempt > 1 else ""
    text = f"{again}{did}. {why}" if did else f"{again}{why}"
    return Frame(title=event.step.value, text=text, tone=_tone(event.step))


def _tone(step: CommitStep) -> Tone:
    if step in _GOOD:
        return Tone.ADD
    return Tone.REMOVE if step in _BAD else Tone.PLAIN


def figures_text(event: CommitEvent) -> str:
    """The figures of a step in one line."""
    if event.step is CommitStep.WRITE_BASE:
        return _base_text(event)
    return ", ".join(_figure(name, value) for name, value in event.figures.items())


def _figure(name: str, value: int | str) -> str:
    if isinstance(value, str):
        return f"{name} {value}"
    return f"{bytes_text(value)}" if name == "bytes" else f"{count_text(value)} {name}"


def _base_text(event: CommitEvent) -> str:
    before, after = _number(event, "manifests before"), _number(event, "manifests after")
    merged = before - _number(event, "kept")
    if not before:
        return "there were no manifests before"
    if not merged:
        return f"{plural(before, 'manifest')} stay as they are"
    return f"{before} manifests become {after}: {merged} merged ({_way(event)})"


def _way(event: CommitEvent) -> str:
    """Which of the two ways of merging a commit went."""
    before, kept = _number(event, "manifests before"), _number(event, "kept")
    if before == kept:
        return "none"
    changing = _number(event, "small or with deletions, bytes")
    return "full" if changing >= _number(event, "full merge from, bytes") else "minor"


def _number(event: CommitEvent, name: str) -> int:
    value = event.figures.get(name, 0)
    return value if isinstance(value, int) else 0


def _merges(commit: TracedCommit) -> tuple[Section, ...]:
    """The thresholds of merging against what was there."""
    rows: list[tuple[Entry, ...]] = []
    for event in commit.events:
        if event.step is not CommitStep.WRITE_BASE:
            continue
        changing = _number(event, "small or with deletions, bytes")
        full = _number(event, "full merge from, bytes")
        before = _number(event, "manifests before")
        least = _number(event, "merge the rest from, manifests")
        target = _number(event, "merge until, bytes")
        rows += [
            (
                event.snapshot_id,
                "full merge",
                "manifest.full-compaction-threshold-size",
                bytes_text(full),
                bytes_text(changing),
                _verdict(changing >= full, "worth it", "not yet"),
            ),
            (
                event.snapshot_id,
                "minor merge of neighbours",
                "manifest.target-file-size",
                bytes_text(target),
                bytes_text(changing),
                _verdict(changing >= target, "a group is full", "no group is full"),
            ),
            (
                event.snapshot_id,
                "minor merge of the rest",
                "manifest.merge-min-count",
                plural(least, "manifest"),
                plural(before, "manifest"),
                _verdict(before >= least, "enough", "too few"),
            ),
        ]
    columns = ("snapshot#", "merge", "option", "threshold#", "there#", "verdict")
    return (grid("thresholds of merging manifests", columns, rows),) if rows else ()


def _verdict(reached: bool, yes: str, no: str) -> Cell:  # noqa: FBT001 - the choice itself
    return Cell(text=yes if reached else no, tone=Tone.ADD if reached else Tone.MUTED)


def event_table(commits: Sequence[TracedCommit]) -> pa.Table:
    """A row for each step: table, commit, try, snapshot, step, figures, time."""
    found = [(n, c.table, e) for n, c in enumerate(commits, 1) for e in c.events]
    return pa.table(
        {
            "table": pa.array([table for _, table, _ in found], pa.string()),
            "commit": pa.array([number for number, _, _ in found], pa.int32()),
            "try": pa.array([event.attempt for _, _, event in found], pa.int32()),
            "snapshot": pa.array([event.snapshot_id for _, _, event in found], pa.int64()),
            "step": pa.array([event.step.value for _, _, event in found], pa.string()),
            "did": pa.array([figures_text(event) for _, _, event in found], pa.string()),
            "time": pa.array([event.time_millis for _, _, event in found], pa.timestamp("ms")),
        }
    )


def event_state(event: CommitEvent) -> dict[str, object]:
    """A step as JSON."""
    return {
        "step": event.step.value,
        "name": event.step.name,
        "why": ACTS.get(event.step, ""),
        "try": event.attempt,
        "snapshot": event.snapshot_id,
        "time": event.time_millis,
        "did": figures_text(event),
        "figures": dict(event.figures),
        "tone": _tone(event.step).value,
    }
