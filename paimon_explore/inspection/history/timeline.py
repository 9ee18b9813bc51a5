"""The snapshots of a table in order, with the tags, branches, consumers and hints of each.

The timeline contains the retained snapshots, and expired snapshots that a tag keeps. A snapshot
file that cannot be read is a mark without values.
"""

from collections.abc import Iterator
from enum import Enum

import pyarrow as pa

from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import time_text
from paimon_explore.inspection.rendering.report import Cell, Entry, Report, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.time_travel import epoch_ms
from paimon_explore.store.table_store import TableStore

_HINT_BYTES = 64

TIMELINE_SCHEMA = pa.schema(
    (
        pa.field("snapshot_id", pa.int64(), nullable=False),
        pa.field("commit_kind", pa.string()),
        pa.field("commit_time", pa.timestamp("ms", "UTC")),
        pa.field("schema_id", pa.int64()),
        pa.field("total_record_count", pa.int64()),
        pa.field("delta_record_count", pa.int64()),
        pa.field("changelog_record_count", pa.int64()),
        pa.field("commit_user", pa.string()),
        pa.field("commit_identifier", pa.int64()),
        pa.field("watermark", pa.int64()),
        pa.field("expired", pa.bool_(), nullable=False),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
    )
)
"""One row per mark; all but id, `expired` and `tags` are null for unreadable snapshots."""


