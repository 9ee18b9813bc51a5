"""Conversion of row group statistics to Arrow.

Only for columns with the same type in the file and in the table. Uses the raw values, as Arrow's
conversion to Python values imports pandas for timestamps.

Spec: Parquet format, `Statistics`.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_bytes,
    build_bool,
    build_fixed,
    build_values,
)
from paimon_explore.encoding.data_file_reader import SpanBounds
from paimon_explore.encoding.parquet.arrow_reader import ColumnChunkMetaData, FileMetaData
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    Wire,
    decode_struct_at,
    encode_struct,
    int_of,
    struct_of,
)

_BITS_PER_BYTE = 8
_DECIMAL_BYTES = 16

Raw = bool | int | float | bytes | None

PHYSICAL_TYPES = (
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"
)  # fmt: skip
"""Names by number."""
_BOOLEAN, _TEXT, _FIXED = 0, 6, 7
_NUM_VALUES, _DATA_OFFSET, _STATISTICS = 5, 9, 12  # ColumnMetaData
_NULL_COUNT, _MAX_VALUE, _MIN_VALUE = 3, 5, 6  # Statistics
_NUMBERS = {1: "<i4", 2: "<i8", 4: "<f4", 5: "<f8"}


def row_group_bounds(
    metadata: FileMetaData, footer: bytes, leaf: int, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per row group.

    The statistics are decoded from the footer: if Arrow is asked for those that have another width
    than the values of the column, it ends the process.

    Args:
        metadata: the metadata of the file; see `check_chunks`.
        footer: its encoded form.
        leaf: index of the column among the leaves.
        data_type: the column's Arrow type, the same in the file and in the table.

    Returns:
        None if the statistics of the type are not usable.
    """
    column = metadata.schema.column(leaf)
    found: list[Struct] = []
    at = 0
    for group in range(metadata.num_row_groups):
        statistics, at = _statistics(metadata.row_group(group).column(leaf), footer, at)
        found.append(statistics)
    lows, highs = (
        [one.get(field, (None, None))[1] for one in found] for field in (_MIN_VALUE, _MAX_VALUE)
    )
    nulls = [int_of(one, _NULL_COUNT) for one in found]
    physical = PHYSICAL_TYPES.index(column.physical_type)
    return stored_bounds(lows, highs, nulls, (physical, column.length), data_type)


def _statistics(chunk: ColumnChunkMetaData, footer: bytes, start: int) -> tuple[Struct, int]:
    """Return the statistics of a column chunk, empty if there are none, and their position.

    Its place in the footer is not known, but its sizes and offset, which are consecutive fields,
    and that it is behind the chunks of earlier row groups.
    """
    sizes = (chunk.num_values, chunk.total_uncompressed_size, chunk.total_compressed_size)
    fields: Struct = {at: (Wire.I64, size) for at, size in enumerate(sizes, _NUM_VALUES)}
    fields[_DATA_OFFSET] = (Wire.I64, chunk.data_page_offset)
    pattern = encode_struct({at - _NUM_VALUES + 1: value for at, value in fields.items()})[:-1]
    at = footer.find(pattern, start)
    if at < 0:
        return {}, start
    try:
        rest = decode_struct_at(footer, at + len(pattern))[0]
        return struct_of(rest.get(_STATISTICS - _DATA_OFFSET, (Wire.STRUCT, {}))[1]), at
    except ThriftError:
        return {}, at


def bounds_column(values: Sequence[Raw], data_type: pa.DataType) -> Column:
    """Convert raw values to an array of the column's type.

    Raises:
        pa.ArrowException: a text is not UTF-8.
        TypeError: a value has another type.
        OverflowError: a value does not fit.
    """
    valid = np.array([value is not None for value in values], np.bool_)
    if pa.types.is_boolean(data_type):
        return build_bool(np.array([value is True for value in values], np.bool_), valid)
    if isinstance(data_type, pa.Decimal128Type):
        data = b"".join(
            _unscaled(v).to_bytes(_DECIMAL_BYTES, "little", signed=True) for v in values
        )
        return build_fixed(data_type, as_bytes(data), valid)
    if pa.types.is_string(data_type) or pa.types.is_binary(data_type):
        parts = [_bytes(value) for value in values]
        return build_values(parts, pa.binary(), valid).cast(data_type)
    if not pa.types.is_primitive(data_type):
        raise TypeError(data_type)
    kind = "f" if pa.types.is_floating(data_type) else "i"
    numbers = [0 if value is None else _number(value) for value in values]
    items = np.array(numbers, f"{kind}{data_type.bit_width // _BITS_PER_BYTE}")
    return build_fixed(data_type, items, valid)


def _bytes(value: Raw) -> bytes:
    if value is None or isinstance(value, bytes):
        return value or b""
    raise TypeError(value)


def _number(value: Raw) -> float:
    if isinstance(value, int | float):
        return value
    raise TypeError(value)


def _unscaled(value: Raw) -> int:
    if value is None:
        return 0
    return int.from_bytes(value, signed=True) if isinstance(value, bytes) else int(value)


def stored_bounds(
    lows: list[object],
    highs: list[object],
    nulls: Sequence[int | None],
    stored: tuple[int, int | None],
    data_type: pa.DataType,
) -> SpanBounds | None:
    """Convert encoded bounds and null counts to those of a column.

    Args:
        lows: the encoded minimums; None where there is none.
        highs: the encoded maximums, likewise.
        nulls: the numbers of nulls; None where it is unknown.
        stored: the physical type and, if it is of fixed length, the bytes per value.
        data_type: the column's Arrow type, the same in the file and in the table.

    Returns:
        None if a bound is malformed, or the type has no usable order.
    """
    try:
        return SpanBounds(
            minimum=bounds_column(_raw(lows, *stored), data_type),
            maximum=bounds_column(_raw(highs, *stored), data_type),
            null_count=bounds_column(nulls, pa.int64()),
        )
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None


def _raw(texts: list[object], physical: int, width: int | None) -> list[Raw]:
    """Decode the bounds of the pages; None for pages without.

    Raises:
        TypeError: a value is not bytes, has another width, or the type has no usable order.
    """
    if any(not isinstance(text, bytes | None) for text in texts):
        raise TypeError(physical)
    parts = [text for text in texts if isinstance(text, bytes)]
    if physical in _NUMBERS:
        item = np.dtype(_NUMBERS[physical])
        if any(len(part) != item.itemsize for part in parts):
            raise TypeError(physical)
        numbers = iter(np.frombuffer(b"".join(parts), item).tolist())
        return [None if text is None else next(numbers) for text in texts]
    if physical == _BOOLEAN:
        return [None if text is None else text != b"\0" for text in texts]
    if physical == _FIXED and any(len(part) != width for part in parts):
        raise TypeError(physical)
    if physical not in (_TEXT, _FIXED):
        raise TypeError(physical)
    return [text if isinstance(text, bytes) else None for text in texts]
