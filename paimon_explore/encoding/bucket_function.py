"""Bucket functions of fixed-bucket tables: default, mod and hive.

Spec: concepts/spec/datafile, bucket section. Seen in: golden java200/bucket_mod and bucket_hive.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError

BucketFunction = Literal["default", "mod", "hive"]
"""Values of the table option `bucket-function.type`."""

_CHUNK_ROWS = 16_384
"""Number of rows that are encoded and hashed at a time, so that they stay in the CPU caches."""
_HIVE_SIGN_MASK = 0x7FFFFFFF
_MOD_TYPES = {TypeRoot.INT: "<i4", TypeRoot.BIGINT: "<i8"}
Hashes = npt.NDArray[np.int32]
_UInt32s = npt.NDArray[np.uint32]
_SEED = 42
_C1 = np.uint32(0xCC9E2D51)
_C2 = np.uint32(0x1B873593)
_BLOCK = 4


def key_hashes(columns: Sequence[Column], types: Sequence[DataType]) -> npt.NDArray[np.int32]:
    """Hash keys as the default bucket function and hash indexes do.

    Args:
        columns: the k key columns of n values, in key order.
        types: their types.

    Returns:
        n signed hashes.
    """
    count = len(columns[0]) if columns else 0
    if count <= _CHUNK_ROWS:
        return hash_rows(encode_rows(columns, types))
    parts = [
        hash_rows(encode_rows([column.slice(first, _CHUNK_ROWS) for column in columns], types))
        for first in range(0, count, _CHUNK_ROWS)
    ]
    return np.concatenate(parts)


def bucket_of(
    columns: Sequence[Column],
    types: Sequence[DataType],
    bucket_count: int,
    function: BucketFunction = "default",
) -> npt.NDArray[np.int32]:
    """Return the bucket of each row of a fixed-bucket table.

    Args:
        columns: the k bucket-key columns of n values, in bucket-key order.
        types: their types.
        bucket_count: the table's `bucket` option, at least 1.
        function: the table's `bucket-function.type` option.

    Returns:
        n bucket ids in [0, bucket_count).

    Raises:
        InvalidInputError: the count is below 1, or the function does not support the key.
        UnsupportedFeatureError: the function does not support the type of a column.

    >>> import pyarrow as pa
    >>> bucket_of([pa.array([7], pa.int32())], [AtomicType(root=TypeRoot.INT)], 1).tolist()
    [0]
    """
    if bucket_count < 1:
        raise InvalidInputError(f"The number of buckets must be at least 1, not {bucket_count}.")
    match function:
        case "default" if bucket_count == 1:
            return np.zeros(len(columns[0]) if columns else 0, np.int32)
        case "default":
            hashes = key_hashes(columns, types).astype(np.int64)
            return np.fmod(np.abs(hashes), bucket_count).astype(np.int32)
        case "mod":
            return np.mod(_mod_values(columns, types), bucket_count).astype(np.int32)
        case "hive":
            hashes = _hive_hashes(columns, types) & _HIVE_SIGN_MASK
            return (hashes % bucket_count).astype(np.int32)


def _mod_values(columns: Sequence[Column], types: Sequence[DataType]) -> Ints:
    data_type = types[0] if len(types) == 1 else None
    kind = _MOD_TYPES.get(data_type.root) if isinstance(data_type, AtomicType) else None
    if kind is None:
        found = ", ".join(map(type_text, types))
        raise InvalidInputError(
            "The bucket function 'mod' needs a bucket key of one INT or BIGINT column, not of "
            f"columns of type {found}."
        )
    values = nb.fixed_values(columns[0], kind).astype(np.int64)
    return np.where(nb.valid_mask(columns[0]), values, 0)


def _hive_hashes(columns: Sequence[Column], types: Sequence[DataType]) -> Ints:
    hashes = np.zeros(len(columns[0]), np.int64)
    for column, data_type in zip(columns, types, strict=True):
        hashing = _HIVE.get(data_type.root) if isinstance(data_type, AtomicType) else None
        if hashing is None:
            raise UnsupportedFeatureError(
                f"a bucket key of type {type_text(data_type)} with the bucket function 'hive'"
            )
        values = np.where(nb.valid_mask(column), hashing(column), 0)
        hashes = _wrap_int(hashes * 31 + values)
    return hashes


def _wrap_int(values: Ints) -> Ints:
    """Wrap numbers to Java's int: signed 32 bits."""
    return values.astype(np.int32).astype(np.int64)


def _long_hash(values: Ints) -> Ints:
    """Return Java's `Long.hashCode`."""
    return _wrap_int(values ^ ((values >> 32) & 0xFFFFFFFF))


def _hive_bool(column: Column) -> Ints:
    return nb.bool_values(column).astype(np.int64)


def _hive_float(column: Column) -> Ints:
    values = nb.fixed_values(column, "<f4").astype(np.float32)
    values = np.where(np.isnan(values), np.float32(np.nan), values)
    return np.where(values == 0, 0, values.view(np.int32).astype(np.int64))


def _hive_double(column: Column) -> Ints:
    values = nb.fixed_values(column, "<f8").astype(np.float64)
    values = np.where(np.isnan(values), np.nan, values)
    return _long_hash(np.where(values == 0, 0, values.view(np.int64)))


