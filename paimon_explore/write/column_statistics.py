"""Column statistics of a data file, collected batch by batch.

The mode of a column decides what is collected: nothing, null counts, truncated bounds or exact
bounds. Bounds that would be unsafe are omitted:

- nested types, VARIANT, BLOB and the geo types have no order, hence no bounds;
- a float column with a NaN has no bounds; a zero bound gets the sign that also covers the other
  zero;
- a string or binary maximum that cannot be incremented after truncation drops both bounds.

Memory is constant: two bounds per column.

Spec: concepts/spec/manifest, statistics section.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints, UInt64s, as_bytes, build_var
from paimon_explore.data_types.definitions import (
    BYTES,
    TEXTS,
    UNORDERED,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.encoding.binary_row.row_layout import ARITY_BYTES, EMPTY_ROW, UNITS_PER_MILLI
from paimon_explore.encoding.binary_row.single_row_encoder import (
    encode_cells_singly,
    encode_row,
    null_cell,
    text_cell,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.column_bounds import (
    FixedWidthBounds,
    least_and_greatest_bytes,
    merged_bounds,
)

_OTHERS = frozenset({TypeRoot.BOOLEAN, TypeRoot.DECIMAL})
"""Types without a numpy type of their values."""
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_MAX_BYTE = 0xFF
_MILLIS_PER_SECOND = 1000
_NANOS_PER_MILLI = 1_000_000
_WORD_BYTES = 8


class StatsKind(Enum):
    """Which statistics of a column are collected."""

    NONE = "none"
    COUNTS = "counts"
    TRUNCATE = "truncate"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsMode:
    """The statistics mode of one column.

    Attributes:
        kind: which statistics are collected.
        length: code points (bytes of binary types) to which TRUNCATE shortens bounds.
    """

    kind: StatsKind
    length: int = 0


NONE = StatsMode(kind=StatsKind.NONE)
KEY_MODE = StatsMode(kind=StatsKind.TRUNCATE, length=128)
"""Mode of keys and system columns, regardless of the options."""


def parse_mode(text: str) -> StatsMode:
    """Parse a statistics mode, such as `truncate(16)`.

    Raises:
        InvalidInputError: the text is not a statistics mode.

    >>> parse_mode("truncate(16)").length
    16
    """
    name = text.strip().lower()
    if name in {"none", "counts", "full"}:
        return StatsMode(kind=StatsKind(name))
    match = re.fullmatch(r"truncate\(\s*(\d{1,9})\s*\)", name)
    if match is None or int(match[1]) == 0:
        raise InvalidInputError(
            f"{text!r} is not a mode for column statistics.",
            hint="Use none, counts, truncate(N) or full; N is a number of characters, at least 1.",
        )
    return StatsMode(kind=StatsKind.TRUNCATE, length=int(match[1]))


def column_modes(
    names: Sequence[str],
    default: StatsMode,
    *,
    explicit: Mapping[str, StatsMode],
    keep_first: int = -1,
) -> tuple[StatsMode, ...]:
    """Return the statistics mode of each column.

    Args:
        names: the columns in file order, without system columns.
        default: mode of the table (or level, or changelog).
        explicit: modes by column name, which take precedence.
        keep_first: number of leading columns that get the default mode, -1 for all.
    """
    count = len(names) if keep_first < 0 else keep_first
    return tuple(
        explicit.get(name, default if position < count else NONE)
        for position, name in enumerate(names)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStats:
    """The statistics of one column of a file.

    Attributes:
        bounds: minimum and maximum in the column's Arrow type; both null = unknown.
        null_count: number of nulls, None = not counted.
    """

    bounds: Column
    null_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedStats:
    """Statistics as manifests store them.

    Attributes:
        minimum: BinaryRow of the minima, prefixed with its arity.
        maximum: BinaryRow of the maxima, prefixed with its arity.
        null_counts: per column, None = unknown.
        columns: the columns with statistics, None = all columns of the file.
    """

    minimum: bytes
    maximum: bytes
    null_counts: tuple[int | None, ...]
    columns: tuple[str, ...] | None


class StatsPlan:
    """What to collect for the columns of a kind of files.

    Args:
        fields: the columns, in the order of the argument of `StatsCollector.add`.
        modes: the mode of each column.
    """

    __slots__ = ("counted", "fields", "fixed", "modes", "null_items", "others", "texts")

    def __init__(self, fields: Sequence[DataField], modes: Sequence[StatsMode]) -> None:
        self.fields = tuple(fields)
        self.modes = tuple(modes)
        self.counted = [at for at, mode in enumerate(modes) if mode.kind is not StatsKind.NONE]
        """Positions of columns whose nulls are counted."""
        self.fixed: list[tuple[pa.DataType, np.dtype[np.generic], Ints]] = []
        """Arrow type, numpy type and positions of columns of fixed width that have bounds."""
        self.texts: list[int] = []
        """Positions of strings and binaries that have bounds."""
        self.others: list[int] = []
        """Positions of other columns that have bounds."""
        self.null_items = {
            at: item for at, field in enumerate(fields) if (item := null_cell(field.type)[1])
        }
        """Space that nulls of some types reserve, by position."""
        by_type: dict[pa.DataType, list[int]] = {}
        for at, (field, mode) in enumerate(zip(fields, modes, strict=True)):
            if mode.kind in {StatsKind.TRUNCATE, StatsKind.FULL} and has_order(field.type):
                self._add(at, field.type, by_type)
        for data_type, positions in by_type.items():
            dtype = _numpy_type(data_type)
            self.fixed.append((data_type, dtype, np.array(positions, np.int64)))

    def _add(self, at: int, data_type: DataType, by_type: dict[pa.DataType, list[int]]) -> None:
        if not isinstance(data_type, AtomicType) or data_type.root in _OTHERS:
            self.others.append(at)
        elif data_type.root in TEXTS | BYTES:
            self.texts.append(at)
        else:
            by_type.setdefault(to_arrow(data_type), []).append(at)


class StatsCollector:
    """Collects the column statistics of one data file.

    Args:
        plan: the columns and what to collect.
    """

    def __init__(self, plan: StatsPlan) -> None:
        self._plan = plan
        self._null_counts = [0] * len(plan.fields)
        self._fixed = [FixedWidthBounds(*columns) for columns in plan.fixed]
        self._texts: dict[int, tuple[bytes, bytes]] = {}
        self._others: dict[int, Column] = {}

    def add(self, columns: Sequence[Column]) -> None:
        """Add rows: one array per column, all of the same length, in `to_arrow` of its type."""
        plan = self._plan
        found = [0] * len(columns)
        for at in plan.counted:
            found[at] = columns[at].null_count
            self._null_counts[at] += found[at]
        for group in self._fixed:
            group.add(columns, found)
        for at in plan.texts:
            if found[at] < len(columns[at]):
                low, high = least_and_greatest_bytes(columns[at])
                known = self._texts.get(at, (low, high))
                self._texts[at] = min(low, known[0]), max(high, known[1])
        for at in plan.others:
            if found[at] < len(columns[at]):
                self._others[at] = merged_bounds(self._others.get(at), columns[at])

    def finish(self) -> tuple[ColumnStats, ...]:
        """Return the statistics of each column over all rows."""
        plan = self._plan
        bounds = dict(self._others)
        for group in self._fixed:
            group.finish()
            bounds.update(zip(group.positions.tolist(), group.arrays(), strict=True))
        for at in self._texts:
            data_type = to_arrow(plan.fields[at].type)
            kept = self._truncated(at)
            values = None if kept is None else [_build_bytes(one, data_type) for one in kept]
            bounds[at] = _unknown(data_type) if values is None else pa.concat_arrays(values)
        return tuple(
            ColumnStats(
                bounds=bounds[at] if at in bounds else _unknown(to_arrow(field.type)),
                null_count=None if mode.kind is StatsKind.NONE else self._null_counts[at],
            )
            for at, (field, mode) in enumerate(zip(plan.fields, plan.modes, strict=True))
        )

    def encode(self, *, dense: bool) -> EncodedStats:
        """Return the statistics over all rows as manifests store them; see `encode_stats`."""
        plan = self._plan
        cells = BoundCells(len(plan.fields), plan.null_items)
        for group in self._fixed:
            group.finish()
            cells.add_fixed(group)
        for at in self._texts:
            cells.add_text(at, self._truncated(at))
        for at, values in self._others.items():
            cells.add_values(at, values, plan.fields[at].type)
        counts: list[int | None] = [*self._null_counts]
        if len(plan.counted) == len(counts):
            low, high = cells.rows()
            return EncodedStats(minimum=low, maximum=high, null_counts=tuple(counts), columns=None)
        if dense:
            low, high = cells.rows(plan.counted)
            return EncodedStats(
                minimum=low,
                maximum=high,
                null_counts=tuple([counts[at] for at in plan.counted]),
                columns=tuple([plan.fields[at].name for at in plan.counted]),
            )
        for at in set(range(len(counts))).difference(plan.counted):
            counts[at] = None
        low, high = cells.rows()
        return EncodedStats(minimum=low, maximum=high, null_counts=tuple(counts), columns=None)

    def _truncated(self, at: int) -> tuple[bytes, bytes] | None:
        """Return the bounds of a string or binary column; None if they are unknown."""
        low, high = self._texts[at]
        mode, data_type = self._plan.modes[at], self._plan.fields[at].type
        if mode.kind is not StatsKind.TRUNCATE or max(len(low), len(high)) <= mode.length:
            return low, high
        is_text = is_root(data_type, *TEXTS)
        return (_truncated_texts if is_text else _truncated_binaries)(low, high, mode.length)


def has_order(data_type: DataType) -> bool:
    """Whether bounds exist for values of this type."""
    return isinstance(data_type, AtomicType) and data_type.root not in UNORDERED


def encode_stats(
    fields: Sequence[DataField], stats: Sequence[ColumnStats], *, dense: bool
) -> EncodedStats:
    """Encode statistics as stored in manifests.

    Args:
        fields: the file's columns.
        stats: the statistics of each column.
        dense: omit columns without statistics and name the others.
    """
    kept = [index for index, column in enumerate(stats) if not dense or _is_known(column)]
    types = [with_nullable(fields[index].type, nullable=True) for index in kept]
    low, high = row_images([stats[index].bounds for index in kept], types, count=2)
    return EncodedStats(
        minimum=low,
        maximum=high,
        null_counts=tuple(stats[index].null_count for index in kept),
        columns=None if len(kept) == len(fields) else tuple(fields[index].name for index in kept),
    )


EMPTY_STATS = EncodedStats(minimum=EMPTY_ROW, maximum=EMPTY_ROW, null_counts=(), columns=None)


def _is_known(stats: ColumnStats) -> bool:
    return stats.null_count is not None or stats.bounds.null_count < len(stats.bounds)


def _numpy_type(data_type: pa.DataType) -> np.dtype[np.generic]:
    kind = "f" if pa.types.is_floating(data_type) else "i"
    return np.dtype(f"<{kind}{data_type.bit_width // 8}")


def _unknown(data_type: pa.DataType) -> Column:
    found: Column = pa.nulls(2, data_type)  # type: ignore[call-overload]  # stubs list single types
    return found


def _build_bytes(value: bytes, data_type: pa.DataType) -> Column:
    return build_var(data_type, np.array([0, len(value)], np.int64), as_bytes(value))


def _truncated_texts(low: bytes, high: bytes, length: int) -> tuple[bytes, bytes] | None:
    lower, upper = low.decode(), high.decode()
    if max(len(lower), len(upper)) <= length:
        return low, high
    bound = _truncated_text(upper, length)
    return None if bound is None else (lower[:length].encode(), bound.encode())


def _truncated_binaries(low: bytes, high: bytes, length: int) -> tuple[bytes, bytes] | None:
    bound = _truncated_bytes(high, length)
    return None if bound is None else (low[:length], bound)


def _truncated_text(high: str, length: int) -> str | None:
    """Return an upper bound of `high` with at most `length` code points; None if there is none."""
    if len(high) <= length:
        return high
    for position in range(length - 1, -1, -1):
        following = ord(high[position]) + 1
        if following in _SURROGATES:
            following = _SURROGATES.stop
        if following <= _MAX_CODE_POINT:
            return high[:position] + chr(following)
    return None


def _truncated_bytes(high: bytes, length: int) -> bytes | None:
    if len(high) <= length:
        return high
    for position in range(length - 1, -1, -1):
        if high[position] < _MAX_BYTE:
            return high[:position] + bytes([high[position] + 1])
    return None


# Spec: concepts/spec/manifest, binary row.
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
