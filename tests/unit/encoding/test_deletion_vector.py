"""Deletion vector files against bytes of Java, and against every golden index file."""

import pytest
from pyroaring import BitMap, BitMap64

from paimon_explore.encoding.deletion_vector import (
    DeletionVector,
    VectorRange,
    decode_vector,
    encode_vectors,
)
from paimon_explore.errors import CorruptFileError, InvalidInputError
from support.avro_records import records
from support.decoding import decode_vectors
from support.golden import WRITERS, GoldenTables

FEW = "5e43f2d0 3a300000 02000000 0000 0100 0100 0000 18000000 1c000000 0100 0300 7011"
RUN = "5e43f2d0 3b300000 01 0000 6300 0100 0000 6300"
TABLES = ["append_dv", "append_dv64", "dv_bitmap64", "dv_pk", "deletion_mor", "row_tracking_dv"]


def data_of(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


def one_record(vector: DeletionVector, *, wide: bool = False) -> tuple[bytes, int]:
    data, [found] = encode_vectors([("f", vector)], wide=wide)
    return data[1:], found.length


@pytest.mark.parametrize(
    ("vector", "expected"), [(BitMap([1, 3, 70000]), FEW), (BitMap(range(100)), RUN)]
)
def test_a_vector_has_the_bytes_of_java(vector: BitMap, expected: str) -> None:
    data, ranges = encode_vectors([("data-1.parquet", vector)])

    assert data[5:-4] == data_of(expected)
    size = len(data_of(expected))
    assert data[1:5] == size.to_bytes(4, "big")
    assert ranges == [
        VectorRange(data_file="data-1.parquet", offset=1, length=size, cardinality=len(vector))
    ]


def test_the_64_bit_layout_states_a_length_with_its_frame() -> None:
    vector = BitMap64([1, 2**33])

    data, [found] = encode_vectors([("f", vector)], wide=True)

    size = int.from_bytes(data[1:5], "big")
    assert found == VectorRange(data_file="f", offset=1, length=size + 8, cardinality=2)
    assert data[5:17] == data_of("d1d33964 0300000000000000")
    assert decode_vector(data[1:], found.length, path="a file", cardinality=2) == vector


def test_several_vectors_lie_one_after_the_other() -> None:
    vectors: list[tuple[str, DeletionVector]] = [
        ("a", BitMap([7])),
        ("b", BitMap(range(5))),
        ("c", BitMap()),
    ]

    data, ranges = encode_vectors(vectors)

    assert [r.data_file for r in ranges] == ["a", "b", "c"]
    assert decode_vectors(data, path="a file") == [
        (r.offset, vector) for r, (_, vector) in zip(ranges, vectors, strict=True)
    ]


def test_a_file_without_vectors_is_its_version_byte() -> None:
    assert encode_vectors([]) == (b"\x01", [])
    assert decode_vectors(b"\x01", path="a file") == []


def test_a_64_bit_vector_is_written_in_32_bits_when_asked() -> None:
    record, length = one_record(BitMap64([1, 3, 70000]))

    assert decode_vector(record, length, path="a file") == BitMap([1, 3, 70000])


def test_a_32_bit_vector_is_written_in_64_bits_when_asked() -> None:
    record, length = one_record(BitMap([1, 3]), wide=True)

    assert decode_vector(record, length, path="a file") == BitMap64([1, 3])


def test_a_position_that_no_file_has_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="below"):
        one_record(BitMap64([2**41]), wide=True)


def test_damage_is_named() -> None:
    record, length = one_record(BitMap([1, 3]))

    def error_of(data: bytes, size: int = length, cardinality: int = 2) -> str:
        with pytest.raises(CorruptFileError) as caught:
            decode_vector(data, size, path="index-1", cardinality=cardinality)
        return str(caught.value)

    assert "extends beyond the end of the file" in error_of(record[:-1])
    assert "extends beyond the end of the file" in error_of(b"")
    assert "but the size field contains" in error_of(record, length + 1)
    assert "checksum" in error_of(record[:-1] + bytes([record[-1] ^ 1]))
    assert "checksum" in error_of(record[:9] + bytes([record[9] ^ 1]) + record[10:])
    assert "has 2 deleted rows, but the index manifest states 3" in error_of(record, cardinality=3)


@pytest.mark.parametrize("writer", WRITERS)
def test_every_vector_of_real_tables_is_read_and_written_back_byte_by_byte(
    golden: GoldenTables, writer: str
) -> None:
    read = 0
    for name in set(TABLES) & set(golden.names(writer)):
        folder = golden.table(writer, name).folder
        for manifest in folder.glob("manifest/index-manifest-*"):
            for entry in records(manifest):
                path = folder / "index" / str(entry["_FILE_NAME"])
                if entry["_INDEX_TYPE"] == "DELETION_VECTORS" and path.exists():
                    read += check_index_file(path.read_bytes(), entry)
    assert read > 0 or writer in {"pypaimon21", "rust04"}


def check_index_file(data: bytes, entry: dict[str, object]) -> int:
    ranges = entry["_DELETIONS_VECTORS_RANGES"]
    assert isinstance(ranges, list)
    vectors = []
    wide = False
    for found in ranges:
        record = data[found["f1"] : found["f1"] + found["f2"] + 8]
        count = found.get("_CARDINALITY")
        vector = decode_vector(record, found["f2"], path="a file", cardinality=count)
        vectors.append((found["f0"], vector))
        wide = isinstance(vector, BitMap64)
    written, stated = encode_vectors(vectors, wide=wide)
    assert written == data
    assert [(r.data_file, r.offset, r.length) for r in stated] == [
        (r["f0"], r["f1"], r["f2"]) for r in ranges
    ]
    return len(vectors)
