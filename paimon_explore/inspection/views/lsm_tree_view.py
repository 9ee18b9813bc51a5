"""The LSM tree of one bucket: its sorted runs by level, and the read amplification by key.

Each file of level 0 is one sorted run, each higher level is one run. The axis ranks the minimum and
maximum keys of all files; distances on it have no meaning.

Read amplification of a bucket: how many sorted runs of its LSM tree overlap at a key.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import FormatError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.partition_argument import Given, resolve_partition
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Profile, Tone, axis_ticks
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    short_text,
)
from paimon_explore.inspection.rendering.report import (
    Cell,
    Columns,
    Entry,
    Grid,
    Note,
    Report,
    Section,
    facts,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partitions_of
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import column_sum, file_cell, key_texts
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.effective_options import stop_trigger
from paimon_explore.metadata.options.table_options import NUM_SORTED_RUN_COMPACTION_TRIGGER
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import vectors_of
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.scan.splits.key_range_sections import key_ranks

_COLUMNS = (
    *("kind", "partition", "bucket", "level", "file_name", "file_size", "row_count", "min_key"),
    *("max_key", "min_sequence_number", "max_sequence_number", "delete_row_count", "extra_files"),
    *("embedded_file_index", "external_path", "schema_id"),
)
_MIN_HEIGHT = 0.3
_WRITTEN = "Files in the order in which they were written"

LSM_FILES = schema_from_text(
    "run int32, level int32, min_key string, max_key string, row_count int64, "
    "retract_count int64, deleted_count int64, file_size int64, min_sequence_number int64, "
    "max_sequence_number int64, depth int32, file_name string"
)
"""One row per file, newest run first. `retract_count` is the number of stored -U and -D rows, null
if unknown; `deleted_count` the number of rows deleted by deletion vectors; `depth` the maximum
number of runs that overlap anywhere in the key range of the file, including its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSummary:
    """Totals of one bucket.

    Attributes:
        partition: partition text; empty if unpartitioned.
        bucket: bucket number.
        runs: number of sorted runs.
        level_0: number of files in level 0.
        files: number of files.
        rows: number of stored rows.
        bytes: total file size.
    """

    partition: str
    bucket: int
    runs: int
    level_0: int
    files: int
    rows: int
    bytes: int

    @property
    def text(self) -> str:
        """The bucket as text, as the input of the LSM view accepts it."""
        return bucket_text(self.partition, self.bucket)


