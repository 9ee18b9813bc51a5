"""The aggregate function `collect`: concatenation of arrays."""

from functools import partial

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
from paimon_explore.merge.aggregators.group_reduction import steps_by_key
from paimon_explore.merge.keys.value_equality import codes, last_of_each
from paimon_explore.merge.merge_spec import AggregateFunction


def collect(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """All elements of all arrays, without duplicates if `distinct`; a retract removes one of each.

    Elements are in the order of first appearance (in Java, distinct ones are in hash table order).
    Elements of older records are appended, or prepended if retracts are ignored, as in Java 2.0.0.
    """
    elements = elements_of(column)
    plain = (Step.ADD,) if function.ignore_retract else (Step.ADD, Step.ADD_REVERSED)
    mixed = steps.groups_with_other_than(*plain)
    selected = all_elements(elements, steps.of_groups(~mixed))
    known = codes(elements.values) if function.distinct or mixed.any() else selected.indices
    if function.distinct:
        firsts, _ = last_of_each(selected.groups, known[selected.indices])
        selected = SelectedElements(
            selected.groups[firsts], selected.indices[firsts], selected.valid
        )
    vectorized = lists_of(elements.values, selected, column.type)

    def walk(some: Steps) -> Column:
        work = partial(_walk, elements, known, function)
        lists = selected_elements([work(group) for group in steps_by_key(some)])
        return lists_of(elements.values, lists, column.type)

    return combine_results(steps, mixed, vectorized, walk)


def _walk(
    elements: Elements, known: Ints, function: AggregateFunction, group: Group
) -> list[int] | None:
    indices: list[int] | None = None
    for step, row in group:
        valid = bool(elements.valid[row])
        match step:
            case Step.ADD | Step.ADD_REVERSED if valid:
                added, collected = list(elements.indices(row)), indices or []
                prepend = step == Step.ADD_REVERSED and function.ignore_retract
                indices = added + collected if prepend else collected + added
                indices = _different(indices, known) if function.distinct else indices
            case Step.RETRACT if valid and indices is not None:
                indices = _without(indices, elements.indices(row), known)
            case Step.REPLACE:
                indices = list(elements.indices(row)) if valid else None
            case Step.CLEAR:
                indices = None
            case _:
                pass
    return indices


def _different(indices: list[int], known: Ints) -> list[int]:
    """The first index of each distinct element."""
    firsts: dict[int, int] = {}
    for at in indices:
        firsts.setdefault(int(known[at]), at)
    return list(firsts.values())


def _without(indices: list[int], taken: range, known: Ints) -> list[int]:
    """Removes for each taken element the first equal one."""
    gone = [int(known[at]) for at in taken]
    kept = []
    for at in indices:
        if known[at] in gone:
            gone.remove(int(known[at]))
        else:
            kept.append(at)
    return kept
