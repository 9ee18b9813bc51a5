"""Hashes against those of the Java implementation."""

import pyarrow as pa
import pytest

from paimon_explore.encoding.bucket_function import hash_rows


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 142593372),
        (b"abc", 1322437556),
        (b"abcd", -396302900),
        (b"paimon", -1594584418),
        (bytes(8), -1670924195),
        (bytes.fromhex("0001000000000000" + "00" * 8), -1748325344),
        (bytes.fromhex("00ffffffffffffff" + "00" * 448), 2044279302),
        (bytes.fromhex("00ffffffffffffff0100000000000000" + "00" * 456), -1990914677),
    ],
)
def test_a_byte_string_has_the_hash_of_java(data: bytes, expected: int) -> None:
    assert hash_rows(pa.array([data])).tolist() == [expected]


def test_rows_of_several_lengths_are_hashed_in_their_own_order() -> None:
    rows = pa.array([b"skipped", b"paimon", b"", b"abc", None, b"abcd"]).slice(1)

    hashes = hash_rows(rows)

    assert hashes.tolist() == [-1594584418, 142593372, 1322437556, 142593372, -396302900]
