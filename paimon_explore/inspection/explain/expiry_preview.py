"""What an expiry of snapshots would do: which go, what becomes free, what holds the rest back.

Nothing is removed: the same code that expires works out what would go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.timeline import Flag, FlagKind, Timeline
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone, axis_ticks
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, time_text
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Note,
    Section,
    Sheet,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
    expire_snapshots,
    expiring_ids,
)
from paimon_explore.metadata.options.option_definition import parse_duration, read_value
from paimon_explore.metadata.options.table_options import (
    SNAPSHOT_EXPIRE_LIMIT,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
)
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.time_travel import epoch_ms

_DIGITS = 10

FREED = pa.schema(
    (
        pa.field("path", pa.string()),
        pa.field("type", pa.string()),
        pa.field("size", pa.int64()),
    )
)
"""The files that would be deleted: `data` or `metadata`, with their size, null if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """Something that keeps an expiry from freeing more.

    Attributes:
        kind: `tag`, `consumer` or `option`.
        name: which.
        snapshots: snapshots that would go without it.
        files: data files that would go without it.
        bytes: their size.
        says: why.
    """

    kind: str
    name: str
    snapshots: int
    files: int
    bytes: int
    says: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpiryPreview(Result):
    """What an expiry would do.

    Attributes:
        name: the table.
        retention: what stays.
        report: what the expiry itself tells.
        sizes: size of each file that would go, as far as known.
        held: what holds back.
        timeline: all snapshots.
    """

    name: str
    retention: Retention
    report: ExpiryReport
    sizes: Mapping[str, int]
    held: tuple[HeldBack, ...]
    timeline: Timeline

    @property
    def kind(self) -> str:
        """Its name in the explorer."""
        return "expiry"

    @property
    def expiring(self) -> tuple[int, ...]:
        """The snapshots that would go."""
        return self.report.expired

    @property
    def freed_bytes(self) -> int:
        """Bytes of the files that would be deleted, as far as their size is known."""
        return sum(self.sizes.values())

    def to_arrow(self) -> pa.Table:
        """The files that would be deleted, as `FREED`."""
        files = self.report.files
        rows = [
            {"path": path, "type": kind, "size": self.sizes.get(path)}
            for kind, paths in (("data", files.data_files), ("metadata", files.metadata_files))
            for path in paths
        ]
        return pa.Table.from_pylist(rows, schema=FREED)

    def figures(self) -> dict[str, object]:
        """Snapshots, files and bytes."""
        return {
            "expiring": list(self.expiring),
            "data_files": len(self.report.files.data_files),
            "metadata_files": len(self.report.files.metadata_files),
            "bytes": self.freed_bytes,
            "retain_min": self.retention.retain_min,
            "retain_max": self.retention.retain_max,
            "keep_after_ms": self.retention.keep_after_ms,
            "held": [
                {"kind": h.kind, "name": h.name, "snapshots": h.snapshots, "files": h.files,
                 "bytes": h.bytes}
                for h in self.held
            ],
        }  # fmt: skip

    def sheet(self) -> Sheet:
        """What goes, what stays and why, and the files."""
        gone = len(self.expiring)
        title = (
            f"{self.name}: {plural(gone, 'snapshot')} would expire, "
            f"{bytes_text(self.freed_bytes)} would be free"
        )
        return Sheet(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        ids, files = self.expiring, self.report.files
        most = "no limit" if self.retention.retain_max >= 2**31 - 1 else self.retention.retain_max
        spans = f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else str(ids[0]) if ids else "none"
        yield facts(
            ("snapshots that go", spans),
            ("data files", len(files.data_files)),
            ("metadata files", len(files.metadata_files)),
            (SNAPSHOT_NUM_RETAINED_MIN.key, self.retention.retain_min),
            (SNAPSHOT_NUM_RETAINED_MAX.key, most),
            ("stay if newer than", time_text(self.retention.keep_after_ms)),
        )
        if len(self.timeline):
            yield self._chart()
        if self.held:
            rows: list[list[Entry]] = [
                [h.kind, h.name, h.snapshots or "", h.files or "",
                 bytes_text(h.bytes) if h.bytes else "", h.says]
                for h in self.held
            ]  # fmt: skip
            heads = ("what", "name", "snapshots#", "files#", "size#", "why")
            yield grid("Held back", heads, rows)
        elif not ids:
            yield Note(text="Nothing is old enough.")
        paths = [*files.data_files, *files.metadata_files]
        known = [(path, self.sizes.get(path)) for path in paths]
        rows_of: list[list[Entry]] = [
            [_file_cell(path), bytes_text(size) if size is not None else "unknown"]
            for path, size in sorted(known, key=lambda one: -(one[1] or 0))
        ]
        yield grid("Files that go, largest first", ("file", "size#"), rows_of)

    def _chart(self) -> LaneChart:
        marks = self.timeline.marks
        gone = set(self.expiring)
        boxes = [
            Box(
                lane=0,
                start=float(i),
                end=float(i + 1),
                label=str(mark.snapshot_id),
                says=f"snapshot {mark.snapshot_id} "
                + (
                    "goes"
                    if mark.snapshot_id in gone
                    else "is only in a tag"
                    if mark.expired
                    else "stays"
                ),
                tone=Tone.REMOVE
                if mark.snapshot_id in gone
                else Tone.MUTED
                if mark.expired
                else Tone.ADD,
                selects=f"snapshot:{mark.snapshot_id}",
            )
            for i, mark in enumerate(marks)
        ]
        lanes = ["snapshots"]
        places = {mark.snapshot_id: i for i, mark in enumerate(marks)}
        for flag in self.timeline.flags:
            if flag.kind is FlagKind.HINT or flag.snapshot_id not in places:
                continue
            at = places[flag.snapshot_id]
            end = len(marks) if flag.kind is FlagKind.CONSUMER else at + 1
            says = f"{flag.kind.value} {flag.name} at snapshot {flag.snapshot_id}"
            boxes.append(
                Box(lane=len(lanes), start=at, end=end, label=flag.name, says=says,
                    tone=Tone.WARN, height=0.6)
            )  # fmt: skip
            lanes.append(f"{flag.kind.value} {flag.name}")
        ids = [(i + 0.5, str(mark.snapshot_id)) for i, mark in enumerate(marks)]
        return LaneChart(
            title="Snapshots that go (red) and stay (green)",
            lanes=tuple(lanes[:40]),
            boxes=tuple(box for box in boxes if box.lane < 40),  # noqa: PLR2004 - room
            start=0,
            end=len(marks),
            ticks=axis_ticks(0, len(marks), ids),
        )


def _file_cell(path: str) -> Cell:
    name = path.rpartition("/")[2]
    return Cell(text=name, selects=f"file:{name}")


def expiry_preview(inspector: Inspector, retention: Retention, code: Code) -> ExpiryPreview:
    """What an expiry with a retention would do now.

    Args:
        inspector: the table.
        retention: what stays.
        code: the lines that ask for it.

    Raises:
        InvalidInputError: the retention contradicts itself.
        PaimonError: something that must stay cannot be read.
    """
    view = inspector.view
    report = expire_snapshots(view.store, view.options, retention, dry_run=True)
    return ExpiryPreview(
        name=view.name,
        retention=retention,
        report=report,
        sizes=_sizes(inspector, report),
        held=tuple(_held(inspector, retention, report)),
        timeline=inspector.timeline(),
        code=code,
        screen=view.screen,
    )


def _sizes(inspector: Inspector, report: ExpiryReport) -> dict[str, int]:
    """Sizes of the files that go: of data files from their entries, of others from the storage."""
    paths = [*report.files.data_files, *report.files.metadata_files]
    if not paths:
        return {}
    lives = inspector.lives().files
    names = lives.column("file_name").to_pylist()
    known = dict(zip(names, lives.column("file_size").to_pylist(), strict=True))
    found: dict[str, int] = {}
    listed: dict[str, dict[str, int]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        size = known.get(name)
        if size is None:
            if folder not in listed:
                statuses = inspector.view.store.file_io.list(folder)
                listed[folder] = {status.name: status.size for status in statuses}
            size = listed[folder].get(name)
        if size is not None:
            found[path] = size
    return found


def _held(inspector: Inspector, retention: Retention, report: ExpiryReport) -> Iterator[HeldBack]:
    timeline = inspector.timeline()
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    times = {m.snapshot_id: m.snapshot.time_millis for m in timeline.marks if m.snapshot}
    if not ids:
        return
    yield from _consumers(timeline, retention, (ids, times))
    flags = [f.snapshot_id for f in timeline.flags if f.kind is FlagKind.CONSUMER]
    yield from _options(retention, (ids, times), min(flags, default=None), len(report.expired))
    yield from _tags(inspector, report)


def _consumers(
    timeline: Timeline,
    retention: Retention,
    known: tuple[Sequence[int], Mapping[int, int]],
) -> Iterator[HeldBack]:
    ids, times = known
    free = set(expiring_ids(ids, lambda i: times.get(i, 0), retention, None))
    for flag in timeline.flags:
        if flag.kind is not FlagKind.CONSUMER:
            continue
        kept = [i for i in free if i >= flag.snapshot_id]
        if kept:
            says = f"it has yet to read snapshot {flag.snapshot_id}"
            yield HeldBack(
                kind="consumer", name=flag.name, snapshots=len(kept), files=0, bytes=0, says=says
            )


def _options(
    retention: Retention,
    known: tuple[Sequence[int], Mapping[int, int]],
    held_from: int | None,
    now: int,
) -> Iterator[HeldBack]:
    """Options that keep snapshots which their fellows would let go."""
    ids, times = known
    looser = (
        (
            SNAPSHOT_NUM_RETAINED_MIN.key,
            str(retention.retain_min),
            replace(retention, retain_min=1),
        ),
        (
            SNAPSHOT_TIME_RETAINED.key,
            time_text(retention.keep_after_ms),
            replace(retention, keep_after_ms=2**62),
        ),
        (SNAPSHOT_EXPIRE_LIMIT.key, str(retention.limit), replace(retention, limit=2**31)),
    )
    for key, value, without in looser:
        more = len(expiring_ids(ids, lambda i: times.get(i, 0), without, held_from)) - now
        if more > 0:
            says = f"{plural(more, 'more snapshot')} would go without it ({value})"
            yield HeldBack(kind="option", name=key, snapshots=more, files=0, bytes=0, says=says)


def _tags(inspector: Inspector, report: ExpiryReport) -> Iterator[HeldBack]:
    for flag, files, size in tag_only_files(inspector, frozenset(report.expired)):
        says = f"it holds snapshot {flag.snapshot_id}"
        yield HeldBack(kind="tag", name=flag.name, snapshots=0, files=files, bytes=size, says=says)


def tag_only_files(
    inspector: Inspector, leaving: frozenset[int]
) -> Iterator[tuple[Flag, int, int]]:
    """Tags that hold data files which no snapshot needs: number of the files and bytes.

    Args:
        inspector: the table.
        leaving: ids of snapshots that do not count.
    """
    timeline = inspector.timeline()
    tags = [flag for flag in timeline.flags if flag.kind is FlagKind.TAG]
    if not tags:
        return
    lives = inspector.lives()
    needed = np.zeros(len(lives), np.bool_)
    for position, mark in enumerate(timeline.marks):
        if not mark.expired and mark.snapshot_id not in leaving:
            needed[lives.live_at(position)] = True
    sizes = numbers(lives.files, "file_size")
    for flag in tags:
        rows = lives.live_at(timeline.position_of(flag.snapshot_id))
        rows = rows[~needed[rows]]
        if len(rows):
            yield flag, len(rows), int(sizes[rows].sum())


def retention_in(text: str, retention: Retention, now_ms: int) -> Retention:
    """A retention with what a person writes: `retain_max=3, older_than=1 d`.

    Args:
        text: `retain_min`, `retain_max`, `limit` and `older_than`, which is an age or a time.
        retention: for what is not given.
        now_ms: the present, epoch milliseconds.

    Raises:
        InvalidInputError: the text cannot be understood.
    """
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, _, value = (piece.strip() for piece in part.partition("="))
        match key:
            case "retain_min" | "retain_max" | "limit" if (
                value.isdecimal() and len(value) < _DIGITS
            ):
                retention = _with_number(retention, key, int(value))
            case "older_than":
                retention = replace(retention, keep_after_ms=_moment(value, now_ms))
            case _:
                hint = "Write retain_min=1, retain_max=3, limit=50 or older_than=1 d."
                raise InvalidInputError(f"{part!r} is not a retention setting.", hint=hint)
    return retention


def _with_number(retention: Retention, key: str, value: int) -> Retention:
    match key:
        case "retain_min":
            return replace(retention, retain_min=value)
        case "retain_max":
            return replace(retention, retain_max=value, retain_min=min(retention.retain_min, value))
        case _:
            return replace(retention, limit=value)


def _moment(text: str, now_ms: int) -> int:
    """A time, or a time so long ago."""
    try:
        return now_ms - read_value("older_than", text, parse_duration)
    except InvalidInputError:
        return epoch_ms(text.strip("'\""))
