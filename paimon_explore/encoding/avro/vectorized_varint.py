"""Vectorized decoding of Avro's zigzag varints at many positions of a buffer.

Every operation decodes at all positions with some numpy calls. Eight bytes are loaded per position
as a little-endian word, and the seven-bit groups of a number are compacted in three steps, each of
which halves the number of gaps. Numbers of up to two or four bytes, the usual case, use words of
that size, which are faster.

The buffer is padded at both ends, so that a word can be loaded at any position. A position outside
of the buffer, due to damaged sizes, raises an `IndexError` in numpy or a `CorruptFileError` here.
"""

import threading
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import CorruptFileError

Positions: TypeAlias = npt.NDArray[np.int64]
UInt64s: TypeAlias = npt.NDArray[np.uint64]
Raw: TypeAlias = npt.NDArray[np.uint8]
Pairs: TypeAlias = npt.NDArray[np.uint16]
Word: TypeAlias = np.uint32 | np.uint64
_Numbers: TypeAlias = npt.NDArray[np.unsignedinteger]

PAD = 32
"""Zero bytes before and after the data."""


class _Width(NamedTuple):
    """Constants for words of a size, in the type of these words."""

    continued: Word
    groups: Word
    byte_ones: Word
    top_byte: Word
    squeeze: tuple[tuple[Word, Word, np.uint8], ...]

    @classmethod
    def of(cls, kind: type[np.uint32 | np.uint64]) -> "_Width":
        """Return the constants of a word type, truncated from those of the longest."""
        size = np.dtype(kind).itemsize
        every = (1 << 8 * size) - 1
        return cls(
            continued=kind(0x8080808080808080 & every),
            groups=kind(0x7F7F7F7F7F7F7F7F & every),
            byte_ones=kind(0x0101010101010101 & every),
            top_byte=kind(8 * size - 8),
            squeeze=tuple(
                (kind(high & every), kind(low & every), np.uint8(shift))
                for high, low, shift in (
                    (0x7F007F007F007F00, 0x007F007F007F007F, 1),
                    (0xFFFF0000FFFF0000, 0x0000FFFF0000FFFF, 2),
                    (0xFFFFFFFF00000000, 0x00000000FFFFFFFF, 4),
                )
                if shift < size
            ),
        )


_FOUR, _EIGHT = _Width.of(np.uint32), _Width.of(np.uint64)
_TWO_BYTES = np.uint16(0x0080)
_TWO_MASK = np.uint16(0x8080)
_LOW_SEVEN = np.uint16(0x007F)
_HIGH_SEVEN = np.uint16(0x3F80)
_ONE_BIT = np.uint8(1)
_CONTINUES = 0x80
_SHORT = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(_CONTINUES)], dtype=np.int64)
"""Decoded numbers by single byte."""
_LONG_BYTES = 10
_SPARE_BYTES = 5 << 20
_ROOM = 8
_MOST_SPARE_BYTES = 32 << 20
_PAIR_BYTES, _HALF_BYTES, _WORD = 2, 4, 8
_MANY_HITS = 32


class _Spare(threading.local):
    """Reusable memory for decoding, which avoids page faults."""

    def __init__(self) -> None:
        self._data: bytearray | None = None
        self._flags = np.empty(0, np.bool_)

    def take(self, size: int) -> bytearray:
        """Take a buffer of at least a size, with leading zeros; the caller owns it."""
        found, self._data = self._data, None
        if found is None or len(found) < size:
            return bytearray(max(size, min(_SPARE_BYTES, _ROOM * size)))
        return found

    def give(self, data: bytearray) -> None:
        """Return a buffer for reuse."""
        if len(data) <= _MOST_SPARE_BYTES:
            self._data = data

    def flags(self, count: int) -> npt.NDArray[np.bool_]:
        """Return an array for booleans, valid until the next call."""
        if count > _MOST_SPARE_BYTES:
            return np.empty(count, np.bool_)
        if count > len(self._flags):
            self._flags = np.empty(max(count, _SPARE_BYTES), np.bool_)
        return self._flags[:count]


_SPARE = _Spare()


