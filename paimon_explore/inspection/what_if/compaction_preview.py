"""Preview of a compaction: which files it would replace, and the table before and after.

The files are exactly those of the compaction: its own plan is used, and not carried out. What the
new files look like is estimated, see `compaction_estimate`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    signed_text,
)
from paimon_explore.inspection.rendering.report import (
    MAX_ROWS,
    Cell,
    Entry,
    Grid,
    Note,
    Report,
    Section,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import file_cell
from paimon_explore.inspection.views.lsm_tree_view import bucket_text
from paimon_explore.inspection.what_if.compaction_estimate import (
    BucketEstimate,
    BucketShape,
    GroupEstimate,
    Range,
)
from paimon_explore.maintenance.compaction.compact import (
    CompactionPlan,
    PartitionSpec,
    plan_compaction,
    planned_groups,
)
from paimon_explore.metadata.options.table_options import BUCKET, POSTPONE_BUCKET
from paimon_explore.metadata.schema.schema_validation import check_dynamic_options
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.write.write_target import WriteTarget

_MAX_BARS = 30

COMPACTED_FILES = schema_from_text(
    "partition string, bucket int32, group int32, action string, level int32, level_after int32, "
    "row_count int64, file_size int64, file_name string"
)
"""One row per file that the compaction replaces. Files with the same bucket and `group` become new
files together; `action` is `rewrite`, or `move` for a file that only changes its level."""

COMPACTED_BUCKETS = schema_from_text(
    "partition string, bucket int32, files int64, files_after_min int64, files_after_max int64, "
    "runs int64, runs_after int64, depth int64, depth_after int64, bytes int64, "
    "bytes_after_min int64, bytes_after_max int64, bytes_rewritten int64"
)
"""One row per bucket; `depth` is the maximum read amplification, `runs` the number of sorted runs;
both are 0 without a primary key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedGroup:
    """Files that are replaced together.

    Attributes:
        files: entries of the files.
        level: level of the new files.
        rewritten: whether the rows are written again; otherwise only the level changes.
        estimate: the new files.
    """

    files: pa.Table
    level: int
    rewritten: bool
    estimate: GroupEstimate

    @property
    def action(self) -> str:
        """`rewrite` or `move`."""
        return "rewrite" if self.rewritten else "move"

    @property
    def bytes(self) -> int:
        """Size of the files."""
        return _total(self.files, "file_size")

    @property
    def rows(self) -> int:
        """Rows of the files."""
        return _total(self.files, "row_count")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedBucket:
    """A bucket before and after the compaction.

    Attributes:
        partition: the partition as text; empty if unpartitioned.
        bucket: the bucket number.
        before: the bucket as it is.
        after: the bucket after the compaction; equal to `before` if nothing is replaced.
        groups: the files that are replaced together.
    """

    partition: str
    bucket: int
    before: BucketShape
    after: BucketShape
    groups: tuple[CompactedGroup, ...]

    @property
    def text(self) -> str:
        """`dt=d1, bucket 0`."""
        return bucket_text(self.partition, self.bucket)

    @property
    def rewritten(self) -> int:
        """Bytes that are read and written again."""
        return sum(group.bytes for group in self.groups if group.rewritten)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompactionPreview(Result):
    """The effect that a compaction would have now.

    Attributes:
        name: the table.
        snapshot: id of the latest snapshot; 0 for a table without snapshots.
        full: whether it is a full compaction.
        options: the given options.
        keyed: whether the table has a primary key.
        buckets: all buckets, those with most rewritten bytes first.
        notes: what the preview does not include.
        has_links: whether buckets and files are links, which lead to the selected snapshot.
    """

    name: str
    snapshot: int
    full: bool
    options: Mapping[str, str]
    keyed: bool
    buckets: tuple[CompactedBucket, ...]
    notes: tuple[str, ...] = ()
    has_links: bool = True
    kind = "what_if"

    @property
    def compacted(self) -> tuple[CompactedBucket, ...]:
        """The buckets of which files are replaced."""
        return tuple(one for one in self.buckets if one.groups)

    @property
    def bytes_rewritten(self) -> int:
        """Bytes that the compaction reads and writes again."""
        return sum(one.rewritten for one in self.buckets)

    def to_arrow(self) -> pa.Table:
        """The files that would be replaced, as `COMPACTED_FILES`."""
        parts = [
            _files_table(bucket, number, group)
            for bucket in self.compacted
            for number, group in enumerate(bucket.groups, 1)
        ]
        return pa.concat_tables([COMPACTED_FILES.empty_table(), *parts])

    def buckets_table(self) -> pa.Table:
        """All buckets before and after, as `COMPACTED_BUCKETS`."""
        rows = [
            {
                "partition": one.partition,
                "bucket": one.bucket,
                "files": one.before.files.high,
                "files_after_min": one.after.files.low,
                "files_after_max": one.after.files.high,
                "runs": one.before.runs,
                "runs_after": one.after.runs,
                "depth": one.before.max_depth,
                "depth_after": one.after.max_depth,
                "bytes": one.before.bytes.high,
                "bytes_after_min": one.after.bytes.low,
                "bytes_after_max": one.after.bytes.high,
                "bytes_rewritten": one.rewritten,
            }
            for one in self.buckets
        ]
        return pa.Table.from_pylist(rows, schema=COMPACTED_BUCKETS)

    def figures(self) -> dict[str, object]:
        """Totals before and after; estimates as [least, greatest]."""
        before, after = map(_shape_figures, _totals(self.buckets))
        return {
            "snapshot": self.snapshot,
            "full": self.full,
            "options": dict(self.options),
            "buckets": len(self.buckets),
            "compacted_buckets": len(self.compacted),
            "groups": sum(len(one.groups) for one in self.buckets),
            "bytes_rewritten": self.bytes_rewritten,
            "before": before,
            "after": after,
        }

    def to_report(self) -> Report:
        """The table before and after, how it is estimated, the buckets and the file groups."""
        count = sum(group.files.num_rows for one in self.buckets for group in one.groups)
        what = "A full compaction" if self.full else "A minor compaction"
        if count:
            size = bytes_text(self.bytes_rewritten)
            title = f"{self.name}: {what} would replace {plural(count, 'file')} and rewrite {size}"
        else:
            title = f"{self.name}: {what} would change nothing"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        yield from (Note(text=text, tone=Tone.WARN) for text in self.notes)
        if not self.buckets:
            yield Note(text="The table has no data files to compact.")
            return
        yield self._comparison()
        yield facts(
            ("bytes rewritten", bytes_text(self.bytes_rewritten)),
            ("compacted buckets", f"{len(self.compacted):,} of {len(self.buckets):,}"),
            ("options", ", ".join(f"{k} = {v}" for k, v in self.options.items()) or None),
        )
        if self.compacted:
            yield self._chart()
            yield self._bucket_grid()
            yield self._group_grid()

    def _comparison(self) -> Grid:
        before, after = _totals(self.buckets)
        rows: list[list[Entry]] = [
            _row("files", before.files, after.files),
            _row("size", before.bytes, after.bytes, bytes_text),
            _row("stored rows", before.rows, after.rows),
        ]
        if self.keyed:
            depths = _exactly(before.max_depth), _exactly(after.max_depth)
            means = (before.mean_depth, after.mean_depth)
            shown = (*(f"{mean:.2f}" for mean in means), f"{means[1] - means[0]:+.2f}")
            rows += [
                _row("sorted runs, max of a bucket", _exactly(before.runs), _exactly(after.runs)),
                _row("read amplification, max", *depths),
                ["read amplification, mean", *shown],
            ]
        note = (
            "The replaced files are exact: the compaction plans them in the same way. Rows and "
            "sizes afterwards are estimated"
        )
        if self.keyed:
            note += (
                ": at most all rows of the replaced files (no key occurs twice), at least those of "
                "the largest sorted run of each section of overlapping files, at their mean size"
            )
        else:
            note += " from the live rows of the replaced files, at their mean size"
        note += "; the least size is without the footers of the files that are gone."
        return grid(
            "Before and after", ("figure", "before#", "after#", "difference#"), rows, note=note
        )

    def _chart(self) -> BarChart:
        shown = self.compacted[:_MAX_BARS]
        pairs = [(one.before, one.after) for one in shown]
        counts = [
            (a.runs, b.runs) if self.keyed else (a.files.high, b.files.high) for a, b in pairs
        ]
        fewer = tuple(float(max(a - b, 0)) for a, b in counts)
        what = "Sorted runs" if self.keyed else "Files"
        return BarChart(
            title=f"{what} by compacted bucket: kept and merged",
            categories=tuple(one.text for one in shown),
            series=(
                Series(name="after", values=tuple(float(b) for _, b in counts)),
                Series(name="fewer", values=fewer, tone=Tone.REMOVE),
            ),
        )

    def _bucket_grid(self) -> Grid:
        rows: list[list[Entry]] = []
        is_linked = self.keyed and self.has_links
        for one in self.compacted:
            cells: list[Entry] = [
                Cell(text=one.text, selects=f"lsm:{one.text}" if is_linked else ""),
                one.before.files.high,
                _range_text(one.after.files, count_text),
            ]
            if self.keyed:
                shapes = (one.before, one.after)
                cells += [*(o.runs for o in shapes), *(o.max_depth for o in shapes)]
            after = _range_text(one.after.bytes, bytes_text)
            rows.append(
                [*cells, bytes_text(one.before.bytes.high), after, bytes_text(one.rewritten)]
            )
        heads = ["bucket", "files#", "files after#"]
        if self.keyed:
            heads += ["runs#", "runs after#", "depth#", "depth after#"]
        heads += ["size#", "size after#", "rewritten#"]
        note = "depth: maximum number of sorted runs that overlap at a key."
        return grid("Compacted buckets", heads, rows, note=note if self.keyed else "")

    def _group_grid(self) -> Grid:
        table = self.to_arrow()
        rows: list[list[Entry]] = [
            [
                bucket_text(row["partition"], row["bucket"]),
                str(row["group"]),
                Cell(text=row["action"], tone=_ACTION_TONES[row["action"]]),
                " → ".join(dict.fromkeys([str(row["level"]), str(row["level_after"])])),
                row["row_count"],
                bytes_text(row["file_size"]),
                file_cell(row["file_name"]) if self.has_links else row["file_name"],
            ]
            for row in table.slice(0, MAX_ROWS).to_pylist()
        ]
        heads = ("bucket", "group#", "action", "level", "rows#", "size#", "file")
        note = "Files of one group become new files together; move: only the level changes."
        return grid("Replaced files", heads, rows, total=table.num_rows, note=note)


