"""Offsets of the records of a block, which Avro does not store.

Records have no length, so a block must be walked. Blocks are independent, so with many blocks the
r-th records of all blocks are walked at once ("lockstep"), with some numpy calls per field. With
fewer blocks each block is walked separately, by a pattern or functions compiled from the schema.
"""

from collections.abc import Callable
from typing import TypeAlias, assert_never

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.encoding.avro.schema import (
    FIXED_SIZES,
    ArrayNode,
    AvroNode,
    EnumNode,
    MapNode,
    OptionalNode,
    PlainNode,
    Primitive,
    RecordNode,
    RecursiveNode,
    UnionNode,
    unsupported,
)
from paimon_explore.encoding.avro.vectorized_varint import PaddedBuffer, Pairs, Positions
from paimon_explore.errors import CorruptFileError

_FEW_BLOCKS = 48
_MANY_BLOCKS = 256
"""Number of blocks from which on walking them in lockstep is faster than a pattern."""
_MAX_FAILED_SHARE = 4
"""The pattern is given up if more than one of this many blocks does not match."""
_MANY_RECORDS = 1000
"""Number of records from which on compiling a pattern pays off."""
_LONG, _FEW_LANES = 256, 32
_CONTINUES = 0x80
_LONG_BYTES = 10

Data: TypeAlias = bytes | bytearray
Step: TypeAlias = Callable[[Data, int], int]
"""Function from bytes and the position of a value to the position after it."""


def record_starts(
    buffer: PaddedBuffer, node: AvroNode, begins: Positions, ends: Positions, counts: Positions
) -> Positions:
    """Return the start of every record.

    Args:
        buffer: the concatenated blocks.
        node: type of a record.
        begins: start of each block.
        ends: end of each block.
        counts: number of records of each block.

    Returns:
        The records' positions, ascending.

    Raises:
        CorruptFileError: the records do not fill their block exactly.
    """
    if len(counts) < _MANY_BLOCKS and counts.sum() >= _MANY_RECORDS:
        found = _by_pattern(buffer, node, (begins, ends, counts))
        if found is not None:
            return found
    if len(counts) < _FEW_BLOCKS:
        return _one_by_one(buffer, node, begins, ends, counts)
    return _in_lockstep(buffer, node, begins, ends, counts)


def _in_lockstep(
    buffer: PaddedBuffer, node: AvroNode, begins: Positions, ends: Positions, counts: Positions
) -> Positions:
    order = np.argsort(-counts, kind="stable")
    position = begins[order]
    left = counts[order]
    steps = int(left[0])
    starts = np.empty(int(counts.sum()), dtype=np.int64)
    filled = 0
    for step in range(steps):
        active = int(np.searchsorted(-left, -step, side="left"))
        current = position[:active]
        starts[filled : filled + active] = current
        filled += active
        position[:active] = skip_values(buffer, node, current)
    if not np.array_equal(position, ends[order]):
        raise misfit()
    starts.sort()
    return starts


def _one_by_one(
    buffer: PaddedBuffer, node: AvroNode, begins: Positions, ends: Positions, counts: Positions
) -> Positions:
    step = skipper(node)
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    found = [
        _walked(buffer.data, step, span, count)
        for span, count in zip(spans, counts.tolist(), strict=True)
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _by_pattern(
    buffer: PaddedBuffer, node: AvroNode, blocks: tuple[Positions, Positions, Positions]
) -> Positions | None:
    """Find the records by a pattern; None if the blocks do not match, as with long strings."""
    from paimon_explore.encoding.avro.record_patterns import record_pattern, record_starts_in  # noqa: PLC0415 - many records

    pattern = record_pattern(node)
    if pattern is None:
        return None
    step = skipper(node)
    found: list[Positions] = []
    failed = 0
    for begin, end, count in zip(*(values.tolist() for values in blocks), strict=True):
        starts = record_starts_in(pattern, buffer.data, begin, end, count)
        if starts is None:
            failed += 1
            if failed * _MAX_FAILED_SHARE > len(found) + 1:
                return None
            starts = _walked(buffer.data, step, (begin, end), count)
        found.append(starts)
    return np.concatenate(found)


def _walked(data: Data, step: Step, span: tuple[int, int], count: int) -> Positions:
    """Walk the records of one block."""
    position, end = span
    starts: list[int] = []  # grows, as the count may be wrong
    for _ in range(count):
        starts.append(position)
        position = step(data, position)
        if position > end:
            raise misfit()
    if position != end:
        raise misfit()
    return np.array(starts, dtype=np.int64)


_MAX_ITEMS = "must not be greater than the number of bytes in the block"
"""Rule of the count at the start of array and map items, which take at least one byte each."""


def misfit() -> CorruptFileError:
    """Return the error for records that do not end at the end of their block."""
    return CorruptFileError("", "a block", "the records must fill the block exactly")


def constant_size(node: AvroNode) -> int | None:
    """Return the size of the values of a type; None if it varies."""
    return None if not isinstance(node, PlainNode) else node.size or FIXED_SIZES.get(node.primitive)


def skip_values(buffer: PaddedBuffer, node: AvroNode, at: Positions) -> Positions:
    """Return the positions after the value at each position."""
    match node:
        case PlainNode():
            return _skip_plain(buffer, node, at)
        case OptionalNode():
            return _skip_optional(buffer, node, at)
        case RecordNode():
            for _, field in node.fields:
                at = skip_values(buffer, field, at)
            return at
        case ArrayNode() | MapNode():
            return _skip_items(buffer, node, at)
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node)
        case _:
            assert_never(node)


