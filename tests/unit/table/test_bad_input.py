"""Wrong arguments and damaged tables: each a named error that says where and why."""

import json
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    UnsupportedVersionError,
)
from support.small_tables import append_table, new_catalog

COLUMNS = pa.schema([pa.field("id", pa.int32(), nullable=False)]).append(
    pa.field("name", pa.string())
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of three snapshots that no test changes."""
    table = new_catalog(tmp_path_factory.mktemp("warehouse")).create_table("db.t", COLUMNS)
    for i in range(3):
        table.append([{"id": i, "name": f"n{i}"}])
    return Path(table.path)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of the table, to be damaged before it is opened."""
    return shutil.copytree(original, tmp_path / "db.db" / "t")


@pytest.fixture
def catalog(folder: Path) -> Catalog:
    """The warehouse of the copy."""
    return Catalog(folder.parent.parent)


@pytest.fixture
def table(folder: Path) -> Table:
    """The copy, opened."""
    return open_table(folder)


# ---------------------------------------------------------------- names and paths


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("../..", r"a warehouse with the databases 'db': use Catalog\(.*\)\.table\(\"db\."),
        ("..", "a database with the tables 't'"),
        ("snapshot", "is inside the folder of table .*/db.db/t; open that table"),
        ("snapshot/snapshot-1", "is inside the folder of table .*/db.db/t; open that table"),
        ("../T", "Did you mean 't'"),
        ("../../db.t", "Did you mean '.*/db.db/t'"),
        ("../../../db.t", r"use Catalog\(warehouse\)\.table\('db\.t'\)"),
        ("../t$files", r"Use open_table\('.*/db.db/t'\)\.inspect\.system_table\('files'\)"),
        ("../t$branch_b", r"Use open_table\('.*/db.db/t', branch='b'\)\."),
        ("../t$branch_b$files", r"\('.*/t', branch='b'\)\.inspect\.system_table\('files'\)"),
        ("../../db/t", "Did you mean '.*/db.db/t'"),
        ("../../dbs.db/t", r"Did you mean 'db\.db'"),
    ],
)
def test_a_folder_near_a_table_is_no_table_and_tells_where_one_is(
    folder: Path, wrong: str, says: str
) -> None:
    asked = (folder / wrong).resolve()
    with pytest.raises(NotFoundError, match=says) as caught:
        open_table(asked)
    assert str(asked) in str(caught.value)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("metadata/v1.metadata.json", "is an Iceberg table"),
        ("_delta_log/0.json", "is a Delta table"),
        (".hoodie/hoodie.properties", "is a Hudi table"),
        ("part-0.parquet", r"data files without a table, such as 'part-0.parquet'.*add_files"),
        ("dt=1/part-0.orc", r"data files without a table, such as 'part-0.orc'"),
        ("../x.zip", "is a folder without tables"),
        ("notes/read.me", "is a folder without tables"),
        ("../asked", "The path is a file"),
        ("../x", "The path does not exist"),
    ],
)
def test_a_path_that_is_no_table_is_described(tmp_path: Path, file: str, says: str) -> None:
    if file == "../x.zip":
        (tmp_path / "asked").mkdir()
    path = (tmp_path / "asked" / file).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    with pytest.raises(NotFoundError, match=rf"schema/schema-0.*{says}"):
        open_table(tmp_path / "asked")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (".", "the folder of a table, which is opened by its path"),
        ("..", "is the folder of a database"),
    ],
)
def test_a_table_or_a_database_is_no_warehouse(folder: Path, asked: str, says: str) -> None:
    with pytest.raises(NotFoundError, match=says):
        Catalog((folder / asked).resolve()).databases()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
