"""Which files, manifests or row groups may hold a row that a predicate keeps.

For every item each condition is judged by what it can be on some row of the item: true, false,
unknown. The three are kept apart, so that NOT, AND and OR combine soundly without rewriting; an
item may match if the whole predicate can be true. Every answer errs towards "can be":

- bounds are outer bounds, perhaps cut; a missing bound, or a NaN as one, says nothing;
- NaN, which is greater than all numbers, may lie outside the bounds of a float column, for some
  writers leave it out of them: no float column excludes `> x` by its maximum;
- a missing null count says nothing; members of ROWs, casts and comparisons of columns have no
  statistics.
"""

import math
from collections.abc import Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding import buffers as nb
from paimon_explore.encoding.buffers import Bools
from paimon_explore.encoding.buffers import Column as Values
from paimon_explore.scan.constants import scalar_of, values_array
from paimon_explore.scan.expression import (
    TRUE,
    And,
    Call,
    Cast,
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
)
from paimon_explore.scan.kernels import call
from paimon_explore.scan.like import Wildcard, pieces_of, prefix_of
from paimon_explore.types.data_types import AtomicType, TypeRoot
from paimon_explore.values import dataclass

_FEW_VALUES = 16
_DENSE = pc.RankOptions(tiebreaker="dense")
_TEXT = AtomicType(root=TypeRoot.VARCHAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStats:
    """Statistics of one column for n items.

    Attributes:
        minimum: n lower bounds in the column's Arrow type; null where unknown or all is null.
        maximum: n upper bounds, likewise; both inclusive, and perhaps wider than the values.
        null_count: n int64; null where unknown.
    """

    minimum: Values
    maximum: Values
    null_count: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsFrame:
    """Statistics of n files, manifests or row groups.

    Attributes:
        row_count: n int64 numbers of rows; null where unknown.
        columns: by top-level column name; nothing is known of a column that is missing.
    """

    row_count: Values
    columns: Mapping[str, ColumnStats] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of items."""
        return len(self.row_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What a condition can be on the rows of each of n items; more than it is, never less."""

    true: Bools
    false: Bools
    unknown: Bools


def may_match(expr: Expression, stats: StatsFrame) -> npt.NDArray[np.bool_]:
    """Whether each item may hold a row of which a bound predicate is true.

    Args:
        expr: bound to the row type whose columns `stats` describes.
        stats: of n items.

    Returns:
        n values; False only where no row can match.

    Spec: concepts/spec/manifest, statistics section.
    """
    return outcomes(expr, stats).true


def outcomes(expr: Expression, stats: StatsFrame) -> Outcomes:
    """What a bound predicate can be on the rows of each item."""
    match expr:
        case And(children=children) | Or(children=children):
            parts = [outcomes(child, stats) for child in children]
            return _all_of(parts) if isinstance(expr, And) else _negated(_any_false_of(parts))
        case Not(child=child):
            return _negated(outcomes(child, stats))
        case IsTrue(child=child):
            inner = outcomes(child, stats)
            none = np.zeros(len(stats), np.bool_)
            return Outcomes(true=inner.true, false=inner.false | inner.unknown, unknown=none)
        case Literal(value=value):
            return _constant(value, _has_rows(stats))
        case Column():
            return _compared(Compare(op=CompareOp.EQ, left=expr, right=TRUE), stats)
        case Compare() | In() | Like() | IsNull() | Cast() | Call():
            return _leaf(expr, stats)


def _leaf(expr: Compare | In | Like | IsNull | Cast | Call, stats: StatsFrame) -> Outcomes:
    match expr:
        case Compare(left=Column(path=(_,)), right=Literal()):
            return _compared(expr, stats)
        case In(operand=Column(path=(name,)), values=values):
            return _contained(_Bounds(name, stats), values)
        case Like(operand=Column(path=(name,))):
            return _matched(_Bounds(name, stats), expr)
        case IsNull(operand=Column(path=(name,))):
            bounds = _Bounds(name, stats)
            none = np.zeros(len(stats), np.bool_)
            return Outcomes(true=bounds.has_null, false=bounds.has_value, unknown=none)
        case _:
            rows = _has_rows(stats)
            return Outcomes(true=rows, false=rows, unknown=rows)


def _all_of(parts: list[Outcomes]) -> Outcomes:
    """AND: unknown takes an unknown part beside ones that are true or unknown."""
    true, false = parts[0].true, parts[0].false
    not_false, unknown = true | parts[0].unknown, parts[0].unknown
    for part in parts[1:]:
        part_not_false = part.true | part.unknown
        unknown = (unknown & part_not_false) | (part.unknown & not_false)
        not_false = not_false & part_not_false
        true, false = true & part.true, false | part.false
    return Outcomes(true=true, false=false, unknown=unknown)


def _any_false_of(parts: list[Outcomes]) -> Outcomes:
    """AND of the negations, which is the negation of OR."""
    return _all_of([_negated(part) for part in parts])


def _negated(inner: Outcomes) -> Outcomes:
    return Outcomes(true=inner.false, false=inner.true, unknown=inner.unknown)


def _constant(value: object, rows: Bools) -> Outcomes:
    none = np.zeros(len(rows), np.bool_)
    return Outcomes(
        true=rows if value is True else none,
        false=rows if value is False else none,
        unknown=rows if value is None else none,
    )


def _has_rows(stats: StatsFrame) -> Bools:
    rows: Bools = ~nb.valid_mask(stats.row_count) | (_integers(stats.row_count) != 0)
    return rows


def _integers(array: Values) -> npt.NDArray[np.int64]:
    return nb.fixed_values(array, np.int64).view(np.int64)


class _Bounds:
    """Statistics of one column as numpy masks over the n items."""

    def __init__(self, name: str, stats: StatsFrame) -> None:
        self._size = len(stats)
        rows = _has_rows(stats)
        self._column = stats.columns.get(name)
        self.has_null = self.has_value = rows
        self.known = np.zeros(self._size, np.bool_)
        self.has_nan = np.zeros(self._size, np.bool_)
        if self._column is None:
            return
        counts = self._column.null_count
        counted = nb.valid_mask(counts)
        total = nb.valid_mask(stats.row_count)
        self.has_null = rows & (~counted | (_integers(counts) > 0))
        all_null = counted & total & (_integers(counts) >= _integers(stats.row_count))
        self.has_value = rows & ~all_null
        self.known = nb.valid_mask(self._column.minimum) & nb.valid_mask(self._column.maximum)
        if pa.types.is_floating(self._column.minimum.type):
            nan = call("or", *(call("is_nan", bound) for bound in self.bounds()))
            self.known &= ~(nb.bool_values(nan) & nb.valid_mask(nan))
            self.has_nan = self.has_value

    def bounds(self) -> tuple[Values, Values]:
        column = self._column
        if column is None:
            nothing = pa.nulls(self._size)
            return nothing, nothing
        return column.minimum, column.maximum

    def low(self, kernel: str, value: "pa.Scalar[pa.DataType]", *, default: bool) -> Bools:
        """A comparison of each minimum, `default` where it is unknown."""
        return self._bound(0, kernel, value, default=default)

    def high(self, kernel: str, value: "pa.Scalar[pa.DataType]", *, default: bool) -> Bools:
        """A comparison of each maximum, `default` where it is unknown."""
        return self._bound(1, kernel, value, default=default)

    def _bound(
        self, side: int, kernel: str, value: "pa.Scalar[pa.DataType]", *, default: bool
    ) -> Bools:
        if not self.known.any():
            return np.full(self._size, default, np.bool_)
        return self.decided(call(kernel, self.bounds()[side], value), default=default)

    def decided(self, answers: Values, *, default: bool) -> Bools:
        """Answers on the bounds, `default` where those are unknown."""
        return np.where(self.known, nb.bool_values(answers), np.bool_(default))

    def single(self) -> Bools:
        """Whether all values are known to be one and the same."""
        if not self.known.any() or self.has_nan.any():
            return np.zeros(self._size, np.bool_)
        return self.decided(call("equal", *self.bounds()), default=False)


def _compared(test: Compare, stats: StatsFrame) -> Outcomes:
    constant = test.right if isinstance(test.right, Literal) else TRUE
    bounds = _Bounds(test.left.name if isinstance(test.left, Column) else "", stats)
    less, equal, greater = _positions(bounds, constant)
    match test.op:
        case CompareOp.LT:
            true, false = less, equal | greater
        case CompareOp.LE:
            true, false = less | equal, greater
        case CompareOp.GT:
            true, false = greater, less | equal
        case CompareOp.GE:
            true, false = greater | equal, less
        case CompareOp.EQ | CompareOp.SAME:
            true, false = equal, less | greater
        case CompareOp.NE:
            true, false = less | greater, equal
    true, false, unknown = true & bounds.has_value, false & bounds.has_value, bounds.has_null
    if test.op is CompareOp.SAME:  # a null is surely not the same
        false, unknown = false | unknown, np.zeros_like(unknown)
    return Outcomes(true=true, false=false, unknown=unknown)


def _positions(bounds: _Bounds, constant: Literal) -> tuple[Bools, Bools, Bools]:
    """Whether values may lie below, at and above a constant."""
    value = scalar_of(constant)
    if isinstance(constant.value, float) and math.isnan(constant.value):  # nothing is above it
        anything = np.ones_like(bounds.known)
        return anything, anything, ~anything
    less = bounds.low("less", value, default=True)
    greater = bounds.high("greater", value, default=True)
    equal = bounds.low("less_equal", value, default=True)
    equal &= bounds.high("greater_equal", value, default=True)
    return less, equal, greater | bounds.has_nan


def _contained(bounds: _Bounds, values: tuple[Literal, ...]) -> Outcomes:
    listed = [value for value in values if value.value is not None]
    found = _any_within(bounds, listed)
    true = found & bounds.has_value
    missed = bounds.has_value & ~(found & bounds.single())
    if len(listed) < len(values):  # with a null in the list, what is not found is unknown
        none = np.zeros_like(missed)
        return Outcomes(true=true, false=none, unknown=missed | bounds.has_null)
    return Outcomes(true=true, false=missed, unknown=bounds.has_null)


def _any_within(bounds: _Bounds, listed: list[Literal]) -> Bools:
    """Whether one of the constants lies within each item's bounds."""
    kind = listed[0].type if listed else None
    if not bounds.known.any() or kind is None:
        return np.ones_like(bounds.known)
    if len(listed) <= _FEW_VALUES or bounds.has_nan.any():
        found = np.zeros_like(bounds.known)
        for constant in listed:
            found |= _positions(bounds, constant)[1]
        return found
    constants = values_array([constant.value for constant in listed], kind)
    ranked = call("rank", pa.concat_arrays([constants, *bounds.bounds()]), options=_DENSE)
    ranks = nb.fixed_values(ranked, np.uint64).astype(np.int64)
    count, size = len(constants), len(bounds.known)
    ordered = np.sort(ranks[:count])
    low, high = ranks[count : count + size], ranks[count + size :]
    within = np.searchsorted(ordered, low, "left") < np.searchsorted(ordered, high, "right")
    return within | ~bounds.known


def _matched(bounds: _Bounds, test: Like) -> Outcomes:
    """By the text before the first wildcard, which all matches begin with."""
    prefix = prefix_of(test)
    text = values_array([prefix], _TEXT)[0]
    true = false = np.ones_like(bounds.known)
    if prefix and bounds.known.any():
        low, high = bounds.bounds()
        begins = pc.MatchSubstringOptions(prefix)
        low_has, high_has = (call("starts_with", end, options=begins) for end in (low, high))
        not_above = call("or", call("less_equal", low, text), low_has)
        not_below = call("greater_equal", high, text)
        true = bounds.decided(call("and", not_above, not_below), default=True)
        if pieces_of(test) == (prefix, Wildcard.ANY):
            false = ~bounds.decided(call("and", low_has, high_has), default=False)
    return Outcomes(
        true=true & bounds.has_value, false=false & bounds.has_value, unknown=bounds.has_null
    )
