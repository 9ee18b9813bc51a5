"""Hashes, sketches of distinct values, summaries of frequent values, and histograms."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.inspection.profile.column_collectors import (
    SKETCH_SIZE,
    DistinctSketch,
    FrequentValues,
    hash64,
)
from paimon_explore.inspection.profile.streaming_histogram import (
    DAY_WIDTHS,
    DECIMAL_WIDTHS,
    MAX_BINS,
    SHOWN_BINS,
    FloatHistogram,
    IntegerHistogram,
    time_widths,
)

WORDS = ["", "a", "ab", "12345678", "123456789", "x" * 16, "x" * 17, "y" * 511, "y" * 600, "ä" * 9]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, False]),
        pa.array([-1, 0, 1, 127], pa.int8()),
        pa.array([-1, 0, 1], pa.int16()),
        pa.array([-1, 0, 2**31 - 1], pa.int32()),
        pa.array([-(2**63), 0, 2**63 - 1]),
        pa.array([0.0, 1.5, float("inf")], pa.float32()),
        pa.array([0.0, 1.5, -1e300]),
        pa.array([Decimal(1), Decimal(-1), Decimal(10) ** 30], pa.decimal128(38, 0)),
        pa.array(WORDS),
        pa.array([word.encode() for word in WORDS]),
        pa.array([0, 1], pa.date32()),
        pa.array([0, 1], pa.timestamp("us")),
        pa.array([0, 1], pa.time32("ms")),
    ],
    ids=lambda values: str(values.type),
)
def test_equal_values_have_equal_hashes_and_others_do_not(values: Column) -> None:
    twice = pa.concat_arrays([values, values])
    hashes = hash64(twice).tolist()
    assert hashes[: len(values)] == hashes[len(values) :]
    assert len(set(hashes)) == len(values)
    assert hash64(twice.slice(1)).tolist() == hashes[1:]


def test_the_two_zeros_are_equal() -> None:
    first, second = hash64(pa.array([0.0, -0.0])).tolist()
    assert first == second


def test_no_values_have_no_hashes() -> None:
    assert len(hash64(pa.array([], pa.string()))) == 0


def test_up_to_the_size_of_the_sketch_the_count_is_exact() -> None:
    sketch = DistinctSketch(64)
    for start in range(0, 64, 7):
        sketch.add(hash64(pa.array(range(min(start + 9, 64)))))
    assert (sketch.count, sketch.error) == (64, 0.0)
    sketch.add(hash64(pa.array([64])))
    assert sketch.error == pytest.approx(0.127, abs=0.001)


@pytest.mark.parametrize("count", [SKETCH_SIZE + 1, 50_000, 300_000])
def test_an_estimate_is_within_four_standard_errors(count: int) -> None:
    found = []
    for seed in range(4):
        sketch = DistinctSketch()
        numbers = np.arange(count, dtype=np.int64) * 4 + seed
        for part in np.array_split(np.concatenate([numbers, numbers[: count // 2]]), 5):
            sketch.add(hash64(pa.array(part)))
        assert sketch.error == pytest.approx(0.0078, abs=0.0001)
        found.append(sketch.count)
    assert max(abs(one - count) / count for one in found) < 4 * 0.0078


def test_the_order_of_the_values_does_not_change_an_estimate() -> None:
    numbers = np.arange(40_000)
    counts = []
    for parts in ([numbers], np.array_split(numbers[::-1], 9)):
        sketch = DistinctSketch()
        for part in parts:
            sketch.add(hash64(pa.array(part)))
        counts.append(sketch.count)
    assert counts[0] == counts[1]


def test_counts_of_few_values_are_exact() -> None:
    values = FrequentValues(capacity=3)
    for text in ("abca", "aab", "c"):
        counts = Counter(text)
        values.add(pa.array(list(counts)), np.array(list(counts.values())))
    found, counts_found = values.top(2)
    assert (as_python(found), counts_found.tolist(), values.error) == (["a", "b"], [4, 2], 0)


def test_a_count_is_too_small_by_the_error_at_most() -> None:
    random = np.random.default_rng(7)
    numbers = np.minimum(random.zipf(1.3, 60_000), 10_000)
    values = FrequentValues(capacity=200)
    for part in np.array_split(numbers, 23):
        different, counts = np.unique(part, return_counts=True)
        values.add(pa.array(different), counts)
    true: Counter[object] = Counter(numbers.tolist())
    found, counts_found = values.top(10)
    assert values.error > 0
    assert as_python(found)[:3] == [1, 2, 3]
    for value, count in zip(as_python(found), counts_found.tolist(), strict=True):
        assert count <= true[value] <= count + values.error
    left_out = set(true) - set(as_python(values.top(200)[0]))
    assert max(true[value] for value in left_out) <= 2 * values.error


def test_skipped_rows_are_part_of_the_error() -> None:
    values = FrequentValues()
    values.add(pa.array(["a", "b"]), np.array([9, 3]))
    values.skip(5)
    found, counts = values.top(5)
    assert (as_python(found), counts.tolist(), values.error) == (["a"], [9], 5)


def test_without_values_nothing_is_frequent() -> None:
    found, counts = FrequentValues().top(3)
    assert (len(found), len(counts)) == (0, 0)


def expected_counts(values: list[float], edges: list[float]) -> list[int]:
    """The counts by comparisons of each value with the edges."""
    counts = [0] * (len(edges) + 1)
    for value in values:
        counts[sum(value >= edge for edge in edges)] += 1
    return counts


@pytest.mark.parametrize(
    ("parts", "edges"),
    [
        ([[0, 1, 1, 2]], (1, 2)),
        ([[5]], ()),
        ([[-7, 7], [0]], tuple(range(-6, 8))),
        ([[0], [310]], tuple(range(10, 311, 10))),
        ([[0, 99], [100_000]], tuple(range(5000, 100_001, 5000))),
        ([[-(2**63)], [2**63 - 1]], None),
        ([[2**62], [2**62 + 3]], (2**62 + 1, 2**62 + 2, 2**62 + 3)),
    ],
)
def test_bins_of_integers_have_round_edges(
    parts: list[list[int]], edges: tuple[int, ...] | None
) -> None:
    histogram = IntegerHistogram(DECIMAL_WIDTHS)
    for part in parts:
        histogram.add(np.array(part, np.int64))
    bins = histogram.bins()
    whole = [value for part in parts for value in part]
    assert (histogram.low, histogram.high) == (min(whole), max(whole))
    if edges is not None:
        assert bins.edges == edges
    assert list(bins.counts) == expected_counts(list(whole), [int(e) for e in bins.edges])
    assert len(bins.counts) <= SHOWN_BINS


def test_bins_of_growing_ranges_count_each_value_where_it_belongs() -> None:
    random = np.random.default_rng(3)
    parts = [random.integers(-(10**k), 10**k, 400) for k in range(1, 18, 2)]
    histogram = IntegerHistogram(DECIMAL_WIDTHS)
    for part in parts:
        histogram.add(part)
    bins = histogram.bins()
    whole = np.concatenate(parts).tolist()
    assert list(bins.counts) == expected_counts(whole, [int(e) for e in bins.edges])
    assert 8 < len(bins.counts) <= SHOWN_BINS < MAX_BINS


def test_bins_of_days_are_days_and_weeks() -> None:
    histogram = IntegerHistogram(DAY_WIDTHS)
    histogram.add(np.array([0, 100]))
    assert histogram.bins().edges == tuple(range(7, 100, 7))
    histogram.add(np.array([40_000]))
    assert histogram.bins().edges[0] % 364 == 0


def test_bins_of_times_are_round_in_seconds() -> None:
    histogram = IntegerHistogram(time_widths(1000))
    histogram.add(np.array([0, 59_999]))
    assert histogram.bins().edges[:2] == (2000, 4000)
    histogram.add(np.array([3_600_000 * 30]))
    assert histogram.bins().edges[:2] == (3_600_000, 7_200_000)


@pytest.mark.parametrize("ticks", [1, 1000, 10**6, 10**9])
def test_each_width_is_a_multiple_of_the_one_before(ticks: int) -> None:
    for widths in (time_widths(ticks), DAY_WIDTHS, DECIMAL_WIDTHS):
        series = widths.series
        assert [b % a for a, b in pairwise(series)] == [0] * (len(series) - 1)
        assert list(widths.shown) == sorted(widths.shown)
        assert 2**64 // series[-1] < MAX_BINS or widths is DAY_WIDTHS


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.2, 0.3],
        [0.0],
        [-0.0, 0.0],
        [5e-324, 1e-300],
        [1.7e308, -1.7e308],
        [1e15, 1e15 + 1, 1e15 + 2],
        [-1.5, -0.5, 0.25, 1.5],
        [i / 10 for i in range(-31, 32)],
    ],
)
def test_a_float_is_in_the_bin_that_comparisons_give(values: list[float], *, single: bool) -> None:
    given = np.array(values)
    if single:
        with np.errstate(over="ignore"):
            given = given.astype(np.float32).astype(np.float64)
        given = given[np.isfinite(given)]
    histogram = FloatHistogram(single=single)
    for value in given:
        histogram.add(np.array([value]))
    bins = histogram.bins()
    edges = [float(edge) for edge in bins.edges]
    if single:
        edges = [float(np.float32(edge)) for edge in edges]
    assert list(bins.counts) == (expected_counts(given.tolist(), edges) if len(given) else [])
    assert len(bins.counts) <= SHOWN_BINS


def test_random_floats_are_where_comparisons_put_them() -> None:
    random = np.random.default_rng(11)
    histogram = FloatHistogram()
    parts = [random.normal(0, 10.0**k, 500).round(2) for k in (-2, 0, 1, 4)]
    for part in parts:
        histogram.add(part)
    bins = histogram.bins()
    whole = np.concatenate(parts).tolist()
    assert list(bins.counts) == expected_counts(whole, [float(edge) for edge in bins.edges])
    assert sum(bins.counts) == 2000


def test_a_histogram_without_values_has_no_bins() -> None:
    assert IntegerHistogram(DECIMAL_WIDTHS).bins().counts == ()
    assert FloatHistogram().bins().counts == ()