_ACTION_TONES = {"rewrite": Tone.WARN, "move": Tone.MOVE}


def compaction_preview(
    view: TableView,
    *,
    full: bool = True,
    partitions: Sequence[PartitionSpec] | None = None,
    options: Mapping[str, str] | None = None,
) -> CompactionPreview:
    """Preview a compaction of the latest snapshot.

    Args:
        view: the table; its schema must be readable.
        full: whether to preview a full compaction.
        partitions: only the partitions that match one of these; None for all.
        options: options that override those of the table.

    Raises:
        InvalidInputError: an option has an invalid value, or a partition does not fit the table.
        UnsupportedFeatureError: the table uses a feature that compaction does not support.
        PaimonError: a manifest cannot be read.
    """
    given = dict(options or {})
    schema = view.target(None, travelled=False).schema
    check_dynamic_options(schema, given)
    effective = view.options.changed(given)
    target = WriteTarget(store=view.store, schema=schema, options=effective)
    plan = plan_compaction(target, full=full, partitions=partitions)
    with explain_missing_files(view.store, plan.snapshot):
        rows = pa.array([split.partition for split in plan.splits], pa.binary())
        texts = partition_texts(pa.table({"partition": rows}), partition_type(view))
        buckets = [_bucket(plan, *pair) for pair in zip(plan.splits, texts, strict=True)]
    notes = []
    if effective.value(BUCKET) == POSTPONE_BUCKET:
        notes.append(
            "The table has postpone buckets (bucket = -2): a compaction first writes their files "
            "to real buckets, which this preview does not include."
        )
    code = call_code(
        f"{view.expression}.what_if.compact",
        full=None if full else False,
        partitions=partitions,
        options=given or None,
    )
    return CompactionPreview(
        name=view.name,
        snapshot=0 if plan.snapshot is None else plan.snapshot.id,
        full=full,
        options=given,
        keyed=bool(schema.primary_keys),
        buckets=tuple(sorted(buckets, key=lambda one: -one.rewritten)),
        notes=tuple(notes),
        code=Code(python=code),
    )


