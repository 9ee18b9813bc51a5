"""Concatenation of Avro containers without decoding their records.

Containers of the same schema and codec differ only in the sync marker between blocks, so the blocks
of one can be appended to another. Merging manifests is then as cheap as copying their bytes. Small
blocks are decompressed and compressed together, as reading has a cost per block.
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
    """Return whether two containers have the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container.
    """
    a, b = read_header(first), read_header(second)
    return (a.schema, a.codec) == (b.schema, b.codec)


def joined(containers: Iterable[bytes]) -> bytes:
    """Concatenate the blocks of containers, in order.

    Args:
        containers: at least one; all of the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container, or are truncated.
    """
    parts: list[bytes] = []
    for data in containers:
        header = read_header(data)
        if not parts:
            parts += [data[: header.size - SYNC_SIZE], PROCESS_SYNC]
        if header.sync == PROCESS_SYNC and data[-SYNC_SIZE:] == PROCESS_SYNC:
            parts.append(data[header.size :])  # written by this process, so not checked
        else:
            parts.extend(_blocks(data, header.size, header.sync, PROCESS_SYNC))
    return b"".join(parts)


def repacked(files: Sequence[tuple[str, bytes]]) -> bytes:
    """Merge containers into one with blocks of at least `BLOCK_BYTES`, except the last.

    Args:
        files: path and content of at least one container; all of the same schema and codec.

    Raises:
        CorruptFileError: the bytes are not a container, or are damaged.
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
    """Return the blocks of a container with another sync marker."""
    while position < len(data):
        count, after = read_long(data, position)
        size, after = read_long(data, after)
        end = after + size
        if size < 0 or count < 0 or data[end : end + SYNC_SIZE] != marker:
            where = f"block at byte {position}"
            raise CorruptFileError(
                "", where, "must be within the file and end with the sync marker"
            )
        yield data[position:end]
        yield sync
        position = end + SYNC_SIZE
