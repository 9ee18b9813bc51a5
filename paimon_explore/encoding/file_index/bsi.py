"""Bit-sliced indexes (`bsi`): one bitmap per binary digit of the numbers of a column.

    byte 1 | int32 rows | byte has positive | [slices] | byte has negative | [slices of -number]
    slices: byte 1 | int64 min | int64 max | bitmap of rows | int32 digits | bitmap per digit

All integers are big-endian except in bitmaps; digits are those of `number - min`, lowest first.
Zero is positive.

Spec: concepts/spec/fileindex, bit-slice index. Seen in: golden java200/fi_more.

Bit slices: numbers of rows stored as one bitmap per binary digit.

Comparisons use the algorithm of O'Neil and Quass, "Improved query performance with variant
indexes": from the highest digit down, keep the rows that are equal so far; a row becomes lower or
higher at the first digit that differs.
"""

from array import array
from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column, Ints, UInt64s
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.byte_reader import ByteStream
from paimon_explore.encoding.file_index.index_condition import LookupIndex, Relation
from paimon_explore.encoding.file_index.index_keys import Key, KeyCodec, key_codec
from paimon_explore.encoding.roaring_bitmap import encode_bitmap
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass


def bitmap_of(rows: Ints) -> BitMap:
    """Build a bitmap of row positions."""
    return BitMap(array("I", rows.astype(np.uint32).tobytes()))


@dataclass(frozen=True, slots=True)
class BitSlices:
    """Non-negative numbers of rows.

    Attributes:
        rows: the rows that have a number.
        slices: for each binary digit, lowest first, the rows whose number has a 1.
    """

    rows: BitMap
    slices: Sequence[BitMap]

    def compared(self, relation: Relation, number: int) -> BitMap:
        """Return the rows whose number is =, <, <=, > or >= another number."""
        if number < 0 or number >> len(self.slices):
            wanted = {Relation.GT, Relation.GE} if number < 0 else {Relation.LT, Relation.LE}
            return self.rows.copy() if relation in wanted else BitMap()
        equal, lower = self.rows.copy(), BitMap()
        for digit in range(len(self.slices) - 1, -1, -1):
            if number >> digit & 1:
                lower |= equal - self.slices[digit]
                equal &= self.slices[digit]
            else:
                equal -= self.slices[digit]
        match relation:
            case Relation.EQ:
                return equal
            case Relation.LT:
                return lower
            case Relation.LE:
                return lower | equal
            case Relation.GT:
                return self.rows - lower - equal
            case _:
                return self.rows - lower


def slice_numbers(rows: Ints, numbers: UInt64s, digits: int) -> BitSlices:
    """Build slices of `digits` digits from the numbers of ascending rows."""
    slices = []
    for digit in range(digits):
        ones = (numbers >> np.uint64(digit)) & np.uint64(1) == 1
        slices.append(bitmap_of(rows[ones]))
    return BitSlices(bitmap_of(rows), slices)


KIND = "bsi"
_VERSION = 1
_MAX_DIGITS = 64
_EMPTY = BitSlices(BitMap(), ())
_MIRRORED = {
    Relation.LT: Relation.GT,
    Relation.LE: Relation.GE,
    Relation.GT: Relation.LT,
    Relation.GE: Relation.LE,
}


@dataclass(frozen=True, slots=True)
class BsiIndex(LookupIndex):
    """A decoded bit-sliced index.

    Attributes:
        codec: converts values to keys.
        row_count: number of rows of the data file.
        positive: the non-negative numbers, minus `positive_min`.
        negative: the absolute values of the negative numbers, minus `negative_min`.
    """

    codec: KeyCodec
    row_count: int
    positive: BitSlices
    positive_min: int
    negative: BitSlices
    negative_min: int

    def present(self) -> BitMap:
        """Return the rows that are not null."""
        return self.positive.rows | self.negative.rows

    def equal(self, key: Key) -> BitMap:
        """Return the rows with a number."""
        return self._one_sign(Relation.EQ, key)

    def compared(self, relation: Relation, key: Key) -> BitMap | None:
        """Return the rows whose numbers are below or above a number."""
        found = self._one_sign(relation, key)
        if _number(key) < 0:
            return found | self.positive.rows if relation in {Relation.GT, Relation.GE} else found
        return found | self.negative.rows if relation in {Relation.LT, Relation.LE} else found

    def _one_sign(self, relation: Relation, key: Key) -> BitMap:
        """Compare with the numbers of the same sign."""
        number = _number(key)
        if number < 0:
            mirrored = _MIRRORED.get(relation, relation)
            return self.negative.compared(mirrored, -number - self.negative_min)
        return self.positive.compared(relation, number - self.positive_min)


def _number(key: Key) -> int:
    return key if isinstance(key, int) else int.from_bytes(key, "big")


def decode_bsi(data: bytes, data_type: DataType, *, path: str) -> BsiIndex:
    """Decode the index of a column.

    Raises:
        CorruptFileError: the index is damaged.
        UnsupportedVersionError: the version of the index is unknown.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    codec = key_codec(KIND, data_type)
    stream = ByteStream(data, path)
    stream.version("bit-sliced index", [_VERSION])
    row_count = stream.count(2**31 - 1)
    positive, positive_min = _read(stream, row_count) if stream.flag() else (_EMPTY, 0)
    negative, negative_min = _read(stream, row_count) if stream.flag() else (_EMPTY, 0)
    if positive.rows & negative.rows:
        stream.fail("a row must not have both a positive and a negative value")
    return BsiIndex(codec, row_count, positive, positive_min, negative, negative_min)


def _read(stream: ByteStream, row_count: int) -> tuple[BitSlices, int]:
    stream.version("bit-sliced index", [_VERSION])
    low = stream.number(8)
    stream.number(8)  # the maximum, which the digits bound well enough
    rows = stream.bitmap(row_count)
    slices = [stream.bitmap(row_count) for _ in range(stream.count(_MAX_DIGITS))]
    if any(not found <= rows for found in slices):
        stream.fail("a bit slice contains a row without a value")
    return BitSlices(rows, slices), low


def encode_bsi(column: Column, data_type: DataType) -> bytes:
    """Encode the index of a column.

    Args:
        column: the values in the order of the rows of the data file.
        data_type: the type of the column.

    Raises:
        InvalidInputError: a value is -2^63, whose absolute value does not fit.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    ranked = key_codec(KIND, data_type).ranked(column)
    keys = np.array(ranked.keys or [0], np.int64)
    if keys[0] == np.iinfo(np.int64).min:
        raise InvalidInputError(
            "A bit-sliced index (BSI) cannot contain -9223372036854775808, the minimum of BIGINT.",
            hint="Change the value, or index the column with another type, such as 'bitmap'.",
        )
    numbers = keys[ranked.codes]
    parts = [bytes([_VERSION]), ranked.row_count.to_bytes(4, "big")]
    for selected, magnitudes in ((numbers >= 0, numbers), (numbers < 0, -numbers)):
        parts.append(_write(ranked.rows[selected], magnitudes[selected]))
    return b"".join(parts)


def _write(rows: Ints, numbers: Ints) -> bytes:
    if not len(rows):
        return b"\0"
    high = int(numbers.max())
    sliced = slice_numbers(rows, numbers.astype(np.uint64), high.bit_length())
    parts = [b"\1", bytes([_VERSION]), bytes(8), high.to_bytes(8, "big")]
    parts += [encode_bitmap(sliced.rows), len(sliced.slices).to_bytes(4, "big")]
    return b"".join([*parts, *map(encode_bitmap, sliced.slices)])
