"""Roaring bitmaps: what the library may see, and what it must not."""

import pytest
from pyroaring import BitMap

from paimon_explore.encoding.roaring_bitmap import (
    BitmapReader,
    decode_bitmap,
    encode_bitmap,
)
from paimon_explore.errors import CorruptFileError

FEW = "3a3000000200000000000100010000001800 00001c000000010003007011".replace(" ", "")
RUN = "3b3000000100006300010000006300"


@pytest.mark.parametrize(
    ("positions", "expected"), [(BitMap([1, 3, 70000]), FEW), (BitMap(range(100)), RUN)]
)
def test_bitmaps_have_the_bytes_of_java(positions: BitMap, expected: str) -> None:
    assert encode_bitmap(positions).hex() == expected
    assert decode_bitmap(bytes.fromhex(expected), "a file") == positions


@pytest.mark.parametrize(
    "bitmap",
    [
        BitMap(),
        BitMap([0]),
        BitMap(range(0, 70000, 2)),
        BitMap(range(65536)),
        BitMap([5, 2**20, 2**25, 2**30, 2**32 - 1]),
        BitMap(range(10)) | BitMap(range(2**17, 2**17 + 9)) | BitMap([2**20, 2**28, 2**31]),
    ],
)
def test_every_kind_of_container_is_read_back(bitmap: BitMap) -> None:
    data = encode_bitmap(bitmap)
    reader = BitmapReader(data + b"the next one", "a file")

    assert reader.take() == bitmap
    assert reader.position == len(data)


@pytest.mark.parametrize(
    ("stored", "rule"),
    [
        ("", "extends beyond the end of the file"),
        ("3c300000", "the cookie must be"),
        ("3a300000 02000100", "at most 65536 containers"),
        ("3a300000 02000000 0100 0000 0000 0000", "container keys must be"),
        (
            "3a300000 01000000 0000 0100 10000000 0500 0500",
            "the values of an array container must be",
        ),
        (
            "3a300000 01000000 0000 ff1f 10000000" + "00" * 8192,
            "bits set, as stated in the header",
        ),
        (
            "3a300000 01000000 0000 ff1f 10000000" + "00" * 8191,
            "extends beyond the end of the file",
        ),
        ("3b300000 01 0000 6300 0100 0000 6200", "values, as stated in the header"),
        ("3b300000 01 0000 0300 0200 0000 0100 0100 0100", "runs must be in ascending order"),
        ("3b300000 01 0000 0100 0100 ffff 0100", "ascending order within their container"),
        ("3b300000 01 0000 6300 0100 0000", "extends beyond the end of the file"),
    ],
)
def test_damage_is_found_before_the_library_reads_it(stored: str, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        decode_bitmap(bytes.fromhex(stored.replace(" ", "")), "a file")
