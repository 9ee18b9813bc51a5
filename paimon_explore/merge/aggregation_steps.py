"""Steps of aggregate functions: how each record of a key changes the aggregated value."""

from enum import IntEnum
from typing import Protocol

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.numpy_columns import Int8s


class Step(IntEnum):
    """How one record changes the accumulated value of its key, which is null at first."""

    ADD = 0
    """value := agg(value, record)"""
    ADD_REVERSED = 1
    """The record is older than the value: value := agg(record, value)."""
    RETRACT = 2
    """value := retract(value, record)"""
    REPLACE = 3
    """value := record."""
    CLEAR = 4
    """value := null."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of one column for g keys.

    Attributes:
        rows: s row numbers of the column, key by key, in processing order.
        kinds: s values of `Step`; None if all are `ADD`.
        starts: for each key the index of its first step; a key may have none.
    """

    rows: Ints
    kinds: Int8s | None
    starts: Ints

    @property
    def count(self) -> int:
        """Number of keys, g."""
        return len(self.starts)

    @property
    def ends(self) -> Ints:
        """For each key the index after its last step."""
        return np.append(self.starts, len(self.rows))[1:]

    @property
    def group_ids(self) -> Ints:
        """For each step the number of its key, 0 to g - 1."""
        return np.repeat(np.arange(self.count), self.ends - self.starts)

    def kept(self, mask: Bools) -> "Steps":
        """Keeps the steps where the mask is true, and all keys."""
        before = np.concatenate([[0], np.cumsum(mask)])
        kinds = None if self.kinds is None else self.kinds[mask]
        return Steps(self.rows[mask], kinds, before[self.starts].astype(np.int64))

    def of_groups(self, mask: Bools) -> "Steps":
        """Keeps the keys where the mask is true."""
        sizes = self.ends - self.starts
        inside = np.repeat(mask, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[mask])[:-1]]) if mask.any() else sizes[:0]
        kinds = None if self.kinds is None else self.kinds[inside]
        return Steps(self.rows[inside], kinds, starts.astype(np.int64))

    def plain(self) -> "Steps":
        """The same steps, all as `ADD`."""
        return Steps(self.rows, None, self.starts)

    def groups_with_other_than(self, *kinds: Step) -> Bools:
        """Which keys have a step of another kind than these."""
        if self.kinds is None:
            return np.zeros(self.count, bool)
        return self.groups_with(~np.isin(self.kinds, kinds))

    def groups_with(self, mask: Bools) -> Bools:
        """Which keys have a step where the mask is true."""
        before = np.concatenate([[0], np.cumsum(mask)])
        found: Bools = before[self.ends] > before[self.starts]
        return found


class Aggregator(Protocol):
    """An aggregate function of one column."""

    def __call__(self, column: Column, steps: Steps, /) -> Column:
        """Computes one value per key.

        Args:
            column: the values of the rows.
            steps: the steps of each key.

        Returns:
            g values of the column's type.

        Raises:
            FormatError: a step that the function does not support, such as retract for `max`.
        """
