"""Encodes btree index files; the layout is described in `btree_file`."""

import struct
import zlib
from collections.abc import Iterable, Iterator

from pyroaring import BitMap64

from paimon_explore.encoding.global_index.btree_file import FOOTER, MAGIC, VERSION
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.encoding.global_index.varints import encode_varint

BLOCK_BYTES = 64 << 10
"""Size above which a data block ends."""
_END_BYTES = 5
_ALIGNED, _UNALIGNED = 0, 1


class _Block:
    """The entries of one block."""

    def __init__(self) -> None:
        self._entries: list[bytes] = []
        self._size = 0
        self._is_aligned = True

    def add(self, key: bytes, value: bytes) -> None:
        """Append an entry."""
        entry = b"".join((encode_varint(len(key)), key, encode_varint(len(value)), value))
        self._is_aligned &= not self._entries or len(entry) == len(self._entries[0])
        self._entries.append(entry)
        self._size += len(entry)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def stored_bytes(self) -> int:
        """Size of the block."""
        return self._size + _END_BYTES + (0 if self._is_aligned else 4 * len(self._entries))

    def encode(self) -> bytes:
        """Return the block with its trailer, not compressed."""
        parts = list(self._entries)
        if self._entries and self._is_aligned:
            parts.append(struct.pack("<iB", len(self._entries[0]), _ALIGNED))
        else:
            at = 0
            for entry in self._entries:
                parts.append(struct.pack("<i", at))
                at += len(entry)
            parts.append(struct.pack("<iB", len(self._entries), _UNALIGNED))
        return with_trailer(b"".join(parts))


def encode_btree(
    entries: Iterable[tuple[Key, Iterable[int]]],
    nulls: BitMap64,
    keys: GlobalIndexKeys,
    *,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[bytes]:
    """Encode a btree index file, in parts.

    Args:
        entries: the keys in ascending order, each with its row ids.
        nulls: row ids of the rows with a null.
        keys: of the column.
        block_bytes: size above which a data block ends.
    """
    index, block, last = _Block(), _Block(), b""
    at = 0
    for key, rows in entries:
        last = keys.encode(key)
        block.add(last, _row_ids(rows))
        if block.stored_bytes > block_bytes:
            part, block = block.encode(), _Block()
            index.add(last, _handle(at, len(part)))
            at += len(part)
            yield part
    if len(block):
        part = block.encode()
        index.add(last, _handle(at, len(part)))
        at += len(part)
        yield part
    null_part = (0, 0)
    if nulls:
        data = nulls.serialize()
        null_part = (at, len(data))
        at += len(data) + 4
        yield data + zlib.crc32(data).to_bytes(4, "little")
    end = index.encode()
    yield end
    yield FOOTER.pack(0, 0, 0, at, len(end) - TRAILER_BYTES, *null_part, VERSION, MAGIC)


TRAILER_BYTES = 5
"""Bytes after a block: compression and checksum."""


def with_trailer(block: bytes) -> bytes:
    """Append the trailer of a block that is not compressed."""
    return b"".join((block, b"\0", zlib.crc32(block + b"\0").to_bytes(4, "little")))


def _handle(offset: int, size: int) -> bytes:
    return encode_varint(offset) + encode_varint(size - TRAILER_BYTES)


def _row_ids(rows: Iterable[int]) -> bytes:
    found = [encode_varint(row) for row in rows]
    return b"".join((encode_varint(len(found)), *found))
