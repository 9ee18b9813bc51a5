"""Why a cut drops or keeps one item, in words: the condition and the bound that decide."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import build_fixed, valid_mask
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import time_text
from paimon_explore.inspection.rendering.partition_text import partition_texts
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.table_options import (
    BUCKET_FUNCTION,
    DELETION_VECTORS_ENABLED,
    MERGE_ENGINE,
    SCAN_FILE_CREATION_TIME_MILLIS,
)
from paimon_explore.scan.live_entries import PartitionCut
from paimon_explore.scan.manifest_arrays import binary, numbers
from paimon_explore.scan.plan import BUCKET_CUT, KEY_CUT, LEVEL_CUT, FileCut, ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjuncts, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.pruning.bucket_filter import allowed_buckets
from paimon_explore.scan.pruning.file_statistics import key_stats, value_stats
from paimon_explore.scan.pruning.pruning_reasons import Finding, explain
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsFrame

_MOST_BUCKETS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why an item is read or not.

    Attributes:
        condition: the part of the predicate that decides, as SQL.
        bounds: what is known of the item that it was held against.
        text: one sentence.
    """

    condition: str = ""
    bounds: str = ""
    text: str


WhyOf = Callable[[int], Reason]
"""The reason of an item by its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """The reasons of one scan.

    Attributes:
        target: what is scanned.
        partition: the cut by partition.
        rest: what of the predicate partitions do not decide.
    """

    target: ScanTarget
    partition: PartitionCut
    rest: Expression

    def of_manifests(self, manifests: ManifestFiles, *, kept: bool) -> WhyOf:
        """Why manifests are read, or not."""
        predicate = self.partition.predicate
        if predicate is None:
            text = "is read: the predicate says nothing about partitions."
            return lambda _: Reason(text=text)
        ranges = self.partition.ranges(manifests)
        return lambda place: _reason(explain(predicate, ranges, place), kept=kept)

    def of_partitions(self, entries: ManifestEntries) -> WhyOf:
        """Why files of other partitions are not read."""
        predicate = self.partition.predicate
        if predicate is None:
            return lambda _: Reason(text="is read.")
        frame = self._partition_frame(entries)
        texts = partition_texts(entries.table, self.partition.row_type)

        def reason(place: int) -> Reason:
            found = explain(predicate, frame, place)
            condition = " and ".join(leaf.condition for leaf in found.leaves)
            condition = condition or to_sql(predicate)
            text = f"holds no matching row: {condition} is false in partition {texts[place]}."
            return Reason(condition=condition, bounds=texts[place], text=text)

        return reason

    def of_cut(self, cut: FileCut, gone: ManifestEntries) -> WhyOf:
        """Why a cut drops files."""
        if cut.name == LEVEL_CUT:
            return lambda place: self._level(gone, place)
        if cut.name == BUCKET_CUT:
            return lambda place: self._bucket(gone, place)
        predicate, frame = self._stats(cut.name, gone)
        return lambda place: _reason(explain(predicate, frame, place), kept=False)

    def of_kept(self, entries: ManifestEntries) -> WhyOf:
        """Why files are read, and what would have dropped them."""
        if self.rest == TRUE:
            decided = self.partition.predicate is not None
            text = "is read: its partition alone decides." if decided else "is read: no condition."
            return lambda _: Reason(text=text)
        predicate, frame = self._stats("", entries)
        on_bucket = self._bucket_hint()

        def reason(place: int) -> Reason:
            found = explain(predicate, frame, place)
            if not found.kept:
                return self._kept_for_others(found)
            return _kept_reason(found, on_bucket)

        return reason

    def _kept_for_others(self, found: Finding) -> Reason:
        """A file whose own bounds exclude it, but that may hold other versions of a row."""
        first = found.leaves[0]
        engine = self.target.options.value(MERGE_ENGINE).value
        text = (
            f"is read though {first.condition} is impossible with {first.bounds}: its rows are "
            f"merged ({engine}) with others of the bucket, whose older versions must not resurface."
        )
        return Reason(condition=first.condition, bounds=first.bounds, text=text)

    def _stats(self, cut: str, entries: ManifestEntries) -> tuple[Expression, StatsFrame]:
        keys = self.target.keys
        if cut == KEY_CUT and keys is not None:
            on_keys = split_predicate(self.rest, [field.name for field in keys]).inside
            return on_keys, key_stats(entries, keys)
        fields = self.target.schema.project(sorted(names_of(self.rest)))
        return self.rest, value_stats(entries, self.target.store.schemas.load, fields)

    def _partition_frame(self, entries: ManifestEntries) -> StatsFrame:
        """Each file's partition as bounds that hold one value."""
        rows = self.partition.decode(binary(entries.table, "partition"))
        count = len(entries)
        everywhere = np.ones(count, np.bool_)
        columns = {}
        for i, field in enumerate(self.partition.row_type):
            values = rows.column(i)
            nulls = build_fixed(pa.int64(), (~valid_mask(values)).astype(np.int64), everywhere)
            columns[field.name] = ColumnStats(minimum=values, maximum=values, null_count=nulls)
        ones = build_fixed(pa.int64(), np.ones(count, np.int64), everywhere)
        return StatsFrame(row_count=ones, columns=columns)

    def _level(self, gone: ManifestEntries, place: int) -> Reason:
        bucket = int(numbers(gone.table, "bucket")[place])
        level = int(numbers(gone.table, "level")[place])
        if bucket < 0:
            text = "is not read: its rows wait in the postponed bucket until a compaction."
            return Reason(condition="bucket >= 0", bounds=f"bucket {bucket}", text=text)
        if self.target.only_level is not None:
            condition = f"level = {self.target.only_level}"
            text = f"is not read: only level {self.target.only_level} is asked for."
            return Reason(condition=condition, bounds=f"level {level}", text=text)
        created, since = int(numbers(gone.table, "creation_time")[place]), self.target.created_since
        if since is not None and created < since:
            condition = f"creation time >= {time_text(since, zone='')}"
            text = f"is not read: it was made before {SCAN_FILE_CREATION_TIME_MILLIS.key}."
            return Reason(
                condition=condition, bounds=f"made at {time_text(created, zone='')}", text=text
            )
        vectors = self.target.options.value(DELETION_VECTORS_ENABLED)
        why = DELETION_VECTORS_ENABLED.key if vectors else f"{MERGE_ENGINE.key} first-row"
        text = f"is not read: with {why} rows of level 0 become visible by compaction."
        return Reason(condition="level > 0", bounds=f"level {level}", text=text)

    def _bucket(self, gone: ManifestEntries, place: int) -> Reason:
        bucket = int(numbers(gone.table, "bucket")[place])
        total = int(numbers(gone.table, "total_buckets")[place])
        schema = self.target.schema
        keys = schema.project(schema.bucket_keys).fields
        function = self.target.options.value(BUCKET_FUNCTION).value
        allowed = sorted(allowed_buckets(self.rest, keys, total, function) or ())
        shown = ", ".join(map(str, allowed[:_MOST_BUCKETS])) or "none"
        shown += ", …" if len(allowed) > _MOST_BUCKETS else ""
        names = [key.name for key in keys]
        inside = split_predicate(self.rest, names).inside
        condition = to_sql(self.rest if inside == TRUE else inside)
        bounds = f"bucket {bucket} of {total}"
        text = f"holds no matching row: {condition} leaves bucket {shown}, this is {bounds}."
        return Reason(condition=condition, bounds=bounds, text=text)

    def _bucket_hint(self) -> str:
        """What the predicate lacks to cut by bucket."""
        schema = self.target.schema
        missing = [name for name in schema.bucket_keys if name not in names_of(self.rest)]
        if not missing or not schema.bucket_keys:
            return ""
        return f"a value of the bucket key {', '.join(schema.bucket_keys)} would leave one bucket"


