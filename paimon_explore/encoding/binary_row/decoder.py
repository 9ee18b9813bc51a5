"""Cells of binary rows and arrays back into columns, level by level.

Every cell is known by the byte at which its fixed part starts, and by the region (start and end of
the row or array image around it) that offsets count from and must stay within. A null cell is
pointed at zeros behind the data, so that all cells of a column are read alike.

The data is untrusted: every range is checked against its region, and the items of one column may
not add up to more than the data itself, so that overlapping items cannot blow up the result.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import timestamp_unit, to_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Column, Ints, Numbers, Words
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
from paimon_explore.encoding.binary_row.nested_encoder import COUNT_TYPE, row_header
from paimon_explore.encoding.binary_row.primitive_encoder import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    DECIMAL_ITEM,
    INLINE,
    UNITS_PER_MILLI,
    fixed_width,
    is_text,
    is_timestamp,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

_MAX_ELEMENTS = 2**31 - 1
_SPARE = 2 * DECIMAL_ITEM
_MILLIS = {"s": 1000, "ms": 1}
_NANOS_PER_MILLI = 1_000_000
_FIXED_PART = "a row is at least as long as its fixed part"
_COUNT = 4  # bytes of the count or size that starts an array, map, vector or variant


class Source:
    """Bytes with zeros behind them, and the name they have in errors.

    Args:
        data: the bytes.
        where: their name.
        used: how many of them are made use of; None for all. If zeros follow these, as many as are
            needed, the bytes are not copied.
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
        """The `width` bytes at each position as an unsigned number."""
        return nb.unaligned(self.data, f"<u{width}")[positions]

    def words(self, positions: Ints) -> Words:
        """The word at each position."""
        return nb.unaligned_words(self.data)[positions]

    def read(self, positions: Ints, dtype: npt.DTypeLike) -> Ints:
        """The integer at each position."""
        return nb.unaligned(self.data, dtype)[positions].astype(np.int64)

    def demand(self, good: Bools, rule: str) -> None:
        """Raise unless the rule holds for every value.

        Raises:
            CorruptFileError: it does not; the message names the first value that breaks it.
        """
        if not good.all():
            raise CorruptFileError(self.where, f"value {int(np.argmin(good))}", rule)


@dataclass(frozen=True, slots=True)
class Spots:
    """n cells: where their fixed parts start, which are not null, and the region of each."""

    at: Ints
    valid: Bools
    start: Ints
    end: Ints


@dataclass(frozen=True, slots=True)
class Items:
    """n ranges of bytes; empty for null cells."""

    at: Ints
    size: Ints
    valid: Bools

    @property
    def end(self) -> Ints:
        """Where each range ends."""
        return self.at + self.size


def decode_cells(source: Source, spots: Spots, data_type: DataType) -> Column:
    """The values of cells of one type, as the Arrow type of `data_types.arrow`.

    Raises:
        CorruptFileError: a range leaves its region, or a value is not one of its type.
    """
    match data_type:
        case AtomicType():
            return _decode_atomic(source, spots, data_type)
        case RowType():
            return _decode_row(source, spots, data_type)
        case ArrayType():
            return _decode_array(source, spots, data_type)
        case VectorType():
            return _decode_vector(source, spots, data_type)
        case MapType(key=key, value=value):
            return _decode_map(source, spots, data_type, (key, value))
        case MultisetType(element=element):
            return _decode_map(source, spots, data_type, (element, COUNT_TYPE))


def decode_fields(
    source: Source, rows: Items, types: list[DataType], wanted: Iterable[int]
) -> list[Column]:
    """The columns of row images.

    Args:
        source: the bytes.
        rows: n images, without arity.
        types: of the k fields.
        wanted: positions of the fields to decode.

    Returns:
        A column of n values per wanted field; a null row is null in all of them.
    """
    header = row_header(len(types))
    whole = bool(rows.valid.all())
    fits = rows.size >= header + nb.WORD * len(types)
    source.demand(fits if whole else ~rows.valid | fits, _FIXED_PART)
    begin = rows.at if whole else np.where(rows.valid, rows.at, source.size)
    end = rows.end
    columns = []
    for index in wanted:
        bit = 8 + index
        flags = source.data[begin + (bit >> 3)]
        valid = (flags & (1 << (bit & 7))) == 0
        if not whole:
            valid &= rows.valid
        at = rows.at + (header + nb.WORD * index)
        if not valid.all():
            at = np.where(valid, at, source.size)
        columns.append(decode_cells(source, Spots(at, valid, rows.at, end), types[index]))
    return columns


