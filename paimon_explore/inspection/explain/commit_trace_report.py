"""The steps of a commit as a report, from the trace of the commit code.

The trace has the steps that ran: check for conflicts, merge manifests (with thresholds and actual
sizes), write the base list, the new manifests and the delta list, publish, write hints; after a
failure the clean-up, after a lost race the retry.

The result of a trace: commits step by step, and all files that changed.
"""

import csv
import pkgutil
from collections.abc import Sequence
from functools import partial

import pyarrow as pa

from paimon_explore.commit.commit_trace import CommitEvent, CommitStep
from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.folder_diff import FileChange, change_sections, change_table
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
    Note,
    Report,
    Section,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result, rows_table

_STEPS = (pkgutil.get_data(__package__, "commit_steps.csv") or b"").decode()
STEP_DESCRIPTIONS = {
    CommitStep[row["step"]]: row["description"] for row in csv.DictReader(_STEPS.splitlines())
}
"""Explanation of each step."""

_OUTCOMES = {
    CommitStep.SKIP_EMPTY: "nothing to commit",
    CommitStep.FAIL: "commit failed; none of its changes is visible",
    CommitStep.DOUBT: "outcome unknown: the storage did not confirm that it created the snapshot",
    CommitStep.WAIT: "not committed: the maximum number of retries was reached",
}
"""The outcome of a commit without a snapshot, by the first of these steps that it had."""
_GOOD = {CommitStep.PUBLISH, CommitStep.DONE}
_BAD = {CommitStep.FAIL, CommitStep.LOSE, CommitStep.DOUBT}


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCommit:
    """The steps of one call to commit, which creates zero, one or two snapshots.

    Attributes:
        table: location of the table.
        events: the steps in order.
    """

    table: str
    events: tuple[CommitEvent, ...]

    @property
    def snapshot_ids(self) -> tuple[int, ...]:
        """The ids of the created snapshots."""
        return tuple(
            event.snapshot_id
            for event in self.events
            if event.step is CommitStep.DONE and event.snapshot_id is not None
        )

    @property
    def tries(self) -> int:
        """The number of attempts."""
        return sum(event.step is CommitStep.READ_LATEST for event in self.events)

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        steps = {event.step for event in self.events}
        return not self.snapshot_ids and bool(steps & {CommitStep.FAIL, CommitStep.DOUBT})

    @property
    def outcome(self) -> str:
        """The outcome as a short text."""
        made = self.snapshot_ids
        if made:
            names = " and ".join(map(str, made))
            attempts = f" after {self.tries} attempts" if self.tries > len(made) else ""
            return f"snapshot{'s' if len(made) > 1 else ''} {names} created{attempts}"
        steps = {event.step for event in self.events}
        known = (text for step, text in _OUTCOMES.items() if step in steps)
        return next(known, "already committed by an earlier attempt")


def split_commits(heard: Sequence[tuple[str, CommitEvent]]) -> tuple[TracedCommit, ...]:
    """Group events into commits: a commit begins with its first attempt."""
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
        searched = bool(mine) and mine[-1].step is CommitStep.LOOK_FOR_EARLIER
        if mine and (begins or (first and not searched)):
            close(table)
        open_.setdefault(table, []).append(event)
    for table in list(open_):
        close(table)
    return tuple(found)


def commit_sections(commit: TracedCommit, *, explained: bool = False) -> tuple[Section, ...]:
    """The steps of a commit, and the thresholds for merging its manifests.

    Args:
        commit: the commit.
        explained: whether to include the explanation of each step.
    """
    if not commit.events:
        return ()
    start = commit.events[0].time_millis
    spent = commit.events[-1].time_millis - start
    head = facts(
        ("outcome", commit.outcome),
        ("attempts", commit.tries),
        ("time", f"{spent:,} ms, started {time_text(start)}"),
    )
    return (head, steps_grid([commit], explained=explained), *_merges(commit))


def steps_grid(commits: Sequence[TracedCommit], *, explained: bool = False) -> Grid:
    """The steps of several commits in one table."""
    rows: list[tuple[Entry, ...]] = []
    for commit in commits:
        start = commit.events[0].time_millis
        for number, event in enumerate(commit.events, 1):
            step = Cell(text=event.step.value, tone=_tone(event.step))
            spent = event.time_millis - start
            which = () if explained else (event.attempt or None, event.snapshot_id)
            result = _explained(event, "attempt") if explained else figures_text(event)
            rows.append((number, *which, step, spent, result))
    which_heads = () if explained else ("attempt#", "snapshot#")
    return grid("Commit steps", ("#", *which_heads, "step", "elapsed ms#", "result"), rows)


