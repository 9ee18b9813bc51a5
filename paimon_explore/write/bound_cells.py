"""Encoder of the bounds of many columns as two binary rows, one of minima and one of maxima.

Spec: concepts/spec/manifest, binary row.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints, UInt64s
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.binary_row.row_layout import ARITY_BYTES, UNITS_PER_MILLI
from paimon_explore.encoding.binary_row.single_row_encoder import (
    encode_cells_singly,
    encode_row,
    text_cell,
)
from paimon_explore.write.column_bounds import FixedWidthBounds

_MILLIS_PER_SECOND = 1000
_NANOS_PER_MILLI = 1_000_000
_WORD_BYTES = 8


class BoundCells:
    """The cells of both rows; all are null at first.

    Args:
        count: number of columns.
        null_items: space that nulls reserve, by column.
    """

    __slots__ = ("_items", "_nulls", "_slots")

    def __init__(self, count: int, null_items: Mapping[int, bytes]) -> None:
        self._slots = (np.zeros(count, np.uint64), np.zeros(count, np.uint64))
        self._items = (dict(null_items), dict(null_items))
        self._nulls = np.ones(count, np.bool_)

    def add_fixed(self, bounds: FixedWidthBounds) -> None:
        """Add the bounds of columns of one type, after `finish`."""
        at = bounds.positions
        unit = bounds.data_type.unit if isinstance(bounds.data_type, pa.TimestampType) else ""
        for values, slots, items in zip(
            (bounds.low, bounds.high), self._slots, self._items, strict=True
        ):
            known = values
            if bounds.known is not None:
                at, known = bounds.positions[bounds.known], values[bounds.known]
            per_milli = UNITS_PER_MILLI.get(unit)
            if per_milli is not None:
                millis, rest = np.divmod(known.astype(np.int64), per_milli)
                slots[at] = (rest * (_NANOS_PER_MILLI // per_milli)).astype(np.uint64)
                _put_words(items, at, millis)
            elif unit == "s":
                slots[at] = (known * _MILLIS_PER_SECOND).view(np.uint64)
            else:
                slots[at] = known.view(f"<u{known.dtype.itemsize}")
        self._nulls[at] = False

    def add_text(self, at: int, bounds: tuple[bytes, bytes] | None) -> None:
        """Add the bounds of a string or binary column; None if they are unknown."""
        if bounds is None:
            return
        self._nulls[at] = False
        for raw, slots, items in zip(bounds, self._slots, self._items, strict=True):
            slots[at], item = text_cell(raw)
            if item:
                items[at] = item

    def add_values(self, at: int, bounds: Column, data_type: DataType) -> None:
        """Add the bounds of any column: minimum and maximum, none null."""
        self._nulls[at] = False
        cells = encode_cells_singly(bounds, data_type, 2) or []
        for ((slot, item), _), slots, items in zip(cells, self._slots, self._items, strict=True):
            slots[at] = slot
            if item:
                items[at] = item

    def rows(self, kept: Sequence[int] | None = None) -> tuple[bytes, bytes]:
        """Encode the rows with arity; only some columns if given."""
        low, high = (
            _row(slots, self._nulls, items, kept)
            for slots, items in zip(self._slots, self._items, strict=True)
        )
        return low, high


def _put_words(items: dict[int, bytes], at: Ints, words: Ints) -> None:
    raw = words.astype("<i8").tobytes()
    for number, position in enumerate(at.tolist()):
        items[position] = raw[_WORD_BYTES * number : _WORD_BYTES * (number + 1)]


def _row(
    slots: UInt64s,
    nulls: "np.typing.NDArray[np.bool_]",
    items: Mapping[int, bytes],
    kept: Sequence[int] | None,
) -> bytes:
    if kept is not None:
        slots, nulls = slots[kept], nulls[kept]
        items = {number: items[at] for number, at in enumerate(kept) if at in items}
    return len(slots).to_bytes(ARITY_BYTES, "big") + encode_row(slots, nulls, items)