def _bucket(plan: CompactionPlan, split: DataSplit, partition: str) -> CompactedBucket:
    schema, options = plan.target.schema, plan.target.options
    groups = planned_groups(plan, split)
    keys = schema.project(schema.trimmed_primary_keys)
    estimate = BucketEstimate(split, groups, keys, options, columns=len(schema.fields))
    before = estimate.before()
    table = split.files.table.select(["level", "row_count", "file_size", "file_name"])
    return CompactedBucket(
        partition=partition,
        bucket=split.bucket,
        before=before,
        after=estimate.after() if groups else before,
        groups=tuple(
            CompactedGroup(
                files=table.take(pa.array(group.files, pa.int64())),
                level=group.level,
                rewritten=group.rewritten,
                estimate=estimate.group(group),
            )
            for group in groups
        ),
    )


def _files_table(bucket: CompactedBucket, number: int, group: CompactedGroup) -> pa.Table:
    files, count = group.files, group.files.num_rows
    return pa.Table.from_arrays(
        [
            pa.array([bucket.partition] * count, pa.string()),
            pa.array([bucket.bucket] * count, pa.int32()),
            pa.array([number] * count, pa.int32()),
            pa.array([group.action] * count, pa.string()),
            files.column("level"),
            pa.array([group.level] * count, pa.int32()),
            files.column("row_count"),
            files.column("file_size"),
            files.column("file_name"),
        ],
        schema=COMPACTED_FILES,
    )


