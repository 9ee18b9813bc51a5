"""Interval partitioning: sections of data files with disjoint key ranges, and their sorted runs.

A section is a set of files whose key ranges overlap, directly or transitively; different sections
share no key, so each can be read, merged or rewritten alone. Within a section files are grouped
into as few sorted runs as possible, each with disjoint, ascending key ranges.
Spec: concepts/primary-key-table, interval partition of compaction and merge read.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.merge.keys.key_groups import group_rows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.manifest_arrays import (
    Mask,
    Rows,
    binary,
    bucket_numbers,
    numbers,
    trimmed_minimum,
)
from paimon_explore.scan.predicate.expression import Expression


def key_ranks(entries: ManifestEntries, keys: RowType) -> tuple[Rows, Rows]:
    """Ranks of the first and last key of n files in key order; equal keys have equal ranks."""
    types = [field.type for field in keys]
    lows = decode_rows(binary(entries.table, "min_key"), types, where="_MIN_KEY")
    highs = decode_rows(binary(entries.table, "max_key"), types, where="_MAX_KEY")
    lows = list(map(trimmed_minimum, lows, types))
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

    Which run a file joins, and the order of the runs, are those of Java, as they decide which of
    two records with equal sequence numbers is newer (see `merge.merge_tree`): runs are in a heap by
    their last key, which is returned as it is.

    Args:
        section: files by (first, last) key; the order of files with equal ranges matters.
        lows: rank of the first key of all files.
        highs: rank of their last key.

    >>> sorted_runs(np.array([0, 1, 2]), np.array([0, 2, 4]), np.array([3, 9, 8]))
    [[0, 2], [1]]
    """
    heap: list[tuple[int, list[int]]] = []
    for file in section.tolist():
        top = _poll(heap) if heap else None
        if top is not None and lows[file] > top[0]:
            top[1].append(file)
            top = (int(highs[file]), top[1])
        else:
            _offer(heap, (int(highs[file]), [file]))
        if top is not None:
            _offer(heap, top)
    return [run for _, run in heap]


def runs_of_read(section: Rows, lows: Rows, highs: Rows) -> list[list[int]]:
    """The sorted runs of a batch read: Java groups the files when it plans and when it reads.

    Args:
        section: as for `sorted_runs`, files with equal ranges in the order of the manifests.
        lows: as for `sorted_runs`.
        highs: as for `sorted_runs`.
    """
    planned = np.concatenate(sorted_runs(section, lows, highs))
    order = np.lexsort((highs[planned], lows[planned]))
    return sorted_runs(planned[order], lows, highs)


# Not `heapq`: it moves entries in other ways, so that equal ones get other places.
def _offer(heap: list[tuple[int, list[int]]], entry: tuple[int, list[int]]) -> None:
    """Adds an entry: it goes up past larger ones."""
    at = len(heap)
    heap.append(entry)
    while at and heap[(at - 1) // 2][0] > entry[0]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = entry


def _poll(heap: list[tuple[int, list[int]]]) -> tuple[int, list[int]]:
    """Removes the first entry: the last one takes its place and goes down past smaller ones."""
    first, last = heap[0], heap.pop()
    at, below = 0, 1
    while below < len(heap):
        if below + 1 < len(heap) and heap[below + 1][0] < heap[below][0]:
            below += 1
        if last[0] <= heap[below][0]:
            break
        heap[at] = heap[below]
        at, below = below, 2 * below + 1
    if heap:
        heap[at] = last
    return first


def may_tie(entries: ManifestEntries, buckets: Rows) -> Mask:
    """Per bucket, whether records of one key may have the same sequence number.

    So the ranges of sequence numbers of two files overlap. Files of one level above 0 share no key.

    Args:
        entries: n files.
        buckets: the number of each file's bucket, from 0 on.
    """
    levels = numbers(entries.table, "level")
    units = np.where(levels > 0, levels, -1 - np.arange(len(levels)))
    order = np.lexsort((units, buckets))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(units[order]) != 0) | (np.diff(buckets[order]) != 0)
    starts = np.flatnonzero(fresh)
    lows = np.minimum.reduceat(numbers(entries.table, "min_sequence_number")[order], starts)
    highs = np.maximum.reduceat(numbers(entries.table, "max_sequence_number")[order], starts)
    bucket = buckets[order][starts]
    by_low = np.lexsort((lows, bucket))
    lows, highs, bucket = lows[by_low], highs[by_low], bucket[by_low]
    overlaps = (bucket[1:] == bucket[:-1]) & (lows[1:] <= highs[:-1])
    found: Mask = np.bincount(bucket[1:][overlaps], minlength=int(buckets.max()) + 1) > 0
    return found


def by_age(runs: Sequence[list[int]], newest_sequence: Rows) -> list[list[int]]:
    """Sorts runs from oldest to newest by the maximum sequence number of their files."""
    return sorted(runs, key=lambda run: int(newest_sequence[run].max()))


def key_mask(entries: ManifestEntries, on_keys: Expression, keys: RowType) -> Mask:
    """True for those of n files that may contain matching keys; files without bounds are kept.

    Args:
        entries: live files of a table with a primary key.
        on_keys: a condition on key columns, bound to the table's row type.
        keys: the trimmed primary key.
    """
    from paimon_explore.scan.pruning.file_statistics import key_stats  # noqa: PLC0415 - there is a predicate
    from paimon_explore.scan.pruning.statistics_pruning import may_match  # noqa: PLC0415 - likewise

    found: Mask = numbers(entries.table, "bucket") == POSTPONE_BUCKET
    sorted_files = entries.filter(~found)
    mask = may_match(on_keys, key_stats(sorted_files, keys))
    if mask.any() and not mask.all():
        mask = _with_tied(sorted_files, mask, keys)
    found[np.flatnonzero(~found)] = mask
    return found


def _with_tied(entries: ManifestEntries, mask: Mask, keys: RowType) -> Mask:
    """Keeps further files: those on which the order of tied records of kept files may depend."""
    buckets = bucket_numbers(entries.table)
    counts = np.bincount(buckets)
    some = np.bincount(buckets[mask], minlength=len(counts))
    divided = np.flatnonzero((some > 0) & (some < counts) & may_tie(entries, buckets))
    found = mask.copy()
    for bucket in divided.tolist():
        rows = np.flatnonzero(buckets == bucket)
        for section in sections(*key_ranks(entries.take(rows), keys)):
            found[rows[section]] = mask[rows[section]].any()
    return found
