"""The container of file indexes."""

import pytest

from paimon_explore.encoding.file_index.container import (
    PREFIX_BYTES,
    IndexPart,
    decode_container,
    encode_container,
    head_length,
    map_column,
)
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError

# Java 0.9.0: a bitmap index (version 1) on the column `id`, values 1, null, 1, 2.
JAVA = (
    "00054e4ed01a35ae 00000001 00000030 00000001"
    "0002 6964 00000001 0006 6269746d6170 00000030 00000032 00000000"
    "01 00000004 00000002 01 fffffffe 00000001 00000000 00000002 fffffffc"
    "3a300000 01000000 0000 0100 10000000 0000 0200"
)


def java_bytes() -> bytes:
    return bytes.fromhex(JAVA.replace(" ", ""))


def test_a_container_of_java_is_read_and_written_byte_by_byte() -> None:
    data = java_bytes()

    [part] = decode_container(data, path="x.index")

    assert part == IndexPart(column="id", kind="bitmap", start=48, length=50)
    assert encode_container([("id", "bitmap", data[48:])]) == data


def test_the_head_is_enough_to_find_the_indexes() -> None:
    data = java_bytes()

    length = head_length(data[:PREFIX_BYTES], path="x.index")

    assert length == 48
    whole = decode_container(data, path="x.index")
    assert decode_container(data[:length], path="x.index", size=len(data)) == whole


def test_indexes_of_a_column_stand_together_and_may_be_empty() -> None:
    data = encode_container(
        [("a", "bsi", b"12"), ("b", "bitmap", None), ("a", "bloom-filter", b"")]
    )

    parts = decode_container(data, path="x.index")

    start = len(data) - 2
    assert parts == [
        IndexPart(column="a", kind="bsi", start=start, length=2),
        IndexPart(column="a", kind="bloom-filter", start=start + 2, length=0),
        IndexPart(column="b", kind="bitmap", start=None, length=0),
    ]


@pytest.mark.parametrize("name", ["ä中", "nul\0", "\U0001f600", "m[key]"])
def test_names_are_written_as_java_writes_text(name: str) -> None:
    data = encode_container([(name, "bsi", b"")])

    assert [part.column for part in decode_container(data, path="x.index")] == [name]


def test_a_supplementary_character_is_a_pair_of_surrogates() -> None:
    assert bytes.fromhex("0006eda0bdedb880") in encode_container([("\U0001f600", "bsi", b"")])


def test_the_index_of_a_map_key_has_a_name_of_its_own() -> None:
    assert map_column("m", "a") == "m[a]"


def test_damage_is_named() -> None:
    data = java_bytes()

    def check(broken: bytes, rule: str) -> None:
        with pytest.raises(CorruptFileError, match=rule):
            decode_container(broken, path="x.index")

    check(b"", "8 bytes are required, but only 0 bytes follow")
    check(b"x" + data[1:], "a file index must start with")
    check(data[:12] + bytes(4) + data[16:], "the header length must be at least")
    check(data[:40], "must fit into the file")
    check(data[:16] + b"\x7f" + data[17:], "a count must be 0 to")
    check(data[:20] + b"\xff" + data[21:], "bytes are required, but only")
    check(data[:22] + b"\xff" + data[23:], "text must be UTF-8")
    check(data[:-1], "must be within the file, after the header")
    with pytest.raises(UnsupportedVersionError, match="version 2"):
        decode_container(data[:11] + b"\x02" + data[12:], path="x.index")
