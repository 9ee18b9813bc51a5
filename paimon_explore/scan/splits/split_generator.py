"""Split generation from live files, for all buckets at once.

A single file with a recorded delete count of 0 is read raw, as in all implementations. A file
without a recorded count (Paimon 0.7) may contain -D records and is always merged.
Spec: `source.split.target-size`, `source.split.open-file-cost`; primary-key-table, splits of a
batch scan.
"""

from array import array
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from paimon_explore.data_types.arrow_buffers import int64_values, offsets_from_sizes, valid_mask
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import (
    Mask,
    Rows,
    bucket_numbers,
    column,
    numbers,
)
from paimon_explore.scan.splits.data_split import LocatedFiles, Splits
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.scan.splits.row_id_ranges import same_rows

_BLOCK_ITEMS = 1 << 16
_KEYS = frozenset({"min_key", "max_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRules:
    """The rules by which the files of a bucket become splits.

    Attributes:
        keys: the trimmed primary key; None for append tables.
        shares_rows: whether several files may contain columns of the same rows (data evolution).
        levels_disjoint: whether a key occurs at most once above level 0 (tables with deletion
            vectors, first-row tables).
        target_bytes: maximum size of a split with several files.
        open_cost_bytes: minimum weight of a file.
    """

    keys: RowType | None
    levels_disjoint: bool
    shares_rows: bool
    target_bytes: int
    open_cost_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileOrder:
    """Files of all buckets in split order.

    Attributes:
        order: n row numbers of the files.
        starts: the start of each indivisible item in that order: k numbers.
        buckets: the bucket number of each of the n files, ascending in that order.
        merged: per file, whether key ranges decide which files of its bucket are read together.
        alone: per file, whether it is the only one in its bucket.
        groups: per file the number of its item within the bucket, if files share rows.
    """

    order: Rows
    starts: Rows
    buckets: Rows
    merged: Mask
    alone: Mask
    groups: Rows | None = None


def make_splits(files: LocatedFiles, rules: SplitRules) -> Splits:
    """Pack the files of every bucket into splits, buckets in order of appearance."""
    entries = files.entries
    if not len(entries):
        return _none(files)
    if rules.keys is not None:
        layout = _by_keys(entries, rules, rules.keys)
    else:
        layout = _by_rows(entries) if rules.shares_rows else _by_age(entries)
    sizes = numbers(entries.table, "file_size")[layout.order]
    weights, groups = sizes, layout.buckets
    single = len(layout.starts) == len(sizes)
    if not single:
        weights = np.add.reduceat(sizes, layout.starts)
        groups = groups[layout.starts]
    bounds = pack(weights, groups, target=rules.target_bytes, open_cost=rules.open_cost_bytes)
    if not single:
        bounds = np.append(layout.starts, len(sizes))[bounds]
    return Splits(
        files=files,
        order=layout.order,
        bounds=bounds,
        raw=_raw(entries, layout, bounds, is_keyed=rules.keys is not None),
        same_rows=layout.groups,
    )


def files_as_splits(files: LocatedFiles, rules: SplitRules) -> Splits:
    """Packs files into splits that are read as written, without a merge."""
    return make_splits(files, replace(rules, keys=None))


def whole_buckets(files: LocatedFiles) -> Splits:
    """One split per bucket with all its files, to be merged."""
    if not len(files.entries):
        return _none(files)
    buckets = bucket_numbers(files.entries.table)
    order = _ordered(buckets)
    bounds = np.append(_changes(buckets[order]), len(order))
    raw = np.zeros(len(bounds) - 1, np.bool_)
    return Splits(files=files, order=order, bounds=bounds, raw=raw)


def _none(files: LocatedFiles) -> Splits:
    nothing = np.zeros(0, np.int64)
    bounds = np.zeros(1, np.int64)
    return Splits(files=files, order=nothing, bounds=bounds, raw=np.zeros(0, np.bool_))


def _ordered(*keys: Rows) -> Rows:
    """Stable sort: row numbers sorted by the keys, the first key first."""
    first, *others = keys
    rises = first[1:] > first[:-1]
    if not others and bool((first[1:] >= first[:-1]).all()):
        return np.arange(len(first))
    if len(others) == 1:
        same = first[1:] == first[:-1]
        if bool((rises | (same & (others[0][1:] >= others[0][:-1]))).all()):
            return np.arange(len(first))
    return np.lexsort(keys[::-1])


def _changes(ascending: Rows) -> Rows:
    """Start positions of runs of equal numbers."""
    return np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))


def _by_age(entries: ManifestEntries) -> _FileOrder:
    """Each file is an item, oldest first."""
    buckets = bucket_numbers(entries.table)
    order = _ordered(buckets, numbers(entries.table, "min_sequence_number"))
    nowhere = np.zeros(len(order), np.bool_)
    return _FileOrder(
        order=order,
        starts=np.arange(len(order)),
        buckets=buckets[order],
        merged=nowhere,
        alone=nowhere,
    )


