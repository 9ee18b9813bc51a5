"""Btree index files: keys in ascending order with the row ids of each, in blocks.

    data blocks | null bitmap, int32 LE crc32 | bloom filter | index block | footer
    footer, 52 bytes LE: bloom filter (int64 offset, int32 size, int64 keys) | index block (int64
    offset, int32 size) | null bitmap (int64 offset, int32 size) | int32 version 1 | int32 magic

A part that does not exist has offset and size 0. Data and index blocks have entries: varint length
and key, varint length and value, and at the end int32 LE and a byte: 0 and the size of every entry
if all have the same, else 1, the number of entries, and before it their positions (int32 LE).
The value of a data entry is the number of row ids and the row ids, as varints, from the start of
the row range in the index manifest on; the value of an index entry is offset and size of the block
as varints, its key is the last key of the block.

Seen in: `tests/support/global_indexes.py`.
"""

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator

from pyroaring import BitMap64

from paimon_explore.encoding.global_index.blocks import BlockRange, IndexFileBytes
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.encoding.global_index.key_ranges import KeySet
from paimon_explore.encoding.roaring_bitmap import BitmapReader
from paimon_explore.encoding.varint import decode_varint
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass

MAGIC = 0x50425449
VERSION = 1
FOOTER = struct.Struct("<qiqqiqiiI")
CHECKSUM_BYTES = 4
_BLOCK_END = 5
_ALIGNED, _UNALIGNED = 0, 1


@dataclass(frozen=True, slots=True)
class Footer:
    """The parts of a btree index file; None for those that do not exist."""

    index: BlockRange
    nulls: BlockRange | None
    bloom_filter: BlockRange | None


def read_footer(file: IndexFileBytes) -> Footer:
    """Read the footer of a btree index file.

    Raises:
        CorruptFileError: the file is not a btree index.
        UnsupportedVersionError: its version is not known.
    """
    data = file.take(BlockRange(file.size - FOOTER.size, FOOTER.size), "footer")
    bloom, bloom_size, _, index, index_size, nulls, null_size, version, magic = FOOTER.unpack(data)
    if magic != MAGIC:
        rule = f"the magic number of a btree index must be {MAGIC:#x}, not {magic:#x}"
        raise CorruptFileError(file.path, "footer", rule)
    if version != VERSION:
        raise UnsupportedVersionError("the btree index file", version, (VERSION,), file.path)
    return Footer(
        index=BlockRange(index, index_size),
        nulls=BlockRange(nulls, null_size) if nulls or null_size else None,
        bloom_filter=BlockRange(bloom, bloom_size) if bloom or bloom_size else None,
    )


class BTreeIndexFile:
    """Looks up row ids in a btree index file.

    Attributes:
        footer: the parts of the file.
    """

    def __init__(self, file: IndexFileBytes, keys: GlobalIndexKeys) -> None:
        self._file = file
        self._keys = keys
        self.footer = read_footer(file)
        self._lasts: list[Key] = []
        self._blocks: list[BlockRange] = []
        for key, value in self._entries(self.footer.index, "index block"):
            self._lasts.append(key)
            self._blocks.append(self._range_of(value))

    def null_rows(self) -> BitMap64:
        """Return the row ids with a null.

        Raises:
            CorruptFileError: the bitmap is damaged.
        """
        found = self.footer.nulls
        if found is None:
            return BitMap64()
        data = self._file.take(found, "null bitmap", trailer=CHECKSUM_BYTES)
        stored = int.from_bytes(data[found.size :], "little")
        actual = zlib.crc32(data[: found.size])
        if actual != stored:
            rule = f"the checksum of the bitmap is {actual:#x}, not {stored:#x} as stored"
            raise CorruptFileError(self._file.path, "null bitmap", rule)
        return BitmapReader(data[: found.size], self._file.path).take_wide()

    def scanned_bytes(self, wanted: KeySet) -> int:
        """Return the size of the data blocks that a lookup reads."""
        return sum(block.size for block in self._blocks_of(wanted))

    def rows(self, wanted: KeySet) -> BitMap64:
        """Return the row ids of some keys.

        Raises:
            CorruptFileError: a block is damaged.
        """
        found: list[int] = []
        for block in self._blocks_of(wanted):
            for key, value in self._entries(block, "data block"):
                if wanted.contains(key):
                    found.extend(self._row_ids(value))
        return BitMap64(found)

    def _blocks_of(self, wanted: KeySet) -> list[BlockRange]:
        """Return the blocks that may have some keys, in file order."""
        numbers: set[int] = set()
        for part in wanted.ranges:
            first = 0 if part.low is None else self._position(part.low)
            last = len(self._blocks) if part.high is None else self._position(part.high) + 1
            numbers.update(range(first, min(last, len(self._blocks))))
        return [self._blocks[number] for number in sorted(numbers)]

    def _position(self, key: Key) -> int:
        """Return the number of the first block whose last key is not below a key."""
        return bisect_left(self._lasts, key)

    def _entries(self, block: BlockRange, what: str) -> Iterator[tuple[Key, bytes]]:
        data = self._file.block(block, what)
        try:
            for key, value in _records(data):
                yield self._keys.decode(key), value
        except ValueError as error:
            where = f"{what} at byte {block.offset}"
            raise CorruptFileError(self._file.path, where, str(error)) from error

    def _range_of(self, value: bytes) -> BlockRange:
        try:
            offset, at = decode_varint(value, 0)
            size, _ = decode_varint(value, at)
        except ValueError as error:
            raise CorruptFileError(self._file.path, "index block", str(error)) from error
        return BlockRange(offset, size)

    def _row_ids(self, value: bytes) -> list[int]:
        try:
            return _numbers(value)
        except ValueError as error:
            raise CorruptFileError(self._file.path, "row ids of a key", str(error)) from error


def _numbers(value: bytes) -> list[int]:
    """Return the numbers of a list of varints that begins with their count.

    Raises:
        ValueError: the list is empty or does not end.
    """
    count, at = decode_varint(value, 0)
    if not 0 < count <= len(value):
        raise ValueError(f"the number of row ids must be 1 to {len(value)}, not {count}")
    found = []
    for _ in range(count):
        number, at = decode_varint(value, at)
        found.append(number)
    return found


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of each entry of a block.

    Raises:
        ValueError: the block breaks its layout.
    """
    if len(data) < _BLOCK_END:
        raise ValueError(f"must have at least {_BLOCK_END} bytes")
    number, kind = struct.unpack("<iB", data[-_BLOCK_END:])
    if kind not in {_ALIGNED, _UNALIGNED}:
        raise ValueError(f"the layout must be {_ALIGNED} or {_UNALIGNED}, not {kind}")
    end = len(data) - _BLOCK_END - (4 * number if kind == _UNALIGNED else 0)
    if number < 0 or end < 0:
        raise ValueError(f"cannot have {number} entries")
    at = count = 0
    while at < end:
        size, at = decode_varint(data, at)
        key = data[at : at + size]
        size, at = decode_varint(data, at + size)
        at += size
        if at > end:
            raise ValueError("an entry extends beyond the end of the block")
        yield key, data[at - size : at]
        count += 1
    if kind == _UNALIGNED and count != number:
        raise ValueError(f"must have {number} entries, not {count}")
