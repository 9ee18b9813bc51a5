"""Which sorted runs a compaction takes, and where they go."""

from collections.abc import Mapping, Sequence

import pytest

from paimon_explore.maintenance.compaction.universal_compaction import (
    CompactionUnit,
    Levels,
    SortedRun,
    pick_full,
    pick_universal,
)
from paimon_explore.metadata.options.table_options import TableOptions

TRIGGER_3 = {"num-sorted-run.compaction-trigger": "3"}


def tree(*runs: tuple[int, int], top: int = 5) -> Levels:
    """One file per run, given as level and size, newest first."""
    found = (SortedRun(level=level, files=(i,), size=size) for i, (level, size) in enumerate(runs))
    return Levels(runs=tuple(found), top=top)


def picked(levels: Levels, options: Mapping[str, str], *, force: bool = False) -> object:
    """Number of files and output level of a minor compaction; None for nothing."""
    unit = pick_universal(levels, TableOptions(options), force_level_0=force)
    return None if unit is None else (len(unit.files), unit.level)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], None),
        ([(0, 1)], None),
        ([(0, 1), (0, 1)], None),
        ([(0, 1), (0, 1), (0, 1)], (3, 5)),
        ([(0, 5), (0, 5), (0, 4)], (3, 5)),  # 10 is more than twice the oldest
        ([(0, 1), (0, 9), (5, 100)], None),
        ([(0, 10), (0, 10), (5, 100)], (2, 4)),
        ([(0, 10), (0, 10), (4, 100), (5, 1000)], (2, 3)),
        ([(0, 10), (0, 10), (1, 100), (5, 1000)], (3, 1)),  # level 0 is no place for a result
        ([(0, 1), (0, 9), (0, 90), (5, 900)], (4, 5)),  # too many runs
        ([(0, 1), (0, 9), (4, 90), (5, 900)], (2, 3)),
        ([(0, 9), (0, 9), (0, 9), (0, 9)], (4, 5)),
    ],
)
def test_minor_compactions_follow_sizes_and_the_number_of_runs(
    runs: Sequence[tuple[int, int]], expected: object
) -> None:
    assert picked(tree(*runs), TRIGGER_3) == expected


@pytest.mark.parametrize(
    ("sizes", "ratio", "expected"),
    [
        ((100, 101, 900), "1", (2, 4)),
        ((100, 102, 900), "1", None),
        ((100, 102, 900), "2", (2, 4)),
        ((100, 150, 900), "50", (2, 4)),
    ],
)
def test_a_run_joins_when_it_is_not_much_larger_than_all_before_it(
    sizes: tuple[int, int, int], ratio: str, expected: object
) -> None:
    levels = tree((0, sizes[0]), (0, sizes[1]), (5, sizes[2]))
    assert picked(levels, {**TRIGGER_3, "compaction.size-ratio": ratio}) == expected


@pytest.mark.parametrize(
    ("percent", "expected"), [("20", None), ("19", (3, 5)), ("10", (3, 5)), ("200", None)]
)
def test_space_amplification_starts_a_compaction_of_everything(
    percent: str, expected: object
) -> None:
    levels = tree((0, 1), (0, 19), (5, 100))
    options = {**TRIGGER_3, "compaction.max-size-amplification-percent": percent}
    assert picked(levels, options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"compaction.optimization-interval": "1 h"}, (2, 5)),
        ({"compaction.total-size-threshold": "111 b"}, (2, 5)),
        ({"compaction.total-size-threshold": "110 b"}, None),
        ({"compaction.incremental-size-threshold": "9 b"}, (2, 5)),
        ({"compaction.incremental-size-threshold": "10 b"}, None),
    ],
)
def test_intervals_and_sizes_start_early_full_compactions(
    options: Mapping[str, str], expected: object
) -> None:
    assert picked(tree((0, 10), (5, 100)), options) == expected


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([(0, 1)], (1, 5)),
        ([(0, 1), (5, 100)], (1, 4)),
        ([(0, 1), (4, 10), (5, 100)], (1, 3)),
        ([(0, 1), (1, 10), (5, 100)], (2, 1)),
        ([(0, 1), (0, 500), (2, 100)], (3, 5)),
        ([(4, 10), (5, 100)], None),
    ],
)
def test_level_0_is_taken_up_where_that_is_asked_for(
    runs: Sequence[tuple[int, int]], expected: object
) -> None:
    assert picked(tree(*runs), {}, force=True) == expected


def test_one_file_in_its_place_is_left_alone() -> None:
    assert picked(tree((5, 1)), {"num-sorted-run.compaction-trigger": "1"}) is None
    assert picked(tree((0, 1), top=0), {}, force=True) is None


def test_a_full_compaction_takes_every_run_to_the_top() -> None:
    assert pick_full(tree()) is None
    assert pick_full(tree((0, 1))) == CompactionUnit(level=5, files=(0,))
    assert pick_full(tree((0, 1), (5, 9))) == CompactionUnit(level=5, files=(0, 1))
    assert pick_full(tree((4, 9))) == CompactionUnit(level=5, files=(0,))


def test_on_the_top_level_only_files_with_deleted_rows_are_rewritten() -> None:
    levels = Levels(runs=(SortedRun(level=5, files=(0, 1, 2), size=9),), top=5)
    assert pick_full(levels) is None
    assert pick_full(levels, outdated=[1]) == CompactionUnit(
        level=5, files=(1,), rewrites_each=True
    )
    assert pick_full(levels, rewrite_all=True) == CompactionUnit(
        level=5, files=(0, 1, 2), rewrites_each=True
    )
