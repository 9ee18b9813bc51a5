"""Difference of two snapshots: by primary key, or by whole rows in append tables.

Only buckets whose files differ are read; both states are merged and compared. A key that is new or
has another row returns its new row as +I, a removed key its old row as -D. Without keys only files
that are not in both states are read, and duplicate rows are counted, so that rows moved by a
compaction do not differ.
Spec: `incremental-between-scan-mode=diff`. Seen with the official Java 2.0.0, which has no -D in
batch reads, and treats rows that a compaction moved as new in append tables.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.array_sizes import check_fits
from paimon_explore.data_types.arrow_buffers import Ints, as_python
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.value_equality import codes, combined, rank_in_group
from paimon_explore.merge.numpy_columns import int8_array
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import Mask, byte_rows, column, numbers, row_array
from paimon_explore.scan.splits.data_split import (
    DataSplit,
    DeletionFile,
    DifferenceSplit,
    PlainSplit,
    Split,
)

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = range(4)
_Bucket = tuple[bytes, int]
_File = tuple[str, int, DeletionFile | None]
"""Name, level and deletion vector."""
_NONE: frozenset[_File] = frozenset()


def changed_splits(
    before: Sequence[PlainSplit], after: Sequence[PlainSplit], *, whole_buckets: bool = True
) -> tuple[list[PlainSplit], list[PlainSplit]]:
    """The splits of both states in buckets whose files differ.

    Args:
        before: of the old state.
        after: of the new state.
        whole_buckets: keep all files of these buckets, because they are merged; else remove the
            files that are in both states.
    """
    listed = [_listed(before), _listed(after)]
    old, new = map(_by_bucket, listed)
    same = {bucket for bucket, files in old.items() if new.get(bucket) == files}
    changed: list[list[PlainSplit]] = [
        [split for split, bucket, _ in splits if bucket not in same] for splits in listed
    ]
    if not whole_buckets:
        groups = [_shared(splits) for splits in (after, before)]
        changed = [
            [rest for s in splits if (rest := _without(s, other.get(_bucket(s), _NONE), shared))]
            for splits, other, shared in zip(changed, (new, old), groups, strict=True)
        ]
    return changed[0], changed[1]


def difference_splits(
    before: Sequence[PlainSplit], after: Sequence[PlainSplit], rows: "ComparedRows"
) -> list[Split]:
    """Splits that read the rows that differ between two states.

    Rows are compared per bucket if the bucket follows from the key, else per partition, or in the
    whole table if a key may move to another partition.
    """
    old, new = changed_splits(before, after, whole_buckets=rows.whole_buckets)
    fixed = _fixed_buckets([*before, *after])
    groups: dict[object, tuple[list[PlainSplit], list[PlainSplit]]] = {}
    for side, splits in enumerate((old, new)):
        for split in splits:
            where = _bucket(split) if split.partition in fixed else split.partition
            group = groups.setdefault(None if rows.across_partitions else where, ([], []))
            group[side].append(split)
    return [
        DifferenceSplit(
            before=tuple(gone),
            after=tuple(come),
            keys=rows.keys,
            base=rows.base,
            snapshot_id=rows.snapshot_id,
        )
        for gone, come in groups.values()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRows:
    """Parameters of the comparison of two states.

    Attributes:
        keys: names of the primary key columns; empty to compare whole rows.
        whole_buckets: whether the files of a bucket are merged, so that all of them are read.
        across_partitions: whether a key may be in another partition of the new state.
        base: the snapshot of the old state; None for an empty table.
        snapshot_id: the snapshot of the new state.
    """

    keys: tuple[str, ...]
    whole_buckets: bool
    across_partitions: bool
    base: Snapshot | None
    snapshot_id: int


def _fixed_buckets(splits: Sequence[PlainSplit]) -> set[bytes]:
    """The partitions in which all files were written with the same fixed number of buckets."""
    counts: dict[bytes, set[int]] = {}
    for split in splits:
        count = split.total_buckets if isinstance(split, DataSplit) else -1
        counts.setdefault(split.partition, set()).add(count)
    return {key for key, found in counts.items() if len(found) == 1 and min(found) > 0}


def _shared(splits: Sequence[PlainSplit]) -> set[frozenset[_File]]:
    """Groups of files with columns of the same rows."""
    return {
        frozenset(files)
        for split in splits
        if isinstance(split, DataSplit) and split.same_rows
        for files, _ in _groups_of(split)
    }


def _groups_of(split: DataSplit) -> list[tuple[list[_File], list[int]]]:
    found: dict[int, tuple[list[_File], list[int]]] = {}
    for row, (group, file) in enumerate(zip(split.same_rows, _files_of(split), strict=True)):
        files, rows = found.setdefault(group, ([], []))
        files.append(file)
        rows.append(row)
    return list(found.values())


def _without(
    split: PlainSplit, files: frozenset[_File], shared: set[frozenset[_File]]
) -> PlainSplit | None:
    """Removes the files from a split that the other state also has.

    Files with columns of the same rows are removed only as a group, if the other state has exactly
    the same group.
    """
    if not isinstance(split, DataSplit):
        return split
    if split.same_rows:
        rows = [
            r for group, own in _groups_of(split) if frozenset(group) not in shared for r in own
        ]
        kept = np.array(sorted(rows), np.int64)
    else:
        kept = np.flatnonzero([file not in files for file in _files_of(split)])
    if len(kept) == split.count:
        return split
    return split.only(kept) if len(kept) else None


def _bucket(split: PlainSplit) -> _Bucket:
    return split.partition, split.bucket if isinstance(split, DataSplit) else -1


def _listed(splits: Sequence[PlainSplit]) -> list[tuple[PlainSplit, _Bucket, list[_File]]]:
    """The bucket and the files of each split; those of one plan are converted in one batch."""
    plans: dict[int, tuple[list[_Bucket], list[_File]]] = {}
    found: list[tuple[PlainSplit, _Bucket, list[_File]]] = []
    for split in splits:
        if not isinstance(split, DataSplit):
            found.append((split, _bucket(split), _files_of(split)))
            continue
        if id(split.of) not in plans:
            table = split.source.entries.table
            rows = byte_rows(column(table, "partition")), numbers(table, "bucket").tolist()
            files = _files_in(table, split.source.vectors)
            plans[id(split.of)] = [*zip(*rows, strict=True)], files
        buckets, files = plans[id(split.of)]
        found.append((split, buckets[split.start], files[split.start : split.start + split.count]))
    return found


def _by_bucket(
    listed: Sequence[tuple[PlainSplit, _Bucket, list[_File]]],
) -> dict[_Bucket, frozenset[_File]]:
    """The files of each bucket."""
    found: dict[_Bucket, frozenset[_File]] = {}
    for _, bucket, files in listed:
        found[bucket] = found.get(bucket, _NONE).union(files)
    return found


def _files_of(split: PlainSplit) -> list[_File]:
    if not isinstance(split, DataSplit):
        return _files_in(split.files.table, [None] * len(split.files))
    vectors = split.source.vectors[split.start : split.start + split.count]
    return _files_in(split.files.table, vectors)


def _files_in(table: pa.Table, vectors: Sequence[DeletionFile | None]) -> list[_File]:
    names = map(str, as_python(column(table, "file_name")))
    levels = numbers(table, "level").tolist()
    return list(zip(names, levels, vectors, strict=True))


def difference(before: pa.Table, after: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows that differ (+I new, -D removed), with `_VALUE_KIND` as the last column.

    Args:
        before: the old rows; with keys, each key once.
        after: the new rows, likewise, with the same columns.
        keys: names of the primary key columns, including partition columns; empty to compare
            whole rows, which may occur several times.
    """
    _, row, key = _numbered(before, after, keys)
    split = before.num_rows
    gone = ~np.isin(key[:split], key[split:])
    fresh = ~np.isin(row[split:], row[:split])
    return pa.concat_tables([_kinds(before, gone, _DELETE), _kinds(after, fresh, _INSERT)])


