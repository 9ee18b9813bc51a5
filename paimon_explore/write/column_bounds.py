"""Minimum and maximum of columns while a data file is written.

Columns of the same fixed-width type are processed together: a numpy call takes a microsecond
whatever it does, so one call per column dominates the cost of small and of wide files.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    as_python,
    build_fixed,
    concat_arrays,
    fixed_values,
    valid_mask,
)

Values = npt.NDArray[np.signedinteger] | npt.NDArray[np.floating]
_FEW_ROWS = 4096
"""Number of rows up to which the values of several columns are copied to one array."""
_FEW_TEXTS = 64
"""Number of strings up to which Python is faster than Arrow."""
_MIN_MAX = pc.get_function("min_max")


class FixedWidthBounds:
    """Bounds of columns of one integer, floating-point or date-time type.

    A floating-point column with a NaN has no bounds. Nulls are ignored.

    Args:
        data_type: the Arrow type of the columns.
        dtype: numpy type of their values.
        positions: the columns, as positions in the argument of `add`.
    """

    __slots__ = (
        *("_columns", "_is_float", "_nan", "data_type", "dtype", "high", "known", "low"),
        *("positions",),
    )

    def __init__(
        self, data_type: pa.DataType, dtype: np.dtype[np.generic], positions: Ints
    ) -> None:
        self.data_type = data_type
        self.dtype = dtype
        self.positions = positions
        self._columns: list[int] = positions.tolist()
        self._is_float = dtype.kind == "f"
        self._nan: Bools | None = None
        self.low: Values = np.zeros(len(positions), dtype)
        self.high: Values = self.low
        self.known: Bools | None = np.zeros(len(positions), np.bool_)
        """Which columns have bounds; None if all have."""

    def add(self, columns: Sequence[Column], null_counts: Sequence[int]) -> None:
        """Add rows."""
        own = self._columns
        size = len(columns[own[0]])
        low: Values = np.zeros(len(own), self.dtype)
        high: Values = np.zeros(len(own), self.dtype)
        if 0 < size <= _FEW_ROWS and all(
            not null_counts[at] and len(columns[at]) == size for at in own
        ):
            rows = np.empty((len(own), size), self.dtype)
            for row, at in enumerate(own):
                rows[row] = fixed_values(columns[at], self.dtype)
            np.min(rows, 1, low)
            np.max(rows, 1, high)
            self._widen(low, high, None)
            return
        found = np.zeros(len(own), np.bool_)
        for row, at in enumerate(own):
            values = fixed_values(columns[at], self.dtype)
            if null_counts[at]:
                values = values[valid_mask(columns[at])]
            if len(values):
                low[row], high[row], found[row] = values.min(), values.max(), True
        self._widen(low, high, None if found.all() else found)

    def _widen(self, low: Values, high: Values, found: Bools | None) -> None:
        if self._is_float:
            nan = np.isnan(low)  # the minimum of values with a NaN is NaN
            if nan.any():
                self._nan = nan if self._nan is None else self._nan | nan
        if self.known is not None and not self.known.any():
            self.low, self.high, self.known = low, high, found
        elif self.known is None and found is None:
            self.low = np.minimum(self.low, low)
            self.high = np.maximum(self.high, high)
        else:
            old = np.ones(len(low), np.bool_) if self.known is None else self.known
            new = np.ones(len(low), np.bool_) if found is None else found
            both = old & new
            self.low = np.where(both, np.minimum(self.low, low), np.where(new, low, self.low))
            self.high = np.where(both, np.maximum(self.high, high), np.where(new, high, self.high))
            self.known = old | new

    def finish(self) -> None:
        """Complete the bounds: a zero gets the sign that covers both zeros."""
        if not self._is_float:
            return
        if self._nan is not None:
            self.known = ~self._nan if self.known is None else self.known & ~self._nan
        self.low = np.where(self.low == 0, np.array(-0.0, self.dtype), self.low)
        self.high = np.where(self.high == 0, np.array(0.0, self.dtype), self.high)

    def arrays(self) -> list[Column]:
        """Return minimum and maximum of each column as an array of two values."""
        both = build_fixed(
            self.data_type,
            np.stack([self.low, self.high], axis=1).reshape(-1),
            None if self.known is None else np.repeat(self.known, 2),
        )
        return [both.slice(2 * row, 2) for row in range(len(self.positions))]


def smallest_and_largest(column: Column) -> tuple[Column, Column]:
    """Return the minimum and maximum of a column that is not all null, as arrays of one value."""
    if len(column) == 1:
        return column, column
    low, high = pa.repeat(_MIN_MAX.call([column]), 1).flatten()
    return low, high


def least_and_greatest_bytes(column: Column) -> tuple[bytes, bytes]:
    """Return the minimum and maximum of a string or binary column that is not all null."""
    if len(column) <= _FEW_TEXTS and not column.null_count:
        values = as_python(column)
        texts = [one.encode() if isinstance(one, str) else one for one in values]
        known = [one for one in texts if isinstance(one, bytes)]
        return min(known), max(known)
    found = _MIN_MAX.call([column])
    return found["min"].as_buffer().to_pybytes(), found["max"].as_buffer().to_pybytes()


def merged_bounds(known: "Column | None", column: Column) -> Column:
    """Return minimum and maximum of a column and of known bounds, as an array of two values."""
    low, high = smallest_and_largest(column)
    both = pa.concat_arrays([low, high])
    if known is None:
        return both
    return pa.concat_arrays(list(smallest_and_largest(concat_arrays([known, both]))))
