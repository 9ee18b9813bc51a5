"""Every two acts on every kind of table, at once: as if one had come after the other.

By default some pairs on some kinds, each interleaved in a few ways. A deep run
takes all pairs of all kinds, and of each pair as many ways as `WAYS`, evenly spread: every place
where a switch may matter is among them for pairs that have no more.
"""

import random
from collections.abc import Sequence
from itertools import product

import pytest

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from support.concurrency import Arena, schedules, switching
from support.concurrent_acts import ACTS, takes
from support.concurrent_kinds import KINDS
from support.depth import DEEP, some
from support.figures import Figures
from support.schedules import at_random

pytestmark = pytest.mark.usefixtures("single_reader_thread")
WAYS = 40
PAIRS = list(product(ACTS, ACTS))
OFTEN = [
    *(("write", "write"), ("write", "compact"), ("compact", "compact"), ("overwrite", "write")),
    *(("overwrite", "overwrite"), ("overwrite", "compact"), ("delete", "delete")),
    *(("delete", "compact"), ("update", "update"), ("compact", "expire"), ("expire", "expire")),
]
"""The pairs of which a short run takes more."""
TRIPLES = [
    ("write, compact behind", "compact", "compact"),
    ("write, compact behind", "write, compact behind", "compact a little"),
    ("write", "compact", "expire"),
    ("write", "update", "compact"),
    ("write", "write", "overwrite"),
    ("write", "merge", "merge"),
    ("delete", "update", "compact"),
    ("overwrite", "drop partition", "compact"),
    ("write", "write", "roll back"),
    ("write", "compact", "fast-forward"),
    ("write", "expire", "remove orphans"),
    ("add a column", "write", "compact"),
    ("tag", "write", "expire"),
]


def of_kind(kind: str, groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Those whose acts a kind of table takes."""
    return [acts for acts in groups if all(takes(KINDS[kind], act) for act in acts)]


def chosen(kind: str, groups: Sequence[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """All of a deep run; else some."""
    able = of_kind(kind, groups)
    return able if DEEP else random.Random(kind).sample(able, count)  # noqa: S311


@pytest.mark.parametrize("kind", some(list(KINDS), 3))
def test_two_acts_at_once_are_as_one_after_the_other(kind: str, figures: Figures) -> None:
    often = [] if DEEP else chosen(kind, OFTEN, 2)
    for acts in [*often, *chosen(kind, PAIRS, 1)]:
        arena = Arena.of(kind, acts)
        ways = list(schedules(arena))
        count = min(WAYS if DEEP else 2, len(ways))
        turn = random.Random(f"{kind} {acts}").random()  # noqa: S311
        for number in range(count):
            place = int((number + turn) * len(ways) / count)
            arena.run(switching(*ways[place]))
        figures.add("interleavings of two acts", count)
        figures.add("pairs of acts on a kind of table", 1)


@pytest.mark.parametrize("kind", some(list(KINDS), 6))
def test_three_acts_at_once_are_as_one_after_the_other(kind: str, figures: Figures) -> None:
    for acts in chosen(kind, TRIPLES, 1):
        arena = Arena.of(kind, acts)
        for number in range(10 if DEEP else 2):
            arena.run(at_random(number))
            figures.add("interleavings of three acts", 1)


@pytest.mark.parametrize("kind", some(list(KINDS), 6))
def test_acts_that_a_kind_of_table_does_not_take_are_refused(kind: str) -> None:
    for act in ACTS:
        if not takes(KINDS[kind], act):
            with pytest.raises((InvalidInputError, UnsupportedFeatureError)):
                Arena.of(kind, [act]).lengths()
