"""Explanation of statistics pruning: the conditions that keep or drop an item, with its bounds."""

from dataclasses import replace

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.expression import (
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
    names_of,
)
from paimon_explore.scan.predicate.like_pattern import prefix_of
from paimon_explore.scan.predicate.literals import value_at
from paimon_explore.scan.predicate.sql_formatter import literal_text, to_sql
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
    if counts.null_count:
        return None
    return int(nb.fixed_values(counts, np.int64).astype(np.int64)[0])


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
