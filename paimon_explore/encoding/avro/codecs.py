"""Optional codecs of Avro containers: snappy, bzip2, xz.

Loaded when a file first uses one of them.
Spec: Avro 1.11 specification, object container files, optional codecs.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TypeAlias

import cramjam

from paimon_explore.limits import too_large

Codec: TypeAlias = Callable[[bytes], bytes]
ReadAll: TypeAlias = Callable[[Callable[[int], bytes], int], bytes]
Unpack: TypeAlias = Callable[[bytes, int], bytes]

_CRC_BYTES = 4
_SNAPPY_RATIO = 64
"""Maximum compression ratio: a copy of at most 64 bytes takes at least two bytes."""


def unpacker(codec: str, read_all: ReadAll) -> Unpack:
    """Return a function that decompresses blocks; it raises ValueError or OSError for invalid data.

    Args:
        codec: `snappy`, `bzip2` or `xz`.
        read_all: reads a stream, up to slightly more than the maximum size of a block.
    """

    def unpack(packed: bytes, most_bytes: int) -> bytes:
        try:
            if codec == "snappy":
                return _unpack_snappy(packed, most_bytes)
            opened = bz2.open if codec == "bzip2" else lzma.open
            with opened(BytesIO(packed)) as reader:
                return read_all(reader.read, most_bytes)
        except (lzma.LZMAError, cramjam.DecompressionError) as error:
            raise ValueError(str(error)) from error

    return unpack


def _unpack_snappy(packed: bytes, most_bytes: int) -> bytes:
    """Decompress snappy data that is followed by a big-endian CRC-32 of the decompressed bytes."""
    body = packed[:-_CRC_BYTES]
    size, _ = _snappy_size(body)
    if size > len(body) * _SNAPPY_RATIO:
        raise ValueError(f"{len(body)} bytes cannot be decompressed to {size} bytes")
    if size > most_bytes:
        what = f"a block of {len(packed):,} compressed bytes"
        raise too_large(size, "", "a block", what, limit=most_bytes)
    unpacked = bytes(cramjam.snappy.decompress_raw(body))
    if zlib.crc32(unpacked).to_bytes(_CRC_BYTES, "big") != packed[-_CRC_BYTES:]:
        raise ValueError("the checksum does not match the data")
    return unpacked


def _snappy_size(body: bytes) -> tuple[int, int]:
    """Decode the decompressed size at the start of raw snappy data, a varint."""
    size = 0
    for position, byte in enumerate(body[:5]):
        size |= (byte & 0x7F) << 7 * position
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
            return size, position + 1
    raise ValueError("the uncompressed size is missing")


def _pack_snappy(data: bytes) -> bytes:
    checksum = zlib.crc32(data).to_bytes(_CRC_BYTES, "big")
    return bytes(cramjam.snappy.compress_raw(data)) + checksum


PACK: Mapping[str, Codec] = {"snappy": _pack_snappy, "bzip2": bz2.compress, "xz": lzma.compress}
"""Compression functions by codec name."""
