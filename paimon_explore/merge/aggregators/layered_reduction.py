"""Functions that work layer by layer, where records come in layers and only add.

Each gives what its namesake in the sibling modules gives for steps that all add.
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
from paimon_explore.merge.record_layers import Layers

Layered: TypeAlias = Callable[[Column, Layers], "Column | None"]
"""One value per key; None where it cannot be told in this way."""

_SAFE_TOTAL = 1 << 62


def last_value(column: Column, layers: Layers) -> Column:
    """The newest value, null or not."""
    return take_or_null(column, layers.newest)


def last_non_null_value(column: Column, layers: Layers) -> Column:
    """The newest value that is not null."""
    known = nulls_mask(column)
    return take_or_null(column, layers.newest if known is None else layers.last(known))


def first_value(column: Column, layers: Layers) -> Column:
    """The oldest value, null or not."""
    return take_or_null(column, layers.oldest)


def first_non_null_value(column: Column, layers: Layers) -> Column:
    """The oldest value that is not null."""
    known = nulls_mask(column)
    return take_or_null(column, layers.oldest if known is None else layers.first(known))


def _extreme(better: np.ufunc, column: Column, layers: Layers) -> Column:
    known = nulls_mask(column)
    words = _words(column, known)
    chosen = layers.oldest.copy() if known is None else layers.first(known)
    best = words.take(chosen)  # of keys without a value the last word, which nothing is compared to
    for numbers, rows in islice(layers.steps(known), 1, None):
        ours = words[rows[0] : rows[-1] + 1] if known is None else words.take(rows)
        some = np.flatnonzero(better(ours, best.take(numbers)))
        at = numbers.take(some)
        best[at] = ours.take(some)
        chosen[at] = rows.take(some)
    return take_or_null(column, chosen)


def _words(column: Column, known: Bools | None) -> "nb.Numbers":
    """A number per value in the order of values; of null ones anything."""
    if known is None:
        return comparable(column)
    rows = np.flatnonzero(known)
    found = comparable(take_or_null(column, rows))
    words = np.zeros(len(known), found.dtype)
    words[rows] = found
    return words


def total(column: Column, layers: Layers) -> "Column | None":
    """Sum, added from the oldest on; only of numbers that cannot leave 64 bits on the way."""
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
"""By the functions' names in Paimon."""
