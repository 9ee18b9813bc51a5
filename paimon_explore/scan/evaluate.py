"""Predicates on rows."""

import pyarrow as pa

from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import RowType


def evaluate(
    expr: Expression, batch: pa.RecordBatch | pa.Table, row_type: RowType
) -> pa.BooleanArray | pa.ChunkedArray:
    """Truth of a bound predicate for each row.

    Args:
        expr: bound to `row_type`.
        batch: n rows; holds at least the columns that `expr` reads, in their Arrow types.
        row_type: the columns' types; may list more.

    Returns:
        n values, null where the predicate is unknown; `batch.filter` of it keeps the true rows.
        An array for a RecordBatch, a chunked array for a Table.
    """
    ...
