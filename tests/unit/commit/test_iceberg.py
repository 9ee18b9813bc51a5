"""Iceberg metadata, read back by a reader that knows only the specification of Iceberg."""

import json
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from io import BytesIO
from itertools import pairwise

import fastavro
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.commit.iceberg.metadata_writer import iceberg_writer
from paimon_explore.commit.iceberg.schema_json import iceberg_schema
from paimon_explore.errors import (
    IcebergMetadataWarning,
    InvalidInputError,
    PaimonWarning,
    StorageError,
)
from paimon_explore.inspection.health.findings import Finding, Severity
from support.depth import some
from support.faulty_file_io import CrashError, Fault, FaultyFileIO
from support.iceberg_reader import IcebergReader
from support.iceberg_warnings import told
from support.merging import schema_of
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.string())
STORAGE = "metadata.iceberg.storage"
IN_TABLE = {"metadata.iceberg.storage": "table-location"}
VECTORS = {
    "deletion-vectors.enabled": "true",
    "deletion-vectors.bitmap64": "true",
    "metadata.iceberg.format-version": "3",
}
ROWS: list[dict[str, object]] = [{"k": 1, "v": "a"}, {"k": 2, "v": None}]


def plain() -> Table:
    return append_table(COLUMNS, options=IN_TABLE)


def filled() -> Table:
    table = plain()
    table.append(ROWS)
    return table


def keyed(options: Mapping[str, str]) -> Table:
    return keyed_table(COLUMNS, primary_key=["k"], options={**IN_TABLE, **options})


def folder_of(table: Table) -> str:
    return f"{table._store.paths.root}/metadata"


def seen(table: Table, folder: str | None = None) -> IcebergReader:
    """What Iceberg readers see."""
    return IcebergReader(table._store.file_io.read, folder or folder_of(table))


def newest(table: Table) -> int:
    """The id of the latest snapshot."""
    latest = table.snapshots.latest()
    assert latest is not None
    return latest.id


def names_in(table: Table, folder: str | None = None) -> list[str]:
    found = table._store.file_io.list(folder or folder_of(table))
    return [status.name for status in found if not status.is_folder]


COMMITS: dict[str, Callable[[Table], object]] = {
    "append": lambda t: t.append([{"k": 3, "v": "c"}]),
    "overwrite": lambda t: t.overwrite([{"k": 4, "v": "d"}]),
    "delete": lambda t: t.delete("k = 1"),
    "update": lambda t: t.update({"v": "'b'"}, where="k = 1"),
    "truncate": lambda t: t.truncate(),
    "compact": lambda t: t.compact(full=True),
    "analyze": lambda t: t.maintenance.analyze(),
}
OPERATIONS = {
    "append": "append",
    "overwrite": "overwrite",
    "delete": "overwrite",
    "update": "overwrite",
    "truncate": "overwrite",
    "compact": "replace",
    "analyze": "append",
}


@pytest.mark.parametrize("commit", COMMITS)
def test_every_kind_of_commit_to_an_append_table_is_seen_at_once(commit: str) -> None:
    table = filled()
    for number in range(5):
        table.append([{"k": 10 + number, "v": "x"}])
    COMMITS[commit](table)
    found = seen(table)
    assert found.rows() == rows_of(table.to_arrow())
    snapshot = found.snapshots[found.metadata["current-snapshot-id"]]
    assert snapshot["snapshot-id"] == newest(table)
    assert snapshot["summary"]["operation"] == OPERATIONS[commit]
    assert snapshot["summary"]["total-records"] == str(table.count())


def test_every_snapshot_remains_readable_as_it_was() -> None:
    table = filled()
    table.delete("k = 1")
    table.append([{"k": 3, "v": "c"}])
    found = seen(table)
    assert list(found.snapshots) == [1, 2, 3]
    for number in found.snapshots:
        assert found.rows(number) == rows_of(table.at(number).to_arrow())


def test_the_files_have_the_names_of_java() -> None:
    table = filled()
    table.append(ROWS)
    names = names_in(table)
    assert [name for name in names if name.startswith("v")] == [
        "v2.metadata.json",
        "version-hint.text",
    ]
    assert sum(name.endswith("-m1.avro") for name in names) == 2
    assert sum(name.startswith("snap-1-") for name in names) == 2
    assert len(names) == 6


