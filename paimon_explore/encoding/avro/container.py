"""Reading and writing of the Avro object container format: header, blocks, codecs.

    magic "Obj" 1, metadata map, 16-byte sync marker,
    then blocks of: record count (long), byte length (long), bytes, sync marker

Sizes in the file are checked against limits before memory is allocated.
Spec: Avro 1.11 specification, object container files.

Concatenation of Avro containers without decoding their records.

Containers of the same schema and codec differ only in the sync marker between blocks, so the blocks
of one can be appended to another. Merging manifests is then as cheap as copying their bytes. Small
blocks are decompressed and compressed together, as reading has a cost per block.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import zstandard

from paimon_explore.encoding.varint import encode_varint
from paimon_explore.errors import CorruptFileError, ResourceLimitError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import max_unpacked_size, read_limited, too_large

MAGIC = b"Obj\x01"
SYNC_SIZE = 16
PROCESS_SYNC = os.urandom(SYNC_SIZE)
"""Sync marker of all files written by this process, so that their blocks can be concatenated."""

BLOCK_BYTES = 64_000
"""Target size of blocks, as in Java; readers process many blocks in parallel."""
MAX_BLOCK_BYTES = 1 << 29
"""Maximum decompressed size of a block. Writers make blocks of about 64 kB."""
_MAX_HEADER_ENTRIES = 1000
_LONG_BYTES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Header of a container.

    Attributes:
        schema: the writer's schema, JSON.
        codec: name of the codec, "null" for none.
        sync: the sync marker between blocks.
        size: bytes of the header, i.e. the offset of the first block.
    """

    schema: bytes
    codec: str
    sync: bytes
    size: int


@dataclass(slots=True, eq=False)
class Block:
    """A decompressed block of records.

    Immutable by convention; a frozen dataclass takes three times as long to create, and files have
    thousands of blocks.

    Attributes:
        count: number of records.
        data: their bytes.
        offset: offset of the block in the file.
    """

    count: int
    data: bytes
    offset: int


def is_avro(data: bytes) -> bool:
    """Return whether bytes start with the magic of a container."""
    return data[: len(MAGIC)] == MAGIC


def read_header(data: bytes) -> Header:
    """Read the header of a container.

    Raises:
        CorruptFileError: the bytes are not a container, are truncated, or have no schema.
    """
    if not is_avro(data):
        raise _wrong("byte 0", "an Avro file must start with the magic bytes 'Obj' and the byte 1")
    for known in tuple(_BEGINNINGS):
        if data.startswith(known.data):
            return _header(data, known)
    values, position = _metadata(data, len(MAGIC))
    schema = values.get("avro.schema")
    if schema is None:
        raise _wrong("header", "must contain avro.schema")
    codec = values.get("avro.codec", b"null").decode("ascii", "replace")
    found = _Beginning(data[:position], schema, codec)
    header = _header(data, found)
    if position <= _MAX_KNOWN_BYTES:
        _BEGINNINGS[:] = [found, *_BEGINNINGS[: _MOST_KNOWN - 1]]
    return header


class _Beginning(NamedTuple):
    """The bytes before a sync marker, and the decoded header."""

    data: bytes
    schema: bytes
    codec: str


_MAX_KNOWN_BYTES = 1 << 16
_MOST_KNOWN = 4
_BEGINNINGS: list[_Beginning] = []
"""Cache of recent headers, as the files of a writer have the same header."""


def _header(data: bytes, beginning: _Beginning) -> Header:
    position = len(beginning.data)
    if position + SYNC_SIZE > len(data):
        raise _cut_short(position)
    return Header(
        schema=beginning.schema,
        codec=beginning.codec,
        sync=data[position : position + SYNC_SIZE],
        size=position + SYNC_SIZE,
    )


def read_blocks(data: bytes, header: Header) -> Iterator[Block]:
    """The blocks of a container, unpacked one by one; those without a record are left out.

    Raises:
        CorruptFileError: a block that is cut short, of a wrong size or marker, or does not unpack.
    """
    unpack = block_unpacker(header.codec)
    position = header.size
    while position < len(data):
        start = position
        count, position = read_long(data, position)
        size, position = read_long(data, position)
        end = position + size
        if count < 0 or size < 0 or size > MAX_BLOCK_BYTES or end + SYNC_SIZE > len(data):
            raise _wrong(f"block at byte {start}", "must be within the file")
        if data[end : end + SYNC_SIZE] != header.sync:
            raise _wrong(f"byte {end}", "a block must end with the sync marker of the file")
        unpacked = unpack(data[position:end], start)
        if count > len(unpacked):
            raise _wrong(f"block at byte {start}", "must have at least one byte per record")
        if count:
            yield Block(count=count, data=unpacked, offset=start)
        elif unpacked:
            raise _wrong(f"block at byte {start}", "has data but no records")
        position = end + SYNC_SIZE


