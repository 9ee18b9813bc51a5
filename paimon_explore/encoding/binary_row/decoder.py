"""Vectorized decoder of binary rows and binary arrays to columns, level by level.

A cell is identified by the position of its fixed part and by its region: start and end of the row
or array that contains it, to which offsets are relative. Null cells point to zeros after the data,
so that all cells of a column are read alike.

The data is untrusted: every range is checked against its region, and the variable-length values of
a column must not be larger in total than the data, so that overlapping values cannot exhaust
memory.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, Numbers, UInt64s
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
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.encoding.binary_row.row_layout import (
    ARITY_BYTES,
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    INLINE,
    KIND_BITS,
    UNITS_PER_MILLI,
    fixed_width,
    is_text,
    is_timestamp,
    row_header,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

_MAX_ELEMENTS = 2**31 - 1
_SPARE = 2 * DECIMAL_ITEM
_MILLIS = {"s": 1000, "ms": 1}
_NANOS_PER_MILLI = 1_000_000
_HAS_ARITY = "a row must start with its number of fields"
_FIXED_PART = "a row must be at least as long as its fixed part"
_COUNT = 4  # bytes of the count or size at the start of an array, map, vector or variant


class Source:
    """Bytes followed by zeros, with a name for errors.

    Args:
        data: the bytes.
        where: the name.
        used: how many of the bytes are used; None for all. If enough zeros follow them, the bytes
            are not copied.
    """

    def __init__(self, data: Bytes, where: str, used: int | None = None) -> None:
        self.where = where
        self.size = len(data)
        if used is not None and used <= self.size - _SPARE and not data[-_SPARE:].any():
            self.size -= _SPARE
            self.data = data
        else:
            self.data = nb.padded(data, _SPARE)

    def raw(self, positions: Ints, width: int) -> Numbers:
        """Read an unsigned integer of `width` bytes at each position."""
        return nb.unaligned(self.data, f"<u{width}")[positions]

    def words(self, positions: Ints) -> UInt64s:
        """Read the word at each position."""
        return nb.unaligned_words(self.data)[positions]

    def read(self, positions: Ints, dtype: npt.DTypeLike) -> Ints:
        """Read the integer at each position."""
        return nb.unaligned(self.data, dtype)[positions].astype(np.int64)

    def check(self, good: Bools, rule: str) -> None:
        """Check a rule for all values.

        Raises:
            CorruptFileError: a value violates the rule; the error names the first one.
        """
        if not good.all():
            raise CorruptFileError(self.where, f"value {int(np.argmin(good))}", rule)


@dataclass(frozen=True, slots=True)
class CellPositions:
    """Positions of n cells: fixed part, validity, and start and end of the region."""

    at: Ints
    valid: Bools
    start: Ints
    end: Ints


@dataclass(frozen=True, slots=True)
class ByteRanges:
    """n variable-length values as ranges of bytes; empty for nulls."""

    at: Ints
    size: Ints
    valid: Bools

    @property
    def end(self) -> Ints:
        """End of each range."""
        return self.at + self.size


def decode_cells(source: Source, cells: CellPositions, data_type: DataType) -> Column:
    """Decode cells of a type to `to_arrow(data_type)`.

    Raises:
        CorruptFileError: a range exceeds its region, or a value is invalid for its type.
    """
    match data_type:
        case AtomicType():
            return _decode_atomic(source, cells, data_type)
        case RowType():
            return _decode_row(source, cells, data_type)
        case ArrayType():
            return _decode_array(source, cells, data_type)
        case VectorType():
            return _decode_vector(source, cells, data_type)
        case MapType() | MultisetType():
            return _decode_map(source, cells, data_type)


def decode_fields(
    source: Source, rows: ByteRanges, types: list[DataType], wanted: Iterable[int]
) -> list[Column]:
    """Decode fields of rows.

    Args:
        source: the bytes.
        rows: n rows, without arity.
        types: types of the k fields.
        wanted: positions of the fields to decode.

    Returns:
        A column of n values per wanted field; a null row is null in all of them.
    """
    header = row_header(len(types))
    whole = bool(rows.valid.all())
    fits = rows.size >= header + nb.WORD_BYTES * len(types)
    source.check(fits if whole else ~rows.valid | fits, _FIXED_PART)
    begin = rows.at if whole else np.where(rows.valid, rows.at, source.size)
    end = rows.end
    columns = []
    for index in wanted:
        bit = 8 + index
        flags = source.data[begin + (bit >> 3)]
        valid = (flags & (1 << (bit & 7))) == 0
        if not whole:
            valid &= rows.valid
        at = rows.at + (header + nb.WORD_BYTES * index)
        if not valid.all():
            at = np.where(valid, at, source.size)
        columns.append(decode_cells(source, CellPositions(at, valid, rows.at, end), types[index]))
    return columns


def _decode_atomic(source: Source, cells: CellPositions, data_type: AtomicType) -> Column:
    arrow = to_arrow(data_type)
    if is_text(data_type):
        return _decode_text(source, cells, arrow)
    if data_type.root is TypeRoot.DECIMAL:
        return _decode_decimal(source, cells, data_type, arrow)
    if is_timestamp(data_type):
        return _decode_timestamp(source, cells, data_type)
    if data_type.root in _DECODERS:
        return _DECODERS[data_type.root](source, cells, arrow)
    if data_type.root is TypeRoot.BOOLEAN:
        return nb.build_bool(source.read(cells.at, np.uint8) != 0, cells.valid)
    width = fixed_width(data_type)
    return check_values(source, nb.build_fixed(arrow, source.raw(cells.at, width), cells.valid))


def _decode_text(source: Source, cells: CellPositions, arrow: pa.DataType) -> Column:
    slots = source.words(cells.at)
    inline = (slots >> np.uint64(63)) == 1
    short = ((slots >> np.uint64(56)) & np.uint64(0x7F)).astype(np.int64)
    source.check(~inline | (short <= INLINE), f"inline text must have at most {INLINE} bytes")
    size = np.where(inline, short, (slots & np.uint64(0xFFFFFFFF)).astype(np.int64))
    at = np.where(inline, cells.at, cells.start + (slots >> np.uint64(32)).astype(np.int64))
    ranges = _checked(source, ByteRanges(at, size, cells.valid), cells)
    offsets, data = nb.gather(source.data, ranges.at, ranges.size)
    return check_values(source, nb.build_var(arrow, offsets, data, cells.valid))


def _checked(source: Source, ranges: ByteRanges, cells: CellPositions) -> ByteRanges:
    """Check that ranges are within their regions; ranges of nulls become empty."""
    inside = (ranges.at >= cells.start) & (ranges.end <= cells.end)
    if not cells.valid.all():
        inside |= ~cells.valid
        size = np.where(cells.valid, ranges.size, 0)
        ranges = ByteRanges(np.where(cells.valid, ranges.at, source.size), size, cells.valid)
    source.check(inside, "a value must be within its row or array")
    if int(ranges.size.sum()) > source.size:
        raise CorruptFileError(source.where, "variable part", "values must not overlap")
    return ranges


def _ranges(source: Source, cells: CellPositions) -> ByteRanges:
    """Return the ranges that the fixed parts (offset and size) refer to."""
    slots = source.read(cells.at, "<i8")
    ranges = ByteRanges(cells.start + (slots >> 32), slots & 0xFFFFFFFF, cells.valid)
    return _checked(source, ranges, cells)


def check_values(source: Source, array: Column) -> Column:
    """Check an array with Arrow's full validation (UTF-8, digits, times) and return it."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(source.where, f"value of type {array.type}", str(error)) from error
    return array


