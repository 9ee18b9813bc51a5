"""Avro containers put together without decoding their records.

Containers of one schema and codec differ only in the marker between blocks, so the blocks of one
can be copied behind those of another. That makes merging manifests as cheap as copying their bytes.
Blocks of few records are unpacked and packed together, for readers take their time for each block.
"""

from collections.abc import Iterable, Iterator, Sequence

from paimon_explore.encoding.avro.container import (
    BLOCK_BYTES,
    PROCESS_SYNC,
    SYNC_SIZE,
    Block,
    read_blocks,
    read_header,
    read_long,
    write_block,
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


def repacked(files: Sequence[tuple[str, bytes]]) -> bytes:
    """One container with the records of all, in blocks of at least `BLOCK_BYTES` but the last.

    Args:
        files: path and content of at least one container; all of the same schema and codec.

    Raises:
        CorruptFileError: one is no container or is damaged.
    """
    first = files[0][1]
    header = read_header(first)
    parts = [first[: header.size - SYNC_SIZE], PROCESS_SYNC]
    count, size, waiting = 0, 0, list[bytes]()
    for path, data in files:
        for block in _unpacked(path, data):
            waiting.append(block.data)
            count, size = count + block.count, size + len(block.data)
            if size >= BLOCK_BYTES:
                parts.append(write_block(count, b"".join(waiting), header.codec, PROCESS_SYNC))
                count, size, waiting = 0, 0, []
    if count:
        parts.append(write_block(count, b"".join(waiting), header.codec, PROCESS_SYNC))
    return b"".join(parts)


def _unpacked(path: str, data: bytes) -> Iterator[Block]:
    try:
        yield from read_blocks(data, read_header(data))
    except CorruptFileError as error:
        raise CorruptFileError(path, error.where, error.rule) from error


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
