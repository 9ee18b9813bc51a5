"""Filters record batches by a predicate."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import bool_values, valid_mask
from paimon_explore.data_types.definitions import RowType
from paimon_explore.scan.predicate.expression import TRUE, Expression

_MAX_SLICE_SHARE = 0.5
"""Share of matching rows of a batch above which they may be returned as a slice of it."""


def filter_batches(
    batches: Iterator[pa.RecordBatch], predicate: Expression, row_type: RowType, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """Filters batches and selects columns.

    Args:
        batches: with the columns of the predicate and of the result.
        predicate: bound to the row type.
        row_type: the columns of the table.
        names: the columns of the result.
    """
    if predicate == TRUE:
        return (batch.select(names) for batch in batches if batch.num_rows)
    return _matching(batches, predicate, row_type, names)


def _matching(
    batches: Iterator[pa.RecordBatch], predicate: Expression, row_type: RowType, names: list[str]
) -> Iterator[pa.RecordBatch]:
    from paimon_explore.scan.predicate.evaluator import evaluate  # noqa: PLC0415 - there is a predicate

    for batch in batches:
        truth: pa.BooleanArray = evaluate(predicate, batch, row_type)  # type: ignore[assignment]  # of a batch, an array
        count = truth.true_count
        if count:
            # Select columns before filtering; a batch without columns would lose its row count.
            kept = _true_rows(batch.select(names) if names else batch, truth, count)
            yield kept.select(names)


def _true_rows(batch: pa.RecordBatch, truth: pa.BooleanArray, count: int) -> pa.RecordBatch:
    """The rows for which `truth` is true; a slice if they are many and consecutive."""
    if count > batch.num_rows * _MAX_SLICE_SHARE:
        first = int(np.argmax(bool_values(truth) & valid_mask(truth)))
        if truth.slice(first, count).true_count == count:
            return batch.slice(first, count)
    return pc.call_function("filter", [batch, truth])  # type: ignore[no-any-return]  # in stubs
