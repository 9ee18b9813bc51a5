"""Descriptors of BLOBs: where the contents are, as stored in place of them.

    byte version | int64 magic | int32 size of the URI | URI in UTF-8 | int64 offset | int64 length

All integers are little-endian. Version 1 has no magic number. A length of -1 means up to the end.

Spec: append-table/blob, blob descriptor. Seen in: files of pypaimon 2.1 and Java 2.0.0.
"""

import struct

from paimon_explore.frozen_dataclass import dataclass

VERSION = 2
MAGIC = 0x424C4F4244455343
TO_THE_END = -1
URI_START = 13
"""First byte of the URI of a descriptor with a magic number."""
_VERSION_WITHOUT_MAGIC = 1
_PLACE = struct.Struct("<qq")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobDescriptor:
    """The location of the contents of a BLOB.

    Attributes:
        uri: of the file.
        offset: first byte of the contents.
        length: number of bytes; -1 up to the end of the file.
    """

    uri: str
    offset: int
    length: int


def is_descriptor(data: bytes) -> bool:
    """Whether bytes begin as a descriptor with a magic number does.

    >>> is_descriptor(encode_descriptor(BlobDescriptor(uri="/a", offset=0, length=1)))
    True
    >>> is_descriptor(b"contents")
    False
    """
    return data[:1] == bytes([VERSION]) and data[1:9] == MAGIC.to_bytes(8, "little")


def encode_descriptor(descriptor: BlobDescriptor) -> bytes:
    """Encode a descriptor.

    >>> encode_descriptor(BlobDescriptor(uri="/a", offset=0, length=-1)).hex(" ", -4)
    '02435345 44424f4c 42020000 002f6100 00000000 000000ff ffffffff ffffff'
    """
    uri = descriptor.uri.encode()
    head = bytes([VERSION]) + MAGIC.to_bytes(8, "little") + len(uri).to_bytes(4, "little")
    return head + uri + _PLACE.pack(descriptor.offset, descriptor.length)


def decode_descriptor(data: bytes) -> BlobDescriptor:
    """Decode a descriptor.

    Raises:
        ValueError: the bytes are no descriptor.

    >>> decode_descriptor(encode_descriptor(BlobDescriptor(uri="/a", offset=3, length=4)))
    BlobDescriptor(uri='/a', offset=3, length=4)
    """
    if not is_descriptor(data) and data[:1] != bytes([_VERSION_WITHOUT_MAGIC]):
        raise ValueError("must be a descriptor of version 1 or 2")
    start = 9 if data[0] == VERSION else 1
    size = int.from_bytes(data[start : start + 4], "little", signed=True)
    end = start + 4 + size
    if size < 0 or len(data) != end + _PLACE.size:
        raise ValueError("must be as long as the URI of the descriptor requires")
    offset, length = _PLACE.unpack(data[end:])
    if offset < 0 or length < TO_THE_END:
        raise ValueError("must have an offset and a length that are not negative")
    return BlobDescriptor(uri=data[start + 4 : end].decode(), offset=offset, length=length)
