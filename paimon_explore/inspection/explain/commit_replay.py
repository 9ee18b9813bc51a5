"""Replays the commit of a snapshot step by step: `t.inspect.replay(7)`.

The commit code commits the changes of the snapshot again to the previous state of the table, on an
in-memory overlay, so the table itself is not changed. The steps, figures and thresholds are thus
those of a real commit, for tables of any writer, and the result can be compared with the snapshot
in the table. Scenarios show failures: a concurrent commit takes the snapshot id first, the storage
fails during the commit, or the response of the storage gets lost.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from enum import StrEnum

import pyarrow as pa

from paimon_explore.commit.commit_attempt import CommitNote
from paimon_explore.commit.commit_timing import Timing
from paimon_explore.commit.commit_trace import CommitEvent, CommitStep, Recorder, recording
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.iceberg.settings import DISABLED
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
    choices,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.overlay import FileEvent, OverlayFileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.commit_trace_report import (
    TracedCommit,
    commit_frame,
    commit_sections,
    event_state,
    event_table,
)
from paimon_explore.inspection.explain.folder_diff import change_cell, kind_of
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import (
    Animation,
    Card,
    Cell,
    Columns,
    Grid,
    Note,
    Report,
    Section,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.iceberg_options import ICEBERG_STORAGE
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.metadata.table_paths import SCHEMA_PREFIX, SNAPSHOT_PREFIX
from paimon_explore.store.table_store import TableStore


class Scenario(StrEnum):
    """What happens during the replayed commit."""

    ALONE = "alone"
    RIVAL = "rival"
    FAILURE = "failure"
    LOST_REPLY = "lost-reply"


SCENARIOS = {
    Scenario.ALONE: "No concurrent commits.",
    Scenario.RIVAL: "A concurrent commit takes the snapshot id first; the commit retries.",
    Scenario.FAILURE: "Writing the delta manifest list fails; the commit deletes its files.",
    Scenario.LOST_REPLY: "The snapshot file is created, but the response of the storage is lost.",
}


_RIVAL = "concurrent-committer"
_COLUMNS = ("manifest", "manifest list", "index manifest", "statistics", "snapshot", "hint")
"""Kinds of files in the order in which a commit writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that the replay wrote or removed.

    Attributes:
        event: index of its step.
        path: relative to the table location.
        kind: kind of file.
        size: bytes.
        removed: whether it was removed, not written.
    """

    event: int
    path: str
    kind: str
    size: int
    removed: bool = False


@dataclass(slots=True, kw_only=True)
class _Monitor:
    """Records the files that the replay writes, and injects the fault of the scenario.

    Attributes:
        root: the table location.
        target: path of the snapshot file that faults apply to.
        scenario: the scenario.
        heard: the steps so far.
        log: the files written and removed so far.
        rival: makes the concurrent commit.
    """

    root: str
    target: str
    scenario: Scenario
    heard: Recorder = field(default_factory=list)
    log: list[WrittenFile] = field(default_factory=list)
    rival: "Committer | None" = None
    _lists: int = 0
    _is_over: bool = False

    def watch(self, act: FileEvent, path: str, size: int) -> None:
        """Record a file operation, or inject a fault.

        Raises:
            StorageError: the scenario has a storage failure here.
        """
        if act in (FileEvent.WRITTEN, FileEvent.REMOVED):
            self._note(path, size, removed=act is FileEvent.REMOVED)
        elif act is FileEvent.CREATE:
            self._before(path)
        elif self._fails(path, Scenario.LOST_REPLY):
            raise StorageError("write", path, "no response (simulated)")

    def _before(self, path: str) -> None:
        self._lists += "/manifest-list-" in path
        if self.scenario is Scenario.FAILURE and self._lists == 2:  # noqa: PLR2004 - the delta list
            raise StorageError("write", path, "the disk is full (simulated)")
        if self._fails(path, Scenario.RIVAL) and self.rival is not None:
            self.rival.commit([], ignore_empty=False)

    def _fails(self, path: str, scenario: Scenario) -> bool:
        """Whether the fault of the scenario applies now; it applies once."""
        now = self.scenario is scenario and path == self.target and not self._is_over
        self._is_over |= now
        return now

    def _note(self, path: str, size: int, *, removed: bool) -> None:
        below = path.removeprefix(f"{self.root}/")
        self.log.append(
            WrittenFile(
                event=len(self.heard), path=below, kind=kind_of(below), size=size, removed=removed
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Replay(Result):
    """The replayed commit of a snapshot.

    Attributes:
        snapshot: the snapshot in the table.
        made: the snapshot that the replay created; None if it failed.
        scenario: the scenario.
        commit: its steps.
        files: the files written and removed.
        problem: the error that ended the replay; empty for none.
        compared: rows of label, value in the table, value in the replay.
    """

    snapshot: Snapshot
    made: Snapshot | None
    scenario: Scenario
    commit: TracedCommit
    files: tuple[WrittenFile, ...]
    problem: str
    compared: tuple[tuple[str, str, str], ...]
    kind = "replay"

    def to_report(self) -> Report:
        """The steps, the thresholds, the files, and both snapshots side by side."""
        sections: list[Section] = [Note(text=SCENARIOS[self.scenario])]
        if self.problem:
            sections.append(Note(text=self.problem, tone=Tone.REMOVE))
        if self.commit.events:
            sections.append(self._animation())
        sections += commit_sections(self.commit, explained=True)
        sections.append(self._files())
        if self.compared:
            columns = ("field", "original", "replayed")
            sections.append(grid("Original and replayed snapshots", columns, self.compared))
        sections.append(self._scenarios())
        title = f"Replay of snapshot {self.snapshot.id} ({self.snapshot.commit_kind.value})"
        return Report(title=f"{title}: {self.commit.outcome}", sections=tuple(sections))

    def _animation(self) -> Animation:
        """The steps as frames, the files as cards that appear with them."""
        gone = {file.path: file.event for file in self.files if file.removed}
        written = [file for file in self.files if not file.removed]
        kinds = [kind for kind in _COLUMNS if any(file.kind == kind for file in written)]
        data_files = Card(column=0, text="data files", note="written before the commit")
        cards = [
            Card(
                column=1 + kinds.index(file.kind),
                text=paths.name(file.path),
                note=bytes_text(file.size),
                since=file.event,
                until=gone.get(file.path),
            )
            for file in written
            if file.kind in kinds
        ]
        return Animation(
            title="The commit step by step",
            columns=("data files", *(f"{kind}s" for kind in kinds)),
            frames=tuple(commit_frame(event) for event in self.commit.events),
            cards=(data_files, *cards),
        )

    def to_arrow(self) -> pa.Table:
        """One row per step: table, commit, try, snapshot, step, did, time."""
        return event_table([self.commit])

    def figures(self) -> dict[str, object]:
        """The steps with their files, as JSON."""
        return {
            "snapshot": self.snapshot.id,
            "scenario": self.scenario.value,
            "scenarios": [[name.value, text] for name, text in SCENARIOS.items()],
            "outcome": self.commit.outcome,
            "problem": self.problem,
            "steps": [
                {**event_state(event), "files": self._files_of(number)}
                for number, event in enumerate(self.commit.events)
            ],
            "compared": [list(row) for row in self.compared],
        }

    def _scenarios(self) -> Grid:
        chosen = Cell(text="selected", tone=Tone.ADD)
        columns: Columns[Scenario] = {
            "scenario": lambda one: Cell(text=one.value, selects=f"ask:{one.value}"),
            "description": lambda one: SCENARIOS[one],
            "": lambda one: chosen if one is self.scenario else None,
        }
        return listing("Replay scenarios", [*SCENARIOS], columns)

    def _files_of(self, number: int) -> list[dict[str, object]]:
        return [
            {"path": f.path, "kind": f.kind, "size": f.size, "removed": f.removed}
            for f in self.files
            if f.event == number
        ]

    def _files(self) -> Grid:
        events = self.commit.events
        added, removed = change_cell("added", "written"), change_cell("removed")
        columns: Columns[WrittenFile] = {
            "change": lambda one: removed if one.removed else added,
            "kind": lambda one: one.kind,
            "file": lambda one: paths.name(one.path),
            "size#": lambda one: bytes_text(one.size),
            "step": lambda one: events[one.event].step.value if one.event < len(events) else "",
        }
        return listing("Files written or removed by the replay", self.files, columns)


def replay_commit(view: TableView, snapshot: Snapshot, scenario: str = "alone") -> Replay:
    """Commit the changes of a snapshot again on an in-memory overlay of the table.

    Args:
        view: the table.
        snapshot: the snapshot; its predecessor must still exist, unless it is the first.
        scenario: `alone`, `rival` (a concurrent commit is faster), `failure` (the storage fails) or
            `lost-reply` (the response of the storage is lost).

    Raises:
        InvalidInputError: unknown scenario.
        NotFoundError: the previous snapshot has expired.
        PaimonError: metadata cannot be read.
    """
    known = [name.value for name in Scenario]
    if scenario not in known:
        raise InvalidInputError(
            f"Unknown scenario {scenario!r}.", hint=f"Scenarios: {choices(known)}."
        )
    monitor, store = _overlay(view, snapshot, Scenario(scenario))
    schema = store.schemas.load(snapshot.schema_id)
    # the table is not changed, so its Iceberg metadata does not become stale
    options = TableOptions(schema.options).changed({ICEBERG_STORAGE.key: DISABLED})
    timing = Timing(sleep=lambda _: None, chance=lambda: 0.5)
    monitor.rival = Committer(store, schema, options=options, commit_user=_RIVAL)
    ours = Committer(
        store, schema, options=options, commit_user=snapshot.commit_user, timing=timing
    )
    made: list[Snapshot] = []
    problem = ""
    with recording() as heard:
        monitor.heard = heard
        try:
            made = _commit(ours, view, snapshot)
        except PaimonError as error:
            problem = f"{type(error).__name__}: {error}"
    shown = _own_events(heard, ours.trace)
    places = [place for place, _ in shown]
    given = None if scenario == Scenario.ALONE else scenario
    code = call_code(f"{view.expression}.inspect.replay", snapshot.id, scenario=given)
    original = _described(view.store, snapshot).items() if made else ()
    replayed = _described(store, made[-1]) if made else {}
    return Replay(
        snapshot=snapshot,
        made=made[-1] if made else None,
        scenario=Scenario(scenario),
        commit=TracedCommit(table=view.location, events=tuple(event for _, event in shown)),
        files=tuple(replace(one, event=bisect_left(places, one.event)) for one in monitor.log),
        problem=problem,
        compared=tuple((name, text, replayed[name]) for name, text in original),
        code=Code(python=code),
    )


def _overlay(
    view: TableView, snapshot: Snapshot, scenario: Scenario
) -> tuple[_Monitor, TableStore]:
    """An overlay of the table in the state before a snapshot, and its monitor."""
    origin = view.store
    before = origin.snapshots.find(snapshot.id - 1) if snapshot.id > 1 else None
    if snapshot.id > 1 and before is None:
        msg = (
            f"Snapshot {snapshot.id} cannot be replayed, because the previous snapshot has expired."
        )
        raise NotFoundError("snapshot", snapshot.id - 1, view.location, message=msg)
    table_paths = origin.paths

    def hidden(path: str) -> bool:
        folder, name = paths.parent(path), paths.name(path)
        if folder == table_paths.snapshot_dir:
            number = name.removeprefix(SNAPSHOT_PREFIX)
            return not number.isdecimal() or int(number) >= snapshot.id
        number = name.removeprefix(SCHEMA_PREFIX)
        is_schema = folder == table_paths.schema_dir and number.isdecimal()
        return is_schema and int(number) > snapshot.schema_id

    monitor = _Monitor(
        root=table_paths.root, scenario=scenario, target=table_paths.snapshot(snapshot.id)
    )
    overlay = OverlayFileIO(below=origin.file_io, hidden=hidden, watch=monitor.watch)
    return monitor, TableStore(overlay, table_paths, origin.read_retry)


def _commit(committer: Committer, view: TableView, snapshot: Snapshot) -> list[Snapshot]:
    """Commit the changes of the snapshot."""
    if snapshot.commit_kind is CommitKind.ANALYZE and snapshot.statistics is not None:
        return [committer.analyze(view.store.statistics.load(snapshot.statistics))]
    message = _message(view.store, snapshot)
    note = CommitNote(
        watermark=snapshot.watermark,
        properties=dict(snapshot.properties or {}),
        operation=snapshot.operation,
    )
    return committer.commit([message], note=note, ignore_empty=not message.is_empty)


def _message(store: TableStore, snapshot: Snapshot) -> CommitMessage:
    """The changes of a snapshot as the commit message of its writer."""
    manifests = store.manifests
    delta = manifests.read_many(manifests.delta(snapshot).names)
    changelog = ManifestEntries.empty()
    if snapshot.changelog_manifest_list is not None:
        changelog = manifests.read_many(manifests.changelog(snapshot).names)
    added, gone = delta.of_kind(FileKind.ADD), delta.of_kind(FileKind.DELETE)
    new_index, old_index = _index_changes(store, snapshot)
    if snapshot.commit_kind is CommitKind.COMPACT:
        return CommitMessage(
            partition=EMPTY_ROW,
            bucket=0,
            compact_before=gone,
            compact_after=added,
            compact_changelog=changelog,
            compact_new_index_files=new_index,
            compact_deleted_index_files=old_index,
        )
    return CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        new_files=added,
        deleted_files=gone,
        changelog_files=changelog,
        new_index_files=new_index,
        deleted_index_files=old_index,
    )


def _index_changes(store: TableStore, snapshot: Snapshot) -> tuple[IndexEntries, IndexEntries]:
    """The index files that a snapshot added and removed."""
    before = store.snapshots.find(snapshot.id - 1) if snapshot.id > 1 else None
    old_name = before.index_manifest if before is not None else None
    if snapshot.index_manifest == old_name:
        return IndexEntries.empty(), IndexEntries.empty()
    old, new = store.manifests.index(old_name), store.manifests.index(snapshot.index_manifest)
    return _without(new, old), _without(old, new)


def _without(these: IndexEntries, those: IndexEntries) -> IndexEntries:
    known = {row["file_name"] for row in those.rows()}
    parts = [
        these.slice(i, 1) for i, row in enumerate(these.rows()) if row["file_name"] not in known
    ]
    return IndexEntries.concat(parts) if parts else IndexEntries.empty()


def _own_events(heard: Recorder, trace: Sequence[CommitEvent]) -> list[tuple[int, CommitEvent]]:
    """The steps of the replay, and the publish step of the concurrent commit, with indexes."""
    mine = {id(event) for event in trace}
    rival = {"by": _RIVAL}
    return [
        (place, event if id(event) in mine else replace(event, figures=rival))
        for place, (_, event) in enumerate(heard)
        if id(event) in mine or event.step is CommitStep.PUBLISH
    ]


def _described(store: TableStore, snapshot: Snapshot) -> dict[str, str]:
    """What is compared of the original and the replayed snapshot."""
    manifests = store.manifests
    return {
        "snapshot": str(snapshot.id),
        "commit kind": snapshot.commit_kind.value,
        "base manifests": _sizes(lambda: manifests.base(snapshot)),
        "delta manifests": _sizes(lambda: manifests.delta(snapshot)),
        "delta rows": str(snapshot.delta_record_count),
        "total rows": str(snapshot.total_record_count),
        "schema": str(snapshot.schema_id),
    }


def _sizes(read: Callable[[], ManifestFiles]) -> str:
    try:
        found = read()
    except PaimonError as error:
        return type(error).__name__
    return f"{plural(len(found), 'manifest')}, {bytes_text(found.total_size)}"
