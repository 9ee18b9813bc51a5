"""Encoding of deletion vectors: the positions (from 0) of the deleted rows of a data file.

An index file contains the vectors of several data files after a version byte:

    version 1 | per data file: int32 BE size | data[size] | int32 BE crc32(data)
    data, 32 bit: int32 BE magic 1581511376 | Roaring bitmap
    data, 64 bit: int32 LE magic 1681511377 | int64 LE n | n x (int32 LE high half | Roaring bitmap)

The index manifest has the range of each data file: the offset is that of the size field, the length
is `size` for 32 bit, but `size + 8` for 64 bit (with the size field and the checksum).

Spec: concepts/spec/tableindex, deletion vectors. Seen in: golden java200/dv_pk and dv_bitmap64.
"""

import zlib
from array import array
from collections.abc import Iterable

import numpy as np
from pyroaring import BitMap, BitMap64

from paimon_explore.encoding.roaring_bitmap import BitmapReader, encode_bitmap
from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

DeletionVector = BitMap | BitMap64
"""Positions of deleted rows."""

VERSION = 1
MAGIC = 1581511376
MAGIC_64 = 1681511377
FRAME_BYTES = 8
"""Bytes of the size field and the checksum of a vector."""
MAX_POSITION = 1 << 40
"""Maximum position, exclusive; Java writes an empty bitmap for each 2^32 positions below."""

_INT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRange:
    """Location of the vector of a data file in an index file.

    Attributes:
        data_file: name of the data file.
        offset: offset of the vector's size field.
        length: length as in the index manifest, see the module's docstring.
        cardinality: number of deleted rows.
    """

    data_file: str
    offset: int
    length: int
    cardinality: int


def decode_vector(
    record: bytes, length: int, *, path: str, cardinality: int | None = None
) -> DeletionVector:
    """Decode a deletion vector.

    Args:
        record: the bytes from the range's offset on: at least `length + FRAME_BYTES`, or up to the
            end of the file.
        length: the length of the range.
        path: path of the index file, for errors.
        cardinality: the number of deleted rows in the index manifest, if any.

    Returns:
        The positions; a 64-bit bitmap if the file has one.

    Raises:
        CorruptFileError: size, checksum, magic, bitmap or cardinality are wrong.
    """
    size = int.from_bytes(record[:_INT], "big", signed=True)
    if len(record) < FRAME_BYTES or not _INT <= size <= len(record) - FRAME_BYTES:
        raise CorruptFileError(path, "deletion vector", "extends beyond the end of the file")
    if length not in {size, size + FRAME_BYTES}:
        rule = f"the index manifest states {length} bytes, but the size field contains {size}"
        raise CorruptFileError(path, "deletion vector", rule)
    data = record[_INT : _INT + size]
    stored = int.from_bytes(record[_INT + size : FRAME_BYTES + size], "big")
    if zlib.crc32(data) != stored:
        rule = f"the checksum of the data is {zlib.crc32(data):#x}, not {stored:#x} as stored"
        raise CorruptFileError(path, "deletion vector", rule)
    vector = _decode_data(data, path)
    if cardinality is not None and len(vector) != cardinality:
        rule = f"has {len(vector)} deleted rows, but the index manifest states {cardinality}"
        raise CorruptFileError(path, "deletion vector", rule)
    return vector


def _decode_data(data: bytes, path: str) -> DeletionVector:
    reader = BitmapReader(data, path, _INT)
    vector: DeletionVector
    if int.from_bytes(data[:_INT], "big") == MAGIC:
        vector = reader.take()
    elif int.from_bytes(data[:_INT], "little") == MAGIC_64:
        vector = reader.take_wide()
    else:
        rule = f"the magic number must be {MAGIC:#x} or {MAGIC_64:#x}, not {data[:_INT].hex()}"
        raise CorruptFileError(path, "deletion vector", rule)
    if reader.position != len(data):
        raise CorruptFileError(
            path, "deletion vector", "the bitmap must not be followed by other bytes"
        )
    return vector


def encode_vectors(
    vectors: Iterable[tuple[str, DeletionVector]], *, wide: bool = False
) -> tuple[bytes, list[VectorRange]]:
    """Encode an index file.

    Args:
        vectors: name and deleted positions of each data file, in the order to write.
        wide: whether to write the 64-bit layout (table option `deletion-vectors.bitmap64`).

    Returns:
        The bytes of the file, and the ranges for the index manifest.
    """
    parts = [bytes([VERSION])]
    ranges = []
    offset = 1
    for name, vector in vectors:
        data = _encode_data(vector, wide=wide)
        size = len(data)
        parts += [size.to_bytes(_INT, "big"), data, zlib.crc32(data).to_bytes(_INT, "big")]
        length = size + FRAME_BYTES if wide else size
        ranges.append(
            VectorRange(data_file=name, offset=offset, length=length, cardinality=len(vector))
        )
        offset += size + FRAME_BYTES
    return b"".join(parts), ranges


def _encode_data(vector: DeletionVector, *, wide: bool) -> bytes:
    if not wide:
        return MAGIC.to_bytes(_INT, "big") + encode_bitmap(BitMap(vector))
    halves = _halves(vector)
    count = max(halves, default=-1) + 1
    parts = [MAGIC_64.to_bytes(_INT, "little"), count.to_bytes(8, "little")]
    for half in range(count):
        parts += [half.to_bytes(_INT, "little"), encode_bitmap(halves.get(half, BitMap()))]
    return b"".join(parts)


def _halves(vector: DeletionVector) -> dict[int, BitMap]:
    """Return the bitmap of lower halves for each upper half."""
    if isinstance(vector, BitMap):
        return {0: vector} if vector else {}
    positions = np.frombuffer(memoryview(vector.to_array()), np.uint64)
    if len(positions) and int(positions[-1]) >= MAX_POSITION:
        raise InvalidInputError(
            f"The position of a deleted row must be below {MAX_POSITION}, not {int(positions[-1])}."
        )
    uppers = positions >> np.uint64(32)
    return {
        upper: BitMap(array("I", (positions[uppers == upper]).astype(np.uint32).tobytes()))
        for upper in np.unique(uppers).tolist()
    }
