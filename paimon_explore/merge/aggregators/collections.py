"""Elements of list and map columns, for aggregate functions that merge elements.

The aggregate function `collect`: concatenation of arrays.

The aggregate functions `merge_map` and `merge_map_with_keytime`.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, concat_arrays
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.group_reduction import (
    fold_steps,
    refuse_retract,
    since_reset,
    steps_by_key,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, last_of_each
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import child_of, field_of, index_array, take_or_null


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of a list or map column.

    Attributes:
        values: all elements; for a map structs of key and value.
        begins: per row the index of its first element in `values`.
        ends: per row the index after its last element.
        valid: per row whether the list is not null.
    """

    values: Column
    begins: Ints
    ends: Ints
    valid: Bools

    def indices(self, row: int) -> range:
        """Indices of a row's elements."""
        return range(int(self.begins[row]), int(self.ends[row]))

    def listed(self, row: int) -> list[int] | None:
        """Indices of a row's elements; None if the row is null."""
        return list(self.indices(row)) if self.valid[row] else None


def elements_of(column: Column) -> Elements:
    """Returns the elements of a list or map column."""
    offsets = nb.list_offsets(column)
    known = nb.valid_mask(column)
    begins = offsets[: len(column)]
    ends = np.where(known, offsets[1 : len(column) + 1], begins)
    return Elements(child_of(column), begins, ends, known)


@dataclass(frozen=True, slots=True)
class SelectedElements:
    """Elements selected for g keys.

    Attributes:
        groups: for each selected element the number of its key, ascending.
        indices: for each selected element its index in `Elements.values`.
        valid: for each key whether its list is not null.
    """

    groups: Ints
    indices: Ints
    valid: Bools


def all_elements(elements: Elements, steps: Steps) -> SelectedElements:
    """The elements of all steps of each key, in order; null if the lists of all steps are null."""
    valid = steps.groups_with(elements.valid[steps.rows])
    begins, sizes = elements.begins[steps.rows], (elements.ends - elements.begins)[steps.rows]
    return SelectedElements(
        np.repeat(steps.group_ids, sizes), nb.expand_ranges(begins, sizes), valid
    )


def lists_of(values: Column, selected: SelectedElements, data_type: pa.DataType) -> Column:
    """Builds a list or map column of selected elements; a negative index is a null element.

    Args:
        values: all elements.
        selected: the selected ones.
        data_type: of the result.
    """
    sizes = np.bincount(selected.groups, minlength=len(selected.valid))
    child = take_or_null(values, selected.indices)
    return nb.build_list(data_type, nb.offsets_from_sizes(sizes), [child], selected.valid)


def combine_results(
    steps: Steps, mixed: Bools, vectorized: Column, steps_by_key: Callable[[Steps], Column]
) -> Column:
    """Combines vectorized results with those computed record by record, in key order.

    Args:
        steps: of all keys.
        mixed: which keys are processed record by record.
        vectorized: the results of the other keys.
        steps_by_key: computes the results record by record.
    """
    if not mixed.any():
        return vectorized
    others = steps_by_key(steps.of_groups(mixed))
    indices = np.where(mixed, len(vectorized) + np.cumsum(mixed) - 1, np.cumsum(~mixed) - 1)
    return concat_arrays([vectorized, others]).take(index_array(indices))


def selected_elements(lists: Sequence[list[int] | None]) -> SelectedElements:
    """The elements of keys that were processed record by record; None for a null list."""
    sizes = [0 if indices is None else len(indices) for indices in lists]
    flat = [index for indices in lists if indices is not None for index in indices]
    valid = np.fromiter((indices is not None for indices in lists), bool, count=len(lists))
    groups = np.repeat(np.arange(len(lists)), sizes)
    return SelectedElements(groups, np.array(flat, np.int64), valid)


Group = Iterator[tuple[Step, int]]
"""The steps of one key."""


