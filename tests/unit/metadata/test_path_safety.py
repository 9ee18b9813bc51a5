"""Names out of metadata open no file of another folder."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.path_safety import check_names
from paimon_explore.metadata.snapshot import encode_snapshot, parse_snapshot
from support.decoding import decode_manifest_list
from support.entries import entries, entry
from support.plain_snapshot import plain_snapshot

OUTWARD = ["..", ".", "", "../f", "/etc/passwd", "sub/f", "sub\\f", "f\0"]
SNAPSHOT = plain_snapshot()


def listed(name: str) -> bytes:
    row = dict.fromkeys(ManifestFiles.empty().table.schema.names)
    row |= {"file_name": name, "file_size": 1, "num_added_files": 1, "num_deleted_files": 0}
    row |= {"partition_min": b"", "partition_max": b"", "partition_null_counts": [], "schema_id": 0}
    table = pa.Table.from_pylist([row], schema=ManifestFiles.empty().table.schema)
    return encode_records(ManifestFiles(table))


def indexed(name: str) -> bytes:
    schema = IndexEntries.empty().table.schema
    row = dict.fromkeys(schema.names) | {"kind": 0, "partition": b"", "bucket": 0}
    row |= {"index_type": "HASH", "file_name": name, "file_size": 4, "row_count": 1}
    return encode_records(IndexEntries(pa.Table.from_pylist([row], schema=schema)))


READS: dict[str, Callable[[str], object]] = {
    "list": lambda n: decode_manifest_list(listed(n), "file"),
    "index": lambda n: decode_index_entries(indexed(n), "file"),
    "data": lambda n: decode_entries([("file", encode_records(entries(entry(n))))]),
    "extra": lambda n: decode_entries(
        [("file", encode_records(entries(entry("good", extra_files=["f.index", n]))))]
    ),
}


@pytest.mark.parametrize("name", OUTWARD)
@pytest.mark.parametrize(
    ("read", "where"),
    [
        ("list", "_FILE_NAME"),
        ("index", "_FILE_NAME"),
        ("data", "_FILE._FILE_NAME"),
        ("extra", "_FILE._EXTRA_FILES"),
    ],
)
def test_a_name_that_leads_out_is_refused_with_file_and_field(
    name: str, read: str, where: str
) -> None:
    READS[read]("good-name")
    with pytest.raises(CorruptFileError, match="must be a valid file name") as caught:
        READS[read](name)
    assert (caught.value.path, caught.value.where) == ("file", where)


@pytest.mark.parametrize("name", [name for name in OUTWARD if name])
@pytest.mark.parametrize(
    ("member", "key"),
    [
        ("base_manifest_list", "baseManifestList"),
        ("delta_manifest_list", "deltaManifestList"),
        ("changelog_manifest_list", "changelogManifestList"),
        ("index_manifest", "indexManifest"),
        ("statistics", "statistics"),
    ],
)
def test_a_snapshot_that_names_files_elsewhere_is_refused(name: str, member: str, key: str) -> None:
    data = encode_snapshot(replace(SNAPSHOT, **{member: name}))  # type: ignore[arg-type]  # texts
    with pytest.raises(CorruptFileError) as caught:
        parse_snapshot(data, "snapshot-1")
    assert (caught.value.path, caught.value.where) == ("snapshot-1", key)


def test_names_are_checked_in_every_chunk_and_null_is_let_pass() -> None:
    good = pa.array(["data-1.parquet", None, "abc"])
    check_names(pa.chunked_array([good, good]), "f", "n")
    check_names(pa.nulls(3, pa.string()), "f", "n")
    with pytest.raises(CorruptFileError):
        check_names(pa.chunked_array([good, pa.array(["abc", "x/y"])]), "f", "n")
    with pytest.raises(CorruptFileError):
        check_names(pa.array(["", ""]), "f", "n")


def test_a_separator_in_a_cut_off_neighbour_does_not_count() -> None:
    check_names(pa.array(["../x", "data-1"]).slice(1), "f", "n")
