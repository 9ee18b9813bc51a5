"""The explorer without a screen: what is selected, and the answers to a front end's requests.

The widget only carries these answers over; tests ask the same methods. Bulk comes as columns of
numbers, everything else as JSON.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa

from paimon_explore.commit.backoff import system_clock
from paimon_explore.data_types.arrow_buffers import Column, Numbers, fixed_values, valid_mask
from paimon_explore.errors import InvalidInputError, NotFoundError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.byte_session import ByteDesk
from paimon_explore.inspection.byte_inspector.file_of_node import file_of_lives, table_bytes
from paimon_explore.inspection.explain.file_explanation import explain_file
from paimon_explore.inspection.explorer.explorer_reports import Asked, sheet_of
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.health.findings import Severity
from paimon_explore.inspection.health.health_report import Health
from paimon_explore.inspection.history.file_history import files_now
from paimon_explore.inspection.history.file_lifetimes import FileLives
from paimon_explore.inspection.history.timeline import Mark
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering import code_snippet
from paimon_explore.inspection.rendering.code_snippet import python_code, spark_code
from paimon_explore.inspection.rendering.number_format import plural
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.file_groups import MOST_FILES, FileGroups, file_groups, only
from paimon_explore.inspection.views.files_view import key_texts
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.manifest_tree import parse_key
from paimon_explore.inspection.views.node_detail import Document, Facts
from paimon_explore.metadata.manifest.manifest_table import take_rows
from paimon_explore.metadata.snapshot import CommitKind, Snapshot

Columns = Mapping[str, Numbers]

_KIND_CODES = {kind: code for code, kind in enumerate(CommitKind)}
_UNREADABLE_KIND = len(_KIND_CODES)
_UNREADABLE, _EXPIRED, _SAME_COMMIT, _WATERMARK = 1, 2, 4, 8
_NO_EVENT_YET = -(2**63)
_KEPT_FRAMES = 3
_KEPT_SHEETS = 8
_DIGITS = 10
_MOST_JUDGED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a request gives.

    Attributes:
        body: JSON.
        columns: numbers by name.
    """

    body: Mapping[str, object] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a view is asked.

    Attributes:
        text: what stands in its field.
        compare: the snapshot marked for comparison; 0 for none.
        node: the chosen tree node or file.
    """

    text: str = ""
    compare: int = 0
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Files that a front end got, under the number of a frame.

    Attributes:
        lives: the files.
        whole: the files that a filter chooses from; `lives` are those that passed one.
        groups: the groups that were sent instead of `lives`; None if these were sent.
    """

    lives: FileLives
    whole: FileLives
    groups: FileGroups | None = None