VALUES: dict[str, tuple[pa.DataType, object]] = {
    "boolean": (pa.bool_(), True),
    "int8": (pa.int8(), -3),
    "int16": (pa.int16(), 300),
    "int32": (pa.int32(), -70_000),
    "int64": (pa.int64(), 2**40),
    "float": (pa.float32(), 1.5),
    "double": (pa.float64(), -2.25),
    "nan": (pa.float64(), float("nan")),
    "decimal": (pa.decimal128(20, 3), Decimal("-12345678901234.125")),
    "text": (pa.string(), "äö"),
    "bytes": (pa.binary(), b"\x00\xff"),
    "date": (pa.date32(), date(1969, 12, 31)),
    "time": (pa.time32("ms"), datetime(2024, 1, 1, 3, 4, 5).time()),  # noqa: DTZ001 - a time of day
    "timestamp_ms": (pa.timestamp("ms"), datetime(1969, 1, 1, 0, 0, 0, 1000)),  # noqa: DTZ001 - without zone
    "timestamp_us": (pa.timestamp("us"), datetime(2024, 1, 1, 0, 0, 0, 7)),  # noqa: DTZ001 - without zone
    "timestamp_ltz": (pa.timestamp("us", "UTC"), datetime(2024, 1, 1, tzinfo=UTC)),
    "list": (pa.list_(pa.int32()), [1, None]),
    "map": (pa.map_(pa.string(), pa.int64()), [("x", 1)]),
    "struct": (pa.struct([("p", pa.int32()), ("q", pa.list_(pa.string()))]), {"p": 1, "q": ["z"]}),
}
BOUNDS = {
    "boolean": b"\x01",
    "int8": (-3).to_bytes(4, "little", signed=True),
    "int16": (300).to_bytes(4, "little"),
    "int32": (-70_000).to_bytes(4, "little", signed=True),
    "int64": (2**40).to_bytes(8, "little"),
    "float": b"\x00\x00\xc0\x3f",
    "double": b"\x00\x00\x00\x00\x00\x00\x02\xc0",
    "decimal": (-12345678901234125).to_bytes(7, "big", signed=True),
    "text": "äö".encode(),
    "date": b"\xff\xff\xff\xff",
    "time": (11_045_000_000).to_bytes(8, "little"),
    "timestamp_ms": (-31_535_999_999_000).to_bytes(8, "little", signed=True),
    "timestamp_us": (1_704_067_200_000_007).to_bytes(8, "little"),
    "timestamp_ltz": (1_704_067_200_000_000).to_bytes(8, "little"),
}


def test_values_and_bounds_of_every_type_are_as_the_specification_says() -> None:
    schema = columns(**{name: kind for name, (kind, _) in VALUES.items()})
    table = append_table(schema, options=IN_TABLE)
    table.append([{name: value for name, (_, value) in VALUES.items()}])
    table.append([dict.fromkeys(VALUES)])
    found = seen(table)
    first, second = [file for file, _ in found.files()]
    for key in ("lower_bounds", "upper_bounds"):
        names = dict(enumerate(VALUES))
        known = {names[bound["key"]]: bound["value"] for bound in first[key]}
        assert {name: known[name] for name in BOUNDS} == BOUNDS
        assert "nan" not in known
        assert not {"list", "map", "struct"} & {*known}
        assert second[key] == []
    nulls = {bound["key"]: bound["value"] for bound in second["null_value_counts"]}
    assert nulls[0] == 1
    assert len(found.rows()) == 2


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        ("SMALLINT", "int"),
        ("CHAR(3)", "string"),
        ("DECIMAL(20, 3)", "decimal(20, 3)"),
        ("TIME(3)", "time"),
        ("TIMESTAMP(3)", "timestamp"),
        ("TIMESTAMP(6)", "timestamp"),
        ("TIMESTAMP(7)", "timestamp_ns"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "timestamptz"),
        ("TIMESTAMP(9) WITH LOCAL TIME ZONE", "timestamptz_ns"),
    ],
)
def test_types_have_their_names_in_iceberg(kind: str, stored: str) -> None:
    assert iceberg_schema(schema_of({"k": kind}, keys=()))["fields"] == [
        {"id": 0, "name": "k", "required": False, "type": stored}
    ]


