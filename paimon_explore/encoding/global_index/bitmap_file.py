"""Bitmap index files: a bitmap of row ids for every key, found by a sorted dictionary.

    null rows | rows that are not null | bitmaps, dictionary blocks | index block | footer
    footer, 48 bytes BE: null rows, other rows, index block (each int64 offset, int32 size) |
    int32 number of keys | int32 version 1 | int32 magic

A dictionary block has the number of its entries and for each varint length and key, offset and size
of its bitmap, all as varints; the index block has the same for every dictionary block, with its
first key. Java writes keys in the order of values, pypaimon in that of their stored bytes. Row ids
count from the start of the row range in the index manifest.

Seen in: `tests/support/global_indexes.py`.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from pyroaring import BitMap64

from paimon_explore.encoding.global_index.blocks import BlockRange, IndexFileBytes
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.encoding.global_index.key_ranges import KeySet, is_ordered
from paimon_explore.encoding.roaring_bitmap import BitmapReader
from paimon_explore.encoding.varint import decode_varint
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import cached_property

MAGIC = 0x42474958
VERSION = 1
FOOTER = struct.Struct(">qiqiqiiii")


class BitmapIndexFile:
    """Looks up row ids in a bitmap index file.

    Attributes:
        key_count: number of distinct keys.
    """

    def __init__(self, file: IndexFileBytes, keys: GlobalIndexKeys) -> None:
        self._file = file
        self._keys = keys
        data = file.take(BlockRange(file.size - FOOTER.size, FOOTER.size), "footer")
        *parts, count, version, magic = FOOTER.unpack(data)
        if magic != MAGIC:
            rule = f"the magic number of a bitmap index must be {MAGIC:#x}, not {magic:#x}"
            raise CorruptFileError(file.path, "footer", rule)
        if version != VERSION:
            raise UnsupportedVersionError("the bitmap index file", version, (VERSION,), file.path)
        self._nulls, self._others, index = (
            BlockRange(parts[at], parts[at + 1]) for at in range(0, len(parts), 2)
        )
        self.key_count = count
        self._blocks = list(self._entries(index, "index block"))

    def null_rows(self) -> BitMap64:
        """Return the row ids with a null."""
        return self._bitmap(self._nulls)

    def scanned_bytes(self, wanted: KeySet) -> int:
        """Return the size of the dictionary blocks that a lookup reads."""
        return sum(block.size for _, block in self._blocks_of(wanted))

    def rows(self, wanted: KeySet) -> BitMap64:
        """Return the row ids of some keys.

        Raises:
            CorruptFileError: a block or bitmap is damaged.
        """
        found = BitMap64()
        for _, block in self._blocks_of(wanted):
            for stored, bitmap in self._entries(block, "dictionary block"):
                if wanted.contains(self._decoded(stored)):
                    found |= self._bitmap(bitmap)
        return found

    def _blocks_of(self, wanted: KeySet) -> list[tuple[bytes, BlockRange]]:
        """Return the blocks that may have some keys; all unless these are single keys."""
        numbers: set[int] = set()
        for part in wanted.ranges:
            low = part.low
            if low is None or part.high != self._keys.after(low) or self._keys.is_nan(low):
                return self._blocks
            found = [
                bisect_right(firsts, key)
                for firsts, key in ((self._values, low), (self._stored, self._keys.encode(low)))
                if firsts is not None
            ]
            if not found:
                return self._blocks
            numbers.update(number - 1 for number in found)
        return [self._blocks[number] for number in sorted(numbers) if number >= 0]

    @cached_property
    def _values(self) -> list[Key] | None:
        """First keys of the blocks, if these may be in the order of values."""
        return _ascending([self._decoded(stored) for stored, _ in self._blocks])

    @cached_property
    def _stored(self) -> list[Key] | None:
        """First keys of the blocks, if these may be in the order of stored bytes."""
        return _ascending([stored for stored, _ in self._blocks])

    def _bitmap(self, block: BlockRange) -> BitMap64:
        return BitmapReader(self._file.take(block, "bitmap"), self._file.path).take_wide()

    def _decoded(self, stored: bytes) -> Key:
        try:
            return self._keys.decode(stored)
        except ValueError as error:
            raise CorruptFileError(self._file.path, "dictionary block", str(error)) from error

    def _entries(self, block: BlockRange, what: str) -> Iterator[tuple[bytes, BlockRange]]:
        data = self._file.block(block, what)
        try:
            count, at = decode_varint(data, 0)
            for _ in range(count):
                size, at = decode_varint(data, at)
                key = data[at : at + size]
                offset, at = decode_varint(data, at + size)
                length, at = decode_varint(data, at)
                yield key, BlockRange(offset, length)
        except ValueError as error:
            where = f"{what} at byte {block.offset}"
            raise CorruptFileError(self._file.path, where, str(error)) from error


def _ascending(firsts: list[Key]) -> list[Key] | None:
    """Return keys that are in ascending order; None for others."""
    is_sorted = all(is_ordered(first, second) for first, second in pairwise(firsts))
    return firsts if is_sorted else None
