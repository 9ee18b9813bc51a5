"""The loser tree of Java's merge as a plain model: all records from the first on, one by one."""

from collections.abc import Iterator, Sequence

Record = tuple[int, int, int]
"""Key, sequence number, and name."""
_LOSES, _LOSES_WITH_EQUAL_KEY, _LOSES_RETURNED = "loses", "loses, equal key", "loses, returned"
_WINS, _WINS_WITH_EQUAL_KEY, _WINS_RETURNED = "wins", "wins, equal key", "wins, returned"


def returned(runs: Sequence[Sequence[Record]]) -> Iterator[int]:
    """The names of the records in the order in which the tree returns them."""
    tree = _Tree(runs)
    while True:
        while tree.states[tree.nodes[0]] == _WINS_RETURNED:
            tree.advance(tree.nodes[0])
        winner = tree.nodes[0]
        head = tree.head(winner)
        if head is None:
            return
        while tree.states[winner] != _WINS_RETURNED:
            found = tree.head(winner)
            assert found is not None
            yield found[2]
            tree.states[winner] = _WINS_RETURNED
            tree.adjust(winner)
            winner = tree.nodes[0]


class _Tree:
    """The nodes; each run has a state, as in the table of states of Java's design page."""

    def __init__(self, runs: Sequence[Sequence[Record]]) -> None:
        self.runs = runs
        self.at = [-1] * len(runs)
        self.states = [_WINS] * len(runs)
        self.first_equal = [-1] * len(runs)
        self.nodes = [-1] * len(runs)
        for leaf in reversed(range(len(runs))):
            self.advance(leaf)

    def head(self, leaf: int) -> Record | None:
        """The record that a run is at; None behind the last one."""
        return self.runs[leaf][self.at[leaf]] if self.at[leaf] < len(self.runs[leaf]) else None

    def advance(self, leaf: int) -> None:
        """The next record of a run."""
        self.at[leaf] += 1
        self.states[leaf] = _WINS
        self.first_equal[leaf] = -1
        self.adjust(leaf)

    def adjust(self, leaf: int) -> None:
        """Play from a leaf to the root."""
        node = (leaf + len(self.runs)) // 2
        while node > 0 and leaf >= 0:
            other = self.nodes[node]
            if other < 0:
                self.states[leaf] = _LOSES
            elif self.states[leaf] == _WINS:
                self._play_new(node, other, leaf)
            elif self.states[leaf] == _WINS_WITH_EQUAL_KEY:
                self._play_equal(node, other, leaf)
            elif self.first_equal[leaf] < 0:
                break
            else:
                node = self.first_equal[leaf]
                self.states[leaf] = _LOSES_RETURNED
                self.states[self.nodes[node]] = _WINS_WITH_EQUAL_KEY
            if self.states[leaf].startswith("loses"):
                self.nodes[node], leaf = leaf, self.nodes[node]
            node //= 2
        self.nodes[0] = leaf

    def _play_new(self, node: int, other: int, leaf: int) -> None:
        assert self.states[other] != _LOSES_WITH_EQUAL_KEY
        if self.states[other] == _LOSES_RETURNED:
            self.states[other], self.states[leaf] = _WINS_RETURNED, _LOSES
            self.first_equal[other] = -1
            return
        mine, theirs = self.head(leaf), self.head(other)
        if theirs is None or (mine is not None and mine[0] < theirs[0]):
            return
        if mine is None or theirs[0] < mine[0]:
            self.states[other], self.states[leaf] = _WINS, _LOSES
        elif mine[1] < theirs[1]:
            self.states[other] = _LOSES_WITH_EQUAL_KEY
            self._met(leaf, node)
        else:
            self.states[other], self.states[leaf] = _WINS, _LOSES_WITH_EQUAL_KEY
            self._met(other, node)

    def _play_equal(self, node: int, other: int, leaf: int) -> None:
        if self.states[other] != _LOSES_WITH_EQUAL_KEY:
            return
        mine, theirs = self.head(leaf), self.head(other)
        assert mine is not None
        assert theirs is not None
        if theirs[1] < mine[1]:
            self.states[other], self.states[leaf] = _WINS_WITH_EQUAL_KEY, _LOSES_WITH_EQUAL_KEY
            self._met(other, node)
        else:
            self._met(leaf, node)

    def _met(self, leaf: int, node: int) -> None:
        if self.first_equal[leaf] < 0:
            self.first_equal[leaf] = node