def store_in_millis(table: Table, path: str, column: str, logical: str) -> None:
    """Write a manifest again with the partition values of a column as Java stores them."""
    stored = fastavro.reader(BytesIO(table._store.file_io.read(path)))
    schema = json.loads(str(stored.metadata["avro.schema"]))
    kind = schema
    for name in ("data_file", "partition", column):
        (kind,) = [one["type"] for one in kind["fields"] if one["name"] == name]
    kind[1]["logicalType"] = logical
    out = BytesIO()
    fastavro.writer(out, schema, list(stored))
    table._store.file_io.replace(path, out.getvalue())


@pytest.mark.parametrize("logical", [None, "timestamp-millis", "local-timestamp-millis"])
def test_partition_values_and_their_summaries_stay_when_manifests_are_written_again(
    logical: str | None,
) -> None:
    kinds = {name: kind for name, kind in VALUES.items() if name in BOUNDS or name == "nan"}
    schema = columns(k=pa.int32(), **{name: kind for name, (kind, _) in kinds.items()})
    table = append_table(schema, partition_by=list(kinds), options=IN_TABLE)
    row = {name: value for name, (_, value) in kinds.items()}
    table.append([{"k": 1, **row}, {"k": 2, **dict.fromkeys(kinds)}, {"k": 3, **row, "int8": 4}])
    if logical:
        path = seen(table).manifests()[0]["manifest_path"]
        store_in_millis(table, path, "timestamp_ms", logical)
    table.delete("k = 3")
    (spec,) = seen(table).metadata["partition-specs"]
    assert [(one["name"], one["source-id"], one["field-id"]) for one in spec["fields"]] == [
        (name, 1 + at, 1000 + at) for at, name in enumerate(kinds)
    ]
    assert seen(table).metadata["last-partition-id"] == 999 + len(kinds)
    for name in ("timestamp_ms", "timestamp_us"):
        moment = row[name]
        assert isinstance(moment, datetime)
        row[name] = moment.replace(tzinfo=UTC)
    partitions = [file["partition"] for file, _ in seen(table).files()]
    assert repr(partitions) == repr([row, dict.fromkeys(kinds)])
    for number in (1, 2):
        (manifest,) = seen(table).manifests(number)
        for name, found in zip(kinds, manifest["partitions"], strict=True):
            low, high = found["lower_bound"], found["upper_bound"]
            assert (found["contains_null"], found["contains_nan"]) == (True, name == "nan")
            assert low == BOUNDS.get(name)
            assert high == (b"\4\0\0\0" if name == "int8" else low)


def test_readers_see_fully_compacted_rows_of_primary_key_tables() -> None:
    table = keyed({})
    table.upsert(ROWS)
    table.upsert([{"k": 1, "v": "new"}])
    table.compact(full=True)
    assert seen(table).rows() == rows_of(table.to_arrow())
    before = seen(table).rows()
    table.upsert([{"k": 2, "v": "later"}])
    assert seen(table).rows() == before
    table.compact(full=True)
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_metadata_that_is_made_anew_has_the_rows_of_the_last_full_compaction() -> None:
    table = keyed({})
    table.upsert(ROWS)
    table.upsert([{"k": 5, "v": "e"}])
    table.compact(full=True)
    before = seen(table).rows()
    lose_base(table)
    table.upsert([{"k": 1, "v": "later"}])
    assert seen(table).rows() == before == [*ROWS, {"k": 5, "v": "e"}]


def test_a_file_that_moves_to_another_level_is_listed_once() -> None:
    table = keyed_table(
        columns(k=pa.int32(), p=pa.int32()),
        primary_key=["k", "p"],
        partition_by=["p"],
        options=IN_TABLE,
    )
    table.upsert([{"k": 1, "p": 1}, {"k": 1, "p": 2}])
    table.compact(full=True)
    assert len([*seen(table).files()]) == 2
    assert seen(table).rows() == rows_of(table.to_arrow())


