"""Shredded variants: every typed column, what is left over, and contradictions."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.variant.shredding import assemble
from paimon_explore.errors import CorruptFileError
from support.decoding import json_column
from support.variants import encode_python


def group(typed: pa.DataType) -> pa.DataType:
    return pa.struct([("value", pa.binary()), ("typed_value", typed)])


def column(rows: list[object], typed: pa.DataType) -> pa.StructArray:
    fields = [
        pa.field("metadata", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("typed_value", typed),
    ]
    return built(rows, pa.struct(fields))


def built(rows: list[object], data_type: pa.DataType) -> pa.StructArray:
    found = pa.array(rows, data_type)
    assert isinstance(found, pa.StructArray)
    return found


def texts(array: pa.StructArray) -> list[object]:
    assembled = assemble(array, path="a file", column="v")
    assert isinstance(assembled, pa.StructArray)
    return as_python(json_column(assembled))


NO_KEYS = encode_python(None)[1]


@pytest.mark.parametrize(
    ("typed", "value", "expected"),
    [
        (pa.bool_(), True, "true"),
        (pa.int8(), -1, "-1"),
        (pa.int64(), 2**40, "1099511627776"),
        (pa.float32(), 0.5, "0.5"),
        (pa.float64(), 1e100, "1.0E100"),
        (pa.decimal128(18, 2), Decimal("1.50"), "1.5"),
        (pa.string(), "x", '"x"'),
        (pa.binary(), b"\xff", '"/w=="'),
        (pa.binary(16), bytes(16), '"00000000-0000-0000-0000-000000000000"'),
        (pa.date32(), dt.date(2024, 1, 2), '"2024-01-02"'),
        (pa.timestamp("us"), dt.datetime(2024, 1, 2), '"2024-01-02 00:00:00"'),  # noqa: DTZ001
        (
            pa.timestamp("us", "UTC"),
            dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
            '"2024-01-02 00:00:00+00:00"',
        ),
    ],
)
def test_a_typed_scalar_takes_the_place_of_the_value(
    typed: pa.DataType, value: object, expected: str
) -> None:
    plain, metadata = encode_python("as it was")

    rows = column(
        [
            {"metadata": NO_KEYS, "value": None, "typed_value": value},
            {"metadata": metadata, "value": plain, "typed_value": None},
            None,
        ],
        typed,
    )

    assert texts(rows) == [expected, '"as it was"', None]


def test_an_array_is_put_together_from_its_elements() -> None:
    plain, _ = encode_python("x")
    rows = column(
        [
            {
                "metadata": NO_KEYS,
                "typed_value": [{"typed_value": 1}, {"value": plain}, {"typed_value": 3}],
            },
            {"metadata": NO_KEYS, "value": encode_python(None)[0]},
            {"metadata": NO_KEYS, "typed_value": []},
        ],
        pa.list_(group(pa.int64())),
    )

    assert texts(rows.slice(0)) == ['[1,"x",3]', "null", "[]"]
    assert texts(rows.slice(1)) == ["null", "[]"]


def test_an_object_has_its_shredded_fields_and_those_left_over() -> None:
    rest, metadata = encode_python({"z": [1, {"y": 2}], "b": True})
    rows = column(
        [
            {
                "metadata": metadata,
                "value": rest,
                "typed_value": {"m": {"typed_value": "shredded"}},
            },
            {"metadata": NO_KEYS, "typed_value": {"m": {}}},
        ],
        pa.struct([("m", group(pa.string()))]),
    )

    assert texts(rows) == ['{"b":true,"m":"shredded","z":[1,{"y":2}]}', "{}"]


def test_metadata_with_all_keys_stays_as_it_is() -> None:
    _, metadata = encode_python({"a": 1, "b": 2})
    rows = column(
        [{"metadata": metadata, "typed_value": {"b": {"typed_value": 2}}}],
        pa.struct([("b", group(pa.int32()))]),
    )

    [found] = as_python(assemble(rows, path="a file", column="v"))

    assert found == {"metadata": metadata, "value": b"\x02\x01\x01\x00\x02\x0c\x02"}


def test_a_group_may_lack_its_plain_value() -> None:
    data_type = pa.struct([("metadata", pa.binary()), ("typed_value", pa.int32())])
    rows = built([{"metadata": NO_KEYS, "typed_value": 5}], data_type)

    assert texts(rows) == ["5"]


def test_contradictions_are_errors() -> None:
    number, metadata = encode_python({"a": 1})
    typed = pa.struct([("a", group(pa.int64()))])

    def check(rows: pa.StructArray, rule: str) -> None:
        with pytest.raises(CorruptFileError, match=rule):
            assemble(rows, path="a file", column="v")

    check(column([{"metadata": NO_KEYS}], pa.int64()), "a variant must have a value")
    both = {"metadata": metadata, "value": number, "typed_value": {"a": {"typed_value": 1}}}
    check(column([both], typed), "must not contain the shredded field 'a'")
    text = {"metadata": NO_KEYS, "value": encode_python("x")[0], "typed_value": {"a": {}}}
    check(column([text], typed), "must contain an object")
    hole = {"metadata": NO_KEYS, "typed_value": [{}]}
    check(column([hole], pa.list_(group(pa.int64()))), "an element of an array must have a value")
    check(
        column([{"metadata": NO_KEYS}], pa.list_(pa.int64())),
        "an element of the column `typed_value`",
    )
    check(column([{"metadata": NO_KEYS}], pa.struct([("a", pa.int64())])), "field 'a' of")
    check(column([{"metadata": NO_KEYS}], pa.duration("s")), "cannot have type")
