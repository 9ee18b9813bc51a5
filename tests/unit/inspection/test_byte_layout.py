"""The byte inspector on files whose bytes are written out, and on those of our own tables."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyroaring import BitMap, BitMap64

import paimon_explore as pe
from paimon_explore.encoding.avro.container import PACK
from paimon_explore.encoding.avro.writer import write_avro
from paimon_explore.encoding.deletion_vector import encode_vectors
from paimon_explore.encoding.hash_index import encode_hashes
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout, Explanation
from paimon_explore.inspection.byte_inspector.file_lookup import layout_of
from paimon_explore.inspection.byte_inspector.primitive_encodings import FORMS
from paimon_explore.inspection.byte_inspector.spans import leaves, space_of
from support.explored import HOSTILE
from support.small_tables import append_table, columns, new_catalog

POSITIONS = bytes.fromhex(
    "01 00000022 5e43f2d0 3a300000 02000000 00000100 01000000 18000000 1c000000 01000300 7011"
)
"""A vector as Java 0.9 writes it for the positions 1, 3 and 70000, without its checksum."""


def mapped(name: str, data: bytes) -> ByteLayout:
    layout = layout_of(name, data, lambda _: None)
    space = space_of(name, data, layout.build)
    return ByteLayout(name=name, path=f"/{name}", layout=layout.kind, space=space)


def orders() -> pe.Table:
    return pe.demo().table("demo.orders")


def facts(found: Explanation) -> Mapping[str, str]:
    place = found.leaf
    return {"field": place.span.name, "value": place.space.text(place.span)}


def test_a_deletion_vector_is_explained_byte_by_byte() -> None:
    data, _ = encode_vectors([("f", BitMap([1, 3, 70000]))])
    assert data[: len(POSITIONS)] == POSITIONS
    found = mapped("index-1", data)
    assert found.layout == "deletion vectors"
    assert found.problems() == []
    assert facts(found.at(0)) == {"field": "version", "value": "1"}
    assert facts(found.at(4)) == {"field": "size", "value": "34"}
    assert facts(found.at(9)) == {"field": "cookie", "value": "0x303a"}
    assert facts(found.at(-1))["value"].endswith("matches")
    values = [p.space.text(p.span) for p in found.fields() if p.span.form == "uint16 LE"]
    assert values[-3:] == ["1: 1", "3: 3", "4464: 70,000"]
    assert found.encoded() == data


def test_a_wrong_checksum_is_told() -> None:
    data, _ = encode_vectors([("f", BitMap([1]))])
    found = mapped("index-1", data[:-1] + bytes([data[-1] ^ 1]))
    assert "computed checksum 0x" in facts(found.at(-1))["value"]


@pytest.mark.parametrize("wide", [False, True])
def test_vectors_of_all_containers_are_covered(wide: bool) -> None:  # noqa: FBT001 - a case
    rows = BitMap64([*range(5000), *range(70_000, 80_000, 2), *range(200_000, 200_050)])
    data, _ = encode_vectors([("a", rows), ("b", BitMap64([7]))], wide=wide)
    found = mapped("index-9", data)
    assert found.problems() == []
    assert found.encoded() == data


def test_a_hash_index_is_a_row_of_hashes() -> None:
    data = encode_hashes(np.arange(1000, dtype=np.int32))
    found = mapped("index-3", data)
    assert found.layout == "hash index"
    assert facts(found.at(4 * 999)) == {"field": "[999]", "value": "999"}
    assert found.encoded() == data


@pytest.mark.parametrize("codec", sorted(PACK))
def test_packed_blocks_are_spaces_of_their_own(codec: str) -> None:
    schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"},{"name":"b",'
    schema += b'"type":["null","string"]}]}'
    data = write_avro(schema, [pa.array([1, -2, 3]), pa.array(["x", None, "zz"])], codec)
    found = mapped("some.avro", data)
    assert found.problems() == []
    assert found.encoded() == data
    records = [p for p in found.fields() if p.span.name.startswith("record ")]
    assert [p.span.about for p in records] == ["x", "", "zz"]
    if codec != "null":
        packed = next(p for p in found.fields() if p.span.inside is not None)
        assert found.encoded(packed.path) == bytes.fromhex("02 02 02 78  03 00  06 02 04 7a7a")
        assert facts(found.at(3, packed.path)) == {"field": "text", "value": '"x"'}
        assert found.read(0, 4, packed.path) == bytes.fromhex("02020278")


def test_the_json_of_a_snapshot_is_explained_by_its_keys() -> None:
    data = b'{\n  "version" : 3,\n  "commitKind" : "APPEND",\n  "logOffsets" : { }\n}'
    found = mapped("snapshot-1", data)
    assert found.problems() == []
    assert found.encoded() == data
    explained = found.at(data.index(b"APPEND"))
    assert facts(explained) == {"field": "value", "value": '"APPEND"'}
    assert "APPEND, COMPACT, OVERWRITE or ANALYZE" in repr(explained)


@pytest.mark.parametrize(
    "data",
    [b"{", b'{"a" 1}', b'{"a":1,}', b"[" * 500, b'{"a":nul}', b'{"a":"b', b'["a" "b"]', b"{} x"],
)
def test_json_that_is_none_is_covered_all_the_same(data: bytes) -> None:
    found = mapped("snapshot-1", data)
    assert found.problems()
    assert found.encoded() == data


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        ("data-0.json", b'{"a":1}\n{"a":2}\n', 2),
        ("data-0.csv", b"{x,1\n[y,2\n,3", 3),
        ("data-0.text", b"[a\n", 1),
    ],
)
def test_data_files_of_text_are_lines_whatever_they_start_with(
    name: str, data: bytes, lines: int
) -> None:
    found = mapped(name, data)
    assert (found.layout, found.problems()) == ("text file", [])
    assert len(list(leaves(found.space))) == lines
    assert mapped("v1.metadata.json", b'{"a":1}').layout == "JSON file"


def test_a_file_index_of_a_column_whose_type_changed_is_not_guessed(tmp_path: Path) -> None:
    options = {
        "bucket": "-1",
        "file-index.bitmap.columns": "k,s",
        "file-index.in-manifest-threshold": "1 b",
    }
    fields = columns(k=pa.int32(), s=pa.string())
    table = new_catalog(tmp_path).create_table("db.t", fields, options=options)
    table.append([{"k": 1, "s": "x"}])
    name = next(tmp_path.rglob("*.index")).name
    before = table.inspect.bytes(name)
    table.rename_column("s", "renamed")
    assert table.inspect.bytes(name).to_arrow() == before.to_arrow()
    table.alter_column_type("k", pa.int64())
    found = table.inspect.bytes(name)
    assert found.problems() == []
    rules = [span.rule for _, span in leaves(found.space)]
    assert rules.count("Unknown index type or column type.") == 1


def test_statistics_of_row_tracking_columns_have_their_names() -> None:
    options = {"bucket": "-1", "row-tracking.enabled": "true"}
    table = append_table(columns(k=pa.int32()), [{"k": 1}], [{"k": 2}], options=options)
    table.compact(full=True)
    found = table.inspect.bytes("delta/0")
    slots = [p.span.name for p in found.fields() if p.span.rule.startswith("Slot of")]
    assert {"k", "_ROW_ID", "_SEQUENCE_NUMBER"} <= set(slots)
    assert not [name for name in slots if name.startswith("field ")]


@pytest.mark.parametrize("cut", [4, 5, 40, 300, 900])
def test_a_file_cut_anywhere_is_covered(cut: int) -> None:
    schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"string"}]}'
    whole = write_avro(schema, [pa.array(["abc" * 100] * 9)], "null")
    data = whole[: min(cut, len(whole) - 1)]
    found = mapped("manifest-1", data)
    assert found.encoded() == data
    assert found.problems()


def test_files_of_a_table_are_found_by_node_name_and_path() -> None:
    table = orders()
    snapshot = table.inspect.bytes()
    newest = table.snapshot
    assert newest is not None
    assert (snapshot.name, snapshot.layout) == (f"snapshot-{newest.id}", "snapshot")
    assert table.inspect.bytes(snapshot.name).path == snapshot.path
    assert table.inspect.bytes(f"snapshot/{snapshot.name}").path == snapshot.path
    assert table.inspect.bytes(snapshot.path).path == snapshot.path
    assert table.inspect.bytes("base").layout == "manifest list"
    assert table.inspect.bytes("delta").name == newest.delta_manifest_list
    manifest = table.inspect.bytes("delta/0")
    assert manifest.layout == "manifest"
    data_file = table.inspect.bytes("delta/0/0")
    assert data_file.layout == "Parquet file"
    assert table.inspect.bytes(data_file.name).path == data_file.path
    assert table.inspect.bytes("schema").name == f"schema-{newest.schema_id}"
    assert table.inspect.bytes("LATEST").layout == "hint"
    assert pe.inspect.bytes(manifest.path).space.root.length == manifest.size
    for found in (snapshot, manifest, data_file, table.inspect.bytes("base")):
        assert found.problems() == []


def test_binary_rows_in_manifests_are_decoded_by_the_schema_of_their_table() -> None:
    table = orders()
    manifest = table.inspect.bytes("delta/0")
    keys = list(table.schema.partition_keys)
    names = {place.span.name for place in manifest.fields()}
    assert set(keys) <= names
    assert {"null bits", "row kind", "_MIN_VALUES", "_NULL_COUNTS"} <= names


def test_what_is_not_there_is_refused_by_name() -> None:
    table = orders()
    with pytest.raises(NotFoundError, match="manifest-0"):
        table.inspect.bytes("manifest-0")
    with pytest.raises(InvalidInputError, match="must not contain"):
        table.inspect.bytes("../other/snapshot-1")
    with pytest.raises(InvalidInputError, match="does not exist"):
        table.inspect.bytes("delta/99")
    with pytest.raises(InvalidInputError, match="is not a field"):
        table.inspect.bytes().place("0.9999")
    with pytest.raises(InvalidInputError, match="not a compressed field"):
        table.inspect.bytes().at(0, "0")


def test_all_faces_stay_short_and_harmless() -> None:
    table = orders()
    hostile = mapped("tag-x", b'{"a":"' + HOSTILE.encode("utf-8", "replace") + b'"}')
    for found in (table.inspect.bytes("delta/0"), hostile, hostile.at(9)):
        text = repr(found)
        assert len(text.splitlines()) <= 25
        assert not set(text) & {"\x1b", "\u202e", "\0"}
        page = found._repr_html_()
        assert "<img" not in page
        assert "<svg" not in page
        assert found.state()["kind"] in ("bytes", "byte")
    rows = table.inspect.bytes("delta/0").to_arrow()
    assert rows.column_names[:5] == ["space", "path", "field", "offset", "length"]
    assert table.inspect.bytes("delta/0").to_pandas().shape[0] == rows.num_rows


def test_the_leaves_know_their_forms(tmp_path: Path) -> None:
    (tmp_path / "strange.bin").write_bytes(b"\0\1\2")
    found = pe.inspect.bytes(tmp_path / "strange.bin")
    assert found.layout == "unknown file"
    assert all(span.form in FORMS for _, span in leaves(found.space))
    (tmp_path / "empty").write_bytes(b"")
    empty = pe.inspect.bytes(tmp_path / "empty")
    assert (empty.size, empty.encoded(), empty.problems()) == (0, b"", [])
    with pytest.raises(InvalidInputError, match="Offset 0"):
        empty.at(0)
