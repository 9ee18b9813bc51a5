"""Blocks of global index files: bytes, a compression byte and a checksum.

The checksum is the CRC-32 of the stored bytes and the compression byte (int32 LE). Compressed
blocks begin with their decompressed size as a varint; LZ4 and LZO blocks then have two int32 LE,
the sizes of the compressed and of the decompressed bytes.
"""

import zlib
from collections.abc import Callable

import cramjam
import zstandard

from paimon_explore.encoding.varint import decode_varint
from paimon_explore.errors import CorruptFileError, ResourceLimitError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import max_unpacked_size

ReadRange = Callable[[int, int], bytes]
"""Reads bytes of a file: offset and length."""

TRAILER_BYTES = 5
_NONE, _ZSTD, _LZ4, _LZO = range(4)
_LZ4_HEADER = 8


@dataclass(frozen=True, slots=True)
class BlockRange:
    """Where a block is in its file, without its trailer."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class IndexFileBytes:
    """An index file that is read by parts.

    Attributes:
        read: reads bytes of the file.
        size: its size in bytes.
        path: of the file, for errors.
    """

    read: ReadRange
    size: int
    path: str

    def take(self, block: BlockRange, what: str, *, trailer: int = 0) -> bytes:
        """Read the bytes of a block and what follows it.

        Raises:
            CorruptFileError: they extend beyond the end of the file.
        """
        end = block.offset + block.size + trailer
        if block.offset < 0 or block.size < 0 or end > self.size:
            rule = f"extends to byte {end}, but the file has {self.size} bytes"
            raise CorruptFileError(self.path, what, rule)
        data = self.read(block.offset, end - block.offset)
        if len(data) != end - block.offset:
            raise CorruptFileError(self.path, what, "extends beyond the end of the file")
        return data

    def block(self, block: BlockRange, what: str) -> bytes:
        """Read a block and return its decompressed bytes.

        Raises:
            CorruptFileError: the checksum or the compressed bytes are wrong.
            UnsupportedFeatureError: the compression is not supported.
        """
        stored = self.take(block, what, trailer=TRAILER_BYTES)
        data, kind = stored[: block.size], stored[block.size]
        checksum = int.from_bytes(stored[block.size + 1 :], "little")
        actual = zlib.crc32(stored[: block.size + 1])
        if actual != checksum:
            rule = f"the checksum of the block is {actual:#x}, not {checksum:#x} as stored"
            raise CorruptFileError(self.path, f"{what} at byte {block.offset}", rule)
        if kind == _NONE:
            return data
        try:
            return self._unpacked(data, kind, what)
        except (ValueError, zstandard.ZstdError, cramjam.DecompressionError) as error:
            if isinstance(error, CorruptFileError):
                raise
            where = f"{what} at byte {block.offset}"
            raise CorruptFileError(self.path, where, f"must be decompressible: {error}") from error

    def _unpacked(self, data: bytes, kind: int, what: str) -> bytes:
        size, at = decode_varint(data, 0)
        if size > max_unpacked_size(len(data)):
            limit = max_unpacked_size(len(data))
            raise ResourceLimitError(self.path, what, "a block", size=size, limit=limit)
        if kind == _ZSTD:
            with zstandard.ZstdDecompressor().stream_reader(data[at:]) as reader:
                found = reader.read(size + 1)
        elif kind == _LZ4:
            room = bytearray(size)
            count = cramjam.lz4.decompress_block_into(data[at + _LZ4_HEADER :], output=room)
            found = bytes(room[:count])
        elif kind == _LZO:
            raise UnsupportedFeatureError("LZO compression of a global index", self.path)
        else:
            raise ValueError(f"the compression {kind} is unknown")
        if len(found) != size:
            raise ValueError(f"must have {size} bytes when it is decompressed")
        return found
