"""Normalized keys: columns as fixed-width integers that sort like the values.

Order of values: null first, false before true, numbers by value, floats -0.0 before 0.0 and NaN
last, strings and bytes by unsigned bytes, shorter first. Most types take one array of integers.
Decimals of more than 18 digits take two. Strings take one per eight bytes (big-endian) after the
common prefix of all values, and finally their length; strings of up to seven bytes take one.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, UInt64s
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.keys.normalized_text_keys import Texts
from paimon_explore.merge.numpy_columns import (
    NARROW_DIGITS,
    Keys,
    decimal_halves,
    ints_of,
    nulls_mask,
)

_BYTES = np.array([(-1 << 8 * (8 - left)) % (1 << 64) for left in range(9)], np.uint64)
"""Masks for the first bytes (the highest ones), by the number of remaining bytes of a text."""

KeySource: TypeAlias = Callable[[Ints | None], Keys]
"""Returns the normalized keys of some rows; None for all rows."""


def normalized_keys(column: Column, *, descending: bool = False) -> Iterator[KeySource]:
    """The normalized keys of a column, the most significant first.

    Args:
        column: n values.
        descending: sort descending, but nulls first, as in Java.

    Raises:
        UnsupportedFeatureError: a type without an order: nested types, variants.
    """
    valid = nulls_mask(column)
    if valid is not None:
        yield key_source(valid)
    for source in _value_keys(column, valid):
        yield partial(_reversed, source) if descending else source


def key_source(values: Keys) -> KeySource:
    """Wraps normalized keys that are already computed."""
    return partial(_key_source, values)


def _key_source(values: Keys, rows: Ints | None) -> Keys:
    return values if rows is None else values[rows]


def _reversed(source: KeySource, rows: Ints | None) -> Keys:
    words = source(rows)
    return np.logical_not(words) if words.dtype == bool else np.invert(words)


def _value_keys(column: Column, valid: Bools | None) -> Iterator[KeySource]:
    kind = column.type
    if pat.is_string(kind) or pat.is_binary(kind) or pat.is_large_binary(kind):
        yield from _byte_keys(column, valid)
        return
    for words in _fixed_keys(column):
        yield key_source(words if valid is None else np.where(valid, words, 0))


def _fixed_keys(column: Column) -> tuple[Keys, ...]:
    kind = column.type
    if pat.is_boolean(kind):
        return (nb.bool_values(column),)
    if pat.is_floating(kind):
        return (normalized_floats(column),)
    if pat.is_decimal128(kind):
        high, low = decimal_halves(column)
        return (low.view(np.int64),) if kind.precision <= NARROW_DIGITS else (high, low)
    if pat.is_integer(kind) or pat.is_temporal(kind):
        return (ints_of(column),)
    if pat.is_null(kind):
        return ()
    raise UnsupportedFeatureError(f"sorting values of type {kind}")


def normalized_floats(column: Column) -> Keys:
    """Floats as integers in the same order: all NaN equal and greatest, -0.0 before 0.0."""
    bits = ints_of(column)
    values = bits.view(f"f{bits.itemsize}")
    largest = np.iinfo(bits.dtype).max
    words: Keys = bits ^ ((bits >> (8 * bits.itemsize - 1)) & largest)
    unordered = np.isnan(values)
    if unordered.any():
        words[unordered] = largest
    return words


# ---------------------------------------------------------------- strings and bytes


def _byte_keys(column: Column, valid: Bools | None) -> Iterator[KeySource]:
    offsets, data = nb.var_values(column)
    begins, lengths = offsets[: len(column)], np.diff(offsets)[: len(column)]
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    if not len(lengths):
        return
    data = _readable(data, offsets)
    longest, shortest = int(lengths.max()), int(lengths.min())
    if longest < nb.WORD_BYTES:
        yield key_source(Texts(begins, lengths, data).counted(0))
        return
    if longest == shortest >= nb.WORD_BYTES:
        yield from _strided_keys(data, int(begins[0]), (len(begins), longest))
        return
    text = _Bytes(begins, lengths, nb.unaligned_words(data))
    positions = range(0, shortest, nb.WORD_BYTES)
    prefix = _common_prefix(lambda at: text.words[text.begins + at], positions, shortest)
    for at in range(prefix, longest, nb.WORD_BYTES):
        yield partial(_byte_key, text, at)
    if longest != shortest:
        yield key_source(lengths)


def _readable(data: Bytes, offsets: Ints) -> Bytes:
    """Pads the bytes, so that a word can be read at the last value."""
    end = int(offsets[-1])
    return data if len(data) >= end + nb.WORD_BYTES else nb.padded(data[:end])


def _strided_keys(data: Bytes, begin: int, shape: tuple[int, int]) -> Iterator[KeySource]:
    """Normalized keys of values of equal length; the last word overlaps the one before."""
    count, length = shape

    def words_at(position: int) -> UInt64s:
        return np.ndarray((count,), np.uint64, data, begin + position, (length,))

    positions = [*range(0, length - nb.WORD_BYTES, nb.WORD_BYTES), length - nb.WORD_BYTES]
    at = _common_prefix(words_at, positions, length)
    while at < length:
        at = min(at, length - nb.WORD_BYTES)
        yield partial(_swapped, words_at(at))
        at += nb.WORD_BYTES


def _swapped(words: UInt64s, rows: Ints | None) -> Keys:
    return (words if rows is None else words[rows]).byteswap()


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Byte strings: start and length of each, and the word at every byte offset."""

    begins: Ints
    lengths: Ints
    words: UInt64s


def _byte_key(text: _Bytes, at: int, rows: Ints | None) -> Keys:
    """Eight bytes from `at` on as a big-endian integer, zero-padded after the end of the value."""
    begins = text.begins if rows is None else text.begins[rows]
    left = (text.lengths if rows is None else text.lengths[rows]) - at
    if int(left.min(initial=nb.WORD_BYTES)) >= nb.WORD_BYTES:
        return text.words[begins + at].byteswap()
    found = text.words[begins + np.where(left > 0, at, 0)].byteswap()
    return found & _BYTES.take(np.clip(left, 0, nb.WORD_BYTES))


def _common_prefix(
    words_at: Callable[[int], UInt64s], positions: Iterable[int], shortest: int
) -> int:
    """Length of the common prefix of all values in bytes.

    Args:
        words_at: returns the little-endian words of all values at a byte offset.
        positions: the offsets to compare, ascending, without gaps between words.
        shortest: length of the shortest value.
    """
    for at in positions:
        words = words_at(at)
        differing = int(np.bitwise_or.reduce(words ^ words[0]))
        if differing:
            return min(at + ((differing & -differing).bit_length() - 1) // 8, shortest)
    return shortest
