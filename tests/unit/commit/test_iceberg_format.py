"""Iceberg metadata as its specification lays it out: field ids, members, counts and totals."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import Table, open_table
from paimon_explore.commit.iceberg.metadata_writer import iceberg_writer
from paimon_explore.commit.iceberg.schema_json import iceberg_schema, name_mapping
from paimon_explore.commit.iceberg.table_metadata import IcebergSnapshot
from paimon_explore.errors import UnsupportedFeatureError
from support.iceberg_reader import IcebergReader
from support.merging import schema_of
from support.small_tables import append_table, columns, new_catalog

Files = Iterable[Mapping[str, Any]]
IN_TABLE = {"metadata.iceberg.storage": "table-location"}
VECTORS = {
    "deletion-vectors.enabled": "true",
    "deletion-vectors.bitmap64": "true",
    "metadata.iceberg.format-version": "3",
}
MERGED = {
    "metadata.iceberg.compaction.min.file-num": "2",
    "metadata.iceberg.compaction.max.file-num": "3",
}


def partitioned(options: Mapping[str, str]) -> Table:
    schema = columns(k=pa.int32(), p=pa.string())
    return append_table(schema, partition_by=["p"], options={**IN_TABLE, **options})


def seen(table: Table) -> IcebergReader:
    return IcebergReader(table._store.file_io.read, f"{table._store.paths.root}/metadata")


ENTRY = """
status 0 int | snapshot_id 1 long? | sequence_number 3 long? | file_sequence_number 4 long?
data_file 2 r2 | content 134 int | file_path 100 string | file_format 101 string
partition 102 r102 | p 1000 string? | record_count 103 long | file_size_in_bytes 104 long
null_value_counts 110 map? | of k121_v122 | key 121 int | value 122 long
lower_bounds 125 map? | of k126_v127 | key 126 int | value 127 bytes
upper_bounds 128 map? | of k129_v130 | key 129 int | value 130 bytes
referenced_data_file 143 string? | content_offset 144 long? | content_size_in_bytes 145 long?
"""
MANIFEST = """
manifest_path 500 string | manifest_length 501 long | partition_spec_id 502 int | content 517 int
sequence_number 515 long | min_sequence_number 516 long | added_snapshot_id 503 long?
added_files_count 504 int | existing_files_count 505 int | deleted_files_count 506 int
added_rows_count 512 long | existing_rows_count 513 long | deleted_rows_count 514 long
partitions 507 array? | 508 of r508? | contains_null 509 boolean | contains_nan 518 boolean?
lower_bound 510 bytes? | upper_bound 511 bytes?
"""


def described(record: Mapping[str, Any]) -> Iterator[str]:
    """`name id type` of each field of an Avro schema, with "?" if it is optional."""
    for field in record["fields"]:
        kind, optional = required(field["type"])
        assert not optional or field["default"] is None
        shown = kind.get("logicalType") or kind.get("name") or kind["type"]
        yield f"{field['name']} {field['field-id']} {shown}{optional}"
        if kind["type"] == "array":
            element = f"{kind['element-id']} " if "element-id" in kind else ""
            kind, optional = required(kind["items"])
            yield f"{element}of {kind['name']}{optional}"
        if kind["type"] == "record":
            yield from described(kind)


def required(kind: str | list[Any] | dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The type of values that are not null, and "?" if there may be nulls."""
    if isinstance(kind, list):
        assert kind[0] == "null"
        return required(kind[1])[0], "?"
    return ({"type": kind} if isinstance(kind, str) else kind), ""


def test_manifests_and_their_lists_have_the_field_ids_of_the_specification() -> None:
    table = partitioned({})
    table.append([{"k": 1, "p": "a"}])
    found = seen(table)
    (manifest,) = found.manifests()
    for path, fields in (
        (manifest["manifest_path"], ENTRY),
        (found.snapshots[1]["manifest-list"], MANIFEST),
    ):
        stored = fastavro.reader(BytesIO(table._store.file_io.read(path)))
        schema = json.loads(str(stored.metadata["avro.schema"]))
        assert list(described(schema)) == fields.strip().replace("\n", " | ").split(" | ")


