"""Profiles of random columns: figures agree with the values, conditions select what was counted."""

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.inspection.profile.column_collectors import ColumnCollector
from paimon_explore.inspection.profile.column_profile import ColumnProfile
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.type_strategies import atomic_types, types, values


@st.composite
def column(draw: st.DrawFn, kinds: st.SearchStrategy[DataType]) -> tuple[DataType, Column]:
    """A type, and an array of it."""
    kind = draw(kinds)
    given_values = draw(st.lists(values(kind), max_size=30))
    return kind, pa.array(given_values, to_arrow(kind))


def profiled(kind: DataType, parts: Sequence[Column]) -> tuple[ColumnProfile, ...]:
    collector = ColumnCollector(("c",), kind)
    for part in parts:
        collector.add(part)
    return tuple(collector.profiles())


def selected(kind: DataType, array: Column, condition: Expression) -> int:
    """How many rows fulfil a condition, after it went through SQL text."""
    row_type = RowType(fields=(DataField(id=0, name="c", type=kind),))
    bound = bind(parse_where(to_sql(condition)), row_type)
    batch = pa.RecordBatch.from_arrays([array], names=["c"])
    return [found is True for found in evaluate(bound, batch, row_type).to_pylist()].count(True)


@given(column(types()), st.integers(0, 30))
def test_a_column_of_any_type_has_a_profile_that_batches_do_not_change(
    drawn: tuple[DataType, Column], cut: int
) -> None:
    kind, array = drawn
    whole, *fields = profiled(kind, [array])
    assert whole.nulls == array.null_count
    assert (whole, *fields) == profiled(kind, [array.slice(0, cut), array.slice(cut)])


@given(column(atomic_types()))
def test_each_bin_and_each_frequent_value_selects_the_rows_that_it_counts(
    drawn: tuple[DataType, Column],
) -> None:
    kind, array = drawn
    found = profiled(kind, [array])[0]
    assert selected(kind, array, found.null_condition()) == array.null_count
    for number, one in enumerate(found.frequent):
        assert selected(kind, array, found.value_condition(number)) == one.count
    histogram = found.histogram
    if histogram is None or histogram.of != "values":
        return
    counts = [
        selected(kind, array, found.range_condition(i, i)) for i in range(len(histogram.counts))
    ]
    assert counts == list(histogram.counts)
    if sum(counts) == len(array) - array.null_count:
        whole = found.range_condition(0, len(counts) - 1)
        assert selected(kind, array, whole) == sum(counts)
