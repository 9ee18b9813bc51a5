"""The state of the explorer, and the answers to requests of the front end.

The widget only transports these answers; tests call the same methods. Bulk data is sent as numeric
columns, everything else as JSON.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np

from paimon_explore.data_types.arrow_buffers import Numbers
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError, NotFoundError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.byte_inspector.file_of_tree_node import file_of_lives, table_bytes
from paimon_explore.inspection.explain.file_explanation import explain_file
from paimon_explore.inspection.explorer.explorer_reports import ReportRequest, view_result
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS
from paimon_explore.inspection.explorer.rows_session import RowsSession
from paimon_explore.inspection.explorer.sql_session import SqlSession
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.explorer.timeline_update import (
    POLLS_PER_READ,
    TimelineUpdate,
    compare_timelines,
    is_current,
    read_again,
)
from paimon_explore.inspection.health.findings import Severity
from paimon_explore.inspection.health.health_facts import MAX_CHECKED_FILES
from paimon_explore.inspection.health.health_report import Health, health_badge
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.history.timeline import Mark
from paimon_explore.inspection.overview.overview_report import Overview
from paimon_explore.inspection.profile.profile_session import ProfileSession, checked_condition
from paimon_explore.inspection.profile.table_profile import Profile
from paimon_explore.inspection.rendering.code_snippet import (
    point_code,
    point_options,
    python_code,
    read_code,
)
from paimon_explore.inspection.rendering.report import facts
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.file_groups import MAX_FILES, FileGroups, file_groups, only
from paimon_explore.inspection.views.files_view import key_texts
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.manifest_tree import parse_key
from paimon_explore.inspection.views.node_detail import Document
from paimon_explore.metadata.manifest.manifest_table import take_rows
from paimon_explore.metadata.snapshot import CommitKind, Snapshot
from paimon_explore.scan.manifest_arrays import numbers

Columns = Mapping[str, Numbers]

_KIND_CODES = {kind: code for code, kind in enumerate(CommitKind)}
_UNREADABLE_KIND = len(_KIND_CODES)
_UNREADABLE, _EXPIRED, _SAME_COMMIT, _WATERMARK = 1, 2, 4, 8
_NO_EVENT_YET = -(2**63)
_CACHED_FRAMES = 3
_CACHED_REPORTS = 8
_DIGITS = 10
_FILE_COLUMNS = {
    "size": "file_size",
    "rows": "row_count",
    "level": "level",
    "bucket": "bucket",
    "created": "creation_time",
    "schema": "schema_id",
}
"""Columns of files by the names in the front end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a request.

    Attributes:
        body: JSON.
        columns: numeric columns by name.
    """

    body: Mapping[str, object] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewInput:
    """The input of a report view.

    Attributes:
        text: text of the input field.
        compare: id of the snapshot marked for comparison; 0 for none.
        node: path of the selected tree node or file.
    """

    text: str = ""
    compare: int = 0
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFiles:
    """A list of files that was sent to the front end, which refers to it by a frame number.

    Attributes:
        lifetimes: the files.
        whole: the files before filtering.
        groups: the groups that were sent instead of `lifetimes`; None if the files were sent.
    """

    lifetimes: FileLifetimes
    whole: FileLifetimes
    groups: FileGroups | None = None

    @property
    def rows(self) -> FileLifetimes | FileGroups:
        """What was sent as rows."""
        return self.lifetimes if self.groups is None else self.groups


class ExplorerState:
    """The state of one explorer.

    Args:
        inspector: the table at the initially selected snapshot.
        max_files: maximum number of files that are sent individually; more are sent as groups.
    """

    def __init__(self, inspector: Inspector, max_files: int = MAX_FILES) -> None:
        self.inspector = inspector
        self._max_files = max_files
        self._frames: dict[int, SentFiles] = {}
        self._next_frame = 0
        self.byte_session = ByteSession()
        self.profile_session = ProfileSession()
        self.rows_session = RowsSession()
        self.sql_session = SqlSession()
        self._reports: dict[object, Result] = {}
        self._polls = 0
        self.version = 0

    def poll(self, selected: int) -> TimelineUpdate:
        """Read the timeline again if the table has changed; see `timeline_update`.

        `version` counts how often it changed. File lists that were sent before are dropped then.

        Args:
            selected: the selected snapshot.

        Raises:
            PaimonError: the snapshots cannot be read.
        """
        self._polls += 1
        before = self.inspector
        has_written, self.sql_session.has_written = self.sql_session.has_written, False
        if not has_written and self._polls % POLLS_PER_READ and is_current(before):
            return TimelineUpdate(selected=selected)
        now = read_again(before)
        found = compare_timelines(before.timeline(), now.timeline(), selected)
        if found.changed or now.view.schema != before.view.schema:
            self.inspector = now
            self.version += 1
            self._frames.clear()
            self._reports.clear()
        return found

    @property
    def newest(self) -> int:
        """The id of the latest snapshot; 0 if there is none."""
        marks = self.inspector.timeline().marks
        return marks[-1].snapshot_id if marks else 0

    def checked_snapshot(self, snapshot_id: int) -> int:
        """Return the id if it is 0 or in the timeline.

        Raises:
            NotFoundError: the timeline does not contain it.
        """
        if snapshot_id:
            self.inspector.timeline().position_of(snapshot_id)
        return snapshot_id

    def open(self) -> Answer:
        """Properties of the table, the groups of tabs, and the timeline as columns."""
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
        groups = [[title, list(tabs.items())] for title, tabs in GROUPS.items()]
        return Answer(
            body={"table": table, "flags": flags, "groups": groups, "version": self.version},
            columns=timeline_columns(timeline.marks),
        )

    def files(self, snapshot_id: int) -> Answer:
        """The live files of one snapshot without their history, which is faster.

        Raises:
            NotFoundError: the snapshot does not exist.
            PaimonError: a manifest cannot be read.
        """
        return self._frame(self.inspector.at(snapshot_id).current_files())

    def history(self) -> Answer:
        """Read the next part of the history; the answer has all files when it is complete."""
        history = self.inspector.history
        if not history.step():
            return Answer(body={"done": False, "covered": history.covered})
        return self._frame(self.inspector.lifetimes())

    def rows(self, frame: int, rows: Sequence[int]) -> Answer:
        """The names and keys of some files of a frame.

        Raises:
            InvalidInputError: the frame or row does not exist.
        """
        lifetimes = self._shown(frame).rows
        if any(row >= len(lifetimes) for row in rows):
            raise InvalidInputError(
                f"A row number is out of range: the file list has {len(lifetimes)} rows."
            )
        if isinstance(lifetimes, FileGroups):
            counts = [lifetimes.size_text(row) for row in rows]
            groups = [{"name": text, "min_key": text, "max_key": ""} for text in counts]
            return Answer(body={"rows": groups})
        files = take_rows(lifetimes.files, np.array(rows, np.int64))
        lows, highs = key_texts(files, self.inspector.keys)
        names = files.column("file_name").to_pylist()
        texts = [
            {"name": name, "min_key": low, "max_key": high}
            for name, low, high in zip(names, lows, highs, strict=True)
        ]
        return Answer(body={"rows": texts})

    def filter(self, frame: int, text: str) -> Answer:
        """Filter the files of a frame by a condition.

        For a frame of files the answer is a mask. For a frame of groups, and for one derived from
        it, the answer is a new frame: of files if few enough match, else of groups.

        Raises:
            InvalidInputError: the frame does not exist, or the condition is invalid.
        """
        shown = self._shown(frame)
        matches = self.inspector.mask(shown.whole, text)
        if shown.groups is None and shown.whole is shown.lifetimes:
            return Answer(columns={"mask": matches.astype(np.uint8)})
        return self._frame(only(shown.whole, matches), shown.whole)

    def resolve(self, text: str) -> Answer:
        """Resolve a typed snapshot id, tag or time.

        Raises:
            InvalidInputError: the text is not an id, a tag or a time.
            NotFoundError: the snapshot does not exist.
        """
        return Answer(body={"snapshot": self.inspector.timeline().resolve(text)})

    def tree(self, snapshot_id: int, keys: Iterable[str], offset: int = 0) -> Answer:
        """The children of several nodes; an unreadable node has its problem as the only child.

        Raises:
            InvalidInputError: a key is invalid.
            NotFoundError: the snapshot does not exist.
        """
        inspector = self.inspector.at(snapshot_id)
        inspector.timeline().snapshot(snapshot_id)
        found: dict[str, object] = {}
        for key in keys:
            parse_key(key)
            try:
                found[key] = inspector.tree(key, offset).page()
            except InvalidInputError:
                continue  # a node of another snapshot that this one does not have
            except PaimonError as error:
                found[key] = _problem_node(key, error)
        return Answer(body={"children": found})

    def detail(self, node: str) -> Answer:
        """The document of a node path.

        A path is `7`, `7/delta/0/3`, `file/<frame>/<row>`, `name/<file>` or `schema/<id>`.

        Raises:
            InvalidInputError: the node does not exist.
            NotFoundError: the snapshot does not exist.
            PaimonError: the node cannot be read.
        """
        head, _, rest = node.partition("/")
        if head == "file":
            shown, row = self._file(rest)
            if shown.groups is not None:
                return Answer(body=shown.groups.document(row).page())
            return Answer(body=self.inspector.file_of(shown.lifetimes, row).page())
        if head == "name":
            return Answer(body=self._named(rest).page())
        if head == "schema" and rest.isdecimal() and len(rest) < _DIGITS:
            return Answer(body=self.inspector.schema(int(rest)).page())
        if not head.isdecimal():
            raise InvalidInputError(f"{node[:60]!r} is no metadata path such as '3/base/0'.")
        return Answer(body=self.inspector.at(int(head)).node(rest).page())

    def result(self, pane: str, snapshot_id: int, view_input: ViewInput) -> Result:
        """The result of a report view; the latest results are cached.

        Raises:
            InvalidInputError: the view does not exist, or the input is invalid.
            NotFoundError: the input names something that does not exist.
            PaimonError: a file cannot be read.
        """
        key = (pane, snapshot_id, view_input)
        found = self._reports.get(key)
        if found is None:
            found = view_result(
                pane,
                ReportRequest(
                    inspector=self.inspector.at(snapshot_id),
                    text=view_input.text,
                    compare=view_input.compare,
                    file=self.file_name(view_input.node),
                    now_ms=system_clock(),
                    health=self._known_health(snapshot_id),
                ),
            )
            if isinstance(found, Overview) and found.health is None:
                return found  # findings may be known later
            self._reports = dict([*self._reports.items(), (key, found)][-_CACHED_REPORTS:])
        return found

    def profile(self, snapshot_id: int, where: str) -> Answer:
        """Open the profile of a snapshot; its figures come from statistics.

        Raises:
            InvalidInputError: the condition on rows is invalid.
            NotFoundError: the snapshot does not exist.
            PaimonError: a metadata file cannot be read.
        """
        found = self.result("profile", snapshot_id, ViewInput(text=where))
        assert isinstance(found, Profile)  # noqa: S101 - the result of this view
        return Answer(body=self.profile_session.open(self.inspector.at(snapshot_id), found, where))

    def condition(self, snapshot_id: int, where: str) -> str:
        """A condition on the rows of a snapshot in normalized form; empty for none.

        Raises:
            InvalidInputError: the condition is invalid.
        """
        return checked_condition(self.inspector.at(snapshot_id), where)

    def _known_health(self, snapshot_id: int) -> Health | None:
        """The findings of a snapshot, if they have been computed."""
        known = self._reports.get(("health", snapshot_id, ViewInput()))
        return known if isinstance(known, Health) else None

    def findings(self, snapshot_id: int) -> Answer:
        """The number of health findings of a snapshot, for the badge of the Health view.

        Large tables are checked only when the view is opened; until then the answer is empty.

        Raises:
            NotFoundError: the snapshot does not exist.
        """
        known = self._known_health(snapshot_id) is not None
        files = max((len(shown.lifetimes) for shown in self._frames.values()), default=0)
        if files > MAX_CHECKED_FILES and not known:
            return Answer()
        health = self.result("health", snapshot_id, ViewInput())
        if not isinstance(health, Health):
            return Answer()
        badge = health_badge(health)
        return Answer(body={**badge.state(), "worst": badge.worst or Severity.NOTE.value})

    def file_name(self, node: str) -> str:
        """The file name of a node path; empty if the node is not a file."""
        head, _, rest = node.partition("/")
        if head == "name":
            return rest
        if head != "file":
            return ""
        try:
            shown, row = self._file(rest)
        except InvalidInputError:
            return ""
        if shown.groups is not None:
            return ""
        return str(shown.lifetimes.files.column("file_name")[row].as_py())

    def bytes(self, node: str) -> Answer:
        """Open the file of a node in the byte inspector; see `detail` for node paths.

        Raises:
            InvalidInputError: the node does not exist.
            NotFoundError: no such snapshot or file.
            PaimonError: metadata that references the file cannot be read.
        """
        head, _, rest = node.partition("/")
        if head == "file":
            shown, row = self._file(rest)
            if shown.groups is not None:
                raise InvalidInputError(
                    "A row that groups several files has no bytes.",
                    hint="Filter the list to show single files.",
                )
            found = file_of_lives(self.inspector, shown.lifetimes, row)
        elif head.isdecimal():
            found = table_bytes(self.inspector.at(int(head)), rest)
        else:
            raise InvalidInputError(f"{node[:60]!r} is no metadata path such as '3/base/0'.")
        return Answer(body=self.byte_session.put(found))

    def _named(self, name: str) -> Document:
        """Details of a file by name: its manifest entry, or why a metadata file exists."""
        try:
            return self.inspector.file(name)
        except NotFoundError:
            found = explain_file(self.inspector, name, system_clock())
        rows = facts(
            ("referenced by", ", ".join(one.text for one in found.holders) or "none"),
            ("may be deleted", found.deletion.text),
            ("path", found.path),
        )
        return Document(title=found.name, subtitle=found.type, sections=(rows,))

    def code(self, selected: int, tab: str, condition: str, node: str) -> tuple[str, str]:
        """The code in Python and PySpark that gives what is shown."""
        view, tag = self.inspector.view, self.inspector.timeline().only_tag(selected)
        spark = read_code(view.location, point_options(selected, tag))
        if not selected:
            return f"{view.expression}.inspect.timeline()", spark
        head, _, rest = node.partition("/")
        key = "" if head in ("file", "name", "schema") else rest
        at = point_code(view.expression, selected, tag)
        return python_code(at, tab, condition, key, self.file_name(node)), spark

    def _file(self, text: str) -> tuple[SentFiles, int]:
        frame, _, row = text.partition("/")
        if not (frame.isdecimal() and row.isdecimal() and len(row) < 10):  # noqa: PLR2004 - digits
            raise InvalidInputError(f"file/{text[:60]} is not the path of a tree node.")
        shown = self._shown(int(frame))
        if int(row) >= len(shown.rows):
            raise InvalidInputError(f"The file list has no row {row}.")
        return shown, int(row)

    def _shown(self, frame: int) -> SentFiles:
        found = self._frames.get(frame)
        if found is None:
            raise InvalidInputError(
                f"The file list {frame} is no longer available; reload the files."
            )
        return found

    def _frame(self, lifetimes: FileLifetimes, whole: FileLifetimes | None = None) -> Answer:
        frame = self._next_frame
        self._next_frame += 1
        groups = file_groups(lifetimes) if len(lifetimes) > self._max_files else None
        shown = SentFiles(
            lifetimes=lifetimes, whole=lifetimes if whole is None else whole, groups=groups
        )
        self._frames = dict([*self._frames.items(), (frame, shown)][-_CACHED_FRAMES:])
        problems = self.inspector.history.problems
        return Answer(
            body={
                "done": True,
                "frame": frame,
                "first": lifetimes.first,
                "last": lifetimes.last,
                "unknown": sorted(lifetimes.unknown),
                "problems": [problem.state() for problem in problems[:4]],
                "grouped": groups is not None,
            },
            columns=lifetime_columns(lifetimes) if groups is None else groups_columns(groups),
        )


def timeline_columns(marks: Sequence[Mark]) -> Columns:
    """The timeline as numeric columns; unreadable snapshots have zeros."""
    snapshots = [mark.snapshot for mark in marks]
    users = sorted({s.commit_user for s in snapshots if s is not None})
    codes = {user: code for code, user in enumerate(users)}

    def made(values: Iterable[int | None], dtype: type[np.generic] = np.int64) -> np.ndarray:
        return np.array([value or 0 for value in values], dtype)

    return {
        "id": made(mark.snapshot_id for mark in marks),
        "time": made((0 if s is None else s.time_millis for s in snapshots), np.float64),
        "kind": made(
            _UNREADABLE_KIND if s is None else _KIND_CODES[s.commit_kind] for s in snapshots
        ),
        "state": made(mark_states(marks)),
        "schema": made(0 if s is None else s.schema_id for s in snapshots),
        "total_rows": made(0 if s is None else s.total_record_count for s in snapshots),
        "delta_rows": made(0 if s is None else s.delta_record_count for s in snapshots),
        "changelog_rows": made(0 if s is None else s.changelog_record_count for s in snapshots),
        "user": made(0 if s is None else codes[s.commit_user] for s in snapshots),
        "watermark": made((_watermark(s) for s in snapshots), np.float64),
        **text_columns("user", users),
    }


def mark_states(marks: Sequence[Mark]) -> Iterator[int]:
    """Flags of each mark.

    1: unreadable, 2: expired, 4: same commit as the previous mark, 8: has a watermark.
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
    """Whether two snapshots are the APPEND and COMPACT snapshot of one commit."""
    return (
        before is not None
        and before.id + 1 == after.id
        and before.commit_user == after.commit_user
        and before.commit_identifier == after.commit_identifier
        and before.commit_kind is not after.commit_kind
    )


