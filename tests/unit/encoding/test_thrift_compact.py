"""The Thrift compact protocol, against bytes put together by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftError,
    ThriftList,
    Wire,
    decode_struct,
    encode_struct,
    int_of,
    struct_of,
    structs_of,
)

HAND_MADE = bytes.fromhex(
    "15 06"  # field 1, i32 3
    "18 02 6869"  # field 2, binary "hi"
    "2c 11 00"  # field 4, struct { field 1: true }
    "19 25 02 03"  # field 5, list of two i32: 1, -2
    "06 64 08"  # field 50 by its own number, i64 4
    "00"
)
HAND_MADE_VALUE: Struct = {
    1: (Wire.I32, 3),
    2: (Wire.BINARY, b"hi"),
    4: (Wire.STRUCT, {1: (Wire.TRUE, True)}),
    5: (Wire.LIST, ThriftList(Wire.I32, [1, -2])),
    50: (Wire.I64, 4),
}


def test_fields_of_every_kind_are_read() -> None:
    assert decode_struct(HAND_MADE) == HAND_MADE_VALUE


def test_what_was_read_is_written_back_byte_by_byte() -> None:
    assert encode_struct(HAND_MADE_VALUE) == HAND_MADE


def test_a_long_list_and_a_double_survive() -> None:
    value: Struct = {
        1: (Wire.LIST, ThriftList(Wire.BINARY, [bytes([i]) for i in range(20)])),
        2: (Wire.DOUBLE, b"\0" * 8),
        3: (Wire.BYTE, 200),
        4: (Wire.FALSE, False),
        5: (Wire.LIST, ThriftList(Wire.TRUE, [1, 2])),
    }
    assert decode_struct(encode_struct(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_give_a_struct_or_a_thrift_error(data: bytes) -> None:
    try:
        found = decode_struct(data)
    except ThriftError:
        return
    assert decode_struct(encode_struct(found)) == found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes.fromhex("18 7f 61"),  # text longer than the bytes
        bytes.fromhex("19 f5 ff ff ff ff 0f"),  # list longer than the bytes
        bytes.fromhex("1b 00"),  # a map
        bytes.fromhex("1e 00"),  # no wire type
        bytes.fromhex("15 ff ff ff ff ff ff ff ff ff ff ff"),  # a number without end
        b"\x1c" * 100,  # nested without end
        b"\x19" * 5000,  # lists of lists without end
    ],
)
def test_broken_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ThriftError):
        decode_struct(data)


def test_a_value_of_another_kind_is_refused() -> None:
    with pytest.raises(ThriftError, match="must be a struct, not"):
        struct_of(3)
    with pytest.raises(ThriftError, match="must be a list, not"):
        list(structs_of(3))
    assert int_of({1: (Wire.BINARY, b"")}, 1) is None