@pytest.mark.parametrize(
    "first",
    ["0001-01-01", datetime(1, 1, 1), datetime(1, 1, 1, tzinfo=UTC), date.min],  # noqa: DTZ001 - local
)
def test_the_first_and_the_last_times_are_points_in_time(
    table: Table, first: str | date, monkeypatch: pytest.MonkeyPatch
) -> None:
    for zone in ("Asia/Tokyo", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        with pytest.raises(NotFoundError, match="no snapshot at or before 0001"):
            table.at(first)
        for last in ("9999-12-31T23:59:59-12:00", datetime(9999, 12, 31, 23, 59), date.max):  # noqa: DTZ001 - local
            assert table.at(last).count() == table.count()
    monkeypatch.undo()
    time.tzset()


# ---------------------------------------------------------------- scans


# ---------------------------------------------------------------- writes

WRONG_ROWS: dict[str, tuple[object, str]] = {
    "a text for a number": (
        [{"id": "x"}],
        "Column 'id' (INT), row 0 (counted from 0): 'x' of type str cannot be stored",
    ),
    "a column of texts": (
        pa.table({"id": ["1"]}),
        "'id' (INT), row 0 (counted from 0): '1' of type string cannot be stored without a cast",
    ),
    "a number too wide": (
        pa.table({"id": [2**40]}),
        "row 0 (counted from 0): 1099511627776 is out of range",
    ),
    "a null": (
        [{"id": 1}, {"id": None}],
        "Column 'id', row 1 (counted from 0): the value is null, but the column is NOT NULL",
    ),
    "only nulls": (
        pa.table({"id": pa.nulls(2)}),
        "Column 'id', row 0 (counted from 0): the value is null, but the column is NOT NULL",
    ),
    "a null in a dictionary": (
        pa.table({"id": pa.DictionaryArray.from_arrays([1, 0], pa.array([None, 4], pa.int32()))}),
        "Column 'id', row 1 (counted from 0): the value is null, but the column is NOT NULL",
    ),
    "no value": ([{"name": "a"}], "'id' is missing, but the column is NOT NULL and has no default"),
    "an unknown column": ([{"id": 1, "nam": "a"}], "no column 'nam'. Columns: 'id', 'name'"),
    "no rows at all": (7, "Cannot read rows from a value of type int"),
}


@pytest.mark.parametrize("what", WRONG_ROWS)
def test_unfit_rows_are_refused_and_leave_nothing(table: Table, folder: Path, what: str) -> None:
    rows, message = WRONG_ROWS[what]
    before = sorted(folder.rglob("*"))
    with pytest.raises(InvalidInputError) as caught:
        table.append(rows)  # type: ignore[arg-type]  # that is what is tested
    assert message in str(caught.value)
    assert sorted(folder.rglob("*")) == before


def test_no_rows_make_no_snapshot(table: Table, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    assert table.append([]) is None
    assert table.append(COLUMNS.empty_table()) is None
    assert sorted(folder.rglob("*")) == before


def test_an_empty_batch_makes_a_snapshot_if_the_table_wants_one() -> None:
    table = append_table(COLUMNS, options={"snapshot.ignore-empty-commit": "false"})
    made = table.append(COLUMNS.empty_table())
    assert made is not None
    assert (made.id, made.total_record_count, table.count()) == (1, 0, 0)
    assert table.compact() is None


def test_a_view_of_the_past_is_not_written(table: Table) -> None:
    view = table.at(snapshot=1)
    for write in (view.append, view.overwrite):
        with pytest.raises(
            InvalidInputError, match="opened with time travel and therefore read-only"
        ):
            write([{"id": 1}])
    with pytest.raises(InvalidInputError, match="opened with time travel and therefore read-only"):
        view.truncate()


_REQUIRED: dict[str, tuple[object, ...]] = {
    "compact_chain_table": ({"id": 1},),
    "create_global_index": ("id",),
    "drop_global_index": ("id",),
    "expire_partitions": ("1 d",),
    "mark_partition_done": ({"id": 1},),
    "merge_branch": ("b",),
    "rename_branch": ("a", "b"),
    "rename_tag": ("a", "b"),
    "repair_earliest_snapshot": (1,),
    "replace_tag": ("a",),
    "rollback_schema": (0,),
    "set_comment": ("",),
}
"""Arguments of the methods that need some."""


def test_maintenance_of_a_view_of_the_past_only_reads(table: Table) -> None:
    table.maintenance.consumers.reset("job", 2)
    upkeep, of_view = table.maintenance, table.at(snapshot=1).maintenance
    assert repr(of_view) == repr(upkeep)
    assert of_view.fsck() == upkeep.fsck() == []
    assert of_view.snapshot_retention().retain_min == 10
    assert of_view.consumers["job"].next_snapshot == 2
    writes = {name: getattr(of_view, name) for name in dir(of_view) if name[0] != "_"}
    for name in ("fsck", "snapshot_retention", "consumers"):
        del writes[name]
    writes["reset"] = partial(of_view.consumers.reset, "job", 1)
    writes["delete"] = partial(of_view.consumers.delete, "job")
    for name, write in writes.items():
        with pytest.raises(InvalidInputError, match="opened with time travel"):
            write(*_REQUIRED.get(name, ()))


def test_a_tag_of_a_view_of_the_past_is_told_to_name_the_snapshot(table: Table) -> None:
    view = table.at(snapshot=1)
    for create in (view.create_tag, view.maintenance.replace_tag):
        with pytest.raises(InvalidInputError, match="tags take the snapshot's id as snapshot="):
            create("v1")


def test_keys_are_not_null_and_row_kinds_are_known(catalog: Catalog) -> None:
    keyed = catalog.create_table("db.k", COLUMNS, primary_key=["id"], options={"bucket": "1"})
    with pytest.raises(
        InvalidInputError,
        match=r"Column 'id', row 0 .counted from 0.: the value is null, but the column is NOT NULL",
    ):
        keyed.upsert([{"id": None}])
    with pytest.raises(InvalidInputError, match=r"'\+X', which is not a row kind\. Use '\+I'"):
        keyed.upsert([{"id": 1, "_ROW_KIND": "+X"}])
    assert len(keyed.snapshots) == 0


# ---------------------------------------------------------------- catalog


@pytest.mark.parametrize(
    ("key", "value"), [("target-file-size", "big"), ("manifest.merge-min-count", "some")]
)
def test_an_unknown_value_of_an_option_is_named_where_it_matters(
    folder: Path, key: str, value: str
) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(InvalidInputError, match=f"option '{key}' = '{value}'"):
        open_table(folder, options={key: value}).append([{"id": 1}])
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["db.a/b", "db...", "db.", "db.t$files", "../db.t"])
def test_a_name_that_is_no_folder_name_is_refused(catalog: Catalog, name: str) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)):
        catalog.create_table(name, COLUMNS)
    assert catalog.tables("db") == ["t"]


