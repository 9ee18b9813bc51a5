"""Uploads of new files in the background."""

import threading
from collections.abc import Callable

import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.uploads import Uploads, uploading


def failing() -> None:
    raise StorageError("create", "s3://b/k", "gone")


def noting(done: list[int], number: int) -> Callable[[], None]:
    return lambda: done.append(number)


def test_a_local_storage_writes_at_once() -> None:
    file_io = LocalFileIO()
    assert uploading(file_io)[0] is file_io


def test_finish_waits_for_all_uploads() -> None:
    uploads, done = Uploads(), list[int]()
    for number in range(100):
        uploads.add(noting(done, number), 1)
    uploads.finish()
    assert sorted(done) == [*range(100)]


def test_finish_tells_the_first_error_after_all_uploads_have_ended() -> None:
    uploads, done = Uploads(), list[int]()
    gate = threading.Event()

    def slow() -> None:
        gate.wait(20)
        done.append(1)

    uploads.add(failing, 1)
    uploads.add(slow, 1)
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(StorageError, match="gone"):
        uploads.finish()
    assert done == [1]
    uploads.finish()


def test_settle_ignores_errors_because_the_files_are_deleted() -> None:
    uploads = Uploads()
    uploads.add(failing, 1)
    uploads.settle()
    uploads.finish()


@pytest.mark.parametrize(("size", "most"), [(1, 32), (100 << 20, 5), (1 << 40, 1)])
def test_few_files_wait_for_their_upload(size: int, most: int) -> None:
    uploads = Uploads()
    lock, gate = threading.Lock(), threading.Event()
    started: list[int] = []

    def upload() -> None:
        with lock:
            started.append(1)
        gate.wait(20)

    def add_all() -> None:
        for _ in range(40):
            uploads.add(upload, size)

    adding = threading.Thread(target=add_all)
    adding.start()
    adding.join(0.2)
    assert adding.is_alive(), "the rest waits"
    assert len(started) <= most
    gate.set()
    adding.join(20)
    uploads.finish()
    assert len(started) == 40