def _watermark(snapshot: Snapshot | None) -> int | None:
    """The watermark; None if there is none or it is still the initial value."""
    if snapshot is None or snapshot.watermark in (None, _NO_EVENT_YET):
        return None
    return snapshot.watermark


def lifetime_columns(lifetimes: FileLifetimes) -> Columns:
    """Files as numeric columns: at most 60 bytes per file, about 20 when packed."""
    return {
        "added": lifetimes.added,
        "removed": lifetimes.removed,
        "partition": lifetimes.partitions.codes,
        **{name: numbers(lifetimes.files, column) for name, column in _FILE_COLUMNS.items()},
        **text_columns("partition", lifetimes.partitions.texts),
    }


def groups_columns(groups: FileGroups) -> Columns:
    """Groups in the same columns as files, with the number of files of each."""
    nothing = np.zeros(len(groups), np.int64)
    texts = text_columns("partition", groups.partitions)
    return {**groups.columns, "created": nothing, "schema": nothing, **texts}


def text_columns(name: str, texts: Iterable[str]) -> Columns:
    """Strings as one column of UTF-8 bytes and one of end offsets."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {
        f"{name}_text": np.frombuffer(b"".join(encoded), np.uint8),
        f"{name}_end": ends if len(ends) else np.empty(0, np.int64),
    }


def _problem_node(key: str, error: PaimonError) -> dict[str, object]:
    node = {"key": f"{key}/problem", "type": "problem", "label": type(error).__name__}
    return {"nodes": [{**node, "problem": error.message}], "total": 1}
