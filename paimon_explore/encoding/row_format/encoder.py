"""Vectorized encoder of columns to the rows of a `.row` file.

Each column is encoded to one byte string per value; rows are their concatenations. The elements of
an array are consecutive, so only a count and null bits are put before them.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.binary_row.nested_encoder import list_elements, list_ranges
from paimon_explore.encoding.binary_row.primitive_encoder import encode_atomic
from paimon_explore.encoding.binary_row.row_layout import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    COUNT_TYPE,
    DECIMAL_ITEM,
    is_text,
    is_timestamp,
)
from paimon_explore.encoding.varint import encode_varints
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ByteStrings:
    """n consecutive byte strings.

    Attributes:
        sizes: size of each byte string.
        data: the concatenated byte strings.
    """

    sizes: Ints
    data: Bytes


def encode_row_fields(columns: list[Column], types: list[DataType], count: int) -> ByteStrings:
    """Encode rows of `count` values per column: null bits, then the non-null values."""
    valid = [nb.valid_mask(column) for column in columns]
    bits = np.zeros((count, (len(columns) + 7) // 8 * 8), np.bool_)
    for index, mask in enumerate(valid):
        bits[:, index] = ~mask
    header = np.packbits(bits, axis=1, bitorder="little")
    parts = [ByteStrings(np.full(count, header.shape[1]), header.reshape(-1))]
    parts += [
        _encode_nullable(column, data_type, mask)
        for column, data_type, mask in zip(columns, types, valid, strict=True)
    ]
    return _concatenate(parts)


def _concatenate(parts: list[ByteStrings]) -> ByteStrings:
    """Concatenate the i-th byte strings of all parts, for each i."""
    sizes = np.zeros_like(parts[0].sizes)
    for part in parts:
        sizes += part.sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    cursor = nb.offsets_from_sizes(sizes)[:-1]
    for part in parts:
        out[nb.expand_ranges(cursor, part.sizes)] = part.data
        cursor = cursor + part.sizes
    return ByteStrings(sizes, out)


def _encode_nullable(column: Column, data_type: DataType, valid: Bools) -> ByteStrings:
    """Encode the values of a column; nulls are empty."""
    if valid.all():
        return _encode(column, data_type)
    encoded = _encode(nb.filter_rows(column, valid), data_type)
    sizes = np.zeros(len(valid), np.int64)
    sizes[valid] = encoded.sizes
    return ByteStrings(sizes, encoded.data)


def _encode(column: Column, data_type: DataType) -> ByteStrings:
    """Encode non-null values."""
    match (data_type, column):
        case (AtomicType(), _) if column.type.equals(to_arrow(data_type)):
            return _encode_atomic(column, data_type)
        case (RowType(), pa.StructArray()):
            children = [column.field(index) for index in range(len(data_type))]
            types = [field.type for field in data_type.fields]
            return encode_row_fields(children, types, len(column))
        case (MapType(key=key, value=value), pa.MapArray()):
            return _encode_map(column, key, value)
        case (MultisetType(element=element), pa.MapArray()):
            return _encode_map(column, element, COUNT_TYPE)
        case (ArrayType(), pa.ListArray()):
            starts, counts = list_ranges(column, np.ones(len(column), np.bool_))
            return _encode_list(
                list_elements(column.values, starts, counts), counts, data_type.element
            )
        case (VectorType(), pa.FixedSizeListArray()):
            length = data_type.length
            elements = column.values.slice(column.offset * length, len(column) * length)
            counts = np.full(len(column), length, np.int64)
            return _concatenate(
                [_encode_varints(counts), _encode_elements(elements, counts, data_type.element)]
            )
        case _:
            message = (
                f"A column of type {type_text(data_type)} must be Arrow {to_arrow(data_type)}, "
                f"not {column.type}."
            )
            raise InvalidInputError(message, hint="Cast the column first.")


def _encode_atomic(column: Column, data_type: AtomicType) -> ByteStrings:
    if is_text(data_type):
        return _encode_texts(column)
    precision = data_type.precision or 0
    if data_type.root is TypeRoot.DECIMAL and precision > COMPACT_DECIMAL:
        cells = encode_atomic(column, data_type, reserve=True)
        sizes = cells.fixed.astype(np.int64)
        starts = np.arange(len(sizes)) * DECIMAL_ITEM
        return _concatenate(
            [_encode_varints(sizes), ByteStrings(sizes, nb.gather(cells.data, starts, sizes)[1])]
        )
    if is_timestamp(data_type) and precision > COMPACT_TIMESTAMP:
        cells = encode_atomic(column, data_type, reserve=True)
        millis = ByteStrings(np.full(len(column), nb.WORD_BYTES), cells.data)
        return _concatenate([millis, _encode_varints(cells.fixed.astype(np.int64))])
    if isinstance(column, pa.StructArray):  # a variant, ensured by the caller
        return _concatenate(
            [_encode_texts(column.field("value")), _encode_texts(column.field("metadata"))]
        )
    fixed = np.ascontiguousarray(encode_atomic(column, data_type, reserve=False).fixed)
    return ByteStrings(np.full(len(column), fixed.dtype.itemsize), fixed.view(np.uint8))


def _encode_texts(column: Column) -> ByteStrings:
    offsets, data = nb.var_values(column)
    sizes = np.diff(offsets)
    return _concatenate(
        [_encode_varints(sizes), ByteStrings(sizes, nb.gather(data, offsets[:-1], sizes)[1])]
    )


def _encode_varints(values: Ints) -> ByteStrings:
    return ByteStrings(*encode_varints(values))


def _encode_list(elements: Column, counts: Ints, data_type: DataType) -> ByteStrings:
    """Encode lists: count, null bits, and the non-null elements."""
    firsts = nb.offsets_from_sizes(counts)
    widths = (counts + 7) // 8
    bits = np.zeros(int(widths.sum()), np.uint8)
    nulls = np.nonzero(~nb.valid_mask(elements))[0]
    owner = np.searchsorted(firsts, nulls, side="right") - 1
    rank = nulls - firsts[owner]
    positions = nb.offsets_from_sizes(widths)[owner] + (rank >> 3)
    np.bitwise_or.at(bits, positions, (1 << (rank & 7)).astype(np.uint8))
    return _concatenate(
        [
            _encode_varints(counts),
            ByteStrings(widths, bits),
            _encode_elements(elements, counts, data_type),
        ]
    )


def _encode_elements(elements: Column, counts: Ints, data_type: DataType) -> ByteStrings:
    """Encode the elements of each list to one byte string."""
    encoded = _encode_nullable(elements, data_type, nb.valid_mask(elements))
    ends = nb.offsets_from_sizes(encoded.sizes)
    edges = nb.offsets_from_sizes(counts)
    return ByteStrings(ends[edges[1:]] - ends[edges[:-1]], encoded.data)


def _encode_map(column: nb.MapColumn, key: DataType, value: DataType) -> ByteStrings:
    starts, counts = list_ranges(column, np.ones(len(column), np.bool_))
    keys = _encode_list(list_elements(column.keys, starts, counts), counts, key)
    values = _encode_list(list_elements(column.items, starts, counts), counts, value)
    return _concatenate([keys, values])
