"""Variants: golden ones, every kind of value, and damage."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.variant.decoder import Kind
from paimon_explore.encoding.variant.encoder import KeyTable, number_of, primitive
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.errors import CorruptFileError, InvalidInputError
from support.decoding import json_column
from support.golden import GoldenTables
from support.variants import encode_python, python_value

VARIANT = parse_type("VARIANT", "a test")
NO_KEYS = b"\x01\x00\x00"


def file_rows(path: Path) -> dict[object, object]:
    table = pq.ParquetFile(path).read()
    column = conform(table.column("j").combine_chunks(), VARIANT, path=path.name, column="j")
    assert isinstance(column, pa.StructArray)
    texts = json_column(column)
    return dict(zip(table.column("id").to_pylist(), as_python(texts), strict=True))


def struct(column: object) -> pa.StructArray:
    assert isinstance(column, pa.StructArray)
    return column


@pytest.mark.parametrize("writer", ["java200", "java142"])
@pytest.mark.parametrize("table", ["variant", "variant_given", "variant_inferred"])
def test_golden_variants_have_the_json_text_of_java(
    golden: GoldenTables, writer: str, table: str
) -> None:
    found = golden.table(writer, table)
    rows: dict[object, object] = {}
    for path in found.folder.glob("bucket-*/*.parquet"):
        rows |= file_rows(path)

    stored = json.loads((found.expected / "variant.json").read_text(encoding="utf-8"))

    assert rows == dict(map(tuple, stored))


def test_values_become_the_bytes_that_java_wrote(golden: GoldenTables) -> None:
    [path] = golden.table("java200", "variant").folder.glob("bucket-*/*.parquet")
    variants = pq.ParquetFile(path).read().column("j").combine_chunks()
    parts = [as_python(struct(variants).field(name)) for name in ("value", "metadata")]

    written = [
        encode_python(value) for value in ({"a": 1, "b": [1, 2, "x"]}, "str", Decimal("3.25"))
    ]

    assert written == list(zip(*parts, strict=True))[:3]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-129, "-129"),
        (2**31, "2147483648"),
        (-(2**63), "-9223372036854775808"),
        (2**63, "9223372036854775808"),
        (1.5, "1.5"),
        (1e10, "1.0E10"),
        (float("inf"), '"Infinity"'),
        (Decimal("12.50"), "12.5"),
        (Decimal("0.00"), "0"),
        (Decimal("1E+3"), "1000"),
        (Decimal("-12345678901234567890.123456789"), "-12345678901234567890.123456789"),
        ("", '""'),
        ("x" * 100, '"' + "x" * 100 + '"'),
        ('a"b\\c\n\x1f/é', '"a\\"b\\\\c\\n\\u001F/é"'),
        (b"\x00\x01\xff", '"AAH/"'),
        (dt.date(2024, 2, 29), '"2024-02-29"'),
        (dt.datetime(2024, 2, 29, 1, 2, 3), '"2024-02-29 01:02:03"'),  # noqa: DTZ001
        (
            dt.datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=dt.UTC),
            '"1969-12-31 23:59:59.5+00:00"',
        ),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ([], "[]"),
        ([1, [2, None]], "[1,[2,null]]"),
        ({}, "{}"),
        ({"b": 1, "a": {"c": "x"}}, '{"a":{"c":"x"},"b":1}'),
        ({"\U0001f600": 1, "\ufffd": 2}, '{"\U0001f600":1,"\ufffd":2}'),
        (list(range(300)), "[" + ",".join(map(str, range(300))) + "]"),
    ],
)
def test_a_python_value_is_told_as_java_tells_it(value: object, expected: str) -> None:
    data, metadata = encode_python(value)

    assert json_text(data, metadata) == expected


def test_floats_of_four_bytes_and_far_dates_are_read() -> None:
    single = primitive(Kind.FLOAT, np.float32(0.1).tobytes())
    date = number_of(Kind.DATE, 2_932_897, 4)
    moment = number_of(Kind.TIMESTAMP, -(2**60), 8)

    assert json_text(single, NO_KEYS) == "0.1"
    assert json_text(date, NO_KEYS) == '"+10000-01-01"'
    assert python_value(date, NO_KEYS) == np.datetime64("10000-01-01")
    assert json_text(moment, NO_KEYS) == '"-34565-05-17 02:29:53.153024+00:00"'


def test_timestamps_are_told_in_the_zone_asked_for() -> None:
    data, metadata = encode_python(dt.datetime(2024, 1, 1, tzinfo=dt.UTC))
    zone = dt.timezone(-dt.timedelta(hours=3, minutes=30))

    assert json_text(data, metadata, zone=zone) == '"2023-12-31 20:30:00-03:30"'


def test_keys_are_numbered_as_they_come_and_listed_in_order() -> None:
    _, metadata = encode_python({"b": {"z": 1}, "a": 2})

    assert metadata == b"\x01\x03\x00\x01\x02\x03bza"


def test_many_keys_need_wider_numbers() -> None:
    keys = KeyTable([f"key{n}" for n in range(300)])

    grown = [keys.grown]
    assert keys.number("new") == 300
    grown.append(keys.grown)

    assert grown == [False, True]
    assert keys.encode()[:3] == bytes([0x41, 301 & 0xFF, 301 >> 8])


@pytest.mark.parametrize("value", [object(), {1: 2}, Decimal("NaN"), Decimal("1E-39")])
def test_values_that_variants_do_not_hold_are_refused(value: object) -> None:
    with pytest.raises(InvalidInputError):
        encode_python(value)


def test_a_value_nested_too_deep_is_refused() -> None:
    value: list[object] = []
    for _ in range(301):
        value = [value]

    with pytest.raises(InvalidInputError, match="at most 300 levels deep"):
        encode_python(value)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("", "must be within its variant"),
        ("0c", "must be within its variant"),
        ("44", "the type id 17 of a value is unknown"),
        ("0961", "must be within its variant"),
        ("05ff", "text must be UTF-8"),
        ("40ffffff7f", "must be within its variant"),
        ("201400000000", "at most 9 digits"),
        ("0302", "offsets of the elements must be within"),
        ("03020001ff0000", "elements must be within"),
        ("030201000100", "elements must be within"),
        ("020100000100", "key ids must be below 0"),
        ("13ffffffff0000", "offsets of the elements must be within"),
    ],
)
def test_a_damaged_value_is_an_error(value: str, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        json_text(bytes.fromhex(value), NO_KEYS)


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ("", "the version in the first byte must be 1"),
        ("020000", "the version in the first byte must be 1"),
        ("0105", "offsets must be within the metadata"),
        ("01010005", "within the metadata and in ascending order"),
        ("0102000201" + "6161", "within the metadata and in ascending order"),
        ("01010001ff", "keys must be UTF-8"),
    ],
)
def test_damaged_metadata_is_an_error(metadata: str, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        python_value(b"\x00", bytes.fromhex(metadata))


def test_children_that_overlap_cannot_blow_up_the_result() -> None:
    inner = b"\x00"
    for _ in range(40):  # each array holds the next one many times, 200 at the same place
        size = len(inner)
        head = bytes([(1 << 2 | 3) << 2 | 3]) + (200).to_bytes(4, "little")
        inner = head + bytes(4 * 200) + size.to_bytes(4, "little") + inner

    with pytest.raises(CorruptFileError, match="must not be referenced twice"):
        python_value(inner, NO_KEYS)


def test_a_damaged_value_nested_too_deep_is_an_error() -> None:
    value = b"\x00"
    for _ in range(400):
        value = b"\x07\x01\x00\x00" + len(value).to_bytes(2, "little") + value

    with pytest.raises(CorruptFileError, match="at most 300 levels deep"):
        python_value(value, NO_KEYS)
