"""One contract for every `FileIO`."""

import pickle
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.hdfs import HdfsClient, HdfsFileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.fileio.resolve import resolve


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    server_module = pytest.importorskip("moto.server")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def one_disk(_: str, __: tuple[tuple[str, str], ...]) -> HdfsClient:
    """A cluster that is this machine's disk; its rename, like that of HDFS, overwrites nothing."""

    def rename(source: str, target: str) -> bool:
        try:
            Path(target).hardlink_to(source)
        except FileExistsError:
            return False
        Path(source).unlink()
        return True

    return HdfsClient(files=fs.LocalFileSystem(), rename=rename)


@pytest.fixture(params=["local", "local_file_scheme", "memory", "s3", "hdfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[FileIO, str]:
    if request.param == "memory":
        return MemoryFileIO(request.node.name), "memory://m/root"
    if request.param == "s3":
        return _new_bucket(request.getfixturevalue("s3_endpoint"), tmp_path.name)
    if request.param == "hdfs":
        return HdfsFileIO(connect=one_disk), f"hdfs://nodes:8020{tmp_path}"
    prefix = "file:" if request.param == "local_file_scheme" else ""
    return LocalFileIO(), f"{prefix}{tmp_path}"


def test_a_created_file_reads_back_whole_and_in_ranges(place: tuple[FileIO, str]) -> None:
    io, root = place
    assert io.create(f"{root}/a/b/file", b"0123456789")
    assert io.read(f"{root}/a/b/file") == b"0123456789"
    assert io.read_range(f"{root}/a/b/file", 2, 3) == b"234"
    assert io.read_range(f"{root}/a/b/file", 8, 10) == b"89"
    with io.open(f"{root}/a/b/file") as opened:
        opened.seek(4)
        assert opened.read(2) == b"45"


def test_create_never_replaces_a_file_and_leaves_nothing_else(place: tuple[FileIO, str]) -> None:
    io, root = place
    assert io.create(f"{root}/f", b"first")
    assert not io.create(f"{root}/f", b"second")
    assert io.read(f"{root}/f") == b"first"
    assert [found.name for found in io.list(root)] == ["f"]


def test_replace_writes_over_a_file_and_makes_folders(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.replace(f"{root}/x/hint", b"1")
    io.replace(f"{root}/x/hint", b"22")
    assert io.read(f"{root}/x/hint") == b"22"
    assert len(io.list(f"{root}/x")) == 1


def test_absent_files_raise_missing_file_error(place: tuple[FileIO, str]) -> None:
    io, root = place
    for act in (io.read, io.open, io.status, lambda path: io.read_range(path, 0, 1)):
        with pytest.raises(MissingFileError) as caught:
            act(f"{root}/none")
        assert caught.value.path == f"{root}/none"
    assert not io.exists(f"{root}/none")
    io.delete(f"{root}/none")
    io.delete_folder(f"{root}/none")


def test_listing_shows_files_and_folders_sorted_with_whole_paths(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.create(f"{root}/t/b", b"xy")
    io.create(f"{root}/t/a/deep/c", b"")
    io.create(f"{root}/t/.hidden", b"h")
    found = io.list(f"{root}/t")
    assert [(f.path, f.name, f.size, f.is_folder) for f in found] == [
        (f"{root}/t/.hidden", ".hidden", 1, False),
        (f"{root}/t/a", "a", 0, True),
        (f"{root}/t/b", "b", 2, False),
    ]
    assert found[2].modified_ms > 1_600_000_000_000
    assert io.list(f"{root}/absent") == []
    assert sorted(f.path for f in io.walk(f"{root}/t")) == [
        f"{root}/t/.hidden",
        f"{root}/t/a/deep/c",
        f"{root}/t/b",
    ]
    assert list(io.walk(f"{root}/absent")) == []


def test_status_tells_files_from_folders(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.create(f"{root}/t/b", b"xy")
    assert (io.status(f"{root}/t/b").size, io.status(f"{root}/t/b").is_folder) == (2, False)
    assert io.status(f"{root}/t").is_folder
    assert io.exists(f"{root}/t")


def test_a_new_folder_is_there_and_can_be_listed(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.make_folder(f"{root}/d.db/t")
    io.make_folder(f"{root}/d.db/t")
    assert io.status(f"{root}/d.db/t").is_folder
    assert [f.name for f in io.list(f"{root}/d.db")] == ["t"]
    io.delete_folder(f"{root}/d.db")
    assert not io.exists(f"{root}/d.db/t")


def test_a_stream_makes_the_file_or_nothing(place: tuple[FileIO, str]) -> None:
    io, root = place
    with io.create_stream(f"{root}/d/data-1") as stream:
        stream.write(b"ab")
        stream.write(b"cd")
    assert io.read(f"{root}/d/data-1") == b"abcd"
    with pytest.raises(KeyError):
        _break_off(io, f"{root}/d/data-2")
    assert [f.name for f in io.list(f"{root}/d")] == ["data-1"]


def test_folders_move_and_go(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.create(f"{root}/old/sub/f", b"1")
    io.rename_folder(f"{root}/old", f"{root}/x/new")
    assert io.read(f"{root}/x/new/sub/f") == b"1"
    assert not io.exists(f"{root}/old/sub/f")
    io.delete_folder(f"{root}/x")
    assert not io.exists(f"{root}/x/new/sub/f")
    with pytest.raises(StorageError):
        io.rename_folder(f"{root}/none", f"{root}/any")


def test_names_with_escapes_and_other_scripts_stay_as_they_are(place: tuple[FileIO, str]) -> None:
    io, root = place
    path = f"{root}/dt=a b%2Fc%3Dd%25/k=漢字/bucket-0/data-1"
    assert io.create(path, b"1")
    assert io.read(path) == b"1"
    assert [f.path for f in io.walk(root)] == [path]
    assert [f.name for f in io.list(root)] == ["dt=a b%2Fc%3Dd%25"]


def test_deleted_files_are_gone(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.create(f"{root}/f", b"1")
    io.delete(f"{root}/f")
    assert not io.exists(f"{root}/f")
    assert io.create(f"{root}/f", b"2")


def test_a_file_io_travels_to_other_processes(place: tuple[FileIO, str]) -> None:
    io, root = place
    io.create(f"{root}/f", b"1")
    again = pickle.loads(pickle.dumps(io))  # noqa: S301 - our own bytes
    assert again == io
    assert again.read(f"{root}/f") == b"1"


def test_every_implementation_fulfils_the_protocol(place: tuple[FileIO, str]) -> None:
    assert isinstance(place[0], FileIO)


def _break_off(io: FileIO, path: str) -> None:
    with io.create_stream(path) as stream:
        stream.write(b"ab")
        raise KeyError


def _new_bucket(endpoint: str, name: str) -> tuple[FileIO, str]:
    bucket = "b-" + "".join(c if c.isalnum() else "-" for c in name.lower())[-40:]
    request = urllib.request.Request(f"{endpoint}/{bucket}", method="PUT")  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=20):  # noqa: S310 - loopback
        pass
    options = {"s3.endpoint": endpoint, "s3.access-key": "k", "s3.secret-key": "s"}
    return resolve(f"s3://{bucket}/root", options)