@pytest.mark.parametrize("make", [plain, partial(keyed, {"write-only": "false"})])
def test_deletion_vectors_are_part_of_format_version_3(make: Callable[..., Table]) -> None:
    table = append_table(COLUMNS, options={**IN_TABLE, **VECTORS})
    if make is not plain:
        table = keyed({"write-only": "false", **VECTORS})
    write = table.upsert if table.schema.primary_keys else table.append
    write([{"k": number, "v": "a"} for number in range(20)])
    table.delete("k < 3")
    table.delete("k = 7")
    found = seen(table)
    assert found.metadata["format-version"] == 3
    ids = [(one["first-row-id"], one["added-rows"]) for one in found.metadata["snapshots"]]
    assert [first for first, _ in ids[1:]] == [sum(one) for one in ids[:-1]]
    assert found.metadata["next-row-id"] == sum(ids[-1]) >= 20
    assert any(file["content"] == 1 for file, _ in found.files())
    assert found.rows() == rows_of(table.to_arrow())
    table._store.file_io.delete(f"{folder_of(table)}/v{newest(table)}.metadata.json")
    write([{"k": 50, "v": "z"}])
    assert seen(table).rows() == rows_of(table.to_arrow())


@pytest.mark.parametrize("merged_at", ["2", "100"])
def test_rows_keep_their_ids_in_format_version_3(merged_at: str) -> None:
    many = {"metadata.iceberg.compaction.max.file-num": merged_at}
    few = {"metadata.iceberg.compaction.min.file-num": "2"}
    kept = {"metadata.iceberg.previous-versions-max": "9"}
    table = append_table(COLUMNS, options={**IN_TABLE, **VECTORS, **many, **few, **kept})
    for number in range(3):
        table.append([{"k": number * 10 + k, "v": "a"} for k in range(4)])
    table.delete("k = 1")
    table.compact(full=True)
    table.append([{"k": 90, "v": "b"}])
    table.overwrite([{"k": 91, "v": "c"}])
    check_row_ids(table)


def test_ids_of_rows_that_a_rollback_removed_are_not_given_to_others() -> None:
    table = append_table(COLUMNS, options={**IN_TABLE, "metadata.iceberg.format-version": "3"})
    for number in range(3):
        table.append([{"k": number, "v": "a"}])
    used = seen(table).metadata["next-row-id"]
    table.rollback_to(1)
    table.append([{"k": 7, "v": "b"}])
    firsts = [one["first-row-id"] for one in seen(table).metadata["snapshots"]]
    assert min(firsts) >= used == 3
    check_row_ids(table)


def check_row_ids(table: Table) -> None:
    """No two rows have the same id, a file has the same ids in all snapshots, all are reserved."""
    found = seen(table)
    known: dict[str, tuple[int, int]] = {}
    for number, snapshot in found.snapshots.items():
        ids = found.row_ids(number)
        assert all(known.setdefault(path, ends) == ends for path, ends in ids.items())
        reserved = snapshot["first-row-id"] + snapshot["added-rows"]
        assert max(end for _, end in ids.values()) <= reserved
    ends = sorted(known.values())
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    assert max(end for _, end in ends) <= found.metadata["next-row-id"]


def test_the_metadata_follows_changes_of_the_schema() -> None:
    table = filled()
    table.rename_column("v", "w")
    table.add_column("n", "BIGINT", comment="a number")
    table.drop_column("k")
    table = pe.open_table(table.path)
    table.append([{"w": "b", "n": 5}])
    found = seen(table)
    assert [one["schema-id"] for one in found.metadata["schemas"]] == [0, 1, 2, 3]
    assert found.metadata["schemas"][3]["fields"] == [
        {"id": 1, "name": "w", "required": False, "type": "string"},
        {"id": 2, "name": "n", "required": False, "type": "long", "doc": "a number"},
    ]
    assert found.metadata["last-column-id"] == 2
    assert found.rows() == rows_of(table.to_arrow())


