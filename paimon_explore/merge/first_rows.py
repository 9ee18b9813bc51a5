"""The first rows of an order by one column: which rows can be among them, batch by batch."""

from typing import Literal

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    concat_arrays,
    filter_rows,
    take_column,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.definitions import NUMBERS, TEXTS, TIMESTAMPS, TypeRoot
from paimon_explore.frozen_dataclass import dataclass

ORDERED = NUMBERS | TEXTS | TIMESTAMPS | {TypeRoot.DATE}
"""Types of columns that have the same order everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRows:
    """The first rows by the values of a column, with all that are equal to the last of them.

    Attributes:
        column: its name; its type is in `ORDERED`.
        count: the number of rows, at least 1.
        descending: whether the largest values come first; NaN is above all numbers.
        nulls_first: whether nulls come first.
    """

    column: str
    count: int
    descending: bool
    nulls_first: bool


class FirstBound:
    """A value that enough rows of one read reach: rows beyond it are not among the first.

    Args:
        first: the wanted rows.
    """

    def __init__(self, first: FirstRows) -> None:
        self.first = first
        self._bound: Column | None = None  # one value

    def reached(self, values: Column) -> Bools:
        """Return which values can be among the first ones."""
        if self._bound is None:
            return np.ones(len(values), np.bool_)
        compare = "greater_equal" if self.first.descending else "less_equal"
        found = true_mask(pc.call_function(compare, [values, self._bound[0]]))
        if self.first.nulls_first:
            found |= ~valid_mask(values)
        return found | _is_nan(values) if self.first.descending else found

    def note(self, values: Column) -> None:
        """Take the last of as many values as rows are wanted, if it is nearer than the bound."""
        far, near = ("min", "max") if self.first.descending else ("max", "min")
        last = _extreme(far, values)
        known = [last] if self._bound is None else [last, self._bound]
        self._bound = _extreme(near, concat_arrays(known))


class FirstValues:
    """The first values of a stream of batches, of rows that are in the result.

    Args:
        bound: of the read; shared by its streams.
    """

    def __init__(self, bound: FirstBound) -> None:
        self._bound = bound
        self._best: Column | None = None

    def kept(self, values: Column) -> Bools:
        """Return which values of the next batch can be among the first ones."""
        reached = self._bound.reached(values)
        new = filter_rows(values, reached & valid_mask(values) & ~_is_nan(values))
        if not len(new):
            return reached
        first = self._bound.first
        best = new if self._best is None else concat_arrays([self._best, new])
        if len(best) > first.count:
            order: Literal["ascending", "descending"] = "ascending"
            order = "descending" if first.descending else order
            options = pc.SelectKOptions(k=first.count, sort_keys=[("values", order)])
            best = take_column(best, pc.call_function("select_k_unstable", [best], options))
        self._best = best
        if len(best) < first.count:
            return reached
        self._bound.note(best)
        return self._bound.reached(values)


def _extreme(name: str, values: Column) -> Column:
    """The minimum or maximum of values, as an array of one value."""
    found: Column = pa.array([pc.call_function(name, [values])], values.type)
    return found


def _is_nan(values: Column) -> Bools:
    if not pa.types.is_floating(values.type):
        return np.zeros(len(values), np.bool_)
    return true_mask(pc.call_function("is_nan", [values]))
