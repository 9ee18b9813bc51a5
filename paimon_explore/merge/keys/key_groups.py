"""Sorting and grouping of rows by key.

Every key column is converted to normalized keys (`merge.keys.normalized_keys`): one or more arrays
of integers that, compared in order, sort like the column. Rows are sorted by the first array; rows
that are still equal are compared by the next one, and sorted again only if they differ. So sorted
runs cost one pass of an adaptive sort, and long keys little more than a comparison.
"""

from collections.abc import Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.normalized_keys import KeySource, normalized_keys
from paimon_explore.merge.numpy_columns import Keys

_PACKED_BITS = 63


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by key.

    Attributes:
        order: n row numbers, sorted by key and then by the requested order within a key.
        starts: for each of the g keys the index in `order` of its first row, ascending.
    """

    order: Ints
    starts: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each key, at least 1."""
        return np.diff(self.starts, append=len(self.order))

    @property
    def lasts(self) -> Ints:
        """For each key the index in `order` of its last row."""
        return np.append(self.starts, len(self.order))[1:] - 1

    def where(self, keep: Bools) -> "Groups":
        """The rows at some places of `order`; keys without rows are left out."""
        if keep.all():
            return self
        sizes = np.add.reduceat(keep, self.starts, dtype=np.int64)
        sizes = sizes[sizes > 0]
        return Groups(self.order[keep], np.cumsum(sizes) - sizes)


def group_rows(keys: Sequence[Column], *, count: int) -> Groups:
    """Sorts rows by key and groups equal keys.

    Args:
        keys: the key columns, n rows each; if empty, all rows have the same key.
        count: n.

    Raises:
        UnsupportedFeatureError: a column of a type without an order.
    """
    return group_tied_rows(keys, (), count=count)[0]


def group_tied_rows(
    keys: Sequence[Column], within: Sequence[KeySource], *, count: int
) -> tuple[Groups, Bools]:
    """Like `group_rows`; also returns for each place whether its row equals the one before.

    Equal rows have the same key and the same normalized keys of `within`.
    """
    sources = [source for column in keys for source in normalized_keys(column)]
    order, fresh = _sorted_by(sources, count)
    order, differs = sorted_within(order, fresh, within)
    return Groups(order, np.flatnonzero(fresh)), ~differs


def ranks(columns: Sequence[Column], *, count: int) -> Ints:
    """The dense rank of every row, 0 for the smallest."""
    groups = group_rows(columns, count=count)
    found = np.empty(count, np.int64)
    found[groups.order] = np.repeat(np.arange(len(groups.starts)), groups.sizes)
    return found


def _sorted_by(sources: Sequence[KeySource], count: int) -> tuple[Ints, Bools]:
    """Sorts rows; also returns for every position whether the key differs from the one before."""
    fresh = np.zeros(count, bool)
    fresh[:1] = True
    if not sources or not count:
        return np.arange(count), fresh
    normalized = sources[0](None)
    if (normalized[1:] >= normalized[:-1]).all():
        order = np.arange(count)
    else:
        order = _stable_order(normalized)
        normalized = normalized.take(order)
    np.not_equal(normalized[1:], normalized[:-1], out=fresh[1:])
    return sorted_within(order, fresh, sources[1:])


def _stable_order(normalized: Keys) -> Ints:
    """Stable argsort.

    If key and row number fit into 64 bits, sorting both packed into one integer is several times
    as fast as an argsort.
    """
    low, high = int(normalized.min()), int(normalized.max())
    bits = len(normalized).bit_length()
    if (high - low).bit_length() + bits > _PACKED_BITS:
        return np.argsort(normalized, kind="stable")
    if normalized.dtype == np.uint64:
        packed = (normalized - np.uint64(low)).view(np.int64)
    else:
        packed = np.subtract(normalized, low, dtype=np.int64, casting="unsafe")
    packed = (packed << bits) | np.arange(len(normalized))
    packed.sort()
    return packed & ((1 << bits) - 1)


def sorted_within(order: Ints, fresh: Bools, sources: Sequence[KeySource]) -> tuple[Ints, Bools]:
    """Refines an order: sorts rows that are equal so far by further normalized keys.

    Args:
        order: row numbers.
        fresh: for every position whether its key differs from the one before.
        sources: further normalized keys of all rows.
    """
    order, fresh = order.copy(), fresh.copy()
    tied = _Tied.of(order, fresh)
    for source in sources:
        if not len(tied.rows):
            break
        normalized = source(tied.rows)
        differing = tied.inside & (normalized[1:] != normalized[:-1])
        if differing.any():
            _separate(order, fresh, tied.with_any(differing), source)
            tied = _Tied.of(order, fresh)
    return order, fresh


def _separate(order: Ints, fresh: Bools, tied: "_Tied", source: KeySource) -> None:
    """Sorts rows that are equal so far by a normalized key in which some of them differ."""
    normalized = source(tied.rows)
    if (tied.inside & (normalized[1:] < normalized[:-1])).any():
        sort = np.lexsort((normalized, tied.groups))
        order[tied.positions] = tied.rows[sort]
        normalized = normalized[sort]
    fresh[tied.positions[1:]] |= normalized[1:] != normalized[:-1]


@dataclass(frozen=True, slots=True)
class _Tied:
    """Rows that are equal to a neighbour so far.

    Attributes:
        positions: their positions in the order, ascending.
        rows: the rows at these positions.
        inside: for each row except the first whether it is equal to the one before.
    """

    positions: Ints
    rows: Ints
    inside: Bools

    @classmethod
    def of(cls, order: Ints, fresh: Bools) -> "_Tied":
        tied = ~fresh
        tied[:-1] |= ~fresh[1:]
        positions = np.flatnonzero(tied)
        return cls(positions, order[positions], ~fresh[positions[1:]])

    @property
    def groups(self) -> Ints:
        """For each row the number of its group of equal rows, ascending."""
        return np.concatenate([[0], np.cumsum(~self.inside)])

    def with_any(self, mask: Bools) -> "_Tied":
        """Keeps the groups with a row in the mask, which is shaped like `inside`."""
        groups = self.groups
        hit = np.zeros(int(groups[-1]) + 1, np.bool_)
        hit[groups[1:][mask]] = True
        keep = hit[groups]
        first = np.diff(groups, prepend=-1) > 0
        return _Tied(self.positions[keep], self.rows[keep], ~first[keep][1:])
