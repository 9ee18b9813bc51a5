"""Maps in shared columns, and arrays and maps of BLOB, between Java and us."""

import datetime as dt
import itertools
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle import JavaPaimon, JavaPaimonError
from oracle.wire import TypeJson
from paimon_explore import Catalog, Table, open_table
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.formatter import type_to_json
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.schema_change import AddColumn
from peers import Peers
from support.rows import difference
from support.small_tables import new_catalog

pytestmark = pytest.mark.interop

SHREDDED = {
    "bucket": "-1",
    "fields.m.map.storage-layout": "shared-shredding",
    "fields.m.map.shared-shredding.max-columns": "2",
}
MOMENT = dt.datetime(1969, 12, 31, 23, 59, 58, 123000)  # noqa: DTZ001 - a wall clock time
BLOBS = {"bucket": "-1", "row-tracking.enabled": "true", "data-evolution.enabled": "true"}
MAPS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int32()),
        "m": pa.array(
            [[("a", 1), ("b", None), ("c", 3)], None, [], [("c", 4)]],
            pa.map_(pa.string(), pa.int64()),
        ),
    }
)


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("policy", ["plain", "sequential", "lru"])
def test_maps_in_shared_columns(
    java: JavaPaimon, tmp_path: Path, policy: str, file_format: str
) -> None:
    key = "fields.m.map.shared-shredding.column-placement-policy"
    kind: TypeJson = {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"}
    options = {**SHREDDED, key: policy, "file.format": file_format}
    java.create_table(tmp_path / "t", [("id", "INT"), ("m", kind)], options=options)
    java.write(tmp_path / "t", MAPS)
    table = open_table(tmp_path / "t")
    assert difference(java.read(tmp_path / "t"), table.to_arrow()) == ""
    table.append(MAPS)
    assert table.scan().count() == 8
    assert difference(java.read(tmp_path / "t"), table.to_arrow()) == ""


VALUES: dict[str, tuple[TypeJson, pa.DataType, list[object]]] = {
    "BIGINT": ("BIGINT", pa.int64(), [1, None, -(2**63)]),
    "BIGINT NOT NULL": ("BIGINT NOT NULL", pa.int64(), [1, 2]),
    "STRING": ("STRING", pa.string(), ["", "\u00e9", None]),
    "BOOLEAN": ("BOOLEAN", pa.bool_(), [True, None, False]),
    "DOUBLE": ("DOUBLE", pa.float64(), [1.5, None]),
    "BYTES": ("BYTES", pa.binary(), [b"x", None, b""]),
    "DATE": ("DATE", pa.date32(), [dt.date(1900, 1, 1), None]),
    "TIMESTAMP(3)": ("TIMESTAMP(3)", pa.timestamp("ms"), [MOMENT, None]),
    "TIMESTAMP(9)": ("TIMESTAMP(9)", pa.timestamp("ns"), [MOMENT, None]),
    "DECIMAL(20, 2)": ("DECIMAL(20, 2)", pa.decimal128(20, 2), [Decimal("-1.25"), None]),
    "ARRAY": (
        {"type": "ARRAY", "element": "STRING"},
        pa.list_(pa.string()),
        [["a", None], [], None],
    ),
    "ROW": (
        {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "INT"}]},
        pa.struct([("x", pa.int32())]),
        [{"x": 1}, {"x": None}, None],
    ),
    "MAP": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        pa.map_(pa.string(), pa.int32()),
        [[("q", 1), ("r", None)], [], None],
    ),
}
SHAPES = ["ab", "", None, "c", "cad", "\u00e9a", "edcba"]
"""Keys of the maps; None is a null map."""


def maps_of(samples: list[object], value: pa.DataType, start: int) -> pa.Table:
    """Maps of all shapes, with the values in turn."""
    turns = itertools.cycle(samples)
    maps = [None if keys is None else [(key, next(turns)) for key in keys] for keys in SHAPES]
    ids = pa.array(range(start, start + len(maps)), pa.int32())
    return pa.table({"id": ids, "m": pa.array(maps, pa.map_(pa.string(), value))})


