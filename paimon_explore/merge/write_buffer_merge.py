"""The merge of rows that are all at hand: what a writer buffered before it flushes."""

import numpy as np
import pyarrow as pa

from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import index_array, one_array
from paimon_explore.merge.section_merge import (
    Piece,
    Task,
    functions_of,
    merge_groups,
    record_groups,
)


def sort_rows(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    """The same rows by key, then sequence fields, then sequence number: an `input` changelog file.

    Args:
        rows: n rows in any order, with the key columns, the sequence fields, `_SEQUENCE_NUMBER`
            int64 and `_VALUE_KIND` int8, and any others.
        spec: the merge; its `columns` do not matter.

    Returns:
        All n rows and all columns of `rows`.
    """
    batch = _one_batch(rows)
    groups = record_groups(Piece([batch]), Task(spec=spec, functions={}))
    if (groups.order == np.arange(len(groups.order))).all():
        return batch
    return batch.take(index_array(groups.order))


def merge_sorted(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    """Sort rows by key and merge those of equal keys: the content of a level-0 file.

    Args:
        rows: n rows in any order, keys may repeat, with `needed_columns(spec)`, `_SEQUENCE_NUMBER`
            int64 and `_VALUE_KIND` int8.
        spec: the merge, with all columns of the table for a writer.

    Returns:
        One row per key, ascending: `spec.columns`, `_SEQUENCE_NUMBER`, `_VALUE_KIND`. Retract
        results are kept: they hide older rows in other files.

    Raises:
        InvalidInputError: retract records that the engine or a function does not accept.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    task = Task(spec=spec, functions=functions_of(spec), keep_retracts=True)
    piece = Piece([_one_batch(rows)])
    try:
        return merge_groups(piece, task, record_groups(piece, task))
    except FormatError as error:
        raise InvalidInputError(error.message, hint=error.hint) from error


def _one_batch(rows: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    arrays = [one_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
