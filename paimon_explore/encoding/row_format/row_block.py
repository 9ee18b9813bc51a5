"""Vectorized decoder and encoder of the rows of a `.row` block.

A row has no offsets: a field starts where the previous one ends. So the fields are decoded one
after the other, each for all rows at once, from the current position of each row. Elements of
arrays are decoded likewise, the k-th elements of all arrays at once, unless they have a fixed size.

Every read is checked against the end of its row.

The encoder encodes each column to one byte string per value; rows are their concatenations. The
elements of an array are consecutive, so only a count and null bits are put before them.
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
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.encoding.binary_row.decoder import (
    ByteRanges,
    Source,
    check_values,
    decimals,
    timestamps,
)
from paimon_explore.encoding.binary_row.primitive_encoder import encode_atomic
from paimon_explore.encoding.binary_row.row_encoder import list_elements, list_ranges
from paimon_explore.encoding.binary_row.row_layout import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    fixed_width,
    is_text,
    is_timestamp,
)
from paimon_explore.encoding.varint import encode_varints
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

_VARINT_BYTES = 5


@dataclass(slots=True)
class Cursor:
    """Current positions of n rows, and the ends of the rows."""

    at: Ints
    end: Ints

    def part(self, rows: Ints) -> "Cursor":
        """Return an independent cursor of some rows."""
        return Cursor(self.at[rows], self.end[rows])

    def advance(self, source: Source, sizes: Ints | int) -> Ints:
        """Advance each row by a size; returns the positions before."""
        start = self.at
        self.at = start + sizes
        source.check(self.at <= self.end, "a value must be within its row")
        return start


def decode_row_fields(source: Source, cursor: Cursor, types: list[DataType]) -> list[Column]:
    """Decode rows to columns: a null bit per field, then the non-null fields.

    Raises:
        CorruptFileError: a value exceeds its row, or is invalid for its type.
    """
    count = len(cursor.at)
    header = cursor.advance(source, (len(types) + 7) // 8)
    columns = []
    for index, data_type in enumerate(types):
        flags = source.read(header + (index >> 3), np.uint8)
        valid = flags >> (index & 7) & 1 == 0
        rows = np.nonzero(valid)[0]
        part = cursor.part(rows)
        values = _decode(source, part, data_type)
        cursor.at[rows] = part.at
        columns.append(values if len(rows) == count else _with_nulls(values, valid))
    return columns


def _with_nulls(values: Column, valid: Bools) -> Column:
    """Return values at the valid positions, nulls at the others."""
    positions = np.where(valid, np.cumsum(valid) - 1, 0)
    index = nb.build_fixed(pa.int64(), positions, valid)
    return values.take(index)  # type: ignore[arg-type]  # in stubs


def _decode(source: Source, cursor: Cursor, data_type: DataType) -> Column:
    """Decode one non-null value per row."""
    match data_type:
        case AtomicType():
            return _decode_atomic(source, cursor, data_type)
        case RowType():
            types = [field.type for field in data_type.fields]
            all_valid = np.ones(len(cursor.at), np.bool_)
            columns = decode_row_fields(source, cursor, types)
            return nb.build_struct(to_arrow(data_type), columns, all_valid)
        case ArrayType():
            offsets, values = _decode_list(source, cursor, data_type.element)
            all_valid = np.ones(len(cursor.at), np.bool_)
            return nb.build_list(to_arrow(data_type), offsets, [values], all_valid)
        case VectorType():
            return _decode_vector(source, cursor, data_type)
        case MapType() | MultisetType():
            return _decode_map(source, cursor, data_type)


def _decode_atomic(source: Source, cursor: Cursor, data_type: AtomicType) -> Column:
    arrow = to_arrow(data_type)
    valid = np.ones(len(cursor.at), np.bool_)
    if is_text(data_type):
        return check_values(source, _take_texts(source, cursor, arrow))
    if is_timestamp(data_type):
        millis = source.read(cursor.advance(source, 8), "<i8")
        precise = (data_type.precision or 0) > COMPACT_TIMESTAMP
        nanos = _take_varints(source, cursor) if precise else np.zeros_like(millis)
        return timestamps(source, millis, nanos, valid, data_type)
    if data_type.root is TypeRoot.DECIMAL:
        return _decode_decimal(source, cursor, data_type)
    if data_type.root is TypeRoot.VARIANT:
        return _decode_variant(source, cursor, arrow)
    width = fixed_width(data_type)
    raw = source.raw(cursor.advance(source, width), width)
    if data_type.root is TypeRoot.BOOLEAN:
        return nb.build_bool(raw != np.uint8(0), valid)
    return check_values(source, nb.build_fixed(arrow, raw, valid))


def _decode_decimal(source: Source, cursor: Cursor, data_type: AtomicType) -> Column:
    arrow = to_arrow(data_type)
    if (data_type.precision or 0) > COMPACT_DECIMAL:
        return decimals(source, _take_bytes(source, cursor), arrow)
    low = source.read(cursor.advance(source, 8), "<i8")
    halves = np.stack([low, low >> 63], axis=1)
    return check_values(source, nb.build_fixed(arrow, halves, np.ones(len(low), np.bool_)))


def _decode_variant(source: Source, cursor: Cursor, arrow: pa.DataType) -> Column:
    value = _take_texts(source, cursor, pa.binary())
    metadata = _take_texts(source, cursor, pa.binary())
    return nb.build_struct(arrow, [value, metadata], np.ones(len(value), np.bool_))


def _take_texts(source: Source, cursor: Cursor, arrow: pa.DataType) -> Column:
    ranges = _take_bytes(source, cursor)
    offsets, data = nb.gather(source.data, ranges.at, ranges.size)
    return nb.build_var(arrow, offsets, data, ranges.valid)


def _take_bytes(source: Source, cursor: Cursor) -> ByteRanges:
    """Read byte strings preceded by their lengths."""
    sizes = _take_varints(source, cursor)
    starts = cursor.advance(source, sizes)
    return ByteRanges(starts, sizes, np.ones(len(starts), np.bool_))


def _take_varints(source: Source, cursor: Cursor) -> Ints:
    values = np.zeros(len(cursor.at), np.int64)
    more = np.ones(len(cursor.at), np.bool_)
    for rank in range(_VARINT_BYTES):
        at = cursor.advance(source, more.astype(np.int64))
        byte = np.where(more, source.read(np.where(more, at, source.size), np.uint8), 0)
        values |= (byte & 0x7F) << (7 * rank)
        more &= byte >= 0x80  # noqa: PLR2004 - the continuation bit
        if not more.any():
            break
    source.check(~more & (values < 2**31), "a length must be less than 2^31")
    return values


def _decode_list(source: Source, cursor: Cursor, data_type: DataType) -> tuple[Ints, Column]:
    """Decode lists; returns their offsets and elements."""
    counts = _take_varints(source, cursor)
    bitmap = cursor.advance(source, (counts + 7) // 8)
    offsets = nb.offsets_from_sizes(counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    rank = np.arange(offsets[-1]) - offsets[:-1][owner]
    flags = source.read(bitmap[owner] + (rank >> 3), np.uint8)
    valid = flags >> (rank & 7) & 1 == 0
    order = np.nonzero(valid)[0]
    values = _decode_elements(source, cursor, data_type, owner[order])
    return offsets, values if len(order) == len(valid) else _with_nulls(values, valid)


def _decode_elements(source: Source, cursor: Cursor, data_type: DataType, owner: Ints) -> Column:
    """Decode consecutive elements of rows; `owner`, the row of each element, is ascending."""
    counts = np.bincount(owner, minlength=len(cursor.at)).astype(np.int64)
    firsts = nb.offsets_from_sizes(counts)[:-1]
    rank = np.arange(len(owner)) - firsts[owner]
    width = _stored_width(data_type)
    if width:
        start = cursor.advance(source, counts * width)
        at = start[owner] + rank * width
        return _decode(source, Cursor(at, cursor.end[owner]), data_type)
    parts = [nb.empty_array(to_arrow(data_type))]
    places = np.zeros(len(owner), np.int64)
    done = 0
    for step in range(int(counts.max(initial=0))):
        rows = np.nonzero(counts > step)[0]
        part = cursor.part(rows)
        parts.append(_decode(source, part, data_type))
        cursor.at[rows] = part.at
        places[firsts[rows] + step] = done + np.arange(len(rows))
        done += len(rows)
    return nb.take_rows(pa.concat_arrays(parts), places)


def _stored_width(data_type: DataType) -> int:
    """Return the size of the values of a type; 0 if it varies."""
    if not isinstance(data_type, AtomicType) or is_text(data_type):
        return 0
    precision = data_type.precision or 0
    if data_type.root is TypeRoot.DECIMAL:
        return 8 if precision <= COMPACT_DECIMAL else 0
    if is_timestamp(data_type):
        return 8 if precision <= COMPACT_TIMESTAMP else 0
    return 0 if data_type.root is TypeRoot.VARIANT else fixed_width(data_type)


def _decode_vector(source: Source, cursor: Cursor, data_type: VectorType) -> Column:
    counts = _take_varints(source, cursor)
    source.check(counts == data_type.length, f"a vector must have {data_type.length} elements")
    width = max(_stored_width(data_type.element), 1)
    inside = cursor.at + counts * width <= cursor.end
    source.check(inside, "a vector's elements must be within its row")
    owner = np.repeat(np.arange(len(counts)), counts)
    values = _decode_elements(source, cursor, data_type.element, owner)
    return nb.build_struct(to_arrow(data_type), [values], np.ones(len(counts), np.bool_))


def _decode_map(source: Source, cursor: Cursor, data_type: MapType | MultisetType) -> Column:
    types = entry_types(data_type)
    offsets, keys = _decode_list(source, cursor, types[0])
    ends, values = _decode_list(source, cursor, types[1])
    source.check(offsets == ends, "a map must have as many keys as values")
    source.check(np.array([keys.null_count == 0]), "a map's keys must not be null")
    fields = [
        pa.field("key", keys.type, nullable=False),
        pa.field("value", values.type, nullable=types[1].nullable),
    ]
    entries = nb.build_struct(pa.struct(fields), [keys, values], np.ones(len(keys), np.bool_))
    all_valid = np.ones(len(cursor.at), np.bool_)
    return nb.build_list(to_arrow(data_type), offsets, [entries], all_valid)


def split_block(source: Source, start: int, size: int) -> Cursor:
    """Locate the rows of a block: rows, then an offset per row, then the number of rows.

    Args:
        source: bytes that contain the block.
        start: start of the block.
        size: size of the block.

    Raises:
        CorruptFileError: the offsets are not ascending within the block.
    """
    tail = source.size if size < 4 else start + size - 4  # noqa: PLR2004 - bytes of the count
    count = int(source.read(np.array([tail]), "<i4")[0])
    table = tail - 4 * count
    source.check(
        np.array([count >= 0 and table >= start]), "row offsets must be within their block"
    )
    offsets = source.read(table + 4 * np.arange(count), "<i4")
    edges = np.concatenate([start + offsets, [table]])
    good = (np.diff(edges) >= 0) & (edges[:-1] >= start)
    source.check(good, "row offsets must be in ascending order")
    return Cursor(edges[:-1].copy(), edges[1:])


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
        case ((MapType() | MultisetType()), pa.MapArray()):
            return _encode_map(column, *entry_types(data_type))
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
