"""The snapshots of a table in order, with the tags, branches, consumers and hints of each.

The timeline contains the retained snapshots, and expired snapshots that a tag keeps. A snapshot
file that cannot be read is a mark without values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import TypeVar

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
)
from paimon_explore.fileio.concurrent_requests import at_once
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

_Value = TypeVar("_Value")
_HINT_BYTES = 64

TIMELINE_SCHEMA = schema_from_text(
    "snapshot_id int64 not null, commit_kind string",
    pa.field("commit_time", pa.timestamp("ms", "UTC")),
    "schema_id int64, total_record_count int64, delta_record_count int64, "
    "changelog_record_count int64, commit_user string, commit_identifier int64, watermark int64",
    pa.field("properties", pa.map_(pa.string(), pa.string())),
    "expired bool not null, tags list<string> not null",
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
    kind = "timeline"

    def __len__(self) -> int:
        """The number of marks."""
        return len(self.marks)

    def position_of(self, snapshot_id: int) -> int:
        """The index of the mark of a snapshot.

        Raises:
            NotFoundError: the timeline does not contain it.
        """
        for position, mark in enumerate(self.marks):
            if mark.snapshot_id == snapshot_id:
                return position
        hint = "The table has no snapshot yet."
        if self.marks:
            ends = self.marks[0].snapshot_id, self.marks[-1].snapshot_id
            hint = f"Available snapshots: {ends[0]} to {ends[1]}."
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
        """A bar chart of the newest snapshots, and the list of all."""
        marks = self.marks[-_MAX_BARS:][::-1]
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
        rows = [_cells(self, mark) for mark in reversed(self.marks)]
        counts = ("schema#", "rows#", "row change#")
        heads = ("snapshot", "commit kind", "committed", *counts, "referenced by")
        return Report(title=_title(self), sections=(chart, grid("Snapshots", heads, rows)))

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
        row = {"snapshot_id": mark.snapshot_id, "expired": mark.expired, "tags": tags}
        snapshot = mark.snapshot
        if snapshot is None:
            return row
        row |= {
            "commit_kind": snapshot.commit_kind.value,
            "commit_time": snapshot.time_millis,
            "properties": list((snapshot.properties or {}).items()),
        }
        same = [name for name in TIMELINE_SCHEMA.names if name not in row]
        return {**row, **{name: getattr(snapshot, name) for name in same}}


_MAX_BARS = 60


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
    reads = (_snapshots, _tags, _hints, _consumers, _branches)
    calls = [partial(list[_Found], read(store)) for read in reads]
    parts = at_once(store.file_io, calls)
    found = [one for part in parts for one in part]
    marks: dict[int, Mark] = {}
    for mark in (one for one in found if isinstance(one, Mark)):
        held = marks.get(mark.snapshot_id)
        if held is None or held.snapshot is None:
            expired = mark.expired and held is None
            marks[mark.snapshot_id] = replace(mark, expired=expired)
    return Timeline(
        marks=tuple(marks[i] for i in sorted(marks)),
        flags=tuple(one for one in found if isinstance(one, Flag)),
        problems=tuple(problem_of(one) for one in found if isinstance(one, PaimonError)),
        code=Code(python=call_code(f"{view.expression}.inspect.timeline")),
    )


_Found = Mark | Flag | PaimonError
"""A part of a timeline: marks and references of one kind, and errors of unreadable files."""


def _snapshots(store: TableStore) -> Iterator[_Found]:
    for snapshot_id, found in store.snapshots.list_readable():
        if isinstance(found, PaimonError):
            yield found
            yield Mark(snapshot_id=snapshot_id, snapshot=None)
        else:
            yield Mark(snapshot_id=snapshot_id, snapshot=found)


def _tags(store: TableStore) -> Iterator[_Found]:
    """The tags; the snapshot of a tag is expired unless there also is its file."""
    for name, found in _each(store, store.tags.names(), store.tags.load):
        if isinstance(found, PaimonError):
            yield found
        else:
            tagged = found.snapshot
            yield Flag(kind=FlagKind.TAG, name=name, snapshot_id=tagged.id)
            yield Mark(snapshot_id=tagged.id, snapshot=tagged, expired=True)


def _hints(store: TableStore) -> Iterator[_Found]:
    """The EARLIEST and LATEST hints as stored, even if stale."""
    names = {store.paths.earliest_hint: "EARLIEST", store.paths.latest_hint: "LATEST"}
    for path, content in _each(store, [*names], store.file_io.read):
        if isinstance(content, MissingFileError):
            continue
        if isinstance(content, PaimonError):
            raise content
        text = content[:_HINT_BYTES].decode("utf-8", "replace").strip()
        if text.isdecimal():
            yield Flag(kind=FlagKind.HINT, name=names[path], snapshot_id=int(text))
        else:
            yield CorruptFileError(path, "hint", "must be a snapshot id")


def _consumers(store: TableStore) -> Iterator[_Found]:
    for name, found in _each(store, store.consumers.ids(), store.consumers.find):
        if isinstance(found, PaimonError):
            yield found
        elif found is not None:
            yield Flag(kind=FlagKind.CONSUMER, name=name, snapshot_id=found.next_snapshot)


def _branches(store: TableStore) -> Iterator[_Found]:
    """The other branches, at their earliest snapshot, where they forked."""
    names = [name for name in store.branches.names() if name != store.paths.branch]

    def earliest(name: str) -> int | None:
        return store.for_branch(name).snapshots.earliest_id()

    for name, found in _each(store, names, earliest):
        if isinstance(found, PaimonError):
            yield found
        else:
            yield Flag(kind=FlagKind.BRANCH, name=name, snapshot_id=found or 0)


def _each(
    store: TableStore, names: Sequence[str], read: Callable[[str], _Value]
) -> Iterator[tuple[str, _Value | PaimonError]]:
    """Read files by name, at the same time if the storage is remote; errors are values."""

    def try_one(name: str) -> _Value | PaimonError:
        try:
            return read(name)
        except PaimonError as error:
            return error

    found = at_once(store.file_io, [partial(try_one, name) for name in names])
    return zip(names, found, strict=True)
