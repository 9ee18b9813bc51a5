"""Physical forms of columns, as writers differ in them."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError

NEW_YEAR = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a timestamp without zone
INT_BY_STRING = {"type": "MAP", "key": "STRING", "value": "INT"}
VECTOR = {"type": "VECTOR", "element": "FLOAT", "length": 2}
ROW = {
    "type": "ROW",
    "fields": [
        {"id": 0, "name": "a", "type": "TINYINT"},
        {"id": 1, "name": "b", "type": {"type": "ARRAY", "element": "TIMESTAMP(3)"}},
    ],
}
KEY_VALUE = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.int32())])


def conformed(column: Column, data_type: object) -> Column:
    wanted = parse_type(data_type, "test")
    found = conform(column, wanted, path="f", column="c")
    assert found.type == to_arrow(wanted)
    found.validate(full=True)
    return found


@pytest.mark.parametrize(
    ("column", "data_type", "expected"),
    [
        (pa.array([1, None], pa.int32()), "TINYINT", [1, None]),
        (pa.array([b"ab", None], pa.binary()), "STRING", ["ab", None]),
        (pa.array(["ab"], pa.large_string()), "VARCHAR(2)", ["ab"]),
        (pa.array([b"ab"], pa.binary(2)), "BINARY(2)", [b"ab"]),
        (pa.array([b"ab"], pa.binary()), "BLOB", [b"ab"]),
        (pa.array(["x", "x"]).dictionary_encode(), "STRING", ["x", "x"]),
        (pa.array([12345, None], pa.int32()), "DECIMAL(7, 2)", [Decimal("123.45"), None]),
        (pa.array([-12345], pa.int64()), "DECIMAL(18, 4)", [Decimal("-1.2345")]),
        (pa.array([Decimal("1.50")], pa.decimal128(20, 2)), "DECIMAL(5, 2)", [Decimal("1.50")]),
        (pa.array([3_600_000], pa.int32()), "TIME(3)", [dt.time(1)]),
        (pa.array([1], pa.int32()), "DATE", [dt.date(1970, 1, 2)]),
        (pa.array([3_600_000_000], pa.time64("us")), "TIME(0)", [dt.time(1)]),
    ],
)
def test_other_forms_of_a_value_are_the_same_value(
    column: Column, data_type: object, expected: list[object]
) -> None:
    assert as_python(conformed(column, data_type)) == expected


def test_timestamps_of_any_unit_are_rescaled_toward_the_past() -> None:
    micros = pa.array([1_999, -1, None], pa.timestamp("us"))
    assert as_python(conformed(micros, "TIMESTAMP(3)").cast(pa.int64())) == [1, -1, None]
    seconds = pa.array([2, None], pa.timestamp("s", "UTC"))
    found = conformed(seconds, "TIMESTAMP(9) WITH LOCAL TIME ZONE")
    assert as_python(found.cast(pa.int64())) == [2_000_000_000, None]
    assert as_python(conformed(seconds, "TIMESTAMP(0)").cast(pa.int64())) == [2, None]


def test_a_timestamp_that_arrow_cannot_hold_is_refused_by_name() -> None:
    year_9999 = pa.array([253_370_764_800], pa.timestamp("s"))
    with pytest.raises(UnsupportedFeatureError, match="column 'c'"):
        conformed(year_9999, "TIMESTAMP(9)")


@pytest.mark.parametrize(
    ("column", "data_type"),
    [
        (pa.array([300], pa.int32()), "TINYINT"),
        (pa.array(["1"]), "INT"),
        (pa.array([1]), "STRING"),
        (pa.array([1.5]), "INT"),
        (pa.array([1]), "TIMESTAMP(3)"),
        (pa.array([1]), "BOOLEAN"),
        (pa.array([Decimal("123.45")]), "DECIMAL(3, 2)"),
        (pa.array([1]), {"type": "ARRAY", "element": "INT"}),
        (pa.array([[1]]), INT_BY_STRING),
        (pa.array([1]), ROW),
        (pa.array([1]), "VARIANT"),
        (pa.array([[1.0]], pa.list_(pa.float32())), VECTOR),
        (pa.array([[{"key": None, "value": 1}]], pa.list_(KEY_VALUE)), INT_BY_STRING),
        (pa.array([b"\xff"], pa.binary()), "STRING"),
    ],
)
def test_a_column_that_cannot_be_of_the_type_is_a_corrupt_file(
    column: Column, data_type: object
) -> None:
    with pytest.raises(CorruptFileError, match=r"f.* column 'c"):
        conformed(column, data_type)


def test_a_list_of_key_value_structs_is_a_map() -> None:
    rows = [[{"key": "a", "value": 1}], None, [], [{"key": "b", "value": None}]]
    found = conformed(pa.array(rows, pa.list_(KEY_VALUE))[1:], INT_BY_STRING)
    assert as_python(found) == [None, [], [("b", None)]]


def test_a_multiset_is_a_map_to_counts() -> None:
    rows = pa.array([[("a", 2)], None], pa.map_(pa.string(), pa.int32()))
    assert as_python(conformed(rows, {"type": "MULTISET", "element": "STRING"})) == [
        [("a", 2)],
        None,
    ]


def test_a_list_is_a_vector_where_its_length_is_right() -> None:
    rows = pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32()))
    assert as_python(conformed(rows[1:], VECTOR)) == [None, [3.0, 4.0]]


def test_large_lists_become_lists() -> None:
    rows = pa.array([[1], None], pa.large_list(pa.int32()))
    assert as_python(conformed(rows, {"type": "ARRAY", "element": "INT"})) == [[1], None]


def test_members_are_taken_by_name_and_absent_ones_are_null() -> None:
    rows = pa.array([{"x": 1, "a": 5}, None, {"x": 2, "a": None}])
    assert as_python(conformed(rows, ROW)[1:]) == [None, {"a": None, "b": None}]
    nested = pa.array([{"b": [NEW_YEAR]}], pa.struct([("b", pa.list_(pa.timestamp("us")))]))
    assert as_python(conformed(nested, ROW)) == [{"a": None, "b": [NEW_YEAR]}]


def test_a_variant_is_its_two_byte_strings_in_any_order() -> None:
    rows = pa.array([{"metadata": b"m", "value": b"v"}, None])
    assert as_python(conformed(rows, "VARIANT")) == [{"value": b"v", "metadata": b"m"}, None]
