"""Casts of columns.

`cast_answers.json` holds what Java Paimon 2.0.0 answered: for each case a table with a column of
the source type was written, the column changed to the result's type, and the table read with that
zone. A TIMESTAMP before 1970 as DATE is its day, as since Java 2.1; 2.0 gave the following day.
Times are integers of their unit, floats and decimals texts, bytes hexadecimal.
"""

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import TypedDict
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.types as pat
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import CorruptFileError
from paimon_explore.read.schema_evolution import Casting, FieldSource

Plain = str | int | bool | None
ERROR = "error"


class Case(TypedDict, total=False):
    """What Java made of some values of a type."""

    zone: str
    source: str
    values: list[Plain]
    results: dict[str, list[Plain] | str]
    refused: list[str]


CASES: list[Case] = json.loads(
    (Path(__file__).parent / "cast_answers.json").read_text(encoding="utf-8")
)
PAIRS = [
    pytest.param(case, target, id=f"{index}-{case['source']}-to-{target}-in-{case['zone']}")
    for index, case in enumerate(CASES)
    for target in case["results"]
]


def column(values: list[Plain], data_type: DataType) -> Column:
    """The column of values as the answers write them."""
    arrow = to_arrow(data_type)
    if pat.is_temporal(arrow):
        return pa.array(values, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
    if pat.is_floating(arrow):
        return pa.array([None if v is None else float(v) for v in values], arrow)
    if pat.is_decimal(arrow):
        return pa.array([None if v is None else Decimal(str(v)) for v in values], arrow)
    if pat.is_binary(arrow):
        return pa.array([None if v is None else bytes.fromhex(str(v)) for v in values], arrow)
    return pa.array(values, arrow)


def plain(array: Column) -> list[object]:
    """The values as Python has them."""
    return [scalar.as_py() for scalar in array]


def assert_equal(actual: Column, expected: Column) -> None:
    """Equal in type and values, NaN equal to itself and 0.0 not to -0.0."""
    actual.validate()
    assert actual.type == expected.type
    if not pat.is_floating(actual.type):
        assert actual.equals(expected), f"{actual} is not {expected}"
        return
    for one, other in zip(plain(actual), plain(expected), strict=True):
        assert (one is None) == (other is None)
        if isinstance(one, float) and isinstance(other, float):
            both_nan = math.isnan(one) and math.isnan(other)
            assert both_nan or (one == other and math.copysign(1, one) == math.copysign(1, other))


def cast(values: list[object], source: str, target: str, zone: str = "UTC") -> list[object]:
    types = parse_type_text(source), parse_type_text(target)
    array: Column = pa.array(values, to_arrow(types[0]))
    return plain(cast_column(array, *types, ZoneInfo(zone)))


@pytest.mark.parametrize(("case", "target"), PAIRS)
def test_casts_give_what_java_gives(case: Case, target: str) -> None:
    source, wanted = parse_type_text(case["source"]), parse_type_text(target)
    values = column(case["values"], source)
    expected = case["results"][target]
    zone = ZoneInfo(case["zone"])
    if isinstance(expected, str):
        assert expected == ERROR
        with pytest.raises(UncastableError):
            cast_column(values, source, wanted, zone)
        return
    assert_equal(cast_column(values, source, wanted, zone), column(expected, wanted))


@pytest.mark.parametrize(("case", "target"), PAIRS)
def test_a_slice_of_a_column_casts_like_the_column(case: Case, target: str) -> None:
    source, wanted = parse_type_text(case["source"]), parse_type_text(target)
    expected = case["results"][target]
    if isinstance(expected, str) or len(expected) < 3:
        return
    values = column(case["values"], source).slice(1, len(expected) - 2)
    actual = cast_column(values, source, wanted, ZoneInfo(case["zone"]))
    assert_equal(actual, column(expected[1:-1], wanted))


@pytest.mark.parametrize(
    ("target", "text"),
    [
        pytest.param(target, text, id=f"{text!r}-to-{target}")
        for case in CASES
        for target in case["results"]
        for text in case.get("refused", [])
    ],
)
def test_texts_that_java_refuses_are_refused(target: str, text: str) -> None:
    with pytest.raises(UncastableError):
        cast([text], "STRING", target)


def test_the_error_names_file_column_and_value() -> None:
    stored, wanted = (
        DataField(id=1, name=name, type=parse_type_text(text))
        for name, text in (("m", "STRING"), ("n", "INT"))
    )
    source = FieldSource(wanted=wanted, stored=stored)
    with pytest.raises(CorruptFileError) as caught:
        source.column(pa.array(["7", "seven"]), 2, Casting(path="/t/data-1.parquet"))
    assert str(caught.value) == (
        "Corrupt data in /t/data-1.parquet, column 'n': 'seven' cannot be read as INT."
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("DATE", "INT"),
        ("INT", "DATE"),
        ("BOOLEAN", "TIMESTAMP(3)"),
        ("DATE", "VARCHAR(20)"),
        ("DATE", "STRING NOT NULL"),
        ("DOUBLE", "BOOLEAN"),
        ("BYTES", "INT"),
        ("MULTISET<INT>", "STRING"),
        ("VARIANT", "STRING"),
        ("ARRAY<INT>", "INT"),
        ("ARRAY<INT>", "MAP<INT, INT>"),
        ("MAP<INT, INT>", "MAP<BIGINT, INT>"),
        ("TIME(0)", "TIME(3)"),
        ("BIGINT", "BYTES"),
    ],
)
def test_types_without_a_cast_are_refused(source: str, target: str) -> None:
    with pytest.raises(UncastableError, match="cannot be cast to"):
        cast([None], source, target)


