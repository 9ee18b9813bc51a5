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
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.encoding.binary_row.encoder import EMPTY_ROW, row_images
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass

_UNORDERED = frozenset(
    {TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY},
)
_TEXT = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_MAX_BYTE = 0xFF


Values: TypeAlias = "pa.Array[pa.Scalar[pa.DataType]] | pa.ChunkedArray[pa.Scalar[pa.DataType]]"


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


class StatsCollector:
    """Collects the column statistics of one data file.

    Args:
        fields: the columns, in the order of the argument of `add`.
        modes: the mode of each column.
    """

    def __init__(self, fields: Sequence[DataField], modes: Sequence[StatsMode]) -> None:
        self._fields = tuple(fields)
        self._modes = tuple(modes)
        self._null_counts = [0] * len(self._fields)
        self._bounds: list[Column | None] = [None] * len(self._fields)
        self._unordered = [
            mode.kind not in {StatsKind.TRUNCATE, StatsKind.FULL} or not has_order(field.type)
            for field, mode in zip(fields, modes, strict=True)
        ]

    def add(self, columns: Sequence[Values]) -> None:
        """Add rows: one array per column, all of the same length."""
        for index, column in enumerate(columns):
            if self._modes[index].kind is StatsKind.NONE:
                continue
            self._null_counts[index] += column.null_count
            if not self._unordered[index] and column.null_count < len(column):
                self._widen(index, column)

    def _widen(self, index: int, column: Values) -> None:
        if _is_float(self._fields[index].type) and pc.any(pc.is_nan(column)).as_py():
            self._unordered[index] = True
            self._bounds[index] = None
            return
        known = self._bounds[index]
        found = _bounds(column)
        self._bounds[index] = found if known is None else _bounds(pa.concat_arrays([known, found]))

    def finish(self) -> tuple[ColumnStats, ...]:
        """Return the statistics of each column over all rows."""
        return tuple(self._column(index) for index in range(len(self._fields)))

    def _column(self, index: int) -> ColumnStats:
        mode, data_type = self._modes[index], self._fields[index].type
        bounds = self._bounds[index]
        if bounds is None:
            bounds = _unknown(to_arrow(data_type))
        elif _is_float(data_type):
            bounds = _widen_zeros(bounds)
        elif mode.kind is StatsKind.TRUNCATE and isinstance(data_type, AtomicType):
            bounds = _truncate(bounds, data_type.root, mode.length)
        return ColumnStats(
            bounds=bounds,
            null_count=None if mode.kind is StatsKind.NONE else self._null_counts[index],
        )


def has_order(data_type: DataType) -> bool:
    """Whether bounds exist for values of this type."""
    return isinstance(data_type, AtomicType) and data_type.root not in _UNORDERED


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


def _is_float(data_type: DataType) -> bool:
    return isinstance(data_type, AtomicType) and data_type.root in _FLOATS


def _unknown(data_type: pa.DataType) -> Column:
    found: Column = pa.nulls(2, data_type)  # type: ignore[call-overload]  # stubs list single types
    return found


def _bounds(column: Values) -> Column:
    if len(column) == 1:
        value: Column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        return pa.concat_arrays([value, value])
    found = pc.min_max(column)
    parts: list[Column] = [pa.repeat(found[key], 1) for key in ("min", "max")]  # type: ignore[call-overload]  # stubs list single types
    return pa.concat_arrays(parts)


def _widen_zeros(bounds: Column) -> Column:
    low, high = (bound.as_py() for bound in bounds)
    return pa.array([low or -0.0, high or 0.0], bounds.type)


def _truncate(bounds: Column, root: TypeRoot, length: int) -> Column:
    if root in _TEXT:
        truncate: Callable[..., str | bytes | None] = _truncated_text
    elif root in _BYTES:
        truncate = _truncated_bytes
    else:
        return bounds
    low, high = (bound.as_py() for bound in bounds)
    if max(len(low), len(high)) <= length:
        return bounds
    upper = truncate(high, length)
    return _unknown(bounds.type) if upper is None else pa.array([low[:length], upper], bounds.type)


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