def test_manifests_are_merged_by_number_and_size() -> None:
    limits = {
        "metadata.iceberg.compaction.min.file-num": "3",
        "metadata.iceberg.compaction.max.file-num": "4",
    }
    table = append_table(COLUMNS, options={**IN_TABLE, **limits})
    counts = []
    for number in range(6):
        table.append([{"k": number, "v": "a"}])
        counts.append(len(seen(table).manifests()))
    assert counts == [1, 2, 3, 1, 2, 3]
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_small_manifests_are_merged_if_they_fill_one() -> None:
    table = append_table(
        COLUMNS,
        options={
            **IN_TABLE,
            "metadata.iceberg.compaction.min.file-num": "3",
            "manifest.target-file-size": "8 kb",
        },
    )
    for number in range(4):
        table.append([{"k": number, "v": "a"}])
    assert [len(seen(table).manifests(number)) for number in (1, 2)] == [1, 2]
    assert len(seen(table).manifests()) < 4
    assert seen(table).rows() == rows_of(table.to_arrow())


def versions(table: Table) -> list[str]:
    return [name for name in names_in(table) if name.endswith(".json")]


def test_old_metadata_files_are_deleted_as_the_options_say() -> None:
    kept = append_table(
        COLUMNS, options={**IN_TABLE, "metadata.iceberg.previous-versions-max": "1"}
    )
    every = append_table(
        COLUMNS, options={**IN_TABLE, "metadata.iceberg.delete-after-commit.enabled": "false"}
    )
    for number in range(3):
        kept.append([{"k": number, "v": "a"}])
        every.append([{"k": number, "v": "a"}])
    assert versions(kept) == ["v2.metadata.json", "v3.metadata.json"]
    assert versions(every) == [f"v{number}.metadata.json" for number in (1, 2, 3)]
    for table in (kept, every):  # made anew, it need not refer to earlier snapshots
        lose_list(table)
        table.append([{"k": 4, "v": "a"}])
    assert versions(kept) == ["v3.metadata.json", "v4.metadata.json"]
    assert versions(every) == [f"v{number}.metadata.json" for number in (1, 2, 3, 4)]


def test_expired_snapshots_leave_with_the_files_that_only_they_have() -> None:
    table = append_table(
        COLUMNS,
        options={**IN_TABLE, "snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"},
    )
    table.append(ROWS)
    table.overwrite([{"k": 3, "v": "c"}])
    table.overwrite([{"k": 4, "v": "d"}])
    table.append([{"k": 5, "v": "e"}])
    found = seen(table)
    assert list(found.snapshots) == [3, 4]
    referred = {found.snapshots[number]["manifest-list"] for number in (3, 4)}
    referred |= {one["manifest_path"] for number in (3, 4) for one in found.manifests(number)}
    stored = {name for name in names_in(table) if name.endswith(".avro")}
    assert stored == {path.rpartition("/")[2] for path in referred}
    assert found.rows(3) == [{"k": 4, "v": "d"}]


CODECS = {
    **{name: name for name in ("snappy", "zstandard", "null", "deflate")},
    "zstd": "zstandard",
    " GZIP": "deflate",
    "none": "null",
    "uncompressed": "null",
}


@pytest.mark.parametrize(("codec", "stored"), CODECS.items())
def test_manifests_have_the_compression_of_the_option(codec: str, stored: str) -> None:
    table = append_table(
        COLUMNS, options={**IN_TABLE, "metadata.iceberg.manifest-compression": codec}
    )
    table.append(ROWS)
    (name,) = [name for name in names_in(table) if name.endswith("-m1.avro")]
    data = table._store.file_io.read(f"{folder_of(table)}/{name}")
    assert f"avro.codec{chr(2 * len(stored))}{stored}".encode() in data[:8000]
    table.delete("k = 1")
    table.append(ROWS)
    assert list(seen(table).snapshots) == [1, 2, 3]


def test_counts_have_the_names_of_iceberg_1_4_on_request() -> None:
    table = append_table(
        COLUMNS, options={**IN_TABLE, "metadata.iceberg.manifest-legacy-version": "true"}
    )
    table.append(ROWS)
    table.append(ROWS)
    first, second = seen(table).manifests()
    assert first["added_data_files_count"] == second["added_data_files_count"] == 1
    assert "added_files_count" not in first


