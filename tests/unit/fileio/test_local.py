"""What only the local disk can do wrong."""

import errno
import os
import resource
from pathlib import Path

import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio.local import LocalFileIO


def test_create_works_where_links_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(_source: str, _target: str) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    io = LocalFileIO()
    assert io.create(f"{tmp_path}/f", b"1")
    assert not io.create(f"{tmp_path}/f", b"2")
    assert io.read(f"{tmp_path}/f") == b"1"
    assert [f.name for f in io.list(f"{tmp_path}")] == ["f"]


def test_other_failures_name_the_operation_and_the_path(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        LocalFileIO().read(f"{tmp_path}")
    assert (caught.value.operation, caught.value.path) == ("read", f"{tmp_path}")
    assert "cannot read" in str(caught.value)


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
    path = str(tmp_path / "large")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(StorageError, match="large"), LocalFileIO().create_stream(path) as out:
            out.write(bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
