"""The merge engine `aggregation`: every column has an aggregate function."""

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
    """Merges records by aggregate functions.

    -U and -D retract a record. With `remove_on_delete`, -D removes the row instead, and later
    records are aggregated onto the values of the -D record (as in Java since 1.4).

    Args:
        records: of keys with several records.
        functions: by column; columns without one (the primary key) keep the newest value.
        remove_on_delete: option `aggregation.remove-record-on-delete`.

    Returns:
        A row per key with the sequence number of its last record: +I, or -D if that record removes
        the row.
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
