"""Vectorized decoder of Avro values of any type to Arrow arrays.

Decoding follows the writer's schema; the wanted Arrow type selects the fields, by name. Unwanted
fields are skipped, missing fields are null. Each step is done for all positions at once with numpy.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    as_buffer,
    build_fixed,
    offsets_from_sizes,
    take_rows,
)
from paimon_explore.encoding.avro.primitive_decoder import dense, mismatch, plain_type, take_plain
from paimon_explore.encoding.avro.record_offsets import (
    ITEM_SHIFT,
    branch_taken,
    constant_size,
    few_and_long,
    is_nullable_long,
    item_counts,
    item_starts,
    short_items,
    skip_values,
    skipper,
    value_branch,
)
from paimon_explore.encoding.avro.schema import (
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
from paimon_explore.encoding.avro.vectorized_varint import PaddedBuffer, Pairs, Positions, unfolded
from paimon_explore.errors import CorruptFileError

_SHARED_NULLS = 16_384
_TEXT = PlainNode(primitive=Primitive.STRING)


def natural_type(node: AvroNode) -> pa.DataType:
    """Return the default Arrow type of a node."""
    match node:
        case PlainNode():
            return plain_type(node)
        case OptionalNode():
            return natural_type(node.inner)
        case RecordNode():
            return pa.struct([natural_field(name, inner) for name, inner in node.fields])
        case MapNode():
            return _map_type(pa.string(), node.values)
        case ArrayNode(is_map=True, items=RecordNode() as items):
            key, value = items.field("key"), items.field("value")
            if key is None or value is None:
                raise CorruptFileError(
                    "", "avro.schema", "the items of a map must have the fields 'key' and 'value'"
                )
            return _map_type(natural_type(key), value)
        case ArrayNode():
            return pa.list_(natural_field("element", node.items))
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node)
        case _:
            assert_never(node)


def _map_type(key: pa.DataType, value: AvroNode) -> pa.DataType:
    found: pa.DataType = pa.map_(key, natural_field("value", value))  # type: ignore[call-overload]  # in stubs
    return found


def natural_field(name: str, node: AvroNode) -> "pa.Field[pa.DataType]":
    """Return a field of the default type; nullable if the node is a union with null."""
    nullable = isinstance(node, OptionalNode) and node.null_branch is not None
    return pa.field(name, natural_type(node), nullable=nullable)


def decode_column(
    buffer: PaddedBuffer, node: AvroNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Column, Positions]:
    """Decode the value at each position; also returns the positions after the values.

    Args:
        buffer: the bytes.
        node: type in the file.
        wanted: type of the result.
        at: n ascending positions.
        where: the field, for errors.

    Raises:
        CorruptFileError: the types are incompatible, or a value is malformed.
    """
    match node:
        case PlainNode():
            return take_plain(buffer, node, wanted, at, where)
        case OptionalNode():
            return _take_optional(buffer, node, wanted, at, where)
        case RecordNode():
            if not isinstance(wanted, pa.StructType):
                raise mismatch("record", wanted, where)
            children, behind = take_fields(buffer, node, list(wanted), at, where)
            return pa.Array.from_buffers(wanted, len(at), [None], children=children), behind
        case ArrayNode() | MapNode():
            return _take_items(buffer, node, wanted, at, where)
        case EnumNode() | UnionNode() | RecursiveNode():
            raise unsupported(node, where)
        case _:
            assert_never(node)


def take_fields(
    buffer: PaddedBuffer,
    node: RecordNode,
    wanted: Sequence["pa.Field[pa.DataType]"],
    at: Positions,
    where: str,
) -> tuple[list[Column], Positions]:
    """Decode the wanted fields of records, matched by name; missing fields are null."""
    by_name = {field.name: field for field in wanted}
    found: dict[str, Column] = {}
    count = len(at)
    for name, inner in node.fields:
        field = by_name.get(name)
        if field is None:
            at = skip_values(buffer, inner, at)
            continue
        place = f"{where}.{name}" if where else name
        column, at = decode_column(buffer, inner, field.type, at, place)
        if column.null_count and not field.nullable:
            raise CorruptFileError("", place, "must not be null")
        found[name] = column
    return [_present(found.get(field.name), field, count, where) for field in wanted], at


def _present(
    column: "Column | None", field: "pa.Field[pa.DataType]", count: int, where: str
) -> Column:
    if column is not None:
        return column
    if not field.nullable:
        place = f"{where}.{field.name}" if where else field.name
        raise CorruptFileError("", place, "must be present")
    return null_column(field.type, count)


def null_column(data_type: pa.DataType, count: int) -> Column:
    """Build an array of nulls; for flat types and lists, small arrays share memory."""
    is_plain = not pa.types.is_nested(data_type) or pa.types.is_list(data_type)
    if is_plain and 0 < count <= _SHARED_NULLS:
        return _shared_nulls(data_type).slice(0, count)
    nulls: Column = pa.nulls(count, data_type)  # type: ignore[call-overload]  # in stubs
    return nulls


@lru_cache(maxsize=64)
def _shared_nulls(data_type: pa.DataType) -> Column:
    nulls: Column = pa.nulls(_SHARED_NULLS, data_type)  # type: ignore[call-overload]  # in stubs
    return nulls


def _take_optional(
    buffer: PaddedBuffer, node: OptionalNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Column, Positions]:
    valid = branch_taken(buffer, node, at)
    behind = at + 1
    if valid is None:
        return decode_column(buffer, node.inner, wanted, behind, where)
    rows = np.flatnonzero(valid)
    if not len(rows):
        return null_column(wanted, len(at)), behind
    column, ends = decode_column(buffer, node.inner, wanted, behind[rows], where)
    behind[rows] = ends
    return _spread(column, valid), behind


def _spread(column: Column, valid: Bools) -> Column:
    """Return values at the valid rows, nulls at the others."""
    positions = np.cumsum(valid) - 1
    positions[positions < 0] = 0
    index = build_fixed(pa.int64(), positions, valid)
    return pc.take(column, index)  # type: ignore[arg-type]  # in stubs


def _take_items(
    buffer: PaddedBuffer, node: ArrayNode | MapNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Column, Positions]:
    items, target = _item_types(node, wanted, where)
    known = _short_counts(buffer, items, target, at) or _even_items(
        buffer, items, target, at, where
    )
    offsets, values, behind = known or _walked_items(buffer, items, target, at, where)
    return _build_items(wanted, offsets, values, where), behind


def _item_types(
    node: ArrayNode | MapNode, wanted: pa.DataType, where: str
) -> tuple[AvroNode, pa.DataType]:
    """Return node and wanted type of an item; the item of a map is a record of key and value."""
    if isinstance(wanted, pa.MapType):
        pair = pa.struct(
            (
                pa.field("key", wanted.key_type, nullable=False),
                pa.field("value", wanted.item_type, nullable=wanted.item_field.nullable),
            )
        )
        if isinstance(node, MapNode):
            return RecordNode(name="", fields=(("key", _TEXT), ("value", node.values))), pair
        if isinstance(node.items, RecordNode | OptionalNode):
            return node.items, pair
    elif isinstance(node, ArrayNode) and isinstance(wanted, pa.ListType | pa.FixedSizeListType):
        return node.items, wanted.value_type
    raise mismatch("map" if isinstance(node, MapNode) else "array", wanted, where)


def _build_items(wanted: pa.DataType, offsets: Ints, values: Column, where: str) -> Column:
    count = len(offsets) - 1
    if isinstance(wanted, pa.FixedSizeListType):
        if (np.diff(offsets) != wanted.list_size).any():
            raise CorruptFileError("", where, f"each list must have {wanted.list_size} items")
        return pa.Array.from_buffers(wanted, count, [None], children=[values])
    field = wanted.field(0) if isinstance(wanted, pa.MapType) else None
    if values.null_count and (field is not None or not _item_field(wanted).nullable):
        raise CorruptFileError("", where, "items must not be null")
    buffers = [None, as_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(wanted, count, buffers, children=[values])


def _item_field(wanted: pa.DataType) -> "pa.Field[pa.DataType]":
    field: pa.Field[pa.DataType] = wanted.field(0)
    return field


def _short_counts(
    buffer: PaddedBuffer, node: AvroNode, wanted: pa.DataType, at: Positions
) -> tuple[Ints, Column, Positions] | None:
    """Decode null counts in their usual form at once; None if an array has another form."""
    if wanted != pa.int64() or not is_nullable_long(node):
        return None
    found = short_items(buffer, at)
    if found is None:
        return None
    items, behind = found
    count = len(items) // len(at)
    numbers: Pairs = items >> ITEM_SHIFT
    values = unfolded(numbers)
    offsets = np.arange(len(at) + 1, dtype=np.int64) * count
    return offsets, dense(pa.int64(), values), behind


def _even_items(
    buffer: PaddedBuffer, items: AvroNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Ints, Column, Positions] | None:
    """Decode items of constant size without nulls, whose positions follow from the counts.

    Returns None if the items vary in size, an item is null, or an array has several blocks.
    """
    inner = items.inner if isinstance(items, OptionalNode) else items
    width = constant_size(inner)
    if width is None or not len(at):
        return None
    tag = 1 if isinstance(items, OptionalNode) else 0
    counts, begin = item_counts(buffer, at)
    behind = begin + counts * (width + tag)
    filled = counts > 0
    if behind.max() > buffer.end or buffer.raw[behind[filled]].any():
        return None
    offsets = offsets_from_sizes(counts)
    nth = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    places = np.repeat(begin, counts) + nth * (width + tag)
    # if each position has the branch of a non-null value, the next positions are right, too
    if isinstance(items, OptionalNode) and (buffer.raw[places] != value_branch(items)).any():
        return None
    values, _ = decode_column(buffer, inner, wanted, places + tag, where)
    return offsets, values, behind + filled


def _walked_items(
    buffer: PaddedBuffer, items: AvroNode, wanted: pa.DataType, at: Positions, where: str
) -> tuple[Ints, Column, Positions]:
    """Decode item j of all arrays at a time; returns offsets, items, and the positions after them.

    For a few long arrays the positions of all items are determined first, one by one.
    """
    at = at.copy()
    filled = np.zeros(len(at), dtype=np.int64)
    parts: list[Column] = []
    owners: list[Ints] = []
    rows = np.arange(len(at))
    while len(rows):
        left, behind = item_counts(buffer, at[rows])
        at[rows] = behind
        rows, left = rows[left > 0], left[left > 0]
        if few_and_long(left):
            starts, at[rows] = item_starts(buffer, skipper(items), at[rows], left)
            parts.append(decode_column(buffer, items, wanted, starts, where)[0])
            owners.append(np.repeat(rows, left))
            filled[rows] += left
            continue
        for index in range(int(left.max()) if len(left) else 0):
            some = rows[left > index]
            part, at[some] = decode_column(buffer, items, wanted, at[some], where)
            parts.append(part)
            owners.append(some)
            filled[some] += 1
    offsets = offsets_from_sizes(filled)
    if not parts:
        return offsets, null_column(wanted, 0), at
    return offsets, _in_row_order(parts, owners), at


def _in_row_order(parts: list[Column], owners: list[Ints]) -> Column:
    """Sort items by owner; each part has at most one item per owner, and the sort is stable."""
    together = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    order = np.argsort(np.concatenate(owners), kind="stable")
    return take_rows(together, order)