def read_long(data: bytes, position: int) -> tuple[int, int]:
    """Decode a zigzag varint; also returns the position after it."""
    value = 0
    for shift in range(0, 7 * _LONG_BYTES, 7):
        if position >= len(data):
            raise _cut_short(position)
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
            return (value >> 1) ^ -(value & 1), position
    raise _wrong(
        f"byte {position - _LONG_BYTES}", f"a varint must have at most {_LONG_BYTES} bytes"
    )


def write_long(value: int) -> bytes:
    r"""Encode a 64-bit number as a zigzag varint.

    >>> write_long(-1), write_long(64)
    (b'\x01', b'\x80\x01')
    """
    return encode_varint((value << 1) ^ (value >> 63))


@lru_cache(maxsize=16)
def write_header(
    schema: bytes, codec: str, sync: bytes, more: tuple[tuple[str, bytes], ...] = ()
) -> bytes:
    """Encode the header of a container, with its metadata in Java's order, then `more`."""
    if codec not in PACK:
        raise _wrong("avro.codec", f"must be one of {choices(sorted(PACK))}, not {codec!r}")
    entries = {"avro.schema": schema, "avro.codec": codec.encode("ascii"), **dict(more)}
    parts = [MAGIC, write_long(len(entries))]
    for key, value in entries.items():
        parts += [write_long(len(key)), key.encode("ascii"), write_long(len(value)), value]
    return b"".join([*parts, write_long(0), sync])


def write_block(count: int, data: bytes, codec: str, sync: bytes) -> bytes:
    """Encode a block of `count` records."""
    packed = PACK[codec](data)
    return b"".join([write_long(count), write_long(len(packed)), packed, sync])


def _metadata(data: bytes, position: int) -> tuple[dict[str, bytes], int]:
    values: dict[str, bytes] = {}
    while True:
        count, position = read_long(data, position)
        if count == 0:
            return values, position
        if count < 0:
            count = -count
            _, position = read_long(data, position)
        if len(values) + count > _MAX_HEADER_ENTRIES:
            raise _wrong("header", f"must have at most {_MAX_HEADER_ENTRIES} entries")
        for _ in range(count):
            key, position = _text(data, position)
            values[key.decode("utf-8", "replace")], position = _text(data, position)


def _text(data: bytes, position: int) -> tuple[bytes, int]:
    size, start = read_long(data, position)
    if size < 0 or start + size > len(data):
        raise _cut_short(start)
    return data[start : start + size], start + size


_Unpack: TypeAlias = Callable[[bytes, int], bytes]
"""Decompresses a block; stops soon after a number of bytes."""


def block_unpacker(codec: str) -> Callable[[bytes, int], bytes]:
    """A function that unpacks blocks, given their bytes and where each begins in the file.

    It allocates no more than the limits of `limits` and `MAX_BLOCK_BYTES` allow.

    Raises:
        CorruptFileError: the codec is not known. The function raises it for a block that does not
            unpack, and ResourceLimitError for one that unpacks to too much.
    """
    unpacker = _UNPACK.get(codec)
    if unpacker is None:
        raise _wrong("avro.codec", f"must be one of {choices(sorted(_UNPACK))}, not {codec!r:.40}")
    return partial(_unpacked, unpacker())


def _unpacked(unpack: _Unpack, packed: bytes, start: int) -> bytes:
    most = min(max_unpacked_size(len(packed)), MAX_BLOCK_BYTES)
    try:
        unpacked = unpack(packed, most)
    except ResourceLimitError:
        raise
    except (zlib.error, zstandard.ZstdError, *_UNPACK_ERRORS) as error:
        rule = f"cannot be decompressed with the codec of the file: {error}"
        raise _wrong(f"block at byte {start}", rule) from error
    if len(unpacked) > most:
        what = f"a block of {len(packed):,} compressed bytes"
        raise too_large(len(unpacked), "", f"block at byte {start}", what, limit=most)
    return unpacked


_UNPACK_ERRORS = (OSError, EOFError, ValueError)