def commit_frame(event: CommitEvent) -> Frame:
    """A step as a frame of an animation."""
    text = _explained(event, "Attempt")
    return Frame(title=event.step.value, text=text, tone=_tone(event.step))


def _explained(event: CommitEvent, word: str) -> str:
    """The result of a step and its description."""
    did, why = figures_text(event), STEP_DESCRIPTIONS.get(event.step, "")
    attempt = f"{word} {event.attempt}: " if event.attempt > 1 else ""
    return f"{attempt}{did}. {why}" if did else f"{attempt}{why}"


def _tone(step: CommitStep) -> Tone:
    if step in _GOOD:
        return Tone.ADD
    return Tone.REMOVE if step in _BAD else Tone.PLAIN


def figures_text(event: CommitEvent) -> str:
    """The result of a step in one line."""
    if event.step is CommitStep.WRITE_BASE:
        return _base_text(event)
    return ", ".join(_figure(name, value) for name, value in event.figures.items())


_FIGURES = {
    "latest": "latest snapshot: {}",
    "newest": "latest snapshot: {}",
    "found": "earlier commits found: {}",
    "to": "snapshot id taken by: {}",
    "ms": "wait time: {} ms",
    "step": "failed step: {}",
    "names": "deleted: {}",
    "failed": "hint not written: {}",
    "bytes": "manifest list: {}",
}
"""Texts of the figures whose names do not explain themselves."""


def _figure(name: str, value: int | str) -> str:
    text = str(value)
    if isinstance(value, int) and name not in ("latest", "newest"):
        text = bytes_text(value) if name == "bytes" else count_text(value)
    return _FIGURES.get(name, f"{name}: {{}}").format(text)


def _base_text(event: CommitEvent) -> str:
    before, after = _number(event, "manifests before"), _number(event, "manifests after")
    merged = before - _number(event, "manifests kept")
    if not before:
        return "no manifests of earlier commits"
    if not merged:
        return f"{plural(before, 'manifest')} kept unchanged"
    return f"{before} manifests merged into {after}: {merged} rewritten ({_way(event)} compaction)"


def _way(event: CommitEvent) -> str:
    """The kind of manifest compaction: full, minor or none."""
    before, kept = _number(event, "manifests before"), _number(event, "manifests kept")
    if before == kept:
        return "none"
    changing = _number(event, "bytes of small manifests and manifests with deletions")
    return "full" if changing >= _number(event, "bytes that trigger a full merge") else "minor"


def _number(event: CommitEvent, name: str) -> int:
    value = event.figures.get(name, 0)
    return value if isinstance(value, int) else 0


def _merges(commit: TracedCommit) -> tuple[Section, ...]:
    """The thresholds for merging manifests, compared with the actual sizes."""
    rows: list[tuple[Entry, ...]] = []
    for event in commit.events:
        if event.step is not CommitStep.WRITE_BASE:
            continue
        changing = _number(event, "bytes of small manifests and manifests with deletions")
        full = _number(event, "bytes that trigger a full merge")
        before = _number(event, "manifests before")
        min_count = _number(event, "minimum number of manifests to merge")
        target = _number(event, "target bytes of a merged manifest")
        thresholds = (
            ("full compaction", "manifest.full-compaction-threshold-size", changing, full),
            ("minor compaction, by size", "manifest.target-file-size", changing, target),
            ("minor compaction, by count", "manifest.merge-min-count", before, min_count),
        )
        for what, option, actual, threshold in thresholds:
            shown = bytes_text if "size" in option else partial(plural, noun="manifest")
            status = Cell(text="reached", tone=Tone.ADD)
            if actual < threshold:
                status = Cell(text="not reached", tone=Tone.MUTED)
            rows.append((event.snapshot_id, what, option, shown(threshold), shown(actual), status))
    columns = ("snapshot#", "compaction", "option", "threshold#", "actual#", "status")
    note = "A commit merges manifests if one of these thresholds is reached."
    return (grid("Manifest compaction thresholds", columns, rows, note=note),) if rows else ()


EVENTS = schema_from_text(
    "table string, commit int32, try int32, snapshot int64, step string, did string, "
    "time timestamp[ms]"
)
"""One row per step of a commit."""


