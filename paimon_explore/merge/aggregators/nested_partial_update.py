"""The aggregate function `nested_partial_update`: arrays of rows merged by key and field."""

from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.collection_elements import (
    Group,
    SelectedElements,
    all_elements,
    combine_results,
)
from paimon_explore.merge.aggregators.group_reduction import refuse_retract, steps_by_key
from paimon_explore.merge.aggregators.nested_update import NestedTable, present_only, table_of
from paimon_explore.merge.keys.value_equality import combined, last_of_each
from paimon_explore.merge.merge_spec import AggregateFunction
from paimon_explore.merge.numpy_columns import fields_of, take_or_null

_NO_ROW = -1
_Row: TypeAlias = tuple[int, ...] | None
"""Per field the index of the element it comes from, or -1; None is a null row."""


def nested_partial_update(column: Column, steps: Steps, function: AggregateFunction) -> Column:
    """One row per nested key with the last value of each field that is not null."""
    refuse_retract(steps, "nested_partial_update")
    table = table_of(column, function)
    fields = _fields(table.elements.values)
    mixed = steps.groups_with_other_than(Step.ADD)
    selected = present_only(all_elements(table.elements, steps.of_groups(~mixed)), table.present)
    vectorized = _straight(column.type, fields, selected, table)
    walk = partial(_walked_rows, column.type, table, fields)
    return combine_results(steps, mixed, vectorized, walk)


def _element_type(data_type: pa.DataType) -> pa.DataType:
    found: pa.DataType = data_type.value_type  # type: ignore[attr-defined]  # a list type
    return found


def _fields(rows: Column) -> list[tuple[Column, Bools]]:
    """The fields of the rows, each with its validity mask."""
    return [(field, nb.valid_mask(field)) for field in fields_of(rows)]


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
    data_type: pa.DataType,
    table: NestedTable,
    fields: list[tuple[Column, Bools]],
    steps: Steps,
) -> Column:
    lists = [_walk_rows(table, fields, group) for group in steps_by_key(steps)]
    flat = [row for rows in lists for row in rows or ()]
    missing = (_NO_ROW,) * len(fields)
    sources = np.array([row or missing for row in flat], np.int64).reshape(-1, len(fields))
    columns = [take_or_null(field, sources[:, at]) for at, (field, _) in enumerate(fields)]
    there = np.array([row is not None for row in flat], bool)
    valid = np.array([rows is not None for rows in lists], bool)
    sizes = np.array([len(rows or ()) for rows in lists], np.int64)
    child = nb.build_struct(_element_type(data_type), columns, there)
    return nb.build_list(data_type, nb.offsets_from_sizes(sizes), [child], valid)


def _walk_rows(
    table: NestedTable, fields: list[tuple[Column, Bools]], group: Group
) -> list[_Row] | None:
    rows: list[tuple[int, _Row]] | None = None
    for step, at in group:
        record = _keyed_rows(table, fields, at)
        match step:
            case Step.ADD:
                rows = _partially_updated(rows, record)
            case Step.ADD_REVERSED:
                rows = _partially_updated(record, rows)
            case Step.REPLACE:
                rows = record
            case _:
                rows = None
    return None if rows is None else [row for _, row in rows]


def _keyed_rows(
    table: NestedTable, fields: list[tuple[Column, Bools]], row: int
) -> list[tuple[int, _Row]] | None:
    if not table.elements.valid[row]:
        return None
    found: list[tuple[int, _Row]] = []
    for at in table.elements.indices(row):
        sources = tuple(at if valid[at] else _NO_ROW for _, valid in fields)
        found.append((int(table.keys[at]), sources if table.present[at] else None))
    return found


def _partially_updated(
    rows: list[tuple[int, _Row]] | None, more: list[tuple[int, _Row]] | None
) -> list[tuple[int, _Row]] | None:
    if more is None:
        return rows
    found: dict[int, _Row] = {}
    for key, row in [*(rows or ()), *more]:
        if row is not None:
            old = found.get(key) or row
            pairs = zip(old, row, strict=True)
            found[key] = tuple(new if new != _NO_ROW else known for known, new in pairs)
    return list(found.items())