@pytest.mark.parametrize("storage", ["hadoop-catalog", "hive-catalog", "rest-catalog"])
def test_catalogs_have_their_metadata_in_the_warehouse(storage: str) -> None:
    table = append_table(COLUMNS, options={"metadata.iceberg.storage": storage})
    messages = told(lambda: table.append(ROWS))
    warehouse = table._store.paths.root.removesuffix("/db.db/t")
    found = seen(table, f"{warehouse}/iceberg/db/t/metadata")
    assert found.rows() == rows_of(table.to_arrow())
    assert names_in(table, folder_of(table)) == []
    registers = storage != "hadoop-catalog"
    assert [storage in message for message in messages] == ([True] if registers else [])
    assert told(lambda: table.append(ROWS)) == []


def test_the_folder_of_a_catalog_may_be_that_of_the_table() -> None:
    options = {"metadata.iceberg.storage": "hadoop-catalog"}
    location = {"metadata.iceberg.storage-location": "table-location"}
    table = append_table(COLUMNS, options={**options, **location})
    table.append(ROWS)
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_a_catalog_needs_a_database_of_a_warehouse() -> None:
    table = append_table(COLUMNS)
    path = table.path.replace("/db.db/", "/db/")
    io = table._store.file_io
    for status in io.walk(table._store.paths.root):
        assert io.create(status.path.replace("/db.db/", "/db/"), io.read(status.path))
    moved = pe.open_table(path, options={"metadata.iceberg.storage": "hadoop-catalog"})
    with pytest.raises(InvalidInputError, match=r"metadata\.iceberg\.storage-location"):
        moved.append(ROWS)
    assert list(moved.snapshots) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("metadata.iceberg.format-version", "4"),
        ("metadata.iceberg.storage", "one-of-tomorrow"),
        ("metadata.iceberg.manifest-compression", "brotli"),
    ],
)
def test_invalid_options_are_refused_before_anything_is_committed(key: str, value: str) -> None:
    table = append_table(COLUMNS)
    with pytest.raises(InvalidInputError, match=re.escape(key)):
        pe.open_table(table.path, options={**IN_TABLE, key: value}).append(ROWS)
    assert list(table.snapshots) == []


@pytest.mark.parametrize("options", [{}, {STORAGE: "disabled"}, {STORAGE: "DISABLED"}])
def test_tables_without_iceberg_metadata_have_none(options: dict[str, str]) -> None:
    table = append_table(COLUMNS, options=options)
    assert told(lambda: table.append(ROWS)) == []
    assert names_in(table) == []
    assert findings(table) == []


def test_readers_of_version_2_are_told_of_deletion_vectors() -> None:
    table = append_table(COLUMNS, options={**IN_TABLE, "deletion-vectors.enabled": "true"})
    (message,) = told(lambda: table.append(ROWS))
    assert "Iceberg readers return rows that deletion vectors delete" in message
    table.delete("k = 1")
    lose_base(table)
    table.append(ROWS)
    assert [file["content"] for file, _ in seen(table).files()] == [0, 0]