class ExplorerState:
    """One table being explored.

    Args:
        inspector: the table, at the snapshot that is selected first.
        most_files: files that are sent one by one; more are sent as groups.
    """

    def __init__(self, inspector: Inspector, most_files: int = MOST_FILES) -> None:
        self.inspector = inspector
        self._most_files = most_files
        self._frames: dict[int, Shown] = {}
        self._next_frame = 0
        self.desk = ByteDesk()
        self._sheets: dict[object, Result] = {}

    @property
    def newest(self) -> int:
        """The newest snapshot's id; 0 without any."""
        marks = self.inspector.timeline().marks
        return marks[-1].snapshot_id if marks else 0

    def checked_snapshot(self, snapshot_id: int) -> int:
        """The id if the timeline holds it, 0 for none.

        Raises:
            NotFoundError: the timeline does not hold it.
        """
        if snapshot_id:
            self.inspector.timeline().position_of(snapshot_id)
        return snapshot_id

    def open(self) -> Answer:
        """The table's facts and the timeline's columns."""
        timeline = self.inspector.timeline()
        view = self.inspector.view
        table = {
            "name": view.short_name,
            "database": view.database,
            "location": view.location,
            "branch": view.branch,
            "partitioned": bool(view.schema and view.schema.partition_keys),
            "chips": [
                *table_chips(view.schema),
                *(f"branch {f.name}: no snapshot" for f in timeline.flags if not f.snapshot_id),
            ],
            "problems": [problem.state() for problem in timeline.problems[:20]],
        }
        flags = [
            {"kind": f.kind.value, "name": f.name, "snapshot": f.snapshot_id}
            for f in timeline.flags
        ]
        return Answer(
            body={"table": table, "flags": flags}, columns=timeline_columns(timeline.marks)
        )

    def files(self, snapshot_id: int) -> Answer:
        """The live files of one snapshot, at once and without their history.

        Raises:
            NotFoundError: no such snapshot.
            PaimonError: a manifest of it cannot be read.
        """
        inspector = self.inspector
        return self._frame(files_now(inspector.view, inspector.timeline(), snapshot_id))

    def history(self) -> Answer:
        """Some more of the history; with all files once everything is read."""
        history = self.inspector.history
        if not history.step():
            return Answer(body={"done": False, "covered": history.covered})
        return self._frame(self.inspector.lives())

    def rows(self, frame: int, rows: Sequence[int]) -> Answer:
        """Names and keys of some files of a frame.

        Raises:
            InvalidInputError: there is no such frame or row.
        """
        shown = self._shown(frame)
        lives = shown.lives if shown.groups is None else shown.groups
        if any(row >= len(lives) for row in rows):
            raise InvalidInputError(f"The list has {len(lives)} rows.")
        if isinstance(lives, FileGroups):
            texts = [lives.words(row) for row in rows]
            groups = [{"name": text, "min_key": text, "max_key": ""} for text in texts]
            return Answer(body={"rows": groups})
        files = take_rows(lives.files, np.array(rows, np.int64))
        lows, highs = key_texts(files, self.inspector.keys)
        names = files.column("file_name").to_pylist()
        return Answer(
            body={
                "rows": [
                    {"name": name, "min_key": low, "max_key": high}
                    for name, low, high in zip(names, lows, highs, strict=True)
                ]
            }
        )

    def filter(self, frame: int, text: str) -> Answer:
        """Which files of a frame pass a condition.

        Of a frame of groups, and of what was filtered out of one, the answer is a new frame: of
        files if few enough pass, else of groups again.

        Raises:
            InvalidInputError: there is no such frame, or the condition cannot be understood.
        """
        shown = self._shown(frame)
        passes = self.inspector.mask(shown.whole, text)
        if shown.groups is None and shown.whole is shown.lives:
            return Answer(columns={"mask": passes.astype(np.uint8)})
        return self._frame(only(shown.whole, passes), shown.whole)

    def resolve(self, text: str) -> Answer:
        """The snapshot that a typed id, tag or time means.

        Raises:
            InvalidInputError: the text is none of these.
            NotFoundError: there is no such snapshot.
        """
        return Answer(body={"snapshot": self.inspector.timeline().resolve(text)})

    def tree(self, snapshot_id: int, keys: Iterable[str], offset: int = 0) -> Answer:
        """Children of several nodes; one that cannot be read has its problem as only child.

        Raises:
            InvalidInputError: a key that no node can have.
            NotFoundError: no such snapshot.
        """
        inspector = self.inspector.at(snapshot_id)
        inspector.timeline().snapshot(snapshot_id)
        found: dict[str, object] = {}
        for key in keys:
            parse_key(key)
            try:
                found[key] = inspector.tree(key, offset).page()
            except InvalidInputError:
                continue  # open for another snapshot, not there in this one
            except PaimonError as error:
                found[key] = _problem_node(key, error)
        return Answer(body={"children": found})

    def detail(self, node: str) -> Answer:
        """The document of a node path.

        A path is `7`, `7/delta/0/3`, `file/<frame>/<row>`, `name/<file>` or `schema/<id>`.

        Raises:
            InvalidInputError: no such node.
            NotFoundError: no such snapshot.
            PaimonError: the node cannot be read.
        """
        head, _, rest = node.partition("/")
        if head == "file":
            frame, row = self._file(rest)
            groups = self._shown(frame).groups
            if groups is not None:
                return Answer(body=groups.document(row).page())
            return Answer(body=self.inspector.file_of(self._lives(frame), row).page())
        if head == "name":
            return Answer(body=self._named(rest).page())
        if head == "schema" and rest.isdecimal() and len(rest) < _DIGITS:
            return Answer(body=self.inspector.schema(int(rest)).page())
        if not head.isdecimal():
            raise InvalidInputError(f"{node[:60]!r} is not a node.")
        return Answer(body=self.inspector.at(int(head)).node(rest).page())

    def sheet(self, pane: str, snapshot_id: int, asked: Question) -> Result:
        """What a view that is a sheet shows; the last ones are kept.

        Raises:
            InvalidInputError: there is no such view, or the text cannot be understood.
            NotFoundError: what is asked for is not there.
            PaimonError: a file cannot be read.
        """
        key = (pane, snapshot_id, asked)
        found = self._sheets.get(key)
        if found is None:
            found = sheet_of(
                pane,
                Asked(
                    inspector=self.inspector.at(snapshot_id),
                    text=asked.text,
                    compare=asked.compare,
                    file=self._file_name(asked.node),
                    now_ms=system_clock(),
                ),
            )
            self._sheets = dict([*self._sheets.items(), (key, found)][-_KEPT_SHEETS:])
        return found

    def findings(self, snapshot_id: int) -> Answer:
        """How many findings the health of a snapshot has, for the badge of that view.

        Tables of many files are not judged for a badge alone: then the answer is empty.

        Raises:
            NotFoundError: no such snapshot.
        """
        known = ("health", snapshot_id, Question()) in self._sheets
        files = max((len(shown.lives) for shown in self._frames.values()), default=0)
        if files > _MOST_JUDGED and not known:
            return Answer()
        health = self.sheet("health", snapshot_id, Question())
        if not isinstance(health, Health):
            return Answer()
        counts = [(weight.value, health.count(weight)) for weight in Severity]
        counts = [("problem", len(health.problems)), *counts]
        words = [plural(count, word) for word, count in counts if count]
        worst = next((word for word, count in counts if count), Severity.NOTE.value)
        if health.problems:
            worst = Severity.ERROR.value
        says = ", ".join(words) or "none"
        total = len(health) + len(health.problems)
        return Answer(body={"total": total, "worst": worst, "words": says})

    def _file_name(self, node: str) -> str:
        """The name of the file that a node path chooses; empty if it is another node."""
        head, _, rest = node.partition("/")
        if head == "name":
            return rest
        if head != "file":
            return ""
        try:
            frame, row = self._file(rest)
        except InvalidInputError:
            return ""
        if self._shown(frame).groups is not None:
            return ""
        return str(self._lives(frame).files.column("file_name")[row].as_py())

    def bytes(self, node: str) -> Answer:
        """The file behind a node path, laid on the desk; see `detail` for the paths.

        Raises:
            InvalidInputError: no such node.
            NotFoundError: no such snapshot or file.
            PaimonError: what leads to the file cannot be read.
        """
        head, _, rest = node.partition("/")
        if head == "file":
            frame, row = self._file(rest)
            if self._shown(frame).groups is not None:
                raise InvalidInputError("A group of files has no bytes.", hint="Filter the files.")
            found = file_of_lives(self.inspector, self._lives(frame), row)
        elif head.isdecimal():
            found = table_bytes(self.inspector.at(int(head)), rest)
        else:
            raise InvalidInputError(f"{node[:60]!r} is not a node.")
        return Answer(body=self.desk.put(found))

    def _named(self, name: str) -> Document:
        """All about a file by its name: its entry, or for files of metadata why it is there."""
        try:
            return self.inspector.file(name)
        except NotFoundError:
            found = explain_file(self.inspector, name, system_clock())
        rows = (
            ("held by", ", ".join(one.text for one in found.holders) or "nothing"),
            ("may be deleted", found.deletion.text),
            ("path", found.path),
        )
        return Document(title=found.name, subtitle=found.type, sections=(Facts(rows=rows),))

    def code(self, selected: int, tab: str, condition: str, node: str) -> tuple[str, str]:
        """The lines of Python and of PySpark that yield what is shown."""
        head, _, rest = node.partition("/")
        name = self._file_name(node)
        key = "" if head in ("file", "name", "schema") else rest
        shown = code_snippet.Shown(
            snapshot_id=selected,
            tag=self.inspector.timeline().only_tag(selected),
            tab=tab,
            filter=condition,
            key=key,
            file=name,
        )
        view = self.inspector.view
        return python_code(shown, view.expression), spark_code(shown, view.location)

    def _file(self, text: str) -> tuple[int, int]:
        frame, _, row = text.partition("/")
        if not (frame.isdecimal() and row.isdecimal() and len(row) < 10):  # noqa: PLR2004 - digits
            raise InvalidInputError(f"file/{text[:60]} is not a node.")
        shown = self._shown(int(frame))
        if int(row) >= len(shown.lives if shown.groups is None else shown.groups):
            raise InvalidInputError(f"There is no file {row}.")
        return int(frame), int(row)

    def _shown(self, frame: int) -> Shown:
        found = self._frames.get(frame)
        if found is None:
            raise InvalidInputError(f"The list of files {frame} is out of date.")
        return found

    def _lives(self, frame: int) -> FileLives:
        return self._shown(frame).lives

    def _frame(self, lives: FileLives, whole: FileLives | None = None) -> Answer:
        frame = self._next_frame
        self._next_frame += 1
        groups = file_groups(lives) if len(lives) > self._most_files else None
        shown = Shown(lives=lives, whole=lives if whole is None else whole, groups=groups)
        self._frames = dict([*self._frames.items(), (frame, shown)][-_KEPT_FRAMES:])
        problems = self.inspector.history.problems
        return Answer(
            body={
                "done": True,
                "frame": frame,
                "first": lives.first,
                "last": lives.last,
                "unknown": sorted(lives.unknown),
                "problems": [problem.state() for problem in problems[:4]],
                "grouped": groups is not None,
            },
            columns=lives_columns(lives) if groups is None else groups_columns(groups),
        )


