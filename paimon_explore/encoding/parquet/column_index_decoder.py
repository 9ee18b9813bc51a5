"""Page statistics of a column chunk: conversion of the ColumnIndex to Arrow.

Spec: Parquet format, `ColumnIndex`.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.data_file_reader import SpanBounds
from paimon_explore.encoding.parquet.row_group_statistics import Raw, bounds_column
from paimon_explore.encoding.parquet.thrift_compact import ThriftError, ThriftList, decode_struct

_NULL_PAGES, _MIN_VALUES, _MAX_VALUES, _NULL_COUNTS = 1, 2, 3, 5
_TRUE = 1
_BOOLEAN, _TEXT, _FIXED = 0, 6, 7  # physical types
_NUMBERS = {1: "<i4", 2: "<i8", 4: "<f4", 5: "<f8"}
_LISTS = (_NULL_PAGES, _MIN_VALUES, _MAX_VALUES)


def page_bounds(
    index: bytes, physical: int, width: int | None, rows: Ints, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per page.

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
    counts = found[_NULL_COUNTS][1] if _NULL_COUNTS in found else None
    empty, lows, highs = (_items(values, len(rows)) for values in lists)
    if empty is None or lows is None or highs is None:
        return None
    is_empty = [item == _TRUE for item in empty]
    try:
        minimum, maximum = (
            bounds_column(_raw(values, is_empty, physical, width), data_type)
            for values in (lows, highs)
        )
        nulls = bounds_column(_null_counts(counts, is_empty, rows), pa.int64())
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    return SpanBounds(minimum=minimum, maximum=maximum, null_count=nulls)


def _items(values: object, count: int) -> list[object] | None:
    if not isinstance(values, ThriftList) or len(values.items) != count:
        return None
    return values.items


def _raw(values: list[object], is_empty: list[bool], physical: int, width: int | None) -> list[Raw]:
    """Decode the bounds of the pages; None for pages without values.

    Raises:
        TypeError: a value is not bytes, has another width, or the type has no usable order.
    """
    texts = [None if skip else value for value, skip in zip(values, is_empty, strict=True)]
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


def _null_counts(counts: object, is_empty: list[bool], rows: Ints) -> list[Raw]:
    """Return the null count of each page; for a page of nulls it is the number of rows."""
    counted = _items(counts, len(rows)) or [None] * len(rows)
    sizes = rows.tolist()
    return [
        sizes[i] if is_empty[i] else (count if isinstance(count, int) else None)
        for i, count in enumerate(counted)
    ]