def _hive_bytes(column: Column) -> Ints:
    """Compute 31 * hash + byte over the signed bytes, the k-th bytes of all rows at a time."""
    offsets, data = nb.var_values(column)
    sizes = np.where(nb.valid_mask(column), np.diff(offsets), 0)
    hashes = np.zeros(len(column), np.int64)
    order = np.argsort(sizes)
    firsts = np.searchsorted(sizes[order], np.arange(sizes.max(initial=0)), side="right")
    for step, first in enumerate(firsts.tolist()):
        rows = order[first:]  # longer than `step`
        byte = data[offsets[:-1][rows] + step].view(np.int8).astype(np.int64)
        hashes[rows] = _wrap_int(hashes[rows] * 31 + byte)
    return hashes


def _hive_decimal(column: Column) -> Ints:
    """Return Java's `BigDecimal.hashCode` without trailing zeros, row by row (128-bit numbers)."""
    values = [
        _decimal_hash(value) if isinstance(value, Decimal) else 0 for value in nb.as_python(column)
    ]
    return np.array(values, np.int64)


def _decimal_hash(value: Decimal) -> int:
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    scale = -int(exponent)
    while scale > 0 and unscaled % 10 == 0:
        unscaled //= 10
        scale -= 1
    magnitude = 0
    for shift in range((unscaled.bit_length() + 31) // 32 * 32 - 32, -1, -32):
        magnitude = (31 * magnitude + ((unscaled >> shift) & 0xFFFFFFFF)) & 0xFFFFFFFF
    return 31 * (-magnitude if sign else magnitude) + scale


_HIVE: dict[TypeRoot, Callable[[Column], Ints]] = {
    TypeRoot.BOOLEAN: _hive_bool,
    TypeRoot.TINYINT: lambda column: nb.fixed_values(column, "<i1").astype(np.int64),
    TypeRoot.SMALLINT: lambda column: nb.fixed_values(column, "<i2").astype(np.int64),
    TypeRoot.INT: lambda column: nb.fixed_values(column, "<i4").astype(np.int64),
    TypeRoot.DATE: lambda column: nb.fixed_values(column, "<i4").astype(np.int64),
    TypeRoot.TIME: lambda column: nb.fixed_values(column, "<i4").astype(np.int64),
    TypeRoot.BIGINT: lambda column: _long_hash(nb.fixed_values(column, "<i8").astype(np.int64)),
    TypeRoot.FLOAT: _hive_float,
    TypeRoot.DOUBLE: _hive_double,
    TypeRoot.DECIMAL: _hive_decimal,
    TypeRoot.CHAR: _hive_bytes,
    TypeRoot.VARCHAR: _hive_bytes,
    TypeRoot.BINARY: _hive_bytes,
    TypeRoot.VARBINARY: _hive_bytes,
}


# Spec: concepts/spec/datafile, bucket section. Check values come from Java 0.9.0 and 2.0.0.
def hash_rows(rows: pa.BinaryArray, seeds: _UInt32s | None = None) -> Hashes:
    """Hash rows or other byte strings; null is hashed as an empty string.

    Trailing bytes after the last multiple of 4 are mixed in one by one, as signed numbers.

    Args:
        rows: n byte strings; rows are without arity.
        seeds: with which the hashes begin; by default that of buckets.

    Returns:
        n signed hashes.

    >>> hash_rows(pa.array([b"paimon"])).tolist()
    [-1594584418]
    """
    offsets, data = nb.var_values(rows)
    sizes = np.where(nb.valid_mask(rows), np.diff(offsets), 0)
    state = np.full(len(rows), _SEED, np.uint32) if seeds is None else seeds
    if len(sizes) and (sizes == sizes[0]).all():
        return _hash_equal_sizes(data, offsets[:-1], int(sizes[0]), state)
    hashes = np.empty(len(rows), np.int32)
    for size in np.unique(sizes).tolist():
        group = np.nonzero(sizes == size)[0]
        hashes[group] = _hash_equal_sizes(data, offsets[:-1][group], size, state[group])
    return hashes


def _hash_equal_sizes(data: nb.Bytes, starts: nb.Ints, size: int, state: _UInt32s) -> Hashes:
    whole = size - size % _BLOCK
    if whole:
        blocks = np.ndarray((len(data) - _BLOCK + 1,), "<u4", buffer=data, strides=(1,))
        for step in range(0, whole, _BLOCK):
            state = _mix(state, blocks[starts + step])
    for step in range(whole, size):
        state = _mix(state, data[starts + step].view(np.int8).astype(np.int32).view(np.uint32))
    return _finalize(state, size).view(np.int32)


def _mix(state: _UInt32s, block: _UInt32s) -> _UInt32s:
    block = _rotate_left(block * _C1, 15) * _C2
    return _rotate_left(state ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _rotate_left(values: _UInt32s, count: int) -> _UInt32s:
    return (values << np.uint32(count)) | (values >> np.uint32(32 - count))


def _finalize(state: _UInt32s, size: int) -> _UInt32s:
    state = state ^ np.uint32(size)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return state ^ (state >> np.uint32(16))
