"""What differs between two states of a primary-key table, by key.

Only buckets whose files differ are read, both states merged, and compared. A key that is new or has
another row gives its new row as +I, a key that is gone its old row as -D.
Spec: `incremental-between-scan-mode=diff`. Seen with the official Java 2.0.0.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import as_python, build_fixed
from paimon_explore.merge.equality import codes, combined
from paimon_explore.scan.frames import Mask, column, numbers, row_array
from paimon_explore.scan.split import DataSplit, Split

_INSERT, _DELETE = 0, 3


def changed_splits(
    before: Sequence[Split], after: Sequence[Split]
) -> tuple[list[Split], list[Split]]:
    """The splits of both states in buckets that do not have the same files."""
    old, new = _files(before), _files(after)
    same = {bucket for bucket, files in old.items() if new.get(bucket) == files}
    return (
        [split for split in before if _bucket(split) not in same],
        [split for split in after if _bucket(split) not in same],
    )


def _bucket(split: Split) -> tuple[bytes, int]:
    return split.partition, split.bucket if isinstance(split, DataSplit) else -1


def _files(splits: Sequence[Split]) -> dict[tuple[bytes, int], frozenset[object]]:
    """Per bucket its files with level and deletion vector."""
    found: dict[tuple[bytes, int], frozenset[object]] = {}
    for split in splits:
        table = split.files.table
        names = map(str, as_python(column(table, "file_name")))
        levels = numbers(table, "level").tolist()
        vectors = split.deletion_files if isinstance(split, DataSplit) else {}
        files = frozenset(
            (n, level, vectors.get(n)) for n, level in zip(names, levels, strict=True)
        )
        bucket = _bucket(split)
        found[bucket] = found.get(bucket, frozenset()) | files
    return found


def difference(before: pa.Table, after: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Rows that differ, with the column `_VALUE_KIND` behind the others.

    Args:
        before: the old rows, each key once.
        after: the new rows, each key once, same columns.
        keys: names of the primary key's columns, partition columns included.
    """
    rows = pa.concat_tables([before, after]).combine_chunks()
    split = before.num_rows
    key = combined([codes(column(rows, name)) for name in keys], count=len(rows))
    row = combined([codes(column(rows, name)) for name in rows.column_names], count=len(rows))
    gone = ~np.isin(key[:split], key[split:])
    fresh = ~np.isin(row[split:], row[:split])
    return pa.concat_tables([_kinds(before, gone, _DELETE), _kinds(after, fresh, _INSERT)])


def _kinds(rows: pa.Table, kept: Mask, kind: int) -> pa.Table:
    chosen = rows.take(row_array(np.flatnonzero(kept)))
    kinds = build_fixed(
        pa.int8(), np.full(len(chosen), kind, np.int8), np.ones(len(chosen), np.bool_)
    )
    return chosen.append_column(pa.field("_VALUE_KIND", pa.int8()), kinds)
