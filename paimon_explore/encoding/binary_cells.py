"""Values of any type as the cells that binary rows and binary arrays are made of.

A cell is a fixed part, as wide as the type asks (1, 2, 4 or 8 bytes), and for some values an item:
bytes in the variable part, which the fixed part refers to by `offset << 32 | number`. Encoding goes
level by level over whole columns: the cells of an array's elements are made for all arrays at once,
then packed into one image per array, and these images are the items of the array column's cells.

Spec: concepts/spec, binary row; the layouts are those of Java's BinaryRow, BinaryArray, BinaryMap.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.encoding import buffers as nb
from paimon_explore.encoding.buffers import Bools, Bytes, Ints, Words
from paimon_explore.errors import InvalidInputError
from paimon_explore.types.data_types import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)

COMPACT_DECIMAL = 18
"""Highest precision of a decimal that fits into 8 bytes."""
COMPACT_TIMESTAMP = 3
"""Highest precision of a timestamp that is stored as milliseconds alone."""
INLINE = 7
"""Longest string or binary that lies in its slot."""
DECIMAL_ITEM = 16
COUNT_TYPE = AtomicType(root=TypeRoot.INT, nullable=False)
"""How often a multiset holds an element."""

_WIDTHS = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.DATE: 4,
    TypeRoot.TIME: 4,
    TypeRoot.FLOAT: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.DOUBLE: 8,
}
_UNITS_PER_MILLI = {"us": 1_000, "ns": 1_000_000}


@dataclass(frozen=True, slots=True)
class Cells:
    """n encoded values.

    Attributes:
        fixed: their fixed parts as unsigned integers, without offsets; 0 where null.
        valid: which are not null.
        present: which have an item, or None when the type has none.
        sizes: bytes of each item, a multiple of 8, 0 where there is none; empty without items.
        data: the items one after the other.
    """

    fixed: npt.NDArray[np.unsignedinteger]
    valid: Bools
    present: Bools | None
    sizes: Ints
    data: Bytes

    def item_sizes(self) -> Ints:
        """Bytes of each value's item, n numbers."""
        return self.sizes if self.present is not None else np.zeros(len(self.valid), np.int64)


def fixed_width(data_type: DataType) -> int:
    """Bytes of the fixed part of an array element."""
    return _WIDTHS.get(data_type.root, 8) if isinstance(data_type, AtomicType) else 8


def is_text(data_type: AtomicType) -> bool:
    """Whether values are stored as plain bytes: strings and every kind of binary."""
    return data_type.root in {
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
        TypeRoot.BINARY,
        TypeRoot.VARBINARY,
        TypeRoot.BLOB,
        TypeRoot.GEOMETRY,
        TypeRoot.GEOGRAPHY,
    }


def keeps_null_space(data_type: DataType) -> bool:
    """Whether a row reserves an item for a null of this type (wide decimals and timestamps)."""
    if not isinstance(data_type, AtomicType) or data_type.precision is None:
        return False
    if data_type.root is TypeRoot.DECIMAL:
        return data_type.precision > COMPACT_DECIMAL
    return is_timestamp(data_type) and data_type.precision > COMPACT_TIMESTAMP


def is_timestamp(data_type: AtomicType) -> bool:
    """Whether it is one of the two timestamp types."""
    return data_type.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}


def encode_cells(array: pa.Array, data_type: DataType, *, reserve: bool) -> Cells:
    """The cells of a column.

    Args:
        array: n values of the Arrow type that `types.arrow` gives for `data_type`.
        data_type: their type.
        reserve: whether nulls of wide decimals and timestamps take up an item.

    Returns:
        n cells.
    """
    match data_type:
        case AtomicType():
            return _encode_atomic(array, data_type, reserve=reserve)
        case RowType():
            return _encode_row(array, data_type, reserve=reserve)
        case ArrayType():
            return _encode_array(array, data_type)
        case VectorType():
            return _encode_vector(array, data_type)
        case MapType(key=key, value=value):
            return _encode_map(array, key, value)
        case MultisetType(element=element):
            return _encode_map(array, element, COUNT_TYPE)


