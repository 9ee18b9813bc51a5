"""Avro containers put together without unpacking their blocks.

Containers of one schema and codec differ only in the marker between blocks, so the blocks of one
can be copied behind those of another. That makes merging manifests as cheap as copying their bytes.
"""

from collections.abc import Iterable

from paimon_explore.encoding.avro_container import (
    PROCESS_SYNC,
    SYNC_SIZE,
    read_header,
    read_long,
)
from paimon_explore.errors import CorruptFileError


def can_join(first: bytes, second: bytes) -> bool:
    """Whether two containers have the same schema and codec.

    Raises:
        CorruptFileError: one is no container.
    """
    a, b = read_header(first), read_header(second)
    return (a.schema, a.codec) == (b.schema, b.codec)


def joined(containers: Iterable[bytes]) -> bytes:
    """One container with the blocks of all, in order.

    Args:
        containers: at least one; all of the same schema and codec.

    Raises:
        CorruptFileError: one is no container or is cut short.
    """
    parts: list[bytes] = []
    for data in containers:
        header = read_header(data)
        if not parts:
            parts += [data[: header.size - SYNC_SIZE], PROCESS_SYNC]
        if header.sync == PROCESS_SYNC and data[-SYNC_SIZE:] == PROCESS_SYNC:
            parts.append(data[header.size :])  # what this process has written needs no second look
        else:
            parts.extend(_blocks(data, header.size, header.sync, PROCESS_SYNC))
    return b"".join(parts)


def _blocks(data: bytes, position: int, marker: bytes, sync: bytes) -> Iterable[bytes]:
    """The blocks of a container with another marker behind each."""
    while position < len(data):
        count, after = read_long(data, position)
        size, after = read_long(data, after)
        end = after + size
        if size < 0 or count < 0 or data[end : end + SYNC_SIZE] != marker:
            where = f"block at byte {position}"
            raise CorruptFileError("", where, "must lie in the file and end with its sync marker")
        yield data[position:end]
        yield sync
        position = end + SYNC_SIZE
