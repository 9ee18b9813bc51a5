"""Numbers and sizes of Avro at many positions of a buffer at once.

A lane is a position that is being walked; every operation works on all lanes with a few numpy
calls. Eight bytes are loaded per lane as one little-endian word, and the seven-bit groups of a
number are squeezed together in three steps, each of which halves the number of gaps.

The buffer is padded at both ends, so that a word may be loaded at any position in it. A position
that damaged sizes would carry outside raises `IndexError` in numpy or a `CorruptFileError` here.
"""

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
_LONG_BYTES = 10


class Lanes:
    """A padded buffer and what can be read at positions of it.

    Attributes:
        raw: the bytes, pads included; position 0 is the first byte of the front pad.
        end: position behind the last byte of data.
    """

    def __init__(self, parts: list[bytes]) -> None:
        pad = bytes(PAD)
        data = b"".join([pad, *parts, pad])
        self.raw: Raw = np.frombuffer(data, dtype=np.uint8)
        self.data = data
        self.end = len(data) - PAD
        self.words: Words = np.ndarray(
            (len(data) - 7,), dtype=np.dtype("<u8"), buffer=data, strides=(1,)
        )

    def longs(self, at: Positions) -> tuple[Positions, Positions]:
        """Zigzag numbers at the lanes, and the positions behind them."""
        first = self.raw[at]
        if not len(first) or first.max() < _CONTINUES:
            value = first.astype(np.int64)
            return (value >> 1) ^ -(value & 1), at + 1
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