def _skip_plain(buffer: PaddedBuffer, node: PlainNode, at: Positions) -> Positions:
    match node.primitive:
        case Primitive.INT | Primitive.LONG:
            return buffer.skip_longs(at)
        case Primitive.BYTES | Primitive.STRING:
            size, behind = buffer.sizes(at, "text or bytes")
            return behind + size
        case _:
            return at + (node.size or FIXED_SIZES[node.primitive])


def _skip_optional(buffer: PaddedBuffer, node: OptionalNode, at: Positions) -> Positions:
    valid = branch_taken(buffer, node, at)
    behind = at + 1
    if valid is None:
        return skip_values(buffer, node.inner, behind)
    rows = np.flatnonzero(valid)
    if len(rows):
        behind[rows] = skip_values(buffer, node.inner, behind[rows])
    return behind


def branch_taken(buffer: PaddedBuffer, node: OptionalNode, at: Positions) -> Bools | None:
    """Return where the value is not null; None if no value is null.

    Raises:
        CorruptFileError: a branch number is not in the union.
    """
    tag = buffer.raw[at]
    value_tag = value_branch(node)
    valid: Bools = tag == value_tag
    if valid.all():
        return None
    null_tag = value_tag if node.null_branch is None else 2 - value_tag
    if not (valid | (tag == null_tag)).all():
        raise CorruptFileError("", "a union index", "must refer to a type in the union")
    return valid


def value_branch(node: OptionalNode) -> int:
    """Return the byte before a non-null value."""
    return 2 if node.null_branch == 0 else 0


def _skip_items(buffer: PaddedBuffer, node: ArrayNode | MapNode, at: Positions) -> Positions:
    """Skip arrays and maps: item j of all positions with more than j items, for each j."""
    if isinstance(node, ArrayNode) and is_nullable_long(node.items):
        known = short_items(buffer, at)
        if known is not None:
            return known[1]
    if not buffer.raw[at].any():  # all are empty
        return at + 1
    at = at.copy()
    rows = np.arange(len(at))
    while len(rows):
        left, behind = item_counts(buffer, at[rows])
        at[rows] = behind
        rows, left = rows[left > 0], left[left > 0]
        width = constant_size(node.items) if isinstance(node, ArrayNode) else None
        if width is not None:
            at[rows] += left * width
            continue
        if few_and_long(left):
            _, at[rows] = item_starts(buffer, _item_skipper(node), at[rows], left)
            continue
        for index in range(int(left.max()) if len(left) else 0):
            some = rows[left > index]
            at[some] = _skip_item(buffer, node, at[some])
    return at


def _skip_item(buffer: PaddedBuffer, node: ArrayNode | MapNode, at: Positions) -> Positions:
    if isinstance(node, ArrayNode):
        return skip_values(buffer, node.items, at)
    size, behind = buffer.sizes(at, "a map key")
    return skip_values(buffer, node.values, behind + size)


def item_counts(buffer: PaddedBuffer, at: Positions) -> tuple[Positions, Positions]:
    """Return the item count of the next block at each position, 0 at the end, and its start."""
    count, behind = buffer.longs(at)
    negative = count < 0
    if negative.any():  # a size in bytes follows
        rows = np.flatnonzero(negative)
        behind[rows] = buffer.skip_longs(behind[rows])
        count = np.abs(count)
    if len(count) and count.view(np.uint64).max() > buffer.end:
        raise CorruptFileError("", "an item count", _MAX_ITEMS)
    return count, behind


_MAX_SHORT = 63
_ITEM_BITS = np.uint16(0x80FF)
_ITEM_TAG = np.uint16(0x0002)
ITEM_SHIFT = np.uint8(8)


def is_nullable_long(node: AvroNode) -> bool:
    """Return whether values are nullable longs, with null as the first branch."""
    return (
        isinstance(node, OptionalNode)
        and node.null_branch == 0
        and isinstance(node.inner, PlainNode)
        and node.inner.primitive in (Primitive.INT, Primitive.LONG)
    )