def test_with_warnings_as_errors_nothing_is_committed() -> None:
    table = append_table(COLUMNS, options={STORAGE: "hive-catalog"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", PaimonWarning)
        with pytest.raises(IcebergMetadataWarning):
            table.append(ROWS)
    assert list(table.snapshots) == []


def damage_base(table: Table) -> None:
    path = f"{folder_of(table)}/v{newest(table)}.metadata.json"
    table._store.file_io.replace(path, b"{")


def lose_base(table: Table) -> None:
    table._store.file_io.delete_folder(folder_of(table))


def lose_list(table: Table) -> None:
    for name in names_in(table):
        if name.startswith("snap-"):
            table._store.file_io.delete(f"{folder_of(table)}/{name}")


def change_version(table: Table) -> None:
    table.set_options({"metadata.iceberg.format-version": "3"})


def commit_without(table: Table) -> None:
    pe.open_table(table.path, options={STORAGE: "disabled"}).append([{"k": 9, "v": "z"}])


@pytest.mark.parametrize(
    "harm", [damage_base, lose_base, lose_list, change_version, commit_without]
)
def test_a_commit_repairs_metadata_that_it_cannot_continue(harm: Callable[[Table], None]) -> None:
    table = filled()
    table.append([{"k": 3, "v": "c"}])
    uuid = seen(table).metadata["table-uuid"]
    harm(table)
    table = pe.open_table(table.path)
    table.delete("k = 1")
    found = seen(table)
    assert found.rows() == rows_of(table.to_arrow())
    assert list(found.snapshots) == [newest(table)]
    if harm is commit_without:
        assert found.metadata["table-uuid"] == uuid


def test_a_failure_is_a_warning_and_the_commit_remains() -> None:
    table = append_table(columns(k=pa.int32(), t=pa.timestamp("s")), options=IN_TABLE)
    (message,) = told(lambda: table.append([{"k": 1}]))
    told_of = re.escape(f"Snapshot 1 of {table._store.paths.root} is committed, but its Iceberg ")
    problem = "metadata could not be written: Type TIMESTAMP"
    assert re.match(f"{told_of}{problem}.* Iceberg readers return older rows; the next", message)
    assert "TIMESTAMP(0) in Iceberg metadata is not supported (column t)" in message
    assert table.count() == 1
    (finding,) = findings(table)
    assert (finding.severity, finding.figure) == (Severity.WARNING, 1)
    table.drop_column("t")
    table = pe.open_table(table.path)
    assert told(lambda: table.append([{"k": 2}])) != []  # an older schema has the column


def findings(table: Table) -> list[Finding]:
    return [one for one in table.health() if one.rule == "iceberg metadata"]


def test_health_shows_that_the_metadata_is_behind() -> None:
    table = filled()
    assert findings(table) == []
    commit_without(table)
    (finding,) = findings(table)
    assert (finding.severity, finding.figure, finding.option) == (Severity.WARNING, 1, STORAGE)
    assert "the Iceberg metadata is at snapshot 1, the table is at snapshot 2" in finding.what


def test_a_rollback_is_followed_at_once_and_by_later_commits() -> None:
    table = plain()
    for number in range(4):
        table.append([{"k": number, "v": "a"}])
    table.rollback_to(2)
    assert seen(table).rows() == rows_of(table.to_arrow())
    assert versions(table) == ["v2.metadata.json"]
    for number in range(10, 13):
        table.append([{"k": number, "v": "b"}])
        assert seen(table).rows() == rows_of(table.to_arrow())


def test_metadata_of_snapshots_that_a_rollback_removed_is_not_continued() -> None:
    table = append_table(
        COLUMNS, options={**IN_TABLE, "metadata.iceberg.previous-versions-max": "9"}
    )
    for number in range(4):
        table.append([{"k": number, "v": "a"}])
    quiet = pe.open_table(table.path, options={STORAGE: "disabled"})
    quiet.rollback_to(1)
    quiet.append([{"k": 20, "v": "b"}])
    table.append([{"k": 21, "v": "b"}])
    assert seen(table).rows() == rows_of(table.to_arrow())
    assert "v4.metadata.json" not in versions(table)


@pytest.mark.parametrize("to", [1, 2])
def test_a_rollback_leaves_the_table_that_readers_know(to: int) -> None:
    table = plain()
    for number in range(3):
        table.append([{"k": number, "v": "a"}])
    table.add_column("more", "INT")
    table.append([{"k": 3, "v": "a", "more": 1}])
    before = seen(table).metadata
    table.rollback_to(to)
    after = seen(table).metadata
    assert (after["current-snapshot-id"], after["table-uuid"]) == (to, before["table-uuid"])
    assert after["last-column-id"] == before["last-column-id"] == 2
    table.append([{"k": 9, "v": "b"}])
    assert seen(table).metadata["table-uuid"] == before["table-uuid"]
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_tags_are_references() -> None:
    table = filled()
    table.create_tag("first")
    assert seen(table).tags == {"first": 1}
    table.append([{"k": 3, "v": "c"}])
    assert seen(table).tags == {"first": 1}
    table.create_tag("second", 2)
    table.maintenance.rename_tag("first", "one")
    assert seen(table).tags == {"one": 1, "second": 2}
    assert table.maintenance.replace_tag("one", 2).snapshot.id == 2
    assert seen(table).tags == {"one": 2, "second": 2}
    table.maintenance.replace_tag("one", 1)
    table.delete_tag("second")
    assert seen(table).tags == {"one": 1}


def test_branches_have_no_iceberg_metadata() -> None:
    table = filled()
    table.create_tag("base")
    table.create_branch("trial", "base")
    before = seen(table).metadata
    branch = pe.open_table(table.path, branch="trial")
    branch.append([{"k": 7, "v": "branch"}])
    assert seen(table).metadata == before
    table.fast_forward("trial")
    assert seen(table).rows() == rows_of(pe.open_table(table.path).to_arrow())


def test_a_new_table_in_the_place_of_a_dropped_one_begins_anew() -> None:
    table = append_table(COLUMNS, options={STORAGE: "hadoop-catalog"})
    warehouse = table._store.paths.root.removesuffix("/db.db/t")
    folder = f"{warehouse}/iceberg/db/t/metadata"
    table.append(ROWS)
    table.append(ROWS)
    catalog = pe.Catalog(warehouse)
    catalog.drop_table("db.t")
    again = catalog.create_table("db.t", COLUMNS, options={STORAGE: "hadoop-catalog"})
    again.append([{"k": 9, "v": "new"}])
    assert seen(again, folder).rows() == [{"k": 9, "v": "new"}]
    assert len(names_in(again, folder)) == 4


def test_orphan_removal_leaves_the_metadata() -> None:
    table = filled()
    names = names_in(table)
    table.maintenance.remove_orphan_files(older_than="0 s")
    assert names_in(table) == names


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER, Fault.CRASH])
def test_a_failure_at_any_step_is_repaired_by_the_next_commit(fault: Fault) -> None:
    for number in some(range(1, 16), 3):
        table = plain()
        table.append(ROWS)
        commit_without(table)
        latest = table._store.snapshots.load(2)
        faulty = FaultyFileIO(table._store.file_io, number, fault, reads_too=True)
        store = replace(table._store, file_io=faulty)
        with suppress(StorageError, CrashError):
            iceberg_writer(store, table.schema, table.options, lambda: 0).write(latest)
        table.delete("k = 1")
        table.append([{"k": 4, "v": "d"}])
        assert seen(table).rows() == rows_of(table.to_arrow()), number


