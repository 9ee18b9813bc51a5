"""Interval partitioning: sections of data files with disjoint key ranges, and their sorted runs.

A section is a set of files whose key ranges overlap, directly or transitively; different sections
share no key, so each can be read, merged or rewritten alone. Within a section files are grouped
into as few sorted runs as possible, each with disjoint, ascending key ranges.
Spec: concepts/primary-key-table, interval partition of compaction and merge read.
"""

import heapq
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.merge.keys.key_groups import group_rows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import Rows, binary


def key_ranks(entries: ManifestEntries, keys: RowType) -> tuple[Rows, Rows]:
    """Ranks of the first and last key of n files in key order; equal keys have equal ranks."""
    types = [field.type for field in keys]
    lows = decode_rows(binary(entries.table, "min_key"), types, where="_MIN_KEY")
    highs = decode_rows(binary(entries.table, "max_key"), types, where="_MAX_KEY")
    columns = [pa.concat_arrays(pair) for pair in zip(lows, highs, strict=True)]
    groups = group_rows(columns, count=2 * len(entries))
    ranks = np.empty(2 * len(entries), dtype=np.int64)
    ranks[groups.order] = np.repeat(np.arange(len(groups.starts)), groups.sizes)
    return ranks[: len(entries)], ranks[len(entries) :]


def sections(lows: Rows, highs: Rows) -> list[Rows]:
    """Groups the files of one bucket into sections.

    Args:
        lows: rank of the first key of n files.
        highs: rank of their last key.

    Returns:
        File numbers per section; sections ascending by key, their files by (first, last) key.

    >>> [s.tolist() for s in sections(np.array([5, 0, 2]), np.array([9, 3, 4]))]
    [[1, 2], [0]]
    """
    if not len(lows):
        return []
    order = np.lexsort((highs, lows))
    reach = np.maximum.accumulate(highs[order])
    starts = np.flatnonzero(lows[order][1:] > reach[:-1]) + 1
    return np.split(order, starts)


def sorted_runs(section: Rows, lows: Rows, highs: Rows) -> list[list[int]]:
    """Groups the files of a section into as few sorted runs as possible.

    >>> sorted_runs(np.array([0, 1, 2]), np.array([0, 2, 4]), np.array([3, 9, 8]))
    [[0, 2], [1]]
    """
    runs: list[list[int]] = []
    ends: list[tuple[int, int]] = []
    for file in section.tolist():
        if ends and lows[file] > ends[0][0]:
            _, run = heapq.heapreplace(ends, (int(highs[file]), ends[0][1]))
            runs[run].append(file)
        else:
            heapq.heappush(ends, (int(highs[file]), len(runs)))
            runs.append([file])
    return runs


def by_age(runs: Sequence[list[int]], newest_sequence: Rows) -> list[list[int]]:
    """Sorts runs from oldest to newest by the maximum sequence number of their files."""
    return sorted(runs, key=lambda run: int(newest_sequence[run].max()))
