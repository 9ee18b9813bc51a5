"""Equality codes of values of any type, including nested types."""

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.merge.keys.normalized_keys import normalized_floats
from paimon_explore.merge.numpy_columns import child_of, fields_of, nulls_mask

_NULL = -1


def codes(values: Column) -> Ints:
    """A number per value, equal for equal values; null has a separate one.

    All NaN are equal, -0.0 and 0.0 are not, as in Java's collections. Lists and maps are equal if
    their elements are equal, in order; rows if all fields are equal.
    """
    found = _codes(values)
    valid = nulls_mask(values)
    return found if valid is None else np.where(valid, found, _NULL)


def _codes(values: Column) -> Ints:
    kind = values.type
    if pat.is_struct(kind):
        return combined([codes(field) for field in fields_of(values)], count=len(values))
    if pat.is_fixed_size_list(kind):
        offsets = (np.arange(len(values) + 1) + values.offset) * kind.list_size
        return _list_codes(child_of(values), offsets)
    if pat.is_map(kind) or pat.is_list(kind):
        return _list_codes(child_of(values), nb.list_offsets(values))
    if pat.is_floating(kind):
        return np.unique(normalized_floats(values), return_inverse=True)[1].astype(np.int64)
    return _dictionary_codes(values)


def combined(parts: list[Ints], *, count: int) -> Ints:
    """Combines several codes into one: equal where all parts are equal, sorted like the parts."""
    found = np.zeros(count, np.int64)
    for part in parts:
        low = int(part.min(initial=0))
        width = int(part.max(initial=0)) - low + 1
        found = np.unique(found * width + (part - low), return_inverse=True)[1].astype(np.int64)
    return found


def _list_codes(elements: Column, offsets: Ints) -> Ints:
    """Codes of lists, by the byte strings of their elements' codes."""
    begin, end = int(offsets[0]), int(offsets[-1])
    inner = codes(elements.slice(begin, end - begin))
    ends = nb.as_buffer((offsets - begin) * inner.itemsize)
    buffers = [None, ends, nb.as_buffer(inner)]
    images = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    return _dictionary_codes(images)


def _dictionary_codes(values: Column) -> Ints:
    indices: Column = values.dictionary_encode().indices
    return nb.fixed_values(indices, "i4").astype(np.int64)


def last_of_each(groups: Ints, values: Ints) -> tuple[Ints, Ints]:
    """The first and the last entry of each pair of group and value.

    Args:
        groups: e group numbers, ascending.
        values: e codes.

    Returns:
        Indices of the first entries, ascending, and of the corresponding last entries.
    """
    if not len(groups):
        return groups[:0], groups[:0]
    keys = combined([groups, values], count=len(groups))
    order = np.argsort(keys, kind="stable")
    fresh = np.flatnonzero(np.diff(keys[order], prepend=-1))
    firsts = order[fresh]
    lasts = order[np.append(fresh[1:], len(order)) - 1]
    by_place = np.argsort(firsts)
    return firsts[by_place], lasts[by_place]


def rank_in_group(groups: Ints) -> Ints:
    """For each entry the number of entries of its group before it; groups are ascending."""
    if not len(groups):
        return groups
    fresh = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(fresh, append=len(groups))
    return np.arange(len(groups)) - np.repeat(fresh, sizes)
