"""Bitmap indexes: a bitmap of rows for each distinct value of a column.

    version 1: byte 1 | int32 rows | int32 values | byte has null | [int32 offset of null]
               (value, int32 offset) * values | bitmaps
    version 2: byte 2 | int32 rows | int32 values | byte has null | [int32 offset, int32 length]
               int32 blocks | (first value, int32 offset) * blocks | int32 size of the blocks
               blocks: int32 entries | (value, int32 offset, int32 length) * entries
               bitmaps

A non-negative offset is relative to the first bitmap; a negative one encodes the single row
`-1 - offset`. Blocks and their entries are in ascending order. Version 1 stores no lengths, as the
length of a bitmap follows from its content.

Spec: concepts/spec/fileindex, bitmap. Seen in: golden java200/fi_bitmap, java09/fi_bitmap.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field

from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.bsi import bitmap_of
from paimon_explore.encoding.file_index.byte_reader import ByteStream, int32
from paimon_explore.encoding.file_index.index_condition import LookupIndex, Relation
from paimon_explore.encoding.file_index.index_keys import Key, KeyCodec, is_ascending, key_codec
from paimon_explore.encoding.roaring_bitmap import encode_bitmap
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

KIND = "bitmap"
DEFAULT_BLOCK_BYTES = 16 * 1024

_PLAIN = 1
_BLOCKED = 2
_INT = 4


@dataclass(frozen=True, slots=True)
class BitmapIndex(LookupIndex):
    """A decoded bitmap index.

    Attributes:
        codec: converts values to keys.
        row_count: number of rows of the data file.
        key_count: number of distinct values.
    """

    codec: KeyCodec
    row_count: int
    key_count: int
    _stream: ByteStream
    _body: int
    _null_offset: int | None
    _blocks: Sequence[tuple[Key, int]]
    _entries: dict[int, dict[Key, int]] = field(default_factory=dict)

    def present(self) -> BitMap:
        """Return the rows that are not null."""
        everything = BitMap(range(self.row_count))
        return everything if self._null_offset is None else everything - self._at(self._null_offset)

    def equal(self, key: Key) -> BitMap:
        """Return the rows with a key."""
        block = bisect_right(self._blocks, key, key=lambda found: found[0]) - 1
        offset = self._block(block).get(key) if block >= 0 else None
        return BitMap() if offset is None else self._at(offset)

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """Return None: the index supports only equality."""
        del relation, key
        return None

    def groups(self) -> Iterator[tuple[Key, BitMap]]:
        """Yield each key with its rows, in the order of the file."""
        for block in range(len(self._blocks)):
            for key, offset in self._block(block).items():
                yield key, self._at(offset)

    def _block(self, number: int) -> dict[Key, int]:
        """Return the offset of each key of a block; version 1 has one block, already decoded."""
        if number not in self._entries:
            stream = ByteStream(self._stream.data, self._stream.path, self._blocks[number][1])
            entries = {}
            for _ in range(stream.count()):
                key = self.codec.read(stream)
                entries[key] = stream.number()
                stream.take(_INT)  # the length, which follows from the bitmap
            self._entries[number] = entries
        return self._entries[number]

    def _at(self, offset: int) -> BitMap:
        stream = ByteStream(self._stream.data, self._stream.path, self._body + max(offset, 0))
        if offset >= 0:
            return stream.bitmap(self.row_count)
        if -1 - offset >= self.row_count:
            stream.fail(f"the row number must be below {self.row_count}")
        return BitMap([-1 - offset])


def decode_bitmap_index(data: bytes, data_type: DataType, *, path: str) -> BitmapIndex:
    """Decode the index of a column.

    Raises:
        CorruptFileError: the index is damaged.
        UnsupportedVersionError: the version of the index is unknown.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    codec = key_codec(KIND, data_type)
    stream = ByteStream(data, path)
    version = stream.version("bitmap index", [_PLAIN, _BLOCKED])
    row_count = stream.count(2**31 - 1)
    key_count = stream.count()
    null_offset = stream.number() if stream.flag() else None
    if version == _BLOCKED:
        if null_offset is not None:
            stream.take(_INT)
        blocks, body = _read_blocks(stream, codec)
        return BitmapIndex(codec, row_count, key_count, stream, body, null_offset, blocks)
    entries = {}
    for _ in range(key_count):
        key = codec.read(stream)
        entries[key] = stream.number()
    lowest = [(min(entries), 0)] if entries else []
    body = stream.position
    return BitmapIndex(codec, row_count, key_count, stream, body, null_offset, lowest, {0: entries})


def _read_blocks(stream: ByteStream, codec: KeyCodec) -> tuple[list[tuple[Key, int]], int]:
    """Read the first key and the position of each block, and the start of the bitmaps."""
    found = [(codec.read(stream), stream.number()) for _ in range(stream.count())]
    size = stream.count()
    start = stream.position
    if any(not 0 <= offset < size for _, offset in found):
        stream.fail("the dictionary blocks must be before the bitmaps")
    if not is_ascending([key for key, _ in found]):
        stream.fail("the dictionary blocks must be in ascending order")
    return [(key, start + offset) for key, offset in found], start + size


def encode_bitmap_index(
    column: Column,
    data_type: DataType,
    *,
    version: int = _BLOCKED,
    block_bytes: int = DEFAULT_BLOCK_BYTES,
) -> bytes:
    """Encode the index of a column.

    Args:
        column: the values in the order of the rows of the data file.
        data_type: the type of the column.
        version: 1 or 2.
        block_bytes: maximum bytes of a block of version 2; a longer entry has its own block.

    Raises:
        InvalidInputError: the version is unknown.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    if version not in {_PLAIN, _BLOCKED}:
        raise InvalidInputError(f"The version of a bitmap index must be 1 or 2, not {version}.")
    codec = key_codec(KIND, data_type)
    ranked = codec.ranked(column)
    body = _Body()
    nulls = ranked.null_rows()
    null = body.add(bitmap_of(nulls)) if len(nulls) else None
    entries = [(codec.write(key), *body.add(bitmap_of(rows))) for key, rows in ranked.groups()]
    head = [bytes([version]), int32(ranked.row_count), int32(len(entries))]
    head += [b"\0"] if null is None else [b"\1", int32(null[0])]
    if version == _PLAIN:
        dictionary = [key + int32(offset) for key, offset, _ in entries]
    else:
        head += [] if null is None else [int32(null[1])]
        dictionary = _blocks(entries, block_bytes)
    return b"".join([*head, *dictionary, *body.parts])


class _Body:
    """The bitmaps after the dictionary."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def add(self, rows: BitMap) -> tuple[int, int]:
        """Add a bitmap; returns its offset and length. A single row is stored in the offset."""
        if len(rows) == 1:
            return -1 - rows[0], -1
        data = encode_bitmap(rows)
        self.parts.append(data)
        self._size += len(data)
        return self._size - len(data), len(data)


def _blocks(entries: list[tuple[bytes, int, int]], limit: int) -> list[bytes]:
    blocks: list[list[bytes]] = []
    firsts: list[bytes] = []
    size = limit
    for key, offset, length in entries:
        entry = key + int32(offset) + int32(length)
        if size + len(entry) > limit or not blocks:
            blocks.append([])
            firsts.append(key)
            size = _INT
        blocks[-1].append(entry)
        size += len(entry)
    written = [int32(len(block)) + b"".join(block) for block in blocks]
    head = [int32(len(blocks))]
    start = 0
    for key, block in zip(firsts, written, strict=True):
        head += [key, int32(start)]
        start += len(block)
    return [*head, int32(start), *written]