def _encode_atomic(array: pa.Array, data_type: AtomicType, *, reserve: bool) -> Cells:
    if is_text(data_type):
        return _encode_text(array)
    if data_type.root is TypeRoot.DECIMAL:
        return _encode_decimal(array, data_type, reserve=reserve)
    if is_timestamp(data_type):
        return _encode_timestamp(array, data_type, reserve=reserve)
    if data_type.root is TypeRoot.VARIANT:
        return _encode_variant(array)
    valid = nb.valid_mask(array)
    if data_type.root is TypeRoot.BOOLEAN:
        return _plain(nb.bool_values(array).astype(np.uint8), valid)
    width = fixed_width(data_type)
    return _plain(nb.fixed_values(array, f"<u{width}"), valid)


def _plain(values: npt.NDArray[np.generic], valid: Bools) -> Cells:
    """Cells without items."""
    unsigned = values.view(f"<u{values.dtype.itemsize}")
    fixed = unsigned if valid.all() else np.where(valid, unsigned, unsigned.dtype.type(0))
    return Cells(fixed, valid, None, np.zeros(0, np.int64), np.zeros(0, np.uint8))


def _images(low: Ints, valid: Bools, sizes: Ints, data: Bytes) -> Cells:
    """Cells of items that are all in the variable part; `low` is the slot's lower half."""
    fixed = np.where(valid, low, 0).astype(np.uint64)
    return Cells(fixed, valid, valid, sizes, data)


def _encode_text(array: pa.Array) -> Cells:
    valid = nb.valid_mask(array)
    offsets, raw = nb.var_values(array)
    lengths = np.where(valid, np.diff(offsets), 0)
    words = nb.unaligned(nb.padded(raw), "<u8")
    inline = lengths <= INLINE
    keep = (np.uint64(1) << (np.minimum(lengths, INLINE) * 8).astype(np.uint64)) - np.uint64(1)
    marks = (lengths.astype(np.uint64) | np.uint64(0x80)) << np.uint64(56)
    slots = (words[np.minimum(offsets[:-1], len(words) - 1)] & keep) | marks
    fixed = np.where(inline, slots, lengths.astype(np.uint64))
    fixed = np.where(valid, fixed, np.uint64(0))
    sizes = np.where(inline, 0, nb.round_up(lengths))
    data = _copy_padded(words, offsets[:-1], lengths, sizes)
    return Cells(fixed, valid, ~inline, sizes, data)


def _copy_padded(words: Words, starts: Ints, lengths: Ints, sizes: Ints) -> Bytes:
    """Ranges of bytes, each zero-padded to its size in whole words; size 0 leaves one out."""
    counts = sizes // nb.WORD
    firsts = nb.ends_of(counts)[:-1]
    step = np.arange(counts.sum()) - np.repeat(firsts, counts)
    out = words[np.repeat(starts, counts) + step * nb.WORD]
    tails = counts > 0
    spare = ((sizes - lengths)[tails] * 8).astype(np.uint64)
    out[(firsts + counts - 1)[tails]] &= np.uint64(0xFFFFFFFFFFFFFFFF) >> spare
    return out.view(np.uint8)


