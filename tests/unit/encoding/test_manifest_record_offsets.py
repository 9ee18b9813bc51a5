"""Records found by how they begin are those that a walk finds."""

import pyarrow as pa
import pytest

from paimon_explore.encoding.avro.manifest_record_offsets import entry_starts, list_starts
from paimon_explore.encoding.avro.reader import read_columns
from paimon_explore.encoding.avro.record_offsets import record_starts
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_SCHEMA, ManifestFiles
from support.decoding import decode_manifest_list
from support.entries import entries, entry, int_row

NAME = [pa.field("_FILE_NAME", pa.string())]
KIND = [pa.field("_KIND", pa.int32())]


def listed(*names: str) -> ManifestFiles:
    rows = [
        {
            "file_name": name,
            "file_size": number,
            "num_added_files": 1,
            "num_deleted_files": 0,
            "partition_min": bytes(12),
            "partition_max": bytes(12),
            "schema_id": 0,
        }
        for number, name in enumerate(names)
    ]
    return ManifestFiles(pa.Table.from_pylist(rows, schema=MANIFEST_LIST_SCHEMA))


@pytest.mark.parametrize(
    "names",
    [
        [f"manifest-{number:04d}" for number in range(300)],
        [f"manifest-{'x' * (number % 90)}" for number in range(300)],
        [f"{number:03d}-of-another-name" for number in range(300)],
        ["m"],
        ["manifest-1", "manifest-\x04\x16manifest-2"],
    ],
)
def test_lists_are_read_whatever_their_names(names: list[str]) -> None:
    data = encode_records(listed(*names), "null")
    assert decode_manifest_list(data, "l").names == names
    found, _ = read_columns([("l", data)], NAME, starts=list_starts)
    walked, _ = read_columns([("l", data)], NAME, starts=record_starts)
    assert found.equals(walked)


@pytest.mark.parametrize("noise", [b"", b"\x04\x00\x28\x00\x00\x00\x01\x00", b"\x04\x00\x28" * 9])
def test_entries_are_read_whatever_their_bounds_hold(noise: bytes) -> None:
    rows = [
        entry(f"f{n}", kind=n % 2, partition=int_row(n % 7), value_min=noise * (n % 3))
        for n in range(400)
    ]
    data = encode_records(entries(*rows), "null")
    found, counts = read_columns([("m", data)], KIND, starts=entry_starts)
    assert found.column("_KIND").to_pylist() == [n % 2 for n in range(400)]
    assert counts == [400]


def test_memory_is_used_again_without_changing_what_was_read_before() -> None:
    files = [
        [(f"m{n}", encode_records(entries(*(entry(f"file-{n}-{i}") for i in range(40)))))]
        for n in range(3)
    ]
    path = [pa.field("_FILE", pa.struct([pa.field("_FILE_NAME", pa.string())]))]
    found = [read_columns(one, path)[0] for one in files]
    for n, table in enumerate(found):
        names = [row["_FILE_NAME"] for row in table.column("_FILE").to_pylist() if row]
        assert names == [f"file-{n}-{i}" for i in range(40)]
