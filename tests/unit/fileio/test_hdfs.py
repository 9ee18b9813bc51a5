"""HDFS as far as it can be tried without a cluster: names, errors, and the call that commits."""

import shutil
import subprocess
from pathlib import Path

import pytest
from pyarrow import fs

from paimon_explore.errors import StorageError, UnsupportedFeatureError
from paimon_explore.fileio.hdfs import HdfsClient, HdfsFileIO, NativeHdfs, library_path
from paimon_explore.fileio.resolve import resolve
from support.required import lacking

FAKE = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct told { char text[1000]; const char *host; unsigned short port; };
static void add(struct told *b, const char *what, const char *value) {
  strcat(b->text, what); strcat(b->text, "="); strcat(b->text, value); strcat(b->text, ";");
}
void *hdfsNewBuilder(void) { return calloc(1, sizeof(struct told)); }
void hdfsBuilderSetNameNode(struct told *b, const char *v) { b->host = v; add(b, "host", v); }
void hdfsBuilderSetNameNodePort(struct told *b, unsigned short p) { b->port = p; }
void hdfsBuilderSetUserName(struct told *b, const char *v) { add(b, "user", v); }
void hdfsBuilderSetKerbTicketCachePath(struct told *b, const char *v) { add(b, "ticket", v); }
int hdfsBuilderConfSetStr(struct told *b, const char *k, const char *v) { add(b, k, v); return 0; }
void *hdfsBuilderConnect(struct told *b) {
  if (!strcmp(b->host, "nobody")) { errno = 111; return NULL; }
  FILE *f = fopen(getenv("FAKE_HDFS_LOG"), "w");
  fprintf(f, "%s%d", b->text, b->port); fclose(f);
  return b;
}
int hdfsExists(void *c, const char *path) { return access(path, F_OK) ? -1 : 0; }
int hdfsRename(void *c, const char *from, const char *to) {
  if (!access(to, F_OK)) { errno = EIO; return -1; }
  return rename(from, to);
}
"""
"""Hadoop's client on the local disk: the calls that are made, as hdfs.h declares them."""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        lacking("compiler", "no cc on the path")
    source = tmp_path / "hdfs.c"
    source.write_text(FAKE)
    command = [compiler, "-shared", "-fPIC", "-o", str(tmp_path / "libhdfs.so"), str(source)]
    subprocess.run(command, check=True)  # noqa: S603 - our own program
    monkeypatch.setenv("ARROW_LIBHDFS_DIR", str(tmp_path))
    monkeypatch.setenv("FAKE_HDFS_LOG", str(tmp_path / "log"))
    return tmp_path


def test_the_library_is_found_where_pyarrow_looks(fake: Path) -> None:
    assert library_path() == str(fake / "libhdfs.so")


def test_a_rename_overwrites_nothing_and_tells_why(fake: Path) -> None:
    settings = {"dfs.replication": "2"}
    hdfs = NativeHdfs("nodes", 8020, user="ann", ticket="/t", settings=settings)
    assert (fake / "log").read_text() == "host=nodes;user=ann;ticket=/t;dfs.replication=2;8020"
    (fake / "a").write_text("a")
    (fake / "b").write_text("b")
    assert not hdfs.rename(str(fake / "a"), str(fake / "b"))
    assert (fake / "b").read_text() == "b"
    assert hdfs.rename(str(fake / "a"), str(fake / "c"))
    assert (fake / "c").read_text() == "a"
    with pytest.raises(OSError, match="No such file"):
        hdfs.rename(str(fake / "none"), str(fake / "d"))


@pytest.mark.usefixtures("fake")
def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(OSError, match="the name node nobody did not accept"):
        NativeHdfs("nobody", 0, user=None, ticket=None, settings={})


def test_what_to_install_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARROW_LIBHDFS_DIR", "HADOOP_HOME", "CLASSPATH", "JAVA_HOME"):
        monkeypatch.setenv(name, "/nowhere")
    file_io, path = resolve("hdfs://nodes:8020/warehouse/", {"user": "ann"})
    assert path == "hdfs://nodes:8020/warehouse"
    with pytest.raises(UnsupportedFeatureError, match=r"HADOOP_HOME.*CLASSPATH"):
        file_io.exists(path)


def test_paths_of_other_storages_are_refused() -> None:
    with pytest.raises(StorageError, match="has no files of this URL scheme"):
        HdfsFileIO().read("s3://bucket/key")


def test_a_location_names_its_cluster(tmp_path: Path) -> None:
    asked: list[str] = []

    def connect(authority: str, _: tuple[tuple[str, str], ...]) -> HdfsClient:
        asked.append(authority)
        return HdfsClient(files=fs.LocalFileSystem(), rename=lambda *_: False)

    file_io = HdfsFileIO(connect=connect)
    for text in ("hdfs://a:1", "hdfs://", "hdfs:", "viewfs://mount"):
        assert not file_io.exists(f"{text}{tmp_path}/none")
    assert asked == ["a:1", "", "", "viewfs://mount"]
    assert not file_io.create(f"hdfs://a{tmp_path}/f", b"x")
    assert list(tmp_path.iterdir()) == []
