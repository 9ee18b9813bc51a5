"""Reductions over groups of consecutive rows."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints, Numbers
from paimon_explore.errors import FormatError
from paimon_explore.merge.aggregation_steps import Step, Steps

T = TypeVar("T")

_LONG = 64


def first_rows(steps: Steps) -> Ints:
    """Row of each key's first step; -1 where a key has none."""
    return _at(steps, steps.starts)


def last_rows(steps: Steps) -> Ints:
    """Row of each key's last step; -1 where a key has none."""
    return _at(steps, steps.ends - 1)


def _at(steps: Steps, positions: Ints) -> Ints:
    found = np.full(steps.count, -1, np.int64)
    some = steps.ends > steps.starts
    found[some] = steps.rows[positions[some]]
    return found


def since_reset(steps: Steps) -> Steps:
    """The steps since a key's last `REPLACE` or `CLEAR`, with `REPLACE` as `ADD`.

    For functions where adding a record to null results in the record.
    """
    if steps.kinds is None:
        return steps
    resets = (steps.kinds == Step.REPLACE) | (steps.kinds == Step.CLEAR)
    if not resets.any():
        return steps
    positions = np.where(resets, np.arange(len(resets)), -1)
    latest = np.maximum.accumulate(positions)[np.maximum(steps.ends - 1, 0)]
    begins = np.maximum(latest, steps.starts)
    inside = np.arange(len(resets)) >= np.repeat(begins, steps.ends - steps.starts)
    kept = steps.kept(inside & (steps.kinds != Step.CLEAR))
    if kept.kinds is None:
        return kept
    kinds = np.where(kept.kinds == Step.REPLACE, np.int8(Step.ADD), kept.kinds)
    return Steps(kept.rows, kinds, kept.starts)


def steps_by_key(steps: Steps) -> Iterator[Iterator[tuple[Step, int]]]:
    """Iterates over the steps of each key, for results that depend on the order of mixed steps."""
    rows = steps.rows.tolist()
    kinds = [Step.ADD] * len(rows) if steps.kinds is None else list(map(Step, steps.kinds.tolist()))
    for start, end in zip(steps.starts.tolist(), steps.ends.tolist(), strict=True):
        yield zip(kinds[start:end], rows[start:end], strict=True)


def fold_steps(
    group: Iterator[tuple[Step, int]],
    record_of: Callable[[int], T | None],
    add: Callable[[T | None, T | None], T | None],
    take: Callable[[T | None, T | None], T | None] | None = None,
) -> T | None:
    """Process the steps of one key record by record.

    Args:
        group: the steps.
        record_of: returns the value of a row; None for null.
        add: adds a newer value to an older one.
        take: takes a value away; None if no step retracts.
    """
    value: T | None = None
    for step, row in group:
        record = record_of(row)
        if step is Step.ADD:
            value = add(value, record)
        elif step is Step.ADD_REVERSED:
            value = add(record, value)
        elif step is Step.RETRACT and take is not None:
            value = take(value, record)
        else:
            value = record if step is Step.REPLACE else None
    return value


def fold(operation: np.ufunc, values: Numbers, starts: Ints) -> Numbers:
    """Reduces each group from left to right, exactly in that order.

    `reduceat` uses pairwise summation, which rounds floats differently from Java.

    Args:
        operation: a binary operation.
        values: the numbers, group by group.
        starts: the starts of the groups, none of which is empty.
    """
    with np.errstate(all="ignore"):
        return _merge_layers(operation, values, starts)


def _merge_layers(operation: np.ufunc, values: Numbers, starts: Ints) -> Numbers:
    sizes = np.diff(starts, append=len(values))
    by_size = np.argsort(-sizes, kind="stable")
    sorted_sizes = sizes[by_size]
    found = values[starts[by_size]]
    long = int(np.searchsorted(-sorted_sizes, -_LONG))
    for at in range(long):
        begin = int(starts[by_size[at]])
        run = values[begin : begin + int(sorted_sizes[at])]
        found[at] = operation.accumulate(run)[-1]
    rest, rest_sizes = by_size[long:], sorted_sizes[long:]
    for step in range(1, int(rest_sizes[0]) if len(rest) else 0):
        active = int(np.searchsorted(-rest_sizes, -step))
        ahead = values[starts[rest[:active]] + step]
        part = found[long : long + active]
        part[:] = operation(part, ahead)
    result = np.empty_like(found)
    result[by_size] = found
    return result


def refuse_retract(steps: Steps, name: str) -> None:
    """Raises an error for retract steps of a function that does not support them.

    Raises:
        FormatError: there is a retract step.
    """
    if steps.kinds is not None and (steps.kinds == Step.RETRACT).any():
        raise retract_error(name)


def retract_error(name: str) -> FormatError:
    """The error for a retract step of a function that does not support it."""
    return FormatError(
        f"Aggregate function {name!r} cannot retract values, "
        "but the data contains deletions (-D) or old values of updates (-U).",
        hint="Set the table option fields.<column>.ignore-retract = true to ignore them; the "
        "values that they would take away remain in the result.",
    )