def test_a_time_beyond_the_unit_is_refused() -> None:
    for text in ("1677-09-21 00:12:43.145224191", "2262-04-11 23:47:16.854775808"):
        with pytest.raises(UncastableError, match="out of range for TIMESTAMP"):
            cast([text], "STRING", "TIMESTAMP(9)")
    with pytest.raises(UncastableError, match="out of range for TIMESTAMP"):
        cast([10**12], "BIGINT", "TIMESTAMP(9)")


def test_the_first_and_last_times_of_the_unit_are_kept() -> None:
    texts = ["1677-09-21 00:12:43.145224193", "2262-04-11 23:47:16.854775807"]
    types = parse_type_text("STRING"), parse_type_text("TIMESTAMP(9)")
    nanos = pa.array([1 - 2**63, 2**63 - 1])
    assert cast_column(pa.array(texts), *types).equals(nanos.view(to_arrow(types[1])))


def test_values_below_nulls_are_never_read() -> None:
    types = parse_type_text("STRING"), parse_type_text("INT")
    bad = pa.array(["x", "1"])
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), *bad.buffers()[1:]])
    assert plain(cast_column(hidden, *types)) == [None, 1]


@pytest.mark.parametrize("target", ["CHAR(2000000)", "BINARY(2000000)"])
def test_padding_to_absurd_lengths_is_refused(target: str) -> None:
    with pytest.raises(UncastableError, match="can pad values to at most"):
        cast(["a"], "STRING", target)


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert cast([b"\xffa", None], "BYTES", "STRING") == ["\ufffda", None]


def test_times_of_day_beyond_the_day_print_like_java() -> None:
    array = pa.array([-1, 90_000_000], pa.int32()).view(pa.time32("ms"))
    result = cast_column(array, parse_type_text("TIME(3)"), parse_type_text("STRING"))
    assert plain(result) == ["23:59:59.999", "25:00:00.0"]


def test_timestamps_of_other_millennia_print_four_digits_of_the_year() -> None:
    seconds = pa.array([253_402_300_800, None, 0], pa.int64()).view(pa.timestamp("s"))
    result = cast_column(seconds, parse_type_text("TIMESTAMP(0)"), parse_type_text("STRING"))
    assert plain(result) == ["0000-01-01 00:00:00", None, "1970-01-01 00:00:00"]