def _exactly(number: int) -> Range:
    return Range(number, number)


def _row(
    label: str, before: Range, after: Range, text: Callable[[int], str] = count_text
) -> list[Entry]:
    difference = Range(after.low - before.high, after.high - before.low)
    ends = dict.fromkeys(signed_text(n, text) for n in difference)
    shown = "0" if before == after else " to ".join(ends)
    return [label, _range_text(before, text), _range_text(after, text), shown]


def _range_text(given: Range, text: Callable[[int], str]) -> str:
    return " to ".join(dict.fromkeys(text(number) for number in given))


def _totals(buckets: Sequence[CompactedBucket]) -> tuple[BucketShape, BucketShape]:
    """All buckets before and after, with the maximum of their runs and depths."""
    return _total_shape([b.before for b in buckets]), _total_shape([b.after for b in buckets])


def _total_shape(shapes: Sequence[BucketShape]) -> BucketShape:
    rows = Range.total(one.rows for one in shapes)
    weighted = sum(one.mean_depth * one.rows.high for one in shapes)
    return BucketShape(
        files=Range.total(one.files for one in shapes),
        bytes=Range.total(one.bytes for one in shapes),
        rows=rows,
        runs=max((one.runs for one in shapes), default=0),
        max_depth=max((one.max_depth for one in shapes), default=0),
        mean_depth=weighted / rows.high if rows.high else 0.0,
    )


def _shape_figures(shape: BucketShape) -> dict[str, object]:
    sums = {"files": shape.files, "bytes": shape.bytes, "rows": shape.rows}
    return {
        **{name: list(found) for name, found in sums.items()},
        "max_runs": shape.runs,
        "max_depth": shape.max_depth,
        "mean_depth": round(shape.mean_depth, 4),
    }


def _total(table: pa.Table, name: str) -> int:
    return int(numbers(table, name).sum())
