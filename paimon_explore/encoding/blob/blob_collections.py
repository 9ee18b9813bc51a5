"""Encoding of ARRAY<BLOB> and MAP<x, BLOB> values as entries of a blob file.

    array: magic BCBA | byte version | int32 count | values | sizes of values | int32
    map:   magic BCBM | byte version | int32 count | keys | values | sizes of keys
           | sizes of values | int32 | int32

All integers are little-endian. Sizes are delta-encoded lists as in the blob file itself, -1 for a
null value; the last numbers are the bytes of these lists. For the bytes of keys see `map_keys`.

Spec: append-table/blob, release 2.0. Seen in: files of Java 2.0.0.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types.arrow_buffers import offsets_from_sizes
from paimon_explore.data_types.definitions import DataType, MapType
from paimon_explore.encoding.blob.map_keys import Key, key_coder
from paimon_explore.encoding.varint import decode_deltas, encode_deltas
from paimon_explore.errors import UnsupportedFeatureError

Blob: TypeAlias = bytes | None
ValueAt: TypeAlias = Callable[[int, int], bytes]
"""Returns a value by its start in the entry and its size."""

_ARRAY, _MAP = b"BCBA", b"BCBM"
_VERSION = 1
_HEAD_BYTES = 9
_NULL = -1


def encode_array(values: Sequence[Blob]) -> bytes:
    """Encode an array."""
    sizes = _sizes(values)
    return b"".join([_head(_ARRAY, len(values)), *filter(None, values), sizes, _int(len(sizes))])


def decode_array(data: bytes, value_at: ValueAt | None = None) -> list[Blob]:
    """Decode an array.

    Args:
        data: the entry.
        value_at: returns values; None for their bytes in the entry.

    Raises:
        ValueError: the bytes are not an array.
    """
    end, (sizes,) = _split_lists(data, 1, _count(data, _ARRAY))
    values, after = _split_values(data, _HEAD_BYTES, end, sizes, value_at)
    _check_end(after, end)
    return values


def encode_map(entries: Sequence[tuple[Key, Blob]], key_type: DataType) -> bytes:
    """Encode a map.

    Args:
        entries: keys and values.
        key_type: type of the keys, see `key_coder`.
    """
    coder = key_coder(key_type)
    keys = [coder.encode(key) for key, _ in entries]
    values = [value for _, value in entries]
    lists = [_sizes(keys), _sizes(values)]
    ends = [_int(len(sizes)) for sizes in lists]
    parts = [_head(_MAP, len(entries)), *keys, *filter(None, values), *lists, *ends]
    return b"".join(parts)


def decode_map(
    data: bytes, key_type: DataType, value_at: ValueAt | None = None
) -> list[tuple[Key, Blob]]:
    """Decode a map; see `decode_array`.

    Raises:
        ValueError: the bytes are not a map with such keys.
    """
    end, (key_sizes, sizes) = _split_lists(data, 2, _count(data, _MAP))
    keys, after = _split_values(data, _HEAD_BYTES, end, key_sizes)
    values, after = _split_values(data, after, end, sizes, value_at)
    _check_end(after, end)
    coder = key_coder(key_type)
    if None in keys:
        raise ValueError("a map key must not be null")
    return [(coder.decode(key or b""), value) for key, value in zip(keys, values, strict=True)]


def _head(magic: bytes, count: int) -> bytes:
    return magic + bytes([_VERSION]) + _int(count)


def _int(value: int) -> bytes:
    return value.to_bytes(4, "little")


def _sizes(values: Sequence[Blob]) -> bytes:
    sizes = [_NULL if value is None else len(value) for value in values]
    return encode_deltas(np.array(sizes, np.int64)) if sizes else b""


def _count(data: bytes, magic: bytes) -> int:
    if data[:4] != magic or len(data) < _HEAD_BYTES:
        raise ValueError(f"must begin with {magic.decode()!r}")
    if data[4] != _VERSION:
        raise UnsupportedFeatureError(f"version {data[4]} of nested values in a blob file")
    return int.from_bytes(data[5:_HEAD_BYTES], "little", signed=True)


def _split_lists(data: bytes, lists: int, count: int) -> tuple[int, list[list[int]]]:
    """Return where the lists of sizes start, and the lists."""
    end = len(data) - 4 * lists
    if end < _HEAD_BYTES:
        raise ValueError("is truncated")
    lengths = [
        int.from_bytes(data[end + 4 * i : end + 4 * i + 4], "little", signed=True)
        for i in range(lists)
    ]
    if min(lengths) < 0 or sum(lengths) > end - _HEAD_BYTES:
        raise ValueError("the lists of sizes must be within the entry")
    start = end - sum(lengths)
    found: list[list[int]] = []
    for at, length in zip(
        (start + offsets_from_sizes(np.array(lengths)))[:-1].tolist(), lengths, strict=True
    ):
        sizes = decode_deltas(data[at : at + length])
        if sizes is None:
            raise ValueError("a list of sizes must consist of delta-encoded integers")
        if len(sizes) != count:
            raise ValueError(f"a list of sizes must have {count} items, not {len(sizes)}")
        if (sizes < _NULL).any():
            raise ValueError(f"a size must be at least {_NULL}, not {sizes.min()}")
        found.append(sizes.tolist())
    return start, found


def _split_values(
    data: bytes, at: int, end: int, sizes: Sequence[int], value_at: ValueAt | None = None
) -> tuple[list[Blob], int]:
    """Return the values of the sizes from a byte on, and the end of the last one."""
    values: list[Blob] = []
    for size in sizes:
        if size == _NULL:
            values.append(None)
            continue
        if at + size > end:
            raise ValueError("the values must be within the entry")
        values.append(data[at : at + size] if value_at is None else value_at(at, size))
        at += size
    return values, at


def _check_end(after: int, end: int) -> None:
    if after != end:
        raise ValueError("must not contain bytes after its last value")


def each_blob(value: object, change: Callable[[bytes], bytes]) -> object:
    """Replace the BLOBs of a value: itself, those of a list, or of the pairs of a map."""
    match value:
        case list():
            return [each_blob(one, change) for one in value]
        case (key, item):
            return key, each_blob(item, change)
        case bytes():
            return change(value)
        case _:
            return value


def encode_nested(value: Sequence[object], data_type: DataType) -> bytes:
    """Encode an array of values, or a map of (key, value) pairs."""
    if isinstance(data_type, MapType):
        return encode_map(value, data_type.key)  # type: ignore[arg-type]  # pairs
    return encode_array(value)  # type: ignore[arg-type]  # of bytes