@pytest.mark.parametrize(
    ("source", "values", "texts"),
    [
        ("ARRAY<INT>", [[1, None, 3], [], None], ["[1, null, 3]", "[]", None]),
        ("MAP<STRING, DOUBLE>", [[("k", 1.5), ("z", None)], None], ["{k -> 1.5, z -> null}", None]),
        ("ROW<x INT, y STRING>", [{"x": 1, "y": "q"}, {}, None], ["{1, q}", "{null, null}", None]),
        ("ROW<>", [{}, None], ["{}", None]),
        (
            "MAP<INT, ARRAY<BIGINT>>",
            [[(1, [1, 2]), (2, None)], []],
            ["{1 -> [1, 2], 2 -> null}", "{}"],
        ),
        ("ARRAY<ROW<a FLOAT>>", [[{"a": 0.5}, None]], ["[{0.5}, null]"]),
    ],
)
def test_nested_values_print_like_java(
    source: str, values: list[object], texts: list[object]
) -> None:
    assert cast(values, source, "STRING") == texts
    # Java neither cuts nor pads the texts of nested values
    assert cast(values, source, "CHAR(3)") == texts


def test_elements_and_values_are_cast_one_by_one() -> None:
    assert cast([[1, None, 70000], None, []], "ARRAY<INT>", "ARRAY<SMALLINT>") == [
        [1, None, 4464],
        None,
        [],
    ]
    assert cast([[("a", 300)], None], "MAP<STRING, INT>", "MAP<STRING, TINYINT>") == [
        [("a", 44)],
        None,
    ]


def test_members_of_rows_are_matched_by_id() -> None:
    int_type, text_type = parse_type_text("INT"), parse_type_text("STRING")
    before = RowType(
        fields=(
            DataField(id=1, name="a", type=int_type),
            DataField(id=2, name="b", type=text_type),
            DataField(id=3, name="gone", type=int_type),
        )
    )
    after = RowType(
        fields=(
            DataField(id=2, name="b2", type=int_type),
            DataField(id=4, name="new", type=text_type),
            DataField(id=1, name="a", type=text_type),
        )
    )
    rows = [{"a": 7, "b": "12", "gone": 1}, None, {"a": None, "b": None, "gone": None}]
    result = cast_column(pa.array(rows, to_arrow(before)), before, after)
    assert result.type == to_arrow(after)
    assert plain(result) == [
        {"b2": 12, "new": None, "a": "7"},
        None,
        {"b2": None, "new": None, "a": None},
    ]


def test_nothing_below_a_null_row_is_cast() -> None:
    before = RowType(fields=(DataField(id=1, name="a", type=parse_type_text("STRING")),))
    after = RowType(fields=(DataField(id=1, name="a", type=parse_type_text("INT")),))
    texts = pa.array(["bad", "5"])
    array = pa.StructArray.from_arrays(
        [texts], fields=[pa.field("a", pa.string())], mask=pa.array([True, False])
    )
    assert plain(cast_column(array, before, after)) == [None, {"a": 5}]


def test_columns_of_the_same_type_are_passed_on() -> None:
    array = pa.array([1, 2], pa.int32())
    assert cast_column(array, parse_type_text("INT NOT NULL"), parse_type_text("INT")) is array


def test_local_times_follow_the_zones_rules() -> None:
    zone = "America/New_York"
    texts: list[object] = ["2024-03-10 02:30:00", "2024-11-03 01:30:00", "1800-01-01 00:00:00"]
    instants = cast(texts, "STRING", "TIMESTAMP(0) WITH LOCAL TIME ZONE", zone)
    assert [str(instant) for instant in instants] == [
        "2024-03-10 07:30:00+00:00",
        "2024-11-03 05:30:00+00:00",
        "1800-01-01 04:56:02+00:00",
    ]


def test_floats_of_any_bits_have_a_text() -> None:
    bits = pa.array([0x7F800001, -0x400001, 0x7F7FFFFF, 1, -0x80000000], pa.int32())
    result = cast_column(
        bits.view(pa.float32()), parse_type_text("FLOAT"), parse_type_text("STRING")
    )
    assert plain(result) == ["NaN", "NaN", "3.4028235E38", "1.4E-45", "-0.0"]
