"""Columns into rows of a `.row` file: pieces of bytes per value, put together row by row.

The pieces of a column lie one after the other in the order of its values, so the elements of an
array are already together and only want a count and null bits before them.
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
from paimon_explore.encoding.binary_row.nested_encoder import COUNT_TYPE, list_elements, list_ranges
from paimon_explore.encoding.binary_row.primitive_encoder import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    encode_atomic,
    is_text,
    is_timestamp,
)
from paimon_explore.encoding.varint import encode_varints
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Pieces:
    """n byte strings, one after the other.

    Attributes:
        sizes: of each.
        data: all of them.
    """

    sizes: Ints
    data: Bytes


def row_pieces(columns: list[Column], types: list[DataType], count: int) -> Pieces:
    """Rows of `count` values of each column: null bits, then the values that are not null."""
    valid = [nb.valid_mask(column) for column in columns]
    bits = np.zeros((count, (len(columns) + 7) // 8 * 8), np.bool_)
    for index, mask in enumerate(valid):
        bits[:, index] = ~mask
    header = np.packbits(bits, axis=1, bitorder="little")
    parts = [Pieces(np.full(count, header.shape[1]), header.reshape(-1))]
    parts += [
        _present(column, data_type, mask)
        for column, data_type, mask in zip(columns, types, valid, strict=True)
    ]
    return _joined(parts)


def _joined(parts: list[Pieces]) -> Pieces:
    """The first pieces of all parts, then the second ones, and so on."""
    sizes = np.zeros_like(parts[0].sizes)
    for part in parts:
        sizes += part.sizes
    out = np.empty(int(sizes.sum()), np.uint8)
    cursor = nb.offsets_from_sizes(sizes)[:-1]
    for part in parts:
        out[nb.expand_ranges(cursor, part.sizes)] = part.data
        cursor = cursor + part.sizes
    return Pieces(sizes, out)


def _present(column: Column, data_type: DataType, valid: Bools) -> Pieces:
    """The pieces of a column; nulls have empty ones."""
    if valid.all():
        return _encode(column, data_type)
    pieces = _encode(nb.filter_rows(column, valid), data_type)
    sizes = np.zeros(len(valid), np.int64)
    sizes[valid] = pieces.sizes
    return Pieces(sizes, pieces.data)


def _encode(column: Column, data_type: DataType) -> Pieces:
    """The pieces of values that are not null."""
    match (data_type, column):
        case (AtomicType(), _) if column.type.equals(to_arrow(data_type)):
            return _encode_atomic(column, data_type)
        case (RowType(), pa.StructArray()):
            children = [column.field(index) for index in range(len(data_type))]
            types = [field.type for field in data_type.fields]
            return row_pieces(children, types, len(column))
        case (MapType(key=key, value=value), pa.MapArray()):
            return _encode_map(column, key, value)
        case (MultisetType(element=element), pa.MapArray()):
            return _encode_map(column, element, COUNT_TYPE)
        case (ArrayType(), pa.ListArray()):
            starts, counts = list_ranges(column, np.ones(len(column), np.bool_))
            return _list(list_elements(column.values, starts, counts), counts, data_type.element)
        case (VectorType(), pa.FixedSizeListArray()):
            length = data_type.length
            elements = column.values.slice(column.offset * length, len(column) * length)
            counts = np.full(len(column), length, np.int64)
            return _joined([_varints(counts), _grouped(elements, counts, data_type.element)])
        case _:
            message = f"A column of {to_arrow(data_type)} is given as Arrow {column.type}."
            raise InvalidInputError(message, hint="Cast it first.")


def _encode_atomic(column: Column, data_type: AtomicType) -> Pieces:
    if is_text(data_type):
        return _texts(column)
    precision = data_type.precision or 0
    if data_type.root is TypeRoot.DECIMAL and precision > COMPACT_DECIMAL:
        cells = encode_atomic(column, data_type, reserve=True)
        sizes = cells.fixed.astype(np.int64)
        starts = np.arange(len(sizes)) * DECIMAL_ITEM
        return _joined([_varints(sizes), Pieces(sizes, nb.gather(cells.data, starts, sizes)[1])])
    if is_timestamp(data_type) and precision > COMPACT_TIMESTAMP:
        cells = encode_atomic(column, data_type, reserve=True)
        millis = Pieces(np.full(len(column), nb.WORD), cells.data)
        return _joined([millis, _varints(cells.fixed.astype(np.int64))])
    if isinstance(column, pa.StructArray):  # a variant, as the caller checked
        return _joined([_texts(column.field("value")), _texts(column.field("metadata"))])
    fixed = np.ascontiguousarray(encode_atomic(column, data_type, reserve=False).fixed)
    return Pieces(np.full(len(column), fixed.dtype.itemsize), fixed.view(np.uint8))


def _texts(column: Column) -> Pieces:
    offsets, data = nb.var_values(column)
    sizes = np.diff(offsets)
    return _joined([_varints(sizes), Pieces(sizes, nb.gather(data, offsets[:-1], sizes)[1])])


def _varints(values: Ints) -> Pieces:
    return Pieces(*encode_varints(values))


def _list(elements: Column, counts: Ints, data_type: DataType) -> Pieces:
    """Lists: count, null bits, and the elements that are not null."""
    firsts = nb.offsets_from_sizes(counts)
    widths = (counts + 7) // 8
    bits = np.zeros(int(widths.sum()), np.uint8)
    nulls = np.nonzero(~nb.valid_mask(elements))[0]
    owner = np.searchsorted(firsts, nulls, side="right") - 1
    rank = nulls - firsts[owner]
    places = nb.offsets_from_sizes(widths)[owner] + (rank >> 3)
    np.bitwise_or.at(bits, places, (1 << (rank & 7)).astype(np.uint8))
    return _joined([_varints(counts), Pieces(widths, bits), _grouped(elements, counts, data_type)])


def _grouped(elements: Column, counts: Ints, data_type: DataType) -> Pieces:
    """The elements of each list as one piece."""
    pieces = _present(elements, data_type, nb.valid_mask(elements))
    ends = nb.offsets_from_sizes(pieces.sizes)
    edges = nb.offsets_from_sizes(counts)
    return Pieces(ends[edges[1:]] - ends[edges[:-1]], pieces.data)


def _encode_map(column: nb.MapColumn, key: DataType, value: DataType) -> Pieces:
    starts, counts = list_ranges(column, np.ones(len(column), np.bool_))
    keys = _list(list_elements(column.keys, starts, counts), counts, key)
    values = _list(list_elements(column.items, starts, counts), counts, value)
    return _joined([keys, values])