def event_table(commits: Sequence[TracedCommit]) -> pa.Table:
    """One row per step: table, commit, try, snapshot, step, did, time."""
    rows = (
        (c.table, n, e.attempt, e.snapshot_id, e.step.value, figures_text(e), e.time_millis)
        for n, c in enumerate(commits, 1)
        for e in c.events
    )
    return rows_table(rows, EVENTS)


def event_state(event: CommitEvent) -> dict[str, object]:
    """A step as JSON, with its explanation."""
    return {
        "step": event.step.value,
        "name": event.step.name,
        "why": STEP_DESCRIPTIONS.get(event.step, ""),
        "try": event.attempt,
        "snapshot": event.snapshot_id,
        "time": event.time_millis,
        "did": figures_text(event),
        "figures": dict(event.figures),
        "tone": _tone(event.step).value,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTrace:
    """The traced changes of one table.

    Attributes:
        name: name of the table.
        path: location of the table.
        changes: files added, removed or changed.
        commits: commits by this package, in order.
    """

    name: str
    path: str
    changes: tuple[FileChange, ...]
    commits: tuple[TracedCommit, ...]

    @property
    def title(self) -> str:
        """The changes in one line."""
        parts = []
        for what in ("added", "removed", "changed"):
            count = sum(change.what == what for change in self.changes)
            if count:
                parts.append(f"{plural(count, 'file')} {what}")
        made = [str(number) for commit in self.commits for number in commit.snapshot_ids]
        new = _new_snapshots(self.changes)
        if made or new:
            ids = made or new
            parts.insert(0, f"snapshot{'s' if len(ids) > 1 else ''} {', '.join(ids)} created")
        failed = sum(commit.failed for commit in self.commits)
        if failed and parts:
            parts.append(f"{plural(failed, 'commit')} failed")
        return f"{self.name}: {', '.join(parts) if parts else 'no changes'}"


def _new_snapshots(changes: Sequence[FileChange]) -> list[str]:
    """Ids of the new snapshots, also of writers that are not traced, such as Spark."""
    paths = [c.path for c in changes if c.kind == "snapshot" and c.what == "added"]
    return sorted((path.rpartition("-")[2] for path in paths), key=int)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(Result):
    """The changes of tables while a block of code ran.

    Attributes:
        tables: the traced tables.
        problem: the error that the code raised; empty for none.
    """

    tables: tuple[TableTrace, ...]
    problem: str = ""
    kind = "trace"

    @property
    def commits(self) -> tuple[TracedCommit, ...]:
        """The commits of all tables."""
        return tuple(commit for table in self.tables for commit in table.commits)

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The changed files of all tables."""
        return tuple(change for table in self.tables for change in table.changes)

    def steps(self) -> pa.Table:
        """One row per step of each commit."""
        return event_table(self.commits)

    def to_report(self) -> Report:
        """The commits and changed files of each table."""
        sections: list[Section] = []
        if self.problem:
            sections.append(Note(text=f"The code raised {self.problem}"))
        touched = [t for t in self.tables if t.changes or t.commits]
        for table in touched:
            if len(touched) > 1:
                sections.append(Note(text=table.title))
            shown = [one for one in table.commits if one.snapshot_ids or one.failed]
            shown = shown or list(table.commits)
            if len(shown) == 1:
                sections += commit_sections(shown[0])
            elif shown:
                sections.append(steps_grid(shown))
            sections += change_sections(table.changes)
        title = (
            touched[0].title if len(touched) == 1 else f"{plural(len(touched), 'table')} changed"
        )
        if not touched:
            title = f"no changes in {plural(len(self.tables), 'table')}"
        return Report(title=title, sections=tuple(sections))

    def to_arrow(self) -> pa.Table:
        """One row per changed file: table, change, kind, path, size, size_before."""
        names = [table.name for table in self.tables for _ in table.changes]
        return change_table(self.changes, names)

    def figures(self) -> dict[str, object]:
        """The commits and changed files as JSON."""
        return {
            "problem": self.problem,
            "tables": [
                {
                    "name": table.name,
                    "path": table.path,
                    "commits": [
                        {
                            "outcome": commit.outcome,
                            "snapshots": list(commit.snapshot_ids),
                            "steps": [event_state(event) for event in commit.events],
                        }
                        for commit in table.commits
                    ],
                    "files": [
                        {"change": c.what, "kind": c.kind, "path": c.path, "size": c.size}
                        for c in table.changes
                    ],
                }
                for table in self.tables
            ],
        }
