"""Manifest lists, manifests and index manifests as bytes."""

import io
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore.encoding.avro.container import read_blocks, read_header
from paimon_explore.errors import (
    CorruptFileError,
    FormatError,
    InvalidInputError,
    UnsupportedVersionError,
)
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_entries,
    decode_filtered,
    decode_index_entries,
    encode_records,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import EntryFilter, partition_filter
from paimon_explore.metadata.manifest.manifest_list import MANIFEST_LIST_SCHEMA, ManifestFiles
from paimon_explore.metadata.manifest.record_layouts import ENTRY_LAYOUT
from paimon_explore.scan.manifest_arrays import numbers
from support.decoding import decode_manifest_list
from support.entries import EMPTY_ROW, entries, entry, manifest
from support.golden import GoldenTables

FULL = entry(
    "data-1.parquet",
    kind=1,
    partition=b"\0\0\0\1" + bytes(8) + b"a\0\0\0\0\0\0\x81",
    bucket=-2,
    key_null_counts=[0],
    value_null_counts=[0, None, 300],
    extra_files=["data-1.parquet.index"],
    creation_time=-5,
    delete_row_count=3,
    embedded_file_index=b"\0\1",
    file_source=1,
    value_stats_cols=["a", "b"],
    external_path="s3://b/data-1.parquet",
    first_row_id=2**40,
    write_cols=[],
    write_cols_sequences=[1, 2],
)
INDEX = {
    "kind": 0,
    "partition": EMPTY_ROW,
    "bucket": 1,
    "index_type": "DELETION_VECTORS",
    "file_name": "index-1",
    "file_size": 40,
    "row_count": 1,
    "dv_ranges": [
        {"data_file": "d1", "offset": 1, "length": 22, "cardinality": None},
        {"data_file": "d2", "offset": 23, "length": 30, "cardinality": 5},
    ],
    "external_path": None,
    "global_index": {
        "row_range_start": 0,
        "row_range_end": 9,
        "index_field_id": 3,
        "extra_field_ids": [4, 5],
        "index_meta": b"m",
        "source_meta": None,
    },
}


def manifest_files(*names: str) -> ManifestFiles:
    more = {"partition_null_counts": [0], "min_bucket": 0, "max_bucket": 3}
    rows = [{**manifest(name), **more} for name in names]
    return ManifestFiles(pa.Table.from_pylist(rows, schema=MANIFEST_LIST_SCHEMA))


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_entries_survive_a_round_trip_in_every_codec(codec: str) -> None:
    frame = entries(FULL, entry("b"))
    (again,) = decode_entries([("m", encode_records(frame, codec))])
    assert again.rows() == frame.rows()


def test_manifest_lists_and_index_manifests_survive_a_round_trip() -> None:
    listed = manifest_files("m-0", "m-1")
    assert decode_manifest_list(encode_records(listed), "l").table.equals(listed.table)
    assert listed.names == ["m-0", "m-1"]
    assert listed.total_size == 200
    index = IndexEntries.from_rows([INDEX, {**INDEX, "dv_ranges": None, "global_index": None}])
    assert decode_index_entries(encode_records(index), "i").rows() == index.rows()


def test_empty_files_hold_a_header_and_no_block() -> None:
    data = encode_records(ManifestFiles.empty())
    assert list(read_blocks(data, read_header(data))) == []
    assert len(decode_manifest_list(data, "l")) == 0
    assert len(decode_entries([("m", encode_records(ManifestEntries.empty()))])[0]) == 0


def test_fields_later_than_java_2_0_are_written_only_when_they_hold_something() -> None:
    plain = read_header(encode_records(entries(entry("a")))).schema
    assert b"_WRITE_COLS_SEQUENCES" not in plain
    assert b"_WRITE_COLS_SEQUENCES" in read_header(encode_records(entries(FULL))).schema


@pytest.mark.parametrize("table", ["append_parquet", "pk_dynamic", "append_dv"])
def test_our_bytes_are_those_of_java(golden: GoldenTables, table: str) -> None:
    folder = golden.table("java200", table).folder / "manifest"
    for file in sorted(folder.iterdir()):
        theirs = file.read_bytes()
        if file.name.startswith("manifest-list"):
            ours = encode_records(decode_manifest_list(theirs, file.name))
        elif file.name.startswith("index-manifest"):
            ours = encode_records(decode_index_entries(theirs, file.name))
        else:
            ours = encode_records(decode_entries([(file.name, theirs)])[0])
        assert read_header(ours).schema == read_header(theirs).schema
        assert _unpacked(ours) == _unpacked(theirs)


def _unpacked(data: bytes) -> bytes:
    return b"".join(block.data for block in read_blocks(data, read_header(data)))


def test_several_files_give_one_frame_each_in_order() -> None:
    files = [
        ("m1", encode_records(entries(entry("a"), entry("b")))),
        ("m2", encode_records(ManifestEntries.empty())),
        ("m3", encode_records(entries(FULL))),
        ("m4", as_parquet(entries(entry("c")))),
        ("m5", encode_records(entries(entry("d")), "null")),
    ]
    found = [[row["file_name"] for row in frame.rows()] for frame in decode_entries(files)]
    assert found == [["a", "b"], [], ["data-1.parquet"], ["c"], ["d"]]


def test_only_wanted_columns_are_decoded() -> None:
    data = encode_records(entries(FULL))
    (frame,) = decode_entries([("m", data)], ["row_count", "key_min", "file_name"])
    assert frame.table.to_pylist() == [
        {"file_name": "data-1.parquet", "row_count": 1, "key_min": EMPTY_ROW}
    ]


def as_parquet(frame: ManifestEntries) -> bytes:
    sink = io.BytesIO()
    pq.write_table(nested(frame), sink)
    return sink.getvalue()


