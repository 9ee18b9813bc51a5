"""Reasons why a pruning stage drops or keeps an item: the deciding condition and bounds."""

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
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import binary, numbers
from paimon_explore.scan.plan import (
    BUCKET_STAGE,
    GLOBAL_INDEX_STAGE,
    KEY_STAGE,
    LEVEL_STAGE,
    PRIMARY_KEY_INDEX_STAGE,
    FileStage,
    ScanTarget,
)
from paimon_explore.scan.predicate.expression import TRUE, Expression, conjuncts, names_of
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.pruning.bucket_pruning import allowed_buckets
from paimon_explore.scan.pruning.file_statistics import key_stats, value_stats
from paimon_explore.scan.pruning.pruning_reasons import Finding, explain
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable

_MAX_BUCKETS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why an item is read or not.

    Attributes:
        condition: the deciding part of the predicate as SQL.
        bounds: the statistics of the item that the condition was compared with.
        text: one sentence without its subject.
    """

    condition: str = ""
    bounds: str = ""
    text: str


ReasonOf = Callable[[int], Reason]
"""Gives the reason for the item at a row number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Gives the reasons for the items of one scan.

    Attributes:
        target: the scanned table.
        partition: prunes by partition.
        rest: the part of the predicate that partition values do not decide.
    """

    target: ScanTarget
    partition: PartitionFilter
    rest: Expression

    def of_manifests(self, manifests: ManifestFiles, *, kept: bool) -> ReasonOf:
        """Reasons for manifests that are kept or pruned."""
        predicate = self.partition.predicate
        if predicate is None:
            text = "is read, because no condition applies to partition columns."
            return lambda _: Reason(text=text)
        ranges = self.partition.ranges(manifests)
        return lambda place: _reason(explain(predicate, ranges, place), kept=kept)

    def of_partitions(self, entries: ManifestEntries) -> ReasonOf:
        """Reasons for files in pruned partitions."""
        predicate = self.partition.predicate
        if predicate is None:
            return lambda _: Reason(text="is read.")
        frame = self._partition_stats(entries)
        texts = partition_texts(entries.table, self.partition.row_type)

        def reason(place: int) -> Reason:
            found = explain(predicate, frame, place)
            condition = " and ".join(leaf.condition for leaf in found.leaves)
            condition = condition or to_sql(predicate)
            text = f"contains no matching rows: {condition} is false for partition {texts[place]}."
            return Reason(condition=condition, bounds=texts[place], text=text)

        return reason

    def of_pruned_files(self, stage: FileStage, gone: ManifestEntries) -> ReasonOf:
        """Reasons for files that a stage pruned."""
        if stage.name == LEVEL_STAGE:
            return lambda place: self._level(gone, place)
        if stage.name == BUCKET_STAGE:
            return lambda place: self._bucket(gone, place)
        if stage.name in (GLOBAL_INDEX_STAGE, PRIMARY_KEY_INDEX_STAGE):
            text = f"is skipped: the {stage.name} finds no matching row in it."
            return lambda _: Reason(text=text)
        predicate, frame = self._stats(stage.name, gone)
        return lambda place: _reason(explain(predicate, frame, place), kept=False)

    def of_kept(self, entries: ManifestEntries) -> ReasonOf:
        """Reasons for files that are read, and conditions that would prune them."""
        if self.rest == TRUE:
            decided = self.partition.predicate is not None
            text = (
                "is read, because the partition matches."
                if decided
                else "is read without a predicate."
            )
            return lambda _: Reason(text=text)
        predicate, frame = self._stats("", entries)
        on_bucket = self._bucket_hint()

        def reason(place: int) -> Reason:
            found = explain(predicate, frame, place)
            if not found.kept:
                return self._kept_for_merge(found)
            return _kept_reason(found, on_bucket)

        return reason

    def _kept_for_merge(self, found: Finding) -> Reason:
        """The reason for a file that is read although its own bounds exclude it."""
        first = found.leaves[0]
        engine = self.target.options.value(MERGE_ENGINE).value
        text = (
            f"is read although {first.bounds} excludes {first.condition}, because the rows "
            f"replace older versions of the rows in other files of the bucket ({engine})."
        )
        return Reason(condition=first.condition, bounds=first.bounds, text=text)

    def _stats(self, stage: str, entries: ManifestEntries) -> tuple[Expression, StatsTable]:
        keys = self.target.keys
        if stage == KEY_STAGE and keys is not None:
            on_keys = split_predicate(self.rest, [field.name for field in keys]).pushed
            return on_keys, key_stats(entries, keys)
        fields = self.target.schema.project(sorted(names_of(self.rest)))
        return self.rest, value_stats(entries, self.target.store.schemas.load, fields)

    def _partition_stats(self, entries: ManifestEntries) -> StatsTable:
        """The partition of each file as statistics with equal minimum and maximum."""
        rows = self.partition.decode(binary(entries.table, "partition"))
        count = len(entries)
        everywhere = np.ones(count, np.bool_)
        columns = {}
        for i, field in enumerate(self.partition.row_type):
            values = rows.column(i)
            nulls = build_fixed(pa.int64(), (~valid_mask(values)).astype(np.int64), everywhere)
            columns[field.name] = ColumnStats(minimum=values, maximum=values, null_count=nulls)
        ones = build_fixed(pa.int64(), np.ones(count, np.int64), everywhere)
        return StatsTable(row_count=ones, columns=columns)

    def _level(self, gone: ManifestEntries, place: int) -> Reason:
        bucket = int(numbers(gone.table, "bucket")[place])
        level = int(numbers(gone.table, "level")[place])
        if bucket < 0:
            text = "is not read: rows of the postponed bucket become visible after compaction."
            return Reason(condition="bucket >= 0", bounds=f"bucket {bucket}", text=text)
        if self.target.only_level is not None:
            condition = f"level = {self.target.only_level}"
            text = f"is not read: the scan reads only level {self.target.only_level}."
            return Reason(condition=condition, bounds=f"level {level}", text=text)
        created, since = int(numbers(gone.table, "creation_time")[place]), self.target.created_since
        if since is not None and created < since:
            condition = f"creation time >= {time_text(since, zone='')}"
            text = f"is not read: the file is older than {SCAN_FILE_CREATION_TIME_MILLIS.key}."
            return Reason(
                condition=condition, bounds=f"created at {time_text(created, zone='')}", text=text
            )
        vectors = self.target.options.value(DELETION_VECTORS_ENABLED)
        why = DELETION_VECTORS_ENABLED.key if vectors else f"{MERGE_ENGINE.key} first-row"
        text = f"is not read: with {why}, rows in level 0 become visible after compaction."
        return Reason(condition="level > 0", bounds=f"level {level}", text=text)

    def _bucket(self, gone: ManifestEntries, place: int) -> Reason:
        bucket = int(numbers(gone.table, "bucket")[place])
        total = int(numbers(gone.table, "total_buckets")[place])
        schema = self.target.schema
        keys = schema.project(schema.bucket_keys).fields
        function = self.target.options.value(BUCKET_FUNCTION).value
        allowed = sorted(allowed_buckets(self.rest, keys, total, function) or ())
        shown = ", ".join(map(str, allowed[:_MAX_BUCKETS_SHOWN])) or "none"
        shown += ", …" if len(allowed) > _MAX_BUCKETS_SHOWN else ""
        names = [key.name for key in keys]
        pushed = split_predicate(self.rest, names).pushed
        condition = to_sql(self.rest if pushed == TRUE else pushed)
        bounds = f"bucket {bucket} of {total}"
        text = f"contains no matching rows: {condition} selects bucket {shown}, not {bounds}."
        return Reason(condition=condition, bounds=bounds, text=text)

    def _bucket_hint(self) -> str:
        """A condition that would allow bucket pruning; empty if it applies already."""
        schema = self.target.schema
        missing = [name for name in schema.bucket_keys if name not in names_of(self.rest)]
        if not missing or not schema.bucket_keys:
            return ""
        return (
            f"an equality on the bucket key {', '.join(schema.bucket_keys)} would select one bucket"
        )


def _reason(found: Finding, *, kept: bool) -> Reason:
    condition = " and ".join(dict.fromkeys(leaf.condition for leaf in found.leaves))
    bounds = "; ".join(dict.fromkeys(leaf.bounds for leaf in found.leaves))
    if not kept:
        return Reason(condition=condition, bounds=bounds, text=found.text)
    return _kept_reason(found, "")


def _kept_reason(found: Finding, also: str) -> Reason:
    """The reason for a kept item, with conditions that would prune it."""
    would = [
        f"column {leaf.column} if {leaf.skipped_if}" if leaf.column else leaf.skipped_if
        for leaf in found.leaves
        if leaf.skipped_if
    ]
    unknown = [leaf.condition for leaf in found.leaves if leaf.bounds == "no statistics"]
    parts = [f"it would be pruned by {text}" for text in dict.fromkeys(would)]
    parts += [f"there are no statistics for {text}" for text in dict.fromkeys(unknown)]
    parts += [also] if also else []
    text = found.text.removesuffix(".")
    return Reason(
        condition=" and ".join(dict.fromkeys(leaf.condition for leaf in found.leaves)),
        bounds="; ".join(dict.fromkeys(leaf.bounds for leaf in found.leaves)),
        text="; ".join([text, *parts]) + ".",
    )


def index_leaf(predicate: Expression, skips: Callable[[Expression], bool]) -> str:
    """The first conjunct of a predicate by which a file index excludes a file."""
    for part in conjuncts(predicate):
        if skips(part):
            return to_sql(part)
    return to_sql(predicate)