class PaddedBuffer:
    """A padded buffer, with operations at many positions.

    Attributes:
        raw: the bytes with padding; position 0 is the first byte of the padding.
        end: position after the last byte of data.
    """

    def __init__(self, parts: list[bytes]) -> None:
        self.end = PAD + sum(map(len, parts))
        size = self.end + PAD
        self.data = _SPARE.take(size)
        place = PAD
        for part in parts:
            self.data[place : place + len(part)] = part
            place += len(part)
        self.data[place:size] = bytes(PAD)
        self.raw: Raw = np.frombuffer(self.data, dtype=np.uint8, count=size)
        self.words: UInt64s = np.ndarray((size - 7,), "<u8", buffer=self.data, strides=(1,))
        self._halves: UInt64s = np.ndarray((size - 3,), "<u4", buffer=self.data, strides=(1,))
        self._pairs: Pairs = np.ndarray((size - 1,), "<u2", buffer=self.data, strides=(1,))

    def release(self) -> None:
        """Release the buffer for reuse; everything read from it must have been copied."""
        _SPARE.give(self.data)

    def positions_of(self, byte: int) -> Positions:
        """Return the positions of a byte value."""
        size = -(-self.end // _WORD) * _WORD
        flags = _SPARE.flags(size)
        np.equal(self.raw[:size], byte, out=flags)
        flags[self.end :] = False
        # first words with a hit, then the hits in them, as numpy is slow per byte
        hits = np.flatnonzero(flags.view(np.uint64) != 0)
        if _MANY_HITS * len(hits) > size:
            return np.flatnonzero(flags)
        inside = np.flatnonzero(flags.reshape(-1, _WORD)[hits])
        found: Positions = (hits * _WORD)[inside >> 3] + (inside & 7)
        return found

    def fixed_spans(self, at: Positions, size: int) -> Raw:
        """Copy `size` bytes at each position, which must be within the buffer."""
        shape = (len(self.raw) - size + 1,)
        found = np.ndarray(shape, f"V{size}", buffer=self.data, strides=(1,))
        return found[at].view(np.uint8)

    def longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Decode the number at each position; also returns the positions after the numbers."""
        first_bytes = self._first_size(at)
        if first_bytes <= 1:
            first = self.raw[at]
            if not len(first) or first.max() < _CONTINUES:
                return _SHORT.take(first), at + 1
        elif first_bytes == _PAIR_BYTES:
            pair = self._pairs[at]
            if ((pair & _TWO_MASK) == _TWO_BYTES).all():
                both: Pairs = ((pair >> _ONE_BIT) & _HIGH_SEVEN) | (pair & _LOW_SEVEN)
                return unfolded(both), at + 2
        found = self._extents(at, first_bytes)
        if found is None:
            return self._wide_longs(at)
        number, size, width = found
        number &= width.groups
        for high, low, shift in width.squeeze:
            high_half: _Numbers = (number & high) >> shift
            number = high_half | (number & low)
        return unfolded(number), at + size

    def skip_longs(self, at: Positions) -> Positions:
        """Return the positions after the number at each position."""
        first_bytes = self._first_size(at)
        if first_bytes <= 1:
            first = self.raw[at]
            if not len(first) or first.max() < _CONTINUES:
                return at + 1
        found = self._extents(at, first_bytes)
        return self._wide_longs(at)[1] if found is None else at + found[1]

    def _first_size(self, at: Positions) -> int:
        """Return the size of the first number, a hint for all; 0 without positions."""
        if not len(at):
            return 0
        place = int(at[0])
        for size in range(1, _WORD):
            if self.data[place + size - 1] < _CONTINUES:
                return size
        return _WORD

    def _extents(
        self, at: Positions, first_bytes: int
    ) -> "tuple[_Numbers, Positions, _Width] | None":
        """Load words with the number at each position, and its size; None if a number is longer."""
        if first_bytes <= _HALF_BYTES:
            found = _extent(self._halves[at], _FOUR)
            if found is not None:
                return found
        return _extent(self.words[at], _EIGHT)

    def sizes(self, at: Positions, where: str) -> tuple[Positions, Positions]:
        """Decode sizes or counts of following data; also returns the positions after them.

        Raises:
            CorruptFileError: a number is negative or exceeds the data.
        """
        size, behind = self.longs(at)
        # as unsigned, a negative number is huge, so that one comparison finds both
        if len(size) and size.view(np.uint64).max() > self.end:
            raise CorruptFileError("", where, "a value extends beyond the end of the block")
        return size, behind

    def _wide_longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Decode numbers of which some have nine or ten bytes."""
        number = np.zeros(len(at), dtype=np.uint64)
        size = np.zeros(len(at), dtype=np.int64)
        more = np.ones(len(at), dtype=np.bool_)
        for index in range(_LONG_BYTES):
            byte = np.where(more, self.raw[at + index], 0).astype(np.uint64)
            number |= (byte & np.uint64(0x7F)) << np.uint64(7 * index)
            size += more
            more = byte >= _CONTINUES
            if not more.any():
                return unfolded(number), at + size
        raise CorruptFileError("", "a varint", f"must have at most {_LONG_BYTES} bytes")


def _extent(word: _Numbers, width: _Width) -> "tuple[_Numbers, Positions, _Width] | None":
    """Return the bytes of the number at the start of each word, and its size.

    None if a number does not end within the word.
    """
    stops = ~word & width.continued
    if not stops.all():
        return None
    mask = stops ^ (stops - 1)  # up to the first one
    size = ((mask & width.byte_ones) * width.byte_ones) >> width.top_byte
    return word & mask, size.astype(np.int64), width


def unfolded(number: _Numbers) -> Positions:
    """Decode zigzag numbers."""
    signed = f"i{number.itemsize}"
    value = (number >> 1).view(signed)
    value ^= -(number & 1).view(signed)
    return value.astype(np.int64)
