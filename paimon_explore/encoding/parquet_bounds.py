"""Statistics of row groups as Arrow columns.

Only columns whose type in the file is the table's are told of, and only by the raw values: what
Arrow makes of them for Python would import pandas for timestamps.

Spec: Parquet format, `Statistics`.
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paimon_explore.encoding.buffers import Column
from paimon_explore.encoding.decoding import SpanBounds

Raw = bool | int | float | bytes | None


def row_group_bounds(
    metadata: pq.FileMetaData, leaf: int, data_type: pa.DataType
) -> SpanBounds | None:
    """Bounds and null counts of a column per row group.

    Args:
        metadata: of the file.
        leaf: index of the column among the leaves.
        data_type: the column's type, both in the file and for the reader.

    Returns:
        None where the type has no usable order in the statistics.
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
        minimum, maximum = _column(lows, data_type), _column(highs, data_type)
    except (pa.ArrowException, TypeError):
        return None  # text cut inside a character, or raw values of another kind
    return SpanBounds(minimum=minimum, maximum=maximum, null_count=pa.array(nulls, pa.int64()))


def _column(values: Sequence[Raw], data_type: pa.DataType) -> Column:
    """Raw values in the column's type.

    Raises:
        pa.ArrowException: they do not fit.
    """
    if isinstance(data_type, pa.Decimal128Type):
        return pa.array([_decimal(value, data_type.scale) for value in values], data_type)
    if pa.types.is_string(data_type):
        return pa.array(values, pa.binary()).cast(data_type)
    if pa.types.is_temporal(data_type):
        width = pa.int64() if data_type.bit_width == np.iinfo(np.int64).bits else pa.int32()
        return pa.array(values, width).view(data_type)
    return pa.array(values, data_type)


def _decimal(value: Raw, scale: int) -> Decimal | None:
    if value is None:
        return None
    unscaled = int.from_bytes(value, signed=True) if isinstance(value, bytes) else int(value)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((int(unscaled < 0), digits, -scale))