def bucket_text(partition: str, bucket: int) -> str:
    """A bucket as text, as the input of the LSM view accepts it."""
    return f"{partition}, bucket {bucket}" if partition else f"bucket {bucket}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LsmSection(Result):
    """The LSM tree of one bucket at a snapshot.

    Attributes:
        name: the table.
        snapshot: the snapshot; None for a table without snapshots.
        selected: the bucket; None if the table has no files.
        buckets: all buckets, by descending number of runs.
        files: the files as `LSM_FILES`.
        spans: per file the ranks of its key range, [start, end).
        depths: number of overlapping runs at each rank.
        labels: key at each rank.
        mean_depth: mean number of overlapping runs per stored row.
        trigger: number of runs that triggers a compaction.
        stop: number of runs at which writers wait.
        keyed: whether the table has a primary key.
    """

    name: str
    snapshot: Snapshot | None
    selected: BucketSummary | None
    buckets: tuple[BucketSummary, ...]
    files: pa.Table
    spans: tuple[tuple[int, int], ...]
    depths: tuple[int, ...]
    labels: tuple[str, ...]
    mean_depth: float
    trigger: int
    stop: int
    keyed: bool
    kind = "lsm"

    @property
    def max_depth(self) -> int:
        """Maximum number of overlapping runs: the files that a lookup of one key may open."""
        return max(self.depths, default=0)

    def to_arrow(self) -> pa.Table:
        """The files of the bucket, newest run first."""
        return self.files

    def figures(self) -> dict[str, object]:
        """The figures of the bucket as JSON."""
        one = self.selected
        return {
            "snapshot": None if self.snapshot is None else self.snapshot.id,
            "partition": None if one is None else one.partition,
            "bucket": None if one is None else one.bucket,
            "buckets": len(self.buckets),
            "runs": 0 if one is None else one.runs,
            "level_0": 0 if one is None else one.level_0,
            "trigger": self.trigger,
            "stop": self.stop,
            "max_depth": self.max_depth,
            "mean_depth": round(self.mean_depth, 4),
            "rows": column_sum(self.files, "row_count"),
            "retracts": column_sum(self.files, "retract_count"),
            "deleted": column_sum(self.files, "deleted_count"),
        }

    def to_report(self) -> Report:
        """A chart of the runs, the figures, the files, and all buckets."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        title = f"{self.name} at {at}"
        if self.selected is None:
            return Report(title=title, sections=(Note(text="The snapshot has no data files."),))
        return Report(
            title=f"{title}: {self.selected.text}", sections=tuple(self._sections(self.selected))
        )

    def _sections(self, one: BucketSummary) -> Iterator[Section]:
        rows = one.rows or 1
        retracts, deleted = (column_sum(self.files, f"{n}_count") for n in ("retract", "deleted"))
        runs = Cell(
            text=f"{one.runs} (compaction starts above {self.trigger}, "
            f"{NUM_SORTED_RUN_COMPACTION_TRIGGER.key}; writers wait above {self.stop})",
            tone=Tone.WARN if one.runs > self.trigger else Tone.PLAIN,
        )
        gone = (
            f"{count_text(retracts)} retracted, {count_text(deleted)} deleted by deletion vectors"
        )
        share = f"{gone} ({(retracts + deleted) / rows:.1%} of {plural(one.rows, 'row')})"
        depth = f"max {self.max_depth}, mean {self.mean_depth:.1f} sorted runs per key"
        levels = f", {one.level_0} in level 0" if self.keyed else ""
        size = f"{plural(one.files, 'file')}{levels}, {bytes_text(one.bytes)}"
        yield self._chart()
        yield facts(
            ("files", size),
            ("sorted runs", runs if self.keyed else None),
            ("read amplification", depth if self.keyed else None),
            ("retracted or deleted rows", share),
        )
        if not self.keyed:
            yield Note(
                text="Without a primary key, rows have no key order and files no levels; the files "
                "are listed in the order in which they were written."
            )
        yield self._files()
        if len(self.buckets) > 1:
            yield self._others(one)

    def _chart(self) -> LaneChart:
        rows = self.files.to_pylist()
        lanes = {row["run"]: f"level {row['level']}" if self.keyed else "files" for row in rows}
        largest = max((_int(row["file_size"]) for row in rows), default=1) or 1
        numbered = {run: i for i, run in enumerate(lanes)}
        boxes = [
            self._box(row, span, numbered[row["run"]], largest)
            for row, span in zip(rows, self.spans, strict=True)
        ]
        steps = [(float(at), float(depth)) for at, depth in enumerate(self.depths)]
        end = float(len(self.depths))
        profile = Profile(
            title=f"overlapping runs, max {self.max_depth}", steps=(*_turns(steps), (end, 0.0))
        )
        ticks = axis_ticks(0, end, [(i + 0.5, text) for i, text in enumerate(self.labels)])
        return LaneChart(
            title="Sorted runs by key range, newest run on top" if self.keyed else _WRITTEN,
            lanes=tuple(lanes.values()),
            boxes=tuple(boxes),
            start=0,
            end=end,
            ticks=ticks if self.keyed else (),
            profile=profile if self.keyed else None,
        )

    def _box(self, row: dict[str, object], span: tuple[int, int], lane: int, largest: int) -> Box:
        rows, size = _int(row["row_count"]), _int(row["file_size"])
        gone = _int(row["retract_count"]) + _int(row["deleted_count"])
        name = str(row["file_name"])
        keys = f", keys {row['min_key']} to {row['max_key']}" if self.keyed else ""
        lost = f", {gone:,} of them retracted or deleted" if gone else ""
        tooltip = (
            f"level {row['level']}: {name}, {plural(rows, 'row')}{lost}, {bytes_text(size)}{keys}, "
            f"sequence {row['min_sequence_number']} to {row['max_sequence_number']}"
        )
        return Box(
            lane=lane,
            start=span[0],
            end=span[1],
            label=f"{short_text(rows)} row{'' if rows == 1 else 's'}",
            tooltip=tooltip,
            tone=Tone.WARN if row["level"] == 0 and self.keyed else Tone.PLAIN,
            height=max((max(size, 0) / largest) ** 0.5, _MIN_HEIGHT),
            hatched=min(gone / rows, 1.0) if rows else 0.0,
            selects=f"file:{name}",
        )

    def _files(self) -> Grid:
        rows: list[list[Entry]] = []
        for row in self.files.slice(0, 200).to_pylist():
            gone = _int(row["retract_count"]) + _int(row["deleted_count"])
            keys = (row["min_key"], row["max_key"], row["depth"]) if self.keyed else ()
            size, file = bytes_text(row["file_size"]), file_cell(row["file_name"])
            rows.append([str(row["level"]), row["row_count"], size, *keys, gone or "", file])
        key_heads = ("min key", "max key", "overlap#") if self.keyed else ()
        heads = ("level#", "rows#", "size#", *key_heads, "deleted#", "file")
        note = "deleted: rows that are retracted, or deleted by a deletion vector."
        title = _WRITTEN
        if self.keyed:
            title = "Files, newest run first"
            note = (
                f"overlap: maximum number of sorted runs with keys in the range of the file; {note}"
            )
        return grid(title, heads, rows, total=self.files.num_rows, note=note)

    def _others(self, one: BucketSummary) -> Grid:
        max_runs = max(bucket.runs for bucket in self.buckets)

        def named(b: BucketSummary) -> Cell:
            tone = Tone.MUTED if b == one else Tone.PLAIN
            return Cell(text=b.text, selects=f"ask:{b.text}", tone=tone)

        def runs(b: BucketSummary) -> Cell:
            tone = Tone.WARN if b.runs > self.trigger else Tone.PLAIN
            return Cell(text=str(b.runs), share=b.runs / max_runs, tone=tone)

        levels: Columns[BucketSummary] = {"runs#": runs, "level-0 files#": lambda b: b.level_0}
        columns: Columns[BucketSummary] = {
            "bucket": named,
            **(levels if self.keyed else {}),
            "files#": lambda b: b.files,
            "rows#": lambda b: short_text(b.rows),
            "size#": lambda b: bytes_text(b.bytes),
        }
        title = "Buckets by number of sorted runs" if self.keyed else "Buckets"
        return listing(title, self.buckets, columns)


def lsm_section(
    inspector: Inspector, partition: Given = None, bucket: int | None = None
) -> LsmSection:
    """Inspect the LSM tree of a bucket; by default the one with the most sorted runs.

    Args:
        inspector: the table at a snapshot.
        partition: see `resolve_partition`.
        bucket: the bucket number.

    Raises:
        NotFoundError: the partition or bucket does not exist.
        PaimonError: a manifest cannot be read.
    """
    view, snapshot = inspector.view, inspector.snapshot
    entries = ManifestEntries.empty()
    if snapshot is not None:
        manifests = view.store.manifests
        entries = live_entries(manifests.read_many(manifests.all(snapshot).names, _COLUMNS))
    names = partitions_of(entries.table, partition_type(view))
    sums, groups = bucket_summaries(entries, names.codes, names.texts)
    text = resolve_partition(partition, partition_type(view).names, names.texts)
    matches = [
        i
        for i, one in enumerate(sums)
        if (text is None or one.partition == text) and (bucket is None or one.bucket == bucket)
    ]
    if not matches and (text is not None or bucket is not None):
        found = ", ".join(one.text for one in sums[:8]) or "none"
        raise NotFoundError(
            "bucket",
            bucket if text is None else f"{text} {bucket}".strip(),
            hint=f"Existing buckets: {found}.",
        )
    selected = sums[matches[0]] if matches else None
    entries = entries.take(groups[matches[0]] if matches else np.empty(0, np.int64))
    order, runs = sorted_runs(entries, keyed=bool(len(view.keys)))
    entries = entries.take(order)
    lows, highs = key_rank_ranges(entries, view.keys)
    depths = read_amplification(lows, highs)
    mean = mean_read_amplification(lows, highs, depths, numbers(entries.table, "row_count"))
    deepest = [int(depths[a : b + 1].max()) for a, b in zip(lows, highs, strict=True)]
    texts = key_texts(entries.table, view.keys)
    where = () if selected is None else (selected.partition or None, selected.bucket)
    arguments = dict(zip(("partition", "bucket"), where, strict=False))
    return LsmSection(
        name=view.name,
        snapshot=snapshot,
        selected=selected,
        buckets=tuple(sums),
        files=_files_table(entries, runs, deepest, texts, _deleted(view, snapshot, entries)),
        spans=tuple((int(a), int(b) + 1) for a, b in zip(lows, highs, strict=True)),
        depths=tuple(depths.tolist()),
        labels=_labels(lows, highs, texts, len(depths)),
        mean_depth=mean,
        trigger=view.options.value(NUM_SORTED_RUN_COMPACTION_TRIGGER),
        stop=stop_trigger(view.options),
        keyed=bool(len(view.keys)),
        code=Code(
            python=call_code(f"{inspector.code}.inspect.lsm", **arguments),
            spark=read_code(view.location, inspector.point_options),
        ),
    )


def bucket_summaries(
    entries: ManifestEntries, codes: Ints, texts: Sequence[str]
) -> tuple[list[BucketSummary], list[Ints]]:
    """The buckets by descending number of runs, and the row numbers of the files of each.

    Args:
        entries: n live files.
        codes: per file the number of its partition.
        texts: the partitions.
    """
    if not len(entries):
        return [], []
    buckets, levels = (numbers(entries.table, n) for n in ("bucket", "level"))
    order = np.lexsort((buckets, codes))
    changes = (np.diff(codes[order]) != 0) | (np.diff(buckets[order]) != 0)
    parts = np.split(order, np.flatnonzero(changes) + 1)
    rows, sizes = (numbers(entries.table, n) for n in ("row_count", "file_size"))
    sums = []
    for part in parts:
        level_0 = int((levels[part] == 0).sum())
        sums.append(
            BucketSummary(
                partition=texts[int(codes[part[0]])],
                bucket=int(buckets[part[0]]),
                runs=level_0 + len(set(levels[part].tolist()) - {0}),
                level_0=level_0,
                files=len(part),
                rows=int(rows[part].sum()),
                bytes=int(sizes[part].sum()),
            )
        )
    by_runs = sorted(range(len(sums)), key=lambda i: -sums[i].runs)
    return [sums[i] for i in by_runs], [parts[i] for i in by_runs]


def _labels(
    lows: Ints, highs: Ints, texts: tuple[list[str], list[str]], count: int
) -> tuple[str, ...]:
    found = [""] * count
    for ranks, keys in ((lows, texts[0]), (highs, texts[1])):
        for place, key in zip(ranks.tolist(), keys, strict=True):
            found[place] = key
    return tuple(found)


def _turns(steps: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The steps at which the depth changes."""
    return [s for i, s in enumerate(steps) if i == 0 or s[1] != steps[i - 1][1]]


