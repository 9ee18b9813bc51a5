"""What each kind of index can be asked, and where its answers are only an upper bound."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyroaring import BitMap

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.file_index.bitmap import decode_bitmap_index, encode_bitmap_index
from paimon_explore.encoding.file_index.bloom_filter import BloomBuilder, hash_text, mix
from paimon_explore.encoding.file_index.bsi import decode_bsi, encode_bsi
from paimon_explore.encoding.file_index.index_condition import Condition, FileIndex, Relation
from paimon_explore.encoding.file_index.index_keys import IndexValue, is_indexable, key_codec
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings, decode_index
from paimon_explore.encoding.file_index.range_bitmap import (
    decode_range_bitmap,
    encode_range_bitmap,
)
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)

KINDS = ["bloom-filter", "bitmap", "bsi", "range-bitmap"]
INT = parse_type("INT", "a test")
STRING = parse_type("STRING", "a test")
ORDERS = [Relation.LT, Relation.LE, Relation.GT, Relation.GE]
JAVA_BITMAP = (
    "01 00000004 00000002 01 fffffffe 00000001 00000000 00000002 fffffffc"
    "3a300000 01000000 0000 0100 10000000 0000 0200"
)


def index_of(kind: str, column: Column, text: str, **settings: int) -> FileIndex:
    data_type = parse_type(text, "a test")
    builder = IndexBuilder(kind, data_type, IndexSettings(**settings))
    builder.add(column)
    return decode_index(kind, builder.encode(), data_type, path="x.index")


def rows(index: FileIndex, relation: Relation, *values: IndexValue) -> list[int] | None:
    found = index.rows(Condition(relation, values))
    return None if found is None else list(found)


def test_the_hashes_are_those_of_java() -> None:
    assert mix(np.array([1, -5])).tolist() == [6614235796240398542, -3822160321977914683]
    assert [hash_text(text) for text in (b"paimon", b"", b"a" * 40)] == [
        615975309333239268,
        -1205034819632174695,
        6241609220271238915,
    ]


def test_a_bloom_filter_has_the_size_of_java() -> None:
    data = BloomBuilder(INT, items=100, fpp=0.01).encode()

    assert data == (7).to_bytes(4, "big") + bytes(960 // 8)


def test_a_bloom_filter_tells_of_equality_only() -> None:
    index = index_of("bloom-filter", pa.array([1, None, 7], pa.int32()), "INT", items=10)

    assert index.may_match(Condition(Relation.EQ, (7,)))
    assert not index.may_match(Condition(Relation.EQ, (8,)))
    assert index.may_match(Condition(Relation.IN, (8, 1)))
    assert not index.may_match(Condition(Relation.IN, (8, 9)))
    assert index.may_match(Condition(Relation.NE, (1,)))
    assert index.may_match(Condition(Relation.IS_NULL))
    assert rows(index, Relation.EQ, 7) is None
    assert rows(index, Relation.EQ, 8) == []


def test_a_bitmap_index_of_java_is_read() -> None:
    index = decode_bitmap_index(bytes.fromhex(JAVA_BITMAP.replace(" ", "")), INT, path="x.index")

    assert (index.row_count, index.key_count) == (4, 2)
    assert rows(index, Relation.EQ, 1) == [0, 2]
    assert rows(index, Relation.EQ, 2) == [3]
    assert rows(index, Relation.EQ, 3) == []
    assert rows(index, Relation.IS_NULL) == [1]
    assert rows(index, Relation.IS_NOT_NULL) == [0, 2, 3]
    assert rows(index, Relation.NE, 1) == [3]
    assert rows(index, Relation.LT, 2) is None
    assert dict(index.groups()) == {1: BitMap([0, 2]), 2: BitMap([3])}


def test_version_1_of_a_bitmap_index_is_written_as_java_writes_it() -> None:
    column = pa.array([1, None, 1, 2], pa.int32())

    data = encode_bitmap_index(column, INT, version=1)

    assert data.hex() == JAVA_BITMAP.replace(" ", "")


def test_many_values_of_a_bitmap_index_go_into_blocks() -> None:
    column = pa.array([f"value {n % 500}" for n in range(1000)])

    data = encode_bitmap_index(column, STRING, block_bytes=200)
    index = decode_bitmap_index(data, STRING, path="x.index")

    assert len(index._blocks) > 50
    for n in range(500):
        assert rows(index, Relation.EQ, f"value {n}") == [n, n + 500]
    assert rows(index, Relation.EQ, "") == []
    assert rows(index, Relation.EQ, "zzz") == []


def test_many_keys_of_a_range_bitmap_go_into_chunks() -> None:
    texts = [f"value {n:04d}" for n in range(1000)]

    data = encode_range_bitmap(pa.array(texts), STRING, chunk_bytes=100)
    index = decode_range_bitmap(data, STRING, path="x.index")

    assert list(index.keys) == [text.encode() for text in texts]
    assert rows(index, Relation.GT, "value 0997") == [998, 999]
    assert rows(index, Relation.LT, "value 0001x") == [0, 1]


@pytest.mark.parametrize("kind", ["bitmap", "bsi", "range-bitmap"])
@pytest.mark.parametrize("values", [[], [None, None], [0, 0], [5]])
def test_columns_with_little_in_them_are_indexed(kind: str, values: list[int | None]) -> None:
    index = index_of(kind, pa.array(values, pa.int32()), "INT")

    assert rows(index, Relation.EQ, 0) == [n for n, v in enumerate(values) if v == 0]
    assert rows(index, Relation.IS_NULL) == [n for n, v in enumerate(values) if v is None]


def test_a_range_bitmap_without_keys_has_the_bytes_of_java() -> None:
    data = encode_range_bitmap(pa.array([None], pa.int32()), INT)

    # 64 digits, each an empty bitmap of 8 bytes
    assert data[:17].hex() == "0000000d" + "01" + "00000001" + "00000000" + "00000011"
    assert data[34:44].hex() == "0000020a" + "01" + "40" + "00000008"


@pytest.mark.parametrize("kind", ["bitmap", "range-bitmap"])
def test_both_zeros_are_equal_and_nan_is_left_to_the_reader(kind: str) -> None:
    values = [0.0, -0.0, float("nan"), 1.0, None, -1.0]
    index = index_of(kind, pa.array(values, pa.float32(), from_pandas=False), "FLOAT")

    assert rows(index, Relation.EQ, 0.0) == [0, 1]
    assert rows(index, Relation.EQ, -0.0) == [0, 1]
    assert rows(index, Relation.NE, 0.0) == [2, 3, 5]
    assert rows(index, Relation.NE, float("nan")) == [0, 1, 2, 3, 5]
    assert rows(index, Relation.LT, float("nan")) is None


def test_zeros_bound_alike_in_comparisons_of_order() -> None:
    values = [0.0, -0.0, 1.0, -1.0]
    index = index_of("range-bitmap", pa.array(values), "DOUBLE")

    for zero in (0.0, -0.0):
        assert [rows(index, relation, zero) for relation in ORDERS] == [
            [3],
            [0, 1, 3],
            [2],
            [0, 1, 2],
        ]


@pytest.mark.parametrize("kind", ["bitmap", "bsi"])
def test_nanoseconds_are_indexed_to_the_microsecond_and_never_miss(kind: str) -> None:
    column = pa.array([1500, 1700, 2000, None], pa.timestamp("ns"))
    index = index_of(kind, column, "TIMESTAMP(9)")

    assert rows(index, Relation.EQ, 1500) == [0, 1]
    assert rows(index, Relation.NE, 1500) == [0, 1, 2]
    if kind == "bsi":
        assert rows(index, Relation.LT, 1600) == [0, 1]
        assert rows(index, Relation.GT, 1600) == [0, 1, 2]
        assert rows(index, Relation.GE, 2000) == [2]


@pytest.mark.parametrize(
    ("text", "column", "literal"),
    [
        ("TIMESTAMP(0)", pa.array([7, 8], pa.timestamp("s")), 8),
        ("TIMESTAMP(3)", pa.array([7, 8], pa.timestamp("ms")), 8),
        ("TIMESTAMP_LTZ(6)", pa.array([7, 8], pa.timestamp("us", "UTC")), 8),
        ("DATE", pa.array([7, 8], pa.date32()), 8),
        ("TIME(3)", pa.array([7, 8], pa.time32("ms")), 8),
        ("DECIMAL(10, 2)", pa.array([Decimal("0.07"), Decimal("-1.00")]), Decimal("-1.00")),
        ("BIGINT", pa.array([2**63 - 1, -(2**63) + 1]), -(2**63) + 1),
        ("TINYINT", pa.array([1, -128], pa.int8()), -128),
    ],
)
@pytest.mark.parametrize("kind", ["bsi", "range-bitmap"])
def test_literals_are_numbers_in_the_unit_of_their_type(
    kind: str, text: str, column: Column, literal: IndexValue
) -> None:
    data_type = parse_type(text, "a test")
    index = index_of(kind, column.cast(column_type(text)), text)

    assert rows(index, Relation.EQ, literal) == [1]
    assert is_indexable(kind, data_type)


def column_type(text: str) -> pa.DataType:
    return to_arrow(parse_type(text, "a test"))


def test_a_literal_of_another_type_is_refused() -> None:
    index = index_of("range-bitmap", pa.array([1], pa.int32()), "INT")

    with pytest.raises(InvalidInputError, match="'text' is not a valid INT"):
        rows(index, Relation.EQ, "text")


def test_a_column_without_values_has_an_empty_index() -> None:
    index = decode_index("bitmap", None, INT, path="x.index")

    assert rows(index, Relation.EQ, 1) == []
    assert rows(index, Relation.IS_NULL) is None
    assert index.may_match(Condition(Relation.IS_NULL))
    assert not index.may_match(Condition(Relation.IS_NOT_NULL))


@pytest.mark.parametrize(
    ("kind", "allowed", "refused"),
    [
        ("bloom-filter", ["BYTES", "TIMESTAMP(9)", "DOUBLE"], ["BOOLEAN", "DECIMAL(5,0)"]),
        ("bitmap", ["BOOLEAN", "STRING", "FLOAT"], ["BYTES", "DECIMAL(5,0)", "VARIANT"]),
        ("bsi", ["DECIMAL(18,0)", "TIME(0)"], ["DECIMAL(19,0)", "STRING", "FLOAT", "BOOLEAN"]),
        ("range-bitmap", ["BOOLEAN", "TIMESTAMP(6)"], ["TIMESTAMP(7)", "DECIMAL(19,0)", "BYTES"]),
        ("unheard-of", [], ["INT"]),
    ],
)
def test_a_kind_takes_the_types_that_it_takes_in_java(
    kind: str, allowed: Sequence[str], refused: Sequence[str]
) -> None:
    for text in allowed:
        assert is_indexable(kind, parse_type(text, "a test"))
    for text in refused:
        assert not is_indexable(kind, parse_type(text, "a test"))
        with pytest.raises(UnsupportedFeatureError, match="a column of"):
            key_codec(kind, parse_type(text, "a test"))


def test_bad_settings_are_refused() -> None:
    column = pa.array([1], pa.int32())

    with pytest.raises(InvalidInputError, match="at least 1 item"):
        BloomBuilder(INT, items=0)
    with pytest.raises(InvalidInputError, match="must be 1 or 2"):
        encode_bitmap_index(column, INT, version=3)
    with pytest.raises(InvalidInputError, match="must not be negative"):
        encode_range_bitmap(column, INT, chunk_bytes=-1)
    with pytest.raises(InvalidInputError, match="-9223372036854775808"):
        encode_bsi(pa.array([-(2**63)]), parse_type("BIGINT", "a test"))
    with pytest.raises(UnsupportedFeatureError, match="kind 'btree'"):
        decode_index("btree", b"", INT, path="x.index")


def test_unknown_versions_are_refused() -> None:
    column = pa.array([1, 1], pa.int32())
    bitmap = encode_bitmap_index(column, INT)
    range_bitmap = encode_range_bitmap(column, INT)

    with pytest.raises(UnsupportedVersionError, match=r"Bitmap index .* has version 3"):
        decode_bitmap_index(b"\x03" + bitmap[1:], INT, path="x.index")
    with pytest.raises(UnsupportedVersionError, match=r"Bit-sliced index .* has version 2"):
        decode_bsi(b"\x02" + encode_bsi(column, INT)[1:], INT, path="x.index")
    with pytest.raises(UnsupportedVersionError, match=r"Range bitmap .* has version 9"):
        decode_range_bitmap(range_bitmap[:4] + b"\x09" + range_bitmap[5:], INT, path="x.index")


def ask(kind: str, data: bytes) -> None:
    index = decode_index(kind, data, INT, path="x.index")
    index.rows(Condition(Relation.EQ, (1,)))
    index.rows(Condition(Relation.IS_NULL))


def test_damage_is_named() -> None:
    def check(kind: str, data: str, rule: str) -> None:
        with pytest.raises(CorruptFileError, match=rule):
            ask(kind, bytes.fromhex(data.replace(" ", "")))

    check("bloom-filter", "00000001", "must have at least one bit")
    check("bloom-filter", "00000000 00", "1 to 65536 hash functions")
    check("bitmap", "01 00000001 7fffffff 00", "a count must be 0 to")
    check("bitmap", "01 00000001 00000001 00 00000001 fffffffe", "the row number must be below 1")
    check("bitmap", JAVA_BITMAP.replace("0200", "0900"), "must be below 4")
    check(
        "bitmap",
        "02 00000001 00000001 00 00000001 00000001 00000005 00000000",
        "dictionary blocks must be before",
    )
    check("bsi", "01 00000001 01 01" + "00" * 16 + "3a30000000000000 00000041", "must be 0 to 64")
    check(
        "bsi",
        "01 00000003 01 01" + "00" * 16 + "3a30000000000000 00000001"
        "3a300000 01000000 0000 0000 10000000 0100 00",
        "a bit slice contains a row without",
    )
    check("range-bitmap", "0000000d 01 00000001 00000001 00000001", "bytes are required, but only")