def test_the_metadata_has_the_members_of_java_in_their_order() -> None:
    table = partitioned({})
    table.append([{"k": 1, "p": "a"}])
    table.create_tag("first")
    found = seen(table).metadata
    (snapshot,), (schema,) = found["snapshots"], found["schemas"]
    spec = {"name": "p", "transform": "identity", "source-id": 1, "field-id": 1000}
    time = snapshot["timestamp-ms"]
    names = [{"field-id": 0, "names": ["k"]}, {"field-id": 1, "names": ["p"]}]
    assert list(found.items()) == [
        ("format-version", 2),
        ("table-uuid", found["table-uuid"]),
        ("location", table._store.paths.root),
        ("last-sequence-number", 1),
        ("last-updated-ms", found["last-updated-ms"]),
        ("last-column-id", 1),
        ("schemas", [schema]),
        ("current-schema-id", 0),
        ("partition-specs", [{"spec-id": 0, "fields": [spec]}]),
        ("default-spec-id", 0),
        ("last-partition-id", 1000),
        ("sort-orders", [{"order-id": 0, "fields": []}]),
        ("default-sort-order-id", 0),
        ("snapshots", [snapshot]),
        ("current-snapshot-id", 1),
        ("properties", {"schema.name-mapping.default": json.dumps(names)}),
        ("refs", {"first": {"snapshot-id": 1, "type": "tag", "max-ref-age-ms": 2**63 - 1}}),
        ("snapshot-log", [{"timestamp-ms": time, "snapshot-id": 1}]),
    ]
    assert (schema["type"], schema["schema-id"]) == ("struct", 0)
    members = ["sequence-number", "snapshot-id", "timestamp-ms", "summary", "manifest-list"]
    assert list(snapshot) == [*members, "schema-id"]
    assert found["last-updated-ms"] >= time >= table.snapshots[1].time_millis


@pytest.mark.parametrize("ahead", [False, True])
def test_snapshots_are_not_older_than_those_of_the_table(*, ahead: bool) -> None:
    table = append_table(columns(k=pa.int32()), [{"k": 1}], [{"k": 2}])
    clock = 2**42 if ahead else 0
    options = table.options.changed(IN_TABLE)
    for snapshot in table.snapshots:
        iceberg_writer(table._store, table.schema, options, lambda: clock).write(snapshot)
    found = seen(table).snapshots.values()
    times = [clock if ahead else one.time_millis for one in table.snapshots]
    assert [one["timestamp-ms"] for one in found] == times


@pytest.mark.parametrize(
    ("identity", "change", "is_same"),
    [
        ("x", {"uuid": "x", "commit_user": "v"}, True),
        ("x", {"uuid": "y"}, False),
        ("u:7:9", {}, True),
        ("u:7:9", {"commit_user": "v"}, False),
        ("u:7:9", {"commit_identifier": 8}, False),
        ("u:7:9", {"time_millis": 8}, False),
        (None, {"time_millis": 20}, True),
        (None, {"time_millis": 21}, False),
        (None, {"id": 6}, False),
    ],
)
def test_metadata_is_that_of_the_snapshot_of_the_same_commit(
    identity: str | None, change: dict[str, Any], *, is_same: bool
) -> None:
    """Without an identity, as Java writes it, the metadata is younger than its snapshot."""
    found = IcebergSnapshot(
        id=5,
        timestamp_ms=20,
        summary={} if identity is None else {"paimon-commit-identity": identity},
        manifest_list="m",
        schema_id=0,
    )
    table = append_table(columns(k=pa.int32()), [{"k": 1}])
    plain = {"id": 5, "uuid": None, "commit_user": "u", "commit_identifier": 7, "time_millis": 9}
    assert found.is_of(replace(table.snapshots[1], **{**plain, **change})) == is_same


def test_nested_types_have_the_field_ids_of_data_files() -> None:
    base, step = 536_870_911, 1024
    texts = {"type": "list", "element-required": False, "element": "string"}
    kinds = {
        "ARRAY<ARRAY<INT NOT NULL>>": {
            "type": "list",
            "element-id": base + 1,
            "element-required": False,
            "element": {
                "type": "list",
                "element-id": base + 2,
                "element-required": True,
                "element": "int",
            },
        },
        "MAP<INT NOT NULL, ARRAY<STRING>>": {
            "type": "map",
            "key-id": base - step - 1,
            "key": "int",
            "value-id": base + step + 1,
            "value-required": False,
            "value": {**texts, "element-id": base + step + 2},
        },
        "MULTISET<ARRAY<STRING>>": {
            "type": "map",
            "key-id": base - 2 * step - 1,
            "key": {**texts, "element-id": base + 2 * step + 2},
            "value-id": base + 2 * step + 1,
            "value-required": True,
            "value": "int",
        },
    }
    schema = schema_of(dict(zip("amx", kinds, strict=True)), keys=())
    fields = iceberg_schema(schema)["fields"]
    assert isinstance(fields, list)
    assert fields == [
        {"id": at, "name": "amx"[at], "required": False, "type": kind}
        for at, kind in enumerate(kinds.values())
    ]


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("TIMESTAMP(0)", "k"),
        ("ARRAY<TIMESTAMP(0)>", "k.element"),
        ("MAP<INT, ARRAY<TIMESTAMP(0)>>", "k.value.element"),
        ("MULTISET<TIMESTAMP(0)>", "k.key"),
    ],
)
def test_a_type_that_iceberg_lacks_is_named_with_its_place(kind: str, path: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=rf"TIMESTAMP\(0\) .*\(column {path}\)"):
        iceberg_schema(schema_of({"k": kind}, keys=()))