def _reason(found: Finding, *, kept: bool) -> Reason:
    condition = " and ".join(dict.fromkeys(leaf.condition for leaf in found.leaves))
    bounds = "; ".join(dict.fromkeys(leaf.bounds for leaf in found.leaves))
    if not kept:
        return Reason(condition=condition, bounds=bounds, text=found.text)
    return _kept_reason(found, "")


def _kept_reason(found: Finding, also: str) -> Reason:
    """What would have excluded a kept item."""
    would = [
        f"{leaf.column} — if {leaf.skipped_if}" if leaf.column else leaf.skipped_if
        for leaf in found.leaves
        if leaf.skipped_if
    ]
    unknown = [leaf.condition for leaf in found.leaves if leaf.bounds == "no statistics"]
    parts = [f"would be skipped by {text}" for text in dict.fromkeys(would)]
    parts += [f"no statistics for {text}" for text in dict.fromkeys(unknown)]
    parts += [also] if also else []
    text = found.text.removesuffix(".")
    return Reason(
        condition=" and ".join(dict.fromkeys(leaf.condition for leaf in found.leaves)),
        bounds="; ".join(dict.fromkeys(leaf.bounds for leaf in found.leaves)),
        text="; ".join([text, *parts]) + ".",
    )


def index_leaf(predicate: Expression, skips: Callable[[Expression], bool]) -> str:
    """The first part of a predicate by which alone a file index excludes a file."""
    for part in conjuncts(predicate):
        if skips(part):
            return to_sql(part)
    return to_sql(predicate)
