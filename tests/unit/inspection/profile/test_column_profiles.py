"""The profile of a column of each type, with values that are written out."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.profile.column_collectors import ColumnCollector
from paimon_explore.inspection.profile.column_profile import ColumnProfile
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.predicate.sql_parser import parse_where


def array_of(kind: str, values: list[object]) -> tuple[DataType, Column]:
    data_type = parse_type_text(kind)
    return data_type, pa.array(values, to_arrow(data_type))


def profiled(kind: str, values: list[object]) -> ColumnProfile:
    data_type, column = array_of(kind, values)
    collector = ColumnCollector(("c",), data_type)
    collector.add(column)
    return next(iter(collector.profiles()))


UTC = dt.UTC


def at(*parts: int) -> dt.datetime:
    """A wall-clock time."""
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 - of timestamps without a zone


CASES: dict[str, tuple[list[object], str, str]] = {
    "BOOLEAN": ([True, False, None, True], "false", "true"),
    "TINYINT": ([-128, 127, None, 0], "-128", "127"),
    "SMALLINT": ([-32768, 5, None, 5], "-32768", "5"),
    "INT": ([-7, 2**31 - 1, None, 0], "-7", "2147483647"),
    "BIGINT": ([-(2**63), 2**63 - 1, None, 0], "-9223372036854775808", "9223372036854775807"),
    "FLOAT": ([0.1, -1.5, None, 2.0], "-1.5", "2.0"),
    "DOUBLE": ([0.1, -1e300, None, 2.0], "-1e+300", "2.0"),
    "DECIMAL(5, 2)": ([Decimal("1.50"), Decimal("-9.99"), None, Decimal(0)], "-9.99", "1.50"),
    "DECIMAL(38, 3)": (
        [Decimal("12345678901234567890.125"), Decimal("-1.000"), None, Decimal("1.000")],
        "-1.000",
        "12345678901234567890.125",
    ),
    "CHAR(3)": (["abc", "b", None, "abc"], "abc", "b"),
    "STRING": (["b", "Zürich", None, "ä"], "Zürich", "ä"),
    "BINARY(2)": ([b"\x00\xff", b"\x01\x00", None, b"\x00\xff"], "0x00ff", "0x0100"),
    "BYTES": ([b"", b"\xff", None, b"a"], "0x", "0xff"),
    "DATE": (
        [dt.date(1969, 12, 31), dt.date(2024, 2, 29), None, dt.date(1970, 1, 1)],
        "1969-12-31",
        "2024-02-29",
    ),
    "TIME(3)": (
        [dt.time(0, 0), dt.time(23, 59, 59, 999_000), None, dt.time(12, 0)],
        "00:00:00.000",
        "23:59:59.999",
    ),
    "TIMESTAMP(0)": (
        [at(2024, 1, 1), at(2024, 1, 2), None, at(2024, 1, 1)],
        "2024-01-01 00:00:00",
        "2024-01-02 00:00:00",
    ),
    "TIMESTAMP(6)": (
        [at(2024, 1, 1, 0, 0, 0, 1), at(1969, 1, 1), None, at(2030, 1, 1)],
        "1969-01-01 00:00:00.000000",
        "2030-01-01 00:00:00.000000",
    ),
    "TIMESTAMP(9)": ([0, 1_700_000_000_123_456_789, None, 1], "1970-01-01 00:00:00.000000000",
                     "2023-11-14 22:13:20.123456789"),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": (
        [dt.datetime(2024, 1, 1, tzinfo=UTC), dt.datetime(2024, 1, 2, tzinfo=UTC), None,
         dt.datetime(2024, 1, 1, tzinfo=UTC)],
        "2024-01-01 00:00:00.000Z",
        "2024-01-02 00:00:00.000Z",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_nulls_distinct_values_and_bounds_of_each_type(kind: str) -> None:
    values, low, high = CASES[kind]
    found = profiled(kind, values)
    assert found.nulls == 1
    assert found.distinct == len({str(value) for value in values if value is not None})
    assert found.distinct_error == 0
    assert found.minimum is not None
    assert found.maximum is not None
    assert (found.minimum.text, found.maximum.text) == (low, high)
    assert found.reason == ""


def selected(kind: str, values: list[object], condition: Expression) -> list[bool]:
    """Which rows fulfil a condition, after it went through SQL text."""
    data_type, column = array_of(kind, values)
    row_type = RowType(fields=(DataField(id=0, name="c", type=data_type),))
    bound = bind(parse_where(to_sql(condition)), row_type)
    batch = pa.RecordBatch.from_arrays([column], names=["c"])
    return [found is True for found in evaluate(bound, batch, row_type).to_pylist()]


@pytest.mark.parametrize("kind", CASES)
def test_the_condition_of_each_bin_selects_as_many_rows_as_it_counts(kind: str) -> None:
    values, _, _ = CASES[kind]
    found = profiled(kind, values)
    histogram = found.histogram
    if histogram is None or histogram.of != "values":
        with pytest.raises(InvalidInputError, match="has no histogram of values"):
            found.range_condition(0, 0)
        return
    for bin_number, count in enumerate(histogram.counts):
        condition = found.range_condition(bin_number, bin_number)
        assert sum(selected(kind, values, condition)) == count
    whole = found.range_condition(0, len(histogram.counts) - 1)
    assert selected(kind, values, whole) == [value is not None for value in values]


@pytest.mark.parametrize("kind", CASES)
def test_the_condition_of_each_frequent_value_selects_its_rows(kind: str) -> None:
    values, _, _ = CASES[kind]
    found = profiled(kind, values)
    assert found.frequent
    assert sum(one.count for one in found.frequent) == 3
    for number, one in enumerate(found.frequent):
        assert sum(selected(kind, values, found.value_condition(number))) == one.count
    assert selected(kind, values, found.null_condition()) == [value is None for value in values]


@pytest.mark.parametrize("kind", CASES)
def test_a_column_of_nulls_has_no_figures_but_their_count(kind: str) -> None:
    found = profiled(kind, [None, None])
    assert (found.nulls, found.distinct, found.minimum, found.histogram) == (2, 0, None, None)
    assert found.frequent == ()
    assert profiled(kind, []).nulls == 0


def test_a_float_may_be_not_a_number_or_infinite() -> None:
    nan, inf = float("nan"), float("inf")
    found = profiled("DOUBLE", [nan, 1.0, inf, None, nan, -inf, 2.0])
    assert (found.nulls, found.nans, found.distinct) == (1, 2, 5)
    assert found.minimum is not None
    assert found.maximum is not None
    assert (found.minimum.text, found.maximum.text) == ("-inf", "inf")
    assert found.notes == ("2 NaN values", "2 infinite values not in the histogram")
    assert found.histogram is not None
    assert sum(found.histogram.counts) == 2
    assert [found.histogram.edges[i].text for i in (0, -1)] == ["1.0", "2.0"]
    assert profiled("FLOAT", [nan]).minimum is None


def test_lengths_of_texts_are_in_bytes() -> None:
    found = profiled("STRING", ["", "abc", "ä", None])
    assert (found.average_length, found.max_length) == (5 / 3, 3)
    assert found.histogram is not None
    assert found.histogram.state() == {
        "of": "lengths", "edges": ["0", "1", "2", "3", "3"], "counts": [1, 0, 1, 1]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "values", "average", "reason"),
    [
        ("ARRAY<INT>", [[1, None], [], None], 1.0, "ARRAY: only nulls and lengths are profiled"),
        ("MAP<STRING, INT>", [[("a", 1)], [], None], 0.5,
         "MAP: only nulls and lengths are profiled"),
        ("MULTISET<INT>", [[(1, 2)], [(1, 1), (2, 1)], None], 1.5,
         "MULTISET: only nulls and lengths are profiled"),
        ("VECTOR<FLOAT, 2>", [[1.0, 2.0], [0.0, 0.0], None], None,
         "VECTOR: only nulls are profiled"),
        ("VARIANT", [{"value": b"abc", "metadata": b"m"}, {"value": b"d", "metadata": b"m"}, None],
         2.0, "not profiled: VARIANT values have no order"),
        ("GEOMETRY('EPSG:4326')", [b"ab", b"abcd", None], 3.0,
         "not profiled: GEOMETRY values have no order"),
        ("BLOB", [b"x", b"y", None], None, "not profiled: BLOB values are not read"),
    ],
)  # fmt: skip
def test_types_without_an_order_say_what_is_profiled(
    kind: str, values: list[object], average: float | None, reason: str
) -> None:
    found = profiled(kind, values)
    assert (found.nulls, found.average_length, found.reason) == (1, average, reason)
    assert found.minimum is None


def test_fields_of_a_row_have_profiles_of_their_own() -> None:
    data_type, column = array_of(
        "ROW<a INT, b ROW<c STRING, d ARRAY<INT>>>",
        [{"a": 1, "b": {"c": "x", "d": [1]}}, {"a": None, "b": None}, None],
    )
    collector = ColumnCollector(("r",), data_type)
    collector.add(column.slice(0, 2))
    collector.add(column.slice(2))
    found = {one.name: (one.nulls, one.distinct) for one in collector.profiles()}
    assert found == {
        "r": (1, None), "r.a": (2, 1), "r.b": (2, None), "r.b.c": (2, 1), "r.b.d": (2, None)
    }  # fmt: skip


def test_long_texts_are_not_counted_as_frequent_values() -> None:
    found = profiled("STRING", [*["x" * 300] * 3, *["y"] * 5])
    assert [(one.value.text, one.count) for one in found.frequent] == [("y", 5)]
    assert found.frequent_error == 3
    assert found.distinct == 2


def test_a_column_of_unique_values_is_estimated_and_has_no_frequent_values() -> None:
    data_type = parse_type_text("STRING")
    collector = ColumnCollector(("c",), data_type)
    for start in range(0, 60_000, 20_000):
        collector.add(pa.array([f"name {number}" for number in range(start, start + 20_000)]))
    found = next(iter(collector.profiles()))
    assert found.distinct == pytest.approx(60_000, rel=0.03)
    assert found.distinct_text.startswith("~")
    assert found.distinct_error == pytest.approx(0.0078, abs=0.0001)
    assert (found.frequent, found.frequent_error) == ((), 60_000)


def test_an_estimate_is_not_higher_than_the_number_of_rows() -> None:
    collector = ColumnCollector(("c",), parse_type_text("BIGINT"))
    counts = []
    for start in range(0, 120_000, 20_000):
        collector.add(pa.array(range(start, start + 20_000)))
        found = next(iter(collector.profiles()))
        assert found.distinct is not None
        assert 0.97 * (start + 20_000) < found.distinct <= start + 20_000
        counts.append(found.distinct)
    assert counts == sorted(counts)


def test_a_frequent_value_among_unique_ones_is_found() -> None:
    data_type = parse_type_text("INT")
    collector = ColumnCollector(("c",), data_type)
    values = [number if number % 20 else -1 for number in range(30_000)]
    collector.add(pa.array(values, pa.int32()))
    found = next(iter(collector.profiles()))
    assert [(one.value.text, one.count + found.frequent_error) for one in found.frequent] == [
        ("-1", 1500)
    ]


def test_a_part_that_the_profile_does_not_have_is_refused() -> None:
    found = profiled("INT", [1, 2])
    with pytest.raises(InvalidInputError, match="has the bins 0 to 1"):
        found.range_condition(0, 2)
    with pytest.raises(InvalidInputError, match="has the bins 0 to 1"):
        found.range_condition(1, 0)
    with pytest.raises(InvalidInputError, match="has 2 frequent values, numbered from 0: number 2"):
        found.value_condition(2)
