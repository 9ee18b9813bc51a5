"""What the index manifest records of a btree or bitmap index file: its first and last key.

Layout: int32 LE length and first key, the same for the last key, a byte that is 1 if the file has
null rows; then, since Paimon 2.0, version byte 1 and flags (bit 0: there is no first key, bit 1: no
last key). Without the version, a file of null rows only has two empty keys.

Seen in: `tests/support/global_indexes.py`.
"""

import struct

from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, Key
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

VERSION = 1
_FIRST_IS_NULL = 1
_LAST_IS_NULL = 2
_LENGTH_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedIndexMeta:
    """The keys of an index file.

    Attributes:
        first: the least key; None if all rows are null.
        last: the greatest key; None if all rows are null.
        has_nulls: whether there are null rows.
    """

    first: Key | None
    last: Key | None
    has_nulls: bool


def decode_index_meta(data: bytes, keys: GlobalIndexKeys, *, path: str) -> SortedIndexMeta:
    """Decode the metadata of an index file.

    Args:
        data: `_INDEX_META` of the entry in the index manifest.
        keys: of the indexed column.
        path: of the index file, for errors.

    Raises:
        CorruptFileError: the bytes break the layout.
    """
    try:
        first, at = _take(data, 0)
        last, at = _take(data, at)
        has_nulls, rest = _take_flag(data, at)
        is_null = has_nulls and not first and not last and len(rest) < 2  # noqa: PLR2004 - version and flags
        flags = (_FIRST_IS_NULL | _LAST_IS_NULL) if is_null else 0
        if len(rest) >= 2 and rest[0] == VERSION:  # noqa: PLR2004 - version and flags
            flags = rest[1]
        return SortedIndexMeta(
            first=None if flags & _FIRST_IS_NULL else keys.decode(first),
            last=None if flags & _LAST_IS_NULL else keys.decode(last),
            has_nulls=has_nulls,
        )
    except ValueError as error:
        raise CorruptFileError(path, "_INDEX_META of the index manifest", str(error)) from error


def encode_index_meta(meta: SortedIndexMeta, keys: GlobalIndexKeys) -> bytes:
    """Encode the metadata of an index file."""
    parts = []
    flags = 0
    for key, flag in ((meta.first, _FIRST_IS_NULL), (meta.last, _LAST_IS_NULL)):
        stored = b"" if key is None else keys.encode(key)
        flags |= flag if key is None else 0
        parts += [struct.pack("<i", len(stored)), stored]
    return b"".join([*parts, bytes([meta.has_nulls, VERSION, flags])])


def _take_flag(data: bytes, at: int) -> tuple[bool, bytes]:
    if at >= len(data):
        raise ValueError("must state whether there are null rows")
    return data[at] == 1, data[at + 1 :]


def _take(data: bytes, at: int) -> tuple[bytes, int]:
    begin = at + _LENGTH_BYTES
    size = int.from_bytes(data[at:begin], "little", signed=True)
    if begin > len(data) or not 0 <= size <= len(data) - begin:
        raise ValueError("must contain the whole key")
    return data[begin : begin + size], begin + size
