"""Numbers and sizes of Avro at many positions of a buffer at once.

A lane is a position that is being walked; every operation works on all lanes with a few numpy
calls. Eight bytes are loaded per lane as one little-endian word, and the seven-bit groups of a
number are squeezed together in three steps, each of which halves the number of gaps.

The buffer is padded at both ends, so that a word may be loaded at any position in it. A position
that damaged sizes would carry outside raises `IndexError` in numpy or a `CorruptFileError` here.
"""

import threading
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import CorruptFileError

Positions: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Raw: TypeAlias = npt.NDArray[np.uint8]

PAD = 16
"""Zero bytes in front of and behind the data."""

_ONE = np.uint64(1)
_CONTINUED = np.uint64(0x8080808080808080)
_GROUPS = np.uint64(0x7F7F7F7F7F7F7F7F)
_BYTE_ONES = np.uint64(0x0101010101010101)
_TOP_BYTE = np.uint64(56)
_SQUEEZE = tuple(
    (np.uint64(high), np.uint64(low), np.uint64(shift))
    for high, low, shift in (
        (0x7F007F007F007F00, 0x007F007F007F007F, 1),
        (0xFFFF0000FFFF0000, 0x0000FFFF0000FFFF, 2),
        (0xFFFFFFFF00000000, 0x00000000FFFFFFFF, 4),
    )
)
_CONTINUES = 0x80
_SHORT = np.array([(byte >> 1) ^ -(byte & 1) for byte in range(_CONTINUES)], dtype=np.int64)
"""The numbers that single bytes are."""
_LONG_BYTES = 10
_SPARE_BYTES = 5 << 20
_ROOM = 8
_MOST_SPARE_BYTES = 32 << 20


class _Spare(threading.local):
    """Memory that one decoding after the other uses, so that it need not be mapped each time."""

    def __init__(self) -> None:
        self._data: bytearray | None = None
        self._flags = np.empty(0, np.bool_)

    def take(self, size: int) -> bytearray:
        """A buffer of at least that size, with a front pad of zeros; nobody else has it."""
        found, self._data = self._data, None
        if found is None or len(found) < size:
            return bytearray(max(size, min(_SPARE_BYTES, _ROOM * size)))
        return found

    def give(self, data: bytearray) -> None:
        """Take a buffer back."""
        if len(data) <= _MOST_SPARE_BYTES:
            self._data = data

    def flags(self, count: int) -> npt.NDArray[np.bool_]:
        """Room for booleans, until the next call."""
        if count > _MOST_SPARE_BYTES:
            return np.empty(count, np.bool_)
        if count > len(self._flags):
            self._flags = np.empty(max(count, _SPARE_BYTES), np.bool_)
        return self._flags[:count]


_SPARE = _Spare()


class Lanes:
    """A padded buffer and what can be read at positions of it.

    Attributes:
        raw: the bytes, pads included; position 0 is the first byte of the front pad.
        end: position behind the last byte of data.
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
        self.words: Words = np.ndarray(
            (size - 7,), dtype=np.dtype("<u8"), buffer=self.data, strides=(1,)
        )

    def release(self) -> None:
        """Let others use the buffer: all that was read from it has been copied."""
        _SPARE.give(self.data)

    def places_of(self, byte: int) -> Positions:
        """Where a byte stands."""
        flags = _SPARE.flags(self.end)
        return np.flatnonzero(np.equal(self.raw[: self.end], byte, out=flags))

    def longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Zigzag numbers at the lanes, and the positions behind them."""
        first = self.raw[at]
        if not len(first) or first.max() < _CONTINUES:
            return _SHORT.take(first), at + 1
        word = self.words[at]
        mask, size = _extent(word)
        if mask is None or size is None:
            return self._wide_longs(at)
        number = word & mask & _GROUPS
        for high, low, shift in _SQUEEZE:
            number = ((number & high) >> shift) | (number & low)
        value = ((number >> _ONE) ^ (~(number & _ONE) + _ONE)).view(np.int64)
        return value, at + size

    def skip_longs(self, at: Positions) -> Positions:
        """The positions behind the numbers at the lanes."""
        first = self.raw[at]
        if not len(first) or first.max() < _CONTINUES:
            return at + 1
        size = _extent(self.words[at])[1]
        return self._wide_longs(at)[1] if size is None else at + size

    def sizes(self, at: Positions, where: str) -> tuple[Positions, Positions]:
        """Numbers that count bytes or items which are still to come, and the positions behind.

        Raises:
            CorruptFileError: a number below 0 or beyond the end of the data.
        """
        size, behind = self.longs(at)
        # Seen as unsigned, a negative number is a huge one: one comparison finds both.
        if len(size) and size.view(np.uint64).max() > self.end:
            raise CorruptFileError("", where, "a size must lie within its block")
        return size, behind

    def _wide_longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Numbers of which some take nine or ten bytes."""
        number = np.zeros(len(at), dtype=np.uint64)
        size = np.zeros(len(at), dtype=np.int64)
        more = np.ones(len(at), dtype=np.bool_)
        for index in range(_LONG_BYTES):
            byte = np.where(more, self.raw[at + index], 0).astype(np.uint64)
            number |= (byte & np.uint64(0x7F)) << np.uint64(7 * index)
            size += more
            more = byte >= _CONTINUES
            if not more.any():
                value = ((number >> _ONE) ^ (~(number & _ONE) + _ONE)).view(np.int64)
                return value, at + size
        raise CorruptFileError("", "a number", f"must have at most {_LONG_BYTES} bytes")


def _extent(word: Words) -> tuple[Words | None, Positions | None]:
    """The bits of each word that belong to the number in front, and the number's bytes.

    None where a number does not end within the word.
    """
    stops = ~word & _CONTINUED
    first_stop = stops & (~stops + _ONE)
    if not first_stop.all():
        return None, None
    mask = first_stop | (first_stop - _ONE)
    size = ((mask & _BYTE_ONES) * _BYTE_ONES) >> _TOP_BYTE
    return mask, size.view(np.int64)
