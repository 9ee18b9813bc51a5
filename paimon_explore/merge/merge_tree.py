"""The order of tied records: records of one key whose sequence fields and numbers are equal.

Java merges the sorted runs of a section with a loser tree. Its comparison ends at the sequence
number, so which of two tied records comes last, and thus is the newest, follows from the places of
their runs in the tree, and these from the keys that were merged before. There is no rule for one
key alone; the tree has to be followed. This module does so for the keys that can matter only:

- A tree whose heads have distinct keys has one shape, whatever was merged before. So the order of
  tied records depends on the keys since the last moment with such heads; two runs wait for a common
  key from the later of their previous keys on.
- Of consecutive keys that only one run has, all but one leave the tree unchanged.

The rule is that of Java 0.9 to 2.0 (`LoserTree`, unchanged since 0.5). Not followed: the order of
`sort-engine` = `min-heap`, which depends on the batches in which Java reads files; that of Spark
and Flink, which sort runs by size if there are more than `sort-spill-threshold`; lookup compaction
of 0.9 and 1.0, which puts the record above level 0 behind tied ones; and the rule of Java after 2.0
that a retract comes before an addition that is tied with it.

Spec: primary-key-table/merge-engine, sequence numbers.
"""

from collections.abc import Sequence

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.key_groups import Groups

LOOKED_UP = -1
"""Leaf of records that compaction looks up: they join after the tree, behind tied records."""
_END = 1 << 62
"""Key of a run without further records."""


@dataclass(frozen=True, slots=True)
class _Records:
    """Records of g consecutive keys, those of a key in the order of sequence numbers.

    Attributes:
        keys: for each of n records the number of its key, ascending from 0 to g - 1.
        leaves: for each record the leaf of its run.
        tied: whether the record is tied with the one before.
    """

    keys: Ints
    leaves: Ints
    tied: Bools

    def followed_by(self, others: "_Records") -> "_Records":
        """These records, and those of the keys after them."""
        if not len(self.keys):
            return others
        return _Records(
            np.concatenate([self.keys, others.keys + (self.keys[-1] + 1)]),
            np.concatenate([self.leaves, others.leaves]),
            np.concatenate([self.tied, others.tied]),
        )

    def where(self, mask: Bools) -> "_Records":
        """Some records; the keys without records are left out."""
        keys = self.keys[mask]
        fresh = np.diff(keys, prepend=-1) > 0
        return _Records(np.cumsum(fresh) - 1, self.leaves[mask], self.tied[mask])

    def needed(self) -> Bools:
        """Which records change the tree: of consecutive ones of one run the last."""
        fresh = np.diff(self.keys, prepend=-1) > 0
        single = fresh & np.append(fresh[1:], True)
        found = np.ones(len(self.keys), np.bool_)
        found[:-1] = ~(single[:-1] & single[1:] & (self.leaves[:-1] == self.leaves[1:]))
        return found

    def starts(self) -> Ints:
        """For each key the latest key up to it at which the tree has one shape; 0 if none."""
        count = int(self.keys[-1]) + 1
        before = np.full(len(self.keys), -1, np.int64)
        by_leaf = np.argsort(self.leaves, kind="stable")
        same = self.leaves[by_leaf][1:] == self.leaves[by_leaf][:-1]
        before[by_leaf[1:][same]] = self.keys[by_leaf[:-1][same]]
        before = before[np.lexsort((before, self.keys))]
        first = np.flatnonzero(np.diff(self.keys, prepend=-1) > 0)
        shared = np.flatnonzero(np.diff(first, append=len(self.keys)) > 1)
        waiting = np.bincount(before[first[shared] + 1] + 1, minlength=count + 1)
        waiting -= np.bincount(shared + 1, minlength=count + 1)
        one_shape = np.cumsum(waiting)[:count] == 0
        return np.maximum.accumulate(np.where(one_shape, np.arange(count), 0))


class MergeTree:
    """Orders the tied records of consecutive sections of one merge.

    It keeps the records of earlier sections on which the order of later ones can depend.

    Args:
        leaves: the number of sorted runs of the whole merge; their order is that of Java.
    """

    def __init__(self, leaves: int) -> None:
        self._open = np.ones(leaves, np.bool_)
        self._before = _Records(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.bool_))

    def finish(self, leaf: int) -> None:
        """Tells that a run has no further records."""
        self._open[leaf] = False

    def ordered(self, groups: Groups, tied: Bools, leaves: Ints) -> Groups:
        """Orders tied records as the tree returns them.

        Args:
            groups: the n records of the next section, by key and sequence number.
            tied: for each place in `groups.order` whether its record is tied with the one before.
            leaves: for each record (not place) the leaf of its run, or `LOOKED_UP`.
        """
        fresh = np.zeros(len(tied), np.bool_)
        fresh[groups.starts] = True
        found = _Records(np.cumsum(fresh) - 1, leaves[groups.order], tied)
        in_tree = found.leaves != LOOKED_UP
        turns = np.full(len(tied), _END)
        turns[in_tree] = self._turns(found if in_tree.all() else _in_tree(found, in_tree))
        if not tied.any():
            return groups
        return Groups(groups.order[np.lexsort((turns, np.cumsum(~tied)))], groups.starts)

    def _turns(self, records: _Records) -> Ints:
        """For each record of the next section its turn among those of its key, if some are tied."""
        turns = np.zeros(len(records.keys), np.int64)
        if not len(turns):
            return turns
        whole = self._before.followed_by(records)
        needed = whole.needed()
        places = np.flatnonzero(needed) - len(self._before.keys)
        whole = whole.where(needed)
        starts = whole.starts()
        ties = np.unique(whole.keys[whole.tied & (places >= 0)])
        if len(ties):
            steps = np.bincount(starts[ties], minlength=len(starts) + 1)
            steps -= np.bincount(ties + 1, minlength=len(starts) + 1)
            followed = np.flatnonzero(np.cumsum(steps)[whole.keys] > 0)
            found = _LoserTree(_runs(whole, followed, leaves=len(self._open))).merged()
            at = places[found]
            turns[at[at >= 0]] = np.flatnonzero(at >= 0)
        self._before = whole.where(whole.keys >= self._kept_from(whole, starts))
        return turns

    def _kept_from(self, whole: _Records, starts: Ints) -> int:
        """The first key on which later sections can depend: a start before which no two wait."""
        latest = np.full(len(self._open), -1, np.int64)
        latest[whole.leaves] = whole.keys  # the last assignment wins
        waiting = np.sort(latest[self._open])
        if len(waiting) < 2:  # noqa: PLR2004 - a tie takes two
            return int(whole.keys[-1]) + 1
        return int(starts[waiting[1]]) if waiting[1] >= 0 else 0


