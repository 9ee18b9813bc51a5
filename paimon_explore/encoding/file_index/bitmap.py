"""Bitmap indexes: for each value of a column the rows that hold it.

    version 1: byte 1 | int32 rows | int32 values | byte has null | [int32 offset of null]
               (value, int32 offset) * values | bitmaps
    version 2: byte 2 | int32 rows | int32 values | byte has null | [int32 offset, int32 length]
               int32 blocks | (first value, int32 offset) * blocks | int32 size of the blocks
               blocks: int32 entries | (value, int32 offset, int32 length) * entries
               bitmaps

An offset from 0 on counts from the first bitmap; below 0 it stands for the single row
`-1 - offset`. Blocks and their entries ascend. Version 1 states no lengths: a bitmap tells its own
end.

Spec: concepts/spec/fileindex, bitmap. Seen in: golden java200/fi_bitmap, java09/fi_bitmap.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field

from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.bit_slices import bitmap_of
from paimon_explore.encoding.file_index.byte_reader import ByteStream
from paimon_explore.encoding.file_index.index_condition import Condition, Relation, rows_of
from paimon_explore.encoding.file_index.index_keys import Key, KeyCodec, ascend, key_codec
from paimon_explore.encoding.roaring.portable_bitmap import encode_bitmap
from paimon_explore.errors import InvalidInputError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass

KIND = "bitmap"
DEFAULT_BLOCK_BYTES = 16 * 1024

_PLAIN = 1
_BLOCKED = 2
_INT = 4


@dataclass(frozen=True, slots=True)
class BitmapIndex:
    """The index of one column.

    Attributes:
        codec: the column's keys.
        row_count: rows of the data file.
        key_count: distinct values.
    """

    codec: KeyCodec
    row_count: int
    key_count: int
    _stream: ByteStream
    _body: int
    _null_offset: int | None
    _blocks: Sequence[tuple[Key, int]]
    _entries: dict[int, dict[Key, int]] = field(default_factory=dict)

    def rows(self, condition: Condition) -> BitMap | None:
        """The rows that satisfy a condition; None for the comparisons of order."""
        return rows_of(self, condition)

    def may_match(self, condition: Condition) -> bool:
        """Whether any row may satisfy the condition."""
        found = self.rows(condition)
        return found is None or bool(found)

    def present(self) -> BitMap:
        """The rows that are not null."""
        everything = BitMap(range(self.row_count))
        return everything if self._null_offset is None else everything - self._at(self._null_offset)

    def equal(self, key: Key) -> BitMap:
        """The rows of a key."""
        block = bisect_right(self._blocks, key, key=lambda found: found[0]) - 1
        offset = self._block(block).get(key) if block >= 0 else None
        return BitMap() if offset is None else self._at(offset)

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """Not told: the index has equality only."""
        del relation, key
        return None

    def groups(self) -> Iterator[tuple[Key, BitMap]]:
        """Each key with its rows, in the order of the file."""
        for block in range(len(self._blocks)):
            for key, offset in self._block(block).items():
                yield key, self._at(offset)

    def _block(self, number: int) -> dict[Key, int]:
        """The offset of each key of a block; of version 1 there is one block, read at once."""
        if number not in self._entries:
            stream = ByteStream(self._stream.data, self._stream.path, self._blocks[number][1])
            entries = {}
            for _ in range(stream.count()):
                key = self.codec.read(stream)
                entries[key] = stream.number()
                stream.take(_INT)  # the length, which the bitmap tells itself
            self._entries[number] = entries
        return self._entries[number]

    def _at(self, offset: int) -> BitMap:
        stream = ByteStream(self._stream.data, self._stream.path, self._body + max(offset, 0))
        if offset >= 0:
            return stream.bitmap(self.row_count)
        if -1 - offset >= self.row_count:
            stream.fail(f"a single row is below {self.row_count}")
        return BitMap([-1 - offset])


def decode_bitmap_index(data: bytes, data_type: DataType, *, path: str) -> BitmapIndex:
    """The index of a column of that type.

    Raises:
        CorruptFileError: it is damaged.
        UnsupportedVersionError: it is of another version.
        UnsupportedFeatureError: no such index can be on such a column.
    """
    codec = key_codec(KIND, data_type)
    stream = ByteStream(data, path)
    version = stream.number(1)
    if version not in {_PLAIN, _BLOCKED}:
        raise UnsupportedVersionError("bitmap index", version, [_PLAIN, _BLOCKED], path)
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
    """First key and position of each block, and where the bitmaps start."""
    found = [(codec.read(stream), stream.number()) for _ in range(stream.count())]
    size = stream.count()
    start = stream.position
    if any(not 0 <= offset < size for _, offset in found):
        stream.fail("blocks lie before the bitmaps")
    if not ascend([key for key, _ in found]):
        stream.fail("blocks ascend")
    return [(key, start + offset) for key, offset in found], start + size


def encode_bitmap_index(
    column: Column,
    data_type: DataType,
    *,
    version: int = _BLOCKED,
    block_bytes: int = DEFAULT_BLOCK_BYTES,
) -> bytes:
    """The index of a whole column.

    Args:
        column: its values, in the order of the data file's rows.
        data_type: its type.
        version: 1 or 2.
        block_bytes: most bytes of a block of version 2; a longer entry has a block of its own.

    Raises:
        InvalidInputError: there is no such version.
        UnsupportedFeatureError: no such index can be on such a column.
    """
    if version not in {_PLAIN, _BLOCKED}:
        raise InvalidInputError(f"A bitmap index has version 1 or 2, not {version}.")
    codec = key_codec(KIND, data_type)
    ranked = codec.ranked(column)
    body = _Body()
    nulls = ranked.null_rows()
    null = body.add(bitmap_of(nulls)) if len(nulls) else None
    entries = [(codec.write(key), *body.add(bitmap_of(rows))) for key, rows in ranked.groups()]
    head = [bytes([version]), _int(ranked.row_count), _int(len(entries))]
    head += [b"\0"] if null is None else [b"\1", _int(null[0])]
    if version == _PLAIN:
        dictionary = [key + _int(offset) for key, offset, _ in entries]
    else:
        head += [] if null is None else [_int(null[1])]
        dictionary = _blocks(entries, block_bytes)
    return b"".join([*head, *dictionary, *body.parts])


class _Body:
    """The bitmaps behind a dictionary."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def add(self, rows: BitMap) -> tuple[int, int]:
        """Offset and length of the rows' bitmap; a single row needs none."""
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
        entry = key + _int(offset) + _int(length)
        if size + len(entry) > limit or not blocks:
            blocks.append([])
            firsts.append(key)
            size = _INT
        blocks[-1].append(entry)
        size += len(entry)
    written = [_int(len(block)) + b"".join(block) for block in blocks]
    head = [_int(len(blocks))]
    start = 0
    for key, block in zip(firsts, written, strict=True):
        head += [key, _int(start)]
        start += len(block)
    return [*head, _int(start), *written]


def _int(value: int) -> bytes:
    return value.to_bytes(_INT, "big", signed=True)