def _by_rows(entries: ManifestEntries) -> _FileOrder:
    """Files with columns of the same rows form an item."""
    buckets = bucket_numbers(entries.table)
    rows = _ordered(buckets)
    parts: list[Rows] = []
    groups: list[Rows] = []
    for own in np.split(rows, _changes(buckets[rows])[1:]):
        found = same_rows(entries.take(own))
        parts.extend(own[group] for group in found)
        groups.extend(np.full(len(group), number) for number, group in enumerate(found))
    order = np.concatenate(parts)
    nowhere = np.zeros(len(order), np.bool_)
    return _FileOrder(
        order=order,
        starts=offsets_from_sizes(np.array([len(part) for part in parts], np.int64))[:-1],
        buckets=buckets[order],
        merged=nowhere,
        alone=nowhere,
        groups=np.concatenate(groups),
    )


def _by_keys(entries: ManifestEntries, rules: SplitRules, keys: RowType) -> _FileOrder:
    """In buckets that have to be merged, files with overlapping key ranges form an item."""
    buckets = bucket_numbers(entries.table)
    counts = np.bincount(buckets)
    merged = ((counts > 1) & ~_all_raw(entries, buckets, rules))[buckets]
    lows = np.zeros(len(buckets), np.int64)
    highs = np.zeros(len(buckets), np.int64)
    rows = np.flatnonzero(merged)
    if len(rows):  # ranks across all buckets order the files within each bucket as well
        lows[rows], highs[rows] = key_ranks(entries.select(_KEYS).take(rows), keys)
    order = np.lexsort((highs, lows, buckets))
    buckets, lows, highs, merged = buckets[order], lows[order], highs[order], merged[order]
    span = int(highs.max()) + 1
    reach = np.maximum.accumulate(highs + buckets * span)[:-1] - buckets[1:] * span
    begins = (buckets[1:] != buckets[:-1]) | ~merged[1:] | (lows[1:] > reach)
    return _FileOrder(
        order=order,
        starts=np.flatnonzero(np.concatenate(([True], begins))),
        buckets=buckets,
        merged=merged,
        alone=(counts == 1)[buckets],
    )


def _all_raw(entries: ManifestEntries, buckets: Rows, rules: SplitRules) -> Mask:
    """Per bucket, whether its files are compacted so that no two of them share a key."""
    levels = numbers(entries.table, "level")
    count = int(buckets.max()) + 1
    odd = (levels == 0) | ~without_retracts(entries)
    if not rules.levels_disjoint:
        of_one = np.zeros(count, np.int64)
        of_one[buckets] = levels
        odd |= levels != of_one[buckets]
    found: Mask = np.bincount(buckets[odd], minlength=count) == 0
    return found


def _raw(entries: ManifestEntries, layout: _FileOrder, bounds: Rows, *, is_keyed: bool) -> Mask:
    """Per split, whether its files' rows are the table's rows."""
    if not is_keyed:
        return np.ones(len(bounds) - 1, np.bool_)
    first = bounds[:-1]
    clean = without_retracts(entries)[layout.order[first]]
    is_single = bounds[1:] - first == 1
    return np.where(layout.merged[first] | layout.alone[first], is_single & clean, np.True_)


def without_retracts(entries: ManifestEntries) -> Mask:
    """Per file, whether it is known to contain no -U or -D record; False for an unknown count."""
    counts = column(entries.table, "delete_row_count")
    found: Mask = (int64_values(counts) == 0) & valid_mask(counts)
    return found


# Spec: `source.split.target-size`, `source.split.open-file-cost`.
def pack(
    sizes: npt.NDArray[np.int64], groups: npt.NDArray[np.int64], *, target: int, open_cost: int
) -> npt.NDArray[np.int64]:
    """Packs consecutive items of one group into bins of at most `target` bytes.

    Args:
        sizes: n sizes in bytes; their order is kept.
        groups: n ascending numbers; a bin contains items of one group only.
        target: maximum bytes per bin; a larger item is alone in its bin.
        open_cost: minimum weight of an item in bytes.

    Returns:
        The start of each of the k bins, then n: k + 1 numbers.

    >>> pack(np.array([5, 5, 20, 1, 1]), np.array([0, 0, 0, 0, 1]), target=10, open_cost=2).tolist()
    [0, 2, 3, 4, 5]
    """
    count = len(sizes)
    # Sizes above the target are clipped, so that sums do not overflow; such items are alone anyway.
    ends = np.clip(sizes, open_cost, target + 1)
    np.cumsum(ends, out=ends)
    group_ends = np.append(np.flatnonzero(groups[1:] != groups[:-1]) + 1, count)
    found = np.empty(count, np.int64)
    for first in range(0, count, _BLOCK_ITEMS):  # in blocks, for few temporary arrays
        rows = np.arange(first, min(first + _BLOCK_ITEMS, count))
        before = np.where(rows > 0, ends[rows - 1], 0)
        after = np.searchsorted(ends, before + target, side="right")
        own_end = group_ends[np.searchsorted(group_ends, rows, side="right")]
        found[rows] = np.clip(after, rows + 1, own_end)
    following = memoryview(found.data)
    # A loop, because the start of a bin depends on the previous bin.
    starts = array("q", [0] if count else [])
    start = 0
    while start < count:
        start = following[start]
        starts.append(start)
    return np.array(starts or [0], np.int64)
