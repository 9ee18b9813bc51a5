"""Where manifest entries begin, without walking the records.

Every entry begins with version, kind (0 or 1), and the length of a binary row that opens with its
arity; all of one table's partitions have the same arity. So true beginnings are among the places
where these bytes stand. If a block has exactly as many such places as records, they are the true
ones; else the block is walked. The decoder checks in any case that each record ends where the next
one begins.
"""

import numpy as np

from paimon_explore.encoding.avro_lanes import Lanes, Positions
from paimon_explore.encoding.avro_schema import AvroNode, OptionalNode, PlainNode, Primitive
from paimon_explore.encoding.avro_schema import RecordNode as Record
from paimon_explore.encoding.avro_skip import record_starts
from paimon_explore.encoding.buffers import Bools, Ints

_LEADING = (
    frozenset({Primitive.INT, Primitive.LONG}),
    frozenset({Primitive.INT, Primitive.LONG}),
    frozenset({Primitive.BYTES}),
)
_KIND_BITS = 0xFD
_CONTINUES = 0x80
_ARITY_BYTES = 4


def entry_starts(lanes: Lanes, node: AvroNode, begins: Ints, ends: Ints, counts: Ints) -> Positions:
    """Where every entry begins; see `record_starts` for the arguments.

    Raises:
        CorruptFileError: entries that do not fill their block exactly.
    """
    tag = _tag_bytes(node)
    if tag is None:
        return record_starts(lanes, node, begins, ends, counts)
    places = _places(lanes, int(begins[0]) + tag) - tag
    first = np.searchsorted(places, begins)
    last = np.searchsorted(places, ends)
    exact: Bools = last - first == counts
    if exact.all():
        return places
    odd = np.flatnonzero(~exact)
    walked = record_starts(lanes, node, begins[odd], ends[odd], counts[odd])
    good = np.repeat(exact, last - first)
    inside = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    found = np.concatenate([places[inside[good]], walked])
    found.sort()
    return found


def _tag_bytes(node: AvroNode) -> int | None:
    """Bytes in front of a record's first field; None if entries do not begin as expected."""
    record = node.inner if isinstance(node, OptionalNode) else node
    if not isinstance(record, Record) or len(record.fields) < len(_LEADING):
        return None
    for (_, field), allowed in zip(record.fields, _LEADING, strict=False):
        if not isinstance(field, PlainNode) or field.primitive not in allowed:
            return None
    return 1 if isinstance(node, OptionalNode) else 0


def _places(lanes: Lanes, sample: int) -> Positions:
    """Where the bytes stand that open an entry like the one at `sample`."""
    head = lanes.data[sample : sample + 8]
    long_size = head[2] >= _CONTINUES
    arity_at = 4 if long_size else 3
    mask = bytearray(8)
    value = bytearray(8)
    mask[0], value[0] = 0xFF, head[0]
    mask[1] = _KIND_BITS
    mask[2], value[2] = _CONTINUES, head[2] & _CONTINUES
    if long_size:
        mask[3] = _CONTINUES
    for index in range(arity_at, arity_at + _ARITY_BYTES):
        mask[index], value[index] = 0xFF, head[index]
    places = np.flatnonzero(lanes.raw[: lanes.end] == head[0])
    words = lanes.words[places]
    wanted = np.uint64(int.from_bytes(value, "little"))
    agreeing: Positions = places[(words & np.uint64(int.from_bytes(mask, "little"))) == wanted]
    return agreeing
