"""Groups of rows that share a key, in the order of keys.

Theory of operation. A key is a list of columns, a column a list of words
(`merge.keys.normalized_keys`): arrays of numbers whose natural order, word after word, is the order
of the column. Rows are sorted by the first word of all; only rows that are equal so far are looked
at again with the next word, and sorted again only if they differ in it. So sorted runs cost one
pass of a sort that knows about runs, and long keys cost little more than seeing that they are
equal.
"""

from collections.abc import Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.normalized_keys import WordSource, words_of
from paimon_explore.merge.numpy_columns import Keys

_PACKED_BITS = 63


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by key.

    Attributes:
        order: n row numbers, sorted by key and, within a key, by what was asked for.
        starts: for each of the g keys the place in `order` of its first row, ascending.
    """

    order: Ints
    starts: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each key, at least 1."""
        return np.diff(self.starts, append=len(self.order))

    @property
    def lasts(self) -> Ints:
        """For each key the place in `order` of its last row."""
        return np.append(self.starts, len(self.order))[1:] - 1


def group_rows(keys: Sequence[Column], within: Sequence[WordSource] = (), *, count: int) -> Groups:
    """Sort rows by key and find those with equal keys.

    Args:
        keys: the key columns, n rows each; none: all rows have the same key.
        within: words that order the rows of one key. Rows equal in these too stay as they came.
        count: n.

    Raises:
        UnsupportedFeatureError: a column of a type that has no order.
    """
    sources = [source for column in keys for source in words_of(column)]
    order, fresh = _sorted_by(sources, count)
    return Groups(sorted_within(order, fresh, within)[0], np.flatnonzero(fresh))


def ranks(columns: Sequence[Column], *, count: int) -> Ints:
    """For every row the place of its values among all different ones, 0 for the smallest."""
    groups = group_rows(columns, count=count)
    found = np.empty(count, np.int64)
    found[groups.order] = np.repeat(np.arange(len(groups.starts)), groups.sizes)
    return found


def _sorted_by(sources: Sequence[WordSource], count: int) -> tuple[Ints, Bools]:
    """Rows in order, and for every place whether its row differs from the one before."""
    fresh = np.zeros(count, bool)
    fresh[:1] = True
    if not sources or not count:
        return np.arange(count), fresh
    words = sources[0](None)
    if (words[1:] >= words[:-1]).all():
        order = np.arange(count)
    else:
        order = _stable_order(words)
        words = words.take(order)
    np.not_equal(words[1:], words[:-1], out=fresh[1:])
    return sorted_within(order, fresh, sources[1:])


def _stable_order(words: Keys) -> Ints:
    """The rows in the order of their words, equal ones as they came.

    Where word and row number fit into 64 bits, sorting these together is several times as fast as
    finding the order of words alone.
    """
    low, high = int(words.min()), int(words.max())
    bits = len(words).bit_length()
    if (high - low).bit_length() + bits > _PACKED_BITS:
        return np.argsort(words, kind="stable")
    if words.dtype == np.uint64:
        packed = (words - np.uint64(low)).view(np.int64)
    else:
        packed = np.subtract(words, low, dtype=np.int64, casting="unsafe")
    packed = (packed << bits) | np.arange(len(words))
    packed.sort()
    return packed & ((1 << bits) - 1)


def sorted_within(order: Ints, fresh: Bools, sources: Sequence[WordSource]) -> tuple[Ints, Bools]:
    """Refine an order: rows equal so far are sorted by further words.

    Args:
        order: row numbers.
        fresh: for every place whether its row differs from the one before.
        sources: further words of all rows.
    """
    order, fresh = order.copy(), fresh.copy()
    tied = _Tied.of(order, fresh)
    for source in sources:
        if not len(tied.rows):
            break
        words = source(tied.rows)
        differing = tied.inside & (words[1:] != words[:-1])
        if differing.any():
            _separate(order, fresh, tied.with_any(differing), source)
            tied = _Tied.of(order, fresh)
    return order, fresh


def _separate(order: Ints, fresh: Bools, tied: "_Tied", source: WordSource) -> None:
    """Sort rows that are equal so far by a word in which some of them differ."""
    words = source(tied.rows)
    if (tied.inside & (words[1:] < words[:-1])).any():
        sort = np.lexsort((words, tied.groups))
        order[tied.places] = tied.rows[sort]
        words = words[sort]
    fresh[tied.places[1:]] |= words[1:] != words[:-1]


@dataclass(frozen=True, slots=True)
class _Tied:
    """Rows that are equal to a neighbour so far.

    Attributes:
        places: where they are in the order, ascending.
        rows: the rows there.
        inside: for all but the first whether it is equal to the one before.
    """

    places: Ints
    rows: Ints
    inside: Bools

    @classmethod
    def of(cls, order: Ints, fresh: Bools) -> "_Tied":
        tied = ~fresh
        tied[:-1] |= ~fresh[1:]
        places = np.flatnonzero(tied)
        return cls(places, order[places], ~fresh[places[1:]])

    @property
    def groups(self) -> Ints:
        """For each row a number of the rows it is equal to, ascending."""
        return np.concatenate([[0], np.cumsum(~self.inside)])

    def with_any(self, mask: Bools) -> "_Tied":
        """Only rows that are equal to some of a mask, which is like `inside`."""
        groups = self.groups
        hit = np.zeros(int(groups[-1]) + 1, np.bool_)
        hit[groups[1:][mask]] = True
        keep = hit[groups]
        first = np.diff(groups, prepend=-1) > 0
        return _Tied(self.places[keep], self.rows[keep], ~first[keep][1:])
