"""Staged storages: what stays in memory, what is written, what is hidden, what is deleted."""

from uuid import uuid4

import pytest

from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.fileio.overlay import StagedFileIO


@pytest.fixture(name="below")
def make_below() -> MemoryFileIO:
    files = MemoryFileIO(str(uuid4()))
    for name in ("meta/1", "meta/2", "data/a"):
        files.create(f"/t/{name}", name.encode())
    return files


@pytest.fixture(name="staged")
def make_staged(below: MemoryFileIO) -> StagedFileIO:
    return StagedFileIO(
        below=below, folders=frozenset({"/t/meta"}), hidden=lambda path: path == "/t/meta/2"
    )


def names(files: StagedFileIO | MemoryFileIO, folder: str) -> list[str]:
    return [status.name for status in files.list(folder)]


def test_staged_folders_stay_in_memory(staged: StagedFileIO, below: MemoryFileIO) -> None:
    assert staged.create("/t/meta/3", b"three")
    assert not staged.create("/t/meta/1", b"one"), "it exists below"
    staged.replace("/t/meta/1", b"new")
    assert (staged.read("/t/meta/1"), below.read("/t/meta/1")) == (b"new", b"meta/1")
    assert staged.read_range("/t/meta/3", 1, 2) == b"hr"
    assert staged.status("/t/meta/3").size == 5
    assert staged.open("/t/meta/3").read() == b"three"
    assert names(staged, "/t/meta/") == ["1", "3"]
    assert names(below, "/t/meta") == ["1", "2"]
    staged.delete("/t/meta/3")
    assert not staged.exists("/t/meta/3")
    assert staged.created == {}


def test_hidden_files_do_not_exist(staged: StagedFileIO) -> None:
    assert not staged.exists("/t/meta/2")
    with pytest.raises(MissingFileError):
        staged.read("/t/meta/2")
    assert staged.create("/t/meta/2", b"mine")
    assert staged.read("/t/meta/2") == b"mine"


def test_other_files_are_written_and_only_own_ones_are_deleted(
    staged: StagedFileIO, below: MemoryFileIO
) -> None:
    staged.create("/t/data/b", b"b")
    staged.replace("/t/data/c", b"c")
    with staged.create_stream("/t/data/d") as stream:
        stream.write(b"d")
    staged.make_folder("/t/empty")
    assert names(below, "/t/data") == names(staged, "/t/data") == ["a", "b", "c", "d"]
    assert below.exists("/t/empty")
    staged.delete("/t/data/a")
    assert below.exists("/t/data/a"), "not made by the transaction"
    staged.delete("/t/data/b")
    staged.discard(frozenset({"c"}))
    assert names(below, "/t/data") == ["a", "c"]
    assert list(staged.created) == ["/t/data/c"]


def test_folders_are_deleted_and_moved_in_memory(staged: StagedFileIO, below: MemoryFileIO) -> None:
    staged.create("/t/meta/3", b"three")
    staged.rename_folder("/t/meta", "/t/meta2")
    assert below.exists("/t/meta/1")
    staged.create("/t/data/b", b"b")
    staged.delete_folder("/t/data")
    assert names(below, "/t/data") == ["a"]


def test_a_file_that_could_not_be_written_is_deleted(
    staged: StagedFileIO, below: MemoryFileIO
) -> None:
    below.make_folder("/t/data/b")
    with pytest.raises(StorageError):
        staged.replace("/t/data/b", b"x")
    staged.discard()
    assert staged.created == {}
