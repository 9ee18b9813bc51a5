"""Statistics pruning of files, manifests and row groups by min/max bounds and null counts.

For every item (file, manifest or row group) and condition three outcomes are tracked: whether it
can be true, false or unknown on some row of the item. NOT, AND and OR combine them without
rewriting the predicate; an item may match if the whole predicate can be true. All outcomes are
conservative:

- bounds are outer bounds and may be truncated; a missing bound or a NaN bound excludes nothing;
- NaN, which is greater than all numbers, may be outside the bounds of a float column, because some
  writers ignore it: a float column never excludes `> x` by its maximum;
- a missing null count excludes nothing; nested fields, casts and comparisons of columns have no
  statistics.
"""

import math
from collections.abc import Mapping
from dataclasses import field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.data_types.arrow_buffers import Column as Values
from paimon_explore.data_types.definitions import BOOLEAN, AtomicType, TypeRoot
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.expression import (
    TRUE,
    And,
    Call,
    Cast,
    Column,
    Compare,
    CompareOp,
    Computed,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Or,
)
from paimon_explore.scan.predicate.kernels import call
from paimon_explore.scan.predicate.like_pattern import Wildcard, pattern_parts, prefix_of
from paimon_explore.scan.predicate.literals import values_array

_FEW_VALUES = 16
_DENSE = pc.RankOptions(tiebreaker="dense")
_TEXT = AtomicType(root=TypeRoot.VARCHAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStats:
    """Statistics of one column for n items.

    Attributes:
        minimum: n inclusive lower bounds in the column's Arrow type; null if unknown or all null.
        maximum: n inclusive upper bounds, likewise. Bounds may be wider than the values.
        null_count: n int64; null where unknown.
    """

    minimum: Values
    maximum: Values
    null_count: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsTable:
    """Statistics of n files, manifests or row groups.

    Attributes:
        row_count: n int64 numbers of rows; null where unknown.
        columns: by top-level column name; columns without statistics are missing.
    """

    row_count: Values
    columns: Mapping[str, ColumnStats] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of items."""
        return len(self.row_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Possible outcomes of a condition on the rows of each of n items; a superset of the actual."""

    true: Bools
    false: Bools
    unknown: Bools


def may_match(expr: Expression, stats: StatsTable) -> npt.NDArray[np.bool_]:
    """Whether each item may contain a row for which a bound predicate is true.

    Args:
        expr: bound to the row type whose columns `stats` describes.
        stats: of n items.

    Returns:
        n values; False only where no row can match.

    Spec: concepts/spec/manifest, statistics section.
    """
    return outcomes(expr, stats).true


def outcomes(expr: Expression, stats: StatsTable) -> Outcomes:
    """The possible outcomes of a bound predicate on the rows of each item."""
    return _outcomes(expr, _Items(stats))


class _Items:
    """The items, with the bounds of columns cached on first use."""

    def __init__(self, stats: StatsTable) -> None:
        self._stats = stats
        self._bounds: dict[str, _Bounds] = {}
        self.has_rows: Bools = ~nb.valid_mask(stats.row_count) | (_integers(stats.row_count) != 0)

    def __len__(self) -> int:
        return len(self.has_rows)

    def bounds(self, name: str) -> "_Bounds":
        if name not in self._bounds:
            self._bounds[name] = _Bounds(name, self._stats, self.has_rows)
        return self._bounds[name]


def _outcomes(expr: Expression, items: _Items) -> Outcomes:
    match expr:
        case And(children=children) | Or(children=children):
            parts = [_outcomes(child, items) for child in children]
            return _all_of(parts) if isinstance(expr, And) else _negated(_any_false_of(parts))
        case Not(child=child):
            return _negated(_outcomes(child, items))
        case IsTrue(child=child):
            inner = _outcomes(child, items)
            none = np.zeros(len(items), np.bool_)
            return Outcomes(true=inner.true, false=inner.false | inner.unknown, unknown=none)
        case Literal(value=value):
            return _constant(value, items.has_rows)
        case Column():
            return _compared(Compare(op=CompareOp.EQ, left=expr, right=TRUE), items)
        case Compare() | In() | Like() | IsNull() | Cast() | Call() | Computed():
            return _leaf(expr, items)


def _leaf(expr: Compare | In | Like | IsNull | Cast | Call | Computed, items: _Items) -> Outcomes:
    match expr:
        case Compare(left=Column(path=(_,)), right=Literal()):
            return _compared(expr, items)
        case In(operand=Column(path=(name,)), values=values):
            return _contained(items.bounds(name), values)
        case Like(operand=Column(path=(name,))):
            return _matched(items.bounds(name), expr)
        case IsNull(operand=Column(path=(name,))):
            bounds = items.bounds(name)
            none = np.zeros(len(items), np.bool_)
            return Outcomes(true=bounds.has_null, false=bounds.has_value, unknown=none)
        case _:
            rows = items.has_rows
            return Outcomes(true=rows, false=rows, unknown=rows)


def _all_of(parts: list[Outcomes]) -> Outcomes:
    """AND: it can be unknown if one part can be unknown and the others true or unknown."""
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


def _integers(array: Values) -> npt.NDArray[np.int64]:
    return nb.fixed_values(array, np.int64).view(np.int64)


class _Bounds:
    """Statistics of one column as numpy masks over the n items."""

    def __init__(self, name: str, stats: StatsTable, rows: Bools) -> None:
        self._size = len(stats)
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

    def around(self, one: Values) -> tuple[Bools, Bools, Bools]:
        """Whether values may be less than, equal to and greater than the single value of `one`.

        True where the bounds are unknown. Numbers are compared by NumPy, which is faster for few.
        """
        unknown = ~self.known
        if unknown.all():
            return unknown, unknown, unknown
        low, high = self.bounds()
        form = _NUMBERS.get(low.type.id) if low.type == one.type else None
        if form is None or one.null_count:
            tests = (("less", low), ("less_equal", low), ("greater_equal", high), ("greater", high))
            found = [nb.bool_values(call(kernel, bound, one[0])) for kernel, bound in tests]
            less, begins, ends, greater = found
        else:
            lows, highs, value = (nb.fixed_values(side, form) for side in (low, high, one))
            less, begins = np.less(lows, value), np.less_equal(lows, value)
            ends, greater = np.greater_equal(highs, value), np.greater(highs, value)
        return less | unknown, (begins & ends) | unknown, greater | unknown

    def decided(self, answers: Bools, *, default: bool) -> Bools:
        """The answers where bounds are known, else `default`."""
        return np.where(self.known, answers, np.bool_(default))

    def single(self) -> Bools:
        """Whether all values are known to be equal."""
        if not self.known.any() or self.has_nan.any():
            return np.zeros(self._size, np.bool_)
        return self.decided(nb.bool_values(call("equal", *self.bounds())), default=False)


_NUMBERS = {
    kind.id: form
    for kind, form in (
        (pa.int8(), "<i1"),
        (pa.int16(), "<i2"),
        (pa.int32(), "<i4"),
        (pa.int64(), "<i8"),
        (pa.date32(), "<i4"),
        (pa.time32("ms"), "<i4"),
        (pa.timestamp("ms"), "<i8"),
        (pa.float32(), "<f4"),
        (pa.float64(), "<f8"),
    )
}


def _compared(test: Compare, items: _Items) -> Outcomes:
    constant = test.right if isinstance(test.right, Literal) else TRUE
    bounds = items.bounds(test.left.name if isinstance(test.left, Column) else "")
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
    if test.op is CompareOp.SAME:  # never unknown: null <=> constant is false
        false, unknown = false | unknown, np.zeros_like(unknown)
    return Outcomes(true=true, false=false, unknown=unknown)


def _positions(bounds: _Bounds, constant: Literal) -> tuple[Bools, Bools, Bools]:
    """Whether values may be less than, equal to and greater than a constant."""
    if isinstance(constant.value, float) and math.isnan(constant.value):  # the greatest value
        anything = np.ones_like(bounds.known)
        return anything, anything, ~anything
    one = values_array([constant.value], constant.type or BOOLEAN)
    less, equal, greater = bounds.around(one)
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
    """Whether one of the constants is within each item's bounds."""
    if not bounds.known.any():
        return np.ones_like(bounds.known)
    if len(listed) <= _FEW_VALUES or bounds.has_nan.any():
        found = np.zeros_like(bounds.known)
        for constant in listed:
            found |= _positions(bounds, constant)[1]
        return found
    kind = listed[0].type or BOOLEAN
    constants = values_array([constant.value for constant in listed], kind)
    ranked = call("rank", pa.concat_arrays([constants, *bounds.bounds()]), options=_DENSE)
    ranks = nb.fixed_values(ranked, np.uint64).astype(np.int64)
    count, size = len(constants), len(bounds.known)
    ordered = np.sort(ranks[:count])
    low, high = ranks[count : count + size], ranks[count + size :]
    within = np.searchsorted(ordered, low, "left") < np.searchsorted(ordered, high, "right")
    return within | ~bounds.known


def _matched(bounds: _Bounds, test: Like) -> Outcomes:
    """LIKE: tests the prefix before the first wildcard, with which all matches begin."""
    prefix = prefix_of(test)
    text = values_array([prefix], _TEXT)[0]
    true = false = np.ones_like(bounds.known)
    if prefix and bounds.known.any():
        low, high = bounds.bounds()
        begins = pc.MatchSubstringOptions(prefix)
        low_has, high_has = (call("starts_with", end, options=begins) for end in (low, high))
        not_above = call("or", call("less_equal", low, text), low_has)
        not_below = call("greater_equal", high, text)
        true = bounds.decided(nb.bool_values(call("and", not_above, not_below)), default=True)
        if pattern_parts(test) == (prefix, Wildcard.ANY):
            both = nb.bool_values(call("and", low_has, high_has))
            false = ~bounds.decided(both, default=False)
    return Outcomes(
        true=true & bounds.has_value, false=false & bounds.has_value, unknown=bounds.has_null
    )
