"""The merge of rows that are all at hand: what a writer buffered before it flushes."""

import pyarrow as pa

from paimon_explore.merge.spec import MergeSpec


def sort_rows(rows: pa.Table | pa.RecordBatch, spec: MergeSpec) -> pa.RecordBatch:
    """The same rows by key, then sequence fields, then sequence number: an `input` changelog file.

    Args:
        rows: n rows in any order, with the key columns, the sequence fields, `_SEQUENCE_NUMBER`
            int64 and `_VALUE_KIND` int8, and any others.
        spec: the merge; its `columns` do not matter.

    Returns:
        All n rows and all columns of `rows`.
    """
    raise NotImplementedError((rows, spec))


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
    raise NotImplementedError((rows, spec))
