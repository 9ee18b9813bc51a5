"""Bucket assignment as a Spark expression, so that rows are shuffled in the JVM without Python.

The expression builds the bytes that the format hashes from Spark functions: the bucket key's binary
row (null bits, 8 bytes per column, a variable part). Spark's `hash()` of bytes is the same 32-bit
Murmur3 with the same seed. Numbers become little-endian bytes by swapping the bytes of a 64-bit
number, which neither overflows nor fails in ANSI mode.

Key columns of other types (floating point, wide decimals, timestamps, times), and other bucket
functions than the default, have no expression; their buckets are computed in Python.
Spec: concepts/spec/datafile, bucket section.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as f

from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot

_SLOT = 8
_INLINE = 7
_INLINE_MARK = 0x80
_MOST_COLUMNS = 56
_LONG_DIGITS = 18
_KIND_BITS = 8
_BYTES = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
_SWAPS = ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF))


def bucket_expression(
    columns: Sequence[Column], types: Sequence[DataType], bucket_count: int
) -> Column | None:
    """Return an expression for the bucket of each row under the default bucket function.

    Args:
        columns: the bucket key's columns in order, with exactly the table's Spark types.
        types: their types in the table.
        bucket_count: the table's `bucket` option, at least 1.

    Returns:
        An INT in [0, bucket_count); None if a type has no expression.
    """
    if not columns or len(columns) > _MOST_COLUMNS or not all(map(_is_known, types)):
        return None
    hashed = f.hash(_row_image(columns, types)).cast("bigint")
    return (f.abs(hashed) % bucket_count).cast("int")


def _is_known(data_type: DataType) -> bool:
    if not isinstance(data_type, AtomicType):
        return False
    if data_type.root is TypeRoot.DECIMAL:
        return (data_type.precision or 0) <= _LONG_DIGITS
    return data_type.root in _BYTES or data_type.root in _NUMBERS


def _row_image(columns: Sequence[Column], types: Sequence[DataType]) -> Column:
    """The binary row: header, slots, variable part."""
    nulls = f.lit(0).cast("bigint")
    slots: list[Column] = []
    tails: list[Column] = []
    end: Column = f.lit(_SLOT * (1 + len(columns))).cast("bigint")
    for at, (column, data_type) in enumerate(zip(columns, types, strict=True)):
        bit = f.lit(1 << (_KIND_BITS + at)).cast("bigint")
        nulls = nulls.bitwiseOR(f.when(column.isNull(), bit).otherwise(f.lit(0).cast("bigint")))
        if isinstance(data_type, AtomicType) and data_type.root in _BYTES:
            slot, tail = _bytes(column.cast("binary"), end)
            slots.append(slot)
            tails.append(tail)
            end = end + f.octet_length(tail).cast("bigint")
        else:
            number = f.coalesce(_number(column, data_type), f.lit(0).cast("bigint"))
            slots.append(_little_endian(number))
    return f.concat(_little_endian(nulls), *slots, *tails)


def _bytes(column: Column, offset: Column) -> tuple[Column, Column]:
    """Return the fixed 8 bytes of a byte string and its variable part; short ones have none."""
    nothing = f.lit(b"")
    value = f.coalesce(column, nothing)
    size = f.octet_length(value).cast("bigint")
    is_short = size <= _INLINE
    mark = f.when(column.isNull(), f.lit(0)).otherwise(size.bitwiseOR(f.lit(_INLINE_MARK)))
    short = f.concat(f.rpad(value, _INLINE, f.lit(b"\0")), _last_byte(mark.cast("bigint")))
    far = _little_endian(f.shiftleft(offset, 32).bitwiseOR(size))
    padded = f.rpad(value, (size + 7 - f.pmod(size + 7, f.lit(_SLOT))).cast("int"), f.lit(b"\0"))
    return f.when(is_short, short).otherwise(far), f.when(is_short, nothing).otherwise(padded)


def _last_byte(number: Column) -> Column:
    return f.substring(_big_endian(number), _SLOT, 1)


def _big_endian(number: Column) -> Column:
    """Return the 8 bytes of a BIGINT, big-endian; ANSI mode has no cast for this."""
    return f.unhex(f.lpad(f.hex(number), 2 * _SLOT, "0"))


def _little_endian(number: Column) -> Column:
    """Return the 8 bytes of a BIGINT, little-endian."""
    swapped = number
    for shift, mask in _SWAPS:
        kept = f.lit(mask).cast("bigint")
        up = f.shiftleft(swapped.bitwiseAND(kept), shift)
        down = f.shiftrightunsigned(swapped, shift).bitwiseAND(kept)
        swapped = up.bitwiseOR(down)
    halves = f.shiftleft(swapped, 32).bitwiseOR(f.shiftrightunsigned(swapped, 32))
    return _big_endian(halves)


def _number(column: Column, data_type: DataType) -> Column:
    """Return the fixed 8 bytes of a value as a BIGINT: the value's bytes, then zeros."""
    if isinstance(data_type, AtomicType) and data_type.root is TypeRoot.DECIMAL:
        digits = data_type.scale or 0
        factor = f.lit(10**digits).cast(f"decimal({digits + 1}, 0)")
        return (column * factor).cast("bigint")
    root = data_type.root if isinstance(data_type, AtomicType) else TypeRoot.BIGINT
    return _NUMBERS[root](column)


def _masked(bits: int) -> Callable[[Column], Column]:
    mask = (1 << bits) - 1
    return lambda column: column.cast("bigint").bitwiseAND(f.lit(mask).cast("bigint"))


_NUMBERS: Mapping[TypeRoot, Callable[[Column], Column]] = {
    TypeRoot.BOOLEAN: lambda column: column.cast("bigint"),
    TypeRoot.TINYINT: _masked(8),
    TypeRoot.SMALLINT: _masked(16),
    TypeRoot.INT: _masked(32),
    TypeRoot.BIGINT: lambda column: column.cast("bigint"),
    TypeRoot.DATE: lambda column: _masked(32)(f.unix_date(column)),
}


def task_expression(bucket: Column, partition: Sequence[Column], task_count: int) -> Column:
    """Return the task that writes a row; adjacent buckets use different tasks."""
    offset = f.hash(*partition).cast("bigint") if partition else f.lit(0).cast("bigint")
    total: Column = reduce(lambda left, right: left + right, [offset, bucket.cast("bigint")])
    return f.pmod(total, f.lit(task_count)).cast("int")
