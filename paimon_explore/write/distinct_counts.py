"""Number of distinct values of columns, for samples of some thousand rows.

Columns of the same width are sorted together. A null is a value; floating-point values are compared
by their bits, as `pyarrow.compute.count_distinct` does.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import Column, as_python, fixed_values

_FEW_ROWS = 64
"""Number of rows up to which a Python set is faster."""
_FEW_COLUMNS = 8
_COLUMNS_AT_ONCE = 64
_WIDTHS = frozenset({8, 16, 32, 64})
_DTYPES = {width: np.dtype(f"<u{width // 8}") for width in _WIDTHS}


def bit_width(data_type: pa.DataType) -> int:
    """Return the bits of a value if values can be compared as integers; else 0."""
    try:
        found = data_type.bit_width
    except ValueError:  # the width varies
        return 0
    return found if found in _WIDTHS else 0


def distinct_counts(columns: Sequence[Column], widths: Sequence[int]) -> list[int]:
    """Return the number of distinct values of each column.

    Args:
        columns: columns of the same length.
        widths: the `bit_width` of each column.
    """
    counts = [0] * len(columns)
    by_width: dict[int, list[int]] = {}
    for at, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if width and not column.null_count:
            by_width.setdefault(width, []).append(at)
        else:
            counts[at] = _count(column)
    for width, positions in by_width.items():
        dtype = _DTYPES[width]
        values = [fixed_values(columns[at], dtype) for at in positions]
        if len(values) <= _FEW_COLUMNS and len(values[0]) <= _FEW_ROWS:
            for at, one in zip(positions, values, strict=True):
                counts[at] = len(set(one.tolist()))
            continue
        for first in range(0, len(positions), _COLUMNS_AT_ONCE):
            rows = np.stack(values[first : first + _COLUMNS_AT_ONCE])
            rows.sort(axis=1)
            found = np.count_nonzero(rows[:, 1:] != rows[:, :-1], axis=1) + 1
            for at, count in zip(positions[first:], found.tolist(), strict=False):
                counts[at] = count
    return counts


def _count(column: Column) -> int:
    is_text = pa.types.is_string(column.type) or pa.types.is_binary(column.type)
    if is_text and len(column) <= _FEW_ROWS:
        return len(set(as_python(column)))
    return pc.count_distinct(column, mode="all").as_py()
