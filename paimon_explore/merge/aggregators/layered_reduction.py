"""Aggregate functions over record layers (sorted runs in age order) with only add steps.

Each function returns the same as the function of that name in the other modules for `ADD` steps.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column
from paimon_explore.merge.aggregators.first_last_min_max import comparable
from paimon_explore.merge.aggregators.sum_product_count import in_range
from paimon_explore.merge.numpy_columns import ints_of, nulls_mask, take_or_null
from paimon_explore.merge.record_layers import RecordLayers

Layered: TypeAlias = Callable[[Column, RecordLayers], "Column | None"]
"""Computes one value per key; None if the function does not support layers for these values."""

_SAFE_TOTAL = 1 << 62


def last_value(column: Column, layers: RecordLayers) -> Column:
    """The newest value, including null."""
    return take_or_null(column, layers.newest)


def last_non_null_value(column: Column, layers: RecordLayers) -> Column:
    """The newest value that is not null."""
    known = nulls_mask(column)
    return take_or_null(column, layers.newest if known is None else layers.last(known))


def first_value(column: Column, layers: RecordLayers) -> Column:
    """The oldest value, including null."""
    return take_or_null(column, layers.oldest)


def first_non_null_value(column: Column, layers: RecordLayers) -> Column:
    """The oldest value that is not null."""
    known = nulls_mask(column)
    return take_or_null(column, layers.oldest if known is None else layers.first(known))


def _extreme(better: np.ufunc, column: Column, layers: RecordLayers) -> Column:
    known = nulls_mask(column)
    ordered = _ordered(column, known)
    selected = layers.oldest.copy() if known is None else layers.first(known)
    best = ordered.take(
        selected
    )  # for keys without a value an arbitrary one, which is never compared
    for numbers, rows in islice(layers.steps(known), 1, None):
        ours = ordered[rows[0] : rows[-1] + 1] if known is None else ordered.take(rows)
        some = np.flatnonzero(better(ours, best.take(numbers)))
        at = numbers.take(some)
        best[at] = ours.take(some)
        selected[at] = rows.take(some)
    return take_or_null(column, selected)


def _ordered(column: Column, known: Bools | None) -> "nb.Numbers":
    """A number per value that sorts like the values; arbitrary for null."""
    if known is None:
        return comparable(column)
    rows = np.flatnonzero(known)
    found = comparable(take_or_null(column, rows))
    ordered = np.zeros(len(known), found.dtype)
    ordered[rows] = found
    return ordered


def total(column: Column, layers: RecordLayers) -> "Column | None":
    """Sum from the oldest to the newest; None if a sum may overflow 64 bits."""
    kind = column.type
    if not (pat.is_integer(kind) or pat.is_floating(kind)):
        return None
    known = nulls_mask(column)
    numbers = ints_of(column)
    if pat.is_floating(kind):
        numbers = numbers.view(f"f{numbers.itemsize}")
        found = np.full(layers.count, -0.0, numbers.dtype)  # -0.0 + x is x, also for -0.0
    else:
        values = numbers if known is None else numbers[known]
        reach = max(-int(values.min(initial=0)), int(values.max(initial=0)))
        if reach * len(layers) >= _SAFE_TOTAL:
            return None
        found = np.zeros(layers.count, np.int64)
    some = np.zeros(layers.count, np.bool_)
    with np.errstate(all="ignore"):
        for keys, rows in layers.steps(known):
            found[keys] += numbers[rows[0] : rows[-1] + 1] if known is None else numbers.take(rows)
            some[keys] = True
    narrow = in_range(found, kind) if pat.is_integer(kind) else found
    return nb.build_fixed(kind, narrow, some)


LAYERED: Mapping[str, Layered] = {
    "last_value": last_value,
    "last_non_null_value": last_non_null_value,
    "first_value": first_value,
    "first_non_null_value": first_non_null_value,
    "first_not_null_value": first_non_null_value,
    "max": partial(_extreme, np.greater),
    "min": partial(_extreme, np.less),
    "bool_or": partial(_extreme, np.greater),
    "bool_and": partial(_extreme, np.less),
    "sum": total,
}
"""Functions by their names in Paimon."""