# ---------------------------------------------------------------- damaged tables


def snapshot_with(folder: Path, **changes: object) -> None:
    path = folder / "snapshot" / "snapshot-3"
    write_old(path, json.dumps({**json.loads(path.read_text()), **changes}))


def write_old(path: Path, text: str) -> None:
    """Write a file that cannot be taken for one that is being written at this moment."""
    path.write_text(text)
    os.utime(path, (0, 0))


def manifest(folder: Path) -> Path:
    names = open_table(folder).inspect.manifests().column("file_name").to_pylist()
    return folder / "manifest" / str(names[-1])


def data_file(folder: Path) -> Path:
    return next((folder / "bucket-0").glob("*.parquet"))


def delta_list(folder: Path) -> Path:
    snapshot = json.loads((folder / "snapshot" / "snapshot-3").read_text())
    return folder / "manifest" / str(snapshot["deltaManifestList"])


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"no such bytes" * 40)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def hole(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(60) + data[64:])


@pytest.mark.parametrize("place", [manifest, delta_list, data_file])
@pytest.mark.parametrize("damage", [cut, garbage, empty, hole])
def test_a_damaged_file_is_named_with_the_rule_that_it_breaks(
    original: Path, tmp_path: Path, place: Callable[[Path], Path], damage: Callable[[Path], None]
) -> None:
    name = place(original).relative_to(original)
    copy = shutil.copytree(original, tmp_path / "t")
    damage(copy / name)
    with pytest.raises(CorruptFileError) as caught:
        open_table(copy).to_arrow()
    assert caught.value.path == str(copy / name)
    assert caught.value.rule


