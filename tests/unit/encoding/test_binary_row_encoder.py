"""Binary rows against bytes of the Java implementation."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column, build_views
from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.binary_row.decoder import (
    all_have_arity,
    arities,
    decode_rows,
    null_fields,
)
from paimon_explore.encoding.binary_row.row_encoder import encode_rows, row_images
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.encoding.binary_row.single_row_encoder import MAX_ROWS
from paimon_explore.errors import CorruptFileError, InvalidInputError
from support.arrow import as_python, column_of
from support.decoding import with_arity
from support.wire import column

HEAD = "00000001 0000000000000000"
INTS = {"type": "ARRAY", "element": "INT"}
STRINGS = {"type": "ARRAY", "element": "STRING"}
PAIR = {
    "type": "ROW",
    "fields": [{"id": 0, "name": "a", "type": "INT"}, {"id": 1, "name": "b", "type": "STRING"}],
}
BIGINTS_BY_INT = {"type": "MAP", "key": "INT", "value": "BIGINT"}
BAG = {"type": "MULTISET", "element": "STRING"}
POINT = {"type": "VECTOR", "element": "FLOAT", "length": 3}


def types_of(*texts: object) -> list[DataType]:
    return [parse_type(text, "a test") for text in texts]


def hex_rows(columns: list[Column], types: list[DataType], *, reserve: bool = True) -> list[str]:
    many = [
        pa.concat_arrays([column] * (MAX_ROWS + 1)) for column in columns
    ]  # ends the way for few
    rows = with_arity(encode_rows(many, types, reserve_nulls=reserve), len(types))
    found = [row.as_py().hex() for row in rows.slice(0, len(columns[0]))]
    if reserve:
        assert [row.hex() for row in row_images(columns, types)] == found
    return found


def compact(text: str) -> str:
    return text.replace(" ", "")


def viewed(rows: list[bytes], behind: bytes) -> Column:
    """Rows that lie between other bytes, told by their places."""
    data = bytearray(b"\xff" * 5)
    begins = []
    for row in rows:
        begins.append(len(data))
        data += row + b"\xee" * 3
    sizes = [len(row) for row in rows]
    return build_views(np.array(begins, np.int64), np.array(sizes, np.int64), data + behind)


# Written by Java 0.9.0, except VARIANT and VECTOR, which follow the source of release 2.0.
JAVA_ROWS = [
    ("INT", -1, f"{HEAD} ffffffff00000000"),
    ("BOOLEAN", True, f"{HEAD} 0100000000000000"),
    ("BIGINT", "1099511627776", f"{HEAD} 0000000000010000"),
    ("STRING", "", f"{HEAD} 0000000000000080"),
    ("STRING", "1234567", f"{HEAD} 3132333435363787"),
    ("STRING", "12345678", f"{HEAD} 0800000010000000 3132333435363738"),
    ("STRING", "123456789", f"{HEAD} 0900000010000000 3132333435363738 3900000000000000"),
    ("STRING", "中文", f"{HEAD} e4b8ade696870086"),
    ("TINYINT", -2, f"{HEAD} fe00000000000000"),
    ("SMALLINT", -2, f"{HEAD} feff000000000000"),
    ("FLOAT", "1.5", f"{HEAD} 0000c03f00000000"),
    ("DOUBLE", "1.5", f"{HEAD} 000000000000f83f"),
    ("DATE", 19000, f"{HEAD} 384a000000000000"),
    ("TIME(3)", 3661001, f"{HEAD} c9dc370000000000"),
    ("TIMESTAMP(3)", ["1000", 0], f"{HEAD} e803000000000000"),
    ("TIMESTAMP(6)", ["1000", 123000], f"{HEAD} 78e0010010000000 e803000000000000"),
    ("TIMESTAMP_LTZ(6)", ["-1", 1000], f"{HEAD} e803000010000000 ffffffffffffffff"),
    ("DECIMAL(10,2)", "123.45", f"{HEAD} 3930000000000000"),
    ("DECIMAL(18,2)", "-1.00", f"{HEAD} 9cffffffffffffff"),
    ("DECIMAL(20,2)", "123.45", f"{HEAD} 0200000010000000 3039" + "00" * 14),
    ("DECIMAL(20,2)", "-1.00", f"{HEAD} 0100000010000000 9c" + "00" * 15),
    ("BYTES", "010203", f"{HEAD} 0102030000000083"),
    ("BYTES", "07" * 9, f"{HEAD} 0900000010000000 0707070707070707 0700000000000000"),
    ("INT", None, "00000001 0001000000000000 0000000000000000"),
    (
        "TIMESTAMP(6)",
        None,
        "00000001 0001000000000000 0000000010000000 0000000000000000",
    ),
    ("DECIMAL(20,2)", None, "00000001 0001000000000000 0000000010000000" + "00" * 16),
]


@pytest.mark.parametrize(("text", "value", "expected"), JAVA_ROWS)
def test_one_column_encodes_to_the_bytes_of_java(text: str, value: object, expected: str) -> None:
    types = types_of(text)
    values = column([value], types[0])

    assert hex_rows([values], types) == [compact(expected)]


@pytest.mark.parametrize(("text", "value", "stored"), JAVA_ROWS)
def test_one_column_decodes_from_the_bytes_of_java(text: str, value: object, stored: str) -> None:
    types = types_of(text)
    rows = pa.array([bytes.fromhex(compact(stored))])

    assert decode_rows(rows, types, where="a test")[0].equals(column([value], types[0]))


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        (
            INTS,
            [1, None, 3],
            f"{HEAD} 1800000010000000 03000000 02000000 01000000 00000000 03000000 00000000",
        ),
        (
            STRINGS,
            ["a", "12345678"],
            (
                f"{HEAD} 2000000010000000 02000000 00000000 6100000000000081 0800000018000000"
                "3132333435363738"
            ),
        ),
        (
            BIGINTS_BY_INT,
            [(1, 10)],
            (
                f"{HEAD} 2400000010000000 10000000 01000000 00000000 01000000 00000000"
                "01000000 00000000 0a00000000000000 00000000"
            ),
        ),
        (
            PAIR,
            {"a": 5, "b": "x"},
            f"{HEAD} 1800000010000000 0000000000000000 0500000000000000 7800000000000081",
        ),
        (
            "VARIANT",
            {"value": b"abc", "metadata": b"xy"},
            f"{HEAD} 0900000010000000 03000000 6162637879 00000000000000",
        ),
        (
            POINT,
            [1.0, 2.0, 3.0],
            f"{HEAD} 1000000010000000 03000000 0000803f 00000040 00004040",
        ),
        (
            BAG,
            [("a", 2)],
            (
                f"{HEAD} 2400000010000000 10000000 01000000 00000000 6100000000000081"
                "01000000 00000000 02000000 00000000 00000000"
            ),
        ),
    ],
)
def test_a_nested_column_encodes_and_decodes_as_in_java(
    text: object, value: object, expected: str
) -> None:
    types = types_of(text)
    values = column_of([value], types[0])

    assert hex_rows([values], types) == [compact(expected)]
    rows = pa.array([bytes.fromhex(compact(expected))])
    assert decode_rows(rows, types, where="a test")[0].equals(values)


def test_columns_of_a_row_share_its_variable_part_in_order() -> None:
    types = types_of("INT", "STRING", "DECIMAL(20,0)", "STRING")
    columns = [
        column([1], types[0]),
        column(["longer-than-7"], types[1]),
        column(["5"], types[2]),
        column([None], types[3]),
    ]

    assert hex_rows(columns, types) == [
        compact(
            "00000004 0008000000000000 0100000000000000 0d00000028000000 0100000038000000"
            "0000000000000000 6c6f6e6765722d7468616e2d37000000 05"
        )
        + "00" * 15
    ]


def test_a_row_of_no_fields_has_only_its_header() -> None:
    rows = encode_rows([], [], count=2)

    assert with_arity(rows, 0).to_pylist() == [EMPTY_ROW, EMPTY_ROW]
    assert decode_rows(pa.array([EMPTY_ROW]), [], where="a test") == []


@pytest.mark.parametrize(("arity", "header"), [(56, 8), (57, 16), (120, 16), (121, 24)])
def test_the_header_grows_by_a_word_with_every_64_fields(arity: int, header: int) -> None:
    types = types_of(*["INT"] * arity)
    columns = [column([None], types[0])] * arity

    [row] = hex_rows(columns, types)

    assert len(row) // 2 == 4 + header + 8 * arity
    assert row[8:24] == "00ffffffffffffff"


def test_nulls_take_no_space_in_the_plain_form() -> None:
    types = types_of("DECIMAL(20,2)", "TIMESTAMP(6)")
    columns = [column([None], types[0]), column([None], types[1])]

    assert hex_rows(columns, types, reserve=False) == ["00000002" + "0003" + "00" * 22]


def test_a_null_row_is_null_in_every_column() -> None:
    types = types_of("INT", "STRING")
    row = with_arity(encode_rows([column([1], types[0]), column(["x"], types[1])], types), 2)
    rows = pa.array([None, row[0].as_py(), None])

    assert [as_python(c) for c in decode_rows(rows, types, where="a test")] == [
        [None, 1, None],
        [None, "x", None],
    ]


def test_slices_of_columns_and_rows_are_honoured() -> None:
    types = types_of("INT", "STRING", INTS, BIGINTS_BY_INT, PAIR, POINT)
    whole = [
        column_of([0, 1, None, 3], types[0]),
        column_of(["zero", "the first one", None, "3"], types[1]),
        column_of([[9, 9], [1, None], None, []], types[2]),
        column_of([[(8, 8)], [(1, 1), (2, None)], None, []], types[3]),
        column_of([{"a": 0}, {"a": 1, "b": "a longer text"}, None, {"b": ""}], types[4]),
        column_of([[0, 0, 0], [1, 2, 3], None, [4, 5, 6]], types[5]),
    ]
    parts = [c.slice(1, 3) for c in whole]

    rows = with_arity(encode_rows(parts, types), len(types))

    assert decode_rows(rows, types, where="a test") == [c.slice(1, 3) for c in whole]
    tails = decode_rows(rows.slice(1), types, where="a test")
    assert [as_python(c) for c in tails] == [as_python(c.slice(2, 2)) for c in whole]


def test_elements_that_a_null_list_owns_are_left_out() -> None:
    values = pa.ListArray.from_arrays(
        pa.array([0, 2, 4, 5], pa.int32()),
        pa.array([1, 2, 3, 4, 5], pa.int32()),
        mask=pa.array([False, True, False]),
    )
    types = types_of(INTS)

    rows = with_arity(encode_rows([values], types), 1)

    assert as_python(decode_rows(rows, types, where="a test")[0]) == [[1, 2], None, [5]]


def test_not_a_number_in_an_array_is_stored_as_java_stores_it() -> None:
    odd = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(bytes.fromhex("ff" * 8))])
    values = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), odd)

    [row] = hex_rows([values], types_of({"type": "ARRAY", "element": "DOUBLE"}))

    assert row.endswith("000000000000f87f")


def test_another_number_of_fields_is_an_error_that_names_the_row() -> None:
    with pytest.raises(
        CorruptFileError, match=r"manifest-1, row 1: a row must have 1 fields, not 0"
    ):
        decode_rows(
            pa.array([bytes.fromhex(compact(f"{HEAD} 0100000000000000")), EMPTY_ROW]),
            types_of("INT"),
            where="manifest-1",
        )


@pytest.mark.parametrize(
    ("text", "stored", "rule"),
    [
        ("INT", "0000", "a row must start with its number of fields"),
        ("INT", HEAD, "as long as its fixed part"),
        ("STRING", f"{HEAD} 0000000000000088", "at most 7 bytes"),
        ("STRING", f"{HEAD} 0900000010000000 3132333435363738", "must be within its row"),
        ("STRING", f"{HEAD} ff00000000000081", "(?i)utf8"),
        ("DECIMAL(20,2)", f"{HEAD} 1100000008000000" + "00" * 24, "1 to 16 bytes"),
        ("DECIMAL(3,0)", f"{HEAD} e803000000000000", "precision"),
        ("TIMESTAMP(6)", f"{HEAD} 40420f0010000000 e803000000000000", "below 1,000,000"),
        ("TIMESTAMP(9)", f"{HEAD} 0000000010000000 ffffffffffffff7f", "must fit in 64 bits"),
        (INTS, f"{HEAD} 0800000010000000 03000000 00000000", "elements must be within the array"),
        (INTS, f"{HEAD} 0800000010000000 ffffffff 00000000", "elements must be within the array"),
        (
            BIGINTS_BY_INT,
            f"{HEAD} 0800000010000000 09000000 00000000",
            "keys must be within",
        ),
        (POINT, f"{HEAD} 1000000010000000 02000000" + "00" * 12, "a vector must have 3 elements"),
        ("VARIANT", f"{HEAD} 0800000010000000 05000000 00000000", "must be within the variant"),
    ],
)
def test_damage_is_a_corrupt_file_error_with_the_broken_rule(
    text: object, stored: str, rule: str
) -> None:
    rows = pa.array([bytes.fromhex(compact(stored))])

    with pytest.raises(CorruptFileError, match=rule):
        decode_rows(rows, types_of(text), where="bytes")


@pytest.mark.parametrize("behind", [b"", bytes(32), b"\xff" * 32])
def test_rows_are_read_where_they_lie(behind: bytes) -> None:
    types = types_of("INT", "STRING", "DECIMAL(38,0)", "TIMESTAMP(9)", "BOOLEAN")
    values = [
        column_of([7, None, -1], types[0]),
        column_of(["short", "longer than a slot", None], types[1]),
        column_of([Decimal(10**30), None, Decimal(-1)], types[2]),
        column_of([None, None, None], types[3]),
        column_of([True, False, None], types[4]),
    ]
    rows = [row.as_py() for row in with_arity(encode_rows(values, types), 5)]
    views = viewed(rows, behind)

    found = decode_rows(views, types, where="a test")
    assert [as_python(one) for one in found] == [as_python(one) for one in values]
    some = decode_rows(views.slice(1, 2), types, where="a test", fields=[1])
    assert as_python(some[0]) == ["longer than a slot", None]
    assert arities(views).tolist() == [5, 5, 5]
    assert all_have_arity(views, 5)
    assert not all_have_arity(views, 4)


@pytest.mark.parametrize("behind", [b"", bytes(32)])
def test_damage_is_seen_where_rows_lie(behind: bytes) -> None:
    row = bytes.fromhex(compact(f"{HEAD} 0900000010000000 3132333435363738"))
    with pytest.raises(CorruptFileError, match="a value must be within its row"):
        decode_rows(viewed([row], behind), types_of("STRING"), where="bytes")
    with pytest.raises(CorruptFileError, match="a row must have 2 fields, not 1"):
        decode_rows(viewed([row], behind), types_of("INT", "INT"), where="bytes")
    with pytest.raises(CorruptFileError, match="must be at least as long as its fixed part"):
        decode_rows(viewed([row[:12]], behind), types_of("INT"), where="bytes")
    for tell in (lambda rows: all_have_arity(rows, 1), arities):
        with pytest.raises(CorruptFileError, match="must start with its number of fields"):
            tell(viewed([row[:3]], behind))


def test_values_that_overlap_are_refused_before_they_fill_memory() -> None:
    body = bytes(4) + b"x" * 4000
    slot = (4000).to_bytes(4, "little") + (4).to_bytes(4, "little")
    image = (1000).to_bytes(4, "little") + bytes(128) + slot * 1000 + body
    row = bytes.fromhex(compact(HEAD)) + len(image).to_bytes(4, "little") + b"\x10\0\0\0" + image

    with pytest.raises(CorruptFileError, match="must not overlap"):
        decode_rows(pa.array([row]), types_of(STRINGS), where="bytes")


def test_a_column_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be Arrow int32, not int64"):
        encode_rows([pa.array([1], pa.int64())], types_of("INT"))


def test_decimals_keep_their_sign_at_every_width() -> None:
    types = types_of("DECIMAL(38,0)")
    numbers = [
        sign * 2**bits + step
        for bits in range(0, 126, 7)
        for step in (-1, 0, 1)
        for sign in (-1, 1)
    ]
    values = column_of([Decimal(number) for number in numbers], types[0])

    rows = with_arity(encode_rows([values], types), 1)

    assert decode_rows(rows, types, where="a test")[0].equals(values)
    sizes = [row.as_py()[12] for row in rows]
    assert sizes == [max(1, ((n if n >= 0 else ~n).bit_length() + 8) // 8) for n in numbers]


def test_the_nulls_of_a_row_are_told_without_decoding_it() -> None:
    types = types_of("INT", "STRING", "INT")
    [row] = row_images([column([None], types[0]), column(["x"], types[1])], types[:2])
    assert null_fields(row, 2) == (True, False)
    assert null_fields(EMPTY_ROW, 0) == ()
    for damaged in (row[:8], b"", EMPTY_ROW):
        with pytest.raises(CorruptFileError, match="2 fields"):
            null_fields(damaged, 2)
