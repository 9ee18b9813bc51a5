"""The rules of `health`: each looks at one thing and tells what is beyond a threshold.

Thresholds are those of the table's options where there are any, else rules of thumb named here.
"""

from collections.abc import Callable, Iterator
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from statistics import median

import numpy as np

from paimon_explore.commit.iceberg import has_iceberg_metadata, newest_iceberg_snapshot
from paimon_explore.encoding.buffers import Ints, as_python
from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.paths import parent
from paimon_explore.inspect.expiry_preview import tag_only_files
from paimon_explore.inspect.figures import bytes_text, count_text, plural
from paimon_explore.inspect.file_history import partition_type
from paimon_explore.inspect.inspector import Inspector
from paimon_explore.inspect.lsm import BucketSum, bucket_sums
from paimon_explore.inspect.partition_text import Partitions, partitions_of
from paimon_explore.inspect.timeline import FlagKind
from paimon_explore.maintenance.expire import expiring_ids, snapshot_retention
from paimon_explore.metadata.derived_options import stop_trigger, target_file_bytes
from paimon_explore.metadata.manifest_entry import ManifestEntries, live_entries
from paimon_explore.metadata.manifest_list import ManifestFiles
from paimon_explore.metadata.options import (
    BUCKET,
    COMPACTION_DELETE_RATIO_THRESHOLD,
    COMPACTION_MIN_FILE_NUM,
    COMPACTION_SMALL_FILE_RATIO,
    ICEBERG_STORAGE,
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE,
    MANIFEST_MERGE_MIN_COUNT,
    METADATA_STATS_MODE,
    NUM_SORTED_RUN_COMPACTION_TRIGGER,
    NUM_SORTED_RUN_STOP_TRIGGER,
    SNAPSHOT_NUM_RETAINED_MAX,
    SNAPSHOT_TIME_RETAINED,
    TableOptions,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag_options import CONSUMER_EXPIRATION_TIME
from paimon_explore.scan.constants import value_at
from paimon_explore.scan.deletion_files import deletion_files
from paimon_explore.scan.expression import Column, Compare, CompareOp, IsNull, Literal, conjunction
from paimon_explore.scan.file_paths import data_file_paths
from paimon_explore.scan.frames import column, numbers
from paimon_explore.scan.sql_text import to_sql
from paimon_explore.types.data_types import AtomicType
from paimon_explore.values import dataclass

_MOST_OF_A_RULE = 3
_MOST_FILES_LOOKED_FOR = 20_000
_SKEW = 3.0
"""Largest bucket of a partition against the mean of its buckets."""
_PARTITION_SKEW = 10.0
"""Largest partition against the median one."""
_LEAST_ROWS = 1_000
"""Tables below that are not judged for skew."""
_MANIFEST_BYTES_PER_FILE = 4_096
_LEAST_MANIFESTS = 10
_DELETE_SHARE = 0.3
_LEAST_ENTRIES = 100
_TAG_SHARE = 0.25
_CONSUMER_LAG = 100
_OVERDUE = 10


class Weight(StrEnum):
    """How much a finding matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth looking after.

    Attributes:
        weight: how much it matters.
        rule: what was looked at.
        what: what was found, a sentence.
        figure: the number.
        threshold: what it was held against; 0 where any is too many.
        option: the table option of the threshold; empty for a rule of thumb.
        advice: what to do.
        evidence: what to look at, as cells select it; empty for nothing.
        unit: how the numbers are shown.
    """

    weight: Weight
    rule: str
    what: str
    figure: float
    threshold: float
    option: str = ""
    advice: str = ""
    evidence: str = ""
    unit: Callable[[float], str] = field(default=lambda n: f"{n:,.0f}", repr=False, compare=False)

    @property
    def shown(self) -> str:
        """The figure as text."""
        return self.unit(self.figure)

    @property
    def shown_threshold(self) -> str:
        """The threshold as text."""
        return self.unit(self.threshold)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _times(factor: float) -> str:
    return f"{factor:.1f}x"


class Patient:
    """A table at a snapshot, with what rules look at read once.

    Args:
        inspector: the table.
        now_ms: the present, epoch milliseconds.
    """

    def __init__(self, *, inspector: Inspector, now_ms: int) -> None:
        self.inspector = inspector
        self.now_ms = now_ms

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """What is looked at; None for a table without any."""
        number = self.inspector.snapshot_id
        return self.inspector.timeline().snapshot(number) if number else None

    @cached_property
    def manifests(self) -> ManifestFiles:
        """The snapshot's manifests."""
        if self.snapshot is None:
            return ManifestFiles.empty()
        return self.inspector.view.store.manifests.all(self.snapshot)

    @cached_property
    def files(self) -> ManifestEntries:
        """The live files."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        return live_entries(self.inspector.view.store.manifests.read_many(self.manifests.names))

    @cached_property
    def partitions(self) -> Partitions:
        """The partitions of the live files."""
        return partitions_of(self.files.table, partition_type(self.inspector.view))

    @cached_property
    def buckets(self) -> list[BucketSum]:
        """The buckets, those with most runs first."""
        return bucket_sums(self.files, self.partitions.codes, self.partitions.texts)[0]

    @property
    def options(self) -> TableOptions:
        """The options in force."""
        return self.inspector.view.options

    @property
    def keyed(self) -> bool:
        """Whether there is a primary key."""
        return bool(len(self.inspector.keys))

    def condition(self, partition: str, *more: str) -> str:
        """A condition of the file grid for a partition."""
        columns = self.partitions.columns
        parts: list[str] = []
        if columns and partition in self.partitions.texts:
            place = self.partitions.texts.index(partition)
            for one, values in zip(partition_type(self.inspector.view), columns, strict=True):
                kind = one.type
                name = Column(path=(one.name,))
                if not isinstance(kind, AtomicType):
                    continue
                value = value_at(values, place, kind)
                test = (
                    IsNull(operand=name)
                    if value is None
                    else Compare(op=CompareOp.EQ, left=name, right=Literal(value=value, type=kind))
                )
                parts.append(to_sql(conjunction([test])))
        return f"filter:{' and '.join([*parts, *more])}"


def unreadable(patient: Patient) -> Iterator[Finding]:
    """Metadata that cannot be read."""
    problems = patient.inspector.timeline().problems
    if problems:
        yield Finding(
            weight=Weight.ERROR,
            rule="unreadable metadata",
            what=f"{plural(len(problems), 'metadata file')} cannot be read: {problems[0].message}",
            figure=len(problems),
            threshold=0,
            advice="maintenance.fsck() names all of them",
        )


def sorted_runs(patient: Patient) -> Iterator[Finding]:
    """Buckets that wait for a compaction."""
    if not patient.keyed:
        return
    trigger = patient.options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER)
    stop = stop_trigger(patient.options)
    late = [one for one in patient.buckets if one.runs > trigger]
    for one in late[:_MOST_OF_A_RULE]:
        stops = one.runs > stop
        option = NUM_SORTED_RUN_STOP_TRIGGER if stops else NUM_SORTED_RUN_COMPACTION_TRIGGER
        others = f", and {plural(len(late) - 1, 'other bucket')}" if len(late) > 1 else ""
        yield Finding(
            weight=Weight.ERROR if stops else Weight.WARNING,
            rule="level-0 backlog",
            what=f"{one.words} has {one.runs} sorted runs{others}",
            figure=one.runs,
            threshold=stop if stops else trigger,
            option=option.key,
            advice="compact(), or let a writer that compacts run",
            evidence=f"lsm:{one.words}",
        )


def small_files(patient: Patient) -> Iterator[Finding]:
    """Append tables of many small files."""
    if patient.keyed or not len(patient.files):
        return
    target = target_file_bytes(patient.options, has_primary_key=False)
    limit = target * patient.options.value(COMPACTION_SMALL_FILE_RATIO)
    least = patient.options.value(COMPACTION_MIN_FILE_NUM)
    sizes = numbers(patient.files.table, "file_size")
    small = np.bincount(patient.partitions.codes[sizes < limit], minlength=1)
    worst = np.argsort(-small, kind="stable")
    for code in worst[:_MOST_OF_A_RULE].tolist():
        if small[code] <= least:
            return
        name = patient.partitions.texts[code]
        yield Finding(
            weight=Weight.WARNING,
            rule="small files",
            what=f"{name or 'the table'} has {small[code]:,} files below {bytes_text(limit)}",
            figure=float(small[code]),
            threshold=least,
            option=COMPACTION_MIN_FILE_NUM.key,
            advice="compact(full=False)",
            evidence=patient.condition(name, f"size < {int(limit)}"),
        )


def bucket_skew(patient: Patient) -> Iterator[Finding]:
    """Partitions one bucket of which is far larger than the others."""
    by_partition: dict[str, list[BucketSum]] = {}
    for one in patient.buckets:
        by_partition.setdefault(one.partition, []).append(one)
    found = []
    for sums in by_partition.values():
        rows = sum(one.rows for one in sums)
        largest = max(sums, key=lambda one: one.rows)
        mean = rows / len(sums)
        if len(sums) > 1 and rows >= _LEAST_ROWS and largest.rows > _SKEW * mean:
            found.append((largest.rows / mean, largest, rows))
    for factor, one, rows in sorted(found, key=lambda f: -f[0])[:_MOST_OF_A_RULE]:
        yield Finding(
            weight=Weight.NOTE,
            rule="bucket skew",
            what=f"{one.words} holds {one.rows / rows:.0%} of its partition's rows",
            figure=factor,
            threshold=_SKEW,
            option="bucket-key" if patient.options.value(BUCKET) > 0 else "",
            advice="a bucket key with more values spreads rows better",
            evidence=patient.condition(one.partition, f"bucket = {one.bucket}"),
            unit=_times,
        )


def partition_skew(patient: Patient) -> Iterator[Finding]:
    """A partition that is far larger than the others."""
    texts = patient.partitions.texts
    if len(texts) < 5:  # noqa: PLR2004 - few partitions have no middle
        return
    rows = np.bincount(
        patient.partitions.codes,
        weights=numbers(patient.files.table, "row_count"),
        minlength=len(texts),
    )
    middle = float(median(rows.tolist()))
    largest = int(rows.argmax())
    if rows.sum() >= _LEAST_ROWS and middle and rows[largest] > _PARTITION_SKEW * middle:
        yield Finding(
            weight=Weight.NOTE,
            rule="partition skew",
            what=f"{texts[largest]} holds {int(rows[largest]):,} rows, the median {middle:,.0f}",
            figure=float(rows[largest]) / middle,
            threshold=_PARTITION_SKEW,
            advice="a finer partition key, or more buckets",
            evidence=patient.condition(texts[largest]),
            unit=_times,
        )


def manifest_size(patient: Patient) -> Iterator[Finding]:
    """Manifests that are many, or large for the files they name."""
    count, files = len(patient.manifests), len(patient.files)
    least = patient.options.value(MANIFEST_MERGE_MIN_COUNT)
    number = patient.inspector.snapshot_id
    if count > least:
        yield Finding(
            weight=Weight.WARNING,
            rule="many manifests",
            what=f"every read opens {count:,} manifests",
            figure=count,
            threshold=least,
            option=MANIFEST_MERGE_MIN_COUNT.key,
            advice="the next commit should merge them; does it fail?",
            evidence=f"snapshot:{number}",
        )
    each = patient.manifests.total_size / files if files else 0
    if count > _LEAST_MANIFESTS and each > _MANIFEST_BYTES_PER_FILE:
        yield Finding(
            weight=Weight.NOTE,
            rule="manifest bytes per file",
            what=f"{bytes_text(patient.manifests.total_size)} of manifests for {files:,} files",
            figure=each,
            threshold=_MANIFEST_BYTES_PER_FILE,
            advice="fewer, larger commits; fewer columns with statistics",
            evidence=f"snapshot:{number}",
            unit=bytes_text,
        )


def delete_entries(patient: Patient) -> Iterator[Finding]:
    """DELETE entries that every read has to cancel."""
    deleted = int(numbers(patient.manifests.table, "num_deleted_files").sum())
    entries = deleted + int(numbers(patient.manifests.table, "num_added_files").sum())
    if entries >= _LEAST_ENTRIES and deleted > _DELETE_SHARE * entries:
        size = patient.options.value(MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE)
        yield Finding(
            weight=Weight.NOTE,
            rule="DELETE entries",
            what=f"{deleted:,} of {entries:,} manifest entries take back others",
            figure=deleted / entries,
            threshold=_DELETE_SHARE,
            option=MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE.key,
            advice=f"a full rewrite of manifests begins at {bytes_text(size)}; lower the option",
            evidence=f"snapshot:{patient.inspector.snapshot_id}",
            unit=_percent,
        )


def deleted_rows(patient: Patient) -> Iterator[Finding]:
    """Rows that deletion vectors hide."""
    view, snapshot = patient.inspector.view, patient.snapshot
    if snapshot is None or view.schema is None or snapshot.index_manifest is None:
        return
    vectors = deletion_files(view.store, snapshot, view.schema, view.options)
    gone = sum(vector.cardinality or 0 for vector in vectors.values())
    rows = patient.files.total_rows
    most = patient.options.value(COMPACTION_DELETE_RATIO_THRESHOLD)
    if rows and gone > most * rows:
        yield Finding(
            weight=Weight.WARNING,
            rule="deleted rows",
            what=f"{gone:,} of {rows:,} stored rows are deleted, by {len(vectors):,} vectors",
            figure=gone / rows,
            threshold=most,
            option=COMPACTION_DELETE_RATIO_THRESHOLD.key,
            advice="compact() writes the files without them",
            evidence="lsm:",
            unit=_percent,
        )


def stale_hints(patient: Patient) -> Iterator[Finding]:
    """Hints that name another snapshot than they should."""
    timeline = patient.inspector.timeline()
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    if not ids:
        return
    right = {"EARLIEST": ids[0], "LATEST": ids[-1]}
    for flag in timeline.flags:
        if flag.kind is FlagKind.HINT and flag.snapshot_id != right[flag.name]:
            yield Finding(
                weight=Weight.NOTE,
                rule="stale hint",
                what=f"{flag.name} says {flag.snapshot_id}, but it is {right[flag.name]}",
                figure=flag.snapshot_id,
                threshold=right[flag.name],
                advice="harmless: readers look further; the next commit writes it anew",
                evidence=f"snapshot:{right[flag.name]}",
            )


def missing_files(patient: Patient) -> Iterator[Finding]:
    """Live files that are not there."""
    view = patient.inspector.view
    if view.schema is None or not 0 < len(patient.files) <= _MOST_FILES_LOOKED_FOR:
        return
    paths = data_file_paths(patient.files, view.schema, view.options, view.store.paths)
    wanted = [str(path) for path in as_python(paths)]
    there: set[str] = set()
    for folder in sorted({parent(path) for path in wanted}):
        there |= {status.path for status in _listed(patient, folder)}
    gone = [path for path in wanted if path not in there]
    if gone:
        name = gone[0].rpartition("/")[2]
        yield Finding(
            weight=Weight.ERROR,
            rule="missing files",
            what=f"{plural(len(gone), 'live data file')} cannot be found, such as {name}",
            figure=len(gone),
            threshold=0,
            advice="restore them, or roll back to a snapshot without them",
            evidence=f"file:{name}",
        )


def _listed(patient: Patient, folder: str) -> list[FileStatus]:
    try:
        return list(patient.inspector.view.store.file_io.list(folder))
    except MissingFileError:
        return []


def consumers(patient: Patient) -> Iterator[Finding]:
    """Consumers that lost what they want to read, stand still, or lag."""
    timeline, view = patient.inspector.timeline(), patient.inspector.view
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    logs = view.store.changelogs.earliest_id()
    if not ids:
        return
    expiration = patient.options.value(CONSUMER_EXPIRATION_TIME)
    for flag in timeline.flags:
        if flag.kind is not FlagKind.CONSUMER:
            continue
        earliest = ids[0] if logs is None else min(ids[0], logs)
        lag = ids[-1] + 1 - flag.snapshot_id
        if flag.snapshot_id < earliest:
            yield Finding(
                weight=Weight.ERROR,
                rule="expired consumer",
                what=f"{flag.name} wants snapshot {flag.snapshot_id}, the earliest is {earliest}",
                figure=flag.snapshot_id,
                threshold=earliest,
                advice="its reader must start anew; delete the consumer",
                evidence=f"snapshot:{ids[0]}",
            )
        elif lag > _CONSUMER_LAG:
            age = patient.now_ms - view.store.consumers.modified_ms(flag.name)
            hours = f"{age // 3_600_000:,} h"
            note = "" if expiration else f", and {CONSUMER_EXPIRATION_TIME.key} is not set"
            yield Finding(
                weight=Weight.WARNING,
                rule="consumer lag",
                what=f"{flag.name} is {lag:,} snapshots behind, moved {hours} ago{note}",
                figure=lag,
                threshold=_CONSUMER_LAG,
                option=CONSUMER_EXPIRATION_TIME.key,
                advice="no snapshot it has yet to read expires; delete it if nobody reads",
                evidence=f"snapshot:{flag.snapshot_id}",
            )


def tags_hold(patient: Patient) -> Iterator[Finding]:
    """Tags that keep much that nothing else needs."""
    live = patient.files.total_size
    for flag, rows, size in tag_only_files(patient.inspector, frozenset()):
        if live and size > _TAG_SHARE * live:
            yield Finding(
                weight=Weight.NOTE,
                rule="tag holds space",
                what=f"tag {flag.name} alone keeps {bytes_text(size)} in {rows:,} files",
                figure=size / live,
                threshold=_TAG_SHARE,
                option="tag.default-time-retained",
                advice=f"delete the tag if nobody reads it; live are {bytes_text(live)}",
                evidence=f"snapshot:{flag.snapshot_id}",
                unit=_percent,
            )


def missing_statistics(patient: Patient) -> Iterator[Finding]:
    """Files of which nothing is known, so that no condition on values can skip them."""
    if not len(patient.files):
        return
    nothing = _without_statistics(patient.files)
    count = len(nothing)
    if count:
        yield Finding(
            weight=Weight.NOTE,
            rule="no value statistics",
            what=f"{count_text(count)} of {len(patient.files):,} files have none: "
            "conditions on values cannot skip them",
            figure=count / len(patient.files),
            threshold=0,
            option=METADATA_STATS_MODE.key,
            advice="collect them for the columns you filter on, fields.<column>.stats-mode",
            evidence="filter:",
            unit=_percent,
        )


def _without_statistics(files: ManifestEntries) -> Ints:
    counts = column(files.table, "value_null_counts")
    lists = as_python(counts)
    found: Ints = np.flatnonzero([not one for one in lists])
    return found


def overdue_expiry(patient: Patient) -> Iterator[Finding]:
    """Snapshots that the options let go."""
    timeline = patient.inspector.timeline()
    ids = [mark.snapshot_id for mark in timeline.marks if not mark.expired]
    times = {m.snapshot_id: m.snapshot.time_millis for m in timeline.marks if m.snapshot}
    retention = snapshot_retention(patient.options, lambda: patient.now_ms)
    flags = [f.snapshot_id for f in timeline.flags if f.kind is FlagKind.CONSUMER]
    gone = expiring_ids(ids, lambda i: times.get(i, 0), retention, min(flags, default=None))
    if len(gone) > _OVERDUE:
        most = retention.retain_max < len(ids)
        yield Finding(
            weight=Weight.NOTE,
            rule="overdue expiry",
            what=f"{len(gone):,} of {len(ids):,} snapshots may expire; nobody has done it",
            figure=len(gone),
            threshold=_OVERDUE,
            option=(SNAPSHOT_NUM_RETAINED_MAX if most else SNAPSHOT_TIME_RETAINED).key,
            advice="expire_snapshots(); preview_expiry() tells what it frees",
            evidence="expiry:",
        )


def iceberg_metadata(patient: Patient) -> Iterator[Finding]:
    """Iceberg metadata that commits of this package leave behind."""
    if not has_iceberg_metadata(patient.options) or patient.snapshot is None:
        return
    store = patient.inspector.view.store
    newest = newest_iceberg_snapshot(store.file_io, store.paths.root)
    behind = 1 if newest is None else patient.snapshot.id - newest
    where = f"{ICEBERG_STORAGE.key} = {patient.options.value(ICEBERG_STORAGE)}"
    is_there = "may be stale" if newest is None else f"is at snapshot {newest}"
    yield Finding(
        weight=Weight.WARNING if behind > 0 else Weight.NOTE,
        rule="iceberg metadata",
        what=f"{where}: the Iceberg metadata {is_there}, the table is at {patient.snapshot.id}; "
        "paimon_explore does not write it",
        figure=max(behind, 0),
        threshold=0,
        option=ICEBERG_STORAGE.key,
        advice="a commit by Java Paimon updates it; unset the option if nobody reads it",
        evidence=f"snapshot:{patient.snapshot.id}",
    )


def stray_snapshots(patient: Patient) -> Iterator[Finding]:
    """Snapshot files above the latest snapshot, behind a gap in the ids."""
    snapshots = patient.inspector.view.store.snapshots
    known = snapshots.ids()
    if strays := snapshots.all_ids()[len(known) :]:
        yield Finding(
            weight=Weight.WARNING,
            rule="stray snapshot",
            what=f"snapshot-{strays[0]} is above the latest snapshot, {known[-1]}, behind a gap",
            figure=strays[0],
            threshold=known[-1],
            advice="nobody reads it, and a commit will collide with it; move the file away",
        )


RULES: tuple[Callable[[Patient], Iterator[Finding]], ...] = (
    unreadable,
    missing_files,
    sorted_runs,
    small_files,
    deleted_rows,
    consumers,
    manifest_size,
    delete_entries,
    missing_statistics,
    stale_hints,
    stray_snapshots,
    tags_hold,
    overdue_expiry,
    bucket_skew,
    partition_skew,
    iceberg_metadata,
)