def _decode_decimal(
    source: Source, cells: CellPositions, data_type: AtomicType, arrow: pa.DataType
) -> Column:
    if (data_type.precision or 0) <= COMPACT_DECIMAL:
        low = source.read(cells.at, "<i8")
        halves = np.stack([low, low >> 63], axis=1)
        return check_values(source, nb.build_fixed(arrow, halves, cells.valid))
    return decimals(source, _ranges(source, cells), arrow)


def decimals(source: Source, ranges: "ByteRanges", arrow: pa.DataType) -> Column:
    """Decode decimals from 1 to 16 big-endian two's complement bytes."""
    good = (ranges.size >= 1) & (ranges.size <= DECIMAL_ITEM)
    source.check(~ranges.valid | good, f"a decimal must have 1 to {DECIMAL_ITEM} bytes")
    shift = np.arange(DECIMAL_ITEM) - (DECIMAL_ITEM - ranges.size)[:, None]
    image = source.data[ranges.at[:, None] + np.maximum(shift, 0)]
    sign = (image[:, :1] >> 7) * np.uint8(0xFF)
    image = np.where(shift >= 0, image, sign)
    little = np.ascontiguousarray(image[:, ::-1])
    return check_values(source, nb.build_fixed(arrow, little, ranges.valid))


def _decode_timestamp(source: Source, cells: CellPositions, data_type: AtomicType) -> Column:
    if (data_type.precision or 0) <= COMPACT_TIMESTAMP:
        millis = source.read(cells.at, "<i8")
        return timestamps(source, millis, np.zeros_like(millis), cells.valid, data_type)
    slots = source.read(cells.at, "<i8")
    ranges = ByteRanges(
        cells.start + (slots >> 32), np.full(len(slots), nb.WORD_BYTES), cells.valid
    )
    ranges = _checked(source, ranges, cells)
    millis = source.read(ranges.at, "<i8")
    return timestamps(source, millis, slots & 0xFFFFFFFF, cells.valid, data_type)


