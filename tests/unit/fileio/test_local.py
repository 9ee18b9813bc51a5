"""What only the local disk can do wrong."""

import errno
import os
from pathlib import Path

import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio.local import LocalFileIO
from support.new_process import printed

AS_ON_WINDOWS = """
import os, sys
os.O_BINARY, given, flags = 1 << 30, os.open, []
def opened(path, wanted, *mode):
    flags.append(wanted)
    return given(path, wanted & ~os.O_BINARY, *mode)
os.open = opened
for name in ("pread", "pwrite", "preadv"):
    delattr(os, name)

import pyarrow as pa
from paimon_explore.fileio.local import LocalFileIO

io, path = LocalFileIO(), sys.argv[1] + "/new/file"
assert io.create(path, b"1\\n2\\n") and not io.create(path, b"other")
for text in (b"10", b"11", b"20", b"3"):
    io.replace(path + ".hint", text)
    assert io.read(path + ".hint") == text
assert io.read_range(path, 1, 2) == b"\\n2"
with io.open(path) as file:
    assert file.read_into([pa.allocate_buffer(2)], 1) == 0 and file.read_at(2, 1) == b"\\n2"
assert all(each & os.O_BINARY for each in flags)
print(len(flags))
"""
"""A program in which `os` has what it has on Windows."""


def test_create_works_where_links_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(_source: str, _target: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    io = LocalFileIO()
    assert io.create(f"{tmp_path}/f", b"1")
    assert not io.create(f"{tmp_path}/f", b"2")
    assert io.read(f"{tmp_path}/f") == b"1"
    assert [f.name for f in io.list(f"{tmp_path}")] == ["f"]


def test_files_are_binary_and_need_no_calls_that_windows_lacks(tmp_path: Path) -> None:
    assert int(printed(AS_ON_WINDOWS, str(tmp_path))) > 10


def test_a_folder_is_deleted_with_the_files_that_others_create_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "t"
    (folder / "manifest").mkdir(parents=True)
    remove, added = os.rmdir, ["a", "b", "c"]

    def rmdir(path: str, **given: int) -> None:
        if added:
            (folder / "manifest").mkdir(exist_ok=True)
            (folder / "manifest" / added.pop()).touch()
        remove(path, **given)

    monkeypatch.setattr(os, "rmdir", rmdir)
    LocalFileIO().delete_folder(str(folder))
    assert added == []
    assert not folder.exists()


def test_other_failures_name_the_operation_and_the_path(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        LocalFileIO().read(f"{tmp_path}")
    assert (caught.value.operation, caught.value.path) == ("read", f"{tmp_path}")
    assert "Cannot read" in str(caught.value)


@pytest.mark.parametrize("path", ["/dev/zero", "s3://bucket/key", "hdfs:/x", "/x/a\0b", "file:x\0"])
def test_what_is_no_file_of_this_machine_is_not_read(path: str) -> None:
    with pytest.raises(StorageError):
        LocalFileIO().read(path)
    with pytest.raises(StorageError):
        LocalFileIO().open(path)
    with pytest.raises(StorageError):
        LocalFileIO().read_range(path, 0, 4)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="not a regular file"):
        LocalFileIO().read(f"{tmp_path}/pipe")


def test_a_stream_whose_last_bytes_do_not_fit_leaves_no_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = str(tmp_path / "large")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(StorageError, match="large"), LocalFileIO().create_stream(path) as out:
            out.write(bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_a_hint_that_counts_up_stays_the_same_file(tmp_path: Path) -> None:
    file, io = tmp_path / "LATEST", LocalFileIO()
    io.replace(str(file), b"108")
    before = file.stat().st_ino
    io.replace(str(file), b"109")
    assert (file.read_bytes(), file.stat().st_ino) == (b"109", before)
    for other in (b"110", b"99", b"1100", b"", b"x" * 100, b"x" * 99 + b"y"):
        io.replace(str(file), other)
        assert file.read_bytes() == other
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_with_two_names_is_replaced_under_one(tmp_path: Path) -> None:
    file, copy = tmp_path / "LATEST", tmp_path / "copy"
    file.write_bytes(b"108")
    copy.hardlink_to(file)
    LocalFileIO().replace(str(file), b"109")
    assert (file.read_bytes(), copy.read_bytes()) == (b"109", b"108")


def test_a_link_is_replaced_and_not_what_it_leads_to(tmp_path: Path) -> None:
    file, goal = tmp_path / "LATEST", tmp_path / "goal"
    goal.write_bytes(b"108")
    file.symlink_to(goal)
    LocalFileIO().replace(str(file), b"109")
    assert (file.read_bytes(), goal.read_bytes()) == (b"109", b"108")


def test_a_file_that_may_not_be_changed_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "LATEST"
    file.write_bytes(b"108")
    file.chmod(0o444)
    LocalFileIO().replace(str(file), b"109")
    assert file.read_bytes() == b"109"


@pytest.mark.parametrize(("durable", "synced"), [(True, 1), (False, 0)])
def test_a_new_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, durable: bool, synced: int
) -> None:
    found: list[list[Path]] = []
    monkeypatch.setattr(os, "fsync", lambda _file: found.append([*tmp_path.glob("a")]))
    assert LocalFileIO(durable=durable).create(str(tmp_path / "a"), b"x")
    assert found == [[]] * synced
    assert (tmp_path / "a").read_bytes() == b"x"