class FlagKind(Enum):
    """The kinds of references to a snapshot."""

    TAG = "tag"
    BRANCH = "branch"
    CONSUMER = "consumer"
    HINT = "hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A reference to a snapshot.

    Attributes:
        kind: kind of reference.
        name: its name; EARLIEST or LATEST for hints.
        snapshot_id: id of the snapshot; for a consumer the next one it reads, for a branch its
            earliest one, 0 for a branch without snapshots.
    """

    kind: FlagKind
    name: str
    snapshot_id: int

    @property
    def target_text(self) -> str:
        """The snapshot id as text."""
        return str(self.snapshot_id) if self.snapshot_id else "no snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A snapshot in the timeline.

    Attributes:
        snapshot_id: its id.
        snapshot: its content; None if it cannot be read.
        expired: whether it has expired and is kept by a tag.
    """

    snapshot_id: int
    snapshot: Snapshot | None
    expired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Timeline(Result):
    """The snapshots of one branch.

    Attributes:
        marks: in ascending order of snapshot id.
        flags: tags, branches, consumers and hints.
        problems: errors of files that cannot be read.
    """

    marks: tuple[Mark, ...]
    flags: tuple[Flag, ...]
    problems: tuple[Problem, ...]

    @property
    def kind(self) -> str:
        """Name of the kind of result."""
        return "timeline"

    def __len__(self) -> int:
        """The number of marks."""
        return len(self.marks)

    def __repr__(self) -> str:
        """One letter per snapshot in ascending order."""
        letters = "".join(letter_of(mark) for mark in self.marks[-60:])
        first = self.marks[0].snapshot_id if self.marks else 0
        last = self.marks[-1].snapshot_id if self.marks else 0
        return f"Timeline({first}..{last} {letters})" if self.marks else "Timeline(no snapshot)"

    def position_of(self, snapshot_id: int) -> int:
        """The index of the mark of a snapshot.

        Raises:
            NotFoundError: the timeline does not contain it.
        """
        for position, mark in enumerate(self.marks):
            if mark.snapshot_id == snapshot_id:
                return position
        ids = [mark.snapshot_id for mark in self.marks]
        hint = (
            f"Available snapshots: {ids[0]} to {ids[-1]}."
            if ids
            else "The table has no snapshot yet."
        )
        raise NotFoundError("snapshot", snapshot_id, hint=hint)

    def snapshot(self, snapshot_id: int) -> Snapshot:
        """The content of a snapshot.

        Raises:
            NotFoundError: the timeline does not contain it, or its file cannot be read.
        """
        snapshot = self.marks[self.position_of(snapshot_id)].snapshot
        if snapshot is None:
            message = f"The file of snapshot {snapshot_id} cannot be read."
            raise NotFoundError("snapshot", snapshot_id, message=message)
        return snapshot

    def resolve(self, text: str) -> int:
        """Resolve a snapshot given by id, tag name or time.

        A time selects the latest snapshot at or before it.

        Raises:
            InvalidInputError: the text is not an id, a tag or a time.
            NotFoundError: no snapshot has the id, or all are later than the time.
        """
        wanted = text.strip()
        tagged = [f.snapshot_id for f in self.flags if f.kind is FlagKind.TAG and f.name == wanted]
        if tagged:
            return tagged[0]
        if wanted.isdecimal() and len(wanted) <= 18:  # noqa: PLR2004 - digits of a 64-bit number
            return self.marks[self.position_of(int(wanted))].snapshot_id
        try:
            moment = epoch_ms(wanted)
        except InvalidInputError as error:
            message = f"{wanted!r} is not a snapshot id, a tag or a time."
            raise InvalidInputError(message, hint="Write a time as 2026-11-20 10:00.") from error
        older = [m for m in self.marks if m.snapshot and m.snapshot.time_millis <= moment]
        if not older:
            message = f"No snapshot was committed at or before {wanted}."
            raise NotFoundError("snapshot", wanted, message=message)
        return older[-1].snapshot_id

    def flags_at(self, snapshot_id: int) -> tuple[Flag, ...]:
        """The references to a snapshot."""
        return tuple(flag for flag in self.flags if flag.snapshot_id == snapshot_id)

    def to_report(self) -> Report:
        """A chart of changed rows by snapshot, and a table of the snapshots."""
        return timeline_report(self)

    def figures(self) -> dict[str, object]:
        """The number of snapshots, and the references, as JSON."""
        flags = [[flag.kind.value, flag.name, flag.snapshot_id] for flag in self.flags]
        return {"snapshots": len(self.marks), "flags": flags}

    def only_tag(self, snapshot_id: int) -> str:
        """The name of a tag of an expired snapshot; empty for other snapshots."""
        if not any(m.expired for m in self.marks if m.snapshot_id == snapshot_id):
            return ""
        flags = self.flags_at(snapshot_id)
        return next((flag.name for flag in flags if flag.kind is FlagKind.TAG), "")

    def to_arrow(self) -> pa.Table:
        """One row of `TIMELINE_SCHEMA` per mark."""
        rows = [self._row(mark) for mark in self.marks]
        return pa.Table.from_pylist(rows, schema=TIMELINE_SCHEMA)

    def _row(self, mark: Mark) -> dict[str, object]:
        tags = [f.name for f in self.flags_at(mark.snapshot_id) if f.kind is FlagKind.TAG]
        row: dict[str, object] = {"snapshot_id": mark.snapshot_id, "expired": mark.expired}
        row["tags"] = tags
        if mark.snapshot is not None:
            row |= {
                "commit_kind": mark.snapshot.commit_kind.value,
                "commit_time": mark.snapshot.time_millis,
                "schema_id": mark.snapshot.schema_id,
                "total_record_count": mark.snapshot.total_record_count,
                "delta_record_count": mark.snapshot.delta_record_count,
                "changelog_record_count": mark.snapshot.changelog_record_count,
                "commit_user": mark.snapshot.commit_user,
                "commit_identifier": mark.snapshot.commit_identifier,
                "watermark": mark.snapshot.watermark,
            }
        return row


_MAX_BARS = 60


def timeline_report(timeline: Timeline) -> Report:
    """A chart of changed rows by snapshot, and a table of the snapshots; newest first."""
    marks = timeline.marks[-_MAX_BARS:][::-1]
    deltas = [0 if m.snapshot is None else m.snapshot.delta_record_count or 0 for m in marks]
    chart = BarChart(
        title="Rows added and removed by snapshot, newest first",
        categories=tuple(f"{mark.snapshot_id} {letter_of(mark)}" for mark in marks),
        series=(
            Series(name="added", values=tuple(max(d, 0) for d in deltas), tone=Tone.ADD),
            Series(name="removed", values=tuple(min(d, 0) for d in deltas), tone=Tone.REMOVE),
        ),
        selects=tuple(f"snapshot:{mark.snapshot_id}" for mark in marks),
    )
    rows = [_cells(timeline, mark) for mark in reversed(timeline.marks)]
    heads = (
        "snapshot",
        "commit kind",
        "committed",
        "schema#",
        "rows#",
        "row change#",
        "referenced by",
    )
    return Report(title=_title(timeline), sections=(chart, grid("Snapshots", heads, rows)))


def _title(timeline: Timeline) -> str:
    if not timeline.marks:
        return "The table has no snapshot yet."
    first, last = timeline.marks[0].snapshot_id, timeline.marks[-1].snapshot_id
    return f"Timeline of snapshots {first} to {last}"


