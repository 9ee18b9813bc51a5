"""Vectorized encoder of columns of atomic types to the cells of binary rows and binary arrays.

A cell has a fixed part of 1, 2, 4 or 8 bytes, depending on the type, and for some values an item:
bytes in the variable part, to which the fixed part refers by `offset << 32 | number`.

Spec: concepts/spec, binary row; the layouts are those of Java's BinaryRow.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import timestamp_unit
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, Numbers, UInt64s
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.binary_row.row_layout import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    INLINE,
    UNITS_PER_MILLI,
    fixed_width,
    is_text,
    is_timestamp,
)
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Cells:
    """n encoded values.

    Attributes:
        fixed: fixed parts as unsigned integers, without offsets; 0 where null.
        valid: which cells are not null.
        present: which cells have an item; None if the type has no items.
        sizes: bytes of each item, a multiple of 8, 0 without item; empty if the type has no items.
        data: the concatenated items.
    """

    fixed: npt.NDArray[np.unsignedinteger]
    valid: Bools
    present: Bools | None
    sizes: Ints
    data: Bytes

    def item_sizes(self) -> Ints:
        """Return the bytes of each value's item, n numbers."""
        return self.sizes if self.present is not None else np.zeros(len(self.valid), np.int64)


def encode_atomic(array: Column, data_type: AtomicType, *, reserve: bool) -> Cells:
    """Encode a column of an atomic type to cells; see `encode_cells`."""
    if is_text(data_type):
        return _encode_text(array)
    if data_type.root is TypeRoot.DECIMAL:
        return _encode_decimal(array, data_type, reserve=reserve)
    if is_timestamp(data_type):
        return _encode_timestamp(array, data_type, reserve=reserve)
    if isinstance(array, pa.StructArray):  # a variant, ensured by the caller
        return _encode_variant(array)
    valid = nb.valid_mask(array)
    if data_type.root is TypeRoot.BOOLEAN:
        return _cells_without_items(nb.bool_values(array).astype(np.uint8), valid)
    width = fixed_width(data_type)
    return _cells_without_items(nb.fixed_values(array, f"<u{width}"), valid)


def _cells_without_items(values: Numbers, valid: Bools) -> Cells:
    """Build cells without items."""
    unsigned = values.view(f"<u{values.dtype.itemsize}")
    fixed = unsigned if valid.all() else np.where(valid, unsigned, unsigned.dtype.type(0))
    return Cells(fixed, valid, None, np.zeros(0, np.int64), np.zeros(0, np.uint8))


def variable_cells(low: Ints, valid: Bools, sizes: Ints, data: Bytes) -> Cells:
    """Build cells with an item for each value; `low` is the lower half of the fixed part."""
    fixed = np.where(valid, low, 0).astype(np.uint64)
    return Cells(fixed, valid, valid, sizes, data)


def _encode_text(array: Column) -> Cells:
    valid = nb.valid_mask(array)
    offsets, raw = nb.var_values(array)
    lengths = np.where(valid, np.diff(offsets), 0)
    words = nb.unaligned_words(nb.padded(raw))
    inline = lengths <= INLINE
    keep = (np.uint64(1) << (np.minimum(lengths, INLINE) * 8).astype(np.uint64)) - np.uint64(1)
    marks = (lengths.astype(np.uint64) | np.uint64(0x80)) << np.uint64(56)
    slots = (words[np.minimum(offsets[:-1], len(words) - 1)] & keep) | marks
    fixed = np.where(inline, slots, lengths.astype(np.uint64))
    fixed = np.where(valid, fixed, np.uint64(0))
    sizes = np.where(inline, 0, nb.round_up(lengths))
    data = _copy_padded(words, offsets[:-1], lengths, sizes)
    return Cells(fixed, valid, ~inline, sizes, data)


def _copy_padded(words: UInt64s, starts: Ints, lengths: Ints, sizes: Ints) -> Bytes:
    """Copy ranges of bytes, zero-padded to their sizes in whole words; size 0 skips a range."""
    counts = sizes // nb.WORD_BYTES
    firsts = nb.offsets_from_sizes(counts)[:-1]
    step = np.arange(counts.sum()) - np.repeat(firsts, counts)
    out: UInt64s = words[np.repeat(starts, counts) + step * nb.WORD_BYTES]
    tails = counts > 0
    spare = ((sizes - lengths)[tails] * 8).astype(np.uint64)
    out[(firsts + counts - 1)[tails]] &= np.uint64(0xFFFFFFFFFFFFFFFF) >> spare
    return out.view(np.uint8)


