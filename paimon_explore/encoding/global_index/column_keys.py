"""The keys of many rows as arrays: to sort by, and as index files store them.

Sort keys are int64, or binary for texts and for decimals of more than 18 digits; they are in the
order of the keys of `GlobalIndexKeys`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Bytes,
    Column,
    Ints,
    as_bytes,
    bool_values,
    build_binary,
    build_fixed,
    build_values,
    concat_arrays,
    decimal_low_bits,
    filter_rows,
    fixed_values,
    int64_values,
    offsets_from_sizes,
    take_rows,
    true_mask,
    valid_mask,
)
from paimon_explore.data_types.definitions import TIMESTAMPS, TypeRoot
from paimon_explore.encoding.global_index.index_keys import NANOS_PER_MILLI, GlobalIndexKeys
from paimon_explore.encoding.varint import varint_sizes, write_varints
from paimon_explore.frozen_dataclass import dataclass

_SIGN = 0x80
_WIDE_BYTES = 16


@dataclass(frozen=True, slots=True)
class SortKeys:
    """Rows that are not null.

    Attributes:
        keys: n sort keys.
        row_ids: of the rows.
    """

    keys: Column
    row_ids: Ints

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.row_ids)

    def slice(self, start: int, end: int) -> "SortKeys":
        """The rows from `start` to before `end`, or to the last one."""
        return SortKeys(self.keys.slice(start, end - start), self.row_ids[start:end])

    def sorted(self) -> "SortKeys":
        """The rows by key; those of equal keys keep their order."""
        if self.keys.type == pa.int64():
            order = np.argsort(int64_values(self.keys), kind="stable")
        else:
            order = int64_values(pc.call_function("sort_indices", [self.keys]).view(pa.int64()))
        return SortKeys(take_rows(self.keys, order), self.row_ids[order])

    @staticmethod
    def concat(parts: "list[SortKeys]") -> "SortKeys":
        """The rows of at least one part."""
        keys = concat_arrays([part.keys for part in parts])
        return SortKeys(keys, np.concatenate([part.row_ids for part in parts]))


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """Rows by key.

    Attributes:
        keys: k keys as they are stored, different and ascending.
        starts: where the rows of each key start, and the number of rows: k + 1 positions.
        row_ids: of the rows; ascending for each key.
    """

    keys: pa.BinaryArray
    starts: Ints
    row_ids: Ints

    def groups(self) -> Iterator[tuple[bytes, Ints]]:
        """Yield each stored key with its row ids."""
        for key, (start, end) in zip(self.keys, pairwise(self.starts.tolist()), strict=True):
            yield key.as_py(), self.row_ids[start:end]


def indexed_rows(
    column: "pa.ChunkedArray[Any]", keys: GlobalIndexKeys
) -> tuple[IndexedRows, BitMap64]:
    """Sort the rows of a column, numbered from 0 on, by key; also return the rows with a null."""
    found, nulls = sort_keys(concat_arrays(column.chunks), np.arange(len(column)), keys)
    return grouped(found.sorted(), keys), nulls


def grouped(rows: SortKeys, keys: GlobalIndexKeys) -> IndexedRows:
    """Group rows that are sorted by key."""
    starts = np.flatnonzero(np.concatenate((np.ones(min(len(rows), 1), np.bool_), _differ(rows))))
    stored = _stored(take_rows(rows.keys, starts), keys)
    return IndexedRows(stored, np.append(starts, len(rows)), rows.row_ids)


def _differ(rows: SortKeys) -> Bools:
    """Per row but the first, whether its key is not that of the row before it."""
    if rows.keys.type == pa.int64():
        words = int64_values(rows.keys)
        found: Bools = words[1:] != words[:-1]
        return found
    return true_mask(
        pc.call_function(
            "not_equal", [rows.keys.slice(1), rows.keys.slice(0, max(len(rows) - 1, 0))]
        )
    )


def sort_keys(column: Column, row_ids: Ints, keys: GlobalIndexKeys) -> tuple[SortKeys, BitMap64]:
    """Return the keys of the rows that are not null, and the row ids of the others."""
    nulls = BitMap64()
    if column.null_count:
        valid = valid_mask(column)
        nulls = BitMap64(row_ids[~valid].astype(np.uint64))
        column, row_ids = filter_rows(column, valid), row_ids[valid]
    if keys.is_text:
        return SortKeys(column.cast(pa.binary()), row_ids), nulls
    if keys.is_wide_decimal:
        found: Column = build_binary(*_wide_decimals(column))
        return SortKeys(found, row_ids), nulls
    return SortKeys(build_fixed(pa.int64(), _words(column, keys)), row_ids), nulls


def _wide_decimals(column: Column) -> tuple[Ints, Bytes]:
    """Unscaled values as bytes that sort like them."""
    begin = _WIDE_BYTES * column.offset
    raw = as_bytes(column.buffers()[1])[begin : begin + _WIDE_BYTES * len(column)]
    data = raw.reshape(-1, _WIDE_BYTES)[:, ::-1].copy()
    data[:, 0] ^= _SIGN
    return np.arange(len(column) + 1) * _WIDE_BYTES, data.reshape(-1)


def _words(column: Column, keys: GlobalIndexKeys) -> Ints:
    if keys.float_bytes:
        values = fixed_values(column, f"<f{keys.float_bytes}")
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
        return _flipped(values.view(f"<i{keys.float_bytes}"), keys)
    match keys.data_type.root:
        case TypeRoot.BOOLEAN:
            return bool_values(column).astype(np.int64)
        case TypeRoot.DECIMAL:
            return decimal_low_bits(column)
        case _:
            return int64_values(column)


def _flipped(bits: Ints, keys: GlobalIndexKeys) -> Ints:
    """Bits of floating-point numbers as integers that sort like the numbers, or the reverse."""
    return np.where(bits >= 0, bits, bits ^ ((1 << (8 * keys.float_bytes - 1)) - 1)).astype(
        np.int64
    )


def _stored(found: Column, keys: GlobalIndexKeys) -> pa.BinaryArray:
    """Sort keys as index files store them."""
    if keys.is_text:
        return found  # type: ignore[return-value]  # a binary array
    if keys.is_wide_decimal:
        least = -(1 << (8 * _WIDE_BYTES - 1))
        numbers = (int.from_bytes(key.as_py(), "big") + least for key in found)
        data = [keys.encode(number) for number in numbers]
        return build_values(data, pa.binary())  # type: ignore[return-value]  # in stubs
    words = int64_values(found)
    if keys.data_type.root in TIMESTAMPS:
        return _timestamps(words, keys)
    if keys.float_bytes:
        words = _flipped(words, keys)
    data_of = as_bytes(words.astype(f"<i{keys.width}").tobytes())
    return build_binary(np.arange(len(words) + 1) * keys.width, data_of)


def _timestamps(words: Ints, keys: GlobalIndexKeys) -> pa.BinaryArray:
    """Milliseconds, and the nanoseconds of the millisecond if there are more than 3 digits."""
    nanos = keys.unit_nanos
    if keys.is_milliseconds:
        millis = words * (nanos // NANOS_PER_MILLI)
        return build_binary(np.arange(len(words) + 1) * 8, as_bytes(millis.tobytes()))
    millis, rest = np.divmod(words, NANOS_PER_MILLI // nanos)
    rest *= nanos
    ends = offsets_from_sizes(varint_sizes(rest) + 8)
    data = np.zeros(int(ends[-1]), np.uint8)
    write_varints(data, ends[:-1] + 8, rest)
    for byte in range(8):
        data[ends[:-1] + byte] = millis >> (8 * byte)
    return build_binary(ends, data)
