"""The result of a trace: commits step by step, and all files that changed."""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.commit_trace_report import (
    TracedCommit,
    commit_sections,
    event_state,
    event_table,
    steps_grid,
)
from paimon_explore.inspection.explain.folder_diff import FileChange, change_sections, change_table
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.report import Note, Report, Section
from paimon_explore.inspection.rendering.result import Result


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
