"""Arrays of rows kept like tables: `nested_update`."""

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
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
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, combined, last_of_each, rank_in_group
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import field_of
from paimon_explore.metadata.options.option_enums import NestedKeyNullStrategy


@dataclass(frozen=True, slots=True)
class NestedTable:
    """The elements of a column as rows with a key.

    Attributes:
        elements: the column taken apart.
        present: per element whether it is a row that counts: not null, key allowed.
        keys: per element a code of its nested key; without a key of the whole row.
        sequence: per element the rank of its sequence fields; all 0 without any.
        has_key: whether there is a nested key.
        limit: new rows beyond it are dropped.
    """

    elements: Elements
    present: Bools
    keys: Ints
    sequence: Ints
    has_key: bool
    limit: int


def table_of(column: Column, function: AggregateFunction) -> NestedTable:
    """See a column of arrays of rows as tables.

    Raises:
        FormatError: a nested key has a null, and the strategy is to complain.
    """
    elements = elements_of(column)
    rows = elements.values
    present = nb.valid_mask(rows)
    key_columns = [field_of(rows, name) for name in function.nested_key]
    if key_columns:
        present = present & _allowed(key_columns, present, function.nested_key_null_strategy)
        keys = combined([codes(column) for column in key_columns], count=len(rows))
    else:
        keys = codes(rows)
    order = [field_of(rows, name) for name in function.nested_sequence_field]
    sequence = ranks(order, count=len(rows)) if order else np.zeros(len(rows), np.int64)
    limit = function.count_limit
    return NestedTable(elements, present, keys, sequence, bool(key_columns), limit)


def _allowed(keys: list[Column], present: Bools, strategy: NestedKeyNullStrategy) -> Bools:
    allowed = np.ones(len(present), bool)
    if strategy is NestedKeyNullStrategy.MERGE:
        return allowed
    for key in keys:
        allowed &= nb.valid_mask(key)
    if strategy is NestedKeyNullStrategy.ERROR and (present & ~allowed).any():
        raise FormatError(
            "A nested key contains null.",
            hint="Set fields.<column>.nested-key-null-strategy to 'merge' or 'ignore'.",
        )
    return allowed


def nested_update(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """Rows one after another, or one per nested key; a retract removes equal rows or keys.

    Of rows with the same nested key the last one stays, or the one with the greatest sequence. Null
    rows are dropped. Rows stay in the order in which their keys appeared (Java: of a hash table).
    """
    table = table_of(column, function)
    mixed = steps.groups_with_other_than(Step.ADD)
    chosen = present_only(all_elements(table.elements, steps.of_groups(~mixed)), table.present)
    picked = _one_per_key(chosen, table) if table.has_key else _within_limit(chosen, table.limit)
    straight = lists_of(table.elements.values, picked, column.type)

    def walk(some: Steps) -> Column:
        lists = chosen_of([_walk(table, group) for group in walked(some)])
        return lists_of(table.elements.values, lists, column.type)

    return merged_apart(steps, mixed, straight, walk)


def present_only(chosen: Chosen, present: Bools) -> Chosen:
    """Without elements that do not count."""
    keep = present[chosen.places]
    return Chosen(chosen.groups[keep], chosen.places[keep], chosen.valid)


def _within_limit(chosen: Chosen, limit: int) -> Chosen:
    keep = rank_in_group(chosen.groups) < limit
    return Chosen(chosen.groups[keep], chosen.places[keep], chosen.valid)


def _one_per_key(chosen: Chosen, table: NestedTable) -> Chosen:
    keys = table.keys[chosen.places]
    sequence = table.sequence[chosen.places]
    firsts, lasts = last_of_each(chosen.groups, keys)
    if sequence.any():
        lasts = _greatest(chosen.groups, keys, sequence)
    groups, places = chosen.groups[firsts], chosen.places[lasts]
    return _within_limit(Chosen(groups, places, chosen.valid), table.limit)


def _greatest(groups: Ints, keys: Ints, sequence: Ints) -> Ints:
    """Of each group and key, by first appearance, the last entry of the greatest sequence."""
    entries = combined([groups, keys], count=len(keys))
    newest = np.empty(len(keys), np.int64)
    by_sequence = np.lexsort((sequence, entries))
    newest[entries[by_sequence]] = by_sequence
    firsts, _ = last_of_each(groups, keys)
    return newest[entries[firsts]]


def _walk(table: NestedTable, group: Group) -> list[int] | None:
    places: list[int] | None = None
    for step, row in group:
        valid = bool(table.elements.valid[row])
        record = list(table.elements.places(row)) if valid else None
        match step:
            case Step.ADD:
                places = _added(places, record, table)
            case Step.ADD_REVERSED:
                places = _added(record, places, table)
            case Step.RETRACT:
                places = _without(places, record, table)
            case Step.REPLACE:
                places = record
            case Step.CLEAR:
                places = None
    return places


def _added(
    places: list[int] | None, more: list[int] | None, table: NestedTable
) -> list[int] | None:
    if more is None:
        return places
    first = [at for at in places or () if table.present[at]]
    second = [at for at in more if table.present[at]]
    if not table.has_key:
        if places is not None and len(places) >= table.limit:
            return places
        return first + second[: max(table.limit - len(places or ()), 0)]
    found: dict[int, int] = {}
    for limited, part in ((False, first), (True, second)):
        for at in part:
            key = int(table.keys[at])
            if key in found:
                newer = table.sequence[at] >= table.sequence[found[key]]
                found[key] = at if newer else found[key]
            elif not limited or len(found) < table.limit:
                found[key] = at
    return list(found.values())


def _without(
    places: list[int] | None, gone: list[int] | None, table: NestedTable
) -> list[int] | None:
    if places is None or gone is None:
        return places
    taken = {int(table.keys[at]) for at in gone if table.present[at]}
    kept = [at for at in places if table.present[at]]
    if table.has_key:
        kept = list({int(table.keys[at]): at for at in kept}.values())
    return [at for at in kept if int(table.keys[at]) not in taken]
