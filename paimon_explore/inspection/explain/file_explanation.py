"""Explains why a file exists: what added, removed and references it, and when it may be deleted.

Works for every file that metadata references: data and changelog files, manifests, manifest lists,
index manifests, index files and statistics. A file in the table's folder that is not referenced is
an orphan.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.encoding.blob.blob_references import MANAGED_SUFFIX
from paimon_explore.errors import NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.file_references import Reference, ranges, references
from paimon_explore.inspection.history.timeline import FlagKind, Timeline
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone, axis_ticks
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.number_format import plural, time_text
from paimon_explore.inspection.rendering.report import Cell, Note, Report, Section, facts, grid
from paimon_explore.inspection.rendering.result import Result, rows_table
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.options.table_options import (
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
)
from paimon_explore.metadata.options.tag_options import CONSUMER_CHANGELOG_ONLY
from paimon_explore.metadata.table_paths import MAIN_BRANCH

ORPHAN_AGE_MS = 86_400_000
"""Minimum age of an orphan file, so that files of running commits are not removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionTime:
    """When a file may be deleted.

    Attributes:
        text: a sentence with time and conditions.
        from_ms: earliest time, epoch milliseconds; None if it depends on tags or consumers.
        commits: number of further commits required before.
    """

    text: str
    from_ms: int | None = None
    commits: int = 0


def deletion_time(
    view: TableView,
    timeline: Timeline,
    others: Sequence[str],
    found: Sequence[Reference],
    now_ms: int,
) -> DeletionTime:
    """The time at which the last reference to a file ends.

    Args:
        view: the table.
        timeline: its snapshots.
        others: descriptions of the tags, consumers and changelogs that reference it.
        found: all references to it.
        now_ms: current time, epoch milliseconds.
    """
    mine = [one for one in found if one.branch == view.branch and one.holder == "snapshots"]
    if any(one.removed is None and one.snapshots for one in mine):
        text = "not yet: the latest snapshot contains the file; a commit must remove it first"
        return DeletionTime(text=text)
    kept = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    last = max((end for one in mine for _, end in one.snapshots), default=None)
    also = f"when no longer referenced by {', '.join(others[:4])}" if others else ""
    if last is None:
        return DeletionTime(text=also or "now: no snapshot references the file")
    expiry = _of_expiry(view, timeline, last, kept[-1], now_ms)
    return DeletionTime(
        text=f"{expiry.text}, and {also}" if also else expiry.text,
        from_ms=None if others else expiry.from_ms,
        commits=expiry.commits,
    )


def _of_expiry(
    view: TableView, timeline: Timeline, last: int, newest: int, now_ms: int
) -> DeletionTime:
    """The time at which snapshot `last` may expire, by age and count; see `snapshot_expiry`."""
    options = view.options
    retain_min = options.value(SNAPSHOT_NUM_RETAINED_MIN)
    commits = max(0, last + retain_min - newest)
    beyond = newest - options.value(SNAPSHOT_NUM_RETAINED_MAX) + 1 > last
    next_one = [m.snapshot for m in timeline.marks if m.snapshot_id == last + 1 and m.snapshot]
    moment = next_one[0].time_millis + options.value(SNAPSHOT_TIME_RETAINED) if next_one else now_ms
    moment = now_ms if beyond else moment
    waits = []
    if commits:
        key = SNAPSHOT_NUM_RETAINED_MIN.key
        waits.append(f"after {plural(commits, 'more commit')} ({key} = {retain_min})")
    if moment > now_ms:
        waits.append(f"from {time_text(moment)} on ({SNAPSHOT_TIME_RETAINED.key})")
    when = " and ".join(waits) or "which may happen now"
    text = f"when snapshot {last} expires, {when}"
    return DeletionTime(text=text, from_ms=moment, commits=commits)


HOLDERS = schema_from_text(
    "holder string, name string, first_snapshot int64, last_snapshot int64, branch string"
)
"""One row per reference to a file, of kind `snapshots`, `tag`, `changelog` or `consumer`."""


