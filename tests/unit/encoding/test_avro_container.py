"""The Avro container."""

import zlib

import pytest
import zstandard

from paimon_explore.encoding.avro.container import (
    MAX_BLOCK_BYTES,
    PACK,
    Block,
    is_avro,
    read_blocks,
    read_header,
    read_long,
    write_block,
    write_header,
    write_long,
)
from paimon_explore.errors import CorruptFileError

SYNC = bytes(range(16))


def container(*blocks: tuple[int, bytes], codec: str = "null") -> bytes:
    parts = [write_block(count, data, codec, SYNC) for count, data in blocks]
    return b"".join([write_header(b'"long"', codec, SYNC), *parts])


def blocks_of(data: bytes) -> list[Block]:
    return list(read_blocks(data, read_header(data)))


@pytest.mark.parametrize("codec", sorted(PACK))
def test_blocks_come_back_from_every_codec(codec: str) -> None:
    data = container((2, b"ab" * 500), (1, b"\x02"), codec=codec)
    header = read_header(data)
    assert is_avro(data)
    assert (header.schema, header.codec, header.sync) == (b'"long"', codec, SYNC)
    found = blocks_of(data)
    assert [(block.count, block.data) for block in found] == [(2, b"ab" * 500), (1, b"\x02")]
    assert found[0].offset == header.size


def test_blocks_without_records_are_passed_over() -> None:
    assert [block.count for block in blocks_of(container((0, b""), (1, b"a")))] == [1]
    with pytest.raises(CorruptFileError, match="has data but no records"):
        blocks_of(container((0, b"a")))


def test_a_header_may_be_in_sized_blocks_and_lack_the_codec() -> None:
    entry = write_long(11) + b"avro.schema" + write_long(6) + b'"long"'
    data = b"Obj\x01" + write_long(-1) + write_long(len(entry)) + entry + b"\0" + SYNC
    assert read_header(data).codec == "null"


def test_files_that_begin_alike_have_their_own_markers() -> None:
    other = bytes(range(16, 32))
    for sync in (SYNC, other, SYNC):
        data = write_header(b'"int"', "null", sync) + write_block(1, b"\x02", "null", sync)
        assert read_header(data).sync == sync
        assert [block.data for block in blocks_of(data)] == [b"\x02"]
    start = write_header(b'"int"', "null", SYNC)
    with pytest.raises(CorruptFileError, match="the file is truncated"):
        read_header(start[:-1])


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, b"\x00"),
        (-1, b"\x01"),
        (63, b"\x7e"),
        (-65, b"\x81\x01"),
        (2**63 - 1, b"\xfe" + b"\xff" * 8 + b"\x01"),
        (-(2**63), b"\xff" * 9 + b"\x01"),
    ],
)
def test_longs_are_zigzag_in_groups_of_seven_bits(value: int, data: bytes) -> None:
    assert write_long(value) == data
    assert read_long(data, 0) == (value, len(data))


def test_a_long_of_eleven_bytes_is_corrupt() -> None:
    with pytest.raises(CorruptFileError, match="at most 10 bytes"):
        read_long(b"\xff" * 20, 0)


def zstandard_without_size(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return packer.compress(data) + packer.flush()


def with_packed(codec: str, packed: bytes, count: int = 1) -> bytes:
    block = write_long(count) + write_long(len(packed)) + packed + SYNC
    return write_header(b'"long"', codec, SYNC) + block


def test_zstandard_frames_need_not_tell_their_size() -> None:
    packed = zstandard_without_size(b"a" * 100_000)
    assert blocks_of(with_packed("zstandard", packed))[0].data == b"a" * 100_000


@pytest.mark.parametrize(
    ("codec", "packed"),
    [
        ("zstandard", b"no frame"),
        ("zstandard", zstandard_without_size(b"a" * 99)[:-4]),
        ("deflate", b"\xff\xff\xff"),
        ("deflate", zlib.compress(b"a" * 99)[2:-8]),
        ("snappy", b"abc"),
        ("snappy", b"\x02\x04ab" + bytes(4)),
        ("snappy", b"\xff\xff\xff\xff\x0f" + bytes(9)),
        ("bzip2", b"BZh9"),
        ("xz", b"\xfd7zXZ"),
    ],
)
def test_what_does_not_unpack_is_corrupt(codec: str, packed: bytes) -> None:
    with pytest.raises(CorruptFileError, match=r"cannot be decompressed|must have at least"):
        blocks_of(with_packed(codec, packed))


def test_a_made_up_unpacked_size_is_not_believed() -> None:
    lying = bytearray(zstandard.ZstdCompressor().compress(b"a" * 300))
    assert lying[4] & 0xC0 == 0x40  # the size takes two bytes, and says 300 - 256
    lying[5:7] = b"\xff\xff"
    with pytest.raises(CorruptFileError):
        blocks_of(with_packed("zstandard", bytes(lying)))


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"Obj\x02", "must start with the magic bytes 'Obj' and the byte 1"),
        (b"Obj\x01", "the file is truncated"),
        (write_header(b'"long"', "null", SYNC)[:-1], "the file is truncated"),
        (b"Obj\x01\x00" + SYNC, "must contain avro.schema"),
        (b"Obj\x01\xfe\xff\xff\xff\x0f", "at most 1000 entries"),
        (b"Obj\x01\x02\xfe\xff\xff\xff\x0f", "the file is truncated"),
        (container((1, b"a"))[:-1], "must be within the file"),
        (container((1, b"a"))[:-1] + b"x", "must end with the sync marker of the file"),
        (container((2, b"a")), "at least one byte per record"),
        (with_packed("null", b"", -1), "must be within the file"),
        (container() + b"\x02" + write_long(MAX_BLOCK_BYTES + 1), "must be within the file"),
        (with_packed("null", b"a").replace(b"null", b"lzma"), "must be one of"),
    ],
)
def test_damaged_containers_are_corrupt(data: bytes, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        blocks_of(data)


def test_an_unknown_codec_cannot_be_written() -> None:
    with pytest.raises(CorruptFileError, match=r"avro\.codec"):
        write_header(b"", "lzma", SYNC)