def _in_tree(found: _Records, in_tree: Bools) -> _Records:
    """The records without those that are looked up; ties are between those that are left."""
    segments = np.cumsum(~found.tied)[in_tree]
    kept = found.where(in_tree)
    return _Records(kept.keys, kept.leaves, np.diff(segments, prepend=-1) == 0)


def _runs(records: _Records, wanted: Ints, *, leaves: int) -> list[list[tuple[int, int, int]]]:
    """The records of each run: key, number of the tied records, and place."""
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(leaves)]
    keys, numbers = records.keys[wanted].tolist(), np.cumsum(~records.tied)[wanted].tolist()
    places = wanted.tolist()
    leaves_of = records.leaves[wanted].tolist()
    for leaf, key, number, place in zip(leaves_of, keys, numbers, places, strict=True):
        found[leaf].append((key, number, place))
    return found


class _LoserTree:
    """A loser tree of sorted runs whose records are returned key by key.

    Node n has the loser of the match between the winners of its two subtrees; the run i starts at
    node (i + runs) // 2. A run whose record was returned keeps its place until all records of the
    key are returned; in its stead the run that lost to it with the same key, on the lowest node,
    goes on upwards. Then the returned runs advance, the last returned first. In a match of records
    that are tied the run that waits at the node wins against the one that comes from below, unless
    the record of this key was returned already.

    Args:
        runs: the records of each run: key, number by which those of a key are ordered, and name.
    """

    def __init__(self, runs: Sequence[Sequence[tuple[int, int, int]]]) -> None:
        count = len(runs)
        self._count = count
        self._rest = [iter(run) for run in runs]
        self._heads = [(_END, 0, 0)] * count
        self._losers = [-1] * count
        self._returned = [False] * count
        self._has_key_of_winner = [False] * count
        self._lowest_equal = [-1] * count
        self._winner = -1
        for leaf in reversed(range(count)):
            self._advance(leaf)

    def merged(self) -> list[int]:
        """The names of all records in the order in which they are returned."""
        found: list[int] = []
        while True:
            while self._returned[self._winner]:
                self._advance(self._winner)
            if self._heads[self._winner][0] == _END:
                return found
            while not self._returned[self._winner]:
                found.append(self._heads[self._winner][2])
                self._return_winner()

    def _advance(self, leaf: int) -> None:
        """Moves a run to its next record, and plays its matches from the bottom."""
        self._heads[leaf] = next(self._rest[leaf], (_END, 0, 0))
        self._returned[leaf] = False
        self._lowest_equal[leaf] = -1
        node = (leaf + self._count) // 2
        while node:
            other = self._losers[node]
            if other < 0 or self._returned[other]:  # an empty node, or one that advances next
                self._losers[node] = leaf
                self._has_key_of_winner[leaf] = False
                self._winner = other
                if other >= 0:
                    self._lowest_equal[other] = -1
                return
            leaf = self._match(node, other, leaf)
            node //= 2
        self._winner = leaf

    def _match(self, node: int, waiting: int, rising: int) -> int:
        """Plays a match of two runs with new records; returns the winner."""
        head, other = self._heads[waiting], self._heads[rising]
        if head[0] > other[0] or other[0] == head[0] == _END:
            return rising
        equal = head[0] == other[0]
        won = waiting
        if equal and other[1] < head[1]:
            won, lost = rising, waiting
        else:
            lost = rising
            self._losers[node] = rising
        self._has_key_of_winner[lost] = equal
        if equal and self._lowest_equal[won] < 0:
            self._lowest_equal[won] = node
        return won

    def _return_winner(self) -> None:
        """Returns the record of the winner; the next record of its key rises, if there is one."""
        leaf = self._winner
        self._returned[leaf] = True
        node = self._lowest_equal[leaf]
        if node < 0:
            return
        rising = self._losers[node]
        self._losers[node] = leaf
        node //= 2
        while node:
            waiting = self._losers[node]
            if self._has_key_of_winner[waiting] and not self._returned[waiting]:
                won = rising
                if self._heads[waiting][1] < self._heads[rising][1]:
                    won = waiting
                    self._losers[node] = rising
                    self._has_key_of_winner[rising] = True
                if self._lowest_equal[won] < 0:
                    self._lowest_equal[won] = node
                rising = won
            node //= 2
        self._winner = rising
