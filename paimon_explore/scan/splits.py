"""From live files to splits.

A single file that states no deletes is taken as it is, as all implementations do.
Spec: `source.split.target-size`, `source.split.open-file-cost`; primary-key-table, splits of a
batch scan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.scan.frames import Rows, group_numbers, numbers
from paimon_explore.scan.packing import pack
from paimon_explore.scan.row_ranges import same_rows
from paimon_explore.scan.sections import key_ranks, sections
from paimon_explore.scan.split import DataSplit, PlacedFiles
from paimon_explore.types.data_types import RowType


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
class _Draft:
    """Row numbers of a split's files, before all files are put in the order of the splits."""

    rows: Rows
    raw: bool
    same_rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """The number columns that packing looks at, of all files."""

    entries: ManifestEntries
    sizes: Rows
    levels: Rows
    retracts: Rows
    sequences: Rows

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
        )


def make_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Pack the files of every bucket into splits, buckets in order of appearance."""
    figures = _Figures.of(files.entries)
    drafts = [
        draft for rows in _buckets(files.entries) for draft in _bucket_drafts(figures, rows, rules)
    ]
    return _ordered(files, drafts)


def files_as_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Files packed as they are: their rows are read as written, without a merge."""
    return make_splits(files, replace(rules, keys=None))


def whole_buckets(files: PlacedFiles) -> tuple[DataSplit, ...]:
    """One split with all files per bucket; to be merged."""
    return _ordered(files, [_Draft(rows=rows, raw=False) for rows in _buckets(files.entries)])


def _ordered(files: PlacedFiles, drafts: Sequence[_Draft]) -> tuple[DataSplit, ...]:
    """The files in the order of the splits, taken once, and the splits as parts of them."""
    if not drafts:
        return ()
    source = files.take(np.concatenate([draft.rows for draft in drafts]))
    ends = accumulate(len(draft.rows) for draft in drafts)
    return tuple(
        DataSplit(
            source=source,
            start=end - len(draft.rows),
            count=len(draft.rows),
            raw_convertible=draft.raw,
            same_rows=draft.same_rows,
        )
        for draft, end in zip(drafts, ends, strict=True)
    )


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


def _bucket_drafts(figures: _Figures, rows: Rows, rules: SplitRules) -> Iterator[_Draft]:
    sizes = figures.sizes[rows]
    if rules.keys is None and rules.shares_rows:
        yield from _row_range_drafts(figures, rows, rules)
        return
    if rules.keys is None:
        ordered = rows[np.argsort(figures.sequences[rows], kind="stable")]
        for start, end in _pack(figures.sizes[ordered], rules):
            yield _Draft(rows=ordered[start:end], raw=True)
        return
    retracts = figures.retracts[rows]
    if _all_raw(figures.levels[rows], retracts, rules):
        for start, end in _pack(sizes, rules):
            yield _Draft(rows=rows[start:end], raw=True)
        return
    parts = sections(*key_ranks(figures.entries.take(rows), rules.keys))
    weights = np.array([sizes[part].sum() for part in parts], dtype=np.int64)
    for start, end in _pack(weights, rules):
        packed = np.concatenate(parts[start:end])
        yield _Draft(rows=rows[packed], raw=len(packed) == 1 and retracts[packed[0]] == 0)


def _row_range_drafts(figures: _Figures, rows: Rows, rules: SplitRules) -> Iterator[_Draft]:
    """Files of the same rows stay together."""
    groups = same_rows(figures.entries.take(rows))
    sizes = figures.sizes[rows]
    weights = np.array([sizes[group].sum() for group in groups], dtype=np.int64)
    for start, end in _pack(weights, rules):
        packed = np.concatenate(groups[start:end])
        shared = [number for number, group in enumerate(groups[start:end]) for _ in group]
        yield _Draft(rows=rows[packed], raw=True, same_rows=tuple(shared))


def _pack(sizes: Rows, rules: SplitRules) -> list[tuple[int, int]]:
    return pack(sizes, target=rules.target_bytes, open_cost=rules.open_cost_bytes)


def _all_raw(levels: Rows, retracts: Rows, rules: SplitRules) -> bool:
    compacted = bool((levels != 0).all()) and not retracts.any()
    return compacted and (rules.levels_disjoint or bool((levels == levels[0]).all()))
