"""Merge of a writer's buffered rows before a flush."""

import numpy as np
import pyarrow as pa

from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import index_array
from paimon_explore.merge.section_merge import (
    Section,
    Task,
    functions_of,
    merge_groups,
    record_groups,
)
from paimon_explore.metadata.manifest.manifest_table import as_array


def sort_rows(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    """Sorts rows by key, sequence fields and sequence number: content of an `input` changelog file.

    Args:
        rows: n rows in any order, with the key columns, the sequence fields, `_SEQUENCE_NUMBER`
            int64 and `_VALUE_KIND` int8, and any others.
        spec: the merge spec; its `columns` are ignored.

    Returns:
        All n rows and all columns of `rows`.
    """
    batch = _one_batch(rows)
    groups = record_groups(Section([batch]), Task(spec=spec, functions={}))
    if (groups.order == np.arange(len(groups.order))).all():
        return batch
    return batch.take(index_array(groups.order))


def merge_sorted(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    """Sorts rows by key and merges equal keys: the content of a level-0 file.

    Args:
        rows: n rows in any order, keys may repeat, with `needed_columns(spec)`, `_SEQUENCE_NUMBER`
            int64 and `_VALUE_KIND` int8.
        spec: the merge spec, for a writer with all columns of the table.

    Returns:
        One row per key, ascending: `spec.columns`, `_SEQUENCE_NUMBER`, `_VALUE_KIND`. Retract
        results are kept, because they delete older rows in other files.

    Raises:
        InvalidInputError: retract records that the engine or a function does not accept.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    task = Task(spec=spec, functions=functions_of(spec), keep_retracts=True)
    section = Section([_one_batch(rows)])
    try:
        return merge_groups(section, task, record_groups(section, task))
    except FormatError as error:
        raise InvalidInputError(error.message, hint=error.hint) from error


def _one_batch(rows: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    arrays = [as_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
