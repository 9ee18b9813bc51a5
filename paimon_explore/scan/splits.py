"""From live files to splits.

A single file that states no deletes is taken as it is, as all implementations do.
Spec: `source.split.target-size`, `source.split.open-file-cost`; primary-key-table, splits of a
batch scan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.scan.frames import Rows, group_numbers, numbers
from paimon_explore.scan.packing import pack
from paimon_explore.scan.row_ranges import same_rows
from paimon_explore.scan.sections import key_ranks, sections
from paimon_explore.scan.split import DataSplit, PlacedFiles
from paimon_explore.types.data_types import RowType

_KEYS = frozenset({"min_key", "max_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRules:
    """How the files of a bucket become splits.

    Attributes:
        keys: the trimmed primary key; None for append tables.
        shares_rows: several files may hold columns of the same rows (data evolution).
        levels_disjoint: a key is live at most once over all levels above 0 (tables with deletion
            vectors, first-row tables).
        target_bytes: size a split is filled to.
        open_cost_bytes: least weight of a file.
    """

    keys: RowType | None
    levels_disjoint: bool
    shares_rows: bool
    target_bytes: int
    open_cost_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bucket:
    """A bucket's files in the order of its splits, as row numbers of all files.

    Attributes:
        rows: n row numbers.
        bins: half-open ranges of them, one per split.
        raw: per split whether its rows are read as they are.
        same_rows: per file the number of the group of files with the same rows; or none.
    """

    rows: Rows
    bins: Sequence[tuple[int, int]]
    raw: Sequence[bool]
    same_rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """The number columns that packing looks at, of all files.

    `lows` and `highs` are ranks of the first and last keys, of files that are merged only.
    """

    entries: ManifestEntries
    sizes: Rows
    levels: Rows
    retracts: Rows
    sequences: Rows
    lows: Rows
    highs: Rows

    @classmethod
    def of(cls, entries: ManifestEntries) -> "_Figures":
        """Take them from a frame; null counts as 0."""
        table = entries.table
        return cls(
            entries=entries,
            sizes=numbers(table, "file_size"),
            levels=numbers(table, "level"),
            retracts=numbers(table, "delete_row_count"),
            sequences=numbers(table, "min_sequence_number"),
            lows=np.zeros(len(entries), np.int64),
            highs=np.zeros(len(entries), np.int64),
        )

    def with_ranks(self, buckets: Sequence[Rows], keys: RowType) -> "_Figures":
        """With the key ranges of the files of these buckets, all ranked at once.

        Buckets number by the thousand; ranks of all their files order those of each one alike.
        """
        if not buckets:
            return self
        rows = np.concatenate(buckets)
        lows, highs = self.lows.copy(), self.highs.copy()
        lows[rows], highs[rows] = key_ranks(self.entries.select(_KEYS).take(rows), keys)
        return replace(self, lows=lows, highs=highs)


def make_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Pack the files of every bucket into splits, buckets in order of appearance."""
    buckets = _buckets(files.entries)
    figures = _Figures.of(files.entries)
    if rules.keys is not None:
        merged = [rows for rows in buckets if _needs_merge(figures, rows, rules)]
        figures = figures.with_ranks(merged, rules.keys)
    packed = [_packed_bucket(figures, rows, rules) for rows in buckets]
    return _ordered(files, packed)


def files_as_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Files packed as they are: their rows are read as written, without a merge."""
    return make_splits(files, replace(rules, keys=None))


def whole_buckets(files: PlacedFiles) -> tuple[DataSplit, ...]:
    """One split with all files per bucket; to be merged."""
    return _ordered(
        files,
        [
            _Bucket(rows=rows, bins=[(0, len(rows))], raw=[False])
            for rows in _buckets(files.entries)
        ],
    )


def _ordered(files: PlacedFiles, buckets: Sequence[_Bucket]) -> tuple[DataSplit, ...]:
    """The files in the order of the splits, taken once, and the splits as parts of them."""
    if not buckets:
        return ()
    source = files.take(np.concatenate([bucket.rows for bucket in buckets]))
    splits: list[DataSplit] = []
    offset = 0
    for bucket in buckets:
        splits.extend(
            DataSplit(
                source=source,
                start=offset + start,
                count=end - start,
                raw_convertible=raw,
                same_rows=bucket.same_rows[start:end],
            )
            for (start, end), raw in zip(bucket.bins, bucket.raw, strict=True)
        )
        offset += len(bucket.rows)
    return tuple(splits)


def _buckets(entries: ManifestEntries) -> list[Rows]:
    """Row numbers per (partition, bucket), both in order of appearance."""
    if not len(entries):
        return []
    group = group_numbers(entries.table)
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.flatnonzero(np.diff(inverse[order])) + 1
    rows = np.split(order, cuts)
    return [rows[i] for i in np.argsort(first, kind="stable")]


def _packed_bucket(figures: _Figures, rows: Rows, rules: SplitRules) -> _Bucket:
    if rules.keys is None:
        return _packed_appends(figures, rows, rules)
    retracts = figures.retracts[rows]
    if not _needs_merge(figures, rows, rules):
        if len(rows) == 1:
            return _Bucket(rows=rows, bins=[(0, 1)], raw=[bool(retracts[0] == 0)])
        return _raw_bucket(figures, rows, rules)
    parts = sections(figures.lows[rows], figures.highs[rows])
    bins, ordered = _packed_groups(figures.sizes[rows], parts, rules)
    clean = retracts[ordered] == 0
    raw = [end - start == 1 and bool(clean[start]) for start, end in bins]
    return _Bucket(rows=rows[ordered], bins=bins, raw=raw)


def _packed_appends(figures: _Figures, rows: Rows, rules: SplitRules) -> _Bucket:
    if not rules.shares_rows:
        ordered = rows[np.argsort(figures.sequences[rows], kind="stable")]
        return _raw_bucket(figures, ordered, rules)
    groups = same_rows(figures.entries.take(rows))
    bins, ordered = _packed_groups(figures.sizes[rows], groups, rules)
    shared = tuple(number for number, group in enumerate(groups) for _ in group)
    return _Bucket(rows=rows[ordered], bins=bins, raw=[True] * len(bins), same_rows=shared)


def _raw_bucket(figures: _Figures, rows: Rows, rules: SplitRules) -> _Bucket:
    bins = _pack(figures.sizes[rows], rules)
    return _Bucket(rows=rows, bins=bins, raw=[True] * len(bins))


def _packed_groups(
    sizes: Rows, groups: Sequence[Rows], rules: SplitRules
) -> tuple[list[tuple[int, int]], Rows]:
    """Ranges of files packed group by group, and the files in that order."""
    weights = np.array([sizes[group].sum() for group in groups], dtype=np.int64)
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    bins = [(ends[start], ends[end]) for start, end in _pack(weights, rules)]
    return bins, np.concatenate(groups)


def _pack(sizes: Rows, rules: SplitRules) -> list[tuple[int, int]]:
    return pack(sizes, target=rules.target_bytes, open_cost=rules.open_cost_bytes)


def _needs_merge(figures: _Figures, rows: Rows, rules: SplitRules) -> bool:
    """Whether key ranges decide which files of a bucket are read together."""
    return len(rows) > 1 and not _all_raw(figures.levels[rows], figures.retracts[rows], rules)


def _all_raw(levels: Rows, retracts: Rows, rules: SplitRules) -> bool:
    compacted = bool((levels != 0).all()) and not retracts.any()
    return compacted and (rules.levels_disjoint or bool((levels == levels[0]).all()))
