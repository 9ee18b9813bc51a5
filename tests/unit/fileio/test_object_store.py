"""Settings of object stores; what they do with files is in the contract of `test_file_io`."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from paimon_explore.errors import InvalidInputError, StorageError, UnsupportedFeatureError
from paimon_explore.fileio.object_store import ObjectStoreFileIO
from paimon_explore.fileio.resolve import resolve
from support.s3 import s3_place

NOBODY = {"endpoint": "http://127.0.0.1:9", "key": "k", "secret": "s"}


@pytest.mark.parametrize(
    "location", ["s3://b/w", "s3a://b/w/", "gs://b/w", "az://b/w", "abfss://c@a.dfs.x/w"]
)
def test_urls_of_object_stores_keep_their_spelling(location: str) -> None:
    file_io, root = resolve(location, {"timeout": 2, "connect_timeout": "1s"})
    assert file_io == ObjectStoreFileIO((("connect_timeout", "1s"), ("timeout", "2")))
    assert root == location.rstrip("/")


@pytest.mark.parametrize("path", ["/local", "s3:///key", "ftp://b/k", "memory://x/y"])
def test_other_paths_are_not_locations_in_an_object_store(path: str) -> None:
    with pytest.raises(InvalidInputError, match="not a location in an object store"):
        ObjectStoreFileIO().read(path)


@pytest.mark.parametrize(
    "options",
    [
        {"s3.endpoint": "http://127.0.0.1:9", "s3.access-key": "k", "s3.secret-key": "s"},
        {
            "fs.s3a.endpoint": "http://127.0.0.1:9",
            "fs.s3a.access.key": "k",
            "fs.s3a.secret.key": "s",
        },
        {"endpoint_url": "http://127.0.0.1:9", "key": "k", "secret": "s", "token": "t"},
        {"aws_endpoint": "http://127.0.0.1:9", "s3.path.style.access": "true", "s3.region": "x"},
        {"endpoint": "127.0.0.1:9", "s3.path-style-access": "false"},
    ],
)
def test_settings_have_the_names_of_paimon_hadoop_or_fsspec(options: dict[str, str]) -> None:
    file_io = ObjectStoreFileIO(tuple(options.items()))
    assert file_io._locate("s3://bucket/a/b")[1] == "a/b"


def test_unknown_settings_are_refused() -> None:
    for location in ("s3://b/k", "gs://b/k", "az://c/k"):
        with pytest.raises(
            InvalidInputError, match="'no_such_setting' is not a storage option for"
        ):
            ObjectStoreFileIO((("no_such_setting", "1"),)).read(location)


def test_a_store_that_does_not_answer_is_a_storage_error() -> None:
    file_io = ObjectStoreFileIO((*NOBODY.items(), ("timeout", "1 second"), ("max_retries", "1")))
    with pytest.raises((StorageError, InvalidInputError)):
        file_io.read("s3://bucket/key")


def test_reading_nothing_asks_nobody() -> None:
    assert ObjectStoreFileIO(tuple(NOBODY.items())).read_range("s3://bucket/key", 5, 0) == b""


class Careless(BaseHTTPRequestHandler):
    """A store that knows no conditions."""

    asked: list[str]

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.answer()

    def do_POST(self) -> None:
        self.do_PUT()

    def do_DELETE(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        self.send_response(200)
        self.send_header("ETag", '"e"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def careless() -> Iterator[str]:
    Careless.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Careless)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_store_that_overwrites_although_told_not_to_takes_no_commits(careless: str) -> None:
    file_io = ObjectStoreFileIO((("endpoint", careless), ("key", "k"), ("secret", "s")))
    for _ in range(2):
        with pytest.raises(UnsupportedFeatureError, match="Concurrent commits would be lost"):
            file_io.create("oss://bucket/t/snapshot/snapshot-1", b"x")
    assert not any("snapshot-1" in asked for asked in Careless.asked)
    assert sum("/.probe-" in asked for asked in Careless.asked) == 3, "it is asked once"
    file_io.replace("oss://bucket/t/hint", b"1")


def test_under_a_lock_a_store_without_conditions_creates_only_what_is_missing() -> None:
    with s3_place("locked", ignores_conditions=True) as place:
        file_io = ObjectStoreFileIO(tuple(place.options.items()), locked=True)
        path = f"{place.location}/t/snapshot/snapshot-1"
        assert file_io.create(path, b"one")
        assert not file_io.create(path, b"two")
        assert file_io.read(path) == b"one"
        unlocked = ObjectStoreFileIO(tuple(place.options.items()))
        with pytest.raises(UnsupportedFeatureError, match="or a catalog with locks"):
            unlocked.create(f"{path}0", b"x")


def test_under_a_lock_other_stores_still_decide_by_conditions() -> None:
    with s3_place("conditional") as place:
        file_io = ObjectStoreFileIO(tuple(place.options.items()), locked=True)
        path = f"{place.location}/t/snapshot/snapshot-1"
        assert file_io.create(path, b"one")
        place.requests.clear()
        assert not file_io.create(path, b"two")
        assert place.requests.counts() == {"PUT": 1}
