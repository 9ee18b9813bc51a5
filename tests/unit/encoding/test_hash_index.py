"""Hash index files."""

import numpy as np
import pytest

from paimon_explore.encoding.hash_index import decode_hashes, encode_hashes
from paimon_explore.errors import CorruptFileError
from support.avro_records import records
from support.golden import WRITERS, GoldenTables


def test_hashes_are_big_endian_and_signed() -> None:
    hashes = np.array([1, -2, 2**31 - 1], np.int32)

    data = encode_hashes(hashes)

    assert data.hex() == "00000001fffffffe7fffffff"
    assert decode_hashes(data, path="index-1").tolist() == [1, -2, 2**31 - 1]


def test_a_size_that_no_hashes_have_is_an_error() -> None:
    with pytest.raises(CorruptFileError, match="multiple of 4 bytes"):
        decode_hashes(b"12345", path="index-1")
    with pytest.raises(CorruptFileError, match="number of hashes must be 2"):
        decode_hashes(b"1234", path="index-1", count=2)


@pytest.mark.parametrize("writer", WRITERS)
def test_hash_indexes_of_real_tables_have_the_stated_counts(
    golden: GoldenTables, writer: str
) -> None:
    folder = golden.table(writer, "pk_dynamic").folder
    for manifest in folder.glob("manifest/index-manifest-*"):
        for entry in records(manifest):
            data = (folder / "index" / str(entry["_FILE_NAME"])).read_bytes()
            count = entry["_ROW_COUNT"]
            assert isinstance(count, int)
            assert encode_hashes(decode_hashes(data, path="a file", count=count)) == data
