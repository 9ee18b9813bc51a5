"""Java's 64-bit bitmaps."""

import pytest
from pyroaring import BitMap

from paimon_explore.encoding.roaring_bitmap import (
    WideBitmap,
    decode_wide,
    encode_wide,
    united,
)
from paimon_explore.errors import CorruptFileError

JAVA = bytes.fromhex(  # ten values, from golden java200/me_agg_more_aggregation
    "0108000000000000000108000300000037362d211a14050100000000000000000400000000000001"
    "2a0503000000000000000400000000000005d21d02000000000000000400000000000014f46b0100"
    "000000000000040000000000001ac68805000000000000000400000000000021c2ac060000000000"
    "0000040000000000002d66e707000000000000000400000000000036b71700000000000000000400"
    "000000000037e11d040000000000000001000000fe09000000010201000000006e01020100000000"
    "0401020100000000ba01020100000000f2010201000000006001020100000000be01020100000000"
    "6a01020100000000de0008000000000000000000000007000000"
)


def key(number: int) -> bytes:
    return number.to_bytes(6, "big")


def bitmap(*highs: int, values: BitMap | None = None) -> WideBitmap:
    content = BitMap([1]) if values is None else values
    return WideBitmap({key(high): content for high in highs}, len(highs))


def test_javas_bytes_are_read_and_written_again() -> None:
    found = decode_wide(JAVA, "")
    assert found.slots == 9
    assert list(found.containers)[:2] == [key(0x36B717), key(0x14F46B)]
    assert found.containers[key(0x36B717)] == BitMap([0x6E00])
    assert encode_wide(found) == JAVA


def test_an_empty_bitmap_is_one_byte() -> None:
    assert encode_wide(decode_wide(b"\0", "")) == b"\0"


@pytest.mark.parametrize("count", [1, 2, 4, 5, 16, 17, 48, 49, 256])
def test_nodes_of_every_size_come_back(count: int) -> None:
    for step in (1, 2**40):
        whole = bitmap(*[at * step % 2**48 for at in range(count)])
        found = decode_wide(encode_wide(whole), "")
        assert found.containers == whole.containers


@pytest.mark.parametrize(
    "values",
    [
        BitMap([0, 65535]),
        BitMap(range(5000)),
        BitMap(range(0, 65536, 2)),
        BitMap(range(0, 8192, 2)),
        BitMap([*range(10), *range(100, 3000)]),
    ],
)
def test_containers_of_every_kind_come_back(values: BitMap) -> None:
    image = encode_wide(bitmap(7, values=values))
    assert decode_wide(image, "").containers == {key(7): values}


def test_what_a_union_adds_is_stored_behind_in_the_order_of_keys() -> None:
    found = united(bitmap(5, 3), bitmap(9, 5, 1, values=BitMap([2])))
    assert list(found.containers) == [key(5), key(3), key(1), key(9)]
    assert found.containers[key(5)] == BitMap([1, 2])
    assert found.slots == 4


def test_every_cut_and_a_broken_count_are_errors() -> None:
    for end in range(len(JAVA)):
        with pytest.raises(CorruptFileError):
            decode_wide(JAVA[:end], "file")
    with pytest.raises(CorruptFileError, match="leaves"):
        decode_wide(JAVA[:1] + b"\x09" + JAVA[2:], "file")
    with pytest.raises(CorruptFileError, match="the node type 7 is unknown"):
        decode_wide(JAVA[:9] + b"\x07" + JAVA[10:], "file")
