"""Encodes bitmap index files; the layout is described in `bitmap_file`.

Java 2.0 looks keys up in the order of values, pypaimon 2.1 in that of their stored bytes. Each key
has a dictionary block of its own, so that both find it.
"""

from collections.abc import Iterable

import numpy as np
from pyroaring import BitMap64

from paimon_explore.encoding.global_index.bitmap_file import FOOTER, MAGIC, VERSION
from paimon_explore.encoding.global_index.btree_writer import TRAILER_BYTES, with_trailer
from paimon_explore.encoding.global_index.column_keys import IndexedRows
from paimon_explore.encoding.varint import encode_varint


class _Parts:
    """Parts of a file and their positions."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def add(self, data: bytes, *, trailer: int = 0) -> tuple[int, int]:
        """Append a part; returns its offset, and its size without a trailer."""
        found = self._at, len(data) - trailer
        self.parts.append(data)
        self._at += len(data)
        return found


def encode_bitmap_index(parts: Iterable[IndexedRows], nulls: BitMap64) -> list[bytes]:
    """Encode a bitmap index file, in parts.

    Args:
        parts: the rows, by ascending key.
        nulls: row ids of the rows with a null.
    """
    bitmaps = [
        (key, BitMap64(rows.astype(np.uint64))) for part in parts for key, rows in part.groups()
    ]
    present = BitMap64()
    for _, rows in bitmaps:
        present |= rows
    file = _Parts()
    ends = [*file.add(nulls.serialize()), *file.add(present.serialize())]
    blocks = []
    for key, rows in bitmaps:
        entry = _entry(key, *file.add(rows.serialize()))
        blocks.append(_entry(key, *file.add(_block([entry]), trailer=TRAILER_BYTES)))
    ends += file.add(_block(blocks), trailer=TRAILER_BYTES)
    file.add(FOOTER.pack(*ends, len(bitmaps), VERSION, MAGIC))
    return file.parts


def _block(entries: list[bytes]) -> bytes:
    return with_trailer(b"".join((encode_varint(len(entries)), *entries)))


def _entry(key: bytes, offset: int, size: int) -> bytes:
    numbers = (encode_varint(number) for number in (offset, size))
    return b"".join((encode_varint(len(key)), key, *numbers))