@pytest.mark.parametrize("name", VALUES)
def test_java_reads_and_rewrites_our_shredded_maps(
    java: JavaPaimon, tmp_path: Path, name: str
) -> None:
    value, arrow, samples = VALUES[name]
    kind: TypeJson = {"type": "MAP", "key": "STRING NOT NULL", "value": value}
    java.create_table(tmp_path / "t", [("id", "INT"), ("m", kind)], options=SHREDDED)
    table = open_table(tmp_path / "t")
    batches = [maps_of(samples, arrow, start) for start in (0, 10)]
    for batch in batches:
        table.append(batch)
    wanted = pa.concat_tables(batches)
    assert types_of_maps(table.path) == {"struct"}
    assert difference(wanted, table.to_arrow()) == ""
    assert difference(wanted, java.read(table.path)) == ""
    table.compact()
    assert types_of_maps(table.path) == {"struct"}
    assert difference(wanted, java.read(table.path)) == ""
    table.append(batches[0])
    if name == "BIGINT NOT NULL":  # an error of Java 2.0.0: the physical columns are NOT NULL, too
        with pytest.raises(JavaPaimonError, match="'__col_0' expected not null"):
            java.append_compact(table.path, options={"compaction.min.file-num": "2"})
        return
    assert java.append_compact(table.path, options={"compaction.min.file-num": "2"}) == 1
    wanted = pa.concat_tables([wanted, batches[0]])
    assert difference(wanted, open_table(table.path).to_arrow()) == ""


@pytest.mark.parametrize("name", VALUES)
def test_pypaimon_reads_our_shredded_maps(
    peers: Peers, warehouse: Path, catalog: Catalog, name: str
) -> None:
    value, arrow, samples = VALUES[name]
    kind = {"type": "MAP", "key": "STRING NOT NULL", "value": value}
    columns = {"id": parse_type("INT", "id"), "m": parse_type(kind, "m")}
    catalog.create_database("db")
    table = catalog.create_table("db.t", columns, options=SHREDDED)
    table.append(maps_of(samples, arrow, 0))
    assert types_of_maps(table.path) == {"struct"}
    assert difference(peers.read("py", warehouse, "db.t"), table.to_arrow()) == ""


