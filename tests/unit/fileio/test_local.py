"""What only the local disk can do wrong."""

import errno
import os
from pathlib import Path

import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio import local
from paimon_explore.fileio.local import LocalFileIO, local_path, without_file_scheme
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


class WindowsError(OSError):
    """An error as Windows raises it; its `errno` is often EINVAL."""

    def __init__(self, code: int) -> None:
        super().__init__(errno.EINVAL, "an error of Windows")
        self.winerror = code


@pytest.mark.parametrize("error", [OSError(errno.EPERM, "no links here"), WindowsError(1)])
def test_create_works_where_links_do_not(
    tmp_path: Path, error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(_source: str, _target: str) -> None:
        raise error

    monkeypatch.setattr(os, "link", no_links)
    io = LocalFileIO()
    assert io.create(f"{tmp_path}/f", b"1")
    assert not io.create(f"{tmp_path}/f", b"2")
    assert io.read(f"{tmp_path}/f") == b"1"
    assert [f.name for f in io.list(f"{tmp_path}")] == ["f"]


def test_files_are_binary_and_need_no_calls_that_windows_lacks(tmp_path: Path) -> None:
    assert int(printed(AS_ON_WINDOWS, str(tmp_path))) > 10


def test_a_file_that_another_program_has_open_on_windows_is_changed_a_little_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def busy(name: str) -> None:
        given = getattr(os, name)

        def call(*arguments: object, **options: object) -> object:
            if name not in refused:
                refused.append(name)
                raise PermissionError(errno.EACCES, "another program has the file open")
            return given(*arguments, **options)

        monkeypatch.setattr(os, name, call)

    monkeypatch.setattr(local, "_WAITS_S", (0, 0))
    io, path = LocalFileIO(), f"{tmp_path}/t/f"
    busy("link")
    assert io.create(path, b"9")
    busy("replace")
    io.replace(path, b"10")
    assert [file.name for file in io.list(f"{tmp_path}/t")] == ["f"]
    busy("rename")
    io.rename_folder(f"{tmp_path}/t", f"{tmp_path}/u")
    busy("unlink")
    io.delete(f"{tmp_path}/u/f")
    busy("rmdir")
    io.delete_folder(f"{tmp_path}/u")
    assert refused == ["link", "replace", "rename", "unlink", "rmdir"]
    assert list(tmp_path.iterdir()) == []


def test_a_replacement_that_fails_leaves_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_source: str, _target: str) -> None:
        raise PermissionError(errno.EACCES, "another program has the file open")

    io = LocalFileIO()
    io.replace(f"{tmp_path}/f", b"9")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(StorageError, match="has the file open"):
        io.replace(f"{tmp_path}/f", b"10")
    assert [(file.name, io.read(file.path)) for file in io.list(f"{tmp_path}")] == [("f", b"9")]


def test_a_name_that_windows_refuses_is_that_of_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: str) -> os.stat_result:
        raise WindowsError(123)

    monkeypatch.setattr(os, "stat", refuse)
    assert not LocalFileIO().exists("C:/data/a*b")


def test_a_file_that_stays_open_on_windows_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: str) -> None:
        raise WindowsError(32)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(StorageError, match="unfinished scan has the file open"):
        LocalFileIO().delete(f"{tmp_path}/f")


def test_paths_with_drives_have_one_form_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("file:///C:/w/t", "file:/C:/w/t", "file://C:\\w\\t", "C:\\w\\t", "C:/w/t")
    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        windows.setattr(os, "sep", "\\")
        found = {without_file_scheme(path) for path in given}
        others = [without_file_scheme(path) for path in ("s3://b/t", "\\\\host\\w\\t")]
        drive = local_path("D:")
    assert found == {"C:/w/t"}
    assert others == ["s3://b/t", "//host/w/t"]
    assert drive == "D:/"


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
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
