"""The aggregate functions `merge_map` and `merge_map_with_keytime`."""

from collections.abc import Callable
from functools import partial

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.collection_elements import (
    Elements,
    Group,
    SelectedElements,
    all_elements,
    combine_results,
    elements_of,
    lists_of,
    selected_elements,
)
from paimon_explore.merge.aggregators.group_reduction import (
    refuse_retract,
    since_reset,
    steps_by_key,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, last_of_each
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import field_of


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

    def walk(some: Steps) -> Column:
        return _walked(column, elements, some, partial(_walk, elements, keys))

    return combine_results(steps, mixed, vectorized, walk)


def _walked(
    column: Column,
    elements: Elements,
    steps: Steps,
    work: Callable[[Group], dict[int, int] | None],
) -> Column:
    maps = [work(group) for group in steps_by_key(steps)]
    lists = [None if entries is None else list(entries.values()) for entries in maps]
    return lists_of(elements.values, selected_elements(lists), column.type)


def _walk(elements: Elements, keys: Ints, group: Group) -> dict[int, int] | None:
    """Entries by the code of their key."""
    value: dict[int, int] | None = None
    for step, row in group:
        if not elements.valid[row]:
            continue
        record = {int(keys[at]): at for at in elements.indices(row)}
        if step is Step.ADD:
            value = {**(value or {}), **record}
        elif step is Step.ADD_REVERSED:
            value = {**record, **(value or {})}
        elif value is not None:
            value = {key: at for key, at in value.items() if key not in record}
    return value


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
    clock = _Clock(codes(field_of(elements.values, 0)), values, times)
    work = partial(clock.walk, elements)
    return _walked(column, elements, steps, work)


class _Clock:
    """Compares entries by the time in their values; times are texts or null."""

    def __init__(self, keys: Ints, values: Column, times: Column) -> None:
        self._keys = keys
        self._present = nb.valid_mask(values)
        self._timed = nb.valid_mask(times) & self._present
        self._times = ranks([times], count=len(times))

    def walk(self, elements: Elements, group: Group) -> dict[int, int] | None:
        """Entries of one key by the code of their map key."""
        value: dict[int, int] | None = None
        for step, row in group:
            if not elements.valid[row]:
                continue
            record = {int(self._keys[at]): at for at in elements.indices(row)}
            if value is None:
                value = record
            elif step is Step.ADD_REVERSED:
                value = self._updated(record, value)
            else:
                value = self._updated(value, record)
        return value

    def _updated(self, old: dict[int, int], new: dict[int, int]) -> dict[int, int]:
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
