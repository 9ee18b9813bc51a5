"""Btree and bitmap index files of Java and pypaimon: their keys, and damaged bytes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroaring import BitMap64

from paimon_explore import open_table
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding.global_index.bitmap_file import BitmapIndexFile
from paimon_explore.encoding.global_index.blocks import IndexFileBytes
from paimon_explore.encoding.global_index.btree_file import BTreeIndexFile
from paimon_explore.encoding.global_index.index_keys import GlobalIndexKeys, global_index_keys
from paimon_explore.encoding.global_index.index_meta import (
    SortedIndexMeta,
    decode_index_meta,
    encode_index_meta,
)
from paimon_explore.encoding.global_index.key_ranges import EVERY_KEYS, KeyRange, KeySet
from paimon_explore.errors import CorruptFileError, PaimonError, UnsupportedFeatureError
from support.archives import unpack
from support.depth import some
from support.global_indexes import ARCHIVE, INDEXED_ROWS, TABLES, TYPES, given

NULLS = [i for i in range(INDEXED_ROWS) if given()[i]["b"] is None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("global_index_files")
    for name in TABLES:
        unpack(ARCHIVE, name, found)
    return found


def index_files(folder: Path, name: str, column: str) -> Iterator[tuple[bytes, bytes]]:
    """Content and metadata of the index files of a column."""
    table = open_table(folder / name)
    snapshot = table.scan().target.snapshot
    assert snapshot is not None
    (field,) = (field.id for field in table.scan().target.schema.fields if field.name == column)
    for row in table._store.manifests.index_of(snapshot).rows():
        index = row["global_index"]
        if isinstance(index, dict) and index["index_field_id"] == field:
            path = folder / name / "index" / str(row["file_name"])
            yield path.read_bytes(), index["index_meta"]


def opened(data: bytes, keys: GlobalIndexKeys, name: str) -> BTreeIndexFile | BitmapIndexFile:
    file = IndexFileBytes(lambda start, size: data[start : start + size], len(data), "x.index")
    return (BTreeIndexFile if "btree" in name else BitmapIndexFile)(file, keys)


@pytest.mark.parametrize("name", TABLES)
def test_a_file_has_every_row_and_its_metadata(folder: Path, name: str) -> None:
    for column, text in TYPES.items():
        keys = global_index_keys(parse_type_text(text))
        rows, nulls = BitMap64(), BitMap64()
        for data, stored in index_files(folder, name, column):
            meta = decode_index_meta(stored, keys, path="")
            assert encode_index_meta(meta, keys) == stored
            file = opened(data, keys, name)
            rows |= file.rows(EVERY_KEYS)
            nulls |= file.null_rows()
            if meta.first is None or meta.last is None:
                continue
            ends = KeySet.of(KeyRange(meta.first, keys.after(meta.last)))
            assert file.rows(ends) == file.rows(EVERY_KEYS)
            assert file.rows(KeySet.of(KeyRange(meta.first, keys.after(meta.first))))
            assert file.rows(KeySet.of(KeyRange(meta.last, keys.after(meta.last))))
            assert not file.rows(KeySet.of(KeyRange(None, meta.first)))
            assert not file.rows(KeySet.of(KeyRange(keys.after(meta.last), None)))
        assert list(nulls) == NULLS, column
        assert list(rows) == [i for i in range(INDEXED_ROWS) if i not in NULLS], column


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_file_is_an_error_or_has_the_same_rows(folder: Path, name: str) -> None:
    keys = global_index_keys(parse_type_text(TYPES["s"]))
    for data, _ in index_files(folder, name, "s"):
        whole = opened(data, keys, name)
        expected = whole.rows(EVERY_KEYS), whole.null_rows()
        for at in some(range(len(data)), 5):
            damaged = bytearray(data)
            damaged[at] ^= 0x41
            try:
                file = opened(bytes(damaged), keys, name)
                found = file.rows(EVERY_KEYS), file.null_rows()
            except PaimonError:
                continue
            if "btree" in name:  # bitmaps of a bitmap index have no checksum
                assert found == expected, at
        for size in some(range(len(data)), 7):
            with pytest.raises(CorruptFileError):
                opened(data[:size], keys, name).rows(EVERY_KEYS)


def test_metadata_of_a_file_of_nulls() -> None:
    keys = global_index_keys(parse_type_text("STRING"))
    nulls = SortedIndexMeta(first=None, last=None, has_nulls=True)
    assert decode_index_meta(b"\0" * 8 + b"\1", keys, path="") == nulls
    assert decode_index_meta(b"\0" * 8 + b"\1\1\3", keys, path="") == nulls
    texts = SortedIndexMeta(first=b"", last=b"", has_nulls=True)
    assert decode_index_meta(b"\0" * 8 + b"\1\1\0", keys, path="") == texts
    for size in range(8):
        with pytest.raises(CorruptFileError, match="_INDEX_META"):
            decode_index_meta(b"\0" * size, keys, path="")


@pytest.mark.parametrize("text", ["BYTES", "BINARY(3)", "ARRAY<INT>", "VARIANT"])
def test_other_types_have_no_keys(text: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="global index on a column of type"):
        global_index_keys(parse_type_text(text))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("INT", [-(2**31), -1, 0, 255, 2**31 - 1]),
        ("DOUBLE", [-(2**62), -1, 0, 2**62]),
        ("DECIMAL(38, 0)", [-(10**37), -129, -128, -1, 0, 127, 128, 255, 10**37]),
        ("TIMESTAMP(9)", [-1, 0, 999_999, 1_000_000, 10**18 + 1]),
        ("STRING", [b"", b"a", "é".encode()]),
    ],
)
def test_keys_are_stored_and_read(text: str, keys: list[int | bytes]) -> None:
    codec = global_index_keys(parse_type_text(text))
    assert [codec.decode(codec.encode(key)) for key in keys] == keys
