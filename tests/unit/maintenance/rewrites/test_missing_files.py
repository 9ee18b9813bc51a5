"""Data files that were deleted by hand are removed from the table."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.maintenance.rewrites.missing_files import MissingFilesReport
from support.faulty_file_io import FaultyFileIO
from support.lifecycle import keyed_table, keys, plain_table
from support.small_tables import columns, new_catalog
from support.table_kinds import PARTITIONS, TABLE_KINDS
from support.through import interrupted, through


def lose_only_file(table: Table, snapshot: int = 1) -> Path:
    """Delete the data file of a snapshot that has one."""
    files = table.at(snapshot=snapshot).inspect.system_table("files").to_arrow()
    (name,) = files.column("file_path").to_pylist()
    path = Path(str(name))
    path.unlink()
    return path


def test_a_table_can_be_read_again_without_the_rows_of_missing_files(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    table.append([{"k": 3, "v": "c"}])
    path = lose_only_file(table)
    with pytest.raises(MissingFileError):
        table.to_arrow()
    report = table.maintenance.remove_unexisting_files()
    assert report == MissingFilesReport(files=(str(path),), records=2, dry_run=True)
    assert table.snapshot.id == 2  # type: ignore[union-attr]  # it has one
    report = table.maintenance.remove_unexisting_files(dry_run=False)
    assert report == MissingFilesReport(files=(str(path),), records=2, snapshot_id=3)
    assert repr(report).startswith("removed 1 missing file, 2 records\n  ")
    assert keys(table) == [3]
    with pytest.raises(MissingFileError):
        table.at(snapshot=2).to_arrow()
    assert table.maintenance.remove_unexisting_files(dry_run=False).snapshot_id is None


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_files_of_every_kind_of_table_are_removed(tmp_path: Path, name: str) -> None:
    kind = TABLE_KINDS[name]
    table = kind.create(str(tmp_path))
    write = table.append if kind.merge is None else table.upsert
    first, second, _ = PARTITIONS
    write([{"p": first, "k": k, "v": k, "w": ""} for k in range(4)])
    write([{"p": second, "k": 1, "v": 1, "w": ""}])
    for path in (Path(table.path) / f"p={first}").rglob("data-*"):
        path.unlink()
    report = table.maintenance.remove_unexisting_files(dry_run=False)
    assert report.records >= 4
    table.compact()
    assert table.to_arrow().column("p").to_pylist() == [second]


def test_deletion_vectors_of_missing_files_are_removed(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"deletion-vectors.enabled": "true"})
    table.append([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    table.append([{"k": 3, "v": "c"}, {"k": 4, "v": "d"}])
    table.delete("k = 1 OR k = 3")
    lose_only_file(table)
    table.maintenance.remove_unexisting_files(dry_run=False)
    assert keys(table) == [4]
    table.delete("k = 4")
    assert table.count() == 0


@pytest.mark.parametrize(
    ("lost", "left"),
    [
        (["v"], [(0, "0", b"0"), (1, "1", b"1"), (2, "new", b"2")]),
        (["b"], [(0, "new", None), (1, "new", None), (2, "new", b"2")]),
        (["id"], [(2, "new", b"2")]),
        (["id", "v"], [(2, "new", b"2")]),
    ],
)
def test_of_rows_in_several_files_those_stay_whose_first_file_exists(
    tmp_path: Path, lost: list[str], left: list[tuple[int, str, bytes | None]]
) -> None:
    schema = columns(id=pa.int64(), v=pa.string(), b=pa.large_binary())
    options = {"data-evolution.enabled": "true", "row-tracking.enabled": "true", "blob-field": "b"}
    table = new_catalog(tmp_path).create_table("db.t", schema, options=options)
    table.append([{"id": k, "v": str(k), "b": b"%d" % k} for k in range(2)])
    table.append([{"id": 2, "v": "2", "b": b"2"}])
    table.update({"v": "'new'"})
    for row in table.inspect.system_table("files").to_arrow().to_pylist():
        name = Path(row["file_path"]).name
        column = "b" if ".blob" in name else "v" if row["write_cols"] == ["v"] else "id"
        if column in lost and row["first_row_id"] == 0:
            next(Path(table.path).rglob(name)).unlink()
    report = table.maintenance.remove_unexisting_files(dry_run=False)
    assert len(report.files) == len(lost)
    rows = table.to_arrow().to_pylist()
    assert [(row["id"], row["v"], row["b"]) for row in rows] == left


def test_a_table_with_all_files_is_left_alone(tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    assert table.maintenance.remove_unexisting_files(dry_run=False).snapshot_id is None
    table.upsert([{"k": 1, "v": "a"}])
    assert table.maintenance.remove_unexisting_files(dry_run=False).files == ()
    assert len(table.snapshots) == 1


def test_a_storage_that_does_not_answer_removes_nothing(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}])
    lose_only_file(table)
    file_io = FaultyFileIO(table._store.file_io, reads_too=True)
    found = through(table, file_io)
    found.maintenance.remove_unexisting_files()
    step = max(i for i, call in enumerate(file_io.log, 1) if call.startswith("exists data"))
    broken: FileIO = FaultyFileIO(table._store.file_io, step, reads_too=True)
    with pytest.raises(StorageError, match="injected"):
        through(table, broken).maintenance.remove_unexisting_files(dry_run=False)
    assert len(table.snapshots) == 1


def test_beside_another_removal_nothing_is_removed_twice_and_new_rows_stay(
    tmp_path: Path,
) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "a"}])
    lose_only_file(table)
    late = interrupted(table, lambda: table.append([{"k": 2, "v": "b"}]))
    late.maintenance.remove_unexisting_files(dry_run=False)
    assert keys(table) == [2]
    lose_only_file(table, snapshot=3)
    late = interrupted(table, lambda: table.maintenance.remove_unexisting_files(dry_run=False))
    assert late.maintenance.remove_unexisting_files(dry_run=False).files == ()
    assert keys(table) == []
