"""Files of references (`.blobref`): the managed files that a data file of a primary-key table uses.

    magic PBLR | byte version | int32 count | count times folder, name | int32 crc32

All integers are big-endian. The texts are in Java's modified UTF-8, each after its length in 2
bytes, and sorted. The checksum is of all between it and the magic.

Spec: primary-key-table/blob-storage. Seen in: golden java21 `blob_key`.
"""

import zlib
from collections.abc import Iterable

from paimon_explore.encoding.blob.blob_descriptor import URI_START, is_descriptor
from paimon_explore.encoding.file_index.byte_reader import ByteStream, encode_modified_utf8, int32

MANAGED_SUFFIX = ".managed.blob"
REFERENCES_SUFFIX = ".blobref"
_MAGIC = b"PBLR"
_VERSION = 1
_PLACE_BYTES = 16


def is_managed(data: bytes) -> bool:
    """Whether bytes are the descriptor of a BLOB in a managed file."""
    return is_descriptor(data) and data[:-_PLACE_BYTES].endswith(MANAGED_SUFFIX.encode())


def managed_uris(values: Iterable[object]) -> set[str]:
    """Return the URIs of the managed files of descriptors, also in lists and pairs of maps."""
    heads: set[bytes] = set()
    _collect(values, heads)
    return {head[URI_START:].decode() for head in heads}


def _collect(values: Iterable[object], heads: set[bytes]) -> None:
    for value in values:
        match value:
            case bytes() if is_managed(value):
                heads.add(value[:-_PLACE_BYTES])
            case list():
                _collect(value, heads)
            case (_, item):
                _collect((item,), heads)
            case _:
                continue


def encode_references(uris: Iterable[str]) -> bytes:
    """Encode the references to managed files.

    >>> encode_references([]).hex(" ", -4)
    '50424c52 01000000 00fb42de ad'
    """
    places = sorted((folder, name) for folder, _, name in (uri.rpartition("/") for uri in uris))
    texts = [encode_modified_utf8(text) for place in places for text in place]
    data = b"".join([bytes([_VERSION]), int32(len(places)), *texts])
    return _MAGIC + data + zlib.crc32(data).to_bytes(4, "big")


def decode_references(data: bytes, path: str) -> list[str]:
    """Decode the URIs of managed files.

    Raises:
        CorruptFileError: the file is damaged.
        UnsupportedVersionError: the version is not known.
    """
    stream = ByteStream(data[:-4], path)
    if stream.take(4) != _MAGIC or zlib.crc32(data[4:-4]) != int.from_bytes(data[-4:], "big"):
        stream.fail("must start with 'PBLR' and end with the checksum of the rest")
    stream.version("file of references", [_VERSION])
    found = [f"{stream.utf()}/{stream.utf()}" for _ in range(stream.count())]
    if stream.position != len(data) - 4:
        stream.fail("must not contain bytes after the last reference")
    return found
