"""Streams give the rows of every snapshot: followed beside writers, and across restarts.

Some kinds of tables, and everything that can be done to them. The deep run, with
every kind and many histories, is that of `HYPOTHESIS_PROFILE=deep`.
"""

from collections import Counter
from random import Random

import pytest

from paimon_explore import Table
from paimon_explore.errors import PaimonError
from paimon_explore.table.streams.change_batch import ChangeBatch
from paimon_explore.table.streams.change_stream import ChangeStream
from support.depth import DEEP, some
from support.figures import Figures
from support.replayed_kinds import APPEND, KEYED, KINDS
from support.replaying import Change, State, act, replayed, state_at

COLUMNS = ["p", "k", "v", "w"]
STEPS = 12 if DEEP else 8
Commit = tuple[int, list[Change]]


def rows_at(table: Table, number: int) -> State:
    """The rows of a snapshot, in the columns that streams read."""
    return +Counter(
        {
            tuple((name, value) for name, value in row if name in COLUMNS): count
            for row, count in _merged(state_at(table, number))
        }
    )


def _merged(state: State) -> list[tuple[tuple[tuple[str, object], ...], int]]:
    """Rows without the columns that were added meanwhile, those that are then equal counted."""
    found: State = Counter()
    for row, count in state.items():
        found[tuple((name, value) for name, value in row if name in COLUMNS)] += count
    return list(found.items())


class Following:
    """A reader of a stream that is restarted, and the rows that it leads to.

    Attributes:
        state: the rows, checked after each commit.
        commits: how many were checked.
    """

    def __init__(self, table: Table, random: Random, start: str, *, auto_ack: bool) -> None:
        self.state: State = Counter()
        self.commits = 0
        self._table, self._random = table, random
        self._start, self._auto_ack = start, auto_ack
        self._reached: dict[int, State] = {1: Counter()}
        self._parts: list[Change] = []
        self._stream = self._opened()

    @property
    def _latest(self) -> int:
        return self._table._store.snapshots.latest_id() or 0

    def _opened(self) -> ChangeStream:
        return self._table.follow(
            self._start,
            columns=COLUMNS,
            consumer="c",
            timeout=0,
            auto_ack=self._auto_ack,
            max_rows=self._random.choice([1, 3, 1000]),
        )

    def read(self, stop: float) -> None:
        """Read what is there, or stop after a batch with some probability."""
        for batch in self._stream:
            self._take(batch)
            if self._random.random() < stop:
                return
        assert self.state == rows_at(self._table, self._latest)
        self._reached[self._latest + 1] = self.state

    def _take(self, batch: ChangeBatch) -> None:
        """Keep a batch; the last one of a commit applies and acknowledges the commit."""
        self._parts = self._parts if batch.part else []
        self._parts += batch.rows.to_pylist()
        if not batch.is_last:
            return
        before: State = Counter() if batch.is_state else self.state
        self.state = replayed(before, self._parts, self._table.schema.primary_keys)
        assert self.state == rows_at(self._table, batch.snapshot_id), f"{batch!r}"
        self._reached[batch.snapshot_id + 1] = self.state
        self.commits += 1
        if not self._auto_ack:
            batch.ack()

    def restart(self) -> None:
        """Crash: what was read of a commit is lost, whole commits are kept.

        With acknowledgements the rows fit the position of the consumer. Without them the last
        commit may come again, so the reader goes back to the rows at the position.
        """
        self._stream.close()
        self._stream = self._opened()
        position = self._stream.position
        if self._auto_ack and position is not None:
            self.state = self._reached[max(n for n in self._reached if n <= position)]
            assert self.state == rows_at(self._table, position - 1), "beyond what was delivered"

    def end(self) -> None:
        """Read everything."""
        self.read(0)
        assert self._stream.position == self._latest + 1
        assert self._table.maintenance.consumers["c"].next_snapshot == self._latest + 1


def run(name: str, seed: int, start: str, *, auto_ack: bool) -> int:
    """Follow a table beside random acts, with restarts; how many commits were checked."""
    random = Random(f"stream {name} {seed} {start} {auto_ack}")  # noqa: S311 - of a test
    table, acts = KINDS[name].create(), list[str]()
    following = Following(table, random, start, auto_ack=auto_ack)
    try:
        for _ in range(STEPS):
            acts += [act(table, random) for _ in range(random.randint(1, 3))]
            following.read(0.15)
            if random.random() < 0.4:
                following.restart()
        following.end()
    except (AssertionError, PaimonError) as error:
        commits = [f"{s.id} {s.commit_kind.value}" for s in table.snapshots]
        error.add_note(f"seed {seed}, {start}: {acts}\n{commits}")
        raise
    return following.commits


@pytest.mark.parametrize("ack", ["at least once", "exactly once"])
@pytest.mark.parametrize("name", [*some(APPEND, 6), *some(KEYED, 83)])
def test_streams_lead_to_the_rows_of_every_snapshot(name: str, ack: str, figures: Figures) -> None:
    for seed in range(6 if DEEP else 1):
        for start in some(("earliest", "full"), 2, turn=len(name)):
            count = run(name, seed, start, auto_ack=ack == "at least once")
            figures.add("commits that were followed", count)
