"""Filters record batches by a predicate, and replaces their partition columns."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import bool_values, take_rows, valid_mask
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.scan.manifest_arrays import byte_array
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


def in_partition(batch: pa.RecordBatch, row_type: RowType, partition: bytes) -> pa.RecordBatch:
    """Replaces the partition columns of a batch, of a row type, by the values of a partition."""
    types = [wanted.type for wanted in row_type]
    values = decode_rows(byte_array([partition]), types, where="_PARTITION")
    for wanted, value in zip(row_type, values, strict=True):
        at = batch.schema.get_field_index(wanted.name)
        if at >= 0:
            column = take_rows(value, np.zeros(batch.num_rows, np.int64))
            batch = batch.set_column(at, batch.schema.field(at), column)
    return batch
