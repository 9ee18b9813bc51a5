"""Roaring bitmaps in the portable serialization format, validated before deserialization.

The bitmap library does not validate its input: a wrong cardinality would make it write out of
bounds later. So every container is validated here first. This also determines the end of a bitmap,
which formats with consecutive bitmaps do not store.

Layout (all integers are little-endian): cookie, [run flags], key and cardinality - 1 of each
container, [offset of each container], containers. A container is an array of 16-bit numbers, a
bitset of 8192 bytes, or runs.

Spec: https://github.com/RoaringBitmap/RoaringFormatSpec.
"""

from typing import NoReturn

import numpy as np
from pyroaring import BitMap, BitMap64

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Ints
from paimon_explore.errors import CorruptFileError

_COOKIE = 0x303A
_RUN_COOKIE = 0x303B
_OFFSETS_FROM = 4
"""Minimum number of containers for which offsets are stored if there are run containers."""
_ARRAY_MAX = 4096
_BITSET_BYTES = 8192
_SPACE = 1 << 16


class BitmapReader:
    """Reads consecutive bitmaps from bytes.

    Attributes:
        data: the bytes.
        position: start of the next bitmap.
    """

    def __init__(self, data: bytes, path: str, position: int = 0) -> None:
        self.data = data
        self.position = position
        self._path = path
        self._view: Bytes = np.frombuffer(data, np.uint8)

    def take(self) -> BitMap:
        """Read the next bitmap.

        Raises:
            CorruptFileError: the bitmap is damaged.
        """
        start = self.position
        self._check(start)
        try:
            return BitMap.deserialize(self.data[start : self.position])
        except ValueError as error:
            self._fail(start, "cannot be decoded as a roaring bitmap", error)

    def take_wide(self) -> BitMap64:
        """Read the next 64-bit bitmap: a count, then each high half with its bitmap."""
        start = self.position
        count = int(self._numbers(start, 1, "<i8")[0])
        self.position += 8
        last = -1
        if count < 0:
            self._fail(start, "the number of bitmaps must not be negative")
        for _ in range(count):
            key = int(self._numbers(self.position, 1, "<u4")[0])
            if key <= last:
                self._fail(
                    self.position, "the high 32 bits of the bitmaps must be in ascending order"
                )
            last = key
            self.position += 4
            self._check(self.position)
        try:
            return BitMap64.deserialize(self.data[start : self.position])
        except ValueError as error:
            self._fail(start, "cannot be decoded as a roaring bitmap", error)

    def _fail(self, position: int, rule: str, cause: Exception | None = None) -> NoReturn:
        raise CorruptFileError(self._path, f"bitmap at byte {position}", rule) from cause

    def _numbers(self, position: int, count: int, dtype: str) -> Ints:
        size = count * np.dtype(dtype).itemsize
        part = self._view[position : position + size]
        if len(part) != size:
            self._fail(position, "extends beyond the end of the file")
        return part.view(dtype).astype(np.int64)

    def _check(self, start: int) -> None:
        """Validate the bitmap at `start` and move to its end."""
        count, runs, self.position = self._head(start)
        header = self._numbers(self.position, 2 * count, "<u2")
        self.position += 4 * count
        keys, cardinalities = header[::2], header[1::2] + 1
        if (np.diff(keys) <= 0).any():
            self._fail(start, "container keys must be in ascending order")
        if runs is None or count >= _OFFSETS_FROM:
            self.position += 4 * count
        for index, cardinality in enumerate(cardinalities.tolist()):
            if runs is not None and runs[index]:
                self._check_runs(cardinality)
            elif cardinality <= _ARRAY_MAX:
                self._check_array(cardinality)
            else:
                self._check_bitset(cardinality)

    def _head(self, start: int) -> tuple[int, Bools | None, int]:
        """Read the head: number of containers, run flags (None if absent), and its end."""
        cookie = int(self._numbers(start, 1, "<u4")[0])
        if cookie & 0xFFFF == _RUN_COOKIE:
            count = (cookie >> 16) + 1
            size = (count + 7) // 8
            flags = self._numbers(start + 4, size, "u1").astype(np.uint8)
            return count, nb.bits_of(flags, 0, count), start + 4 + size
        if cookie != _COOKIE:
            self._fail(
                start, f"the cookie must be {_COOKIE:#x} or {_RUN_COOKIE:#x}, not {cookie:#x}"
            )
        count = int(self._numbers(start + 4, 1, "<u4")[0])
        if count > _SPACE:
            self._fail(start, f"must have at most {_SPACE} containers")
        return count, None, start + 8

    def _check_array(self, cardinality: int) -> None:
        values = self._numbers(self.position, cardinality, "<u2")
        if (np.diff(values) <= 0).any():
            self._fail(self.position, "the values of an array container must be in ascending order")
        self.position += 2 * cardinality

    def _check_bitset(self, cardinality: int) -> None:
        part = self._view[self.position : self.position + _BITSET_BYTES]
        if len(part) != _BITSET_BYTES:
            self._fail(self.position, "extends beyond the end of the file")
        if int(np.bitwise_count(part).sum()) != cardinality:
            self._fail(
                self.position,
                f"a bitset must have {cardinality} bits set, as stated in the header",
            )
        self.position += _BITSET_BYTES

    def _check_runs(self, cardinality: int) -> None:
        count = int(self._numbers(self.position, 1, "<u2")[0])
        runs = self._numbers(self.position + 2, 2 * count, "<u2")
        first, last = runs[::2], runs[::2] + runs[1::2]
        if (first[1:] <= last[:-1]).any() or (last >= _SPACE).any():
            self._fail(self.position, "runs must be in ascending order within their container")
        if int((last - first + 1).sum()) != cardinality:
            self._fail(
                self.position,
                f"the runs must have {cardinality} values, as stated in the header",
            )
        self.position += 2 + 4 * count


def decode_bitmap(data: bytes, path: str) -> BitMap:
    """Decode the bitmap at the start of the bytes; following bytes are ignored.

    Raises:
        CorruptFileError: the bitmap is damaged.
    """
    return BitmapReader(data, path).take()


def encode_bitmap(bitmap: BitMap) -> bytes:
    """Encode a bitmap as Java does, with run containers where they are shorter."""
    best = bitmap.copy()
    best.run_optimize()
    return best.serialize()
