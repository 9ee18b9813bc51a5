"""Preview of snapshot expiry: expiring snapshots, files to delete, and what prevents more.

Nothing is deleted; the preview is a dry run of the expiry code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.timeline import Flag, FlagKind, Mark, Timeline
from paimon_explore.inspection.partition_argument import unquoted_value
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone, snapshot_chart
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, time_text
from paimon_explore.inspection.rendering.report import (
    Columns,
    Note,
    Report,
    Section,
    facts,
    listing,
)
from paimon_explore.inspection.rendering.result import Result, rows_table
from paimon_explore.inspection.views.files_view import file_cell
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.maintenance.expiry.snapshot_expiry import (
    ExpiryReport,
    Retention,
    expire_snapshots,
    expiring_ids,
    kept_for_consumer,
    kept_from,
    snapshot_retention,
)
from paimon_explore.metadata.options.option_definition import Option, parse_duration, read_value
from paimon_explore.metadata.options.table_options import (
    SNAPSHOT_EXPIRE_LIMIT,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_NUM_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED,
)
from paimon_explore.metadata.options.tag_options import CONSUMER_CHANGELOG_ONLY
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.time_travel import parse_epoch_ms
from paimon_explore.store.snapshots import last_run

_DIGITS = 10

FREED = schema_from_text("path string, type string, size int64")
"""The files to delete, of type `data` or `metadata`, with their size, null if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """A tag, consumer or option that prevents further expiry.

    Attributes:
        kind: `tag`, `consumer` or `option`.
        name: its name.
        snapshots: snapshots that it keeps from expiring.
        files: data files that it keeps from deletion.
        bytes: size of these files.
        reason: why, in one sentence.
    """

    kind: str
    name: str
    snapshots: int = 0
    files: int = 0
    bytes: int = 0
    reason: str


