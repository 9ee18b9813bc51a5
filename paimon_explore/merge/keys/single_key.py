"""Comparable single keys, for splitting sorted runs at a key."""

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow.types as pat

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.merge.keys.normalized_keys import normalized_floats
from paimon_explore.merge.numpy_columns import ints_of

KeyTuple: TypeAlias = tuple[object, ...]
"""A key that compares with other keys of the same columns in Python."""


def key_at(columns: Sequence[Column], row: int) -> KeyTuple:
    """The key of one row."""
    return tuple(part for column in columns for part in _key_parts(column, row))


def _key_parts(column: Column, row: int) -> tuple[object, ...]:
    scalar = column[row]
    if not scalar.is_valid:
        return (0, 0)
    kind = column.type
    if pat.is_floating(kind):
        return (1, int(normalized_floats(column.slice(row, 1))[0]))
    if pat.is_temporal(kind):
        return (1, int(ints_of(column.slice(row, 1))[0]))
    value = scalar.as_py()
    return (1, value.encode() if isinstance(value, str) else value)


def rows_up_to(columns: Sequence[Column], key: KeyTuple, *, count: int) -> int:
    """Number of the n sorted rows that are not above a key, by binary search."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if key_at(columns, middle) <= key:
            low = middle + 1
        else:
            high = middle
    return low