def collect(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """All elements of all arrays, without duplicates if `distinct`; a retract removes one of each.

    Elements are in the order of first appearance (in Java, distinct ones are in hash table order).
    Elements of older records are appended, or prepended if retracts are ignored, as in Java 2.0.0.
    """
    elements = elements_of(column)
    if steps.kinds is not None and not function.ignore_retract:
        reverses = steps.kinds == Step.ADD_REVERSED
        steps = Steps(steps.rows, np.where(reverses, np.int8(Step.ADD), steps.kinds), steps.starts)
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = all_elements(elements, steps.of_groups(~mixed))
    known = codes(elements.values) if function.distinct or mixed.any() else selected.indices
    if function.distinct:
        firsts, _ = last_of_each(selected.groups, known[selected.indices])
        selected = SelectedElements(
            selected.groups[firsts], selected.indices[firsts], selected.valid
        )
    vectorized = lists_of(elements.values, selected, column.type)

    def add(first: list[int] | None, second: list[int] | None) -> list[int] | None:
        if first is None and second is None:
            return None
        both = [*(first or ()), *(second or ())]
        if not function.distinct:
            return both
        firsts: dict[int, int] = {}
        for at in both:
            firsts.setdefault(int(known[at]), at)
        return list(firsts.values())

    walk = partial(walked_lists, column, elements, (add, partial(_without, known)))
    return combine_results(steps, mixed, vectorized, walk)


ListChange = Callable[[list[int] | None, list[int] | None], list[int] | None]


def walked_lists(
    column: Column, elements: Elements, changes: tuple[ListChange, ListChange], steps: Steps
) -> Column:
    """Processes list columns record by record; the changes add and take elements."""
    lists = [fold_steps(group, elements.listed, *changes) for group in steps_by_key(steps)]
    return lists_of(elements.values, selected_elements(lists), column.type)


def _without(known: Ints, indices: list[int] | None, taken: list[int] | None) -> list[int] | None:
    """Removes for each taken element the first equal one."""
    if indices is None or taken is None:
        return indices
    gone = [int(known[at]) for at in taken]
    kept = []
    for at in indices:
        if known[at] in gone:
            gone.remove(int(known[at]))
        else:
            kept.append(at)
    return kept


def merge_map(column: Column, steps: Steps) -> Column:
    """All entries with the newest value of each key; a retract removes keys.

    Entries are in the order of first appearance (in Java, in hash table order).
    """
    steps = since_reset(steps)
    elements = elements_of(column)
    keys = codes(field_of(elements.values, 0))
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = all_elements(elements, steps.of_groups(~mixed))
    _, lasts = last_of_each(selected.groups, keys[selected.indices])
    newest = SelectedElements(selected.groups[lasts], selected.indices[lasts], selected.valid)
    vectorized = lists_of(elements.values, newest, column.type)

    walk = partial(_walked_maps, column, elements, keys, operator.or_)
    return combine_results(steps, mixed, vectorized, walk)


Entries = dict[int, int]
"""Entries of a map by the code of their key."""


def _walked_maps(
    column: Column,
    elements: Elements,
    keys: Ints,
    update: Callable[[Entries, Entries], Entries],
    steps: Steps,
) -> Column:
    """Processes map columns record by record; `update` adds newer entries to older ones."""

    def entries_of(row: int) -> Entries | None:
        if not elements.valid[row]:
            return None
        return {int(keys[at]): at for at in elements.indices(row)}

    def add(old: Entries | None, new: Entries | None) -> Entries | None:
        return old if new is None else new if old is None else update(old, new)

    def take(old: Entries | None, gone: Entries | None) -> Entries | None:
        if old is None or gone is None:
            return old
        return {key: at for key, at in old.items() if key not in gone}

    maps = [fold_steps(group, entries_of, add, take) for group in steps_by_key(steps)]
    lists = [None if entries is None else list(entries.values()) for entries in maps]
    return lists_of(elements.values, selected_elements(lists), column.type)


def merge_map_with_keytime(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """Per key the entry with the newest time, a field of its value; a null value removes the key.

    Entries without a time are ignored, except in the first map.
    """
    refuse_retract(steps, "merge_map_with_keytime")
    steps = since_reset(steps)
    elements = elements_of(column)
    values = field_of(elements.values, 1)
    name = function.ts_field
    times = field_of(values, values.type.num_fields - 1 if name is None else name)
    keys = codes(field_of(elements.values, 0))
    return _walked_maps(column, elements, keys, _Clock(values, times).updated, steps)


class _Clock:
    """Compares entries by the time in their values; times are texts or null."""

    def __init__(self, values: Column, times: Column) -> None:
        self._present = nb.valid_mask(values)
        self._timed = nb.valid_mask(times) & self._present
        self._times = ranks([times], count=len(times))

    def updated(self, old: Entries, new: Entries) -> Entries:
        """Adds entries of a newer record."""
        found = dict(old)
        for key, at in new.items():
            if not self._present[at]:
                found.pop(key, None)
            elif self._timed[at] and self._newer(at, found.get(key)):
                found[key] = at
        return found

    def _newer(self, at: int, known: int | None) -> bool:
        if known is None or not self._timed[known]:
            return True
        return bool(self._times[at] > self._times[known])
