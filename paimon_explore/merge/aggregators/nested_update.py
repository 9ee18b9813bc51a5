"""The aggregate function `nested_update`: arrays of rows merged by nested key.

The aggregate function `nested_partial_update`: arrays of rows merged by key and field.
"""

from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.collections import (
    Elements,
    SelectedElements,
    all_elements,
    combine_results,
    elements_of,
    lists_of,
    walked_lists,
)
from paimon_explore.merge.aggregators.group_reduction import (
    fold_steps,
    refuse_retract,
    steps_by_key,
)
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes, combined, last_of_each, rank_in_group
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import field_of, fields_of, take_or_null
from paimon_explore.metadata.options.option_enums import NestedKeyNullStrategy


@dataclass(frozen=True, slots=True)
class NestedTable:
    """The elements of a column as rows with a nested key.

    Attributes:
        elements: the elements of the column.
        present: per element whether it is used: the row is not null and its key is allowed.
        keys: per element a code of its nested key; without nested key, of the whole row.
        sequence: per element the rank of its sequence fields; 0 without sequence fields.
        has_key: whether there is a nested key.
        limit: maximum number of rows; further new rows are dropped.
    """

    elements: Elements
    present: Bools
    keys: Ints
    sequence: Ints
    has_key: bool
    limit: int