def _decode_atomic(source: Source, spots: Spots, data_type: AtomicType) -> Column:
    arrow = to_arrow(data_type)
    if is_text(data_type):
        return _decode_text(source, spots, arrow)
    if data_type.root is TypeRoot.DECIMAL:
        return _decode_decimal(source, spots, data_type, arrow)
    if is_timestamp(data_type):
        return _decode_timestamp(source, spots, data_type)
    if data_type.root is TypeRoot.VARIANT:
        return _decode_variant(source, spots, arrow)
    if data_type.root is TypeRoot.BOOLEAN:
        return nb.build_bool(source.read(spots.at, np.uint8) != 0, spots.valid)
    width = fixed_width(data_type)
    return validated(source, nb.build_fixed(arrow, source.raw(spots.at, width), spots.valid))


def _decode_text(source: Source, spots: Spots, arrow: pa.DataType) -> Column:
    slots = source.words(spots.at)
    inline = (slots >> np.uint64(63)) == 1
    short = ((slots >> np.uint64(56)) & np.uint64(0x7F)).astype(np.int64)
    source.demand(~inline | (short <= INLINE), f"text in a slot has at most {INLINE} bytes")
    size = np.where(inline, short, (slots & np.uint64(0xFFFFFFFF)).astype(np.int64))
    at = np.where(inline, spots.at, spots.start + (slots >> np.uint64(32)).astype(np.int64))
    items = _checked(source, Items(at, size, spots.valid), spots)
    offsets, data = nb.gather(source.data, items.at, items.size)
    return validated(source, nb.build_var(arrow, offsets, data, spots.valid))


def _checked(source: Source, items: Items, spots: Spots) -> Items:
    """The items with those of nulls emptied, after checking that they lie in their regions."""
    inside = (items.at >= spots.start) & (items.end <= spots.end)
    if not spots.valid.all():
        inside |= ~spots.valid
        size = np.where(spots.valid, items.size, 0)
        items = Items(np.where(spots.valid, items.at, source.size), size, spots.valid)
    source.demand(inside, "a value lies within its row or array")
    if int(items.size.sum()) > source.size:
        raise CorruptFileError(source.where, "variable part", "values do not overlap")
    return items


def _items(source: Source, spots: Spots) -> Items:
    """The ranges that slots of offset and size point at."""
    slots = source.read(spots.at, "<i8")
    items = Items(spots.start + (slots >> 32), slots & 0xFFFFFFFF, spots.valid)
    return _checked(source, items, spots)