REFUSED: dict[str, tuple[TypeJson, dict[str, str]]] = {
    "nullable key": ({"type": "MAP", "key": "STRING", "value": "INT"}, {}),
    "CHAR key": ({"type": "MAP", "key": "CHAR(3) NOT NULL", "value": "INT"}, {}),
    "INT key": ({"type": "MAP", "key": "INT NOT NULL", "value": "INT"}, {}),
    "no column": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"fields.m.map.shared-shredding.max-columns": "0"},
    ),
    "number of columns": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"fields.m.map.shared-shredding.max-columns": "few"},
    ),
    "placement policy": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"fields.m.map.shared-shredding.column-placement-policy": "random"},
    ),
    "compression": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"file.compression": "snappy"},
    ),
    "compression of a level": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"file.compression.per.level": "5:gzip"},
    ),
    "compression of the changelog": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"changelog-file.compression": "snappy"},
    ),
    "format": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"file.format": "avro"},
    ),
    "format of the changelog": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"},
        {"changelog-file.format": "avro"},
    ),
    "VARIANT": ({"type": "MAP", "key": "STRING NOT NULL", "value": "VARIANT"}, {}),
    "MULTISET": (
        {
            "type": "MAP",
            "key": "STRING NOT NULL",
            "value": {"type": "MULTISET", "element": "STRING"},
        },
        {},
    ),
    "VECTOR": (
        {
            "type": "MAP",
            "key": "STRING NOT NULL",
            "value": {"type": "VECTOR", "element": "FLOAT", "length": 2},
        },
        {},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_the_same_shredded_maps(
    java: JavaPaimon, tmp_path: Path, catalog: Catalog, name: str
) -> None:
    kind, options = REFUSED[name]
    changed = {**SHREDDED, **options}
    with pytest.raises(JavaPaimonError):
        java.create_table(tmp_path / "t", [("id", "INT"), ("m", kind)], options=changed)
    columns = {"id": parse_type("INT", "id"), "m": parse_type(kind, "m")}
    catalog.create_database("db")
    with pytest.raises(InvalidInputError, match=r"fields\.m\.map"):
        catalog.create_table("db.t", columns, options=changed)


def types_of_maps(table: str) -> set[str]:
    """The types of the column in the Parquet files of a table."""
    kinds = [pq.read_schema(path).field("m").type for path in Path(table).rglob("*-*.parquet")]
    return {"struct" if pa.types.is_struct(kind) else str(kind) for kind in kinds}


@pytest.mark.parametrize("producer", ["none", "input", "lookup"])
def test_java_reads_our_shredded_maps_of_tables_with_primary_key(
    java: JavaPaimon, tmp_path: Path, producer: str
) -> None:
    kind: TypeJson = {"type": "MAP", "key": "STRING NOT NULL", "value": "BIGINT"}
    java.create_table(
        tmp_path / "t",
        [("id", "INT NOT NULL"), ("m", kind)],
        primary_keys=["id"],
        options={**SHREDDED, "bucket": "1", "changelog-producer": producer},
    )
    table = open_table(tmp_path / "t")
    for start in (0, 3, 5):
        table.upsert(maps_of([1, None, 3], pa.int64(), start))
    ours = table.to_arrow()
    assert len(ours) == 12
    assert difference(ours, java.read(table.path)) == ""
    table.compact()
    assert types_of_maps(table.path) == {"struct"}
    assert difference(ours, java.read(table.path)) == ""
    java.write(table.path, maps_of([7], pa.int64(), 9))
    java.compact(table.path)
    assert difference(java.read(table.path), open_table(table.path).to_arrow()) == ""
    audit = java.system_table(table.path, "audit_log")
    assert (
        difference(audit, open_table(table.path).inspect.system_table("audit_log").to_arrow()) == ""
    )


KINDS: dict[str, tuple[TypeJson, pa.DataType, list[object]]] = {
    "array": (
        {"type": "ARRAY", "element": "BLOB"},
        pa.list_(pa.binary()),
        [[b"x", None, b""], [], None],
    ),
    "map by text": (
        {"type": "MAP", "key": "STRING NOT NULL", "value": "BLOB"},
        pa.map_(pa.string(), pa.binary()),
        [[("k", b"x"), ("\u00e9", None)], [], None],
    ),
    "map by number": (
        {"type": "MAP", "key": "SMALLINT NOT NULL", "value": "BLOB"},
        pa.map_(pa.int16(), pa.binary()),
        [[(-7, b"x" * 3000)], [], None],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_many_blobs(java: JavaPaimon, tmp_path: Path, name: str) -> None:
    kind, arrow, values = KINDS[name]
    java.create_table(tmp_path / "t", [("id", "INT"), ("b", kind)], options=BLOBS)
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "b": pa.array(values, arrow)})
    java.write(tmp_path / "t", rows)
    table = open_table(tmp_path / "t")
    table.append(table.to_arrow())
    theirs = java.read(tmp_path / "t").to_pylist()
    assert theirs == table.to_arrow().to_pylist()
    assert [row["b"] for row in theirs] == values * 2


def test_java_and_we_follow_the_same_references(java: JavaPaimon, tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    columns = {"k": "INT", "b": "BLOB"}
    photos = catalog.create_table("db.photos", columns, options=BLOBS)
    photos.append([{"k": k, "b": value} for k, value in enumerate((b"zero", None, b"two"))])
    java.write(photos.path, pa.table({"k": pa.array([3], pa.int32()), "b": [b"three"]}))
    table = catalog.create_table("db.t", columns, options={**BLOBS, "blob-view-field": "b"})
    views = [BlobView(table="db.photos", field_id=1, row_id=row_id) for row_id in (3, 1, 0, 3)]
    table.append([{"k": k, "b": encode_view(one)} for k, one in enumerate(views)])
    table.append([{"k": 4, "b": None}])
    assert difference(java.read(table.path), table.to_arrow()) == ""
    assert table.to_arrow().column("b").to_pylist() == [b"three", None, b"zero", b"three", None]
    java.append_compact(table.path, options={"compaction.min.file-num": "2"})
    assert difference(java.read(table.path), table.to_arrow()) == ""


def test_java_reads_and_continues_blobs_of_a_primary_key_table(
    java: JavaPaimon, tmp_path: Path
) -> None:
    columns = {"k": "INT", "n": "INT", "b": "BLOB"}
    table = new_catalog(tmp_path).create_table(
        "db.t", columns, primary_key="k", options={"bucket": "1"}
    )

    def rows(start: int, end: int, text: str) -> list[dict[str, object]]:
        return [
            {"k": k, "n": k, "b": None if k % 4 == 0 else f"{text}{k}".encode()}
            for k in range(start, end)
        ]

    table.upsert(rows(0, 10, "x"))
    table.update({"n": "n + 1"}, where="k < 3")
    table.delete("k = 5")
    assert difference(java.read(table.path), table.to_arrow()) == ""
    table.compact(full=True)
    assert difference(java.read(table.path), table.to_arrow()) == ""
    java.write(table.path, rows(4, 15, "y"))
    java.compact(table.path)
    assert difference(java.read(table.path), open_table(table.path).to_arrow()) == ""
    assert [*open_table(table.path).maintenance.fsck(read_rows=True)] == []


ARRAY: TypeJson = {"type": "ARRAY", "element": "FLOAT"}
DIRECTIVES: list[tuple[str, TypeJson, str]] = [
    ("a", "BYTES", "__BLOB_FIELD"),
    ("b", "BINARY(4)", "  __BLOB_FIELD; a photo ; of it "),
    ("c", {"type": "ARRAY", "element": "BYTES NOT NULL"}, "__BLOB_FIELD;"),
    ("d", {"type": "MAP", "key": "STRING NOT NULL", "value": "BYTES"}, "__BLOB_FIELD;pages"),
    ("e", "BYTES", "__BLOB_DESCRIPTOR_FIELD;far"),
    ("f", "BLOB", "__BLOB_VIEW_FIELD"),
    ("g", ARRAY, "__VECTOR_FIELD; 3 "),
    ("h", ARRAY, "__VECTOR_FIELD;128; an embedding"),
    ("i", "BYTES", "_BLOB_FIELD"),
]


def test_comments_declare_blobs_and_vectors(java: JavaPaimon, tmp_path: Path) -> None:
    """At creation, in new columns, and until a column is dropped."""
    known: list[tuple[str, TypeJson, str]] = [(name, "BLOB", "known") for name in "xy"]
    columns = [("id", "INT", "a number"), *DIRECTIVES, *known]
    options = {**BLOBS, "blob.stored-descriptor-fields": "x", "blob-field": "c, y"}
    fields = [{"name": name, "type": kind, "description": text} for name, kind, text in columns]
    java.create_table(tmp_path / "java", fields, options=options)
    mine = [
        DataField(id=0, name=name, type=parse_type(kind, name), description=text)
        for name, kind, text in columns
    ]
    ours = new_catalog(tmp_path).create_table(
        "db.ours", RowType(fields=tuple(mine)), options=options
    )
    assert_same_schema(java, tmp_path / "java", ours)
    for name, kind, comment in DIRECTIVES:
        new = f"new_{name}"
        add = {"change": "add_column", "column": [new], "type": kind, "comment": comment}
        java.alter(tmp_path / "java", add)
        ours.alter(AddColumn(column=(new,), type=parse_type(kind, name), comment=comment))
    assert_same_schema(java, tmp_path / "java", ours)
    names = [name for name, _, _ in DIRECTIVES]
    for name in [*names, *(f"new_{name}" for name in names), "x"]:
        java.alter(tmp_path / "java", {"change": "drop_column", "column": [name]})
        ours.drop_column(name)
        assert_same_schema(java, tmp_path / "java", ours)


def assert_same_schema(java: JavaPaimon, theirs: Path, ours: Table) -> None:
    found, schema = java.describe(theirs), ours.schema
    mine = {one.name: (type_to_json(one.type), one.description) for one in schema.fields}
    assert {f["name"]: (f["type"], f.get("description")) for f in found.fields} == mine
    assert sets(found.options) == sets(schema.options)


def sets(options: Mapping[str, str]) -> dict[str, set[str]]:
    """The values of options without the path; lists have no order."""
    known = {key: text for key, text in options.items() if key != "path"}
    return {key: set(text.replace(" ", "").split(",")) for key, text in known.items()}
