"""Container of the indexes of a data file: a file `<data file>.index`, or bytes in the manifest.

    int64 magic | int32 version | int32 head length | int32 columns
    per column: text name | int32 indexes | per index: text kind | int32 start | int32 length
    int32 spare length | spare bytes | body

All integers are big-endian; `start` is relative to the first byte of the container, or -1 for an
index without values. The column name of an index on one key of a map column is `column[key]`.

Spec: concepts/spec/fileindex. Seen in: golden java200/fi_bloom_external and fi_bitmap.
"""

from collections.abc import Sequence

from paimon_explore.encoding.file_index.byte_reader import ByteStream, encode_modified_utf8, int32
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass

MAGIC = 1493475289347502
VERSION = 1
PREFIX_BYTES = 16
"""Size of magic, version and head length."""

_EMPTY = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPart:
    """One index in a container.

    Attributes:
        column: the column, `column[key]` for one key of a map.
        kind: `bloom-filter`, `bitmap`, `bsi`, `range-bitmap` or an unknown kind.
        start: offset in the container; None if the column has only nulls.
        length: number of bytes.
    """

    column: str
    kind: str
    start: int | None
    length: int


def map_column(column: str, key: str) -> str:
    """Return the column name of an index on one key of a map column."""
    return f"{column}[{key}]"


def head_length(prefix: bytes, *, path: str) -> int:
    """Return the length of the head from the first `PREFIX_BYTES` of a container.

    Raises:
        CorruptFileError: the bytes are not a container.
        UnsupportedVersionError: the version is unknown.
    """
    stream = ByteStream(prefix, path)
    if stream.number(8) != MAGIC:
        raise CorruptFileError(path, "byte 0", f"a file index must start with {MAGIC:#x}")
    version = stream.number()
    if version != VERSION:
        raise UnsupportedVersionError("file index", version, [VERSION], path)
    length = stream.number()
    if length < PREFIX_BYTES:
        raise CorruptFileError(
            path, "byte 12", f"the header length must be at least {PREFIX_BYTES}, not {length}"
        )
    return length


def decode_container(data: bytes, *, path: str, size: int | None = None) -> list[IndexPart]:
    """Decode the head of a container to its indexes, in order.

    Args:
        data: the container, or at least its head.
        path: path of the file, for errors.
        size: size of the whole container if `data` is only its head.

    Raises:
        CorruptFileError: the head is damaged, or an index is out of bounds.
        UnsupportedVersionError: the version is unknown.
    """
    length = head_length(data[:PREFIX_BYTES], path=path)
    if length > len(data):
        raise CorruptFileError(
            path, "byte 12", f"the header, of {length} bytes, must fit into the file"
        )
    stream = ByteStream(data[:length], path, PREFIX_BYTES)
    total = len(data) if size is None else size
    parts = []
    for _ in range(stream.count()):
        column = stream.utf()
        for _ in range(stream.count()):
            kind = stream.utf()
            start, part = stream.number(), stream.number()
            if start == _EMPTY:
                parts.append(IndexPart(column=column, kind=kind, start=None, length=0))
                continue
            if start < length or part < 0 or start + part > total:
                stream.fail(
                    f"index {kind!r} of column {column!r} must be within the file, after the header"
                )
            parts.append(IndexPart(column=column, kind=kind, start=start, length=part))
    return parts


def encode_container(indexes: Sequence[tuple[str, str, bytes | None]]) -> bytes:
    """Encode a container.

    Args:
        indexes: column, kind and bytes of each index; None for an index without values. The
            indexes are grouped by column.
    """
    columns: dict[str, list[tuple[str, bytes | None]]] = {}
    for column, kind, data in indexes:
        columns.setdefault(column, []).append((kind, data))
    names = {column: encode_modified_utf8(column) for column in columns}
    kinds = {kind: encode_modified_utf8(kind) for _, kind, _ in indexes}
    length = PREFIX_BYTES + 8 + sum(len(name) + 4 for name in names.values())
    length += sum(len(kinds[kind]) + 8 for _, kind, _ in indexes)
    head = [MAGIC.to_bytes(8, "big"), int32(VERSION), int32(length), int32(len(columns))]
    body: list[bytes] = []
    start = length
    for column, found in columns.items():
        head += [names[column], int32(len(found))]
        for kind, data in found:
            size = 0 if data is None else len(data)
            head += [kinds[kind], int32(_EMPTY if data is None else start), int32(size)]
            body.append(data or b"")
            start += size
    return b"".join([*head, int32(0), *body])
