"""Decoders of whole files and columns, for values that the library decodes one by one."""

import datetime as dt

import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.deletion_vector import (
    FRAME_BYTES,
    DeletionVector,
    decode_vector,
)
from paimon_explore.encoding.variant.decoder import VariantReader, decode_keys
from paimon_explore.encoding.variant.json_text import JsonMaker
from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.manifest_codec import decode_manifest_lists
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles

_INT = 4


def decode_manifest_list(data: bytes, path: str) -> ManifestFiles:
    """Decode a manifest list.

    Raises:
        UnsupportedVersionError: the format version is not supported.
        CorruptFileError: the file violates the format.
    """
    return decode_manifest_lists([(path, data)])[0]


def decode_vectors(data: bytes, *, path: str) -> list[tuple[int, DeletionVector]]:
    """Decode all vectors of an index file, with their offsets; the names are in the index manifest.

    Raises:
        CorruptFileError: the file is damaged.
    """
    if data[:1] != b"\x01":
        raise CorruptFileError(path, "byte 0", "the file must start with version 1")
    found = []
    offset = 1
    while offset < len(data):
        size = int.from_bytes(data[offset : offset + _INT], "big", signed=True)
        record = data[offset : offset + max(size, 0) + FRAME_BYTES]
        found.append((offset, decode_vector(record, size, path=path)))
        offset += size + FRAME_BYTES
    return found


def json_column(column: pa.StructArray, *, zone: dt.tzinfo = dt.UTC, path: str = "") -> Column:
    """Format variants as JSON, exactly as Java does.

    Args:
        column: a column of type `VARIANT_ARROW`.
        zone: the time zone in which timestamps are formatted.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: a variant is damaged.
    """
    maker = JsonMaker(zone)
    known: dict[bytes, tuple[str, ...]] = {}
    texts = []
    values, metadata = (nb.as_python(column.field(name)) for name in ("value", "metadata"))
    for there, value, keys in zip(nb.valid_mask(column).tolist(), values, metadata, strict=True):
        if not there or not isinstance(value, bytes) or not isinstance(keys, bytes):
            texts.append(b"")
            continue
        if keys not in known:
            known[keys] = decode_keys(keys, path=path)
        text = VariantReader(value, known[keys], path).read(maker)
        texts.append(text.encode("utf-8", "replace"))
    return pa.array(
        [
            text.decode() if there else None
            for text, there in zip(texts, nb.valid_mask(column), strict=True)
        ],
        pa.string(),
    )


def with_arity(rows: pa.BinaryArray, arity: int) -> pa.BinaryArray:
    """Prepend the arity to rows; null stays null."""
    head = arity.to_bytes(4, "big")
    found = [None if row is None else head + row for row in rows.to_pylist()]
    return pa.array(found, pa.binary())
