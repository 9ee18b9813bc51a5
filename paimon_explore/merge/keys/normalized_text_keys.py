"""Texts of sorted parts as words: what comes after a prefix that a chunk of keys has in common.

Theory of operation. Neighbours in a sorted part share long prefixes. So parts are cut at common
pivots into chunks, and of each key in a chunk only the eight bytes after the chunk's common prefix
are looked at: read as one number, high byte first, they order the keys. Keys of one length take
eight bytes; of different lengths seven, padded with zeros, and how many bytes are left (at most 8)
below them. Where keys are longer than that, those of equal words are compared in their rest.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, Words
from paimon_explore.errors import FormatError
from paimon_explore.frozen_dataclass import dataclass

_CHUNK_ROWS = 4096
"""Rows of the largest part in a chunk: what the sort of all its rows takes fits the caches."""
_U = np.uint64
_SEVEN_BYTES = np.array([0, *((-1 << 8 * (8 - left)) % (1 << 64) for left in range(1, 8)), 0], _U)
_SEVEN_BYTES[8] = _SEVEN_BYTES[7]
"""By how many bytes of a text are left: a mask of so many, the first one highest, at most 7."""


def cut_at_pivots(columns: Sequence[Column]) -> Iterator["TextChunk"]:
    """Sorted texts in chunks, ascending; a chunk has all rows of its keys.

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
        places = [at for at, end in enumerate(ends) if end > begins[at]]
        if places:
            yield TextChunk(
                places,
                [begins[at] for at in places],
                [columns[at][begins[at] : ends[at]] for at in places],
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
    """How many bytes two texts share at their begin."""
    pairs = enumerate(zip(low, high, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(low), len(high)))


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Slices of sorted parts that hold the same range of keys.

    Attributes:
        places: which of the parts have rows in it.
        begins: where these begin in the parts.
        columns: their slices.
    """

    places: Sequence[int]
    begins: Sequence[int]
    columns: Sequence[Column]

    def words(self) -> "TextWords":
        """The words of the keys.

        Raises:
            FormatError: the parts do not ascend.
        """
        low = min(_text(column, 0) for column in self.columns)
        high = max(_text(column, len(column) - 1) for column in self.columns)
        prefix = _common(low, high)
        texts = [Texts.of(column) for column in self.columns]
        shortest = min(text.shortest for text in texts)
        longest = max(text.longest for text in texts)
        if shortest < prefix:
            raise FormatError(
                "A sorted run is not sorted.",
                hint="Rows of a primary-key data file are sorted by key, and each key occurs once.",
            )
        if shortest == longest >= nb.WORD:
            at = min(prefix, longest - nb.WORD)
            parts = [text.strided(at, longest).byteswap() for text in texts]
            return TextWords(self.columns, parts, at + nb.WORD, longest, fixed=True)
        parts = [text.counted(prefix) for text in texts]
        return TextWords(self.columns, parts, prefix + nb.WORD - 1, longest, fixed=False)


@dataclass(frozen=True, slots=True)
class TextWords:
    """Words of the keys of a chunk.

    Attributes:
        columns: the keys, per part.
        parts: their words.
        told: how many bytes of a key, from its begin on, its word and the prefix tell.
        longest: bytes of the longest key.
        fixed: whether all keys have this length.
    """

    columns: Sequence[Column]
    parts: Sequence[Words]
    told: int
    longest: int
    fixed: bool

    @property
    def exact(self) -> bool:
        """Whether keys of equal words are equal."""
        return self.told >= self.longest

    def deceiving(self, column: Column, order: Ints, fresh: Bools) -> Ints:
        """Where neighbours of equal words differ in what comes behind.

        Args:
            column: the keys of all parts.
            order: its rows, sorted by word.
            fresh: where the word is another than that of the row before.

        Returns:
            Places in the order, of the second one of two.
        """
        text = Texts.of(column)
        if self.fixed:
            return np.flatnonzero(text.differ_behind(self.told, order) & ~fresh)
        places = np.flatnonzero(~fresh)
        return places[text.differ_at(self.told, order.take(places - 1), order.take(places))]


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as numpy arrays: where they begin, ascending, their lengths, at least eight bytes."""

    begins: Ints
    lengths: Ints
    data: Bytes

    @classmethod
    def of(cls, column: Column) -> "Texts":
        """The texts of a column without nulls."""
        raw = column.buffers()
        offsets = nb.as_bytes(raw[1]).view(np.int32)[column.offset :][: len(column) + 1]
        data = nb.as_bytes(raw[2])
        if len(data) < nb.WORD:
            data = nb.padded(data)
        return cls(offsets[:-1], np.diff(offsets), data)  # type: ignore[arg-type]  # int32 do too

    @property
    def shortest(self) -> int:
        """Length of the shortest one."""
        return int(self.lengths.min())

    @property
    def longest(self) -> int:
        """Length of the longest one."""
        return int(self.lengths.max())

    def strided(self, at: int, length: int) -> Words:
        """The words at a byte of texts that all have one length, low byte first."""
        first = int(self.begins[0]) + at
        return np.ndarray((len(self.begins),), _U, self.data, first, (length,))

    def counted(self, at: int) -> Words:
        """Seven bytes from a byte on, zeros behind the end, and how many were left, at most 8."""
        left = np.minimum(self.lengths - at, nb.WORD).astype(np.int64)
        places = np.add(self.begins, at, dtype=np.int64)
        last = len(self.data) - nb.WORD
        words = nb.unaligned_words(self.data)[np.minimum(places, last)].byteswap()
        if int(places[-1]) > last:  # near the end of the buffer: read earlier, shift
            tail = int(np.searchsorted(places, last, "right"))
            beyond = np.minimum(places[tail:] - last, nb.WORD).astype(_U)
            shifted = words[tail:] << (_U(8) * (beyond & _U(7)))
            words[tail:] = np.where(beyond < nb.WORD, shifted, _U(0))
        words &= _SEVEN_BYTES.take(left)
        words |= left.view(_U)
        return words

    def differ_behind(self, at: int, order: Ints) -> Bools:
        """Which rows differ from the one before from a byte on; all have one length."""
        length = int(self.lengths[0])
        rest = int(nb.round_up(np.array(length - at)))
        first = int(self.begins[0]) + length - rest
        images = np.ndarray((len(order),), f"V{rest}", self.data, first, (length,))
        words = images.take(order).view(_U).reshape(len(order), rest // nb.WORD)
        differs = np.zeros(len(order), np.bool_)
        for column in words.T:
            differs[1:] |= column[1:] != column[:-1]
        return differs

    def differ_at(self, at: int, lefts: Ints, rights: Ints) -> Bools:
        """Which pairs of rows differ from a byte on; at least 8 bytes long where they have it."""
        lengths = self.lengths.take(lefts)
        differs: Bools = lengths != self.lengths.take(rights)
        words = nb.unaligned_words(self.data)
        while True:
            open_ = np.flatnonzero(~differs & (lengths > at))
            if not len(open_):
                return differs
            # the last word overlaps the one before
            places = np.minimum(at, lengths.take(open_) - nb.WORD).astype(np.int64)
            left = words[self.begins.take(lefts.take(open_)) + places]
            differs[open_] = left != words[self.begins.take(rights.take(open_)) + places]
            at += nb.WORD
