"""Avro numbers and bytes at many positions of a buffer at once."""

from itertools import accumulate

import numpy as np
import pytest

from paimon_explore.encoding.avro.container import write_long
from paimon_explore.encoding.avro.vectorized_varint import PAD, PaddedBuffer, Positions
from paimon_explore.errors import CorruptFileError

EDGES = [0, 1, -1, 63, -64, 64, -65, 8191, -8192, 8192, -8193, 2**20 - 1, 2**20, -(2**20) - 1]
LARGE = [2**27 - 1, -(2**27), 2**27, -(2**27) - 1, 2**48, -(2**55), 2**55, 2**63 - 1, -(2**63)]


def laid_out(numbers: list[int]) -> tuple[PaddedBuffer, Positions, list[int]]:
    """Numbers one after the other, where each begins, and where each ends."""
    parts = [write_long(number) for number in numbers]
    ends = list(accumulate(map(len, parts), initial=PAD))
    return PaddedBuffer([b"".join(parts)]), np.array(ends[:-1], np.int64), ends[1:]


@pytest.mark.parametrize("first", [0, 64, -65, 8192, 2**27, 2**55, -(2**63)])
@pytest.mark.parametrize("others", [[], EDGES, LARGE, [1, 2], [100, -100], [10_000, 2**20]])
def test_numbers_of_every_size_are_read_beside_each_other(first: int, others: list[int]) -> None:
    numbers = [first, *others]
    buffer, at, ends = laid_out(numbers)
    values, behind = buffer.longs(at)
    assert values.tolist() == numbers
    assert behind.tolist() == ends
    assert buffer.skip_longs(at).tolist() == ends


def test_no_lane_is_no_number() -> None:
    buffer = PaddedBuffer([b"\x02"])
    none = np.empty(0, np.int64)
    values, behind = buffer.longs(none)
    assert (values.tolist(), behind.tolist(), buffer.skip_longs(none).tolist()) == ([], [], [])


def test_a_number_without_an_end_is_refused() -> None:
    buffer = PaddedBuffer([b"\xff" * 12])
    with pytest.raises(CorruptFileError, match="at most 10 bytes"):
        buffer.longs(np.array([PAD], np.int64))


@pytest.mark.parametrize("byte", [0, 4, 7])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000, 1003])
def test_bytes_are_found_wherever_they_stand(byte: int, size: int) -> None:
    rare = bytes((index * 37) % 251 for index in range(size))
    common = bytes([byte]) * size
    for data in (rare, common, rare + common):
        places = PaddedBuffer([data]).positions_of(byte)
        inside = places[places >= PAD] - PAD
        assert inside.tolist() == [index for index, other in enumerate(data) if other == byte]


def test_pieces_of_one_size_are_copied() -> None:
    buffer = PaddedBuffer([b"abcdef"])
    at = np.array([PAD, PAD + 3], np.int64)
    assert buffer.fixed_spans(at, 3).tobytes() == b"abcdef"