_HELD: Columns[HeldBack] = {
    "kept by": lambda one: one.kind,
    "name": lambda one: one.name,
    "snapshots#": lambda one: one.snapshots or "",
    "files#": lambda one: one.files or "",
    "size#": lambda one: bytes_text(one.bytes) if one.bytes else "",
    "reason": lambda one: one.reason,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExpiryPreview(Result):
    """The effect that expiring snapshots now would have.

    Attributes:
        name: the table.
        retention: the retention settings.
        report: report of the dry run.
        sizes: size of each file to delete, as far as known.
        held: what prevents further expiry.
        timeline: all snapshots.
    """

    name: str
    retention: Retention
    report: ExpiryReport
    sizes: Mapping[str, int]
    held: tuple[HeldBack, ...]
    timeline: Timeline
    kind = "expiry"

    @property
    def expiring(self) -> tuple[int, ...]:
        """The ids of the snapshots that would expire."""
        return self.report.expired

    @property
    def freed_bytes(self) -> int:
        """Total size of the files to delete, as far as known."""
        return sum(self.sizes.values())

    def to_arrow(self) -> pa.Table:
        """The files to delete as `FREED`."""
        files = self.report.files
        kinds = (("data", files.data_files), ("metadata", files.metadata_files))
        rows = ((path, kind, self.sizes.get(path)) for kind, paths in kinds for path in paths)
        return rows_table(rows, FREED)

    def figures(self) -> dict[str, object]:
        """Counts of snapshots, files and bytes, and the retention."""
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

    def to_report(self) -> Report:
        """The expiring snapshots, what prevents more, and the files to delete."""
        gone = len(self.expiring)
        title = (
            f"{self.name}: {plural(gone, 'snapshot')} would expire, "
            f"{bytes_text(self.freed_bytes)} would be freed"
        )
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        ids, files = self.expiring, self.report.files
        maximum = (
            "no limit" if self.retention.retain_max >= 2**31 - 1 else self.retention.retain_max
        )
        spans = f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else str(ids[0]) if ids else "none"
        yield facts(
            ("expiring snapshots", spans),
            ("data files to delete", len(files.data_files)),
            ("metadata files to delete", len(files.metadata_files)),
            (SNAPSHOT_NUM_RETAINED_MIN.key, self.retention.retain_min),
            (SNAPSHOT_NUM_RETAINED_MAX.key, maximum),
            ("snapshots are kept if newer than", time_text(self.retention.keep_after_ms)),
        )
        if len(self.timeline):
            yield self._chart()
        if self.held:
            note = (
                "Each row counts the snapshots or files that the consumer, option or tag keeps; "
                "others may keep them as well."
            )
            title = "Consumers, options and tags that prevent expiry"
            yield listing(title, self.held, _HELD, note=note)
        elif not ids:
            yield Note(text="No snapshot is old enough to expire.")
        paths = [*files.data_files, *files.metadata_files]
        largest = sorted(paths, key=lambda path: -self.sizes.get(path, 0))
        columns: Columns[str] = {
            "file": lambda path: file_cell(path.rpartition("/")[2]),
            "size#": lambda p: bytes_text(self.sizes[p]) if p in self.sizes else "unknown",
        }
        yield listing("Files to delete, largest first", largest, columns)

    def _chart(self) -> LaneChart:
        marks = self.timeline.marks
        gone = set(self.expiring)
        boxes = [
            Box(
                lane=0,
                start=float(i),
                end=float(i + 1),
                label=str(mark.snapshot_id),
                tooltip=f"snapshot {mark.snapshot_id} {fate}",
                tone=tone,
                selects=f"snapshot:{mark.snapshot_id}",
            )
            for i, mark in enumerate(marks)
            for fate, tone in (_fate(mark, is_expiring=mark.snapshot_id in gone),)
        ]
        lanes = ["snapshots"]
        positions = {mark.snapshot_id: i for i, mark in enumerate(marks)}
        for flag in self.timeline.flags:
            if flag.kind is FlagKind.HINT or flag.snapshot_id not in positions:
                continue
            at = positions[flag.snapshot_id]
            end = len(marks) if flag.kind is FlagKind.CONSUMER else at + 1
            tooltip = f"{flag.kind.value} {flag.name} at snapshot {flag.snapshot_id}"
            boxes.append(
                Box(lane=len(lanes), start=at, end=end, label=flag.name, tooltip=tooltip,
                    tone=Tone.WARN, height=0.6)
            )  # fmt: skip
            lanes.append(f"{flag.kind.value} {flag.name}")
        title = "Snapshots that would expire (red) or are kept (green)"
        return snapshot_chart(title, [*positions], lanes, boxes, max_lanes=40)


def _fate(mark: Mark, *, is_expiring: bool) -> tuple[str, Tone]:
    if is_expiring:
        return "would expire", Tone.REMOVE
    if mark.expired:
        return "has expired and is kept by a tag", Tone.MUTED
    return "is kept", Tone.ADD


def expiry_preview(inspector: Inspector, retention: Retention, code: Code) -> ExpiryPreview:
    """Preview an expiry with the given retention.

    Args:
        inspector: the table.
        retention: the retention settings.
        code: code that produces the preview.

    Raises:
        InvalidInputError: the retention settings contradict each other.
        PaimonError: metadata that must be kept cannot be read.
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
    )


def expiry_of_settings(
    inspector: Inspector, settings: Mapping[str, str], now_ms: int
) -> ExpiryPreview:
    """Preview an expiry with the settings of an input; see `changed_retention`.

    Raises:
        InvalidInputError: a setting cannot be understood, or the settings contradict each other.
        PaimonError: metadata that must be kept cannot be read.
    """
    view = inspector.view
    defaults = snapshot_retention(view.options, lambda: now_ms)
    retention = changed_retention(settings, defaults, now_ms)
    arguments = retention_arguments(settings)
    code = call_code(f"{view.expression}.what_if.expire_snapshots", **arguments)
    return expiry_preview(inspector, retention, Code(python=code))


def _sizes(inspector: Inspector, report: ExpiryReport) -> dict[str, int]:
    """Sizes of the files to delete: from manifest entries for data files, else from storage."""
    paths = [*report.files.data_files, *report.files.metadata_files]
    if not paths:
        return {}
    lifetimes = inspector.lifetimes().files
    names = lifetimes.column("file_name").to_pylist()
    known = dict(zip(names, lifetimes.column("file_size").to_pylist(), strict=True))
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
    ids = last_run([mark.snapshot_id for mark in timeline.marks if not mark.expired])
    times = {m.snapshot_id: m.snapshot.time_millis for m in timeline.marks if m.snapshot}
    if not ids:
        return

    def expiring(retention: Retention, held_from: int | None) -> Sequence[int]:
        return expiring_ids(ids, lambda i: times.get(i, 0), retention, held_from)

    store, options = inspector.view.store, inspector.view.options
    consumers = {
        flag.name: kept_for_consumer(store, options, flag.snapshot_id)
        for flag in timeline.flags
        if flag.kind is FlagKind.CONSUMER and not options.value(CONSUMER_CHANGELOG_ONLY)
    }
    free = set(expiring(retention, None))
    for name, first in consumers.items():
        kept = [i for i in free if i >= first]
        if kept:
            reason = f"the consumer may still read snapshot {first}"
            yield HeldBack(kind="consumer", name=name, snapshots=len(kept), reason=reason)
    held_from = kept_from(store, options, ids)
    for option, value, without in _looser(retention):
        more = len(expiring(without, held_from)) - len(report.expired)
        if more > 0:
            reason = f"{plural(more, 'more snapshot')} would expire without {option.key} = {value}"
            yield HeldBack(kind="option", name=option.key, snapshots=more, reason=reason)
    for flag, files, size in tag_only_files(inspector, frozenset(report.expired)):
        reason = f"the tag references snapshot {flag.snapshot_id}"
        yield HeldBack(kind="tag", name=flag.name, files=files, bytes=size, reason=reason)


def _looser(retention: Retention) -> tuple[tuple[Option[int], object, Retention], ...]:
    """Each option that keeps snapshots, its value, and the retention without it."""
    keep_after = time_text(retention.keep_after_ms)
    return (
        (SNAPSHOT_NUM_RETAINED_MIN, retention.retain_min, replace(retention, retain_min=1)),
        (SNAPSHOT_TIME_RETAINED, keep_after, replace(retention, keep_after_ms=2**62)),
        (SNAPSHOT_EXPIRE_LIMIT, retention.limit, replace(retention, limit=2**31)),
    )


def tag_only_files(
    inspector: Inspector, leaving: frozenset[int]
) -> Iterator[tuple[Flag, int, int]]:
    """Yields tags that reference data files which no snapshot needs: tag, files, bytes.

    Args:
        inspector: the table.
        leaving: ids of snapshots to ignore.
    """
    timeline = inspector.timeline()
    tags = [flag for flag in timeline.flags if flag.kind is FlagKind.TAG]
    if not tags:
        return
    lifetimes = inspector.lifetimes()
    needed = np.zeros(len(lifetimes), np.bool_)
    for position, mark in enumerate(timeline.marks):
        if not mark.expired and mark.snapshot_id not in leaving:
            needed[lifetimes.live_at(position)] = True
    sizes = numbers(lifetimes.files, "file_size")
    for flag in tags:
        rows = lifetimes.live_at(timeline.position_of(flag.snapshot_id))
        rows = rows[~needed[rows]]
        if len(rows):
            yield flag, len(rows), int(sizes[rows].sum())


def retention_settings(text: str) -> dict[str, str]:
    """The settings of a text such as `retain_min=1, older_than=1 d`, not validated."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {key.strip(): unquoted_value(value) for key, _, value in pairs}


def retention_arguments(settings: Mapping[str, str]) -> dict[str, object]:
    """The settings as arguments of `expire_snapshots`."""
    return {key: int(text) if text.isdecimal() else text for key, text in settings.items()}


def changed_retention(settings: Mapping[str, str], retention: Retention, now_ms: int) -> Retention:
    """The retention with settings such as those of `retain_max=3, older_than=1 d`.

    Args:
        settings: `retain_min`, `retain_max`, `limit` and `older_than`, which is an age or a time.
        retention: defaults for settings that are omitted.
        now_ms: current time, epoch milliseconds.

    Raises:
        InvalidInputError: a setting cannot be understood.
    """
    for key, value in settings.items():
        number = int(value) if value.isdecimal() and len(value) < _DIGITS else None
        match key:
            case "older_than":
                retention = replace(retention, keep_after_ms=_moment(value, now_ms))
            case "retain_min" if number is not None:
                retention = replace(retention, retain_min=number)
            case "retain_max" if number is not None:
                retention = replace(retention, retain_max=number)
            case "limit" if number is not None:
                retention = replace(retention, limit=number)
            case _:
                shown = f"{key}={value}" if value else key
                hint = "Write retain_min=1, retain_max=3, limit=50 or older_than=1 d."
                raise InvalidInputError(f"{shown!r} is not a retention setting.", hint=hint)
    if "retain_max" in settings and "retain_min" not in settings:
        least = min(retention.retain_min, retention.retain_max)
        retention = replace(retention, retain_min=least)
    return retention


def _moment(text: str, now_ms: int) -> int:
    """The epoch milliseconds of a time, or of an age before now."""
    moment = parse_epoch_ms(text)
    if moment is not None:
        return moment
    if not text[-1:].isalpha():
        raise InvalidInputError(f"older_than = {text!r} is neither an age such as 1 d nor a time.")
    return now_ms - read_value("older_than", text, parse_duration)
