"""List and map columns as their elements, for functions that work on elements."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.numpy_columns import child_of, index_array, joined, take_or_null


@dataclass(frozen=True, slots=True)
class Elements:
    """A list or map column taken apart.

    Attributes:
        values: all elements; of a map structs of key and value.
        begins: per row the place of its first element in `values`.
        ends: per row the place after its last.
        valid: per row whether there is a list at all.
    """

    values: Column
    begins: Ints
    ends: Ints
    valid: Bools

    def places(self, row: int) -> range:
        """Places of a row's elements."""
        return range(int(self.begins[row]), int(self.ends[row]))


def elements_of(column: Column) -> Elements:
    """Take a list or map column apart."""
    offsets = nb.list_offsets(column)
    known = nb.valid_mask(column)
    begins = offsets[: len(column)]
    ends = np.where(known, offsets[1 : len(column) + 1], begins)
    return Elements(child_of(column), begins, ends, known)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Elements chosen for g keys.

    Attributes:
        groups: for each chosen element its key, ascending.
        places: for each chosen element its place in `Elements.values`.
        valid: for each key whether it has a list at all.
    """

    groups: Ints
    places: Ints
    valid: Bools


def all_elements(elements: Elements, steps: Steps) -> Chosen:
    """The elements of all steps of each key, in order; a key has a list if any step has."""
    valid = steps.groups_with(elements.valid[steps.rows])
    begins, sizes = elements.begins[steps.rows], (elements.ends - elements.begins)[steps.rows]
    return Chosen(np.repeat(steps.group_ids, sizes), nb.expand_ranges(begins, sizes), valid)


def lists_of(values: Column, chosen: Chosen, data_type: pa.DataType) -> Column:
    """A list or map column of chosen elements; a negative place is a null element.

    Args:
        values: the elements to choose from.
        chosen: which.
        data_type: of the result.
    """
    sizes = np.bincount(chosen.groups, minlength=len(chosen.valid))
    child = take_or_null(values, chosen.places)
    return nb.build_list(data_type, nb.offsets_from_sizes(sizes), [child], chosen.valid)


def merged_apart(
    steps: Steps, mixed: Bools, straight: Column, walked: Callable[[Steps], Column]
) -> Column:
    """Results of keys worked on together and of keys that were walked, in the order of keys.

    Args:
        steps: of all keys.
        mixed: which keys are to be walked.
        straight: the results of the others.
        walked: gives the results of the keys that are.
    """
    if not mixed.any():
        return straight
    others = walked(steps.of_groups(mixed))
    places = np.where(mixed, len(straight) + np.cumsum(mixed) - 1, np.cumsum(~mixed) - 1)
    return joined([straight, others]).take(index_array(places))


def chosen_of(lists: Sequence[list[int] | None]) -> Chosen:
    """The chosen elements of keys that were walked; None is no list."""
    sizes = [0 if places is None else len(places) for places in lists]
    flat = [place for places in lists if places is not None for place in places]
    valid = np.fromiter((places is not None for places in lists), bool, count=len(lists))
    groups = np.repeat(np.arange(len(lists)), sizes)
    return Chosen(groups, np.array(flat, np.int64), valid)


Group = Iterator[tuple[Step, int]]
"""The steps of one key."""
