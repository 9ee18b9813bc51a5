"""The history of a primary key: its stored versions at each snapshot, and how they are merged.

The visible row is read with the regular reader, and what becomes of each stored version is asked of
the merge itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Ints, shown_rows
from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.key_versions import (
    KeyArgument,
    candidate_files,
    read_versions,
    resolve_key,
)
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.problem import Problem, problem_of
from paimon_explore.inspection.rendering.cell_texts import row_texts
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone, snapshot_chart
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Failed,
    Note,
    Report,
    Section,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rows.record_status import (
    BY_VECTOR,
    KINDS,
    MERGED_ON_READ,
    NOT_COMPACTED,
    RECORD_COLUMNS,
    SYSTEM,
    Fate,
    KeyRecords,
    RecordStatus,
    is_hidden,
)
from paimon_explore.inspection.views.files_view import file_cell
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    MERGE_ENGINE,
)
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DeletionFile
from paimon_explore.scan.splits.deletion_vector_files import deletion_files

DEFAULT_SNAPSHOTS = 50
"""Number of latest snapshots that are searched by default."""

_TONES = {
    Fate.RETURNED: Tone.ADD,
    Fate.COMBINED: Tone.ADD,
    Fate.RETRACTS: Tone.REMOVE,
    Fate.DELETED: Tone.REMOVE,
    Fate.HIDDEN: Tone.WARN,
    Fate.REPLACED: Tone.MUTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVersion:
    """A stored row of a key.

    Attributes:
        file: name of its file.
        position: row number in the file.
        sequence: its sequence number; None in files without sequence numbers.
        kind: `+I`, `-U`, `+U` or `-D`.
        values: the row.
        text: the row as text.
        record: the row as one row of an Arrow table.
    """

    file: str
    position: int
    sequence: int | None
    kind: str
    values: dict[str, object]
    text: str
    record: pa.Table = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVersion:
    """A stored version of the key at one snapshot.

    Attributes:
        version: the stored row.
        level: level of its file at that snapshot.
        status: what the merge does with it.
    """

    version: StoredVersion
    level: int
    status: RecordStatus

    @property
    def result(self) -> str:
        """What the merge does with it, without the name of the file that replaces it."""
        return self.status.reason or "returned by reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """The versions of a key at one snapshot.

    Attributes:
        snapshot_id: the snapshot.
        versions: newest first.
        row: the row that a read returns; None for no row.
        text: that row as text.
        problem: the error of that read; None if it succeeded.
    """

    snapshot_id: int
    versions: tuple[JudgedVersion, ...]
    row: Mapping[str, object] | None
    text: str = "no row"
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeyHistory(Result):
    """The versions of a key over the snapshots.

    Attributes:
        name: the table.
        key: the key.
        engine: the merge engine.
        columns: the columns of the table.
        states: in order of snapshots.
        searched: number of files read because their key range contains the key.
        skipped: number of older snapshots that were not searched.
        problems: files that cannot be read.
    """

    name: str
    key: KeyArgument
    engine: MergeEngine
    columns: tuple[str, ...]
    states: tuple[KeyState, ...]
    searched: int
    skipped: int
    problems: tuple[Problem, ...]
    _schema: pa.Schema = field(repr=False, compare=False)
    kind = "key"

    def at(self, snapshot_id: int) -> KeyState | None:
        """The state at a snapshot; None if it was not searched."""
        return next((one for one in self.states if one.snapshot_id == snapshot_id), None)

    def to_arrow(self) -> pa.Table:
        """One row per snapshot and version: status, location and values."""
        rows = [
            {
                "_SNAPSHOT": state.snapshot_id,
                "_STATUS": judged.status.fate.value,
                "_REASON": judged.status.text,
                "_SEQUENCE_NUMBER": judged.version.sequence,
                "_VALUE_KIND": judged.version.kind,
                "_LEVEL": judged.level,
                "_FILE": judged.version.file,
                "_POSITION": judged.version.position,
            }
            for state in self.states
            for judged in state.versions
        ]
        records = [judged.version.record for state in self.states for judged in state.versions]
        count = len(self._schema) - len(self.columns)
        described = pa.Table.from_pylist(rows, schema=pa.schema([*self._schema][:count]))
        values = pa.concat_tables(records or [self._schema.empty_table()]).select([*self.columns])
        columns = [*described.columns, *values.columns]
        return pa.Table.from_arrays(columns, schema=self._schema)

    def figures(self) -> dict[str, object]:
        """The versions, their status and the row of each snapshot, as JSON."""
        return {
            "key": self.key.text,
            "engine": self.engine.value,
            "searched": self.searched,
            "skipped": self.skipped,
            "states": [
                {
                    "snapshot": state.snapshot_id,
                    "versions": [
                        [j.version.file, j.level, j.version.sequence, j.version.kind, j.status.text]
                        for j in state.versions
                    ],
                    "row": None if state.row is None else state.text,
                }
                for state in self.states
            ],
        }

    def to_report(self) -> Report:
        """A chart of the versions over the snapshots, and a table of their changes."""
        title = f"{self.name}: {self.key.text}"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        for problem in self.problems[:3]:
            yield Failed(problem=problem)
        if not self.states:
            if not self.problems:
                yield Note(text="The table has no snapshot yet.")
            return
        if any(state.versions for state in self.states):
            yield self._chart()
        newest = self.states[-1]
        yield facts(
            (f"row at snapshot {newest.snapshot_id}", truncate(newest.text, 300)),
            ("merge engine", self.engine.value),
            ("files read", self.searched),
            ("older snapshots not searched", self.skipped or None),
        )
        if not any(state.versions for state in self.states):
            yield Note(text="No file of these snapshots contains the key.")
            return
        rows: list[list[Entry]] = []
        for state in reversed(self._changed()):
            rows += _state_rows(state)
        heads = ("snapshot", "merge result", "level#", "row kind", "sequence#", "values", "file")
        note = "Only snapshots that changed the key are listed."
        yield grid("Stored versions of the key, newest snapshot first", heads, rows, note=note)

    def _changed(self) -> list[KeyState]:
        """The states that differ from the one before."""
        return [
            state
            for i, state in enumerate(self.states)
            if i == 0
            or (state.versions, state.text)
            != (self.states[i - 1].versions, self.states[i - 1].text)
        ]

    def _chart(self) -> LaneChart:
        lanes: dict[tuple[str, int], str] = {}
        boxes: list[Box] = []
        open_boxes: dict[tuple[str, int], tuple[int, JudgedVersion]] = {}
        for place, state in enumerate((*self.states, None)):
            now = {} if state is None else {_identity(j): j for j in state.versions}
            for one, (start, judged) in list(open_boxes.items()):
                if now.get(one) != judged:
                    boxes.append(self._box([*lanes].index(one), start, place, judged))
                    del open_boxes[one]
            for one, judged in now.items():
                sequence = judged.version.sequence
                lanes.setdefault(one, f"{judged.version.kind} sequence {sequence}")
                open_boxes.setdefault(one, (place, judged))
        title = "Stored versions of the key by snapshot (green: returned by reads)"
        ids = [state.snapshot_id for state in self.states]
        return snapshot_chart(title, ids, [*lanes.values()], boxes, max_lanes=60)

    def _box(self, lane: int, start: int, end: int, judged: JudgedVersion) -> Box:
        version = judged.version
        first = self.states[start].snapshot_id
        tooltip = (
            f"level {judged.level}, {version.kind}, sequence {version.sequence}: {judged.result}, "
            f"snapshots {first} to {self.states[end - 1].snapshot_id}, {version.file}"
        )
        return Box(
            lane=lane,
            start=start,
            end=end,
            label=f"L{judged.level}: {judged.status.fate}",
            tooltip=tooltip,
            tone=_TONES[judged.status.fate],
            selects=f"snapshot:{first}",
        )


def _identity(judged: JudgedVersion) -> tuple[str, int]:
    return judged.version.file, judged.version.position


def _state_rows(state: KeyState) -> Iterator[list[Entry]]:
    at = Cell(text=str(state.snapshot_id), selects=f"snapshot:{state.snapshot_id}")
    for judged in state.versions:
        version = judged.version
        yield [
            at,
            Cell(text=judged.result, tone=_TONES[judged.status.fate]),
            str(judged.level),
            version.kind,
            "" if version.sequence is None else str(version.sequence),
            truncate(version.text, 200),
            file_cell(version.file),
        ]
    if state.problem is not None:
        yield [at, Cell(text=state.problem.message, tone=Tone.REMOVE), *[""] * 5]
    else:
        read = Cell(text="row returned by a read", tone=Tone.PLAIN)
        yield [at, read, "", "", "", truncate(state.text, 200), ""]


def _named_texts(rows: pa.Table) -> Iterator[str]:
    """Each row as text, with the names of its columns."""
    for row in row_texts(rows):
        yield ", ".join(map(" ".join, zip(rows.column_names, row, strict=True)))


def key_history(inspector: Inspector, given: object, snapshots: int | None = None) -> KeyHistory:
    """Find the stored versions of a key and how they are merged.

    Args:
        inspector: the table.
        given: the key, see `resolve_key`.
        snapshots: number of latest snapshots to search; None for `DEFAULT_SNAPSHOTS`.

    Raises:
        UnsupportedFeatureError: the table has no primary key.
        InvalidInputError: the key is incomplete, or a value does not match the type of its column.
        PaimonError: a manifest cannot be read.
    """
    view, timeline = inspector.view, inspector.timeline()
    marks = [(i, m) for i, m in enumerate(timeline.marks) if m.snapshot is not None]
    newest = marks[-1][1].snapshot if marks else None
    target = view.target(newest, travelled=False)
    key = resolve_key(given, target.schema)
    limit = DEFAULT_SNAPSHOTS if snapshots is None else max(snapshots, 1)
    earlier = [(i, mark) for i, mark in marks if mark.snapshot_id <= inspector.snapshot_id]
    selected = earlier[-limit:]
    skipped = len(earlier) - len(selected)
    states: list[KeyState] = []
    searched, problems = 0, list[Problem]()
    if selected:
        lifetimes = inspector.lifetimes()
        rows = candidate_files(lifetimes, key, target)
        kept = [any(_lives_at(lifetimes, row, i) for i, _ in selected) for row in rows.tolist()]
        candidates = rows[np.array(kept, np.bool_)]
        records, problems = read_versions(target, lifetimes, candidates, key)
        if not all(lifetimes.knows(place) for place, _ in selected):
            problems = [*inspector.history.problems, *problems]
        searched = len(records)
        judge = _Judge(
            target=target, key=key, lifetimes=lifetimes, rows=candidates, records=records
        )
        for place, mark in selected:
            if lifetimes.knows(place) and mark.snapshot is not None:
                pinned = view.target(mark.snapshot, travelled=False)
                states.append(judge.state(pinned, place))
    named = [f.with_nullable(nullable=True) for f in arrow_schema(target.schema.row_type)]
    return KeyHistory(
        name=view.name,
        key=key,
        engine=target.options.value(MERGE_ENGINE),
        columns=target.schema.row_type.names,
        states=tuple(states),
        searched=searched,
        skipped=skipped,
        problems=tuple(problems),
        _schema=pa.schema([pa.field("_SNAPSHOT", pa.int64()), *RECORD_COLUMNS, *named]),
        code=Code(
            python=call_code(f"{inspector.code}.history", key.text, snapshots=snapshots),
            spark=read_code(view.location, inspector.point_options, f".where({key.text!r})"),
        ),
    )


def _lives_at(lifetimes: FileLifetimes, row: int, position: int) -> bool:
    return bool(lifetimes.added[row] <= position + 1 < lifetimes.removed[row])


class _LiveFile(NamedTuple):
    """A file that may contain the key at a snapshot."""

    name: str
    level: int
    bucket: int
    partition: bytes


@dataclass(slots=True, kw_only=True)
class _Judge:
    """Determines the status of the versions of a key; caches reads and deletion vectors."""

    target: ScanTarget
    key: KeyArgument
    lifetimes: FileLifetimes
    rows: Ints
    records: Mapping[str, pa.Table]
    _vectors: dict[DeletionFile, DeletionVector] = field(default_factory=dict)
    _known: dict[object, KeyState] = field(default_factory=dict)

    def state(self, target: ScanTarget, position: int) -> KeyState:
        """The key at the snapshot of a target."""
        snapshot = target.snapshot
        assert snapshot is not None  # noqa: S101 - the caller chose marks with snapshots
        vectors = deletion_files(target.store, snapshot, target.schema, target.options)
        live = [file for file in self._live(position) if self.records.get(file.name)]
        deleted = {
            file.name: self._deleted(
                file.name, vectors.get((file.partition, file.bucket), {}).get(file.name)
            )
            for file in live
        }
        known = (tuple(live), tuple(map(tuple, deleted.values())))
        if known not in self._known:
            by_bucket = groupby(sorted(live, key=_bucket), key=_bucket)
            merged = target.merges_postponed and any(f.bucket == POSTPONE_BUCKET for f in live)
            versions = [
                one
                for _, files in by_bucket
                for one in self._judged(target, [*files], deleted, merged=merged)
            ]
            self._known[known] = self._state(target, snapshot.id, versions)
        return replace(self._known[known], snapshot_id=snapshot.id)

    def _live(self, position: int) -> Iterator[_LiveFile]:
        files = self.lifetimes.files
        columns = [files.column(n) for n in ("file_name", "level", "bucket", "partition")]
        for row in self.rows.tolist():
            if _lives_at(self.lifetimes, row, position):
                yield _LiveFile(*(column[row].as_py() for column in columns))

    def _deleted(self, name: str, found: DeletionFile | None) -> list[bool]:
        """For each record of a file whether the deletion vector deletes it."""
        positions = numbers(self.records[name], SystemColumn.POSITION).tolist()
        if found is None:
            return [False] * len(positions)
        if found not in self._vectors:
            self._vectors[found] = load_vector(self.target.store.file_io, found)
        return [position in self._vectors[found] for position in positions]

    def _judged(
        self,
        target: ScanTarget,
        files: Sequence[_LiveFile],
        deleted: Mapping[str, list[bool]],
        *,
        merged: bool,
    ) -> Iterator[JudgedVersion]:
        """The versions in one bucket, newest first."""
        parts = {file.name: self.records[file.name] for file in files}
        levels = [file.level for file in files]
        apart = [
            BY_VECTOR if gone else NOT_COMPACTED if hidden else MERGED_ON_READ if merged else None
            for file in files
            for hidden in (is_hidden(target, file.level, file.bucket),)
            for gone in deleted[file.name]
        ]
        records = KeyRecords.of(target, parts, levels=levels, condition=self.key.predicate)
        groups = records.groups()
        counted = groups.where(np.array([apart[at] is None for at in groups.order.tolist()]))
        statuses = records.statuses(counted)
        versions = [one for file in files for one in self._versions(file.name)]
        for at in groups.order[::-1].tolist():
            level = int(records.levels[at])
            status = apart[at] or statuses[at]
            yield JudgedVersion(version=versions[at], level=level, status=status)

    def _versions(self, name: str) -> Iterator[StoredVersion]:
        records = self.records[name]
        system = (records.column(one).to_pylist() for one in SYSTEM)
        stored = records.drop_columns(list(SYSTEM))
        values, texts = shown_rows(stored), _named_texts(stored)
        for at, (sequence, kind, position, row, text) in enumerate(
            zip(*system, values, texts, strict=True)
        ):
            yield StoredVersion(
                file=name,
                position=position,
                sequence=sequence,
                kind=KINDS[kind or 0],
                values=row,
                text=text,
                record=stored.slice(at, 1),
            )

    def _state(
        self, target: ScanTarget, snapshot_id: int, versions: Sequence[JudgedVersion]
    ) -> KeyState:
        """The state of the key at a snapshot, with what a read returns, or its error."""
        found = KeyState(snapshot_id=snapshot_id, versions=tuple(versions), row=None)
        try:
            plan = plan_table(target, self.key.predicate)
            reader = SplitReader(
                target=target, columns=target.schema.row_type.names, predicate=self.key.predicate
            )
            for one in plan.splits:
                for batch in reader.read(one):
                    row = pa.Table.from_batches([batch.slice(0, 1)])
                    return replace(found, row=shown_rows(row)[0], text=next(_named_texts(row)))
        except PaimonError as error:
            return replace(found, problem=problem_of(error))
        return found


def _bucket(file: _LiveFile) -> tuple[bytes, int]:
    return file.partition, file.bucket