def _zstandard_unpacker() -> _Unpack:
    """Return a decompression function for many blocks, as creating a decompressor is expensive."""
    unpacker = zstandard.ZstdDecompressor()
    size_of = zstandard.frame_content_size

    def unpack(packed: bytes, most: int) -> bytes:
        """Decompress a block; the size in the frame is optional and not trusted."""
        if 0 <= size_of(packed) <= most:
            return unpacker.decompress(packed, allow_extra_data=False)
        with unpacker.stream_reader(packed, read_across_frames=True) as reader:
            return read_limited(reader.read, most)

    return unpack


def _unpack_deflate(packed: bytes, most: int) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    unpacked = unpacker.decompress(packed, most + 1)
    if not unpacker.eof and len(unpacked) <= most:
        raise zlib.error("the data is truncated")
    return unpacked


def _rare_unpacker(codec: str) -> _Unpack:
    from paimon_explore.encoding.avro.codecs import unpacker  # noqa: PLC0415 - hardly ever

    return unpacker(codec, read_limited)


def _pack_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _pack_rare(codec: str, data: bytes) -> bytes:
    from paimon_explore.encoding.avro.codecs import PACK as RARE  # noqa: PLC0415 - as above

    return RARE[codec](data)


_ZSTANDARD_LEVEL = 3
_RARE = ("snappy", "bzip2", "xz")

_UNPACK: MappingProxyType[str, Callable[[], _Unpack]] = MappingProxyType(
    {
        "null": lambda: lambda packed, _: packed,
        "deflate": lambda: _unpack_deflate,
        "zstandard": _zstandard_unpacker,
        **{codec: partial(_rare_unpacker, codec) for codec in _RARE},
    }
)
"""Factories of decompression functions by codec name."""
PACK: MappingProxyType[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "null": lambda data: data,
        "deflate": _pack_deflate,
        "zstandard": lambda data: zstandard.ZstdCompressor(level=_ZSTANDARD_LEVEL).compress(data),
        **{codec: partial(_pack_rare, codec) for codec in _RARE},
    }
)
"""Compression functions by codec name."""


def _wrong(where: str, rule: str) -> CorruptFileError:
    return CorruptFileError("", where, rule)


def _cut_short(position: int) -> CorruptFileError:
    return _wrong(f"byte {position}", "the file is truncated")


def can_join(first: bytes, second: bytes) -> bool:
    """Return whether two containers have the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container.
    """
    a, b = read_header(first), read_header(second)
    return (a.schema, a.codec) == (b.schema, b.codec)


def joined(containers: Iterable[bytes]) -> bytes:
    """Concatenate the blocks of containers, in order.

    Args:
        containers: at least one; all of the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container, or are truncated.
    """
    parts: list[bytes] = []
    for data in containers:
        header = read_header(data)
        if not parts:
            parts += [data[: header.size - SYNC_SIZE], PROCESS_SYNC]
        if header.sync == PROCESS_SYNC and data[-SYNC_SIZE:] == PROCESS_SYNC:
            parts.append(data[header.size :])  # written by this process, so not checked
        else:
            parts.extend(_blocks(data, header.size, header.sync, PROCESS_SYNC))
    return b"".join(parts)


def repacked(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Merge containers into one with blocks of at least `BLOCK_BYTES`, except the last.

    Args:
        files: path and content of at least one container; all of the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container, or are damaged.
    """
    first = files[0][1]
    header = read_header(first)
    parts = [first[: header.size - SYNC_SIZE], PROCESS_SYNC]
    count, size, waiting = 0, 0, list[bytes]()
    for path, data in files:
        for block in _blocks_of_file(path, data):
            waiting.append(block.data)
            count, size = count + block.count, size + len(block.data)
            if size >= BLOCK_BYTES:
                parts.append(write_block(count, b"".join(waiting), header.codec, PROCESS_SYNC))
                count, size, waiting = 0, 0, []
    if count:
        parts.append(write_block(count, b"".join(waiting), header.codec, PROCESS_SYNC))
    return b"".join(parts)


def _blocks_of_file(path: str, data: bytes) -> Iterator[Block]:
    try:
        yield from read_blocks(data, read_header(data))
    except CorruptFileError as error:
        raise CorruptFileError(path, error.where, error.rule) from error


def _blocks(data: bytes, position: int, marker: bytes, sync: bytes) -> Iterable[bytes]:
    """Return the blocks of a container with another sync marker."""
    while position < len(data):
        count, after = read_long(data, position)
        size, after = read_long(data, after)
        end = after + size
        if size < 0 or count < 0 or data[end : end + SYNC_SIZE] != marker:
            where = f"block at byte {position}"
            raise CorruptFileError(
                "", where, "must be within the file and end with the sync marker"
            )
        yield data[position:end]
        yield sync
        position = end + SYNC_SIZE
