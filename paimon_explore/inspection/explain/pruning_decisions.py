"""Reasons why a pruning stage drops or keeps an item: the deciding condition and bounds.

Explanation of statistics pruning: the conditions that keep or drop an item, with its bounds.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import build_fixed, valid_mask
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import time_text
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.table_options import (
    BUCKET_FUNCTION,
    DELETION_VECTORS_ENABLED,
    MERGE_ENGINE,
    SCAN_FILE_CREATION_TIME_MILLIS,
)
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import FileStage, binary, numbers
from paimon_explore.scan.plan import (
    BUCKET_STAGE,
    GLOBAL_INDEX_STAGE,
    KEY_STAGE,
    LEVEL_STAGE,
    PRIMARY_KEY_INDEX_STAGE,
    ScanTarget,
)
from paimon_explore.scan.predicate.expression import (
    TRUE,
    And,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Or,
    conjuncts,
    names_of,
)
from paimon_explore.scan.predicate.like_pattern import prefix_of
from paimon_explore.scan.predicate.literals import value_at
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import literal_text, to_sql
from paimon_explore.scan.pruning.bucket_pruning import allowed_buckets
from paimon_explore.scan.pruning.file_statistics import key_stats, value_stats
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable, outcomes

_NEGATED = {
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
}
_SKIPPED_IF = {
    CompareOp.EQ: "its minimum were above {0} or its maximum below",
    CompareOp.SAME: "its minimum were above {0} or its maximum below",
    CompareOp.NE: "its minimum and maximum were both {0}",
    CompareOp.LT: "its minimum were {0} or above",
    CompareOp.LE: "its minimum were above {0}",
    CompareOp.GT: "its maximum were {0} or below",
    CompareOp.GE: "its maximum were below {0}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafFinding:
    """The result of one simple condition on the statistics of one item.

    Attributes:
        condition: SQL text of the condition.
        column: the column it reads; None if it reads several, none, or a nested field.
        excludes: whether no row of the item can satisfy it.
        bounds: the statistics of the column, as text.
        skipped_if: statistics that would exclude the item; empty if they cannot, or already do.
    """

    condition: str
    column: str | None
    excludes: bool
    bounds: str
    skipped_if: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why an item is read or skipped.

    Attributes:
        kept: whether it may contain matching rows.
        leaves: if skipped the conditions that exclude it, else every condition.
        text: one sentence that explains it.
    """

    kept: bool
    leaves: tuple[LeafFinding, ...]
    text: str


def explain(expr: Expression, stats: StatsTable, index: int) -> Finding:
    """Explains why `may_match` keeps or drops item `index`."""
    item = _item(stats, index)
    kept = bool(outcomes(expr, item).true[0])
    leaves = tuple(_leaves(expr, item, wanted=True, excluded=not kept))
    if kept:
        text = "may contain matching rows: " + "; ".join(
            f"{leaf.condition} ({leaf.bounds})" for leaf in leaves
        )
    else:
        text = "contains no matching rows: " + "; ".join(
            f"{leaf.condition} is impossible with {leaf.bounds}" for leaf in leaves
        )
    return Finding(kept=kept, leaves=leaves, text=text + ".")


def _item(stats: StatsTable, index: int) -> StatsTable:
    columns = {
        name: ColumnStats(
            minimum=column.minimum.slice(index, 1),
            maximum=column.maximum.slice(index, 1),
            null_count=column.null_count.slice(index, 1),
        )
        for name, column in stats.columns.items()
    }
    return StatsTable(row_count=stats.row_count.slice(index, 1), columns=columns)


def _leaves(
    expr: Expression, item: StatsTable, *, wanted: bool, excluded: bool
) -> list[LeafFinding]:
    """Findings for the leaves that decide whether `expr` can be `wanted`.

    With `excluded`, `expr` cannot, and only the leaves that exclude it are returned.
    """
    match expr:
        case Not(child=child):
            return _leaves(child, item, wanted=not wanted, excluded=excluded)
        case IsTrue(child=child) if wanted:
            return _leaves(child, item, wanted=True, excluded=excluded)
        case And(children=children) | Or(children=children):
            if excluded:
                children = tuple(
                    child for child in children if not _can(child, item, wanted=wanted)
                )
            return [
                leaf
                for child in children
                for leaf in _leaves(child, item, wanted=wanted, excluded=excluded)
            ]
        case _:
            return [_leaf(expr, item, wanted=wanted)]


def _can(expr: Expression, item: StatsTable, *, wanted: bool) -> bool:
    found = outcomes(expr, item)
    return bool((found.true if wanted else found.false)[0])


def _leaf(expr: Expression, item: StatsTable, *, wanted: bool) -> LeafFinding:
    required = _required(expr, wanted=wanted)
    names = names_of(expr)
    column = next(iter(names)) if len(names) == 1 and _is_plain(expr) else None
    excludes = not _can(expr, item, wanted=wanted)
    return LeafFinding(
        condition=to_sql(required),
        column=column,
        excludes=excludes,
        bounds=_bounds_text(column, _kind(expr), item),
        skipped_if="" if excludes or column is None else _skipped_if(required),
    )


