"""Conversion of row group statistics to Arrow.

Only for columns with the same type in the file and in the table. Uses the raw values, as Arrow's
conversion to Python values imports pandas for timestamps.

Spec: Parquet format, `Statistics`.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_bytes,
    build_binary,
    build_bool,
    build_fixed,
    offsets_from_sizes,
)
from paimon_explore.encoding.data_file_reader import SpanBounds

_BITS_PER_BYTE = 8
_DECIMAL_BYTES = 16

Raw = bool | int | float | bytes | None


def row_group_bounds(
    metadata: pq.FileMetaData, leaf: int, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per row group.

    Args:
        metadata: the metadata of the file.
        leaf: index of the column among the leaves.
        data_type: the column's Arrow type, the same in the file and in the table.

    Returns:
        None if the statistics of the type are not usable.
    """
    lows: list[Raw] = []
    highs: list[Raw] = []
    nulls: list[int | None] = []
    for group in range(metadata.num_row_groups):
        found = metadata.row_group(group).column(leaf).statistics
        bounded = found if found is not None and found.has_min_max else None
        lows.append(None if bounded is None else bounded.min_raw)
        highs.append(None if bounded is None else bounded.max_raw)
        nulls.append(None if found is None else found.null_count)
    try:
        minimum, maximum = bounds_column(lows, data_type), bounds_column(highs, data_type)
    except (pa.ArrowException, OverflowError, TypeError):
        return None  # text truncated inside a character, or raw values of another type
    return SpanBounds(minimum=minimum, maximum=maximum, null_count=bounds_column(nulls, pa.int64()))


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
        ends = offsets_from_sizes(np.array([len(part) for part in parts], np.int64))
        return build_binary(ends, as_bytes(b"".join(parts)), valid).cast(data_type)
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
