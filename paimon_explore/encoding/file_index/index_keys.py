"""Keys of file indexes: integers that sort like the values, or the bytes of text.

Floating-point numbers sort as in Java: -0.0 before 0.0, all NaNs equal and last. Timestamps of more
than 6 digits are stored in microseconds, so that several values share a key (`coarse`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TypeVar

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import timestamp_unit
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.decimals import scaled, unscaled
from paimon_explore.data_types.definitions import (
    BYTES,
    FIXED_WIDTHS,
    FLOATS,
    TEXTS,
    AtomicType,
    DataType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.binary_row.primitive_encoder import decimal_halves
from paimon_explore.encoding.binary_row.row_layout import COMPACT_DECIMAL, is_timestamp
from paimon_explore.encoding.file_index.byte_reader import ByteStream
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass

_Numbers = TypeVar("_Numbers", int, Ints)

Key = int | bytes
IndexValue = bool | int | float | Decimal | str | bytes
"""A literal of a column's type: days for DATE, milliseconds of the day for TIME, and for timestamps
a number in the unit of their precision (0: s, 1-3: ms, 4-6: us, 7-9: ns)."""

MICROS = 6
"""Maximum precision of timestamps for which each value has a distinct key."""

_WIDTHS: Mapping[TypeRoot, int] = {**FIXED_WIDTHS, TypeRoot.DECIMAL: 8}
_PLAIN = set(_WIDTHS) - {TypeRoot.BOOLEAN, TypeRoot.DECIMAL}
_KINDS: Mapping[str, set[TypeRoot]] = {
    "bloom-filter": _PLAIN | TEXTS | BYTES,
    "bitmap": _PLAIN | TEXTS | {TypeRoot.BOOLEAN},
    "bsi": (_PLAIN - FLOATS) | {TypeRoot.DECIMAL},
    "range-bitmap": _PLAIN | TEXTS | {TypeRoot.BOOLEAN, TypeRoot.DECIMAL},
}


def is_indexable(kind: str, data_type: DataType) -> bool:
    """Return whether an index kind supports a column type."""
    if not isinstance(data_type, AtomicType) or data_type.root not in _KINDS.get(kind, set()):
        return False
    if data_type.root is TypeRoot.DECIMAL:
        return (data_type.precision or 0) <= COMPACT_DECIMAL
    return kind != "range-bitmap" or (data_type.precision or 0) <= MICROS


def unscaled_key(value: IndexValue, scale: int) -> int:
    """Return the unscaled value of a DECIMAL.

    Raises:
        ValueError: it has too many digits after the decimal point.
    """
    number = Decimal(str(value))
    if scaled(unscaled(number, scale), scale) != number:
        raise ValueError(f"{value!r} has too many digits after the decimal point")
    return unscaled(number, scale)


@dataclass(frozen=True, slots=True)
class KeyCodec:
    """Converts values of a column type to keys, and reads and writes keys.

    Attributes:
        data_type: the type.
        width: bytes of a stored key; 0 for text, which is stored with a 4-byte length.
        coarse: whether different values may have the same key.
    """

    data_type: AtomicType
    width: int
    coarse: bool

    @property
    def floating(self) -> bool:
        """Whether the values are floating-point numbers."""
        return self.data_type.root in FLOATS

    def of_value(self, value: IndexValue) -> Key:
        """Return the key of a literal.

        Raises:
            InvalidInputError: the literal is not a value of the column's type.
        """
        try:
            return self._of_value(value)
        except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
            message = f"{value!r} is not a valid {self.data_type.root.value}."
            raise InvalidInputError(message) from error

    def _of_value(self, value: IndexValue) -> Key:
        if self.width == 0:
            return value.encode() if isinstance(value, str) else bytes(value)  # type: ignore[arg-type]  # checked by the caller
        if self.floating:
            kind = np.float32 if self.width == 4 else np.float64  # noqa: PLR2004 - bytes of a float
            bits = np.array([kind(float(value))]).view(f"<i{self.width}").astype(np.int64)
            return int(self._sortable(bits)[0])
        if self.data_type.root is TypeRoot.DECIMAL:
            return unscaled_key(value, self.data_type.scale or 0)
        if is_timestamp(self.data_type):
            return self._timestamps(int(value))
        return int(value)

    def _timestamps(self, values: _Numbers) -> _Numbers:
        """Map times in the unit of the type to keys: milliseconds or microseconds."""
        unit = timestamp_unit(self.data_type.precision)
        return values * 1000 if unit == "s" else values // 1000 if unit == "ns" else values

    def _sortable(self, bits: Ints) -> Ints:
        """Map the bits of floats to integers that sort like the floats; its own inverse."""
        top = self.width * 8 - 1
        return bits ^ ((bits >> top) & ((1 << top) - 1))

    def ranked(self, column: Column) -> "RankedColumn":
        """Return the distinct keys of a column, and the rank of each row's key."""
        valid = nb.valid_mask(column)
        rows = np.nonzero(valid)[0]
        if self.width == 0:
            texts, codes = _ranked_texts(column)
            return RankedColumn(len(valid), texts, codes[valid], rows)
        keys, codes = np.unique(self.numbers(column)[valid], return_inverse=True)
        return RankedColumn(len(valid), keys.tolist(), codes, rows)

    def numbers(self, column: Column) -> Ints:
        """Return the key of each row of a column whose keys are numbers; any number for nulls."""
        root = self.data_type.root
        if root is TypeRoot.BOOLEAN:
            return nb.bool_values(column).astype(np.int64)
        if root is TypeRoot.DECIMAL:
            return decimal_halves(column)[:, 0].astype(np.int64)  # fits, see is_indexable
        raw = nb.fixed_values(column, f"<i{self.width}").astype(np.int64)
        if self.floating:
            values = nb.fixed_values(column, f"<f{self.width}").astype(f"<f{self.width}")
            same = np.where(np.isnan(values), values.dtype.type(math.nan), values)
            return self._sortable(same.view(f"<i{self.width}").astype(np.int64))
        if is_timestamp(self.data_type):
            return self._timestamps(raw)
        return raw

    def hash_bits(self, keys: Ints) -> Ints:
        """Return the integers that bloom filters hash: the numbers, or the bits of floats."""
        return self._sortable(keys) if self.floating else keys

    def read(self, stream: ByteStream) -> Key:
        """Read the next key."""
        if self.width == 0:
            return stream.take(stream.count())
        number = stream.number(self.width)
        return int(self._sortable(np.array([number]))[0]) if self.floating else number

    def read_many(self, stream: ByteStream, count: int) -> Sequence[Key]:
        """Read the next keys."""
        if self.width == 0:
            return [self.read(stream) for _ in range(count)]
        raw = np.frombuffer(stream.take(count * self.width), f">i{self.width}").astype(np.int64)
        keys: list[int] = (self._sortable(raw) if self.floating else raw).tolist()
        return keys

    def write(self, key: Key) -> bytes:
        """Encode a key."""
        if isinstance(key, bytes):
            return len(key).to_bytes(4, "big") + key
        number = int(self._sortable(np.array([key]))[0]) if self.floating else key
        return number.to_bytes(self.width, "big", signed=True)


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """A column as ranks of its distinct keys.

    Attributes:
        row_count: number of rows, with nulls.
        keys: the distinct keys in ascending order.
        codes: for each non-null row the position of its key.
        rows: the positions of the non-null rows, ascending.
    """

    row_count: int
    keys: Sequence[Key]
    codes: Ints
    rows: Ints

    def groups(self) -> Iterator[tuple[Key, Ints]]:
        """Yield each key with its rows, in order of keys."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.searchsorted(self.codes[order], np.arange(1, len(self.keys)))
        yield from zip(self.keys, np.split(self.rows[order], ends), strict=False)

    def null_rows(self) -> Ints:
        """Return the rows that are null."""
        nulls = np.ones(self.row_count, np.bool_)
        nulls[self.rows] = False
        return np.nonzero(nulls)[0]


def _ranked_texts(column: Column) -> tuple[list[bytes], Ints]:
    """Return the distinct texts of a column in order, and the rank of each row's text."""
    encoded = column.dictionary_encode()
    offsets, data = nb.var_values(encoded.dictionary)
    whole = data.tobytes()
    texts = [whole[start:end] for start, end in pairwise(offsets.tolist())]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.zeros(max(len(texts), 1), np.int64)
    ranks[order] = np.arange(len(texts))
    codes = np.where(nb.valid_mask(column), nb.fixed_values(encoded.indices, "<i4"), 0)
    return [texts[place] for place in order], ranks[codes]


def is_ascending(keys: Sequence[Key]) -> bool:
    """Return whether keys, all numbers or all texts, are strictly ascending."""
    return all(left < right for left, right in pairwise(keys))  # type: ignore[operator]


def key_codec(kind: str, data_type: DataType) -> KeyCodec:
    """Return the codec of the keys of an index kind and a column type.

    Raises:
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    if not is_indexable(kind, data_type) or not isinstance(data_type, AtomicType):
        raise UnsupportedFeatureError(f"a {kind} index on a column of type {type_text(data_type)}")
    coarse = is_timestamp(data_type) and (data_type.precision or 0) > MICROS
    return KeyCodec(data_type, _WIDTHS.get(data_type.root, 0), coarse)