def changed_rows(
    before: pa.Table, after: pa.Table, keys: Sequence[str], *, retracts: bool = True
) -> pa.Table:
    """The rows that differ as a changelog, with `_VALUE_KIND` as the last column.

    Like `difference`, but a key with another row returns its old row as -U and its new row as +U,
    next to each other. Without `retracts` only new rows are returned.
    """
    rows, row, key = _numbered(before, after, keys)
    split, count = before.num_rows, rows.num_rows
    is_new = np.arange(count) >= split
    differs = ~_in_other(row, split)
    if not retracts:
        differs &= is_new
    kinds = np.where(
        _in_other(key, split),
        np.where(is_new, _UPDATE_AFTER, _UPDATE_BEFORE),
        np.where(is_new, _INSERT, _DELETE),
    )
    selected = np.flatnonzero(differs)
    first = np.full(count, count)
    np.minimum.at(first, key, np.arange(count))
    selected = selected[np.lexsort((is_new[selected], first[key[selected]]))] if keys else selected
    found = rows.take(row_array(selected))
    return found.append_column(
        pa.field("_VALUE_KIND", pa.int8()), int8_array(kinds[selected].astype(np.int8))
    )


def _numbered(
    before: pa.Table, after: pa.Table, keys: Sequence[str]
) -> tuple[pa.Table, Ints, Ints]:
    """The rows of both states, a number per row, and one per key; without keys rows are keys."""
    rows = pa.concat_tables([before, after])
    check_fits(rows, "to compare", "Pass where= to compare fewer rows.")
    rows = rows.combine_chunks()
    row = combined([codes(column(rows, name)) for name in rows.column_names], count=len(rows))
    if keys:
        return rows, row, combined([codes(column(rows, name)) for name in keys], count=len(rows))
    row = number_duplicates(row, before.num_rows)
    return rows, row, row


def _in_other(numbers: Ints, split: int) -> Mask:
    """For each row whether its number also occurs in the other state."""
    old, new = numbers[:split], numbers[split:]
    return np.concatenate([np.isin(old, new), np.isin(new, old)])


def number_duplicates(row: Ints, split: int) -> Ints:
    """Numbers duplicates: equal rows of one state get different numbers, the same in both states.

    Args:
        row: one number per row, equal for equal rows.
        split: the index of the first row of the second state.
    """
    copies = np.concatenate([_copies(row[:split]), _copies(row[split:])])
    return combined([row, copies], count=len(row))


def _copies(values: Ints) -> Ints:
    """For each value the number of equal values before it."""
    order = np.argsort(values, kind="stable")
    found = np.empty(len(values), np.int64)
    found[order] = rank_in_group(values[order])
    return found


def _kinds(rows: pa.Table, kept: Mask, kind: int) -> pa.Table:
    selected = rows.take(row_array(np.flatnonzero(kept)))
    kinds = int8_array(np.full(len(selected), kind, np.int8))
    return selected.append_column(pa.field("_VALUE_KIND", pa.int8()), kinds)
