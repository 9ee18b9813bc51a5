"""Elements of list and map columns, for aggregate functions that merge elements."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, concat_arrays
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.numpy_columns import child_of, index_array, take_or_null


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