def table_of(column: Column, function: AggregateFunction) -> NestedTable:
    """Reads a column of arrays of rows as nested tables.

    Raises:
        FormatError: a nested key contains null, and the null strategy is ERROR.
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
            "A nested key of the aggregate function 'nested_update' is null.",
            hint="Set fields.<column>.nested-key-null-strategy to 'merge' or 'ignore'.",
        )
    return allowed


def nested_update(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """Concatenates rows, or keeps one per nested key; a retract removes equal rows or keys.

    Of rows with the same nested key the last one is kept, or the one with the greatest sequence.
    Null rows are dropped. Rows are in the order in which their keys appeared (in Java, in hash
    table order).
    """
    table = table_of(column, function)
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = present_only(all_elements(table.elements, steps.of_groups(~mixed)), table.present)
    kept = _one_per_key(selected, table) if table.has_key else _within_limit(selected, table.limit)
    vectorized = lists_of(table.elements.values, kept, column.type)

    walk = partial(
        walked_lists, column, table.elements, (partial(_added, table), partial(_without, table))
    )
    return combine_results(steps, mixed, vectorized, walk)


def present_only(selected: SelectedElements, present: Bools) -> SelectedElements:
    """Removes elements that are not present."""
    keep = present[selected.indices]
    return SelectedElements(selected.groups[keep], selected.indices[keep], selected.valid)


def _within_limit(selected: SelectedElements, limit: int) -> SelectedElements:
    keep = rank_in_group(selected.groups) < limit
    return SelectedElements(selected.groups[keep], selected.indices[keep], selected.valid)


def _one_per_key(selected: SelectedElements, table: NestedTable) -> SelectedElements:
    keys = table.keys[selected.indices]
    sequence = table.sequence[selected.indices]
    firsts, lasts = last_of_each(selected.groups, keys)
    if sequence.any():
        lasts = _greatest(selected.groups, keys, sequence)
    groups, indices = selected.groups[firsts], selected.indices[lasts]
    return _within_limit(SelectedElements(groups, indices, selected.valid), table.limit)


def _greatest(groups: Ints, keys: Ints, sequence: Ints) -> Ints:
    """The last entry with the greatest sequence of each group and key, by first appearance."""
    entries = combined([groups, keys], count=len(keys))
    newest = np.empty(len(keys), np.int64)
    by_sequence = np.lexsort((sequence, entries))
    newest[entries[by_sequence]] = by_sequence
    firsts, _ = last_of_each(groups, keys)
    return newest[entries[firsts]]


def _added(
    table: NestedTable, indices: list[int] | None, more: list[int] | None
) -> list[int] | None:
    if more is None:
        return indices
    first = [at for at in indices or () if table.present[at]]
    second = [at for at in more if table.present[at]]
    if not table.has_key:
        if indices is not None and len(indices) >= table.limit:
            return indices
        return first + second[: max(table.limit - len(indices or ()), 0)]
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
    table: NestedTable, indices: list[int] | None, gone: list[int] | None
) -> list[int] | None:
    if indices is None or gone is None:
        return indices
    taken = {int(table.keys[at]) for at in gone if table.present[at]}
    kept = [at for at in indices if table.present[at]]
    if table.has_key:
        kept = list({int(table.keys[at]): at for at in kept}.values())
    return [at for at in kept if int(table.keys[at]) not in taken]


_NO_ROW = -1
_Row: TypeAlias = tuple[int, ...] | None
"""Per field the index of the element it comes from, or -1; None is a null row."""
_KeyedRows: TypeAlias = list[tuple[int, _Row]]
"""Rows with the code of their nested key."""


def nested_partial_update(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """One row per nested key with the last value of each field that is not null."""
    refuse_retract(steps, "nested_partial_update")
    table = table_of(column, function)
    fields = [(field, nb.valid_mask(field)) for field in fields_of(table.elements.values)]
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = present_only(all_elements(table.elements, steps.of_groups(~mixed)), table.present)
    vectorized = _straight(column.type, fields, selected, table)
    walk = partial(_walked_rows, column.type, table, fields)
    return combine_results(steps, mixed, vectorized, walk)


def _element_type(data_type: pa.DataType) -> pa.DataType:
    found: pa.DataType = data_type.value_type  # type: ignore[attr-defined]  # a list type
    return found


def _straight(
    data_type: pa.DataType,
    fields: list[tuple[Column, Bools]],
    selected: SelectedElements,
    table: NestedTable,
) -> Column:
    keys = table.keys[selected.indices]
    firsts, _ = last_of_each(selected.groups, keys)
    entry = combined([selected.groups, keys], count=len(keys))
    columns = []
    for field, valid in fields:
        known = np.flatnonzero(valid[selected.indices])
        rows = np.full(len(keys), _NO_ROW, np.int64)
        rows[entry[known]] = selected.indices[known]
        columns.append(take_or_null(field, rows[entry[firsts]]))
    sizes = np.bincount(selected.groups[firsts], minlength=len(selected.valid))
    child = nb.build_struct(_element_type(data_type), columns, np.ones(len(firsts), np.bool_))
    return nb.build_list(data_type, nb.offsets_from_sizes(sizes), [child], selected.valid)


def _walked_rows(
    data_type: pa.DataType, table: NestedTable, fields: list[tuple[Column, Bools]], steps: Steps
) -> Column:
    rows_of = partial(_keyed_rows, table, fields)
    lists = [fold_steps(group, rows_of, _partially_updated) for group in steps_by_key(steps)]
    flat = [row for rows in lists for _, row in rows or ()]
    missing = (_NO_ROW,) * len(fields)
    sources = np.array([row or missing for row in flat], np.int64).reshape(-1, len(fields))
    columns = [take_or_null(field, sources[:, at]) for at, (field, _) in enumerate(fields)]
    there = np.array([row is not None for row in flat], bool)
    valid = np.array([rows is not None for rows in lists], bool)
    sizes = np.array([len(rows or ()) for rows in lists], np.int64)
    child = nb.build_struct(_element_type(data_type), columns, there)
    return nb.build_list(data_type, nb.offsets_from_sizes(sizes), [child], valid)


def _keyed_rows(
    table: NestedTable, fields: list[tuple[Column, Bools]], row: int
) -> _KeyedRows | None:
    if not table.elements.valid[row]:
        return None
    found: _KeyedRows = []
    for at in table.elements.indices(row):
        sources = tuple(at if valid[at] else _NO_ROW for _, valid in fields)
        found.append((int(table.keys[at]), sources if table.present[at] else None))
    return found


def _partially_updated(rows: _KeyedRows | None, more: _KeyedRows | None) -> _KeyedRows | None:
    if more is None:
        return rows
    found: dict[int, _Row] = {}
    for key, row in [*(rows or ()), *more]:
        if row is not None:
            old = found.get(key) or row
            pairs = zip(old, row, strict=True)
            found[key] = tuple(new if new != _NO_ROW else known for known, new in pairs)
    return list(found.items())
