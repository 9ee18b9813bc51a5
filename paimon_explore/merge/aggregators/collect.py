"""Arrays put together: `collect`."""

from functools import partial

from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.collection_elements import (
    Chosen,
    Elements,
    Group,
    all_elements,
    chosen_of,
    elements_of,
    lists_of,
    merged_apart,
)
from paimon_explore.merge.aggregators.group_reduction import walked
from paimon_explore.merge.keys.value_equality import codes, last_of_each
from paimon_explore.merge.merge_spec import AggregateFunction


def collect(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """All elements of all arrays, equal ones once if `distinct`; a retract removes one of each.

    Elements stay in the order of first appearance (Java's order of distinct ones is that of a hash
    table). Those of older records come behind as well, but in front where retracts are ignored:
    so they do in Java, seen with 2.0.0.
    """
    elements = elements_of(column)
    plain = (Step.ADD,) if function.ignore_retract else (Step.ADD, Step.ADD_REVERSED)
    mixed = steps.groups_with_other_than(*plain)
    chosen = all_elements(elements, steps.of_groups(~mixed))
    known = codes(elements.values) if function.distinct or mixed.any() else chosen.places
    if function.distinct:
        firsts, _ = last_of_each(chosen.groups, known[chosen.places])
        chosen = Chosen(chosen.groups[firsts], chosen.places[firsts], chosen.valid)
    straight = lists_of(elements.values, chosen, column.type)

    def walk(some: Steps) -> Column:
        work = partial(_walk, elements, known, function)
        lists = chosen_of([work(group) for group in walked(some)])
        return lists_of(elements.values, lists, column.type)

    return merged_apart(steps, mixed, straight, walk)


def _walk(
    elements: Elements, known: Ints, function: AggregateFunction, group: Group
) -> list[int] | None:
    places: list[int] | None = None
    for step, row in group:
        there = bool(elements.valid[row])
        match step:
            case Step.ADD | Step.ADD_REVERSED if there:
                more, there_already = list(elements.places(row)), places or []
                in_front = step == Step.ADD_REVERSED and function.ignore_retract
                places = more + there_already if in_front else there_already + more
                places = _different(places, known) if function.distinct else places
            case Step.RETRACT if there and places is not None:
                places = _without(places, elements.places(row), known)
            case Step.REPLACE:
                places = list(elements.places(row)) if there else None
            case Step.CLEAR:
                places = None
            case _:
                pass
    return places


def _different(places: list[int], known: Ints) -> list[int]:
    """The foremost place of each different element."""
    firsts: dict[int, int] = {}
    for at in places:
        firsts.setdefault(int(known[at]), at)
    return list(firsts.values())


def _without(places: list[int], taken: range, known: Ints) -> list[int]:
    """The places but for one equal element per element taken, the foremost."""
    gone = [int(known[at]) for at in taken]
    kept = []
    for at in places:
        if known[at] in gone:
            gone.remove(int(known[at]))
        else:
            kept.append(at)
    return kept
