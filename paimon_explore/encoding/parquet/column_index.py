"""Bounds of the pages of a column chunk: the file's ColumnIndex as Arrow columns.

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
    """Bounds and null counts of a column per page.

    Args:
        index: the bytes of the ColumnIndex.
        physical: the column's physical type, by its number.
        width: bytes of a value, for fixed-length ones.
        rows: of each page.
        data_type: the column's type, both in the file and for the reader.

    Returns:
        None where the index is broken or of other pages, or the type has no usable order.
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
    """The values of the index; None for pages of nulls and values of another width.

    Raises:
        TypeError: they are no bytes, or of a type without order.
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
    """Nulls of each page; a page of nulls has as many as rows, whatever the index says."""
    told = _items(counts, len(rows)) or [None] * len(rows)
    sizes = rows.tolist()
    return [
        sizes[i] if is_empty[i] else (count if isinstance(count, int) else None)
        for i, count in enumerate(told)
    ]