def _encode_decimal(array: Column, data_type: AtomicType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    halves = decimal_halves(array)
    if (data_type.precision or 0) <= COMPACT_DECIMAL:
        return _cells_without_items(np.ascontiguousarray(halves[:, 0]), valid)
    image = halves.view(np.uint8).reshape(-1, DECIMAL_ITEM)[:, ::-1]  # big endian
    # Java's BigInteger.toByteArray: as few bytes as preserve the sign bit
    sign = (image[:, :1] >> 7) * np.uint8(0xFF)
    redundant = (image[:, :-1] == sign) & ((image[:, 1:] >> 7) == (sign & np.uint8(1)))
    skipped = np.cumprod(redundant, axis=1).sum(axis=1)
    columns = np.arange(DECIMAL_ITEM) + skipped[:, None]
    wide = np.concatenate([image, np.zeros_like(image)], axis=1)
    items = np.take_along_axis(wide, columns, axis=1)
    return _fixed_size_cells(DECIMAL_ITEM - skipped, valid, items, reserve=reserve)


def decimal_halves(array: Column) -> Ints:
    """Return low and high half of each 128-bit value, n by 2."""
    start = array.offset * DECIMAL_ITEM
    raw = nb.as_bytes(array.buffers()[1])[start : start + len(array) * DECIMAL_ITEM]
    return raw.view("<i8").reshape(-1, 2)


def _fixed_size_cells(low: Ints, valid: Bools, items: Bytes, *, reserve: bool) -> Cells:
    """Build cells with items of equal size; nulls have an item of zeros if `reserve`, else none."""
    width = items.shape[1]
    if reserve:
        data = np.where(valid[:, None], items, np.uint8(0))
        present = np.ones(len(valid), np.bool_)
    else:
        data = items[valid]
        present = valid
    fixed = np.where(valid, low, 0).astype(np.uint64)
    return Cells(fixed, valid, present, present * np.int64(width), data.reshape(-1))


def _encode_timestamp(array: Column, data_type: AtomicType, *, reserve: bool) -> Cells:
    valid = nb.valid_mask(array)
    unit = timestamp_unit(data_type.precision)
    values = nb.fixed_values(array, "<i8").astype(np.int64)
    if (data_type.precision or 0) <= COMPACT_TIMESTAMP:
        return _cells_without_items(values * 1000 if unit == "s" else values, valid)
    per_milli = UNITS_PER_MILLI[unit]
    millis = values // per_milli
    nanos = (values - millis * per_milli) * (1_000_000 // per_milli)
    items = np.ascontiguousarray(millis).view(np.uint8).reshape(-1, nb.WORD_BYTES)
    return _fixed_size_cells(nanos, valid, items, reserve=reserve)


def _encode_variant(array: pa.StructArray) -> Cells:
    valid = nb.valid_mask(array)
    value_offsets, values = nb.var_values(array.field("value"))
    meta_offsets, metas = nb.var_values(array.field("metadata"))
    value_sizes = np.where(valid, np.diff(value_offsets), 0)
    meta_sizes = np.where(valid, np.diff(meta_offsets), 0)
    lengths = np.where(valid, 4 + value_sizes + meta_sizes, 0)
    sizes = nb.round_up(lengths)
    starts = nb.offsets_from_sizes(sizes)
    data = np.zeros(starts[-1], np.uint8)
    heads = starts[:-1]
    prefix = value_sizes.astype("<u4").view(np.uint8).reshape(-1, 4)
    data[heads[valid][:, None] + np.arange(4)] = prefix[valid]
    _, part = nb.gather(values, value_offsets[:-1], value_sizes)
    data[nb.expand_ranges(heads + 4, value_sizes)] = part
    _, part = nb.gather(metas, meta_offsets[:-1], meta_sizes)
    data[nb.expand_ranges(heads + 4 + value_sizes, meta_sizes)] = part
    return variable_cells(lengths, valid, sizes, data)
