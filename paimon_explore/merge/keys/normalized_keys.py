"""Normalized keys: columns as fixed-width integers that sort like the values.

Order of values: null first, false before true, numbers by value, floats -0.0 before 0.0 and NaN
last, strings and bytes by unsigned bytes, shorter first. Most types take one array of integers.
Decimals of more than 18 digits take two. Strings take one per eight bytes (big-endian) after the
common prefix of all values, and finally their length; strings of up to seven bytes take one.

Normalized keys of texts in sorted parts: the bytes after the common prefix of a chunk.

Neighbours in a sorted part share long prefixes. So parts are split at common pivots into chunks,
and of each key only the eight bytes after the chunk's common prefix are used, as a big-endian
integer. Keys of equal length use eight bytes; keys of different lengths use seven, zero-padded,
plus the number of remaining bytes (at most 8) in the lowest byte. Longer keys with equal normalized
keys are compared by their remaining bytes.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, UInt64s
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
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
    words[np.isnan(values)] = largest
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


_CHUNK_ROWS = 4096
"""Rows of the largest part in a chunk, chosen so that sorting a chunk fits into the CPU caches."""
_U = np.uint64
_SEVEN_BYTES = np.array([0, *((-1 << 8 * (8 - left)) % (1 << 64) for left in range(1, 8)), 0], _U)
_SEVEN_BYTES[8] = _SEVEN_BYTES[7]
"""Masks for the first bytes (the highest, at most 7), by the number of remaining bytes."""


def split_at_pivots(columns: Sequence[Column]) -> Iterator["TextChunk"]:
    """Splits sorted texts into chunks, ascending; a chunk has all rows of its keys.

    Args:
        columns: a column per part, without nulls.
    """
    texts = [_TextSequence(column) for column in columns]
    begins = [0] * len(columns)
    for pivot in [*_pivots(max(texts, key=len)), None]:
        ends = [
            len(text) if pivot is None else bisect_left(text, pivot, begin)
            for text, begin in zip(texts, begins, strict=True)
        ]
        part_ids = [at for at, end in enumerate(ends) if end > begins[at]]
        if part_ids:
            yield TextChunk(
                part_ids,
                [begins[at] for at in part_ids],
                [columns[at][begins[at] : ends[at]] for at in part_ids],
            )
        begins = ends


def _pivots(texts: "_TextSequence") -> Iterator[bytes]:
    """The first texts of all chunks but the first one, `_CHUNK_ROWS` rows apart.

    A chunk whose halves have longer common prefixes, such as the folders of paths, is split where
    the byte after its common prefix changes. Otherwise many of its normalized keys would be equal.
    """
    first, low = 0, texts[0]
    while first < len(texts) - 1:
        last = min(first + _CHUNK_ROWS, len(texts) - 1)
        middle, high = texts[(first + last) // 2], texts[last]
        prefix = _common(low, high)
        if max(_common(low, middle), _common(middle, high)) >= prefix + nb.WORD_BYTES:
            yield high[: prefix + 1]
        if last == first + _CHUNK_ROWS:
            yield high
        first, low = last, high


class _TextSequence(Sequence[bytes]):
    """The texts of a column without nulls."""

    def __init__(self, column: Column) -> None:
        offsets, data = column.buffers()[1:]
        self._count = len(column)
        self._offsets = nb.as_bytes(offsets).view(np.int32)[column.offset :].data
        self._data = nb.as_bytes(data).data

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: int) -> bytes:  # type: ignore[override]  # slices are not needed
        return bytes(self._data[self._offsets[row] : self._offsets[row + 1]])


def _common(low: bytes, high: bytes) -> int:
    """Length of the common prefix of two texts in bytes."""
    pairs = enumerate(zip(low, high, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(low), len(high)))


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Slices of sorted parts with the same range of keys.

    Attributes:
        part_ids: indices of the parts with rows in it.
        begins: the first row in each of these parts.
        columns: the slices of these parts.
    """

    part_ids: Sequence[int]
    begins: Sequence[int]
    columns: Sequence[Column]

    def normalized(self) -> "NormalizedTexts":
        """Computes the normalized keys.

        Raises:
            FormatError: the parts are not sorted.
        """
        ends = [_TextSequence(column) for column in self.columns]
        prefix = _common(min(text[0] for text in ends), max(text[len(text) - 1] for text in ends))
        texts = [Texts.of(column) for column in self.columns]
        shortest = min(text.shortest for text in texts)
        longest = max(text.longest for text in texts)
        if shortest < prefix:
            raise FormatError(
                "The rows of a sorted run are not in key order.",
                hint="Run t.maintenance.fsck(read_rows=True) to find files that are not sorted.",
            )
        if shortest == longest >= nb.WORD_BYTES:
            at = min(prefix, longest - nb.WORD_BYTES)
            parts = [text.strided(at, longest).byteswap() for text in texts]
            return NormalizedTexts(texts, parts, at + nb.WORD_BYTES, longest, fixed=True)
        parts = [text.counted(prefix) for text in texts]
        return NormalizedTexts(texts, parts, prefix + nb.WORD_BYTES - 1, longest, fixed=False)


