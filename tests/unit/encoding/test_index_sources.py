"""Source metadata of indexes: Java's bytes, and damaged ones."""

from collections.abc import Iterator

import pytest

from paimon_explore import open_table
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    SourceFile,
    decode_sources,
    encode_snapshot,
    encode_sources,
    names_snapshot,
    primary_key_sources,
)
from paimon_explore.errors import CorruptFileError, PaimonError, UnsupportedVersionError
from support.golden import GoldenTables

ONE = IndexSources(level=5, files=(SourceFile("a.parquet", 3), SourceFile("ä\0.orc", 2**40)))


def of_java(golden: GoldenTables) -> Iterator[bytes]:
    table = open_table(golden.table("java200", "pk_index_btree").folder)
    for snapshot in table.snapshots:
        for row in table._store.manifests.index_of(snapshot).rows():
            if isinstance(index := row["global_index"], dict):
                yield index["source_meta"]


def test_java_s_bytes_are_written_back(golden: GoldenTables) -> None:
    found = {data: decode_sources(data, path="p") for data in of_java(golden)}
    assert found
    assert [encode_sources(sources) for sources in found.values()] == list(found)
    assert {sources.level for sources in found.values()} == {5}


def test_names_and_counts_are_kept() -> None:
    data = encode_sources(ONE)
    assert data[:12].hex() == "000000010000000500000002"
    assert decode_sources(data, path="p") == ONE
    assert ONE.row_count == 2**40 + 3


def test_an_index_over_row_ids_may_name_the_snapshot_that_was_read(golden: GoldenTables) -> None:
    table = open_table(golden.table("java21", "btree_index").folder)
    found: list[object] = []
    for snapshot in table.snapshots:
        found = [row["global_index"] for row in table._store.manifests.index_of(snapshot).rows()]
        assert all(map(names_snapshot, found))
        assert [primary_key_sources(index) for index in found] == [None] * len(found)
    sources = [index["source_meta"] for index in found if isinstance(index, dict)]
    assert {encode_snapshot(number) for number in (1, 2, 4)} >= set(sources)
    assert not names_snapshot({"source_meta": None})
    assert not names_snapshot({"source_meta": encode_sources(ONE)})
    assert primary_key_sources({"source_meta": encode_sources(ONE)}) == encode_sources(ONE)
    assert primary_key_sources(None) is None


def test_damaged_bytes_are_refused() -> None:
    data = encode_sources(ONE)
    for size in range(len(data)):
        with pytest.raises(PaimonError):
            decode_sources(data[:size], path="p")
    with pytest.raises(CorruptFileError, match="after the last file"):
        decode_sources(data + b"\0", path="p")
    with pytest.raises(UnsupportedVersionError):
        decode_sources(b"\0\0\0\2" + data[4:], path="p")
    for level in (b"\0\0\0\0", b"\xff\xff\xff\xff"):
        with pytest.raises(CorruptFileError, match="level above 0"):
            decode_sources(data[:4] + level + data[8:], path="p")
    with pytest.raises(CorruptFileError, match="level above 0"):
        decode_sources(data[:8] + b"\0\0\0\0", path="p")
