"""Codecs of Avro containers that Paimon's writers choose only when told to: snappy, bzip2, xz.

Loaded by the first file that has one of them.
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
"""A copy of at most 64 bytes takes two bytes or more."""


def unpacker(codec: str, read_all: ReadAll) -> Unpack:
    """A function that unpacks blocks of a codec; what does not unpack is a ValueError or OSError.

    Args:
        codec: `snappy`, `bzip2` or `xz`.
        read_all: gives everything that a reader gives, up to somewhat more than a block may have.
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
    """Snappy with a big-endian CRC-32 of the unpacked bytes behind it."""
    body = packed[:-_CRC_BYTES]
    size, _ = _snappy_size(body)
    if size > len(body) * _SNAPPY_RATIO:
        raise ValueError(f"{len(body)} bytes cannot unpack to {size}")
    if size > most_bytes:
        raise too_large(size, "", "a block", f"{len(packed):,} bytes packed with snappy")
    unpacked = bytes(cramjam.snappy.decompress_raw(body))
    if zlib.crc32(unpacked).to_bytes(_CRC_BYTES, "big") != packed[-_CRC_BYTES:]:
        raise ValueError("the checksum does not match")
    return unpacked


def _snappy_size(body: bytes) -> tuple[int, int]:
    """The unpacked size that raw snappy begins with, a varint."""
    size = 0
    for position, byte in enumerate(body[:5]):
        size |= (byte & 0x7F) << 7 * position
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
            return size, position + 1
    raise ValueError("no size")


def _pack_snappy(data: bytes) -> bytes:
    checksum = zlib.crc32(data).to_bytes(_CRC_BYTES, "big")
    return bytes(cramjam.snappy.compress_raw(data)) + checksum


PACK: Mapping[str, Codec] = {"snappy": _pack_snappy, "bzip2": bz2.compress, "xz": lzma.compress}
"""How blocks are packed, by codec name."""
