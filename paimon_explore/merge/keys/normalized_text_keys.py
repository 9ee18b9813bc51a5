"""Normalized keys of texts in sorted parts: the bytes after the common prefix of a chunk.

Neighbours in a sorted part share long prefixes. So parts are split at common pivots into chunks,
and of each key only the eight bytes after the chunk's common prefix are used, as a big-endian
integer. Keys of equal length use eight bytes; keys of different lengths use seven, zero-padded,
plus the number of remaining bytes (at most 8) in the lowest byte. Longer keys with equal normalized
keys are compared by their remaining bytes.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, UInt64s
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass

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
    largest = max(columns, key=len)
    begins = [0] * len(columns)
    for row in [*range(_CHUNK_ROWS, len(largest), _CHUNK_ROWS), None]:
        if row is None:
            ends = [len(column) for column in columns]
        else:
            pivot = _text(largest, row)
            ends = [
                _rows_below(column, pivot, begin)
                for column, begin in zip(columns, begins, strict=True)
            ]
        part_ids = [at for at, end in enumerate(ends) if end > begins[at]]
        if part_ids:
            yield TextChunk(
                part_ids,
                [begins[at] for at in part_ids],
                [columns[at][begins[at] : ends[at]] for at in part_ids],
            )
        begins = ends


def _rows_below(column: Column, pivot: bytes, low: int) -> int:
    high = len(column)
    while low < high:
        middle = (low + high) // 2
        if _text(column, middle) < pivot:
            low = middle + 1
        else:
            high = middle
    return low


def _text(column: Column, row: int) -> bytes:
    return bytes(column[row].as_buffer())  # type: ignore[attr-defined]  # of texts and bytes


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
        low = min(_text(column, 0) for column in self.columns)
        high = max(_text(column, len(column) - 1) for column in self.columns)
        prefix = _common(low, high)
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
            return NormalizedTexts(self.columns, parts, at + nb.WORD_BYTES, longest, fixed=True)
        parts = [text.counted(prefix) for text in texts]
        return NormalizedTexts(
            self.columns, parts, prefix + nb.WORD_BYTES - 1, longest, fixed=False
        )


@dataclass(frozen=True, slots=True)
class NormalizedTexts:
    """The normalized keys of a chunk.

    Attributes:
        columns: the keys, per part.
        parts: their normalized keys.
        covered: number of leading bytes of a key that the prefix and its normalized key determine.
        longest: length of the longest key in bytes.
        fixed: whether all keys have this length.
    """

    columns: Sequence[Column]
    parts: Sequence[UInt64s]
    covered: int
    longest: int
    fixed: bool

    @property
    def exact(self) -> bool:
        """Whether equal normalized keys imply equal keys."""
        return self.covered >= self.longest

    def differing_ties(self, column: Column, order: Ints, fresh: Bools) -> Ints:
        """Finds neighbours with equal normalized keys but different remaining bytes.

        Args:
            column: the keys of all parts.
            order: its rows, sorted by normalized key.
            fresh: whether the normalized key differs from the one before.

        Returns:
            Positions in the order of the second row of each such pair.
        """
        text = Texts.of(column)
        if self.fixed:
            return np.flatnonzero(text.differ_after(self.covered, order) & ~fresh)
        positions = np.flatnonzero(~fresh)
        return positions[
            text.differ_at(self.covered, order.take(positions - 1), order.take(positions))
        ]


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

    def differ_after(self, at: int, order: Ints) -> Bools:
        """Which rows differ from the one before after a byte offset; for texts of equal length."""
        length = int(self.lengths[0])
        rest = int(nb.round_up(np.array(length - at)))
        first = int(self.begins[0]) + length - rest
        images = np.ndarray((len(order),), f"V{rest}", self.data, first, (length,))
        words = images.take(order).view(_U).reshape(len(order), rest // nb.WORD_BYTES)
        differs = np.zeros(len(order), np.bool_)
        for column in words.T:
            differs[1:] |= column[1:] != column[:-1]
        return differs

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