def timestamps(
    source: Source, millis: Ints, nanos: Ints, valid: Bools, data_type: AtomicType
) -> Column:
    """Build timestamps from epoch milliseconds and nanoseconds of the millisecond; 0 where null."""
    unit = timestamp_unit(data_type.precision)
    source.check(
        nanos < _NANOS_PER_MILLI, "the nanosecond part of a timestamp must be below 1,000,000"
    )
    if unit in _MILLIS:
        values = millis // _MILLIS[unit]
    else:
        per_milli = UNITS_PER_MILLI[unit]
        rest = nanos // (_NANOS_PER_MILLI // per_milli)
        values, fits = nb.scaled_sum(millis, per_milli, rest)
        source.check(fits, f"a timestamp must fit in 64 bits (unit {unit})")
    return nb.build_fixed(to_arrow(data_type), values, valid)


def _decode_variant(source: Source, cells: CellPositions, arrow: pa.DataType) -> Column:
    ranges = _ranges(source, cells)
    source.check(
        ~cells.valid | (ranges.size >= _COUNT), "a variant must start with the size of its value"
    )
    size = source.read(ranges.at, "<i4")
    good = (size >= 0) & (size <= ranges.size - _COUNT)
    source.check(~cells.valid | good, "a variant's value must be within the variant")
    size = np.where(cells.valid, size, 0)
    all_valid = np.ones(len(size), np.bool_)
    parts = []
    rest = np.where(cells.valid, ranges.size - _COUNT - size, 0)
    for at, part in ((ranges.at + _COUNT, size), (ranges.at + _COUNT + size, rest)):
        offsets, data = nb.gather(source.data, at, part)
        parts.append(nb.build_var(pa.binary(), offsets, data, all_valid))
    return nb.build_struct(arrow, parts, cells.valid)


def _decode_row(source: Source, cells: CellPositions, data_type: RowType) -> Column:
    types = [field.type for field in data_type.fields]
    children = decode_fields(source, _ranges(source, cells), types, range(len(types)))
    return nb.build_struct(to_arrow(data_type), children, cells.valid)


