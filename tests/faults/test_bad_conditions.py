"""Disks that are full or read-only, and schemas that change while somebody writes."""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.write.append_writer import write_append
from support.cuts import unaccounted
from support.required import lacking
from support.small_tables import new_catalog

_TYPES: dict[str, pa.DataType] = {"k": pa.int64(), "v": pa.string()}
SCHEMA = pa.schema(_TYPES)
BIG = pa.table({"k": pa.array(range(20_000)), "v": [os.urandom(48).hex() for _ in range(20_000)]})


def new_table(
    warehouse: Path, options: Mapping[str, str] | None = None, *, keyed: bool = False
) -> Table:
    given = {**({"bucket": "1"} if keyed else {}), **(options or {})}
    return new_catalog(warehouse).create_table(
        "db.t", SCHEMA, primary_key=["k"] if keyed else [], options=given
    )


def mounted(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    with suppress(OSError):
        return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - fixed words
    return False


def command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - fixed words


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 600 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted(folder, "size=600k"):
        lacking("mount", "no disk can be mounted here")
    yield folder
    command("umount", str(folder))


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_a_full_disk_ends_a_write_and_nothing_else(
    small_disk: Path, file_format: str, *, keyed: bool
) -> None:
    table = new_table(small_disk, {"file.format": file_format}, keyed=keyed)
    table.append([{"k": 1, "v": "kept"}])
    before = sorted(small_disk.rglob("*"))
    with pytest.raises(StorageError, match="No space left"):
        table.append(BIG)
    assert sorted(small_disk.rglob("*")) == before
    assert table.to_arrow().to_pylist() == [{"k": 1, "v": "kept"}]
    assert table.maintenance.fsck() == []
    table.append([{"k": 2, "v": "after"}])
    assert table.to_arrow().num_rows == 2


def test_a_disk_that_is_full_for_metadata_only_ends_a_commit_and_leaves_nothing(
    small_disk: Path,
) -> None:
    table = new_table(small_disk)
    table.append([{"k": 1, "v": "kept"}])
    failed = 0
    for room in range(0, 16 << 10, 4 << 10):
        stuffing = small_disk / "stuffing"
        free = os.statvfs(small_disk)
        stuffing.write_bytes(bytes(max(free.f_bavail * free.f_frsize - room, 0)))
        rows = table.to_arrow().num_rows
        try:
            table.append([{"k": room, "v": "more"}])
        except StorageError:
            failed += 1
            assert table.to_arrow().num_rows == rows
        else:
            assert table.to_arrow().num_rows == rows + 1
        stuffing.unlink()
        assert table.maintenance.fsck() == []
        assert unaccounted(table) == []
    assert failed


@pytest.mark.parametrize("act", ["append", "compact", "alter", "tag", "expire"])
def test_a_read_only_disk_is_read_and_refuses_to_be_written(small_disk: Path, act: str) -> None:
    table = new_table(small_disk)
    for number in range(3):
        table.append([{"k": number, "v": "kept"}])
    acts: dict[str, Callable[[], object]] = {
        "append": lambda: table.append([{"k": 9}]),
        "compact": table.compact,
        "alter": lambda: table.add_column("x", "INT"),
        "tag": lambda: table.create_tag("one"),
        "expire": lambda: table.maintenance.expire_snapshots(
            retain_max=1, older_than="2100-01-01 00:00:00"
        ),
    }
    command("mount", "-o", "remount,ro", str(small_disk))
    with pytest.raises(StorageError, match="Read-only") as caught:
        acts[act]()
    assert caught.value.path.startswith(str(small_disk))
    command("mount", "-o", "remount,rw", str(small_disk))
    assert table.to_arrow().num_rows == 3
    assert table._store.snapshots.ids() == [1, 2, 3]
    assert table.maintenance.fsck() == []


def test_an_error_in_the_middle_of_a_file_names_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="No space left") as caught,
        LocalFileIO().create_stream(str(tmp_path / "f")),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert isinstance(caught.value.__cause__, OSError)
    assert not (tmp_path / "f").exists()


Alter = Callable[[Table], object]
CHANGES: dict[str, tuple[Alter, list[dict[str, object]]]] = {
    "a column more": (
        lambda t: t.add_column("x", "INT"),
        [{"k": 1, "v": "old", "x": None}, {"k": 2, "v": "meanwhile", "x": None}],
    ),
    "a column less": (lambda t: t.drop_column("v"), [{"k": 1}, {"k": 2}]),
    "a column of another name": (
        lambda t: t.rename_column("v", "w"),
        [{"k": 1, "w": "old"}, {"k": 2, "w": "meanwhile"}],
    ),
    "a column of another type": (
        lambda t: t.alter_column_type("k", "DOUBLE"),
        [{"k": 1.0, "v": "old"}, {"k": 2.0, "v": "meanwhile"}],
    ),
    "another column of that name": (
        lambda t: (t.drop_column("v"), t.add_column("v", "STRING")),
        [{"k": 1, "v": None}, {"k": 2, "v": None}],
    ),
    "another option": (
        lambda t: t.set_options({"file.format": "orc"}),
        [{"k": 1, "v": "old"}, {"k": 2, "v": "meanwhile"}],
    ),
}


def planned(table: Table, rows: list[dict[str, object]]) -> tuple[Committer, list[CommitMessage]]:
    """Files of rows under the schema of now, and who will commit them."""
    schema = table._store.schemas.latest()
    assert schema is not None
    return Committer(table._store, schema), write_append(table._store, schema, rows)


@pytest.mark.parametrize("what", CHANGES)
def test_rows_that_were_written_under_an_older_schema_are_there(tmp_path: Path, what: str) -> None:
    alter, expected = CHANGES[what]
    table = new_table(tmp_path)
    table.append([{"k": 1, "v": "old"}])
    committer, messages = planned(table, [{"k": 2, "v": "meanwhile"}])
    alter(table)
    (made,) = committer.commit(messages)
    latest = table._store.schemas.latest()
    assert latest is not None
    assert made.schema_id == latest.id
    assert sorted(table.to_arrow().to_pylist(), key=lambda row: row["k"]) == expected
    assert open_table(table.path).at(snapshot=2).to_arrow().num_rows == 2
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_commit_with_another_number_of_buckets_meanwhile_is_told(tmp_path: Path) -> None:
    options = {"bucket": "2", "bucket-key": "k"}
    table = new_table(tmp_path, options)
    table.append([{"k": 1, "v": "a"}])
    table.set_options({"bucket": "3"})
    with pytest.raises(InvalidInputError, match="has 2 buckets"):
        table.append([{"k": 2, "v": "b"}])
    assert table.to_arrow().num_rows == 1
    assert unaccounted(table) == []
    table.overwrite(table.to_arrow())
    table.append([{"k": 2, "v": "b"}])
    assert table.to_arrow().num_rows == 2
    assert table.maintenance.fsck(read_rows=True) == []


def test_texts_that_are_too_long_are_refused_by_column_and_row(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.add_column("name", "VARCHAR(3)")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInputError, match=r"Column 'name' \(VARCHAR\(3\)\), row 1"):
        table.append([{"k": 1, "name": "abc"}, {"k": 2, "name": "abcd"}])
    assert sorted(tmp_path.rglob("*")) == before
    table.append([{"k": 1, "name": "äöü"}])
    assert table.to_arrow().column("name").to_pylist() == ["äöü"]
