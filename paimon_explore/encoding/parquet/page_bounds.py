"""Page statistics of a column chunk, converted to Arrow.

They come from the ColumnIndex of the file or, if there is none, from the page headers.

Spec: Parquet format, `ColumnIndex` and `Statistics`.
"""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.data_file_reader import SpanBounds
from paimon_explore.encoding.parquet.row_group_statistics import stored_bounds
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    ThriftList,
    decode_struct,
    int_of,
    struct_of,
)

_NULL_PAGES, _MIN_VALUES, _MAX_VALUES, _NULL_COUNTS = 1, 2, 3, 5
_TRUE = 1
_OF_PAGE = ((5, 5), (8, 8))
"""Data page headers within a PageHeader, versions 1 and 2, and the statistics within each."""
_NULL_COUNT, _MAX_VALUE, _MIN_VALUE = 3, 5, 6  # Statistics
_LISTS = (_NULL_PAGES, _MIN_VALUES, _MAX_VALUES)


def indexed_bounds(
    index: bytes, physical: int, width: int | None, rows: Ints, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per page, from the ColumnIndex.

    Args:
        index: the bytes of the ColumnIndex.
        physical: number of the column's physical type.
        width: bytes per value of a fixed-length type.
        rows: number of rows of each page.
        data_type: the column's Arrow type, the same in the file and in the table.

    Returns:
        None if the index is malformed, has another number of pages, or the type has no usable
        order.
    """
    try:
        found = decode_struct(index)
        lists = [found[field][1] for field in _LISTS]
    except (ThriftError, KeyError):
        return None
    empty, lows, highs = (_items(values, len(rows)) for values in lists)
    if empty is None or lows is None or highs is None:
        return None
    is_empty = [item == _TRUE for item in empty]
    counted = _items(found[_NULL_COUNTS][1], len(rows)) if _NULL_COUNTS in found else None
    nulls = [
        size if skip else (count if isinstance(count, int) else None)
        for skip, count, size in zip(
            is_empty, counted or [None] * len(rows), rows.tolist(), strict=True
        )
    ]
    minimums, maximums = (
        [None if skip else value for value, skip in zip(values, is_empty, strict=True)]
        for values in (lows, highs)
    )
    return stored_bounds(minimums, maximums, nulls, (physical, width), data_type)


def header_bounds(
    headers: Sequence[bytes], physical: int, width: int | None, data_type: pa.DataType
) -> SpanBounds | None:
    """Return the same from the headers of the pages; bytes after a header are ignored."""
    try:
        found = [_header_statistics(header) for header in headers]
    except ThriftError:
        return None
    lows, highs = (
        [page.get(field, (None, None))[1] for page in found] for field in (_MIN_VALUE, _MAX_VALUE)
    )
    nulls = [int_of(page, _NULL_COUNT) for page in found]
    return stored_bounds(lows, highs, nulls, (physical, width), data_type)


def _header_statistics(header: bytes) -> Struct:
    page = decode_struct(header)
    for number, statistics in _OF_PAGE:
        inside = struct_of(page[number][1]) if number in page else {}
        if statistics in inside:
            return struct_of(inside[statistics][1])
    return {}


def _items(values: object, count: int) -> list[object] | None:
    if not isinstance(values, ThriftList) or len(values.items) != count:
        return None
    return values.items
