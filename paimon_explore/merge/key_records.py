"""Records grouped by key: the input and output of merge engines."""

from collections.abc import Callable
from enum import IntEnum

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.numpy_columns import Int8s


class RowKind(IntEnum):
    """The row kind of a record, stored as `_VALUE_KIND`."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3


def is_retract(kinds: Int8s) -> Bools:
    """Which records are retractions: -U and -D."""
    found: Bools = (kinds == RowKind.UPDATE_BEFORE) | (kinds == RowKind.DELETE)
    return found


@dataclass(frozen=True, slots=True)
class Records:
    """Records of g keys, oldest first within a key.

    Attributes:
        column: returns a column by name, with all rows of the source.
        rows: for each of n records its row in the source.
        starts: for each key the index of its first record; every key has one.
        kinds: for each record its `RowKind`.
        numbers: for each record its sequence number.
    """

    column: Callable[[str], Column]
    rows: Ints
    starts: Ints
    kinds: Int8s
    numbers: Ints

    @property
    def sizes(self) -> Ints:
        """Number of records of each key."""
        return np.diff(self.starts, append=len(self.rows))

    @property
    def lasts(self) -> Ints:
        """Index of the last record of each key."""
        return np.append(self.starts, len(self.rows))[1:] - 1

    @property
    def group_ids(self) -> Ints:
        """For each record the number of its key, 0 to g - 1."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)

    @property
    def retracts(self) -> Bools:
        """Which records are -U or -D."""
        return is_retract(self.kinds)

    def any_of(self, mask: Bools) -> Bools:
        """Which keys have a record where the mask is true."""
        found: Bools = np.logical_or.reduceat(mask, self.starts)
        return found

    def last_where(self, mask: Bools) -> Ints:
        """For each key the index of its last record where the mask is true; -1 for none."""
        positions = np.where(mask, np.arange(len(mask)), -1)
        return np.maximum.reduceat(positions, self.starts)


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged row of each of g keys.

    Attributes:
        column: returns a column by name, with g values.
        kinds: the row kinds.
        numbers: the sequence numbers.
    """

    column: Callable[[str], Column]
    kinds: Int8s
    numbers: Ints