def nested(frame: ManifestEntries) -> pa.Table:
    rows = []
    for row in frame.rows():
        record: dict[str, object] = {"_VERSION": 2}
        for name, path in ENTRY_LAYOUT.fields.items():
            inner: dict[str, object] = record
            for part in path[:-1]:
                inner = inner.setdefault(part, {})  # type: ignore[assignment]  # nested dicts
            inner[path[-1]] = row[name]
        rows.append(record)
    fields = ENTRY_LAYOUT.written_fields(list(ENTRY_LAYOUT.fields))
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


def test_another_version_is_refused() -> None:
    table = nested(entries(entry("a")))
    table = table.set_column(0, "_VERSION", pa.array([3], pa.int32()))
    sink = io.BytesIO()
    pq.write_table(table, sink)
    with pytest.raises(UnsupportedVersionError, match="Manifest m9 has version 3"):
        decode_entries([("m9", sink.getvalue())])


@pytest.mark.parametrize(
    ("change", "where"),
    [({"kind": 2}, "_KIND"), ({"file_source": 9}, "_FILE_SOURCE")],
)
def test_unknown_codes_are_corrupt(change: dict[str, object], where: str) -> None:
    data = encode_records(entries(entry("a", **change)))
    with pytest.raises(CorruptFileError) as caught:
        decode_entries([("m", data)])
    assert (caught.value.path, caught.value.where) == ("m", where)


@pytest.mark.parametrize(("place", "rule"), [(3, "has version"), (4, "must be one of")])
def test_the_damaged_one_of_several_files_is_named(place: int, rule: str) -> None:
    good = encode_records(entries(entry("a")), "null")
    bad = bytearray(good)
    bad[read_header(good).size + place] = 0x7F
    with pytest.raises(FormatError, match=rf" m2\b.*{rule}"):
        decode_entries([("m1", good), ("m2", bytes(bad)), ("m3", good)])


@pytest.mark.parametrize("data", [b"", b"PAR1", b"ORC", b"nothing known", b"Obj\x01"])
def test_what_is_no_manifest_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptFileError, match=r"^Corrupt data in m\b"):
        decode_entries([("m", data)])


def partition(number: int) -> bytes:
    return b"\0\0\0\1" + bytes(8) + number.to_bytes(8, "little")


def only(number: int) -> Callable[[pa.BinaryArray], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    return lambda found: np.array([value == partition(number) for value in found.to_pylist()])


def test_only_entries_of_wanted_partitions_are_decoded() -> None:
    rows = [entry(f"f{n}", partition=partition(n % 3), level=n % 2) for n in range(90)]
    files = [
        ("m1", encode_records(entries(*rows[:50]))),
        ("m2", as_parquet(entries(*rows[50:60]))),
        ("m3", encode_records(entries(*rows[60:]), "null")),
    ]
    found, tallies = decode_filtered(files, [partition_filter(only(1))])
    assert tallies[:, :3].tolist() == [[30, 60, 0]]
    assert (
        found.rows() == entries(*(row for row in rows if row["partition"] == partition(1))).rows()
    )
    some, _ = decode_filtered(files, [partition_filter(only(2))], ["file_name", "level"])
    assert some.table.to_pylist()[:2] == [
        {"file_name": "f2", "level": 0},
        {"file_name": "f5", "level": 1},
    ]
    assert len(decode_filtered(files, [partition_filter(only(7))])[0]) == 0
    assert len(decode_filtered([], [partition_filter(only(7))])[0]) == 0


def test_sieves_look_at_what_the_ones_before_them_keep() -> None:
    rows = [entry(f"f{n}", partition=partition(n % 3), level=n % 4) for n in range(24)]
    files = [("m1", encode_records(entries(*rows[:9]))), ("m2", as_parquet(entries(*rows[9:])))]
    levels = EntryFilter(
        columns=frozenset({"level"}), reasons=lambda found: numbers(found.table, "level")
    )
    found, tallies = decode_filtered(files, [partition_filter(only(1)), levels], ["row_count"])
    assert found.table.to_pylist() == [{"row_count": 1}] * 2
    assert tallies[:, :5].tolist() == [[8, 16, 0, 0, 0], [2, 2, 2, 2, 0]]


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_tables_with_another_manifest_format_get_it(file_format: str, codec: str) -> None:
    frame = entries(FULL, entry("b"))
    data = encode_records(frame, codec, file_format)
    assert data.startswith({"orc": b"ORC", "parquet": b"PAR1"}[file_format])
    assert decode_entries([("m", data)])[0].rows() == frame.rows()
    listed = manifest_files("m-0")
    again = decode_manifest_list(encode_records(listed, codec, file_format), "l")
    assert again.table.to_pylist() == listed.table.to_pylist()
    index = IndexEntries.from_rows([INDEX])
    assert decode_index_entries(encode_records(index, codec, file_format), "i").rows() == (
        index.rows()
    )
    empty = encode_records(ManifestFiles.empty(), codec, file_format)
    assert len(decode_manifest_list(empty, "l")) == 0


@pytest.mark.parametrize(("file_format", "codec"), [("csv", "null"), ("orc", "xz")])
def test_unknown_manifest_formats_are_refused(file_format: str, codec: str) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot be (written|compressed)"):
        encode_records(entries(entry("a")), codec, file_format)


def test_names_in_an_orc_manifest_must_be_text() -> None:
    data = encode_records(entries(entry("a")), "null", "orc")
    broken = data.replace(b"_FILE_NAME", b"_FILE\xffNAME")
    assert broken != data
    with pytest.raises(CorruptFileError):
        decode_entries([("f", broken)])
