"""Columns as words: numbers of a fixed width whose natural order is the order of the values.

Order of values: null first, false before true, numbers by value, floats -0.0 before 0.0 and NaN
last, strings and bytes by unsigned bytes, shorter first. Most types take one word. Decimals of more
than 18 digits take two. Strings take one word of eight bytes, high byte first, for every eight
bytes after what all values have in common, and at last their length; those of up to seven bytes
take one for all.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, Words
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
"""By how many bytes of a text are left: a mask of so many, the first one highest."""

WordSource: TypeAlias = Callable[[Ints | None], Keys]
"""One word of the rows asked for; None: of all rows."""


def words_of(column: Column, *, descending: bool = False) -> Iterator[WordSource]:
    """The words of a column.

    Args:
        column: n values.
        descending: greatest first, but nulls first all the same, as Java does.

    Raises:
        UnsupportedFeatureError: a type that has no order here: nested ones, variants.
    """
    valid = nulls_mask(column)
    if valid is not None:
        yield picked(valid)
    for source in _value_words(column, valid):
        yield partial(_reversed, source) if descending else source


def picked(words: Keys) -> WordSource:
    """A word that is there already."""
    return partial(_picked, words)


def _picked(words: Keys, rows: Ints | None) -> Keys:
    return words if rows is None else words[rows]


def _reversed(source: WordSource, rows: Ints | None) -> Keys:
    words = source(rows)
    return np.logical_not(words) if words.dtype == bool else np.invert(words)


def _value_words(column: Column, valid: Bools | None) -> Iterator[WordSource]:
    kind = column.type
    if pat.is_string(kind) or pat.is_binary(kind) or pat.is_large_binary(kind):
        yield from _byte_words(column, valid)
        return
    for words in _fixed_words(column):
        yield picked(words if valid is None else np.where(valid, words, 0))


def _fixed_words(column: Column) -> tuple[Keys, ...]:
    kind = column.type
    if pat.is_boolean(kind):
        return (nb.bool_values(column),)
    if pat.is_floating(kind):
        return (float_words(column),)
    if pat.is_decimal128(kind):
        high, low = decimal_halves(column)
        return (low.view(np.int64),) if kind.precision <= NARROW_DIGITS else (high, low)
    if pat.is_integer(kind) or pat.is_temporal(kind):
        return (ints_of(column),)
    if pat.is_null(kind):
        return ()
    raise UnsupportedFeatureError(f"order of values of type {kind}")


def float_words(column: Column) -> Keys:
    """Floats as integers of the same order: all NaN alike and greatest, -0.0 before 0.0."""
    bits = ints_of(column)
    values = bits.view(f"f{bits.itemsize}")
    largest = np.iinfo(bits.dtype).max
    words: Keys = bits ^ ((bits >> (8 * bits.itemsize - 1)) & largest)
    unordered = np.isnan(values)
    if unordered.any():
        words[unordered] = largest
    return words


# ---------------------------------------------------------------- strings and bytes


def _byte_words(column: Column, valid: Bools | None) -> Iterator[WordSource]:
    offsets, data = nb.var_values(column)
    begins, lengths = offsets[: len(column)], np.diff(offsets)[: len(column)]
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    if not len(lengths):
        return
    data = _readable(data, offsets)
    longest, shortest = int(lengths.max()), int(lengths.min())
    if longest < nb.WORD:
        yield picked(Texts(begins, lengths, data).counted(0))
        return
    if longest == shortest >= nb.WORD:
        yield from _strided_words(data, int(begins[0]), (len(begins), longest))
        return
    text = _Bytes(begins, lengths, nb.unaligned_words(data))
    places = range(0, shortest, nb.WORD)
    prefix = _common_prefix(lambda at: text.words[text.begins + at], places, shortest)
    for at in range(prefix, longest, nb.WORD):
        yield partial(_byte_word, text, at)
    if longest != shortest:
        yield picked(lengths)


def _readable(data: Bytes, offsets: Ints) -> Bytes:
    """The bytes with some more behind the last value."""
    end = int(offsets[-1])
    return data if len(data) >= end + nb.WORD else nb.padded(data[:end])


def _strided_words(data: Bytes, begin: int, shape: tuple[int, int]) -> Iterator[WordSource]:
    """Words of values that all have the same length; the last word overlaps the one before."""
    count, length = shape

    def words_at(place: int) -> Words:
        return np.ndarray((count,), np.uint64, data, begin + place, (length,))

    places = [*range(0, length - nb.WORD, nb.WORD), length - nb.WORD]
    at = _common_prefix(words_at, places, length)
    while at < length:
        at = min(at, length - nb.WORD)
        yield partial(_swapped, words_at(at))
        at += nb.WORD


def _swapped(words: Words, rows: Ints | None) -> Keys:
    return (words if rows is None else words[rows]).byteswap()


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Byte strings: where each begins, its length, and the word that starts at any byte."""

    begins: Ints
    lengths: Ints
    words: Words


def _byte_word(text: _Bytes, at: int, rows: Ints | None) -> Keys:
    """Eight bytes from `at` on, the first one highest, zero beyond the end of the value."""
    begins = text.begins if rows is None else text.begins[rows]
    left = (text.lengths if rows is None else text.lengths[rows]) - at
    if int(left.min(initial=nb.WORD)) >= nb.WORD:
        return text.words[begins + at].byteswap()
    found = text.words[begins + np.where(left > 0, at, 0)].byteswap()
    return found & _BYTES.take(np.clip(left, 0, nb.WORD))


def _common_prefix(words_at: Callable[[int], Words], places: Iterable[int], shortest: int) -> int:
    """How many leading bytes all values share.

    Args:
        words_at: the words of all values, the first byte lowest, that begin at a byte.
        places: where to look, ascending, without gaps between words.
        shortest: length of the shortest value.
    """
    for at in places:
        words = words_at(at)
        differing = int(np.bitwise_or.reduce(words ^ words[0]))
        if differing:
            return min(at + ((differing & -differing).bit_length() - 1) // 8, shortest)
    return shortest
