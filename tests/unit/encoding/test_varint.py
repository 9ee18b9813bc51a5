"""Numbers of 7 bits per byte."""

import numpy as np
import pytest

from paimon_explore.encoding.varint import decode_deltas, encode_deltas, encode_varints


def test_a_number_has_as_many_bytes_as_it_needs() -> None:
    sizes, data = encode_varints(np.array([0, 127, 128, 16384, 2**63 - 1, -1], np.int64))

    assert sizes.tolist() == [1, 1, 2, 3, 9, 10]
    assert data.tobytes().hex() == "007f8001808001" + "ff" * 8 + "7f" + "ff" * 9 + "01"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ""),
        ([-1], "01"),
        ([216, 216, -1, 216], "b00300b103b203"),
        ([2**63 - 1, -(2**63)], "feffffffffffffffff0102"),
    ],
)
def test_a_list_is_stored_as_its_differences(values: list[int], expected: str) -> None:
    data = encode_deltas(np.array(values, np.int64))

    assert data.hex() == expected
    found = decode_deltas(data)
    assert found is not None
    assert found.tolist() == values


@pytest.mark.parametrize("damaged", ["80", "0180", "ffffffffffffffffffff01"])
def test_a_number_without_an_end_is_no_number(damaged: str) -> None:
    assert decode_deltas(bytes.fromhex(damaged)) is None