def timeline_columns(marks: Sequence[Mark]) -> Columns:
    """The timeline as numbers; unreadable marks have zeros."""
    snapshots = [mark.snapshot for mark in marks]
    users = sorted({s.commit_user for s in snapshots if s is not None})
    codes = {user: code for code, user in enumerate(users)}

    def numbers(values: Iterable[int | None], dtype: type[np.generic] = np.int64) -> np.ndarray:
        return np.array([0 if value is None else value for value in values], dtype)

    return {
        "id": numbers(mark.snapshot_id for mark in marks),
        "time": numbers((0 if s is None else s.time_millis for s in snapshots), np.float64),
        "kind": numbers(
            _UNREADABLE_KIND if s is None else _KIND_CODES[s.commit_kind] for s in snapshots
        ),
        "state": numbers(mark_states(marks)),
        "schema": numbers(0 if s is None else s.schema_id for s in snapshots),
        "total_rows": numbers(0 if s is None else s.total_record_count for s in snapshots),
        "delta_rows": numbers(0 if s is None else s.delta_record_count for s in snapshots),
        "changelog_rows": numbers(0 if s is None else s.changelog_record_count for s in snapshots),
        "user": numbers(0 if s is None else codes[s.commit_user] for s in snapshots),
        "watermark": numbers((_watermark(s) for s in snapshots), np.float64),
        **text_columns("user", users),
    }


