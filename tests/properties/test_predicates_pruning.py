"""Pruning never loses a row, whatever the statistics, buckets or indexes say or leave out."""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.encoding.bucket_function import BucketFunction, bucket_of
from paimon_explore.encoding.file_index.container import encode_container
from paimon_explore.encoding.file_index.index_keys import is_indexable
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings
from paimon_explore.inspection.explain.pruning_decisions import explain
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.pruning.bucket_pruning import allowed_buckets
from paimon_explore.scan.pruning.file_index_filter import indexed_rows
from paimon_explore.scan.pruning.statistics_pruning import (
    ColumnStats,
    StatsTable,
    may_match,
    outcomes,
)
from support.predicates import ROW_TYPE, Row, batch_of, conditions, predicates, rows, truth

MODES = ("absent", "none", "counts", "truncated", "full", "nan")
FLAT = tuple(name for name in ROW_TYPE.names if name != "r")


def _cut(low: object, high: object) -> tuple[object, object]:
    """Bounds cut to one character, as writers do: the maximum is raised at its last character."""
    if isinstance(low, str) and isinstance(high, str):
        if len(high) <= 1:
            return low[:1], high
        return (None, None) if high[0] == "\U0010ffff" else (low[:1], chr(ord(high[0]) + 1))
    if isinstance(low, bytes) and isinstance(high, bytes):
        if len(high) <= 1:
            return low[:1], high
        return (None, None) if high[0] == 255 else (low[:1], bytes([high[0] + 1]))
    if isinstance(low, int) and isinstance(high, int) and not isinstance(low, bool):
        return max(low - 1, -128), min(high + 1, 127)
    return low, high


def _bounds(values: Sequence[object], mode: str) -> tuple[object, object]:
    known = [value for value in values if value is not None]
    numbers: list[Any] = [
        value for value in known if not (isinstance(value, float) and math.isnan(value))
    ]
    if mode in {"none", "counts"} or not numbers:
        return None, None
    if mode == "nan" and len(numbers) < len(known):
        return math.nan, math.nan
    low, high = min(numbers), max(numbers)
    return _cut(low, high) if mode == "truncated" else (low, high)


def _frame(files: Sequence[Sequence[Row]], modes: Sequence[str]) -> StatsTable:
    columns = {}
    for name, mode in zip(FLAT, modes, strict=True):
        field = ROW_TYPE.field(name)
        assert field is not None
        if mode == "absent":
            continue
        values = [[row[name] for row in file] for file in files]
        pairs = [_bounds(column, mode) for column in values]
        nulls = [None if mode == "none" else column.count(None) for column in values]
        columns[name] = ColumnStats(
            minimum=pa.array([low for low, _ in pairs], to_arrow(field.type)),
            maximum=pa.array([high for _, high in pairs], to_arrow(field.type)),
            null_count=pa.array(nulls, pa.int64()),
        )
    return StatsTable(
        row_count=pa.array([len(file) for file in files], pa.int64()), columns=columns
    )


@given(
    predicates(),
    st.lists(rows, min_size=1, max_size=4),
    st.lists(st.sampled_from(MODES), min_size=len(FLAT), max_size=len(FLAT)),
)
def test_no_statistics_prune_a_file_with_a_matching_row_and_explanations_agree(
    expr: Expression, files: list[list[Row]], modes: list[str]
) -> None:
    stats = _frame(files, modes)
    bound = bind(expr, ROW_TYPE)
    found = outcomes(bound, stats)
    kept = may_match(bound, stats).tolist()
    for index, file in enumerate(files):
        seen = {truth(expr, row) for row in file}
        assert True not in seen or found.true[index]
        assert False not in seen or found.false[index]
        assert None not in seen or found.unknown[index]
        finding = explain(bound, stats, index)
        assert finding.kept is kept[index]
        if not kept[index]:
            assert finding.leaves, "an explanation blames a condition"
            assert all(leaf.excludes for leaf in finding.leaves)


@settings(max_examples=300)
@given(conditions(), rows, st.sampled_from(MODES))
def test_no_statistics_of_one_column_prune_a_file_with_a_matching_row(
    expr: Expression, file: list[Row], mode: str
) -> None:
    kept = may_match(bind(expr, ROW_TYPE), _frame([file], [mode] * len(FLAT)))
    assert kept[0] or not any(truth(expr, row) is True for row in file)


@given(predicates(["i", "s"]), st.integers(1, 5), st.sampled_from(["default", "hive"]))
def test_a_matching_row_lies_in_an_allowed_bucket(
    expr: Expression, total: int, function: BucketFunction
) -> None:
    keys = [field for field in ROW_TYPE if field.name in {"i", "s"}]
    allowed = allowed_buckets(bind(expr, ROW_TYPE), keys, total, function)
    everything = [
        {"i": i, "s": s} for i in [None, -3, -1, 0, 1, 2, 3] for s in [None, "", "a", "ab", "b%"]
    ]
    columns = [pa.array([row[key.name] for row in everything], to_arrow(key.type)) for key in keys]
    buckets = bucket_of(columns, [key.type for key in keys], total, function).tolist()
    for row, bucket in zip(everything, buckets, strict=True):
        if truth(expr, row) is True:
            assert allowed is None or bucket in allowed


@given(predicates(), rows, st.sampled_from(["bloom-filter", "bitmap", "bsi", "range-bitmap"]))
def test_a_matching_row_is_among_those_that_an_index_leaves(
    expr: Expression, found: list[Row], kind: str
) -> None:
    batch = batch_of(found)
    parts = []
    for field in ROW_TYPE:
        if is_indexable(kind, field.type):
            builder = IndexBuilder(kind, field.type, IndexSettings(items=10))
            builder.add(batch.column(field.name))
            parts.append((field.name, kind, builder.encode()))
    indexed = indexed_rows(bind(expr, ROW_TYPE), encode_container(parts), ROW_TYPE, len(found))
    matching = {i for i, row in enumerate(found) if truth(expr, row) is True}
    assert not (indexed.skip and matching)
    assert indexed.positions is None or matching <= set(indexed.positions)
