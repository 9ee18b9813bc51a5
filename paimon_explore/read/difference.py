"""What differs between two states of a table: by key, or by whole rows where there is no key.

Only buckets whose files differ are read, both states merged, and compared. A key that is new or has
another row gives its new row as +I, a key that is gone its old row as -D. Without keys only files
that are not in both states are read, and a row is there as often as it was written: what a
compaction put into other files does not differ.
Spec: `incremental-between-scan-mode=diff`. Seen with the official Java 2.0.0, which has no -D in
batch reads, and takes rows that a compaction moved for new ones in tables without keys.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import Ints, as_python, build_fixed
from paimon_explore.merge.equality import codes, combined, rank_in_group
from paimon_explore.scan.frames import Mask, column, numbers, row_array
from paimon_explore.scan.split import DataSplit, Split

_INSERT, _DELETE = 0, 3


def changed_splits(
    before: Sequence[Split], after: Sequence[Split], *, whole_buckets: bool = True
) -> tuple[list[Split], list[Split]]:
    """The splits of both states in buckets that do not have the same files.

    Args:
        before: of the old state.
        after: of the new state.
        whole_buckets: keep all files of these, because they are merged; else leave out the files
            that are in both states.
    """
    old, new = _files(before), _files(after)
    same = {bucket for bucket, files in old.items() if new.get(bucket) == files}
    changed = [[s for s in splits if _bucket(s) not in same] for splits in (before, after)]
    if not whole_buckets:
        changed = [
            [rest for s in splits if (rest := _without(s, other.get(_bucket(s), frozenset())))]
            for splits, other in zip(changed, (new, old), strict=True)
        ]
    return changed[0], changed[1]


def _without(split: Split, files: frozenset[object]) -> Split | None:
    """A split without these files, unless they hold columns of the same rows as others."""
    if not isinstance(split, DataSplit) or split.same_rows:
        return split
    kept = np.flatnonzero([file not in files for file in _files_of(split)])
    if len(kept) == split.count:
        return split
    return split.only(kept) if len(kept) else None


def _bucket(split: Split) -> tuple[bytes, int]:
    return split.partition, split.bucket if isinstance(split, DataSplit) else -1


def _files(splits: Sequence[Split]) -> dict[tuple[bytes, int], frozenset[object]]:
    """Per bucket its files with level and deletion vector."""
    found: dict[tuple[bytes, int], frozenset[object]] = {}
    for split in splits:
        bucket = _bucket(split)
        found[bucket] = found.get(bucket, frozenset()) | frozenset(_files_of(split))
    return found


def _files_of(split: Split) -> list[object]:
    table = split.files.table
    names = map(str, as_python(column(table, "file_name")))
    levels = numbers(table, "level").tolist()
    vectors = split.deletion_files if isinstance(split, DataSplit) else {}
    return [(n, level, vectors.get(n)) for n, level in zip(names, levels, strict=True)]


def difference(before: pa.Table, after: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Rows that differ, with the column `_VALUE_KIND` behind the others.

    Args:
        before: the old rows, with keys each key once.
        after: the new rows, likewise, same columns.
        keys: names of the primary key's columns, partition columns included; none to compare
            whole rows, of which a state may hold several that are equal.
    """
    rows = pa.concat_tables([before, after]).combine_chunks()
    split = before.num_rows
    row = combined([codes(column(rows, name)) for name in rows.column_names], count=len(rows))
    if keys:
        key = combined([codes(column(rows, name)) for name in keys], count=len(rows))
    else:
        key = row = told_apart(row, split)
    gone = ~np.isin(key[:split], key[split:])
    fresh = ~np.isin(row[split:], row[:split])
    return pa.concat_tables([_kinds(before, gone, _DELETE), _kinds(after, fresh, _INSERT)])


def told_apart(row: Ints, split: int) -> Ints:
    """Numbers of rows such that equal ones of a state have different numbers, the same in both.

    Args:
        row: one number per row, the same for equal ones.
        split: where the rows of the second state begin.
    """
    copies = np.concatenate([_copies(row[:split]), _copies(row[split:])])
    return combined([row, copies], count=len(row))


def _copies(values: Ints) -> Ints:
    """For each value how many equal ones come before it."""
    order = np.argsort(values, kind="stable")
    found = np.empty(len(values), np.int64)
    found[order] = rank_in_group(values[order])
    return found


def _kinds(rows: pa.Table, kept: Mask, kind: int) -> pa.Table:
    chosen = rows.take(row_array(np.flatnonzero(kept)))
    kinds = build_fixed(
        pa.int8(), np.full(len(chosen), kind, np.int8), np.ones(len(chosen), np.bool_)
    )
    return chosen.append_column(pa.field("_VALUE_KIND", pa.int8()), kinds)
