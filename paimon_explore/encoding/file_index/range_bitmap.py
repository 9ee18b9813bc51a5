"""Range bitmaps: bit slices of the rank of each row's value, with a dictionary of the values.

    int32 head length | byte 1 | int32 rows | int32 keys | [lowest key | highest key]
    int32 dictionary length | dictionary | slices
    dictionary: int32 head length | byte 1 | int32 chunks | int32 offsets length
                int32 heads length | int32 offset per chunk | chunk heads | keys
    chunk head: byte 1 | first key | int32 its rank | int32 offset in keys | int32 further keys
                fixed width: int32 length, int32 width; text: int32 offsets length, int32 length
    slices: int32 head length | byte 1 | byte digits | int32 length of the bitmap of rows
            int32 table length | (int32 offset, int32 length) per digit | bitmaps

All integers are big-endian except in bitmaps. The first key of a chunk is in the chunk head only;
the others are in `keys`, with consecutive ranks.

Spec: concepts/spec/fileindex, range bitmap. Seen in: golden java200/fi_more.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataType, TypeRoot
from paimon_explore.encoding.file_index.bsi import BitSlices, slice_numbers
from paimon_explore.encoding.file_index.byte_reader import ByteStream, int32
from paimon_explore.encoding.file_index.index_condition import LookupIndex, Relation
from paimon_explore.encoding.file_index.index_keys import Key, KeyCodec, is_ascending, key_codec
from paimon_explore.encoding.roaring_bitmap import encode_bitmap
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

KIND = "range-bitmap"
DEFAULT_CHUNK_BYTES = 16 * 1024

_VERSION = 1
_MAX_DIGITS = 64
_UNCHUNKED = {TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT}
"""Types whose chunks have one key each by default."""


@dataclass(frozen=True, slots=True)
class RangeBitmap(LookupIndex):
    """A decoded range bitmap.

    Attributes:
        codec: converts values to keys.
        row_count: number of rows of the data file.
        keys: the distinct keys in ascending order.
        ranks: for each non-null row the position of its key.
    """

    codec: KeyCodec
    row_count: int
    keys: Sequence[Key]
    ranks: BitSlices

    def present(self) -> BitMap:
        """Return the rows that are not null."""
        return self.ranks.rows.copy()

    def equal(self, key: Key) -> BitMap:
        """Return the rows with a key."""
        rank = bisect_left(self.keys, key)
        if rank == len(self.keys) or self.keys[rank] != key:
            return BitMap()
        return self.ranks.compared(Relation.EQ, rank)

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """Return the rows whose keys are below or above a key."""
        rank = bisect_left(self.keys, key)
        if rank == len(self.keys) or self.keys[rank] != key:
            relation = {Relation.LE: Relation.LT, Relation.GT: Relation.GE}.get(relation, relation)
        return self.ranks.compared(relation, rank)


def decode_range_bitmap(data: bytes, data_type: DataType, *, path: str) -> RangeBitmap:
    """Decode the index of a column.

    Raises:
        CorruptFileError: the index is damaged.
        UnsupportedVersionError: the version of the index is unknown.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    codec = key_codec(KIND, data_type)
    stream = ByteStream(data, path)
    body = stream.count() + 4
    stream.version("range bitmap", [_VERSION])
    row_count = stream.count(2**31 - 1)
    key_count = stream.count(2**31 - 1)
    for _ in range(2 if key_count else 0):  # lowest and highest, also in the dictionary
        codec.read(stream)
    dictionary = stream.count()
    keys = _read_keys(ByteStream(data[: body + dictionary], path, body), codec)
    if len(keys) != key_count:
        stream.fail(f"the dictionary must have {key_count} keys, not {len(keys)}")
    ranks = _read_slices(ByteStream(data, path, body + dictionary), row_count)
    return RangeBitmap(codec, row_count, keys, ranks)


def _read_keys(stream: ByteStream, codec: KeyCodec) -> list[Key]:
    head = stream.count()
    start = stream.position + head
    stream.version("range bitmap", [_VERSION])
    chunk_count = stream.count()
    offsets_length = stream.count()
    heads_length = stream.count()
    heads = start + offsets_length
    offsets = ByteStream(stream.data, stream.path, start)
    keys: list[Key] = []
    for _ in range(chunk_count):
        chunk = ByteStream(stream.data, stream.path, heads + offsets.count())
        keys += _read_chunk(chunk, codec, heads + heads_length, len(keys))
    if not is_ascending(keys):
        stream.fail("keys must be in ascending order")
    return keys


