"""Merge of unsorted rows: a writer's buffered rows before a flush, and postponed records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.errors import FormatError, InvalidInputError
from paimon_explore.merge.key_records import RowKind
from paimon_explore.merge.merge_spec import (
    SEQUENCE_NUMBER,
    VALUE_KIND,
    MergeSpec,
    needed_columns,
)
from paimon_explore.merge.numpy_columns import index_array, int8_array, int64_array, ints_of
from paimon_explore.merge.section_merge import (
    Section,
    Task,
    functions_of,
    merge_groups,
    record_groups,
)
from paimon_explore.merge.sort_merge import merge_runs
from paimon_explore.metadata.manifest.manifest_table import as_array

_BLOCK_BYTES = 256 << 20
"""Maximum bytes of records that are sorted at a time."""


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
    try:
        return _merged(rows, spec)
    except FormatError as error:
        raise InvalidInputError(error.message, hint=error.hint) from error


def _merged(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    task = Task(spec=spec, functions=functions_of(spec), keep_retracts=True)
    section = Section([_one_batch(rows)])
    return merge_groups(section, task, record_groups(section, task))


def merge_as_written(
    batches: Iterable[pa.RecordBatch], spec: MergeSpec
) -> Iterator[pa.RecordBatch]:
    """Merges records in the order in which they were written; all are kept in memory.

    Args:
        batches: the records, with `needed_columns(spec)` and `_VALUE_KIND` int8.
        spec: the merge spec.

    Yields:
        Batches with one row per key, ascending: `spec.columns`, `_SEQUENCE_NUMBER`, `_VALUE_KIND`.

    Raises:
        FormatError: retract records that the engine or a function does not accept.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    runs: list[pa.RecordBatch] = []
    block: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        size += batch.nbytes
        if block and size > _BLOCK_BYTES:
            runs.append(_merged(pa.Table.from_batches(block), spec))
            block, size = [], batch.nbytes
        numbers = int64_array(np.arange(count, count + batch.num_rows))
        block.append(batch.append_column(SEQUENCE_NUMBER, numbers))
        count += batch.num_rows
    if block:
        runs.append(_merged(pa.Table.from_batches(block), spec))
    return merge_runs([iter([run]) for run in runs], spec, keep_retracts=True)


def merge_sorted_buckets(buckets: Sequence[pa.Table], spec: MergeSpec) -> list[pa.RecordBatch]:
    """Merges the rows of several buckets at once, which is faster for few rows per bucket.

    Args:
        buckets: for each bucket rows as for `merge_sorted`, at least one.
        spec: as for `merge_sorted`.

    Returns:
        For each bucket the result of `merge_sorted`, followed by further columns.

    Raises:
        InvalidInputError, UnsupportedFeatureError: as for `merge_sorted`.
    """
    rows = _one_batch(pa.concat_tables(buckets))
    name = "_BUCKET"
    while name in rows.schema.names:
        name += "_"
    numbers = np.repeat(np.arange(len(buckets)), [bucket.num_rows for bucket in buckets])
    rows = rows.append_column(pa.field(name, pa.int64(), nullable=False), int64_array(numbers))
    both = replace(spec, keys=(name, *spec.keys), columns=(*spec.columns, name))
    merged = merge_sorted(rows, both)
    sizes = np.bincount(ints_of(merged.column(name)), minlength=len(buckets))
    starts = (np.cumsum(sizes) - sizes).tolist()
    return [merged.slice(start, size) for start, size in zip(starts, sizes.tolist(), strict=True)]


def check_row_kind(spec: MergeSpec, rows: pa.RecordBatch, kind: int) -> None:
    """Check that records of a row kind can be merged with older records of their keys.

    A record is merged when its key has another record, which may be long after it was written.
    What cannot be merged then would make the table unreadable, so the merge is tried before: an
    insert followed by a record of the kind, both of null values but for sequence groups, which
    ignore a record whose sequence fields are null.

    Args:
        spec: the merge spec, for a writer with all columns of the table.
        rows: rows to write, for the types of their columns and for values of sequence groups.
        kind: the row kind, 0 to 3.

    Raises:
        InvalidInputError: the engine or an aggregate function does not accept the kind.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    names = needed_columns(spec)
    ordering = {name for group in spec.sequence_groups for name in group.ordering}
    columns = [_twice(rows.column(name), known=name in ordering) for name in names]
    columns += [int64_array(np.arange(2)), int8_array(np.array([RowKind.INSERT, kind], np.int8))]
    merge_sorted(pa.RecordBatch.from_arrays(columns, [*names, SEQUENCE_NUMBER, VALUE_KIND]), spec)


def _twice(column: Column, *, known: bool) -> Column:
    """Two nulls, or the first value that is not null, twice."""
    if known and len(found := column.drop_null()):
        return found.take(index_array(np.zeros(2, np.int64)))
    return pa.array([None, None], column.type)


def _one_batch(rows: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    arrays = [as_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
