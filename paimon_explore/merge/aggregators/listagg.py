"""The aggregate function `listagg`: concatenation of texts."""

from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.collections import combine_results
from paimon_explore.merge.aggregators.group_reduction import (
    fold_steps,
    refuse_retract,
    steps_by_key,
)
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import take_or_null

_BLANK = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009"
    "\u200a\u2028\u2029\u205f\u3000"
)
"""Java's whitespace characters, which differ from Python's."""


def listagg(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """Joins the texts with the delimiter; null and blank texts are ignored."""
    refuse_retract(steps, "listagg")
    filled = _filled(column)
    mixed = steps.groups_with_other_than(Step.ADD)
    known = steps.kept(filled[steps.rows])
    if function.distinct:
        mixed |= known.ends - known.starts > 1
    vectorized = known.of_groups(~mixed)
    texts = _joined(take_or_null(column, vectorized.rows), vectorized, function.list_agg_delimiter)
    add = partial(_added, function)

    def walk(some: Steps) -> Column:
        values = [text if isinstance(text, str) else None for text in nb.as_python(column)]
        walks = [fold_steps(group, values.__getitem__, add) for group in steps_by_key(some)]
        return pa.array(walks, column.type)

    return combine_results(steps, mixed, texts, walk)


def _filled(column: Column) -> Bools:
    """True for texts that are neither null nor blank."""
    trimmed: Column = pc.utf8_trim(column, characters=_BLANK)  # type: ignore[type-var]  # texts
    offsets, _ = nb.var_values(trimmed)
    return (np.diff(offsets)[: len(column)] > 0) & nb.valid_mask(column)


def _joined(texts: Column, steps: Steps, delimiter: str) -> Column:
    ends = np.append(steps.starts, len(steps.rows))
    lists = nb.build_list(pa.list_(texts.type), ends, [texts], np.ones(steps.count, np.bool_))
    joined: Column = pc.binary_join(lists, delimiter)  # type: ignore[assignment]  # texts
    empty = np.flatnonzero(steps.ends == steps.starts)
    if not len(empty):
        return joined
    rows = np.arange(steps.count)
    rows[empty] = -1
    return take_or_null(joined, rows)


def _added(function: AggregateFunction, value: str | None, more: str | None) -> str | None:
    if more is None or not more.strip(_BLANK):
        return value
    if value is None or not value.strip(_BLANK):
        return more
    delimiter = function.list_agg_delimiter
    if not function.distinct:
        return value + delimiter + more
    known = dict.fromkeys(value.split(delimiter or " "))
    fresh = []
    for token in more.split(delimiter or " "):
        if token.strip(_BLANK) and token not in known:
            known[token] = None
            fresh.append(token)
    return delimiter.join([value, *fresh])