@pytest.mark.parametrize("place", [manifest, delta_list, data_file])
def test_a_missing_file_is_named(
    original: Path, tmp_path: Path, place: Callable[[Path], Path]
) -> None:
    name = place(original).relative_to(original)
    copy = shutil.copytree(original, tmp_path / "t")
    (copy / name).unlink()
    with pytest.raises(MissingFileError) as caught:
        open_table(copy).to_arrow()
    assert str(copy / name) in str(caught.value)


def test_a_snapshot_that_names_a_missing_list_is_told(folder: Path) -> None:
    snapshot_with(folder, deltaManifestList="manifest-list-nope")
    with pytest.raises(MissingFileError, match=r"deltaManifestList of snapshot 3.*list-nope"):
        open_table(folder).to_arrow()


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", "a/b", ""])
def test_a_name_that_leads_out_of_the_table_is_not_opened(folder: Path, name: str) -> None:
    snapshot_with(folder, deltaManifestList=name)
    with pytest.raises(CorruptFileError, match="file name"):
        open_table(folder).to_arrow()


def test_an_unknown_version_is_not_guessed_at(folder: Path) -> None:
    snapshot_with(folder, version=9)
    with pytest.raises(
        UnsupportedVersionError, match=r"snapshot-3 has version 9; supported versions"
    ):
        open_table(folder).to_arrow()


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
@pytest.mark.parametrize("name", ["snapshot/snapshot-3", "schema/schema-0"])
def test_json_that_is_none_is_named(folder: Path, name: str, text: str) -> None:
    write_old(folder / name, text)
    with pytest.raises(CorruptFileError) as caught:
        open_table(folder).to_arrow()
    assert caught.value.path == str(folder / name)


def test_a_snapshot_of_another_number_or_schema_is_refused(folder: Path) -> None:
    snapshot_with(folder, id=5)
    with pytest.raises(CorruptFileError, match="must be 3, as in the file name"):
        open_table(folder).to_arrow()
    snapshot_with(folder, id=3, schemaId=7)
    with pytest.raises(NotFoundError, match="Schema 7 does not exist"):
        open_table(folder).at(snapshot=3).to_arrow()


def test_other_snapshots_stay_readable_beside_a_damaged_one(original: Path, tmp_path: Path) -> None:
    name = delta_list(original).relative_to(original)
    copy = shutil.copytree(original, tmp_path / "t")
    garbage(copy / name)
    table = open_table(copy)
    assert table.at(snapshot=2).to_arrow().num_rows == 2
    assert table.inspect.snapshots().num_rows == 3
    with pytest.raises(CorruptFileError):
        table.to_arrow()


@pytest.mark.parametrize("hint", ["LATEST", "EARLIEST"])
@pytest.mark.parametrize("text", ["99", "1", "-5", "garbage", "", None])
def test_hints_may_lie(folder: Path, hint: str, text: str | None) -> None:
    path = folder / "snapshot" / hint
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    table = open_table(folder)
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2, 3]
    assert table.to_arrow().num_rows == 3
    written = table.append([{"id": 9}])
    assert written is not None
    assert written.id == 4
    assert (folder / "snapshot" / "LATEST").read_text() == "4"


def test_stray_files_are_passed_over(folder: Path) -> None:
    for name in ("snapshot/snapshot-x", "snapshot/.snapshot-9.tmp", "schema/schema-1.tmp"):
        (folder / name).write_text("1")
    table = open_table(folder)
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2, 3]
    assert [schema.id for schema in table.schemas] == [0]
    assert table.to_arrow().num_rows == 3


@pytest.mark.skipif(os.name == "nt", reason="the current folder cannot be deleted there")
@pytest.mark.parametrize(
    "act",
    [
        pe.open_table,
        pe.inspect.bytes,
        pe.demo,
        pe.Catalog,
        lambda path: pe.Catalog(path).create_database("db"),
    ],
)
def test_relative_paths_are_refused_in_a_folder_that_was_deleted(
    act: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidInputError, match="'w/t' is relative, and the current folder was"):
        act("w/t")
    absolute = pe.demo(tmp_path / "w")
    assert absolute.sql("SELECT count(*) AS n FROM demo.orders").to_arrow()["n"].to_pylist() == [30]
