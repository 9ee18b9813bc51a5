"""The tail of an ORC file: what Arrow's reader does not tell.

Arrow gives neither the rows of a stripe nor its statistics, nor the writer's time zone, nor whether
a text column is CHAR (whose values the Java writer pads with spaces).

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
from paimon_explore.encoding.orc.protobuf_decoder import (
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
"""What three bytes of a chunk's header can tell the size of."""
_DEFAULT_BLOCK = 256 * 1024


class OrcKind(IntEnum):
    """Kinds of ORC types that need a look; the others are read as Arrow gives them."""

    TIMESTAMP = 9
    LIST = 10
    MAP = 11
    STRUCT = 12
    CHAR = 17
    TIMESTAMP_INSTANT = 18


@dataclass(frozen=True, slots=True)
class OrcType:
    """A node of the type tree.

    Attributes:
        kind: the number of its kind.
        column: its id: its place in depth-first order, the root struct is 0.
        names: of the children, for structs.
        children: in order.
    """

    kind: int
    column: int
    names: tuple[str, ...] = ()
    children: tuple["OrcType", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OrcTail:
    """What the tail says.

    Attributes:
        spans: the stripes.
        root: the struct of all columns.
        statistics: per column id of the whole file; empty when not written.
        stripe_footers: place and length of each stripe's footer.
        writer: number of the library that wrote the file; 0 is the Java one.
        metadata: the compressed stripe statistics; empty when not written.
        expand: undoes the file's compression.
    """

    spans: tuple[Span, ...]
    root: OrcType
    statistics: tuple[Message, ...]
    stripe_footers: tuple[tuple[int, int], ...]
    writer: int
    metadata: bytes = field(repr=False)
    expand: Callable[[bytes], bytes] = field(repr=False)

    def writer_zone(self, file: pa.NativeFile, stripe: int) -> str:
        """The time zone of the process that wrote a stripe.

        Empty when it does not say: the Java library names it only if a TIMESTAMP column is there.
        """
        offset, length = self.stripe_footers[stripe]
        file.seek(offset)
        footer = decode_message(self.expand(file.read(length)))
        return (raw(footer, _WRITER_ZONE) or b"").decode()

    def stripe_statistics(self) -> list[list[Message]]:
        """Per stripe and column id; empty when not written."""
        stripes = messages(decode_message(self.expand(self.metadata)), 1)
        return [list(messages(stripe, 1)) for stripe in stripes]


def read_tail(file: pa.NativeFile, path: str) -> OrcTail:
    """The tail of an ORC file.

    Raises:
        CorruptFileError: the file is no ORC file or its tail is damaged.
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
        raise CorruptFileError(path, "last bytes", "an ORC file must end with a postscript and ORC")
    post = decode_message(post_bytes)
    footer_length = number(post, _POST_FOOTER)
    metadata_length = number(post, _POST_METADATA)
    whole = 1 + post_length + footer_length + metadata_length
    if whole > size:
        raise CorruptFileError(path, "postscript", f"a tail of {whole} bytes in a file of {size}")
    if whole > len(tail):
        tail = _last(file, size, whole)
    end = len(tail) - 1 - post_length
    block = min(number(post, _POST_BLOCK, _DEFAULT_BLOCK), _MAX_BLOCK_BYTES)
    expand = _expander(number(post, _POST_CODEC), block, path)
    footer = decode_message(expand(tail[end - footer_length : end]))
    metadata_end = end - footer_length
    return OrcTail(
        spans=_spans(footer),
        root=_type_tree(footer),
        statistics=tuple(messages(footer, _STATISTICS)),
        stripe_footers=_stripe_footers(footer),
        writer=number(footer, _WRITER),
        metadata=tail[metadata_end - metadata_length : metadata_end],
        expand=expand,
    )


def _last(file: pa.NativeFile, size: int, count: int) -> bytes:
    file.seek(max(size - count, 0))
    data: bytes = file.read(min(count, size))
    return data


def _spans(footer: Message) -> tuple[Span, ...]:
    spans = []
    first = 0
    for stripe in messages(footer, _STRIPES):
        rows = number(stripe, _STRIPE_ROWS)
        spans.append(Span(first=first, rows=rows))
        first += rows
    return tuple(spans)


def _stripe_footers(footer: Message) -> tuple[tuple[int, int], ...]:
    return tuple(
        (
            number(stripe, _STRIPE_OFFSET)
            + number(stripe, _STRIPE_INDEX)
            + number(stripe, _STRIPE_DATA),
            number(stripe, _STRIPE_FOOTER),
        )
        for stripe in messages(footer, _STRIPES)
    )


def _type_tree(footer: Message) -> OrcType:
    nodes = list(messages(footer, _TYPES))
    if not nodes or number(nodes[0], 1) != OrcKind.STRUCT:
        raise ProtobufError("the root type must be a struct")

    def build(column: int, parent: int) -> OrcType:
        if column <= parent:
            raise ProtobufError(f"type {column} below type {parent}")
        node = nodes[column]
        return OrcType(
            kind=number(node, 1),
            column=column,
            names=tuple(name.decode() for name in node.get(3, []) if isinstance(name, bytes)),
            children=tuple(build(child, column) for child in numbers(node, 2)),
        )

    return build(0, -1)


def _expander(codec: int, block: int, path: str) -> Callable[[bytes], bytes]:
    """A function that undoes the compression of a section: chunks with a three-byte header each."""
    if codec == 0:
        return bytes
    expand_chunk = _CODECS.get(codec)
    if codec > _LAST_CODEC:
        raise CorruptFileError(path, "postscript", f"unknown compression kind {codec}")
    if expand_chunk is None:
        raise UnsupportedFeatureError(f"ORC compression kind {codec}", path)

    def expand(data: bytes) -> bytes:
        out = bytearray()
        at = 0
        while at < len(data):
            header = int.from_bytes(data[at : at + _CHUNK_HEADER], "little")
            at += _CHUNK_HEADER
            chunk = data[at : at + (header >> 1)]
            at += header >> 1
            try:
                out += chunk if header & 1 else expand_chunk(chunk, block)
            except (zlib.error, zstandard.ZstdError, cramjam.DecompressionError) as error:
                raise ProtobufError(f"a chunk does not unpack: {error}") from error
            if len(out) > _MAX_SECTION_BYTES:
                raise ProtobufError(f"a section of more than {_MAX_SECTION_BYTES} bytes")
        return bytes(out)

    return expand


def _inflate(chunk: bytes, block: int) -> bytes:
    return zlib.decompressobj(-15).decompress(chunk, block)


def _unsnap(chunk: bytes, block: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(chunk) > block:
        raise cramjam.DecompressionError("a chunk is larger than a block")
    return bytes(cramjam.snappy.decompress_raw(chunk))


def _unlz4(chunk: bytes, block: int) -> bytes:
    out = bytearray(block)
    size = cramjam.lz4.decompress_block_into(chunk, output=out)
    return bytes(out[:size])


def _unzstd(chunk: bytes, block: int) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(chunk) as reader:
        return reader.read(block)


_CODECS: Mapping[int, Callable[[bytes, int], bytes]] = {
    1: _inflate,
    2: _unsnap,
    4: _unlz4,
    5: _unzstd,
}
