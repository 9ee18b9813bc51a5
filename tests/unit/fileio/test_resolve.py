"""Locations as people write them."""

from pathlib import Path

import pytest

from paimon_explore import open_table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.hdfs import HdfsFileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.fileio.object_store import ObjectStoreFileIO
from paimon_explore.fileio.resolve import resolve
from support.small_tables import new_catalog


def test_plain_paths_are_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert resolve("a/b") == (LocalFileIO(), f"{tmp_path.as_posix()}/a/b")
    assert resolve(tmp_path / "x") == (LocalFileIO(), f"{tmp_path.as_posix()}/x")
    assert resolve("file:///data/w/") == (LocalFileIO(), "/data/w")
    assert resolve("file:/data/w") == (LocalFileIO(), "/data/w")
    assert resolve("FILE://localhost/data/w") == (LocalFileIO(), "/data/w")
    assert resolve("~/w") == (LocalFileIO(), (Path.home() / "w").as_posix())


def test_memory_locations_name_their_file_set() -> None:
    assert resolve("memory://tests/w/") == (MemoryFileIO("tests"), "memory://tests/w")


def test_unknown_schemes_and_empty_locations_are_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="Storage scheme 'ftp'"):
        resolve("ftp://host/x")
    with pytest.raises(InvalidInputError, match="empty"):
        resolve(" ")
    with pytest.raises(InvalidInputError, match=r"names the host 'wr'.*absolute path"):
        resolve("file://wr/t")


@pytest.mark.parametrize("prefix", ["file:", "file://", "FILE://", "file://localhost"])
def test_a_table_is_reached_by_each_spelling_of_a_local_url(tmp_path: Path, prefix: str) -> None:
    table = new_catalog(f"{prefix}{tmp_path}/w").create_table("db.t", {"a": "BIGINT"})
    table.append([{"a": 1}])
    assert (tmp_path / "w" / "db.db" / "t" / "snapshot" / "snapshot-1").exists()
    assert open_table(f"{prefix}{table.path}").count() == 1


@pytest.mark.parametrize(
    ("location", "config"),
    [
        ("abfss://box@acc.dfs.core.windows.net/w/t", ("acc", "box")),
        ("abfs://box@acc.dfs.core.windows.net/w/t", ("acc", "box")),
        ("ABFSS://box@acc.dfs.core.windows.net/w/t", ("acc", "box")),
        ("az://box/w/t", ("other", "box")),
    ],
)
def test_urls_of_azure_name_account_and_container(location: str, config: tuple[str, str]) -> None:
    own = {"account_name": "other"} if location.startswith("az:") else {}
    file_io, root = resolve(location, {"account_key": "a2V5", **own})
    assert isinstance(file_io, ObjectStoreFileIO)
    assert root == location
    bucket, key = file_io._locate(location)
    assert key == "w/t"
    found: dict[str, object] = dict(bucket.store.config)
    assert (found["account_name"], found["container_name"]) == config


@pytest.mark.parametrize("location", ["hdfs://nodes:8020/w/t", "hdfs:///w/t", "viewfs://c/w/t"])
def test_urls_of_hadoop_are_of_hdfs(location: str) -> None:
    file_io, root = resolve(location, {"user": "me", "dfs.replication": 2})
    assert file_io == HdfsFileIO((("dfs.replication", "2"), ("user", "me")))
    assert root == location


@pytest.mark.parametrize(
    "path", ["/", "/a", "/a/../b", "/a/./b//c/", "/./a", "a/b", "./x/", ".", "../x", "~/x", "/a~/~"]
)
def test_local_paths_are_absolute_as_those_of_pathlib(path: str) -> None:
    assert resolve(path) == (LocalFileIO(), Path(path).expanduser().absolute().as_posix())
