"""Places of rows on a curve through the space of some columns: neighbours on it are near in all.

Every column gives 64 bits whose unsigned order is that of its values, nulls first. Texts and bytes
give their first eight bytes. The z-order curve takes the bits of the columns in turn; the Hilbert
curve turns its parts so that it never jumps, by the method of J. Skilling, "Programming the Hilbert
curve" (2004).

Spec: append-table, sort compaction.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    bool_values,
    fixed_values,
    valid_mask,
    var_values,
)
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import UnsupportedFeatureError

Words = npt.NDArray[np.uint64]

_BITS = 64
_PREFIX = 8
_SIGN = np.uint64(1 << 63)
_ONE = np.uint64(1)
_SMALL_DECIMAL = 18
_INTEGERS = {
    TypeRoot.TINYINT: np.int8,
    TypeRoot.SMALLINT: np.int16,
    TypeRoot.INT: np.int32,
    TypeRoot.DATE: np.int32,
    TypeRoot.TIME: np.int32,
    TypeRoot.BIGINT: np.int64,
    TypeRoot.TIMESTAMP: np.int64,
    TypeRoot.TIMESTAMP_LTZ: np.int64,
}
_FLOATS = {TypeRoot.FLOAT: np.float32, TypeRoot.DOUBLE: np.float64}
_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})


def ordered_words(column: Column, data_type: DataType) -> Words:
    """64 bits per value, in the order of the values; 0 for nulls.

    Raises:
        UnsupportedFeatureError: values of the type have no order.
    """
    valid = valid_mask(column)
    words = _words(column, data_type)
    return np.where(valid, words, np.uint64(0))


def _words(column: Column, data_type: DataType) -> Words:
    if not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError(f"ordering rows by a column of type {type_text(data_type)}")
    root = data_type.root
    if root in _INTEGERS:
        return _signed(fixed_values(column, _INTEGERS[root]).astype(np.int64))
    if root in _FLOATS:
        return _floating(fixed_values(column, _FLOATS[root]).astype(np.float64))
    if root in _TEXTS:
        return _prefixes(column)
    if root is TypeRoot.BOOLEAN:
        return bool_values(column).astype(np.uint64) + _ONE
    if root is TypeRoot.DECIMAL:
        return _floating(np.asarray(column.cast(pa.float64()).fill_null(0.0), np.float64))
    raise UnsupportedFeatureError(f"ordering rows by a column of type {root.value}")


def _signed(values: Ints) -> Words:
    return values.view(np.uint64) ^ _SIGN


def _floating(values: npt.NDArray[np.float64]) -> Words:
    bits = np.ascontiguousarray(values).view(np.uint64)
    found: Words = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return found


def _prefixes(column: Column) -> Words:
    ends, data = var_values(column)
    starts, sizes = ends[:-1], np.diff(ends)
    words = np.zeros(len(column), np.uint64)
    padded = np.concatenate([data, np.zeros(_PREFIX, np.uint8)])
    for place in range(_PREFIX):
        found = np.where(sizes > place, padded[starts + np.minimum(place, sizes)], 0)
        words |= found.astype(np.uint64) << np.uint64(8 * (_PREFIX - 1 - place))
    return words


def by_z_order(columns: Sequence[Words]) -> Ints:
    """Row numbers along the z-order curve."""
    return _by_words(_interleaved(columns))


def by_hilbert(columns: Sequence[Words]) -> Ints:
    """Row numbers along the Hilbert curve."""
    if len(columns) == 1:
        return by_z_order(columns)
    return _by_words(_interleaved(_transposed(columns)))


def _by_words(words: Sequence[Words]) -> Ints:
    return np.lexsort(list(words)[::-1]).astype(np.int64)


def _interleaved(columns: Sequence[Words]) -> list[Words]:
    """As many words as columns: the highest bits of all columns, then the next ones."""
    count = len(columns)
    words = [np.zeros_like(columns[0]) for _ in columns]
    for place in range(_BITS * count):
        bit = (columns[place % count] >> np.uint64(_BITS - 1 - place // count)) & _ONE
        words[place // _BITS] |= bit << np.uint64(_BITS - 1 - place % _BITS)
    return words


def _transposed(columns: Sequence[Words]) -> list[Words]:
    """Coordinates as the bits of their place on the Hilbert curve, still to be interleaved."""
    x = [column.copy() for column in columns]
    for shift in range(_BITS - 1, 0, -1):
        top, below = _ONE << np.uint64(shift), (_ONE << np.uint64(shift)) - _ONE
        for axis in range(len(x)):
            inverts = (x[axis] & top) != 0
            swapped = np.where(inverts, np.uint64(0), (x[0] ^ x[axis]) & below)
            x[0] = np.where(inverts, x[0] ^ below, x[0] ^ swapped)
            x[axis] = x[axis] ^ swapped if axis else x[axis]
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    turned = np.zeros_like(x[0])
    for shift in range(_BITS - 1, 0, -1):
        top = _ONE << np.uint64(shift)
        turned ^= np.where((x[-1] & top) != 0, top - _ONE, np.uint64(0))
    return [axis ^ turned for axis in x]
