"""From live files to splits.

A single file that states no deletes is taken as it is, as all implementations do.
Spec: `source.split.target-size`, `source.split.open-file-cost`; primary-key-table, splits of a
batch scan.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import as_python, taken_rows
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.scan.frames import Rows, group_numbers, numbers
from paimon_explore.scan.packing import pack
from paimon_explore.scan.row_ranges import same_rows
from paimon_explore.scan.sections import key_ranks, sections
from paimon_explore.scan.split import DataSplit, DeletionFile
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
class PlacedFiles:
    """Files with where they lie.

    Attributes:
        entries: n files.
        paths: n paths.
        deletion_files: by file name.
        snapshot_id: planned at.
        branch: whose schemas the schema ids name.
    """

    entries: ManifestEntries
    paths: pa.StringArray
    deletion_files: Mapping[str, DeletionFile]
    snapshot_id: int | None
    branch: str


def make_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Pack the files of every bucket into splits, buckets in order of appearance."""
    return tuple(
        split for rows in _buckets(files.entries) for split in _bucket_splits(files, rows, rules)
    )


def files_as_splits(files: PlacedFiles, rules: SplitRules) -> tuple[DataSplit, ...]:
    """Files packed as they are: their rows are read as written, without a merge."""
    return make_splits(files, replace(rules, keys=None))


def whole_buckets(files: PlacedFiles) -> tuple[DataSplit, ...]:
    """One split with all files per bucket; to be merged."""
    return tuple(_split(files, rows, raw=False) for rows in _buckets(files.entries))


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


def _bucket_splits(files: PlacedFiles, rows: Rows, rules: SplitRules) -> Iterator[DataSplit]:
    entries = files.entries.take(rows)
    sizes = numbers(entries.table, "file_size")
    if rules.keys is None and rules.shares_rows:
        yield from _row_range_splits(files, rows, sizes, rules)
        return
    if rules.keys is None:
        order = np.argsort(numbers(entries.table, "min_sequence_number"), kind="stable")
        for start, end in _pack(sizes[order], rules):
            yield _split(files, rows[order[start:end]], raw=True)
        return
    retracts = numbers(entries.table, "delete_row_count")
    if _all_raw(entries, retracts, rules):
        for start, end in _pack(sizes, rules):
            yield _split(files, rows[start:end], raw=True)
        return
    parts = sections(*key_ranks(entries, rules.keys))
    weights = np.array([sizes[part].sum() for part in parts], dtype=np.int64)
    for start, end in _pack(weights, rules):
        packed = np.concatenate(parts[start:end])
        raw = len(packed) == 1 and retracts[packed[0]] == 0
        yield _split(files, rows[packed], raw=raw)


def _row_range_splits(
    files: PlacedFiles, rows: Rows, sizes: Rows, rules: SplitRules
) -> Iterator[DataSplit]:
    """Files of the same rows stay together."""
    groups = same_rows(files.entries.take(rows))
    weights = np.array([sizes[group].sum() for group in groups], dtype=np.int64)
    for start, end in _pack(weights, rules):
        packed = np.concatenate(groups[start:end])
        numbers = [n for n, group in enumerate(groups[start:end]) for _ in group]
        yield replace(_split(files, rows[packed], raw=True), same_rows=tuple(numbers))


def _pack(sizes: Rows, rules: SplitRules) -> list[tuple[int, int]]:
    return pack(sizes, target=rules.target_bytes, open_cost=rules.open_cost_bytes)


def _all_raw(entries: ManifestEntries, retracts: Rows, rules: SplitRules) -> bool:
    levels = numbers(entries.table, "level")
    compacted = bool((levels != 0).all()) and not retracts.any()
    return compacted and (rules.levels_disjoint or len(np.unique(levels)) == 1)


def _split(files: PlacedFiles, rows: Rows, *, raw: bool) -> DataSplit:
    entries = files.entries.take(rows)
    table = entries.table
    names = map(str, table.column("file_name").to_pylist()) if files.deletion_files else ()
    return DataSplit(
        snapshot_id=files.snapshot_id,
        partition=table.column("partition")[0].as_py(),
        bucket=table.column("bucket")[0].as_py(),
        total_buckets=table.column("total_buckets")[0].as_py(),
        files=entries,
        paths=tuple(map(str, as_python(taken_rows(files.paths, rows)))),
        raw_convertible=raw,
        deletion_files={n: files.deletion_files[n] for n in names if n in files.deletion_files},
        branch=files.branch,
    )
