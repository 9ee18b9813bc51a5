"""Read amplification of a bucket: how many sorted runs of its LSM tree overlap at a key."""

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import FormatError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.key_range_sections import key_ranks


def sorted_runs(entries: ManifestEntries, *, keyed: bool) -> tuple[Ints, list[int]]:
    """The order of files by run, newest first, and key; and the run of each file."""
    levels, newest = (numbers(entries.table, n) for n in ("level", "max_sequence_number"))
    if not keyed:
        order = np.argsort(newest, kind="stable")
        return order, [0] * len(order)
    order = np.lexsort((np.where(levels == 0, -newest, 0), levels))
    runs: list[int] = []
    for place, level in enumerate(levels[order].tolist()):
        same = place > 0 and level > 0 and level == levels[order[place - 1]]
        runs.append(runs[-1] if same else len(set(runs)))
    return order, runs


def key_rank_ranges(entries: ManifestEntries, keys: RowType) -> tuple[Ints, Ints]:
    """The ranks of the minimum and maximum key of each file; consecutive ranks without keys.

    In files that are sorted by other columns, the minimum key may be greater than the maximum.
    """
    if len(keys) and len(entries):
        try:
            lows, highs = key_ranks(entries, keys)
            return np.minimum(lows, highs), np.maximum(lows, highs)
        except FormatError:  # corrupt keys: the files are still listed
            pass
    ranks = np.arange(len(entries))
    return ranks, ranks


def read_amplification(lows: Ints, highs: Ints) -> Ints:
    """The number of sorted runs that cover each key rank; files of one run do not overlap."""
    if not len(lows):
        return np.empty(0, np.int64)
    count = int(highs.max()) + 1
    change = np.zeros(count + 1, np.int64)
    np.add.at(change, lows, 1)
    np.add.at(change, highs + 1, -1)
    return np.cumsum(change)[:-1]


def mean_read_amplification(lows: Ints, highs: Ints, depths: Ints, rows: Ints) -> float:
    """The mean read amplification of stored rows, spread evenly over the key ranks of a file."""
    if not len(lows) or not rows.sum():
        return 0.0
    sums = np.concatenate([[0], np.cumsum(depths)])
    means = (sums[highs + 1] - sums[lows]) / (highs + 1 - lows)
    return float((means * rows).sum() / rows.sum())