def validated(source: Source, array: Column) -> Column:
    """The array, after checking what Arrow demands of its values: UTF-8, digits, times."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(source.where, str(array.type), str(error)) from error
    return array


def _decode_decimal(
    source: Source, spots: Spots, data_type: AtomicType, arrow: pa.DataType
) -> Column:
    if (data_type.precision or 0) <= COMPACT_DECIMAL:
        low = source.read(spots.at, "<i8")
        halves = np.stack([low, low >> 63], axis=1)
        return validated(source, nb.build_fixed(arrow, halves, spots.valid))
    return decimals(source, _items(source, spots), arrow)


def decimals(source: Source, items: "Items", arrow: pa.DataType) -> Column:
    """Decimals out of their bytes: big endian with a sign, 1 to 16 of them."""
    good = (items.size >= 1) & (items.size <= DECIMAL_ITEM)
    source.demand(~items.valid | good, f"a decimal has 1 to {DECIMAL_ITEM} bytes")
    shift = np.arange(DECIMAL_ITEM) - (DECIMAL_ITEM - items.size)[:, None]
    image = source.data[items.at[:, None] + np.maximum(shift, 0)]
    sign = (image[:, :1] >> 7) * np.uint8(0xFF)
    image = np.where(shift >= 0, image, sign)
    little = np.ascontiguousarray(image[:, ::-1])
    return validated(source, nb.build_fixed(arrow, little, items.valid))


def _decode_timestamp(source: Source, spots: Spots, data_type: AtomicType) -> Column:
    if (data_type.precision or 0) <= COMPACT_TIMESTAMP:
        millis = source.read(spots.at, "<i8")
        return timestamps(source, millis, np.zeros_like(millis), spots.valid, data_type)
    slots = source.read(spots.at, "<i8")
    items = Items(spots.start + (slots >> 32), np.full(len(slots), nb.WORD), spots.valid)
    items = _checked(source, items, spots)
    millis = source.read(items.at, "<i8")
    return timestamps(source, millis, slots & 0xFFFFFFFF, spots.valid, data_type)


def timestamps(
    source: Source, millis: Ints, nanos: Ints, valid: Bools, data_type: AtomicType
) -> Column:
    """Timestamps out of epoch milliseconds and nanoseconds of the millisecond; 0 where null."""
    unit = timestamp_unit(data_type.precision)
    source.demand(nanos < _NANOS_PER_MILLI, "nanoseconds of a millisecond are below 1000000")
    if unit in _MILLIS:
        values = millis // _MILLIS[unit]
    else:
        per_milli = UNITS_PER_MILLI[unit]
        limit = 2**63 // per_milli - 1
        inside = (millis >= -limit) & (millis < limit)
        source.demand(inside, f"a timestamp fits 64 bits of {unit}")
        values = millis * per_milli + nanos // (_NANOS_PER_MILLI // per_milli)
    return nb.build_fixed(to_arrow(data_type), values, valid)


def _decode_variant(source: Source, spots: Spots, arrow: pa.DataType) -> Column:
    items = _items(source, spots)
    source.demand(
        ~spots.valid | (items.size >= _COUNT), "a variant starts with the size of its value"
    )
    size = source.read(items.at, "<i4")
    good = (size >= 0) & (size <= items.size - _COUNT)
    source.demand(~spots.valid | good, "a variant's value lies within the variant")
    size = np.where(spots.valid, size, 0)
    everything = np.ones(len(size), np.bool_)
    parts = []
    rest = np.where(spots.valid, items.size - _COUNT - size, 0)
    for at, part in ((items.at + _COUNT, size), (items.at + _COUNT + size, rest)):
        offsets, data = nb.gather(source.data, at, part)
        parts.append(nb.build_var(pa.binary(), offsets, data, everything))
    return nb.build_struct(arrow, parts, spots.valid)


def _decode_row(source: Source, spots: Spots, data_type: RowType) -> Column:
    types = [field.type for field in data_type.fields]
    children = decode_fields(source, _items(source, spots), types, range(len(types)))
    return nb.build_struct(to_arrow(data_type), children, spots.valid)


def _elements(source: Source, arrays: Items, data_type: DataType) -> tuple[Ints, Spots]:
    """The cells of array images, and their offsets by array."""
    source.demand(~arrays.valid | (arrays.size >= _COUNT), "an array starts with its count")
    counts = source.read(np.where(arrays.valid, arrays.at, source.size), "<i4")
    width = fixed_width(data_type)
    header = _COUNT + (counts + 31) // 32 * 4
    good = (counts >= 0) & (header + counts * width <= arrays.size)
    source.demand(~arrays.valid | good, "an array's elements lie within the array")
    offsets = nb.offsets_from_sizes(counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    rank = np.arange(offsets[-1]) - offsets[:-1][owner]
    start = arrays.at[owner]
    flags = source.read(start + _COUNT + (rank >> 3), np.uint8)
    valid = (flags >> (rank & 7)) & 1 == 0
    at = np.where(valid, start + header[owner] + rank * width, source.size)
    return offsets, Spots(at, valid, start, arrays.end[owner])


def _decode_array(source: Source, spots: Spots, data_type: ArrayType) -> Column:
    offsets, cells = _elements(source, _items(source, spots), data_type.element)
    values = decode_cells(source, cells, data_type.element)
    return nb.build_list(to_arrow(data_type), offsets, [values], spots.valid)


def _decode_vector(source: Source, spots: Spots, data_type: VectorType) -> Column:
    items = _items(source, spots)
    length = data_type.length
    width = fixed_width(data_type.element)
    source.demand(
        ~items.valid | (items.size >= _COUNT + length * width), "a vector holds its elements"
    )
    counts = source.read(items.at, "<i4")
    source.demand(~items.valid | (counts == length), f"a vector has {length} elements")
    if len(counts) * length > _MAX_ELEMENTS:
        raise CorruptFileError(source.where, "vector", f"at most {_MAX_ELEMENTS} elements at once")
    at = items.at[:, None] + 4 + np.arange(length) * width
    at = np.where(items.valid[:, None], at, source.size).reshape(-1)
    owner = np.repeat(np.arange(len(counts)), length)
    everything = np.ones(len(at), np.bool_)
    cells = Spots(at, everything, items.at[owner], items.end[owner])
    values = decode_cells(source, cells, data_type.element)
    return nb.build_struct(to_arrow(data_type), [values], spots.valid)


def _decode_map(
    source: Source, spots: Spots, data_type: DataType, types: tuple[DataType, DataType]
) -> Column:
    items = _items(source, spots)
    source.demand(~items.valid | (items.size >= _COUNT), "a map starts with the size of its keys")
    size = source.read(items.at, "<i4")
    good = (size >= 0) & (size <= items.size - _COUNT)
    source.demand(~items.valid | good, "a map's keys lie within the map")
    size = np.where(items.valid, size, 0)
    rest = np.where(items.valid, items.size - _COUNT - size, 0)
    at = np.where(items.valid, items.at + _COUNT, source.size)
    offsets, keys = _elements(source, Items(at, size, items.valid), types[0])
    ends, values = _elements(source, Items(at + size, rest, items.valid), types[1])
    source.demand(np.diff(offsets) == np.diff(ends), "a map has as many keys as values")
    source.demand(keys.valid, "a map's keys are not null")
    columns = [decode_cells(source, keys, types[0]), decode_cells(source, values, types[1])]
    fields = [
        pa.field("key", columns[0].type, nullable=False),
        pa.field("value", columns[1].type, nullable=types[1].nullable),
    ]
    entries = nb.build_struct(pa.struct(fields), columns, np.ones(len(keys.at), np.bool_))
    return nb.build_list(to_arrow(data_type), offsets, [entries], spots.valid)
