"""Decoding of the tail of ORC files, for metadata that Arrow's reader does not expose.

This is the number of rows and the statistics of each stripe, the writer's time zone, and whether a
text column is CHAR (the Java writer pads its values with spaces).

Spec: ORC specification v1, file tail and stripe footer.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import IntEnum

import cramjam
import pyarrow as pa
import zstandard

from paimon_explore.encoding.data_file_reader import Span
from paimon_explore.encoding.orc.protobuf import (
    Message,
    ProtobufError,
    decode_message,
    messages,
    number,
    numbers,
    raw,
)
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

_MAGIC = b"ORC"
_TAIL_READ = 64 * 1024
_MAX_SECTION_BYTES = 256 * 1024 * 1024
_CHUNK_HEADER = 3
_POST_FOOTER, _POST_CODEC, _POST_BLOCK, _POST_METADATA = 1, 2, 3, 5
_STRIPES, _TYPES, _STATISTICS, _WRITER = 3, 4, 7, 9
_STRIPE_OFFSET, _STRIPE_INDEX, _STRIPE_DATA, _STRIPE_FOOTER, _STRIPE_ROWS = 1, 2, 3, 4, 5
_WRITER_ZONE = 3
_LAST_CODEC = 6
_MAX_BLOCK_BYTES = 1 << 23
"""Maximum size that the three-byte header of a chunk can express."""
_DEFAULT_BLOCK = 256 * 1024


class OrcKind(IntEnum):
    """ORC type kinds that need special treatment; the others are read as Arrow decodes them."""

    LONG = 4
    TIMESTAMP = 9
    LIST = 10
    MAP = 11
    STRUCT = 12
    CHAR = 17
    TIMESTAMP_INSTANT = 18


@dataclass(frozen=True, slots=True)
class OrcType:
    """A node of the type tree of an ORC file.

    Attributes:
        kind: the type kind, see `OrcKind`.
        column: its column id: the position in depth-first order, 0 for the root struct.
        names: names of the children, for structs.
        children: child types.
    """

    kind: int
    column: int
    names: tuple[str, ...] = ()
    children: tuple["OrcType", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcTail:
    """The decoded tail of an ORC file.

    Attributes:
        spans: the stripes.
        root: the struct of all columns.
        statistics: file statistics per column id; empty if not written.
        stripes: offset and length of each stripe.
        stripe_footers: offset and length of each stripe's footer.
        writer: code of the library that wrote the file; 0 is ORC Java.
        metadata: the compressed stripe statistics; empty if not written.
        decompress: decompresses a section of the file.
    """

    spans: tuple[Span, ...]
    root: OrcType
    statistics: tuple[Message, ...]
    stripes: tuple[tuple[int, int], ...]
    stripe_footers: tuple[tuple[int, int], ...]
    writer: int
    metadata: bytes = field(repr=False)
    decompress: Callable[[bytes], bytes] = field(repr=False)

    def writer_zone(self, file: pa.NativeFile, stripe: int) -> str:
        """Return the time zone of the process that wrote a stripe.

        Empty if not written: ORC Java writes it only if the file has a TIMESTAMP column.
        """
        return (raw(self.stripe_footer(file, stripe), _WRITER_ZONE) or b"").decode()

    def stripe_footer(self, file: pa.NativeFile, stripe: int) -> Message:
        """Return the footer of a stripe: its streams, encodings and time zone."""
        return decode_message(self.decompress(read_bytes(file, *self.stripe_footers[stripe])))

    def stripe_statistics(self) -> list[list[Message]]:
        """Return the statistics per stripe and column id; empty if not written."""
        stripes = messages(decode_message(self.decompress(self.metadata)), 1)
        return [list(messages(stripe, 1)) for stripe in stripes]


def read_bytes(file: pa.NativeFile, at: int, length: int) -> bytes:
    """Read a range of a file.

    Raises:
        ProtobufError: the file does not have the range.
    """
    if at < 0:
        raise ProtobufError(f"the stripe offset {at} is negative")
    file.seek(at)
    data: bytes = file.read(length)
    if len(data) < length:
        raise ProtobufError(
            f"{length} bytes are required at byte {at}, but only {len(data)} bytes follow"
        )
    return data


def read_tail(file: pa.NativeFile, path: str) -> OrcTail:
    """Read the tail of an ORC file.

    Raises:
        CorruptFileError: the file is not an ORC file, or its tail is damaged.
        UnsupportedFeatureError: the file is compressed with LZO.
    """
    try:
        return _read_tail(file, path)
    except (ProtobufError, IndexError, UnicodeDecodeError) as error:
        raise CorruptFileError(path, "ORC tail", str(error)) from error


def _read_tail(file: pa.NativeFile, path: str) -> OrcTail:
    size = file.size()
    tail = _last(file, size, _TAIL_READ)
    post_length = tail[-1] if tail else 0
    post_bytes = tail[-1 - post_length : -1]
    if not post_bytes.endswith(_MAGIC):
        raise CorruptFileError(
            path, "last bytes", "an ORC file must end with a postscript and the magic 'ORC'"
        )
    post = decode_message(post_bytes)
    footer_length = number(post, _POST_FOOTER)
    metadata_length = number(post, _POST_METADATA)
    whole = 1 + post_length + footer_length + metadata_length
    if whole > size:
        raise CorruptFileError(
            path, "postscript", f"the tail has {whole} bytes, but the file has only {size} bytes"
        )
    if whole > len(tail):
        tail = _last(file, size, whole)
    end = len(tail) - 1 - post_length
    block = min(number(post, _POST_BLOCK, _DEFAULT_BLOCK), _MAX_BLOCK_BYTES)
    decompress = _decompressor(number(post, _POST_CODEC), block, path)
    footer = decode_message(decompress(tail[end - footer_length : end]))
    metadata_end = end - footer_length
    spans, stripes, stripe_footers = _stripes(footer)
    return OrcTail(
        spans=spans,
        root=_type_tree(footer),
        statistics=tuple(messages(footer, _STATISTICS)),
        stripes=stripes,
        stripe_footers=stripe_footers,
        writer=number(footer, _WRITER),
        metadata=tail[metadata_end - metadata_length : metadata_end],
        decompress=decompress,
    )


def _last(file: pa.NativeFile, size: int, count: int) -> bytes:
    file.seek(max(size - count, 0))
    data: bytes = file.read(min(count, size))
    return data


_Ranges = tuple[tuple[int, int], ...]
"""Offset and length of parts of the file."""


def _stripes(footer: Message) -> tuple[tuple[Span, ...], _Ranges, _Ranges]:
    """Return the rows and the range of each stripe, and the range of its footer."""
    spans, stripes, footers = [], [], []
    first = 0
    for stripe in messages(footer, _STRIPES):
        rows, offset = number(stripe, _STRIPE_ROWS), number(stripe, _STRIPE_OFFSET)
        before = number(stripe, _STRIPE_INDEX) + number(stripe, _STRIPE_DATA)
        length = number(stripe, _STRIPE_FOOTER)
        spans.append(Span(first=first, rows=rows))
        stripes.append((offset, before + length))
        footers.append((offset + before, length))
        first += rows
    return tuple(spans), tuple(stripes), tuple(footers)


def _type_tree(footer: Message) -> OrcType:
    nodes = list(messages(footer, _TYPES))
    if not nodes or number(nodes[0], 1) != OrcKind.STRUCT:
        raise ProtobufError("the root type must be a struct")

    def build(column: int, parent: int) -> OrcType:
        if column <= parent:
            raise ProtobufError(f"type {column} must not be a child of type {parent}")
        node = nodes[column]
        return OrcType(
            kind=number(node, 1),
            column=column,
            names=tuple(name.decode() for name in node.get(3, []) if isinstance(name, bytes)),
            children=tuple(build(child, column) for child in numbers(node, 2)),
        )

    return build(0, -1)


def _decompressor(codec: int, block: int, path: str) -> Callable[[bytes], bytes]:
    """Return a function that decompresses a section: chunks with a three-byte header each."""
    if codec == 0:
        return bytes
    decompress_chunk = _CODECS.get(codec)
    if codec > _LAST_CODEC:
        raise CorruptFileError(path, "postscript", f"the compression kind {codec} is unknown")
    if decompress_chunk is None:
        raise UnsupportedFeatureError(f"ORC compression kind {codec}", path)

    def decompress(data: bytes) -> bytes:
        out = bytearray()
        at = 0
        while at < len(data):
            header = int.from_bytes(data[at : at + _CHUNK_HEADER], "little")
            at += _CHUNK_HEADER
            chunk = data[at : at + (header >> 1)]
            at += header >> 1
            try:
                out += chunk if header & 1 else decompress_chunk(chunk, block)
            except (zlib.error, zstandard.ZstdError, cramjam.DecompressionError) as error:
                raise ProtobufError(f"a chunk cannot be decompressed: {error}") from error
            if len(out) > _MAX_SECTION_BYTES:
                raise ProtobufError(f"a section has more than {_MAX_SECTION_BYTES} bytes")
        return bytes(out)

    return decompress


def _decompress_zlib(chunk: bytes, block: int) -> bytes:
    return zlib.decompressobj(-15).decompress(chunk, block)


def _decompress_snappy(chunk: bytes, block: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > block:
        raise cramjam.DecompressionError("a decompressed chunk is larger than the block size")
    return bytes(cramjam.snappy.decompress_raw(chunk))


def _decompress_lz4(chunk: bytes, block: int) -> bytes:
    out = bytearray(block)
    size = cramjam.lz4.decompress_block_into(chunk, output=out)
    return bytes(out[:size])


def _decompress_zstd(chunk: bytes, block: int) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(chunk) as reader:
        return reader.read(block)


_CODECS: Mapping[int, Callable[[bytes, int], bytes]] = {
    1: _decompress_zlib,
    2: _decompress_snappy,
    4: _decompress_lz4,
    5: _decompress_zstd,
}