def _read_chunk(chunk: ByteStream, codec: KeyCodec, base: int, rank: int) -> list[Key]:
    chunk.version("range bitmap", [_VERSION])
    first_key = codec.read(chunk)
    if chunk.number() != rank:
        chunk.fail(f"the chunk must start with rank {rank}")
    offset, further, first = chunk.count(), chunk.count(), chunk.count()
    keys = ByteStream(chunk.data, chunk.path, base + offset)
    if codec.width == 0:
        keys.take(first)  # the offsets of the keys, which are contiguous
    return [first_key, *codec.read_many(keys, further)]


def _read_slices(stream: ByteStream, row_count: int) -> BitSlices:
    head = stream.count()
    body = stream.position + head
    stream.version("range bitmap", [_VERSION])
    digits = stream.number(1)
    if not 0 <= digits <= _MAX_DIGITS:
        stream.fail(f"ranks must have 0 to {_MAX_DIGITS} bits, not {digits}")
    rows_length = stream.count()
    stream.count()
    locations = [(stream.count(), stream.count()) for _ in range(digits)]
    rows = ByteStream(stream.data, stream.path, body).bitmap(row_count)
    slices = []
    for offset, _ in locations:
        at = ByteStream(stream.data, stream.path, body + rows_length + offset)
        slices.append(at.bitmap(row_count))
    if any(not found <= rows for found in slices):
        stream.fail("a bit slice contains a row without a rank")
    return BitSlices(rows, slices)


def encode_range_bitmap(
    column: Column, data_type: DataType, *, chunk_bytes: int | None = None
) -> bytes:
    """Encode the index of a column.

    Args:
        column: the values in the order of the rows of the data file.
        data_type: the type of the column.
        chunk_bytes: maximum bytes of the keys of a chunk after its first; None for Java's default.

    Raises:
        InvalidInputError: the chunk size is negative.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    codec = key_codec(KIND, data_type)
    if chunk_bytes is None:
        chunk_bytes = 0 if codec.data_type.root in _UNCHUNKED else DEFAULT_CHUNK_BYTES
    if chunk_bytes < 0:
        raise InvalidInputError(
            f"The chunk size of a range bitmap must not be negative, but is {chunk_bytes}."
        )
    ranked = codec.ranked(column)
    stored = [codec.write(key) for key in ranked.keys]
    # for an index without keys, Java counts the 64 digits of -1
    digits = max((len(stored) - 1).bit_length(), 1) if stored else _MAX_DIGITS
    dictionary = _write_keys(stored, chunk_bytes, fixed_width=codec.width)
    bounds = stored[0] + stored[-1] if stored else b""
    head = bytes([_VERSION]) + int32(ranked.row_count) + int32(len(stored)) + bounds
    head += int32(len(dictionary))
    sliced = slice_numbers(ranked.rows, ranked.codes.astype(np.uint64), digits)
    return b"".join([int32(len(head)), head, dictionary, _write_slices(sliced)])


def _write_keys(stored: Sequence[bytes], limit: int, *, fixed_width: int) -> bytes:
    heads: list[bytes] = []
    keys: list[bytes] = []
    rank = size = 0
    while rank < len(stored):
        further = _further_keys(stored, rank + 1, limit, fixed_width=fixed_width)
        body = b"".join(further)
        tail = [int32(len(body)), int32(fixed_width)]
        if not fixed_width:
            ends = np.cumsum([0, *map(len, further)])[:-1].astype(">i4").tobytes()
            tail = [int32(len(ends)), int32(len(body))]
            body = ends + body
        numbers = [int32(rank), int32(size), int32(len(further))]
        heads.append(b"".join([bytes([_VERSION]), stored[rank], *numbers, *tail]))
        keys.append(body)
        rank += 1 + len(further)
        size += len(body)
    offsets = np.cumsum([0, *map(len, heads)])[:-1].astype(">i4").tobytes()
    joined = b"".join(heads)
    head = bytes([_VERSION]) + int32(len(heads)) + int32(len(offsets)) + int32(len(joined))
    return b"".join([int32(len(head)), head, offsets, joined, *keys])


def _further_keys(
    stored: Sequence[bytes], start: int, limit: int, *, fixed_width: int
) -> Sequence[bytes]:
    """Return the keys of a chunk after its first: as many as fit, for text with their offsets."""
    if fixed_width:
        return stored[start : start + limit // fixed_width]
    room = limit
    end = start
    while end < len(stored) and len(stored[end]) <= room and (end - start + 1) * 4 <= limit:
        room -= len(stored[end])
        end += 1
    return stored[start:end]


def _write_slices(sliced: BitSlices) -> bytes:
    rows = encode_bitmap(sliced.rows)
    slices = [encode_bitmap(found) for found in sliced.slices]
    table = []
    offset = 0
    for found in slices:
        table += [int32(offset), int32(len(found))]
        offset += len(found)
    head = bytes([_VERSION, len(slices)]) + int32(len(rows)) + int32(len(table) * 4)
    head += b"".join(table)
    return b"".join([int32(len(head)), head, rows, *slices])