def _cells(timeline: Timeline, mark: Mark) -> list[Entry]:
    number = Cell(text=str(mark.snapshot_id), selects=f"snapshot:{mark.snapshot_id}")
    flags = ", ".join(f"{f.kind.value} {f.name}" for f in timeline.flags_at(mark.snapshot_id))
    snapshot = mark.snapshot
    if snapshot is None:
        return [number, Cell(text="unreadable", tone=Tone.REMOVE), "", "", "", "", flags]
    delta = snapshot.delta_record_count
    return [
        number,
        snapshot.commit_kind.value,
        time_text(snapshot.time_millis),
        str(snapshot.schema_id),
        snapshot.total_record_count,
        "" if delta is None else f"{delta:+,}",
        flags,
    ]


_LETTERS = {"APPEND": "A", "COMPACT": "C", "OVERWRITE": "O", "ANALYZE": "Z"}


def letter_of(mark: Mark) -> str:
    """The letter of a mark: A append, C compact, O overwrite, Z analyze, ! unreadable."""
    return "!" if mark.snapshot is None else _LETTERS[mark.snapshot.commit_kind.value]


def read_timeline(view: TableView) -> Timeline:
    """Read the current timeline of a table.

    Raises:
        StorageError: the snapshot folder cannot be listed.
    """
    store = view.store
    problems: list[Problem] = []
    marks = {i: Mark(snapshot_id=i, snapshot=None) for i in store.snapshots.ids()}
    for snapshot_id in marks:
        try:
            snapshot = store.snapshots.load(snapshot_id)
        except PaimonError as error:
            problems.append(problem_of(error))
        else:
            marks[snapshot_id] = Mark(snapshot_id=snapshot_id, snapshot=snapshot)
    flags = []
    for name, tagged in _tags(store, problems):
        flags.append(Flag(kind=FlagKind.TAG, name=name, snapshot_id=tagged.id))
        held = marks.get(tagged.id)
        if held is None or held.snapshot is None:
            marks[tagged.id] = Mark(snapshot_id=tagged.id, snapshot=tagged, expired=held is None)
    flags += _hints(store, problems)
    flags += _consumers(store, problems)
    flags += _branches(store, problems)
    ordered = tuple(marks[i] for i in sorted(marks))
    return Timeline(
        marks=ordered,
        flags=tuple(flags),
        problems=tuple(problems),
        code=Code(python=call_code(f"{view.expression}.timeline")),
        renderer=view.renderer,
    )


def _tags(store: TableStore, problems: list[Problem]) -> Iterator[tuple[str, Snapshot]]:
    for name in store.tags.names():
        try:
            yield name, store.tags.load(name).snapshot
        except PaimonError as error:
            problems.append(problem_of(error))


def _hints(store: TableStore, problems: list[Problem]) -> Iterator[Flag]:
    """The EARLIEST and LATEST hints as stored, even if stale."""
    paths = {"EARLIEST": store.paths.earliest_hint, "LATEST": store.paths.latest_hint}
    for name, path in paths.items():
        try:
            text = store.file_io.read(path)[:_HINT_BYTES].decode("utf-8", "replace").strip()
        except MissingFileError:
            continue
        if text.isdecimal():
            yield Flag(kind=FlagKind.HINT, name=name, snapshot_id=int(text))
        else:
            problems.append(problem_of(CorruptFileError(path, "hint", "must be a snapshot id")))


def _consumers(store: TableStore, problems: list[Problem]) -> Iterator[Flag]:
    for name in store.consumers.ids():
        try:
            consumer = store.consumers.find(name)
        except PaimonError as error:
            problems.append(problem_of(error))
            continue
        if consumer is not None:
            yield Flag(kind=FlagKind.CONSUMER, name=name, snapshot_id=consumer.next_snapshot)


def _branches(store: TableStore, problems: list[Problem]) -> Iterator[Flag]:
    """The other branches, at their earliest snapshot, where they forked."""
    for name in store.branches.names():
        if name == store.paths.branch:
            continue
        try:
            oldest = store.for_branch(name).snapshots.earliest_id()
        except PaimonError as error:
            problems.append(problem_of(error))
            continue
        yield Flag(kind=FlagKind.BRANCH, name=name, snapshot_id=oldest or 0)