def short_items(buffer: PaddedBuffer, at: Positions) -> tuple[Pairs, Positions] | None:
    """Read arrays of equal length with small, non-null items, the usual form of null counts.

    Such an array is: count, then per item the branch 2 and one byte, then 0.

    Returns:
        The items of all arrays, branch and byte in one number each, and the positions after the
        arrays; None if an array has another form.
    """
    if not len(at):
        return None
    count = int(buffer.raw[at[0]]) >> 1
    if count > _MAX_SHORT or (buffer.raw[at] != 2 * count).any():
        return None
    if not count:
        return np.empty(0, np.uint16), at + 1
    behind = at + (2 + 2 * count)
    if behind.max() > buffer.end or buffer.raw[behind - 1].any():
        return None
    items = buffer.fixed_spans(at + 1, 2 * count).view("<u2")
    if ((items & _ITEM_BITS) != _ITEM_TAG).any():
        return None
    return items, behind


def few_and_long(counts: Positions) -> bool:
    """Return whether there are so few arrays with so many items that walking each is faster."""
    longest = int(counts.max()) if len(counts) else 0
    return longest > _LONG and int(counts.sum()) < _FEW_LANES * longest


def item_starts(
    buffer: PaddedBuffer, step: Step, at: Positions, counts: Positions
) -> tuple[Positions, Positions]:
    """Return the starts of all items, array by array, and the positions after the last items."""
    data = buffer.data
    starts: list[int] = []
    ends: list[int] = []
    for begin, count in zip(at.tolist(), counts.tolist(), strict=True):
        position = begin
        for _ in range(count):
            starts.append(position)
            position = step(data, position)
            if position > buffer.end:
                raise misfit()
        ends.append(position)
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def _item_skipper(node: ArrayNode | MapNode) -> Step:
    if isinstance(node, ArrayNode):
        return skipper(node.items)
    return _chain((_skip_text, skipper(node.values)))


def skipper(node: AvroNode) -> Step:
    """Compile a function that returns the end of a value."""
    match node:
        case PlainNode():
            return _plain_skipper(node)
        case OptionalNode():
            return _optional_skipper(skipper(node.inner), node)
        case RecordNode():
            return _chain(tuple(skipper(field) for _, field in node.fields))
        case ArrayNode():
            return _items_skipper(_item_skipper(node), constant_size(node.items))
        case MapNode():
            return _items_skipper(_item_skipper(node), None)
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node)
        case _:
            assert_never(node)


def _plain_skipper(node: PlainNode) -> Step:
    match node.primitive:
        case Primitive.INT | Primitive.LONG:
            return _skip_long
        case Primitive.BYTES | Primitive.STRING:
            return _skip_text
        case _:
            size = node.size or FIXED_SIZES[node.primitive]
            return lambda _data, position: position + size


def _skip_long(data: Data, position: int) -> int:
    while data[position] >= _CONTINUES:
        position += 1
    return position + 1


def long_at(data: Data, position: int) -> tuple[int, int]:
    """Decode a number; also returns the position after it."""
    byte = data[position]
    if byte < _CONTINUES:
        return (byte >> 1) ^ -(byte & 1), position + 1
    value = byte & 0x7F
    for index in range(1, _LONG_BYTES):
        byte = data[position + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < _CONTINUES:
            return (value >> 1) ^ -(value & 1), position + index + 1
    raise CorruptFileError("", "a varint", f"must have at most {_LONG_BYTES} bytes")


def _skip_text(data: Data, position: int) -> int:
    size, behind = long_at(data, position)
    if not 0 <= size <= len(data):
        raise CorruptFileError("", "text or bytes", "a value extends beyond the end of the block")
    return behind + size


def _chain(steps: tuple[Step, ...]) -> Step:
    def skip(data: Data, position: int) -> int:
        for step in steps:
            position = step(data, position)
        return position

    return skip


def _optional_skipper(inner: Step, node: OptionalNode) -> Step:
    value_tag = value_branch(node)
    null_tag = value_tag if node.null_branch is None else 2 - value_tag

    def skip(data: Data, position: int) -> int:
        tag = data[position]
        if tag == value_tag:
            return inner(data, position + 1)
        if tag != null_tag:
            raise CorruptFileError("", "a union index", "must refer to a type in the union")
        return position + 1

    return skip


def _items_skipper(item: Step, width: int | None) -> Step:
    def skip(data: Data, position: int) -> int:
        while True:
            count, position = long_at(data, position)
            if count == 0:
                return position
            if count < 0:
                count = -count
                position = _skip_long(data, position)
            if count > len(data):
                raise CorruptFileError("", "an item count", _MAX_ITEMS)
            if width is not None:
                position += count * width
                continue
            for _ in range(count):
                position = item(data, position)

    return skip