def mark_states(marks: Sequence[Mark]) -> Iterator[int]:
    """What is odd about each mark, as bits.

    1: unreadable, 2: expired, 4: of the same commit as the mark before it, 8: with a watermark.
    """
    before: Snapshot | None = None
    for mark in marks:
        snapshot = mark.snapshot
        state = (_UNREADABLE if snapshot is None else 0) | (_EXPIRED if mark.expired else 0)
        if snapshot is not None:
            state |= _SAME_COMMIT if _one_commit(before, snapshot) else 0
            state |= _WATERMARK if _watermark(snapshot) is not None else 0
        before = snapshot
        yield state


def _one_commit(before: Snapshot | None, after: Snapshot) -> bool:
    """Whether two snapshots come from one commit: what it appended, then what it compacted."""
    return (
        before is not None
        and before.id + 1 == after.id
        and before.commit_user == after.commit_user
        and before.commit_identifier == after.commit_identifier
        and before.commit_kind is not after.commit_kind
    )


def _watermark(snapshot: Snapshot | None) -> int | None:
    """The watermark; None for none, or one that no event has moved yet."""
    if snapshot is None or snapshot.watermark in (None, _NO_EVENT_YET):
        return None
    return snapshot.watermark


def lives_columns(lives: FileLives) -> Columns:
    """Files as numbers: at most 60 bytes each, usually about 20 once packed."""
    files = lives.files
    created = _column(files, "creation_time")
    return {
        "added": lives.added,
        "removed": lives.removed,
        "size": fixed_values(_column(files, "file_size"), np.int64),
        "rows": fixed_values(_column(files, "row_count"), np.int64),
        "level": fixed_values(_column(files, "level"), np.int32),
        "bucket": fixed_values(_column(files, "bucket"), np.int32),
        "partition": lives.partitions.codes,
        "created": np.where(valid_mask(created), fixed_values(created, np.int64), 0),
        "schema": fixed_values(_column(files, "schema_id"), np.int64),
        **text_columns("partition", lives.partitions.texts),
    }


def groups_columns(groups: FileGroups) -> Columns:
    """Groups in the form of files, with the number of files of each."""
    nothing = np.zeros(len(groups), np.int64)
    texts = text_columns("partition", groups.partitions)
    return {**groups.columns, "created": nothing, "schema": nothing, **texts}


def text_columns(name: str, texts: Iterable[str]) -> Columns:
    """Texts as one column of UTF-8 bytes and one of the places where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {
        f"{name}_text": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}_end": ends if len(ends) else np.empty(0, np.int64),
    }


def _column(files: pa.Table, name: str) -> Column:
    column: Column = files.column(name).combine_chunks()
    return column


def _problem_node(key: str, error: PaimonError) -> dict[str, object]:
    problem = problem_of(error)
    node = {
        "key": f"{key}/problem",
        "type": "problem",
        "label": problem.kind,
        "problem": problem.message,
    }
    return {"nodes": [node], "total": 1}