def _files_table(
    entries: ManifestEntries,
    runs: Sequence[int],
    deepest: Sequence[int],
    texts: tuple[list[str], list[str]],
    deleted: Sequence[int],
) -> pa.Table:
    table = entries.table
    return pa.Table.from_arrays(
        [
            pa.array(runs, pa.int32()),
            table.column("level"),
            pa.array(texts[0], pa.string()),
            pa.array(texts[1], pa.string()),
            table.column("row_count"),
            table.column("delete_row_count"),
            pa.array(deleted, pa.int64()),
            table.column("file_size"),
            table.column("min_sequence_number"),
            table.column("max_sequence_number"),
            pa.array(deepest, pa.int32()),
            table.column("file_name"),
        ],
        schema=LSM_FILES,
    )


def _deleted(view: TableView, snapshot: Snapshot | None, entries: ManifestEntries) -> list[int]:
    """Number of rows deleted by deletion vectors, per file; 0 for unknown cardinalities."""
    if snapshot is None or view.schema is None:
        return [0] * len(entries)
    found = deletion_files(view.store, snapshot, view.schema, view.options)
    vectors = vectors_of(entries, found)
    return [0 if one is None else one.cardinality or 0 for one in vectors]


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def sorted_runs(entries: ManifestEntries, *, keyed: bool) -> tuple[Ints, list[int]]:
    """The order of files by run, newest first, and key; and the run of each file."""
    levels, newest = (numbers(entries.table, n) for n in ("level", "max_sequence_number"))
    if not keyed:
        order = np.argsort(newest, kind="stable")
        return order, [0] * len(order)
    order = np.lexsort((np.where(levels == 0, -newest, 0), levels))
    runs: list[int] = []
    for place, level in enumerate(levels[order].tolist()):
        same = place > 0 and level > 0 and level == levels[order[place - 1]]
        runs.append(runs[-1] if same else len(set(runs)))
    return order, runs


