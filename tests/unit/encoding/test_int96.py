"""INT96 timestamps."""

import struct

import pyarrow as pa
import pytest

from paimon_explore.encoding.arrow_type_conversion import decode_int96
from paimon_explore.errors import UnsupportedFeatureError

EPOCH = 2_440_588
DAY_NANOS = 86_400 * 10**9
NANOS = pa.timestamp("ns")
MICROS = pa.timestamp("us")
MICROS_UTC = pa.timestamp("us", "UTC")


def raw(*values: tuple[int, int] | None) -> "pa.Array[pa.Scalar[pa.DataType]]":
    packed = [None if value is None else struct.pack("<qi", *value) for value in values]
    return pa.array(packed, pa.binary(12))


def test_days_and_nanoseconds_add_up() -> None:
    column = raw((5, EPOCH), (7, EPOCH + 2), None, (DAY_NANOS - 1, EPOCH - 1))
    found = decode_int96(column, NANOS, where="t")
    assert found.cast(pa.int64()).to_pylist() == [5, 2 * DAY_NANOS + 7, None, -1]


def test_negative_nanoseconds_of_the_java_writer_go_back_in_time() -> None:
    found = decode_int96(raw((-1_500_000_000, EPOCH)), NANOS, where="t")
    assert found.cast(pa.int64()).to_pylist() == [-1_500_000_000]


def test_finer_fractions_are_cut_toward_the_past() -> None:
    found = decode_int96(raw((1_999, EPOCH), (-1, EPOCH)), MICROS_UTC, where="t")
    assert found.type == MICROS_UTC
    assert found.cast(pa.int64()).to_pylist() == [1, -1]


def test_the_year_9999_fits_into_microseconds_but_not_into_nanoseconds() -> None:
    column = raw((0, 5_373_484))
    found = decode_int96(column, MICROS, where="t")
    assert str(found[0].as_py()) == "9999-12-31 00:00:00"
    with pytest.raises(UnsupportedFeatureError, match="out of range"):
        decode_int96(column, NANOS, where="t")


def test_a_sliced_column_starts_at_its_own_first_value() -> None:
    found = decode_int96(raw((1, EPOCH), (2, EPOCH), None)[1:], NANOS, where="t")
    assert found.cast(pa.int64()).to_pylist() == [2, None]


def test_what_lies_under_a_null_is_ignored() -> None:
    buffers: list[pa.Buffer | None] = [pa.py_buffer(b"\0"), pa.py_buffer(b"\xff" * 12)]
    column = pa.Array.from_buffers(pa.binary(12), 1, buffers)
    assert decode_int96(column, NANOS, where="t").null_count == 1
