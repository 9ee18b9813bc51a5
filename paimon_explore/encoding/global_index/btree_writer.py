"""Encodes btree index files; the layout is described in `btree_file`.

The entries of many keys are encoded at once. A data block ends after the entry with which it
exceeds a size, so where the blocks end follows from the sizes of the entries.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator

import numpy as np
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import (
    Bytes,
    Ints,
    as_bytes,
    expand_ranges,
    offsets_from_sizes,
    var_values,
)
from paimon_explore.encoding.global_index.btree_file import FOOTER, MAGIC, VERSION
from paimon_explore.encoding.global_index.column_keys import IndexedRows
from paimon_explore.encoding.varint import (
    decode_varint,
    encode_varint,
    varint_sizes,
    write_varints,
)
from paimon_explore.frozen_dataclass import dataclass

BLOCK_BYTES = 64 << 10
"""Size above which a data block ends."""
_END_BYTES = 5
_POSITION_BYTES = 4
_ALIGNED, _UNALIGNED = 0, 1


@dataclass(frozen=True, slots=True)
class _Entries:
    """Encoded entries.

    Attributes:
        data: their bytes.
        ends: where they start, and the end: k + 1 positions.
    """

    data: Bytes
    ends: Ints

    def slice(self, start: int, end: int) -> "_Entries":
        """The entries from `start` to before `end`."""
        first = self.ends[start]
        return _Entries(self.data[first : self.ends[end]], self.ends[start : end + 1] - first)

    def after(self, others: "_Entries") -> "_Entries":
        """The entries, after other ones."""
        return _Entries(
            np.concatenate((others.data, self.data)),
            np.concatenate((others.ends[:-1], self.ends + others.ends[-1])),
        )

    def encode(self) -> bytes:
        """Return the entries as a block with its trailer, not compressed."""
        sizes = np.diff(self.ends)
        if len(sizes) and bool((sizes == sizes[0]).all()):
            end = struct.pack("<iB", int(sizes[0]), _ALIGNED)
        else:
            positions = self.ends[:-1].astype("<i4").tobytes()
            end = positions + struct.pack("<iB", len(sizes), _UNALIGNED)
        return with_trailer(self.data.tobytes() + end)

    def last_key(self) -> bytes:
        """Return the key of the last entry."""
        entry = self.data[self.ends[-2] :].tobytes()
        size, at = decode_varint(entry, 0)
        return entry[at : at + size]


_NO_ENTRIES = _Entries(as_bytes(b""), np.zeros(1, np.int64))


def encode_btree(
    parts: Iterable[IndexedRows], nulls: BitMap64, *, block_bytes: int = BLOCK_BYTES
) -> Iterator[bytes]:
    """Encode a btree index file, in parts.

    Args:
        parts: the rows, by ascending key.
        nulls: row ids of the rows with a null.
        block_bytes: size above which a data block ends.
    """
    index: list[bytes] = []
    at = 0
    for block in _blocks(map(_entries, parts), block_bytes):
        part = block.encode()
        key, handle = block.last_key(), _handle(at, len(part))
        index.append(b"".join((encode_varint(len(key)), key, encode_varint(len(handle)), handle)))
        at += len(part)
        yield part
    null_part = (0, 0)
    if nulls:
        data = nulls.serialize()
        null_part = (at, len(data))
        at += len(data) + 4
        yield data + zlib.crc32(data).to_bytes(4, "little")
    sizes = np.array([len(entry) for entry in index], np.int64)
    end = _Entries(as_bytes(b"".join(index)), offsets_from_sizes(sizes)).encode()
    yield end
    yield FOOTER.pack(0, 0, 0, at, len(end) - TRAILER_BYTES, *null_part, VERSION, MAGIC)


TRAILER_BYTES = 5
"""Bytes after a block: compression and checksum."""


def with_trailer(block: bytes) -> bytes:
    """Append the trailer of a block that is not compressed."""
    return b"".join((block, b"\0", zlib.crc32(block + b"\0").to_bytes(4, "little")))


def _handle(offset: int, size: int) -> bytes:
    return encode_varint(offset) + encode_varint(size - TRAILER_BYTES)


def _blocks(parts: Iterable[_Entries], block_bytes: int) -> Iterator[_Entries]:
    """Divide entries into blocks."""
    rest = _NO_ENTRIES
    for part in parts:
        entries = part.after(rest)
        start = 0
        for end in _block_ends(entries.ends, max(block_bytes - _END_BYTES, 0)):
            yield entries.slice(start, end)
            start = end
        rest = entries.slice(start, len(entries.ends) - 1)
    if len(rest.data):
        yield rest


def _block_ends(ends: Ints, most: int) -> Iterator[int]:
    """Yield after which entries blocks end.

    Args:
        ends: where the entries start, and the end.
        most: bytes of entries and of their positions that a block exceeds with its last entry.
    """
    count = len(ends) - 1
    sizes = np.diff(ends)
    with_positions = ends + _POSITION_BYTES * np.arange(count + 1)
    others = np.append(np.flatnonzero(sizes[1:] != sizes[:-1]) + 1, count)
    start = 0
    while start < count:
        other = int(others[np.searchsorted(others, start, "right")])
        end = int(np.searchsorted(ends, ends[start] + most, "right"))
        if end > other:  # sizes differ, so that the block has positions
            end = int(np.searchsorted(with_positions, with_positions[start] + most, "right"))
            end = max(end, other + 1)
        if end > count:
            return
        yield end
        start = end


def _entries(rows: IndexedRows) -> _Entries:
    """Encode the entries of keys."""
    key_ends, key_data = var_values(rows.keys)
    key_sizes = np.diff(key_ends)
    counts = np.diff(rows.starts)
    row_at = offsets_from_sizes(varint_sizes(rows.row_ids))
    value_sizes = varint_sizes(counts) + np.diff(row_at[rows.starts])
    key_heads, value_heads = varint_sizes(key_sizes), varint_sizes(value_sizes)
    ends = offsets_from_sizes(key_heads + key_sizes + value_heads + value_sizes)
    data = np.empty(int(ends[-1]), np.uint8)
    write_varints(data, ends[:-1], key_sizes)
    keys = ends[:-1] + key_heads
    _write_ranges(data, keys, key_data[key_ends[0] : key_ends[-1]], key_sizes)
    values = keys + key_sizes
    write_varints(data, values, value_sizes)
    values += value_heads
    write_varints(data, values, counts)
    moved = values + varint_sizes(counts) - row_at[rows.starts[:-1]]
    write_varints(data, row_at[:-1] + np.repeat(moved, counts), rows.row_ids)
    return _Entries(data, ends)


def _write_ranges(data: Bytes, at: Ints, values: Bytes, sizes: Ints) -> None:
    """Write consecutive ranges of bytes to positions."""
    size = int(sizes[0]) if len(sizes) else 0
    if size and bool((sizes == size).all()):
        places = np.ndarray((len(data) - size + 1, size), np.uint8, buffer=data, strides=(1, 1))
        places[at] = values.reshape(-1, size)
    else:
        data[expand_ranges(at, sizes)] = values