def key_rank_ranges(entries: ManifestEntries, keys: RowType) -> tuple[Ints, Ints]:
    """The ranks of the minimum and maximum key of each file; consecutive ranks without keys.

    In files that are sorted by other columns, the minimum key may be greater than the maximum.
    """
    if len(keys) and len(entries):
        try:
            lows, highs = key_ranks(entries, keys)
            return np.minimum(lows, highs), np.maximum(lows, highs)
        except FormatError:  # corrupt keys: the files are still listed
            pass
    ranks = np.arange(len(entries))
    return ranks, ranks


def read_amplification(lows: Ints, highs: Ints) -> Ints:
    """The number of sorted runs that cover each key rank; files of one run do not overlap."""
    if not len(lows):
        return np.empty(0, np.int64)
    count = int(highs.max()) + 1
    change = np.zeros(count + 1, np.int64)
    np.add.at(change, lows, 1)
    np.add.at(change, highs + 1, -1)
    return np.cumsum(change)[:-1]


def mean_read_amplification(lows: Ints, highs: Ints, depths: Ints, rows: Ints) -> float:
    """The mean read amplification of stored rows, spread evenly over the key ranks of a file."""
    if not len(lows) or not rows.sum():
        return 0.0
    sums = np.concatenate([[0], np.cumsum(depths)])
    means = (sums[highs + 1] - sums[lows]) / (highs + 1 - lows)
    return float((means * rows).sum() / rows.sum())
