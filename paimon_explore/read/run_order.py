"""The order of sorted runs: whether each has only newer records than the runs before it."""

from itertools import pairwise

from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.key_range_sections import by_age

MAX_RUNS = 16
"""Maximum number of files that are merged as separate runs; each needs some batches in memory."""


def runs_in_order(split: DataSplit, runs: list[list[int]]) -> bool:
    """Whether every record of a run is newer than all records of the runs before it."""
    lows = numbers(split.files.table, "min_sequence_number")
    highs = numbers(split.files.table, "max_sequence_number")
    return all(highs[old].max() < lows[new].min() for old, new in pairwise(runs))


def in_order(
    split: DataSplit, runs: list[list[int]], max_runs: int = MAX_RUNS
) -> tuple[list[list[int]], bool]:
    """The runs, and whether they are in order; up to `max_runs` single files if only these are.

    If each write overlaps only the key range of the previous one, many files form few runs, and
    the first run contains both the oldest and the newest file.
    """
    if runs_in_order(split, runs):
        return runs, True
    newest = numbers(split.files.table, "max_sequence_number")
    files = by_age([[row] for run in runs for row in run], newest)
    found = len(files) <= max_runs and runs_in_order(split, files)
    return (files, True) if found else (runs, False)
