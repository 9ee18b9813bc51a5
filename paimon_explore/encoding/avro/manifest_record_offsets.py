"""Offsets of the records of manifests and manifest lists, found by searching a byte pattern.

Every entry starts with version, kind (0 or 1), and the length of a binary row that starts with its
arity and row kind; these are the same for all partitions of a table. So records start at some of
the positions where these bytes occur. If a block has as many such positions as records, they are
the starts of the records; else the block is walked. The decoder checks in any case that each record
ends where the next one starts.
"""

from collections.abc import Callable

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.encoding.avro.record_offsets import record_starts
from paimon_explore.encoding.avro.schema import AvroNode, OptionalNode, PlainNode, Primitive
from paimon_explore.encoding.avro.schema import RecordNode as Record
from paimon_explore.encoding.avro.vectorized_varint import PaddedBuffer, Positions

_NUMBERS = frozenset({Primitive.INT, Primitive.LONG})
_LEADING = (_NUMBERS, _NUMBERS, frozenset({Primitive.BYTES}))
_LIST_LEADING = (_NUMBERS, frozenset({Primitive.STRING}))
_WORD = 8
_KIND_BITS = 0xFD
_CONTINUES = 0x80
_ARITY_BYTES = 4


def entry_starts(
    buffer: PaddedBuffer, node: AvroNode, begins: Ints, ends: Ints, counts: Ints
) -> Positions:
    """Find the start of every manifest entry; see `record_starts` for the arguments.

    Raises:
        CorruptFileError: the entries do not fill their block exactly.
    """
    return _starts(buffer, node, (begins, ends, counts), _LEADING, _entry_pattern)


def list_starts(
    buffer: PaddedBuffer, node: AvroNode, begins: Ints, ends: Ints, counts: Ints
) -> Positions:
    """Find the start of every manifest list record: version and a name with a common prefix.

    Raises:
        CorruptFileError: the records do not fill their block exactly.
    """
    return _starts(buffer, node, (begins, ends, counts), _LIST_LEADING, _list_pattern)


def _starts(
    buffer: PaddedBuffer,
    node: AvroNode,
    blocks: tuple[Ints, Ints, Ints],
    leading: tuple[frozenset[Primitive], ...],
    pattern: Callable[[bytes], tuple[bytes, bytes]],
) -> Positions:
    """Return candidates of blocks with as many candidates as records; walk the other blocks."""
    begins, ends, counts = blocks
    tag = _tag_bytes(node, leading)
    if tag is None or not len(begins):
        return record_starts(buffer, node, begins, ends, counts)
    head = bytes(buffer.raw[int(begins[0]) + tag :][:_WORD])
    places = _places(buffer, *pattern(head)) - tag
    first = np.searchsorted(places, begins)
    last = np.searchsorted(places, ends)
    exact: Bools = last - first == counts
    if exact.all():
        return places
    odd = np.flatnonzero(~exact)
    walked = record_starts(buffer, node, begins[odd], ends[odd], counts[odd])
    good = np.repeat(exact, last - first)
    inside = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    found = np.concatenate([places[inside[good]], walked])
    found.sort()
    return found


def _tag_bytes(node: AvroNode, leading: tuple[frozenset[Primitive], ...]) -> int | None:
    """Return the bytes before the first field of a record; None if records start differently."""
    record = node.inner if isinstance(node, OptionalNode) else node
    if not isinstance(record, Record) or len(record.fields) < len(leading):
        return None
    for (_, field), allowed in zip(record.fields, leading, strict=False):
        if not isinstance(field, PlainNode) or field.primitive not in allowed:
            return None
    return 1 if isinstance(node, OptionalNode) else 0


def _list_pattern(head: bytes) -> tuple[bytes, bytes]:
    """Return mask and value of the bits at the start of records like a given one."""
    mask = bytes([0xFF, _CONTINUES, *[0xFF] * (_WORD - 2)])
    return mask, bytes([head[0], head[1] & _CONTINUES, *head[2:]])


def _entry_pattern(head: bytes) -> tuple[bytes, bytes]:
    """Return mask and value of the bits at the start of entries like a given one."""
    long_size = head[2] >= _CONTINUES
    arity_at = 4 if long_size else 3
    mask = bytearray(_WORD)
    value = bytearray(_WORD)
    mask[0], value[0] = 0xFF, head[0]
    mask[1] = _KIND_BITS
    mask[2], value[2] = _CONTINUES, head[2] & _CONTINUES
    if long_size:
        mask[3] = _CONTINUES
    # the byte after the arity is the row kind; for long rows it is beyond the word
    for index in range(arity_at, min(arity_at + _ARITY_BYTES + 1, _WORD)):
        mask[index], value[index] = 0xFF, head[index]
    return bytes(mask), bytes(value)


def _places(buffer: PaddedBuffer, mask: bytes, value: bytes) -> Positions:
    """Find words that equal a value in the bits of a mask, which includes the first byte."""
    places = buffer.positions_of(value[0])
    wanted = np.uint64(int.from_bytes(value, "little"))
    bits = np.uint64(int.from_bytes(mask, "little"))
    agreeing: Positions = places[(buffer.words[places] & bits) == wanted]
    return agreeing
