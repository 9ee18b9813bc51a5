"""Collects the profile of columns from record batches, in memory that does not grow with the rows.

Counts, bounds and lengths are exact. Distinct values are counted by a sketch, frequent values by a
summary. In a batch whose sample has hardly any repeated value, values are not counted.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.types as pat
import xxhash

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND, timestamp_unit
from paimon_explore.data_types.arrow_buffers import (
    WORD_BYTES,
    Bytes,
    Column,
    Floats,
    Ints,
    UInt64s,
    bool_values,
    build_fixed,
    decimal_low_bits,
    empty_array,
    fixed_values,
    float64_values,
    int64_values,
    list_offsets,
    padded,
    take_rows,
    unaligned_words,
    valid_mask,
    var_values,
)
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    TEXTS,
    UNORDERED,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_blob_file_type, is_root, parts
from paimon_explore.inspection.profile.column_profile import (
    SHOWN_VALUES,
    ColumnProfile,
    FrequentValue,
    Histogram,
    Value,
    edge_value,
    value_of,
)
from paimon_explore.inspection.profile.streaming_histogram import (
    DAY_WIDTHS,
    DECIMAL_WIDTHS,
    FloatHistogram,
    IntegerHistogram,
    Widths,
    time_widths,
)
from paimon_explore.inspection.rendering.number_format import plural

_SIZED = (*TEXTS, *BYTES, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY)
_LONG_DECIMAL = 18
_SAMPLE = 4096
_FREQUENT_IN_SAMPLE = 16
"""Number of equal values in a sample from which all values of the batch are counted: 0.4 %."""
_MAX_COUNTED_BYTES = 256
"""Maximum size of the texts and binaries that are counted, which bounds the memory."""
SKETCH_SIZE = 16_384
"""Number of hashes that are kept; the standard error is 0.8 %."""
_RANGE = 2.0**64
CAPACITY = 4096
"""Maximum number of values whose counts are kept."""
_LONG = 512
"""Size in bytes from which values are hashed one at a time."""
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD_BYTES + 1)], np.uint64)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)
_BLOCK = 16_384


def is_read(data_type: DataType) -> bool:
    """Whether values of a type are read for a profile; BLOBs may be very large."""
    return not any(is_blob_file_type(part) for part in parts(data_type))


def unprofiled(data_type: DataType) -> str:
    """Why the values of a type are not profiled; empty if they are."""
    if not is_read(data_type):
        return "not profiled: BLOB values are not read"
    kind = type_text(data_type).partition("<")[0].partition("(")[0].split()[0]
    if isinstance(data_type, AtomicType):
        return f"not profiled: {kind} values have no order" if _is_unordered(data_type) else ""
    if isinstance(data_type, RowType):
        return ""
    if isinstance(data_type, ArrayType | MapType | MultisetType):
        return f"{kind}: only nulls and lengths are profiled"
    return f"{kind}: only nulls are profiled"


def _is_unordered(data_type: DataType) -> bool:
    return is_root(data_type, *UNORDERED)


class ColumnCollector:
    """Collects the profile of a column and, for a ROW column, of its fields.

    Args:
        path: the names of the column and of the fields inside it.
        data_type: type of the column.
    """

    def __init__(self, path: tuple[str, ...], data_type: DataType) -> None:
        self.path = path
        self._type = data_type
        self._nulls = 0
        self._lengths = _Lengths() if _has_lengths(data_type) else None
        self._values: _Values | None = None
        if isinstance(data_type, AtomicType) and not _is_unordered(data_type):
            self._values = _Values(data_type)
        fields = data_type.fields if isinstance(data_type, RowType) else ()
        self._fields = [(one.name, ColumnCollector((*path, one.name), one.type)) for one in fields]

    def add(self, values: Column) -> None:
        """Add the values of a batch."""
        self._nulls += values.null_count
        if self._lengths is not None:
            self._lengths.add(_sizes(values))
        if self._values is not None:
            self._values.add(values.drop_null() if values.null_count else values)
        if self._fields and isinstance(values, pa.StructArray):
            inner = values.flatten()
            for name, collector in self._fields:
                collector.add(inner[values.type.get_field_index(name)])

    def profiles(self) -> Iterable[ColumnProfile]:
        """The profile of the column, then those of its fields."""
        found = ColumnProfile(
            path=self.path, type=self._type, nulls=self._nulls, reason=unprofiled(self._type)
        )
        if self._values is not None:
            found = self._values.described(found)
        yield found if self._lengths is None else self._lengths.described(found)
        for _, collector in self._fields:
            yield from collector.profiles()


def collectors_of(fields: Iterable[DataField]) -> list[ColumnCollector]:
    """A collector for each column whose values are read."""
    return [ColumnCollector((one.name,), one.type) for one in fields if is_read(one.type)]


def _has_lengths(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType | MapType | MultisetType):
        return True
    return is_root(data_type, *_SIZED, TypeRoot.VARIANT)


def _sizes(values: Column) -> Ints:
    """The lengths of values that are not null."""
    if isinstance(values, pa.StructArray):  # the value of a VARIANT, without its metadata
        values = values.flatten()[0]
    if isinstance(values, pa.ListArray | pa.MapArray):
        offsets = list_offsets(values)
    else:
        offsets, _ = var_values(values)
    sizes = np.diff(offsets)
    return sizes[valid_mask(values)] if values.null_count else sizes


class _Lengths:
    """Lengths of texts, binaries, lists and maps."""

    def __init__(self) -> None:
        self._count = 0
        self._total = 0
        self._histogram = IntegerHistogram(DECIMAL_WIDTHS)

    def add(self, sizes: Ints) -> None:
        self._count += len(sizes)
        self._total += int(sizes.sum())
        self._histogram.add(sizes)

    def described(self, found: ColumnProfile) -> ColumnProfile:
        """The profile with its lengths."""
        if not self._count:
            return found
        bigint = AtomicType(root=TypeRoot.BIGINT)
        bins = self._histogram.bins()
        ends = (self._histogram.low, *bins.edges, self._histogram.high)
        edges = tuple(edge_value(edge, bigint) for edge in ends)
        histogram = Histogram(edges=edges, counts=bins.counts, of="lengths")
        return replace(
            found,
            average_length=self._total / self._count,
            max_length=int(self._histogram.high),
            histogram=histogram,
        )


class _Values:
    """Bounds, distinct values, frequent values and histogram of an atomic type with an order."""

    def __init__(self, kind: AtomicType) -> None:
        self._kind = kind
        self._rows = 0
        self._nans = 0
        self._infinite = 0
        self._bounds: Column | None = None
        self._distinct = DistinctSketch()
        self._frequent = FrequentValues()
        self._histogram = _histogram_of(kind)

    def add(self, values: Column) -> None:
        if self._kind.root in FLOATS:
            values = self._without_nans(values)
        if not len(values):
            return
        self._rows += len(values)
        bounds = extremes(values)
        known = self._bounds
        self._bounds = bounds if known is None else extremes(pa.concat_arrays([known, bounds]))
        self._count(values)
        if isinstance(self._histogram, FloatHistogram):
            numbers = _floats(values)
            finite = np.isfinite(numbers)
            if not finite.all():
                self._infinite += len(numbers) - int(np.count_nonzero(finite))
                numbers = numbers[finite]
            self._histogram.add(numbers)
        elif self._histogram is not None:
            self._histogram.add(_integers(values))

    def _without_nans(self, values: Column) -> Column:
        """The numbers, without those that are not a number."""
        numbers = fixed_values(values, f"<f{values.type.bit_width // 8}")
        missing = np.isnan(numbers)
        count = int(np.count_nonzero(missing))
        self._nans += count
        return positive_zeros(take_rows(values, np.flatnonzero(~missing)) if count else values)

    def _count(self, values: Column) -> None:
        """Count distinct and frequent values."""
        if not _has_repetitions(values):
            self._distinct.add(hash64(values))
            self._frequent.skip(len(values))
            return
        different, numbers = _value_counts(values)
        self._distinct.add(hash64(different))
        if self._kind.root in (*TEXTS, *BYTES):
            short = _sizes(different) <= _MAX_COUNTED_BYTES
            if not short.all():
                self._frequent.skip(int(numbers[~short].sum()))
                different, numbers = take_rows(different, np.flatnonzero(short)), numbers[short]
        self._frequent.add(different, numbers)

    def described(self, found: ColumnProfile) -> ColumnProfile:
        """The profile with the figures of the values."""
        found = replace(
            found,
            nans=self._nans,
            distinct=min(self._distinct.count, self._rows) + bool(self._nans),
            distinct_error=self._distinct.error,
            notes=tuple(self._notes()),
        )
        bounds = self._bounds
        if bounds is None:
            return found
        low, high = (value_of(bounds, self._kind, index) for index in (0, 1))
        return replace(
            found,
            minimum=low,
            maximum=high,
            histogram=self._shown_histogram(low, high),
            frequent=self._shown_values(),
            frequent_error=self._frequent.error,
        )

    def _notes(self) -> Iterable[str]:
        if self._nans:
            yield plural(self._nans, "NaN value")
        if self._infinite:
            yield f"{plural(self._infinite, 'infinite value')} not in the histogram"

    def _shown_histogram(self, low: Value, high: Value) -> Histogram | None:
        histogram = self._histogram
        if histogram is None or not (bins := histogram.bins()).counts:
            return None
        if isinstance(histogram, FloatHistogram) and self._infinite:
            low, high = (self._float_value(end) for end in (histogram.low, histogram.high))
        inner = [edge_value(edge, self._kind) for edge in bins.edges]
        return Histogram(edges=(low, *inner, high), counts=bins.counts)

    def _float_value(self, number: float) -> Value:
        text = str(np.float32(number)) if self._kind.root is TypeRoot.FLOAT else repr(number)
        return edge_value(Decimal(text), self._kind)

    def _shown_values(self) -> tuple[FrequentValue, ...]:
        values, counts = self._frequent.top(SHOWN_VALUES)
        if not len(counts) or (counts[0] == 1 and self._distinct.count > SHOWN_VALUES):
            return ()
        return tuple(
            FrequentValue(value=value_of(values, self._kind, index), count=count)
            for index, count in enumerate(counts.tolist())
        )


def positive_zeros(values: Column) -> Column:
    """Floating-point numbers without nulls, with 0.0 for -0.0, which is equal to it."""
    numbers = fixed_values(values, f"<f{values.type.bit_width // 8}")
    return build_fixed(values.type, np.add(numbers, 0, dtype=numbers.dtype))


def extremes(values: Column) -> Column:
    """The smallest and the largest value; null if there is none."""
    ends = pc.min_max(values)
    parts: list[Column] = [pa.repeat(ends[name], 1) for name in ("min", "max")]  # type: ignore[call-overload]  # in stubs
    return pa.concat_arrays(parts)


def _value_counts(values: Column) -> tuple[Column, Ints]:
    """The distinct values in order of appearance, and how often each occurs."""
    counted: pa.StructArray = values.value_counts()  # type: ignore[attr-defined]  # in stubs
    return counted.field(0), fixed_values(counted.field(1), np.int64).astype(np.int64)


def _has_repetitions(values: Column) -> bool:
    """Whether a sample suggests that some values are frequent."""
    if len(values) <= 2 * _SAMPLE:
        return True
    step = len(values) // _SAMPLE
    sample = take_rows(values, np.arange(0, len(values), step)[:_SAMPLE])
    _, counts = _value_counts(sample)
    return 2 * len(counts) <= _SAMPLE or int(counts.max()) >= _FREQUENT_IN_SAMPLE


def _histogram_of(kind: AtomicType) -> IntegerHistogram | FloatHistogram | None:
    if kind.root in FLOATS:
        return FloatHistogram(single=kind.root is TypeRoot.FLOAT)
    if kind.root is TypeRoot.DECIMAL and (kind.precision or 0) > _LONG_DECIMAL:
        return FloatHistogram()
    widths = _widths_of(kind)
    return None if widths is None else IntegerHistogram(widths)


def _widths_of(kind: AtomicType) -> Widths | None:
    """Widths of bins of values that are stored as integers; None for other types."""
    match kind.root:
        case TypeRoot.DATE:
            return DAY_WIDTHS
        case TypeRoot.TIME:
            return time_widths(1000)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return time_widths(PER_SECOND[timestamp_unit(kind.precision)])
        case root:
            return DECIMAL_WIDTHS if root in (*INTEGERS, TypeRoot.DECIMAL) else None


def _integers(values: Column) -> Ints:
    """Values as 64-bit integers; decimals without their scale."""
    is_decimal = pa.types.is_decimal(values.type)
    return decimal_low_bits(values) if is_decimal else int64_values(values)


def _floats(values: Column) -> Floats:
    """Values as floating-point numbers; decimals are rounded."""
    is_decimal = pa.types.is_decimal(values.type)
    return float64_values(values.cast(pa.float64()) if is_decimal else values)


# Up to k distinct values the count is exact; above, the standard error is 1 / sqrt(k - 2). Spec:
# Bar-Yossef et al., Counting distinct elements in a data stream; Beyer et al., On synopses for
# distinct-value estimation under multiset operations.
class DistinctSketch:
    """Estimates the number of distinct values from their hashes, in bounded memory.

    Args:
        size: maximum number of hashes that are kept.

    >>> sketch = DistinctSketch()
    >>> sketch.add(np.array([3, 1, 3], np.uint64))
    >>> sketch.count
    2
    """

    def __init__(self, size: int = SKETCH_SIZE) -> None:
        self._size = size
        self._hashes: UInt64s = np.empty(0, np.uint64)
        self._dropped = False

    def add(self, hashes: UInt64s) -> None:
        """Add the hashes of values in any order, with any number of repetitions."""
        if len(self._hashes) == self._size:
            hashes = hashes[hashes <= self._hashes[-1]]
        if not len(hashes):
            return
        found = np.concatenate([self._hashes, hashes])
        found.sort()  # several times as fast as np.unique
        found = found[np.concatenate([[True], found[1:] != found[:-1]])]
        self._dropped |= len(found) > self._size
        self._hashes = found[: self._size]

    @property
    def count(self) -> int:
        """The number of distinct values: exact, or an estimate."""
        if not self._dropped:
            return len(self._hashes)
        return round((self._size - 1) / ((float(self._hashes[-1]) + 1) / _RANGE))

    @property
    def error(self) -> float:
        """The relative standard error of the count; 0 if it is exact."""
        return 1 / math.sqrt(self._size - 2) if self._dropped else 0.0


# Counts are exact while there are few distinct values. Beyond that, summaries drop rare values and
# reduce all counts by the same number; the sum of these numbers is the maximum by which a count is
# too small.
# Spec: Agarwal et al., Mergeable summaries.
class FrequentValues:
    """Counts values.

    Attributes:
        error: maximum by which a count is too small, and maximum count of a missing value.

    >>> values = FrequentValues()
    >>> values.add(pa.array(["a", "b"]), np.array([3, 1]))
    >>> values.add(pa.array(["b", "c"]), np.array([4, 1]))
    >>> [part.tolist() for part in values.top(2)]
    [['b', 'a'], [5, 3]]
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._values: Column | None = None
        self._counts: Ints = np.empty(0, np.int64)
        self.error = 0

    def add(self, values: Column, counts: Ints) -> None:
        """Add counts of distinct values."""
        values, counts = self._reduced(values, counts)
        if self._values is not None:
            encoded = pa.concat_arrays([self._values, values]).dictionary_encode()
            codes = fixed_values(encoded.indices, np.int32)
            weights = np.concatenate([self._counts, counts])
            counts = np.bincount(codes, weights=weights).astype(np.int64)
            values, counts = self._reduced(encoded.dictionary, counts)
        self._values, self._counts = values, counts

    def skip(self, rows: int) -> None:
        """Record rows that are not counted."""
        self.error += rows

    def top(self, limit: int) -> tuple[Column, Ints]:
        """Return the values that are more frequent than any missing value, and their counts."""
        if self._values is None:
            return empty_array(pa.null()), self._counts
        order = np.argsort(-self._counts, kind="stable")[:limit]
        order = order[self._counts[order] > self.error]
        return take_rows(self._values, order), self._counts[order]

    def _reduced(self, values: Column, counts: Ints) -> tuple[Column, Ints]:
        """Keep at most so many values as there is capacity."""
        excess = len(counts) - self._capacity
        if excess <= 0:
            return values, counts
        cut = int(np.partition(counts, excess - 1)[excess - 1])
        self.error += cut
        kept = np.flatnonzero(counts > cut)
        return take_rows(values, kept), counts[kept] - cut