_MAX_LABELS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A reference that keeps a file from being deleted.

    Attributes:
        kind: `snapshots`, `tag`, `changelog` or `consumer`.
        name: its name; empty for snapshots and changelogs.
        first: the first snapshot that needs the file.
        last: the last snapshot that needs the file.
        branch: the branch of the reference.
    """

    kind: str
    name: str
    first: int
    last: int
    branch: str

    @property
    def text(self) -> str:
        """A short description."""
        span = str(self.first) if self.first == self.last else f"{self.first} to {self.last}"
        where = "" if self.branch == MAIN_BRANCH else f" of branch {self.branch}"
        what = {"snapshots": "snapshot", "changelog": "changelog"}.get(self.kind)
        if what is not None:
            return f"{what}{'s' if self.first != self.last else ''} {span}{where}"
        at = f"snapshot {span}" if self.kind == "tag" else f"next snapshot {self.first}"
        return f"{self.kind} {self.name} ({at}){where}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileExplanation(Result):
    """Why a file exists and when it may be deleted.

    Attributes:
        name: the file name.
        table: the table's name.
        type: kind of file, such as `data file`; `orphan` if nothing references it.
        path: its path.
        exists: whether the file exists in storage.
        references: the metadata that references it, with snapshot ranges.
        holders: what keeps it from being deleted.
        deletion: when it may be deleted.
        first: first snapshot of the timeline.
        last: last snapshot of the timeline.
    """

    name: str
    table: str
    type: str
    path: str
    exists: bool = True
    references: tuple[Reference, ...] = ()
    holders: tuple[Holder, ...] = ()
    deletion: DeletionTime
    first: int
    last: int
    kind = "why"

    @property
    def added_by(self) -> int | None:
        """Id of the snapshot that added it; None if that has expired, or for orphans."""
        return self.references[0].added if self.references else None

    @property
    def removed_by(self) -> int | None:
        """Id of the snapshot that removed it; None while the latest has it, or for orphans."""
        return self.references[-1].removed if self.references else None

    def to_arrow(self) -> pa.Table:
        """What keeps it from being deleted, as `HOLDERS`."""
        rows = ((one.kind, one.name, one.first, one.last, one.branch) for one in self.holders)
        return rows_table(rows, HOLDERS)

    def figures(self) -> dict[str, object]:
        """The explanation as JSON."""
        return {
            "name": self.name,
            "type": self.type,
            "path": self.path,
            "exists": self.exists,
            "added_by": self.added_by,
            "removed_by": self.removed_by,
            "levels": [one.label for one in self.references],
            "holders": [one.text for one in self.holders],
            "deletable": self.deletion.text,
            "deletable_from_ms": self.deletion.from_ms,
        }

    def to_report(self) -> Report:
        """The facts, a chart of its references over the snapshots, and a table of them."""
        return Report(title=f"{self.type} {self.name}", sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        tone = Tone.PLAIN if self.exists or self.type == "orphan" else Tone.REMOVE
        stays = "not removed: the latest snapshot contains the file"
        yield facts(
            ("added by", self._point(self.added_by, "an expired snapshot")),
            ("removed by", self._point(self.removed_by, stays)),
            ("referenced by", ", ".join(one.text for one in self.holders[:6]) or "none"),
            ("may be deleted", self.deletion.text),
            ("path", Cell(text=self.path if self.exists else f"{self.path} (missing)", tone=tone)),
        )
        if self.references and self.last:
            yield self._chart()
        if self.holders:
            heads = ("kind", "name", "first snapshot", "last snapshot", "branch")
            rows = [
                (h.kind, h.name, _snapshot(h.first), _snapshot(h.last), h.branch)
                for h in self.holders
            ]
            yield grid("References", heads, rows)
        if not self.exists and self.holders:
            yield Note(
                text="The file is missing from storage; the snapshots that need it cannot be read.",
                tone=Tone.REMOVE,
            )

    def _point(self, snapshot_id: int | None, otherwise: str) -> Cell | None:
        if not self.references:
            return None
        return Cell(text=otherwise) if snapshot_id is None else _snapshot(snapshot_id)

    def _chart(self) -> LaneChart:
        boxes: list[Box] = []
        lanes: list[str] = []
        end = self.last + 1
        for one in self.references:
            start = self.first if one.added is None else one.added
            stop = end if one.removed is None else one.removed
            text, end_of_box = f"{one.label}: {_span(one.added, one.removed)}", max(stop, start)
            boxes.append(
                Box(lane=len(lanes), start=start, end=end_of_box, label=one.label, tooltip=text)
            )
            lanes.append(one.label)
        for holder in self.holders:
            tone = Tone.WARN if holder.kind in ("tag", "consumer") else Tone.ADD
            last = holder.last + 1
            boxes.append(
                Box(
                    lane=len(lanes), start=holder.first, end=last, label=holder.name or holder.kind,
                    tooltip=holder.text, tone=tone, height=0.6, selects=f"snapshot:{holder.first}",
                )
            )  # fmt: skip
            lanes.append(f"{holder.kind} {holder.name}".strip())
        step = max((end - self.first) // _MAX_LABELS, 1)  # ids may have gaps of any size
        ids = [(float(i) + 0.5, str(i)) for i in range(self.first, end, step)]
        return LaneChart(
            title="Snapshots that contain the file; tags and branches that reference it",
            lanes=tuple(lanes),
            boxes=tuple(boxes),
            start=self.first,
            end=end,
            ticks=axis_ticks(self.first, end, ids),
        )


def _snapshot(number: int) -> Cell:
    return Cell(text=f"snapshot {number}", selects=f"snapshot:{number}")


def _span(added: int | None, removed: int | None) -> str:
    start = "added by an expired snapshot" if added is None else f"added by snapshot {added}"
    return (
        f"{start}, still in the latest snapshot"
        if removed is None
        else f"{start}, removed by snapshot {removed}"
    )


def explain_file(inspector: Inspector, name: str, now_ms: int) -> FileExplanation:
    """Explain why a file exists and when it may be deleted.

    Args:
        inspector: the table.
        name: the name or path of the file.
        now_ms: current time, epoch milliseconds.

    Raises:
        NotFoundError: the file is neither referenced by metadata nor in the table's folder.
        PaimonError: a metadata file cannot be read.
    """
    view, timeline = inspector.view, inspector.timeline()
    short = name.rpartition("/")[2]
    found = references(inspector, short)
    if not found:
        return _orphan(inspector, short, now_ms)
    holders = tuple(_holders(found, timeline, view))
    first, last = _ends(timeline)
    path = next((one.path for one in found if one.path), "")
    mine = [one for one in found if one.branch == view.branch]
    return FileExplanation(
        name=short,
        table=view.name,
        type=found[0].type,
        path=path,
        exists=bool(path) and view.store.file_io.exists(path),
        references=tuple(mine or found),
        holders=holders,
        deletion=deletion_time(
            view,
            timeline,
            [h.text for h in holders if h.kind != "snapshots" or h.branch != view.branch],
            found,
            now_ms,
        ),
        first=first,
        last=last,
        code=Code(
            python=call_code(f"{view.expression}.inspect.why", short),
            spark=read_code(view.location),
        ),
    )


def _ends(timeline: Timeline) -> tuple[int, int]:
    marks = timeline.marks
    return (marks[0].snapshot_id, marks[-1].snapshot_id) if marks else (0, 0)


def _holders(found: Sequence[Reference], timeline: Timeline, view: TableView) -> Iterator[Holder]:
    consumers_count = not view.options.value(CONSUMER_CHANGELOG_ONLY)
    for where, kind in dict.fromkeys((one.branch, one.holder) for one in found):
        group = [one for one in found if (one.branch, one.holder) == (where, kind)]
        ids = {i for one in group for a, b in one.snapshots for i in range(a, b + 1)}
        for first, last in ranges(sorted(ids)):
            yield Holder(kind=kind, name="", first=first, last=last, branch=where)
        for tag, number in sorted({tag for one in group for tag in one.tags}):
            yield Holder(kind="tag", name=tag, first=number, last=number, branch=where)
        is_removed = all(one.removed is not None for one in group)
        if where == view.branch and ids and is_removed and consumers_count:
            yield from _consumers(timeline, max(ids), where)


def _consumers(timeline: Timeline, newest: int, branch: str) -> Iterator[Holder]:
    """Consumers that have not yet read a snapshot that needs the file."""
    for flag in timeline.flags:
        if flag.kind is FlagKind.CONSUMER and flag.snapshot_id <= newest:
            first = flag.snapshot_id
            yield Holder(kind="consumer", name=flag.name, first=first, last=newest, branch=branch)


def _orphan(inspector: Inspector, name: str, now_ms: int) -> FileExplanation:
    view = inspector.view
    for status in view.store.file_io.walk(view.location):
        if status.name == name:
            break
    else:
        hint = "No metadata references the file, and the table's folder does not contain it."
        raise NotFoundError("file", name, view.location, hint=hint)
    deletable_ms = status.modified_ms + ORPHAN_AGE_MS
    folder = status.path.removeprefix(f"{view.location}/").partition("/")[0]
    first, last = _ends(inspector.timeline())
    is_managed = name.endswith(MANAGED_SUFFIX)
    own = is_managed or folder in ("snapshot", "schema", "tag", "consumer", "changelog")
    when = "now" if deletable_ms <= now_ms else f"from {time_text(deletable_ms)} on"
    text = (
        "with the table only: descriptors of BLOBs in rows may refer to it"
        if is_managed
        else f"when the {folder} is deleted"
        if own
        else f"{when}, by maintenance.remove_orphan_files: no metadata references the file, which "
        f"is {plural(max(now_ms - status.modified_ms, 0) // 3_600_000, 'hour')} old"
    )
    return FileExplanation(
        name=name,
        table=view.name,
        type="managed file" if is_managed else f"{folder} file" if own else "orphan",
        path=status.path,
        deletion=DeletionTime(text=text, from_ms=None if own else deletable_ms),
        first=first,
        last=last,
        code=Code(python=call_code(f"{view.expression}.inspect.why", name)),
    )
