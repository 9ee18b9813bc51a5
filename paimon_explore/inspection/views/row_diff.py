"""Computes the rows that differ between two states of a table.

Tables with a primary key are compared by key, others by whole rows, where duplicates are counted.
Only buckets whose files differ are read.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.array_sizes import check_fits
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, combined
from paimon_explore.read.small_files import read_split
from paimon_explore.read.snapshot_diff import changed_splits, number_duplicates
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.manifest_arrays import column, row_array
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import PlainSplit

ROWKIND = "rowkind"
_KINDS = (("-D", "-U"), ("+I", "+U"))
"""Row kinds by whether the row is new, and whether the other state has a row of its key."""


def row_difference(before: ScanTarget, after: ScanTarget) -> pa.Table:
    """The differing rows: `rowkind` and the columns of the read schema, ordered by key.

    Args:
        before: the old state.
        after: the new state, with the same read schema.

    Raises:
        PaimonError: a file cannot be read.
    """
    plans = [plan_table(state).splits for state in (before, after)]
    keys = after.schema.primary_keys if after.keys is not None else ()
    changed = changed_splits(*plans, whole_buckets=bool(keys))
    old, new = (_rows(after, splits) for splits in changed)
    return difference_of(old, new, keys)


def difference_of(old: pa.Table, new: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """Compare the rows of two states.

    Args:
        old: rows of the old state; unique by key if there are keys.
        new: rows of the new state with the same columns.
        keys: the primary key columns; empty to compare whole rows.
    """
    rows = pa.concat_tables([old, new])
    check_fits(rows, "to compare", "Use between() with where=.")
    rows = rows.combine_chunks()
    split, count = old.num_rows, rows.num_rows
    row = combined([codes(column(rows, name)) for name in rows.column_names], count=count)
    if not keys:  # duplicates are numbered to be distinct
        row = number_duplicates(row, split)
    key = ranks([column(rows, name) for name in keys], count=count) if keys else row
    differs = np.concatenate(
        [~np.isin(row[:split], row[split:]), ~np.isin(row[split:], row[:split])]
    )
    shared = np.concatenate([np.isin(key[:split], key[split:]), np.isin(key[split:], key[:split])])
    indexes = np.flatnonzero(differs)
    order = indexes[np.lexsort((indexes, key[indexes]))]
    kinds = [_KINDS[at >= split][bool(shared[at])] for at in order.tolist()]
    return rows.take(row_array(order)).add_column(
        0, pa.field(ROWKIND, pa.string()), pa.array(kinds, pa.string())
    )


def _rows(target: ScanTarget, splits: Sequence[PlainSplit]) -> pa.Table:
    reader = SplitReader(target=target, columns=target.schema.row_type.names)
    batches = [batch for split in splits for batch in read_split(reader, split)]
    return pa.Table.from_batches(batches, schema=arrow_schema(target.schema.row_type))