def _encode_decimal(array: pa.Array, data_type: AtomicType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    halves = _decimal_halves(array)
    if (data_type.precision or 0) <= COMPACT_DECIMAL:
        return _plain(np.ascontiguousarray(halves[:, 0]), valid)
    image = halves.view(np.uint8).reshape(-1, DECIMAL_ITEM)[:, ::-1]  # big endian
    # Java's BigInteger.toByteArray: the fewest bytes that keep the sign bit.
    sign = (image[:, :1] >> 7) * np.uint8(0xFF)
    redundant = (image[:, :-1] == sign) & ((image[:, 1:] >> 7) == (sign & np.uint8(1)))
    skipped = np.cumprod(redundant, axis=1).sum(axis=1)
    columns = np.arange(DECIMAL_ITEM) + skipped[:, None]
    wide = np.concatenate([image, np.zeros_like(image)], axis=1)
    items = np.take_along_axis(wide, columns, axis=1)
    return _reserved(DECIMAL_ITEM - skipped, valid, items, reserve=reserve)


def _decimal_halves(array: pa.Array) -> Ints:
    """Low and high half of each 128-bit value, n by 2."""
    start = array.offset * DECIMAL_ITEM
    raw = nb.as_bytes(array.buffers()[1])[start : start + len(array) * DECIMAL_ITEM]
    return raw.view("<i8").reshape(-1, 2)


def _reserved(low: Ints, valid: Bools, items: Bytes, *, reserve: bool) -> Cells:
    """Cells of items of one width; nulls have a zeroed one if `reserve`, else none."""
    width = items.shape[1]
    if reserve:
        data = np.where(valid[:, None], items, np.uint8(0))
        present = np.ones(len(valid), np.bool_)
    else:
        data = items[valid]
        present = valid
    fixed = np.where(valid, low, 0).astype(np.uint64)
    return Cells(fixed, valid, present, present * np.int64(width), data.reshape(-1))


def _encode_timestamp(array: pa.Array, data_type: AtomicType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    values = nb.fixed_values(array, "<i8").astype(np.int64)
    if (data_type.precision or 0) <= COMPACT_TIMESTAMP:
        return _plain(values * 1000 if array.type.unit == "s" else values, valid)
    per_milli = _UNITS_PER_MILLI[array.type.unit]
    millis = values // per_milli
    nanos = (values - millis * per_milli) * (1_000_000 // per_milli)
    items = np.ascontiguousarray(millis).view(np.uint8).reshape(-1, nb.WORD)
    return _reserved(nanos, valid, items, reserve=reserve)


def _encode_variant(array: pa.Array) -> Cells:
    valid = nb.valid_mask(array)
    value_offsets, values = nb.var_values(array.field("value"))
    meta_offsets, metas = nb.var_values(array.field("metadata"))
    value_sizes = np.where(valid, np.diff(value_offsets), 0)
    meta_sizes = np.where(valid, np.diff(meta_offsets), 0)
    lengths = np.where(valid, 4 + value_sizes + meta_sizes, 0)
    sizes = nb.round_up(lengths)
    starts = nb.ends_of(sizes)
    data = np.zeros(starts[-1], np.uint8)
    heads = starts[:-1]
    prefix = value_sizes.astype("<u4").view(np.uint8).reshape(-1, 4)
    data[heads[valid][:, None] + np.arange(4)] = prefix[valid]
    _, part = nb.gather(values, value_offsets[:-1], value_sizes)
    data[nb.spread(heads + 4, value_sizes)] = part
    _, part = nb.gather(metas, meta_offsets[:-1], meta_sizes)
    data[nb.spread(heads + 4 + value_sizes, meta_sizes)] = part
    return _images(lengths, valid, sizes, data)


def _encode_row(array: pa.Array, data_type: RowType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    kept = array if valid.all() else array.filter(nb.build_bool(valid, np.ones_like(valid)))
    cells = [
        encode_cells(kept.field(i), field.type, reserve=reserve)
        for i, field in enumerate(data_type.fields)
    ]
    starts, data = pack_rows(cells, len(kept))
    sizes = np.zeros(len(valid), np.int64)
    sizes[valid] = np.diff(starts)
    return _images(sizes, valid, sizes, data)


def pack_rows(columns: list[Cells], count: int) -> tuple[Ints, Bytes]:
    """Row images out of the cells of their columns.

    Args:
        columns: k columns of `count` cells each.
        count: number of rows.

    Returns:
        Offsets (count + 1) and the images one after the other; each a multiple of 8 bytes.
    """
    header = row_header(len(columns))
    fixed = header + nb.WORD * len(columns)
    sizes = np.full(count, fixed, np.int64)
    for cells in columns:
        if cells.present is not None:
            sizes += cells.sizes
    starts = nb.ends_of(sizes)
    words = np.zeros(starts[-1] // nb.WORD, np.uint64)
    heads = starts[:-1] // nb.WORD
    words[heads[:, None] + np.arange(header // nb.WORD)] = _null_words(columns, count, header)
    cursor = np.full(count, fixed, np.int64)
    for index, cells in enumerate(columns):
        slots = cells.fixed.astype(np.uint64)
        if cells.present is not None:
            slots |= np.where(cells.present, cursor, 0).astype(np.uint64) << np.uint64(32)
            targets = nb.spread(heads + cursor // nb.WORD, cells.sizes // nb.WORD)
            words[targets] = cells.data.view(np.uint64)
            cursor += cells.sizes
        words[heads + (header // nb.WORD + index)] = slots
    return starts, words.view(np.uint8)


def row_header(arity: int) -> int:
    """Bytes of a row's header: the row kind and a null bit per field, in whole words."""
    return (arity + 63 + 8) // 64 * nb.WORD


def _null_words(columns: list[Cells], count: int, header: int) -> Words:
    bits = np.zeros((count, header * 8), np.bool_)
    for index, cells in enumerate(columns):
        bits[:, 8 + index] = ~cells.valid
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _encode_array(array: pa.Array, data_type: ArrayType) -> Cells:
    valid = nb.valid_mask(array)
    starts, counts = _list_ranges(array, valid)
    elements = _slice(array.values, starts, counts)
    sizes, data = _pack_arrays(counts, elements, data_type.element)
    sizes, data = _drop_nulls(sizes, data, valid)
    return _images(sizes, valid, sizes, data)


def _list_ranges(array: pa.Array, valid: Bools) -> tuple[Ints, Ints]:
    """Where each list starts in its children, and its count: 0 for null, whatever it owns."""
    offsets = nb.list_offsets(array)
    return offsets[:-1], np.where(valid, np.diff(offsets), 0)


def _slice(children: pa.Array, starts: Ints, counts: Ints) -> pa.Array:
    """The children of consecutive lists, without those that a null list owns."""
    total = int(counts.sum())
    first = int(starts[0]) if len(starts) else 0
    if total == 0 or bool((starts + counts)[-1] - first == total):
        return children.slice(first, total)
    index = nb.spread(starts, counts)
    return children.take(nb.build_fixed(pa.int64(), index, np.ones(total, np.bool_)))


def _drop_nulls(sizes: Ints, data: Bytes, valid: Bools) -> tuple[Ints, Bytes]:
    """Leave out the (empty) images of nulls."""
    if valid.all():
        return sizes, data
    starts = nb.ends_of(sizes)[:-1]
    kept = np.where(valid, sizes, 0)
    return kept, nb.gather(data, starts, kept)[1]


def _pack_arrays(counts: Ints, elements: pa.Array, data_type: DataType) -> tuple[Ints, Bytes]:
    """One array image per count, over consecutive elements; sizes are multiples of 8."""
    cells = _canonical_nan(encode_cells(elements, data_type, reserve=False), data_type)
    width = fixed_width(data_type)
    header = 4 + (counts + 31) // 32 * 4
    fixed = nb.round_up(header + width * counts)
    item_ends = nb.ends_of(cells.item_sizes())
    firsts = nb.ends_of(counts)
    sizes = fixed + item_ends[firsts[1:]] - item_ends[firsts[:-1]]
    starts = nb.ends_of(sizes)
    out = np.zeros(starts[-1], np.uint8)
    out.view("<u4")[starts[:-1] // 4] = counts
    owners = np.repeat(np.arange(len(counts)), counts)
    ranks = np.arange(len(elements)) - firsts[:-1][owners]
    heads = starts[:-1][owners]
    nulls = ~cells.valid
    bits = (1 << (ranks[nulls] & 7)).astype(np.uint8)
    np.bitwise_or.at(out, heads[nulls] + 4 + (ranks[nulls] >> 3), bits)
    parts = cells.fixed
    if cells.present is not None:
        local = fixed[owners] + item_ends[:-1] - item_ends[firsts[:-1]][owners]
        parts = parts | (np.where(cells.present, local, 0).astype(np.uint64) << np.uint64(32))
        out.view(np.uint64)[nb.spread((heads + local) // nb.WORD, cells.sizes // nb.WORD)] = (
            cells.data.view(np.uint64)
        )
    _put(out, heads + header[owners] + ranks * width, parts)
    return sizes, out


def _put(out: Bytes, positions: Ints, parts: npt.NDArray[np.unsignedinteger]) -> None:
    """Store fixed parts; words may start at a multiple of 4 only."""
    unit = min(parts.dtype.itemsize, 4)
    pieces = np.ascontiguousarray(parts).view(f"<u{unit}")
    if parts.dtype.itemsize > unit:
        places = (positions // unit)[:, None] + np.arange(2)
        out.view(f"<u{unit}")[places] = pieces.reshape(-1, 2)
    else:
        out.view(f"<u{unit}")[positions // unit] = pieces


def _canonical_nan(cells: Cells, data_type: DataType) -> Cells:
    """Java stores every not-a-number in an array as one and the same."""
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if root not in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
        return cells
    kind, bits = ("<f4", 0x7FC00000) if root is TypeRoot.FLOAT else ("<f8", 0x7FF8 << 48)
    holds = np.isnan(cells.fixed.view(kind))
    fixed = np.where(holds, cells.fixed.dtype.type(bits), cells.fixed)
    return Cells(fixed, cells.valid, cells.present, cells.sizes, cells.data)


def _encode_vector(array: pa.Array, data_type: VectorType) -> Cells:
    valid = nb.valid_mask(array)
    length = data_type.length
    elements = array.values.slice(array.offset * length, len(array) * length)
    cells = encode_cells(elements, data_type.element, reserve=False)
    width = fixed_width(data_type.element)
    if cells.present is not None:
        raise InvalidInputError("A vector holds numbers or booleans only.")
    size = 4 + width * length
    images = np.zeros((len(array), int(nb.round_up(np.array([size]))[0])), np.uint8)
    images[:, :4] = np.array([length], "<u4").view(np.uint8)
    body = np.ascontiguousarray(cells.fixed).view(np.uint8)
    images[:, 4:size] = body.reshape(len(array), width * length)
    sizes = valid * np.int64(images.shape[1])
    return _images(np.full(len(array), size, np.int64), valid, sizes, images[valid].reshape(-1))


def _encode_map(array: pa.Array, key: DataType, value: DataType) -> Cells:
    valid = nb.valid_mask(array)
    firsts, counts = _list_ranges(array, valid)
    key_sizes, keys = _pack_arrays(counts, _slice(array.keys, firsts, counts), key)
    value_sizes, values = _pack_arrays(counts, _slice(array.items, firsts, counts), value)
    lengths = 4 + key_sizes + value_sizes
    sizes = nb.round_up(lengths)
    starts = nb.ends_of(sizes)
    out = np.zeros(starts[-1], np.uint8)
    words = out.view("<u4")
    heads = starts[:-1] // 4
    words[heads] = key_sizes
    words[nb.spread(heads + 1, key_sizes // 4)] = keys.view("<u4")
    words[nb.spread(heads + 1 + key_sizes // 4, value_sizes // 4)] = values.view("<u4")
    sizes, out = _drop_nulls(sizes, out, valid)
    return _images(lengths, valid, sizes, out)