def _elements(
    source: Source, arrays: ByteRanges, data_type: DataType
) -> tuple[Ints, CellPositions]:
    """Return the offsets of arrays into their elements, and the cells of the elements."""
    source.check(
        ~arrays.valid | (arrays.size >= _COUNT), "an array must start with its number of elements"
    )
    counts = source.read(np.where(arrays.valid, arrays.at, source.size), "<i4")
    width = fixed_width(data_type)
    header = _COUNT + (counts + 31) // 32 * 4
    good = (counts >= 0) & (header + counts * width <= arrays.size)
    source.check(~arrays.valid | good, "an array's elements must be within the array")
    offsets = nb.offsets_from_sizes(counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    rank = np.arange(offsets[-1]) - offsets[:-1][owner]
    start = arrays.at[owner]
    flags = source.read(start + _COUNT + (rank >> 3), np.uint8)
    valid = (flags >> (rank & 7)) & 1 == 0
    at = np.where(valid, start + header[owner] + rank * width, source.size)
    return offsets, CellPositions(at, valid, start, arrays.end[owner])


def _decode_array(source: Source, cells: CellPositions, data_type: ArrayType) -> Column:
    offsets, elements = _elements(source, _ranges(source, cells), data_type.element)
    values = decode_cells(source, elements, data_type.element)
    return nb.build_list(to_arrow(data_type), offsets, [values], cells.valid)


def _decode_vector(source: Source, cells: CellPositions, data_type: VectorType) -> Column:
    ranges = _ranges(source, cells)
    length = data_type.length
    width = fixed_width(data_type.element)
    source.check(
        ~ranges.valid | (ranges.size >= _COUNT + length * width),
        "the elements of a vector must be within the vector",
    )
    counts = source.read(ranges.at, "<i4")
    source.check(~ranges.valid | (counts == length), f"a vector must have {length} elements")
    if len(counts) * length > _MAX_ELEMENTS:
        total = len(counts) * length
        raise CorruptFileError(
            source.where,
            "vectors",
            f"a batch must have at most {_MAX_ELEMENTS} elements, not {total}",
        )
    at = ranges.at[:, None] + 4 + np.arange(length) * width
    at = np.where(ranges.valid[:, None], at, source.size).reshape(-1)
    owner = np.repeat(np.arange(len(counts)), length)
    all_valid = np.ones(len(at), np.bool_)
    elements = CellPositions(at, all_valid, ranges.at[owner], ranges.end[owner])
    values = decode_cells(source, elements, data_type.element)
    return nb.build_struct(to_arrow(data_type), [values], cells.valid)


def _decode_map(source: Source, cells: CellPositions, data_type: MapType | MultisetType) -> Column:
    types = entry_types(data_type)
    ranges = _ranges(source, cells)
    source.check(
        ~ranges.valid | (ranges.size >= _COUNT), "a map must start with the size of its keys"
    )
    size = source.read(ranges.at, "<i4")
    good = (size >= 0) & (size <= ranges.size - _COUNT)
    source.check(~ranges.valid | good, "a map's keys must be within the map")
    size = np.where(ranges.valid, size, 0)
    rest = np.where(ranges.valid, ranges.size - _COUNT - size, 0)
    at = np.where(ranges.valid, ranges.at + _COUNT, source.size)
    offsets, keys = _elements(source, ByteRanges(at, size, ranges.valid), types[0])
    ends, values = _elements(source, ByteRanges(at + size, rest, ranges.valid), types[1])
    source.check(np.diff(offsets) == np.diff(ends), "a map must have as many keys as values")
    source.check(keys.valid, "a map's keys must not be null")
    columns = [decode_cells(source, keys, types[0]), decode_cells(source, values, types[1])]
    fields = [
        pa.field("key", columns[0].type, nullable=False),
        pa.field("value", columns[1].type, nullable=types[1].nullable),
    ]
    entries = nb.build_struct(pa.struct(fields), columns, np.ones(len(keys.at), np.bool_))
    return nb.build_list(to_arrow(data_type), offsets, [entries], cells.valid)


def null_fields(row: bytes, arity: int) -> tuple[bool, ...]:
    """Return which fields of a row are null.

    Args:
        row: a row with arity.
        arity: the expected number of fields.

    Raises:
        CorruptFileError: the row has another number of fields, or is too short.
    """
    header = row[ARITY_BYTES : ARITY_BYTES + row_header(arity)]
    if int.from_bytes(row[:ARITY_BYTES], "big") != arity or len(header) < row_header(arity):
        raise CorruptFileError("", "a row", f"must have {arity} fields")
    bits = int.from_bytes(header, "little") >> KIND_BITS
    return tuple(bool(bits >> index & 1) for index in range(arity))


def arities(rows: Column, *, where: str = "") -> nb.Ints:
    """Return the arity of each row; -1 for null.

    Raises:
        CorruptFileError: a row is too short.
    """
    valid = nb.valid_mask(rows)
    begin, size, data = nb.byte_ranges(rows)
    if (valid & (size < ARITY_BYTES)).any():
        raise CorruptFileError(where, "a row", _HAS_ARITY)
    found = np.full(len(rows), -1, np.int64)
    found[valid] = nb.unaligned(data, ">i4")[begin[valid]]
    return found


def all_have_arity(rows: Column, arity: int, *, where: str = "") -> bool:
    """Return whether all rows are not null and have the arity.

    Raises:
        CorruptFileError: a row is too short.
    """
    if rows.null_count:
        return bool((arities(rows, where=where) == arity).all())
    begin, size, data = nb.byte_ranges(rows)
    if (size < ARITY_BYTES).any():
        raise CorruptFileError(where, "a row", _HAS_ARITY)
    heads = nb.unaligned(data, "<u4")[begin]
    return bool((heads == _head(arity)).all())


def decode_rows(
    rows: Column, types: Sequence[DataType], *, where: str, fields: Sequence[int] | None = None
) -> list[Column]:
    """Decode rows with arity, as in manifests, to columns.

    Args:
        rows: n rows, binary or `BYTE_VIEWS`; a null row is null in every column.
        types: the k types.
        where: name of the rows in errors, a path or field.
        fields: positions of the fields to decode; None for all.

    Returns:
        A column of n values per wanted field, in `to_arrow(type)`.

    Raises:
        CorruptFileError: a row has another number of fields, or violates the layout.
    """
    source, ranges = _row_ranges(rows, where)
    heads = source.raw(ranges.at - ARITY_BYTES, ARITY_BYTES)
    wrong = ranges.valid & (heads != _head(len(types)))
    if wrong.any():
        row = int(np.argmax(wrong))
        rule = (
            f"a row must have {len(types)} fields, not {int(heads[row].byteswap().view(np.int32))}"
        )
        raise CorruptFileError(where, f"row {row}", rule)
    return decode_fields(
        source, ranges, list(types), range(len(types)) if fields is None else fields
    )


def _head(arity: int) -> np.uint32:
    """Return the big-endian arity read as a little-endian integer, like the rest of the row."""
    return np.uint32(int.from_bytes(arity.to_bytes(ARITY_BYTES, "big"), "little"))


def _row_ranges(rows: Column, where: str) -> tuple[Source, ByteRanges]:
    """Return the bytes of rows, and the ranges of the rows without arity.

    Views usually refer to data that is followed by zeros. Null rows refer to the zeros after the
    data.
    """
    begin, size, data = nb.byte_ranges(rows)
    if not isinstance(rows, pa.ListViewArray) and len(rows):
        first, end = int(begin[0]), int(begin[-1] + size[-1])
        begin, data = begin - first, data[first:end]  # a slice does not copy its whole column
    used = int((begin + size).max()) if isinstance(rows, pa.ListViewArray) and len(rows) else None
    source = Source(data, where, used)
    valid = nb.valid_mask(rows)
    if not rows.null_count:
        source.check(size >= ARITY_BYTES, _HAS_ARITY)
        return source, ByteRanges(begin + ARITY_BYTES, size - ARITY_BYTES, valid)
    source.check(~valid | (size >= ARITY_BYTES), _HAS_ARITY)
    at = np.where(valid, begin + ARITY_BYTES, source.size + ARITY_BYTES)
    return source, ByteRanges(at, np.where(valid, size - ARITY_BYTES, 0), valid)


def _skip_unknown(source: Source, cells: CellPositions, arrow: pa.DataType) -> Column:  # noqa: ARG001 - a decoder
    """Return nulls for values of an unknown type, whose bytes have no meaning here."""
    found: Column = pa.array([None] * len(cells.at), arrow)
    return found


_DECODERS = {TypeRoot.VARIANT: _decode_variant, TypeRoot.UNKNOWN: _skip_unknown}