def test_a_copied_table_has_metadata_of_its_own_files() -> None:
    table = filled()
    io, root = table._store.file_io, table._store.paths.root
    for status in io.walk(root):
        assert io.create(status.path.replace("/db.db/t/", "/db.db/copy/"), io.read(status.path))
    copy = pe.open_table(table.path.replace("/db.db/t", "/db.db/copy"))
    copy.append([{"k": 3, "v": "c"}])
    found = seen(copy)
    assert found.metadata["location"] == copy._store.paths.root != root
    assert all(file["file_path"].startswith(copy._store.paths.root) for file, _ in found.files())
    assert found.rows() == rows_of(copy.to_arrow())
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_paths_have_the_prefix_that_the_metadata_has() -> None:
    table = filled()
    io, root = table._store.file_io, table._store.paths.root
    path, theirs = f"{folder_of(table)}/v1.metadata.json", root.replace("memory://", "java:/")
    io.replace(path, io.read(path).replace(root.encode(), theirs.encode()))
    table.append([{"k": 3, "v": "c"}])
    found = IcebergReader(lambda path: io.read(path.replace(theirs, root)), folder_of(table))
    assert found.metadata["location"] == theirs
    old, new = (file["file_path"] for file, _ in found.files())
    assert (old.startswith(root), new.startswith(f"{theirs}/bucket-0/")) == (True, True)
    _, second = (one["manifest_path"] for one in found.manifests())
    lists = [one["manifest-list"] for one in found.snapshots.values()]
    assert all(one.startswith(f"{theirs}/metadata/") for one in (*lists, second))
    assert found.rows() == rows_of(table.to_arrow())


def test_a_writer_that_comes_late_changes_nothing() -> None:
    table = filled()
    table.append([{"k": 3, "v": "c"}])
    before = names_in(table)
    for number in (1, 2):
        writer = iceberg_writer(table._store, table.schema, table.options, lambda: 0)
        writer.write(table._store.snapshots.load(number))
    assert names_in(table) == before
    assert seen(table).rows() == rows_of(table.to_arrow())


def test_a_transaction_is_one_iceberg_snapshot() -> None:
    table = filled()
    with table.transaction() as change:
        change.append([{"k": 3, "v": "c"}])
        change.delete("k = 1")
    found = seen(table)
    assert found.rows() == rows_of(table.to_arrow())
    assert list(found.snapshots) == [1, 2]