def _required(expr: Expression, *, wanted: bool) -> Expression:
    """The condition that a row has to satisfy: the leaf, or its negation."""
    if wanted:
        return expr
    if isinstance(expr, Compare) and expr.op in _NEGATED:
        return replace(expr, op=_NEGATED[expr.op])
    return Not(child=expr)


def _is_plain(expr: Expression) -> bool:
    """Whether a leaf tests one top-level column, so that its statistics apply."""
    match expr:
        case Compare(left=Column(path=(_,)), right=Literal()) | Column(path=(_,)):
            return True
        case In(operand=operand) | Like(operand=operand) | IsNull(operand=operand):
            return isinstance(operand, Column) and len(operand.path) == 1
        case _:
            return False


def _kind(expr: Expression) -> AtomicType | None:
    """The type of the column's bounds; None if the leaf does not determine it."""
    match expr:
        case Compare(right=Literal(type=kind)):
            return kind
        case In(values=values):
            return next((value.type for value in values if value.type is not None), None)
        case Like():
            return AtomicType(root=TypeRoot.VARCHAR)
        case Column():
            return AtomicType(root=TypeRoot.BOOLEAN)
        case _:
            return None


def _bounds_text(column: str | None, kind: AtomicType | None, item: StatsTable) -> str:
    stats = None if column is None else item.columns.get(column)
    if stats is None:
        return "no statistics"
    parts = []
    if kind is not None:
        low, high = (value_at(end, 0, kind) for end in (stats.minimum, stats.maximum))
        parts = [
            "no bounds"
            if low is None or high is None
            else f"minimum {literal_text(Literal(value=low, type=kind))}, "
            f"maximum {literal_text(Literal(value=high, type=kind))}"
        ]
    nulls, rows = (_count(counts) for counts in (stats.null_count, item.row_count))
    parts.append("unknown null count" if nulls is None else _counted(nulls, "null"))
    return ", ".join(parts) + ("" if rows is None else f" in {_counted(rows, 'row')}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _count(counts: nb.Column) -> int | None:
    return None if counts.null_count else int(nb.fixed_values(counts, np.int64).astype(np.int64)[0])


def _skipped_if(required: Expression) -> str:
    match required:
        case Compare(op=op, right=Literal() as constant):
            return _SKIPPED_IF[op].format(literal_text(constant))
        case In(values=values):
            shown = len([value for value in values if value.value is not None])
            return f"none of the {shown} values were within its bounds"
        case Like() if prefix_of(required):
            return f"no text within its bounds began with {prefix_of(required)!r}"
        case IsNull():
            return "its null count were 0"
        case Not(child=IsNull()):
            return "its null count were equal to its row count"
        case _:
            return ""


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
        if predicate == TRUE:
            text = "is read, because no condition applies to partition columns."
            return lambda _: Reason(text=text)
        ranges = self.partition.ranges(manifests)
        reason = _kept_reason if kept else _reason
        return lambda place: reason(explain(predicate, ranges, place))

    def of_partitions(self, entries: ManifestEntries) -> ReasonOf:
        """Reasons for files in pruned partitions."""
        predicate = self.partition.predicate
        if predicate == TRUE:
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
        return lambda place: _reason(explain(predicate, frame, place))

    def of_kept(self, entries: ManifestEntries) -> ReasonOf:
        """Reasons for files that are read, and conditions that would prune them."""
        if self.rest == TRUE:
            decided = self.partition.predicate != TRUE
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
            return self._kept_for_merge(found) if not found.kept else _kept_reason(found, on_bucket)

        return reason

    def _kept_for_merge(self, found: Finding) -> Reason:
        """The reason for a file that is read although its own bounds exclude it."""
        first = found.leaves[0]
        engine = self.target.options.value(MERGE_ENGINE).value
        scope = "partition" if self.target.merges_postponed else "bucket"
        text = (
            f"is read although {first.bounds} excludes {first.condition}, because the rows "
            f"replace older versions of the rows in other files of the {scope} ({engine})."
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


def _reason(found: Finding, text: str = "") -> Reason:
    return Reason(
        condition=" and ".join(dict.fromkeys(leaf.condition for leaf in found.leaves)),
        bounds="; ".join(dict.fromkeys(leaf.bounds for leaf in found.leaves)),
        text=text or found.text,
    )


def _kept_reason(found: Finding, also: str = "") -> Reason:
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
    return _reason(found, "; ".join([found.text.removesuffix("."), *parts]) + ".")


def index_leaf(predicate: Expression, skips: Callable[[Expression], bool]) -> str:
    """The first conjunct of a predicate by which a file index excludes a file."""
    for part in conjuncts(predicate):
        if skips(part):
            return to_sql(part)
    return to_sql(predicate)
