"""Upserts of append tables: the merge that the option `upsert-key` describes.

As in Paimon's Spark connector, null is a key like any other. With `sequence.field` only the row
with the highest sequence of each key is merged, and it replaces rows of the table whose sequences
are not higher.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.array_sizes import check_fits, taken
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import RowType
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET
from paimon_explore.maintenance.row_level.merge_clauses import Clause, ClauseKind
from paimon_explore.maintenance.row_level.merge_into import PARTS, MergeSpec
from paimon_explore.maintenance.row_level.merge_join import hashable
from paimon_explore.merge.keys.key_groups import group_tied_rows
from paimon_explore.merge.keys.normalized_keys import normalized_keys
from paimon_explore.metadata.options.table_options import SEQUENCE_FIELD, UPSERT_KEY, TableOptions
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    conjunction,
)
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows


def upsert_merge(data: Rows, row_type: RowType, options: TableOptions) -> MergeSpec:
    """Return the merge of rows into a table with an upsert key.

    Args:
        data: the rows.
        row_type: the table's columns; those that the rows lack get their default values, or null.
        options: effective options, with `upsert-key`.

    Raises:
        InvalidInputError: a value does not fit its column.
    """
    keys, sequence = options.value(UPSERT_KEY), options.value(SEQUENCE_FIELD)
    batches = open_rows(data, InputShape(row_type=row_type))
    rows = pa.Table.from_batches(batches, arrow_schema(row_type))
    check_fits(rows, "for one merge", PARTS)
    newer = conjunction(_compared(CompareOp.LE, name) for name in sequence)
    return MergeSpec(
        source=_newest(rows, keys, sequence) if sequence and rows.num_rows else rows,
        on=conjunction(_compared(CompareOp.SAME, name) for name in keys),
        clauses=(
            Clause(kind=ClauseKind.MATCHED, condition=newer, all_columns=True),
            Clause(kind=ClauseKind.NOT_MATCHED, all_columns=True),
        ),
    )


def _compared(op: CompareOp, name: str) -> Expression:
    return Compare(op=op, left=Column(path=(TARGET, name)), right=Column(path=(SOURCE, name)))


def _newest(rows: pa.Table, keys: tuple[str, ...], sequence: tuple[str, ...]) -> pa.Table:
    """Return of each key the first row with the highest sequence; null is the lowest."""
    (backwards,) = taken(rows.to_batches(), np.arange(rows.num_rows)[::-1])
    within = [key for name in sequence for key in normalized_keys(backwards.column(name))]
    columns = [hashable(backwards.column(name)) for name in keys]
    groups = group_tied_rows(columns, within, count=rows.num_rows)[0]
    return pa.Table.from_batches([backwards.take(np.sort(groups.order[groups.lasts])[::-1])])