@dataclass(frozen=True, slots=True)
class NormalizedTexts:
    """The normalized keys of a chunk.

    Attributes:
        texts: the keys, per part.
        parts: their normalized keys.
        covered: number of leading bytes of a key that the prefix and its normalized key determine.
        longest: length of the longest key in bytes.
        fixed: whether all keys have this length.
    """

    texts: Sequence["Texts"]
    parts: Sequence[UInt64s]
    covered: int
    longest: int
    fixed: bool

    @property
    def exact(self) -> bool:
        """Whether equal normalized keys imply equal keys."""
        return self.covered >= self.longest

    def differing_ties(self, column: Callable[[], Column], order: Ints, fresh: Bools) -> Ints:
        """Finds neighbours with equal normalized keys but different remaining bytes.

        Args:
            column: returns the keys of all parts.
            order: its rows, sorted by normalized key.
            fresh: whether the normalized key differs from the one before.

        Returns:
            Positions in the order of the second row of each such pair.
        """
        if self.fixed:
            return np.flatnonzero(self._differ_after(order) & ~fresh)
        positions = np.flatnonzero(~fresh)
        lefts, rights = order.take(positions - 1), order.take(positions)
        return positions[Texts.of(column()).differ_at(self.covered, lefts, rights)]

    def _differ_after(self, order: Ints) -> Bools:
        """Which rows differ from the one before in the remaining bytes; for equal lengths."""
        differs = np.zeros(len(order), np.bool_)
        last = self.longest - nb.WORD_BYTES
        for at in range(self.covered, self.longest, nb.WORD_BYTES):
            # The last word overlaps the one before.
            parts = [text.strided(min(at, last), self.longest) for text in self.texts]
            words = np.concatenate(parts).take(order)
            differs[1:] |= words[1:] != words[:-1]
        return differs


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as NumPy arrays: ascending starts, lengths, and at least eight bytes of data."""

    begins: Ints
    lengths: Ints
    data: Bytes

    @classmethod
    def of(cls, column: Column) -> "Texts":
        """The texts of a column without nulls."""
        raw = column.buffers()
        offsets = nb.as_bytes(raw[1]).view(np.int32)[column.offset :][: len(column) + 1]
        data = nb.as_bytes(raw[2])
        if len(data) < nb.WORD_BYTES:
            data = nb.padded(data)
        return cls(offsets[:-1], np.diff(offsets), data)  # type: ignore[arg-type]  # int32 do too

    @property
    def shortest(self) -> int:
        """Length of the shortest text."""
        return int(self.lengths.min())

    @property
    def longest(self) -> int:
        """Length of the longest text."""
        return int(self.lengths.max())

    def strided(self, at: int, length: int) -> UInt64s:
        """The little-endian words at a byte offset of texts of equal length."""
        first = int(self.begins[0]) + at
        return np.ndarray((len(self.begins),), _U, self.data, first, (length,))

    def counted(self, at: int) -> UInt64s:
        """Seven bytes from an offset, zero-padded, and the number of remaining bytes (max 8)."""
        left = np.minimum(self.lengths - at, nb.WORD_BYTES).astype(np.int64)
        positions = np.add(self.begins, at, dtype=np.int64)
        last = len(self.data) - nb.WORD_BYTES
        words = nb.unaligned_words(self.data)[np.minimum(positions, last)].byteswap()
        if int(positions[-1]) > last:  # near the end of the buffer: read earlier, shift
            tail = int(np.searchsorted(positions, last, "right"))
            beyond = np.minimum(positions[tail:] - last, nb.WORD_BYTES).astype(_U)
            shifted = words[tail:] << (_U(8) * (beyond & _U(7)))
            words[tail:] = np.where(beyond < nb.WORD_BYTES, shifted, _U(0))
        words &= _SEVEN_BYTES.take(left)
        words |= left.view(_U)
        return words

    def differ_at(self, at: int, lefts: Ints, rights: Ints) -> Bools:
        """Which pairs of rows differ after a byte offset."""
        lengths = self.lengths.take(lefts)
        differs: Bools = lengths != self.lengths.take(rights)
        words = nb.unaligned_words(self.data)
        while True:
            open_ = np.flatnonzero(~differs & (lengths > at))
            if not len(open_):
                return differs
            # The last word overlaps the one before.
            positions = np.minimum(at, lengths.take(open_) - nb.WORD_BYTES).astype(np.int64)
            left = words[self.begins.take(lefts.take(open_)) + positions]
            differs[open_] = left != words[self.begins.take(rights.take(open_)) + positions]
            at += nb.WORD_BYTES
