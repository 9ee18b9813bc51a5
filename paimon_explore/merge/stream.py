"""The merge of sorted runs in bounded memory.

Theory of operation. Every run comes in batches sorted by key. Of each run some batches are held.
The smallest of the last keys held is a pivot: no run can still bring a row at or below it, so all
held rows up to the pivot form a piece that is complete for its keys. The piece is merged, the rest
is kept, runs that hold little are filled up again. Memory: about two batches per run.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.merge.spec import MergeSpec


def merge_runs(
    runs: Sequence[Iterator[pa.RecordBatch]],
    spec: MergeSpec,
    *,
    keep_retracts: bool = False,
    by_run_order: bool = False,
    key_order: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Merge the sorted runs of one section of one bucket.

    A run is a sequence of batches, ascending by key over all of them, each key at most once. A
    level-0 file is a run of its own. Batches carry `needed_columns(spec)` (more do no harm, any
    order), key columns under their own names, in the types of `to_arrow`; and

    - `_SEQUENCE_NUMBER` int64, unless `by_run_order`;
    - `_VALUE_KIND` int8. A run may go without it if it holds no -U and no -D record, which manifest
      entries tell (`delete_row_count`); its records then count as +I.

    Args:
        runs: from the oldest to the newest; only `by_run_order` and records of equal sequence
            numbers depend on the order of runs. May be empty.
        spec: the merge.
        keep_retracts: results that are -D or -U are kept too, and every batch ends with
            `_SEQUENCE_NUMBER` and `_VALUE_KIND` (compaction, audit log). A key with one record keeps
            its kind. False: only rows that exist, only the wanted columns.
        by_run_order: the caller knows (from the manifest) that every record of a later run is newer
            than all of the runs before it: sequence numbers are neither needed nor looked at. Not
            with `keep_retracts`, which needs them for the result.
        key_order: rows come in key order. False: any order within a piece of the merge, which is
            faster for deduplicate and first-row.

    Yields:
        Batches of `spec.columns` (and the two system columns with `keep_retracts`), none empty, of
        any length.

    Raises:
        FormatError: retract records that the engine does not accept, or a function does not.
        UnsupportedFeatureError: a function that needs an optional package.
    """
    raise NotImplementedError((runs, spec, keep_retracts, by_run_order, key_order))