def test_bounds_are_the_least_and_the_greatest_value_of_each_column_by_its_id() -> None:
    table = append_table(columns(k=pa.int32(), p=pa.string()), options=IN_TABLE)
    table.append([{"k": k, "p": p} for k, p in ((3, "b"), (1, None), (2, "a"))])
    ((file, _),) = seen(table).files()
    found = {
        name: {bound["key"]: bound["value"] for bound in file[name]}
        for name in ("lower_bounds", "upper_bounds", "null_value_counts")
    }
    assert found == {
        "lower_bounds": {0: b"\1\0\0\0", 1: b"a"},
        "upper_bounds": {0: b"\3\0\0\0", 1: b"b"},
        "null_value_counts": {0: 0, 1: 1},
    }


def test_files_with_statistics_of_different_columns_keep_their_own() -> None:
    table = append_table(columns(k=pa.int32(), p=pa.string()), options=IN_TABLE)
    for number, without in enumerate(("p", "p", "k", "p")):
        options = {f"fields.{without}.stats-mode": "none"}
        open_table(table.path, options=options).append([{"k": number, "p": f"{number}"}])
    table._store.file_io.delete_folder(f"{table._store.paths.root}/metadata")
    table.append([{"k": 4, "p": "4"}])
    bounds = [[bound["value"] for bound in file["lower_bounds"]] for file, _ in seen(table).files()]
    ints = [number.to_bytes(4, "little") for number in range(5)]
    assert bounds == [ints[:1], ints[1:2], [b"2"], ints[3:4], [ints[4], b"4"]]


def changed(table: Table) -> Table:
    table.append([{"k": k, "p": "ab"[k % 2]} for k in range(6)])
    table.append([{"k": 7, "p": "c"}])
    table.delete("k < 3")
    table.overwrite([{"k": 8, "p": "a"}])
    table.append([{"k": 9, "p": "d"}])
    table.delete("k = 8")
    table.compact(full=True)
    table.truncate()
    return table


SPLIT = {"manifest.target-file-size": "2 kb"}


@pytest.mark.parametrize("options", [{}, MERGED, SPLIT, VECTORS, {**MERGED, **VECTORS}])
def test_counts_and_totals_are_those_of_the_files(options: dict[str, str]) -> None:
    table = changed(partitioned({**options, "metadata.iceberg.previous-versions-max": "9"}))
    found = seen(table)
    assert list(found.snapshots) == [one.id for one in table.snapshots]
    before: dict[str, dict[str, Any]] = {}
    adder: dict[str, int] = {}
    for number, snapshot in found.snapshots.items():
        files = {file["file_path"]: file for file, _ in found.files(number) if not file["content"]}
        vectors = [file for file, _ in found.files(number) if file["content"]]
        added = [file for path, file in files.items() if path not in before]
        deleted = [file for path, file in before.items() if path not in files]
        partitions = {file["partition"]["p"] for file in (*added, *deleted)}
        kind = table.snapshots[number].commit_kind.value
        replaced = "replace" if kind == "COMPACT" else "overwrite"
        summary = {
            "operation": replaced if deleted else "append",
            "added-data-files": len(added),
            "added-records": rows(added),
            "added-files-size": size(added),
            "deleted-data-files": len(deleted),
            "deleted-records": rows(deleted),
            "removed-files-size": size(deleted),
            "changed-partition-count": len(partitions),
            "total-data-files": len(files),
            "total-records": rows(files.values()),
            "total-files-size": size(files.values()),
            "total-delete-files": len(vectors),
            "total-position-deletes": rows(vectors),
            "total-equality-deletes": 0,
            "paimon-commit-identity": table.snapshots[number].uuid,
        }
        assert snapshot.get("parent-snapshot-id", 0) == number - 1
        assert snapshot["summary"] == {name: str(value) for name, value in summary.items()}
        adder |= {file["file_path"]: number for file in added}
        for manifest in found.manifests(number):
            check_manifest(table, found, manifest, adder)
        before = files
    check_stored(table, found)


