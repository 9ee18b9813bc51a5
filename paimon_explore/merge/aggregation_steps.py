"""Steps of aggregate functions: how each record of a key changes the aggregated value.

The merge engine `aggregation`: every column has an aggregate function.
"""

from collections.abc import Mapping
from enum import IntEnum
from functools import partial
from typing import Protocol

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.key_records import Merged, Records, RowKind
from paimon_explore.merge.numpy_columns import Int8s, take_or_null


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


def aggregate(
    records: Records, functions: Mapping[str, Aggregator], *, remove_on_delete: bool
) -> Merged:
    """Merges records by aggregate functions.

    -U and -D retract a record. With `remove_on_delete`, -D removes the row instead, and later
    records are aggregated onto the values of the -D record (as in Java since 1.4).

    Args:
        records: of keys with several records.
        functions: by column; columns without one (the primary key) keep the newest value.
        remove_on_delete: option `aggregation.remove-record-on-delete`.

    Returns:
        A row per key with the sequence number of its last record: +I, or -D if that record removes
        the row.
    """
    removed = np.zeros(len(records.rows), np.bool_)
    if remove_on_delete:
        removed = records.kinds == RowKind.DELETE
    kinds: Int8s | None = None
    if records.retracts.any():
        kinds = np.where(records.retracts, np.int8(Step.RETRACT), np.int8(Step.ADD))
        kinds[removed] = Step.REPLACE
    lasts = records.lasts
    result = np.where(removed[lasts], np.int8(RowKind.DELETE), np.int8(RowKind.INSERT))
    steps = Steps(records.rows, kinds, records.starts)
    column = partial(_column, records, functions, steps)
    return Merged(column, result, records.numbers[lasts])


def _column(
    records: Records, functions: Mapping[str, Aggregator], steps: Steps, name: str
) -> Column:
    values = records.column(name)
    function = functions.get(name)
    if function is None:
        return take_or_null(values, records.rows[records.lasts])
    return function(values, steps)
