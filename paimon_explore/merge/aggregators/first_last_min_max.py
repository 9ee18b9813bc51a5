"""Aggregate functions that select one of the values: first, last, max, min."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.group_reduction import (
    first_rows,
    last_rows,
    refuse_retract,
    retract_error,
    since_reset,
    steps_by_key,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.normalized_keys import normalized_keys
from paimon_explore.merge.numpy_columns import Keys, take_or_null

_NONE = -1

Walk: TypeAlias = Callable[[Iterator[tuple[Step, int]], Bools], int]


def last_value(column: Column, steps: Steps) -> Column:
    """The newest value, including null; a retract makes it null."""
    if steps.kinds is None:
        return take_or_null(column, last_rows(steps))
    steps = steps.kept(steps.kinds != Step.ADD_REVERSED)
    return take_or_null(column, _last_or_null(steps))


def last_non_null_value(column: Column, steps: Steps) -> Column:
    """The newest value that is not null; a retract of a value makes it null."""
    valid = nb.valid_mask(column)[steps.rows]
    if steps.kinds is None:
        return take_or_null(column, last_rows(steps.kept(valid)))
    mixed = steps.groups_with(steps.kinds == Step.ADD_REVERSED)
    resets = (steps.kinds == Step.REPLACE) | (steps.kinds == Step.CLEAR)
    vectorized = steps.kept(valid | resets).of_groups(~mixed)
    selected = np.empty(steps.count, np.int64)
    selected[~mixed] = _last_or_null(vectorized)
    selected[mixed] = _walk(_walk_last_non_null, column, steps.of_groups(mixed))
    return take_or_null(column, selected)


def first_value(column: Column, steps: Steps) -> Column:
    """The oldest value, including null."""
    refuse_retract(steps, "first_value")
    return take_or_null(column, _first(column, steps, steps, _walk_first))


def first_non_null_value(column: Column, steps: Steps) -> Column:
    """The oldest value that is not null."""
    refuse_retract(steps, "first_non_null_value")
    known = steps.kept(nb.valid_mask(column)[steps.rows])
    return take_or_null(column, _first(column, steps, known, _walk_first_non_null))


def greatest(column: Column, steps: Steps) -> Column:
    """The greatest value; for booleans, whether any is true."""
    return _extreme(column, steps, np.maximum, "max")


def smallest(column: Column, steps: Steps) -> Column:
    """The smallest value; for booleans, whether all are true."""
    return _extreme(column, steps, np.minimum, "min")


def _last_or_null(steps: Steps) -> Ints:
    """Row of the last step; -1 if that step results in null."""
    if steps.kinds is None:
        return last_rows(steps)
    gives = (steps.kinds == Step.ADD) | (steps.kinds == Step.REPLACE)
    return last_rows(Steps(np.where(gives, steps.rows, _NONE), steps.kinds, steps.starts))


def _first(column: Column, steps: Steps, known: Steps, walk: Walk) -> Ints:
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = np.empty(steps.count, np.int64)
    selected[~mixed] = first_rows(known.of_groups(~mixed))
    selected[mixed] = _walk(walk, column, steps.of_groups(mixed))
    return selected


def _extreme(column: Column, steps: Steps, better: np.ufunc, name: str) -> Column:
    refuse_retract(steps, name)
    steps = since_reset(steps)
    steps = steps.kept(nb.valid_mask(column)[steps.rows])
    some = steps.ends > steps.starts
    selected = np.full(steps.count, _NONE, np.int64)
    if some.any():
        ordered = comparable(take_or_null(column, steps.rows))
        best = better.reduceat(ordered, steps.starts[some])
        sizes = (steps.ends - steps.starts)[some]
        selected[some] = first_rows(steps.of_groups(some).kept(ordered == np.repeat(best, sizes)))
    return take_or_null(column, selected)


def comparable(values: Column) -> Keys:
    """A number per value that sorts like the values."""
    ordered = list(normalized_keys(values))
    return ordered[0](None) if len(ordered) == 1 else ranks([values], count=len(values))


# ---------------------------------------------------------------- record by record


def _walk(walk: Walk, column: Column, steps: Steps) -> Ints:
    valid = nb.valid_mask(column)
    found = (walk(group, valid) for group in steps_by_key(steps))
    return np.fromiter(found, np.int64, count=steps.count)


def _walk_last_non_null(group: Iterator[tuple[Step, int]], valid: Bools) -> int:
    row = _NONE
    for step, at in group:
        match step:
            case Step.ADD:
                row = at if valid[at] else row
            case Step.ADD_REVERSED:
                row = at if row == _NONE or not valid[row] else row
            case Step.RETRACT:
                row = _NONE if valid[at] else row
            case Step.REPLACE:
                row = at
            case Step.CLEAR:
                row = _NONE
    return row


@dataclass(slots=True)
class _Started:
    """Whether the aggregator has a value; as in Java, it is kept when the row is replaced."""

    value: bool = False


def _walk_first(group: Iterator[tuple[Step, int]], valid: Bools) -> int:
    del valid
    row, started = _NONE, _Started()
    for step, at in group:
        row = _first_step(row, step, at, started)
    return row


def _first_step(row: int, step: Step, at: int, started: _Started) -> int:
    match step:
        case Step.ADD:
            row, started.value = (row if started.value else at), True
        case Step.ADD_REVERSED:
            row, started.value = (at if started.value else row), True
        case Step.REPLACE:
            row = at
        case Step.CLEAR:
            row = _NONE
        case Step.RETRACT:
            raise retract_error("first_value")
    return row


def _walk_first_non_null(group: Iterator[tuple[Step, int]], valid: Bools) -> int:
    row, started = _NONE, _Started()
    for step, at in group:
        if step is Step.ADD and not valid[at]:
            continue
        known = row != _NONE and bool(valid[row])
        # Java replaces null by an older record without recording that there is a first value
        fills = step is Step.ADD_REVERSED and not known
        row = at if fills else _first_step(row, step, at, started)
    return row