def check_stored(table: Table, found: IcebergReader) -> None:
    """No file is stored that no snapshot refers to."""
    referred = {one["manifest-list"] for one in found.snapshots.values()}
    for number in found.snapshots:
        referred |= {one["manifest_path"] for one in found.manifests(number)}
    stored = table._store.file_io.list(f"{table._store.paths.root}/metadata")
    avro = {status.path for status in stored if status.name.endswith(".avro")}
    assert {path.rpartition("/")[2] for path in avro} == {
        path.rpartition("/")[2] for path in referred
    }


def check_manifest(
    table: Table, found: IcebergReader, manifest: dict[str, Any], adder: Mapping[str, int]
) -> None:
    path, at = manifest["manifest_path"], manifest["added_snapshot_id"]
    entries = found.records(path)
    for status, name in enumerate(("existing", "added", "deleted")):
        files = [one["data_file"] for one in entries if one["status"] == status]
        assert manifest[f"{name}_files_count"] == len(files)
        assert manifest[f"{name}_rows_count"] == rows(files)
    assert manifest["manifest_length"] == len(table._store.file_io.read(path))
    assert manifest["sequence_number"] == at
    assert manifest["min_sequence_number"] == min(one["sequence_number"] for one in entries)
    texts = sorted(one["data_file"]["partition"]["p"].encode() for one in entries)
    (partition,) = manifest["partitions"]
    assert (partition["lower_bound"], partition["upper_bound"]) == (texts[0], texts[-1])
    for one in entries:
        if not manifest["content"]:
            first = adder[one["data_file"]["file_path"]]
            assert one["sequence_number"] == one["file_sequence_number"] == first
            assert one["snapshot_id"] == (at if one["status"] == 2 else first)
            assert one["status"] == 2 or (one["status"] == 1) == (first == at)


def rows(files: Files) -> int:
    return sum(file["record_count"] for file in files)


def size(files: Files) -> int:
    return sum(file["file_size_in_bytes"] for file in files)


def test_files_without_field_ids_are_read_by_names(tmp_path: Path) -> None:
    kinds = columns(k=pa.int32(), a=pa.string(), b=pa.string())
    table = new_catalog(tmp_path / "wh").create_table("db.t", kinds, options=IN_TABLE)
    rows = [{"k": 1, "a": "x", "b": "y"}]
    pq.write_table(pa.Table.from_pylist(rows, kinds), tmp_path / "f.parquet")
    table.add_files(str(tmp_path / "f.parquet"))
    table.rename_column("a", "c")
    table.append([{"k": 2, "c": "z"}])
    assert seen(table).rows() == table.to_arrow().to_pylist()


INNER = [(7, "z"), (8, "v")]


def test_an_earlier_name_is_given_if_it_was_that_of_one_column_only() -> None:
    z, v = ({"type": "ROW", "fields": [{"id": i, "name": n, "type": "INT"}]} for i, n in INNER)
    inner = [
        {"id": 4, "name": "x", "type": "INT"},
        {"id": 5, "name": "y", "type": {"type": "ARRAY", "element": z}},
        {"id": 6, "name": "m", "type": {"type": "MAP", "key": "STRING NOT NULL", "value": v}},
    ]
    struct = {"type": "ROW", "fields": inner}
    first = schema_of({**dict.fromkeys("abc", "INT"), "s": struct}, keys=())
    renamed = [
        *(("a", "a1"), ("b", "x"), ("c", "x1")),  # x was b, then it becomes c
        *(("x", "b1"), ("x1", "x"), ("x", "c1")),
    ]
    schemas, fields = [iceberg_schema(first)], list(first.fields)
    for number, (old, new) in enumerate(renamed, 1):
        fields = [replace(one, name=new) if one.name == old else one for one in fields]
        schemas.append(iceberg_schema(replace(first, id=number, fields=tuple(fields))))
    mapping = json.loads(json.dumps(name_mapping(schemas, len(renamed))))
    assert [one["names"] for one in mapping] == [["a1", "a"], ["b1", "b"], ["c1", "c", "x1"], ["s"]]
    assert [one["field-id"] for one in mapping] == [field.id for field in first.fields]
    x, y, m = mapping[3]["fields"]
    assert (x["names"], y["names"], m["names"]) == (["x"], ["y"], ["m"])
    assert [one["names"] for one in y["fields"]] == [["element"]]
    assert [one["names"] for one in y["fields"][0]["fields"]] == [["z"]]
    assert [one["names"] for one in m["fields"]] == [["key"], ["value"]]
    before = json.loads(json.dumps(name_mapping(schemas, 0)))
    assert before[0]["names"] == ["a", "a1"]
