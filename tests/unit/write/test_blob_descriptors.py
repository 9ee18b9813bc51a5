"""BLOB columns of descriptors, which are stored in data files, and descriptors of blob files."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.encoding.blob.blob_descriptor import (
    BlobDescriptor,
    decode_descriptor,
    encode_descriptor,
)
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    MissingFileError,
    UnsupportedFeatureError,
)
from paimon_explore.store.blob_contents import contents_path
from support.compacting import live
from support.small_tables import new_catalog, rows_of

EVOLVED = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
STORED = {**EVOLVED, "blob-descriptor-field": "b"}


def new_table(folder: Path, options: dict[str, str]) -> Table:
    """`db.t` on the local disk, and a file of contents beside the warehouse."""
    (folder / "photos").write_bytes(b"0123456789")
    return new_catalog(folder / "warehouse").create_table(
        "db.t", {"k": "INT", "b": "BLOB"}, options=options
    )


def described(folder: Path, offset: int, length: int, prefix: str = "") -> bytes:
    """A descriptor of a part of the file of contents."""
    uri = f"{prefix}{folder / 'photos'}"
    return encode_descriptor(BlobDescriptor(uri=uri, offset=offset, length=length))


def test_descriptors_are_stored_in_data_files_and_read_as_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path, STORED)
    stored = [described(tmp_path, 2, 3), None, described(tmp_path, 8, -1, "file://")]
    table.append([{"k": k, "b": value} for k, value in enumerate(stored)])
    assert [str(found["file_name"]).rpartition(".")[2] for found in live(table)] == ["parquet"]
    assert table.to_arrow().column("b").to_pylist() == [b"234", None, b"89"]
    assert table.scan(where="k = 2").to_arrow().to_pylist() == [{"k": 2, "b": b"89"}]
    assert table.scan(where="b IS NULL").to_arrow().column("k").to_pylist() == [1]
    as_stored = open_table(table.path, options={"blob-as-descriptor": "true"})
    assert as_stored.to_arrow().column("b").to_pylist() == stored


def test_stored_descriptors_survive_updates_compactions_and_new_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path, {**STORED, "compaction.min.file-num": "2"})
    for k in range(3):
        table.append([{"k": k, "b": described(tmp_path, k, 2)}])
    table.update({"k": "k + 10"}, where="k = 1")
    table.update({"b": described(tmp_path, 9, 1)}, where="k = 2")
    table.compact(full=True)
    assert len(live(table)) == 1
    assert {r["k"]: r["b"] for r in rows_of(table.to_arrow())} == {0: b"01", 11: b"12", 2: b"9"}


@pytest.mark.parametrize("options", [STORED, {"bucket": "1"}], ids=["descriptors", "managed"])
def test_changes_of_overwritten_rows_have_contents(tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "photos").write_bytes(b"0123456789")
    table = new_catalog(tmp_path / "warehouse").create_table(
        "db.t",
        {"k": "INT", "b": "BLOB"},
        primary_key=[] if "blob-descriptor-field" in options else ["k"],
        options=options,
    )
    stored = [described(tmp_path, k, 2) for k in range(3)]
    contents = [b"01", b"12", b"23"]
    given = stored if "blob-descriptor-field" in options else contents
    table.append([{"k": 0, "b": given[0]}, {"k": 1, "b": given[1]}])
    table.overwrite([{"k": 0, "b": given[0]}, {"k": 1, "b": given[2]}])
    (first,) = table.follow(2, until="now", timeout=0)
    rows = first.rows.to_pylist()
    assert {(row["k"], row["b"]) for row in rows if row["rowkind"] in ("+I", "+U")} == {(1, b"23")}
    rows = table.between(1, 2).to_arrow().to_pylist()
    assert rows == [{"k": 1, "b": b"23"}]


def test_other_values_than_descriptors_are_not_written(tmp_path: Path) -> None:
    table = new_table(tmp_path, STORED)
    with pytest.raises(InvalidInputError, match="Row 1 of column 'b' is no descriptor"):
        table.append([{"k": 1, "b": described(tmp_path, 0, 1)}, {"k": 2, "b": b"contents"}])
    table.append([{"k": 1, "b": described(tmp_path, 0, 1)}])
    with pytest.raises(InvalidInputError, match="no descriptor"):
        table.update({"b": b"contents"})


def test_contents_that_are_gone_or_cut_off_are_errors(tmp_path: Path) -> None:
    table = new_table(tmp_path, STORED)
    table.append([{"k": 1, "b": described(tmp_path, 8, 3)}])
    with pytest.raises(CorruptFileError, match=r"photos.* 3 bytes from byte 8 on[^?]*ends before"):
        table.to_arrow()
    (tmp_path / "photos").unlink()
    with pytest.raises(MissingFileError):
        table.to_arrow()
    assert table.scan(columns=["k"]).to_arrow().num_rows == 1


@pytest.mark.parametrize("uri", ["http://localhost/x", "s3://bucket/x", "hdfs://h/x"])
def test_only_the_storage_of_the_table_is_read(tmp_path: Path, uri: str) -> None:
    table = new_table(tmp_path, STORED)
    table.append([{"k": 1, "b": encode_descriptor(BlobDescriptor(uri=uri, offset=0, length=1))}])
    with pytest.raises(UnsupportedFeatureError, match="outside of the table's storage"):
        table.to_arrow()


@pytest.mark.parametrize(
    ("root", "uri", "path"),
    [
        ("/wh/t", "/photos/1", "/photos/1"),
        ("/wh/t", "file:///photos/1", "/photos/1"),
        ("file:/wh/t", "file:/photos/1", "/photos/1"),
        ("s3://b/t", "s3a://b/photos/1", "s3://b/photos/1"),
        ("s3n://b/t", "s3://b/photos/1", "s3n://b/photos/1"),
        ("hdfs://h/t", "hdfs://h/photos/1", "hdfs://h/photos/1"),
        ("s3://b/t", "s3://other/photos/1", None),
        ("s3://b/t", "gs://b/photos/1", None),
        ("s3://b/t", "/photos/1", None),
        ("/wh/t", "s3://b/photos/1", None),
    ],
)
def test_contents_have_paths_of_the_storage_of_the_table(
    root: str, uri: str, path: str | None
) -> None:
    if path is not None:
        assert contents_path(root, uri) == path
        return
    with pytest.raises(UnsupportedFeatureError, match=f"contents of a BLOB outside.*{uri}"):
        contents_path(root, uri)


def test_blob_files_are_read_as_descriptors_of_their_entries(tmp_path: Path) -> None:
    table = new_table(tmp_path, EVOLVED)
    table.append([{"k": 1, "b": b"first"}, {"k": 2, "b": None}, {"k": 3, "b": b"third"}])
    table.update({"b": b"newer"}, where="k = 1")
    found = open_table(table.path, options={"blob-as-descriptor": "true"}).to_arrow()
    values = found.column("b").to_pylist()
    assert values[1] is None
    for value, wanted in ((values[0], b"newer"), (values[2], b"third")):
        assert value is not None
        place = decode_descriptor(value)
        assert place.uri.endswith(".blob")
        assert Path(place.uri).read_bytes()[place.offset :][: place.length] == wanted


def test_contents_of_written_descriptors_are_copied_to_blob_files(tmp_path: Path) -> None:
    table = new_table(tmp_path, {**EVOLVED, "blob-as-descriptor": "true"})
    table.append([{"k": 1, "b": described(tmp_path, 1, 4)}, {"k": 2, "b": b"contents"}])
    table.update({"b": described(tmp_path, 0, -1)}, where="k = 2")
    (tmp_path / "photos").unlink()
    plain = open_table(table.path, options={"blob-as-descriptor": "false"})
    assert plain.to_arrow().column("b").to_pylist() == [b"1234", b"0123456789"]


def test_without_the_option_descriptors_are_contents_like_others(tmp_path: Path) -> None:
    table = new_table(tmp_path, EVOLVED)
    table.append([{"k": 1, "b": described(tmp_path, 1, 4)}])
    assert table.to_arrow().column("b").to_pylist() == [described(tmp_path, 1, 4)]


def test_blobs_in_arrays_and_maps_are_read_as_descriptors(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    blobs = pa.large_binary()
    schema = pa.schema([("k", pa.int32()), ("l", pa.list_(blobs)), ("m", pa.map_("string", blobs))])
    table = catalog.create_table("db.t", schema, options=EVOLVED)
    rows: list[dict[str, object]] = [
        {"k": 1, "l": [b"first", None, b"", b"second"], "m": [("a", b"x"), ("longer", b"yz")]},
        {"k": 2, "l": None, "m": [("b", None)]},
        {"k": 3, "l": [], "m": []},
    ]
    table.append(rows)

    def contents(value: bytes | None) -> bytes | None:
        if value is None:
            return None
        place = decode_descriptor(value)
        return Path(place.uri).read_bytes()[place.offset :][: place.length]

    opened = open_table(table.path, options={"blob-as-descriptor": "true"})
    for row, wanted in zip(opened.to_arrow().to_pylist(), rows, strict=True):
        assert (None if row["l"] is None else [*map(contents, row["l"])]) == wanted["l"]
        assert [(key, contents(value)) for key, value in row["m"]] == wanted["m"]
    copy = catalog.create_table(
        "db.copy", schema, options={**EVOLVED, "blob-as-descriptor": "true"}
    )
    copy.append(opened.to_arrow())
    catalog.drop_table("db.t")
    plain = open_table(copy.path, options={"blob-as-descriptor": "false"})
    assert plain.to_arrow().to_pylist() == rows


@pytest.mark.parametrize(
    "data",
    [b"", b"\2", b"\3" + b"\0" * 30, b"\1\377\377\377\377" + b"\0" * 16, b"\2CSEDBOLB\1\0\0\0a"],
)
def test_bytes_that_are_no_descriptor(data: bytes) -> None:
    with pytest.raises(ValueError, match="must"):
        decode_descriptor(data)


def test_descriptors_of_version_1_have_no_magic_number() -> None:
    data = b"\1\2\0\0\0/a" + (3).to_bytes(8, "little") + (4).to_bytes(8, "little")
    assert decode_descriptor(data) == BlobDescriptor(uri="/a", offset=3, length=4)
