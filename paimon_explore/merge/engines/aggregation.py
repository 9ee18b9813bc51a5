"""The merge engine `aggregation`: every column has a function."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.merge.aggregation_steps import Aggregator, Step, Steps
from paimon_explore.merge.key_records import Merged, Records, RowKind
from paimon_explore.merge.numpy_columns import Int8s, take_or_null


def aggregate(
    records: Records, functions: Mapping[str, Aggregator], *, remove_on_delete: bool
) -> Merged:
    """Merge by aggregate functions.

    -U and -D take a record back, unless `remove_on_delete`: then -D removes the row, and what
    comes after it builds on the values of the -D record (as Java does from 1.4 on).

    Args:
        records: of keys with several records.
        functions: by column; columns without one (the primary key) keep the newest value.
        remove_on_delete: option `aggregation.remove-record-on-delete`.

    Returns:
        A row per key: +I, or -D if its last record removes it; the last record's sequence number.
    """
    removed = np.zeros(len(records.rows), np.bool_)
    if remove_on_delete:
        removed = records.kinds == RowKind.DELETE
    kinds: Int8s | None = None
    if records.retracts.any():
        kinds = np.where(records.retracts, np.int8(Step.RETRACT), np.int8(Step.ADD))
        kinds[removed] = Step.REPLACE
    lasts = records.lasts
    result = np.where(removed[lasts], np.int8(RowKind.DELETE), np.int8(RowKind.INSERT))
    steps = Steps(records.rows, kinds, records.starts)
    column = partial(_column, records, functions, steps)
    return Merged(column, result, records.numbers[lasts])


def _column(
    records: Records, functions: Mapping[str, Aggregator], steps: Steps, name: str
) -> Column:
    values = records.column(name)
    function = functions.get(name)
    if function is None:
        return take_or_null(values, records.rows[records.lasts])
    return function(values, steps)
