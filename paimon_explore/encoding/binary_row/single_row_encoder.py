"""Encoder of small numbers of binary rows, value by value.

Vectorized encoding is faster from about ten rows on. A writer encodes two rows per file, the bounds
of its statistics: without this encoder, a commit of one row takes 15 % more CPU time. The layouts
are those of `primitive_encoder`; values are read from Arrow's buffers, without conversion to Python
types.

Spec: concepts/spec, binary row.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from paimon_explore.data_types.arrow import timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import WORD_BYTES, Bools, Column, UInt64s
from paimon_explore.data_types.definitions import (
    BYTES,
    FIXED_WIDTHS,
    TEXTS,
    TIMESTAMPS,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.encoding.binary_row.row_layout import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    INLINE,
    KIND_BITS,
    UNITS_PER_MILLI,
    fixed_width,
    row_header,
)

MAX_ROWS = 8
"""Number of rows up to which this encoder is faster."""

_MASK = (1 << 64) - 1
Cell: TypeAlias = tuple[int, bytes]
"""Fixed part of a value without the offset, and its item in the variable part, if any."""
_Encode: TypeAlias = Callable[[Column, AtomicType, int], Cell]
"""Encodes the value at a position of a column's buffers."""


def encode_single_rows(
    columns: Sequence[Column], types: Sequence[DataType], count: int
) -> list[bytes] | None:
    """Encode rows without arity; see `encode_rows`.

    Nulls of wide decimals and timestamps reserve space.

    Returns:
        n rows; None if this encoder does not support the type of a column.
    """
    cells: list[list[tuple[Cell, bool]]] = [[] for _ in range(count)]
    for column, data_type in zip(columns, types, strict=True):
        found = encode_cells_singly(column, data_type, count)
        if found is None:
            return None
        for row, cell in zip(cells, found, strict=True):
            row.append(cell)
    return [_row(row) for row in cells]


def encode_row(slots: UInt64s, nulls: Bools, items: Mapping[int, bytes]) -> bytes:
    """Encode a row without arity from its cells.

    Args:
        slots: fixed parts of the cells without offsets, 0 where null; this function changes them.
        nulls: which cells are null.
        items: items of cells by position.
    """
    header = row_header(len(slots))
    bits = np.zeros(header * 8, np.bool_)
    bits[KIND_BITS : KIND_BITS + len(slots)] = nulls
    cursor = header + WORD_BYTES * len(slots)
    parts = [np.packbits(bits, bitorder="little").tobytes(), b""]
    for at in sorted(items):
        slots[at] |= np.uint64(cursor << 32)
        parts.append(items[at])
        cursor += len(items[at])
    parts[1] = slots.astype("<u8", copy=False).tobytes()
    return b"".join(parts)


def encode_cells_singly(
    column: Column, data_type: DataType, count: int
) -> list[tuple[Cell, bool]] | None:
    """Encode the cells of a column, and whether each is null; None if it is not supported."""
    if column.null_count == count:  # for any type, as bounds of types without order are null
        return [(null_cell(data_type), True)] * count
    if not isinstance(data_type, AtomicType) or not column.type.equals(to_arrow(data_type)):
        return None
    encode = _ENCODERS.get(data_type.root)
    if encode is None:
        return None
    positions = range(column.offset, column.offset + count)
    if not column.null_count:
        return [(encode(column, data_type, at), False) for at in positions]
    nothing = null_cell(data_type)
    valid = memoryview(column.buffers()[0])  # type: ignore[arg-type]  # nulls have a bitmap
    return [
        (encode(column, data_type, at), False) if _bit(valid, at) else (nothing, True)
        for at in positions
    ]


def _row(cells: Sequence[tuple[Cell, bool]]) -> bytes:
    arity = len(cells)
    header = row_header(arity)
    cursor = header + WORD_BYTES * arity
    nulls = 0
    slots, items = [], []
    for index, ((slot, item), is_null) in enumerate(cells):
        nulls |= is_null << (KIND_BITS + index)
        slots.append((slot | cursor << 32 if item else slot).to_bytes(WORD_BYTES, "little"))
        items.append(item)
        cursor += len(item)
    return b"".join([nulls.to_bytes(header, "little"), *slots, *items])


def null_cell(data_type: DataType) -> Cell:
    """Encode a null, with the space reserved for a value."""
    if not isinstance(data_type, AtomicType):
        return 0, b""
    precision = data_type.precision or 0
    if data_type.root is TypeRoot.DECIMAL and precision > COMPACT_DECIMAL:
        return 0, bytes(DECIMAL_ITEM)
    if data_type.root in TIMESTAMPS and precision > COMPACT_TIMESTAMP:
        return 0, bytes(WORD_BYTES)
    return 0, b""


def _bit(bits: memoryview, at: int) -> int:
    return int(bits[at >> 3]) >> (at & 7) & 1


def _number(column: Column, at: int, width: int, *, signed: bool = False) -> int:
    raw = memoryview(column.buffers()[1])[at * width : (at + 1) * width]  # type: ignore[arg-type]  # such columns have values
    return int.from_bytes(raw, "little", signed=signed)


def _plain(column: Column, data_type: AtomicType, at: int) -> Cell:
    return _number(column, at, fixed_width(data_type)), b""


def _boolean(column: Column, _: AtomicType, at: int) -> Cell:
    return _bit(memoryview(column.buffers()[1]), at), b""  # type: ignore[arg-type]  # as above


def _text(column: Column, _: AtomicType, at: int) -> Cell:
    _valid, ends, data = column.buffers()
    start, end = memoryview(ends)[at * 4 : at * 4 + 8].cast("i")  # type: ignore[arg-type]  # as above
    return text_cell(bytes(memoryview(data)[start:end]) if data is not None else b"")


def text_cell(raw: bytes) -> Cell:
    """Encode a string (in UTF-8) or binary value."""
    size = len(raw)
    if size <= INLINE:
        return int.from_bytes(raw, "little") | (size | 0x80) << 56, b""
    return size, raw + bytes(-size % WORD_BYTES)


def _decimal(column: Column, data_type: AtomicType, at: int) -> Cell:
    value = _number(column, at, DECIMAL_ITEM, signed=True)
    if (data_type.precision or 0) <= COMPACT_DECIMAL:
        return value & _MASK, b""
    # Java's BigInteger.toByteArray: as few bytes as preserve the sign bit
    size = ((value if value >= 0 else ~value).bit_length()) // 8 + 1
    return size, value.to_bytes(size, "big", signed=True).ljust(DECIMAL_ITEM, b"\x00")


def _timestamp(column: Column, data_type: AtomicType, at: int) -> Cell:
    value = _number(column, at, WORD_BYTES, signed=True)
    unit = timestamp_unit(data_type.precision)
    if (data_type.precision or 0) <= COMPACT_TIMESTAMP:
        return (value * 1000 if unit == "s" else value) & _MASK, b""
    per_milli = UNITS_PER_MILLI[unit]
    millis, rest = divmod(value, per_milli)
    return rest * (1_000_000 // per_milli), millis.to_bytes(WORD_BYTES, "little", signed=True)


_ENCODERS: Mapping[TypeRoot, _Encode] = {
    **dict.fromkeys(FIXED_WIDTHS, _plain),
    **dict.fromkeys(TEXTS | BYTES, _text),
    **dict.fromkeys(TIMESTAMPS, _timestamp),
    TypeRoot.BOOLEAN: _boolean,
    TypeRoot.DECIMAL: _decimal,
}
"""Types of keys, partitions and bounds; all but BLOB, VARIANT and nested types."""