# Words of eight bytes are mixed as in SplitMix64, all values at once.
def hash64(values: Column) -> UInt64s:
    """Hash values without nulls; equal values have equal hashes, also 0.0 and -0.0.

    >>> import pyarrow as pa
    >>> a, b, c = hash64(pa.array(["x", "y", "x"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    kind = values.type
    if pat.is_boolean(kind):
        return _mixed(bool_values(values).astype(np.uint64))
    if pat.is_floating(kind):
        numbers = fixed_values(values, f"<f{kind.bit_width // 8}").astype(np.float64) + 0.0
        return _mixed(numbers.view(np.uint64))
    if pat.is_decimal(kind):
        words = fixed_values(values, "V16").view("<u8")
        return _mixed(words[::2] ^ _mixed(words[1::2]))
    if pat.is_primitive(kind):
        return _mixed(fixed_values(values, f"<u{kind.bit_width // 8}").astype(np.uint64))
    return _hashed_bytes(values)


def _hashed_bytes(values: Column) -> UInt64s:
    offsets, data = var_values(values)
    data = data[offsets[0] : offsets[-1]]
    begin, size = offsets[:-1] - offsets[0], np.diff(offsets)
    short = size < _LONG
    if short.all():
        return _hashed_words(begin, size, data)
    found = np.empty(len(size), np.uint64)
    found[short] = _hashed_words(begin[short], size[short], data)
    for row in np.flatnonzero(~short).tolist():
        part = data[begin[row] : begin[row] + size[row]]
        found[row] = xxhash.xxh64_intdigest(part.tobytes())
    return found


def _hashed_words(begin: Ints, size: Ints, data: Bytes) -> UInt64s:
    """Mix the words of each value, first words first."""
    words = unaligned_words(padded(data))
    found = _mixed(size.astype(np.uint64))
    first = np.minimum(size, WORD_BYTES)
    found = _mixed(found ^ (words[begin] & _MASKS[first]))
    rows = np.flatnonzero(size > WORD_BYTES)
    at = WORD_BYTES
    while len(rows):
        rest = np.minimum(size[rows] - at, WORD_BYTES)
        found[rows] = _mixed(found[rows] ^ (words[begin[rows] + at] & _MASKS[rest]))
        at += WORD_BYTES
        rows = rows[size[rows] > at]
    return found


def _mixed(words: UInt64s) -> UInt64s:
    """The output function of SplitMix64; arithmetic wraps around."""
    found = words + _SEED
    spare = np.empty(min(len(found), _BLOCK), np.uint64)
    for start in range(0, len(found), _BLOCK):
        _mix(found[start : start + _BLOCK], spare)
    return found


def _mix(block: UInt64s, spare: UInt64s) -> None:
    """Mix words in place; blocks and what is computed of them fit into the cache."""
    shifted = spare[: len(block)]
    for shift, factor in _ROUNDS:
        np.right_shift(block, shift, out=shifted)
        np.bitwise_xor(block, shifted, out=block)
        np.multiply(block, factor, out=block)
    np.right_shift(block, _LAST_SHIFT, out=shifted)
    np.bitwise_xor(block, shifted, out=block)
