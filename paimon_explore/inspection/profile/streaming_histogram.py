"""Histograms of a stream of numbers whose range is not known in advance.

Bins have a width out of a series in which each width is a multiple of the one before, and start at
multiples of it. If a value lies outside the bins and there is no room for more, bins are merged to
the next width, which loses nothing. The result joins bins to a few bins with a round width.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor, log10

import numpy as np

from paimon_explore.data_types.arrow_buffers import Floats, Ints
from paimon_explore.frozen_dataclass import dataclass

MAX_BINS = 2048
"""Maximum number of bins while values are added."""
SHOWN_BINS = 32
"""Maximum number of bins of the result."""

_ROUND = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
_MAX_NUMBER = 2**50
"""Maximum number of a floating-point bin: width and value keep their precision."""
_MIN_EXPONENT, _MAX_EXPONENT = -300, 308
_FINE_DIGITS = 16

_CLOCK = (1, 10, 60, 600, 3600, 21_600)
_YEARS = tuple(364 * 10**k for k in range(13))
_DAYS = (1, 7, 28, *_YEARS)
_SHOWN_CLOCK = (
    *(unit * count for unit in (1, 60) for count in (1, 2, 5, 10, 20, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12)),
)
_SHOWN_DAYS = (1, 2, 7, 14, 28, 56, 91, 182, 364, 728, 1820, *_YEARS[1:])
_DAY = 86_400
_MAX_WIDTH = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """The bins of a histogram.

    Attributes:
        edges: the inner edges in ascending order, one less than there are bins; a value on an edge
            belongs to the bin above it.
        counts: number of values of each bin.
    """

    edges: tuple[int | Decimal, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """Widths of bins.

    Attributes:
        series: widths while values are added; each is a multiple of the one before.
        shown: widths of the result.
    """

    series: tuple[int, ...]
    shown: tuple[int, ...]


DECIMAL_WIDTHS = Widths(
    series=tuple(10**k for k in range(18)),
    shown=(*(n * 10**k for k in range(18) for n in (1, 2, 5)), 10**18),
)
DAY_WIDTHS = Widths(series=_DAYS[:10], shown=_SHOWN_DAYS[:18])


def time_widths(ticks: int) -> Widths:
    """Widths for times that are stored as a number of ticks.

    Args:
        ticks: ticks per second, a power of ten.
    """
    small = tuple(10**k for k in range(len(str(ticks)) - 1))
    shown_small = (n * width for width in small for n in (1, 2, 5))
    seconds = (*_CLOCK, *(days * _DAY for days in _DAYS))
    shown_seconds = (*_SHOWN_CLOCK, *(days * _DAY for days in _SHOWN_DAYS))
    return Widths(
        series=_fitting((*small, *(count * ticks for count in seconds))),
        shown=_fitting((*shown_small, *(count * ticks for count in shown_seconds))),
    )


def _fitting(widths: Sequence[int]) -> tuple[int, ...]:
    """The widths that fit into 64 bits."""
    return tuple(width for width in widths if width < _MAX_WIDTH)


class StreamingHistogram(ABC):
    """Counts of consecutive bins of equal width."""

    def __init__(self) -> None:
        self._first = 0
        self._counts: Ints = np.empty(0, np.int64)

    @abstractmethod
    def bins(self) -> Bins:
        """The histogram of all values so far."""

    def _extend(self, first: int, last: int) -> None:
        """Make room for the bins with the numbers from `first` to `last`."""
        if not len(self._counts):
            self._first, self._counts = first, np.zeros(last - first + 1, np.int64)
            return
        start, end = self._span(first, last)
        counts = np.zeros(end - start + 1, np.int64)
        at = self._first - start
        counts[at : at + len(self._counts)] = self._counts
        self._first, self._counts = start, counts

    def _span(self, first: int, last: int) -> tuple[int, int]:
        """The bins with those that exist already."""
        if not len(self._counts):
            return first, last
        return min(first, self._first), max(last, self._first + len(self._counts) - 1)

    def _count(self, places: Ints) -> None:
        self._counts += np.bincount(places, minlength=len(self._counts))

    def _coarsen(self, factor: int) -> None:
        """Merge bins to `factor` times their width."""
        if len(self._counts):
            self._first, self._counts = _merged(self._first, self._counts, factor)

    def _shown(self, factors: Sequence[int]) -> tuple[int, Ints, int]:
        """The number of the first bin, the counts, and the factor by which bins were merged."""
        filled = np.flatnonzero(self._counts)
        if not len(filled):
            return 0, self._counts[:0], 1
        first, counts = self._first + int(filled[0]), self._counts[filled[0] : filled[-1] + 1]
        last = first + len(counts) - 1
        factor = next(
            (f for f in factors if last // f - first // f < SHOWN_BINS), max(factors, default=1)
        )
        return *_merged(first, counts, factor), factor


def _merged(first: int, counts: Ints, factor: int) -> tuple[int, Ints]:
    start = first // factor
    places = (np.arange(len(counts)) + (first - start * factor)) // factor
    merged = np.zeros(int(places[-1]) + 1, np.int64)
    np.add.at(merged, places, counts)
    return start, merged


class IntegerHistogram(StreamingHistogram):
    """A histogram of 64-bit integers, which may stand for dates, times and decimals.

    Attributes:
        low: the smallest value so far.
        high: the largest value so far.

    >>> histogram = IntegerHistogram(DECIMAL_WIDTHS)
    >>> histogram.add(np.array([0, 1, 60]))
    >>> histogram.bins().edges[:3], histogram.bins().counts[:3]
    ((2, 4, 6), (2, 0, 0))
    """

    def __init__(self, widths: Widths) -> None:
        super().__init__()
        self.low = self.high = 0
        self._widths = widths
        self._level = 0

    @property
    def _width(self) -> int:
        return self._widths.series[self._level]

    def add(self, values: Ints) -> None:
        """Add values."""
        if not len(values):
            return
        low, high = int(values.min()), int(values.max())
        self.low = min(low, self.low) if len(self._counts) else low
        self.high = max(high, self.high) if len(self._counts) else high
        while True:
            first, last = low // self._width, high // self._width
            start, end = self._span(first, last)
            if end - start < MAX_BINS or self._level == len(self._widths.series) - 1:
                break
            self._level += 1
            self._coarsen(self._width // self._widths.series[self._level - 1])
        self._extend(first, last)
        numbers = values if self._width == 1 else values // np.int64(self._width)
        self._count(numbers - np.int64(self._first))

    def bins(self) -> Bins:
        """The histogram of all values so far."""
        width = self._width
        factors = [shown // width for shown in self._widths.shown if shown % width == 0]
        first, counts, factor = self._shown(factors)
        edges = tuple((first + i) * width * factor for i in range(1, len(counts)))
        return Bins(edges=edges, counts=tuple(counts.tolist()))


class FloatHistogram(StreamingHistogram):
    """A histogram of finite floating-point numbers, with widths that are powers of ten.

    A value belongs to the bin that comparisons with the edges give, as numbers of its precision.

    Args:
        single: whether the values have single precision.

    Attributes:
        low: the smallest value so far.
        high: the largest value so far.

    >>> histogram = FloatHistogram()
    >>> histogram.add(np.array([0.1, 0.2, 0.3]))
    >>> [str(edge) for edge in histogram.bins().edges][::10], histogram.bins().counts[::10]
    (['0.11', '0.21'], (1, 1, 1))
    """

    def __init__(self, *, single: bool = False) -> None:
        super().__init__()
        self.low = self.high = 0.0
        self._single = single
        self._exponent: int | None = None
        self._known_edges = (0, 0, 0), np.empty(0, np.float64)

    def add(self, values: Floats) -> None:
        """Add finite values."""
        if not len(values):
            return
        low, high = float(values.min()), float(values.max())
        self.low = min(low, self.low) if self._exponent is not None else low
        self.high = max(high, self.high) if self._exponent is not None else high
        if self._exponent is None:
            self._exponent = _finest_exponent(max(-low, high))
        while True:
            first = _number(self.low, self._exponent) - 1
            last = _number(self.high, self._exponent) + 1
            precise = max(abs(first), abs(last)) <= _MAX_NUMBER
            if self._exponent == _MAX_EXPONENT or (precise and last - first < MAX_BINS):
                break
            self._exponent += 1
            self._coarsen(10)
        self._extend(first, last)
        self._count(self._places(values))

    def _places(self, values: Floats) -> Ints:
        """The bin of each value: a quotient, corrected by comparisons with the edges."""
        exponent = self._exponent or 0
        size = len(self._counts)
        quotients = values / 10.0**exponent if exponent >= 0 else values * 10.0**-exponent
        places = np.floor(quotients).astype(np.int64) - np.int64(self._first)
        places = np.clip(places, 0, size - 1)
        edges = self._edges()
        places -= values < edges[places]
        places += values >= edges[places + 1]
        found: Ints = np.clip(places, 0, size - 1)
        return found

    def _edges(self) -> Floats:
        """The edges of all bins, as numbers of the precision of the values."""
        exponent, size = self._exponent or 0, len(self._counts)
        if self._known_edges[0] != (exponent, self._first, size):
            found = np.array([float(_edge(self._first + i, exponent)) for i in range(size + 1)])
            if self._single:
                with np.errstate(over="ignore"):  # edges beyond the largest number are infinite
                    found = found.astype(np.float32).astype(np.float64)
            self._known_edges = (exponent, self._first, size), found
        return self._known_edges[1]

    def bins(self) -> Bins:
        """The histogram of all values so far."""
        first, counts, factor = self._shown(_ROUND)
        exponent = self._exponent or 0
        edges = tuple(_edge((first + i) * factor, exponent) for i in range(1, len(counts)))
        return Bins(edges=edges, counts=tuple(counts.tolist()))


def _finest_exponent(magnitude: float) -> int:
    """An exponent whose bins are as fine as the precision of numbers of a magnitude."""
    found = floor(log10(magnitude)) - _FINE_DIGITS if magnitude else _MIN_EXPONENT
    return min(max(found, _MIN_EXPONENT), _MAX_EXPONENT)


def _number(value: float, exponent: int) -> int:
    """The number of the bin of a value, without regard to rounding of the edges."""
    return floor(Fraction(value) / Fraction(10) ** exponent)


def _edge(number: int, exponent: int) -> Decimal:
    return Decimal(number).scaleb(exponent).normalize()
