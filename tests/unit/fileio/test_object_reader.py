"""Objects opened for random access, and their parts that are requested ahead."""

import threading

import pyarrow as pa
import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio.object_reader import (
    MAX_AHEAD_BYTES,
    ObjectFile,
    ObjectReader,
    open_object,
)

MIB = 1 << 20
SIZE = 40 * MIB


class Store:
    """An object whose bytes tell their place, with the requests for it."""

    def __init__(self, size: int = SIZE) -> None:
        self.content = bytes(range(251)) * (size // 251 + 1)
        self.size = size
        self.asked: list[tuple[int, int]] = []

    def read_range(self, offset: int, length: int) -> bytes:
        self.asked.append((offset, length))
        return self.content[offset : min(offset + length, self.size)]

    def open(self) -> ObjectFile:
        found = open_object(self.read_range, self.size, [(self.size - 100, self._tail())])
        assert isinstance(found, ObjectFile)
        return found

    def _tail(self) -> bytes:
        return self.content[self.size - 100 : self.size]

    def requests(self) -> list[tuple[int, int]]:
        found = sorted(self.asked)
        self.asked.clear()
        return found


def part(file: ObjectFile, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def test_an_object_in_memory_needs_no_requests() -> None:
    store = Store(1000)
    found = open_object(store.read_range, 1000, [(0, store.content[:1000])])
    assert isinstance(found, pa.BufferReader)
    assert found.read() == store.content[:1000]


def test_parts_in_memory_are_not_requested() -> None:
    store = Store()
    with store.open() as file:
        assert file.size() == SIZE
        assert part(file, SIZE - 50, 40) == store.content[SIZE - 50 : SIZE - 10]
        assert store.requests() == []
        assert part(file, SIZE - 120, 40) == store.content[SIZE - 120 : SIZE - 80]
        assert store.requests() == [(SIZE - 120, 40)]


def test_near_parts_take_one_request_and_large_ones_several() -> None:
    store = Store()
    ranges = [(MIB, 100), (5 * MIB, 10 * MIB), (MIB + 1000, 100), (30 * MIB, 20 * MIB)]
    with store.open() as file:
        file.read_ahead(ranges, needed=True)
        for offset, length in ranges:
            end = min(offset + length, SIZE)
            assert part(file, offset, length) == store.content[offset:end]
        file.forget(ranges)
        assert store.requests() == [
            (MIB, 1100),
            (5 * MIB, 8 * MIB),
            (13 * MIB, 2 * MIB),
            (30 * MIB, 8 * MIB),
            (38 * MIB, 2 * MIB),
        ]
        assert part(file, MIB, 4) == store.content[MIB : MIB + 4]
        assert store.requests() == [(MIB, 4)], "forgotten parts are requested again"


@pytest.mark.parametrize(
    ("offset", "length"),
    [(MIB - 10, 20), (2 * MIB - 10, 20), (MIB - 10, 2 * MIB), (0, 10), (3 * MIB, 0)],
)
def test_reads_beside_the_requested_parts_are_right(offset: int, length: int) -> None:
    store = Store()
    with store.open() as file:
        file.read_ahead([(MIB, MIB)], needed=True)
        assert part(file, offset, length) == store.content[offset : offset + length]


def test_parts_that_are_not_needed_yet_wait_for_memory() -> None:
    first, second = Store(), Store()
    much = [(0, MAX_AHEAD_BYTES)]
    with second.open() as other:
        with ObjectFile(ObjectReader(lambda _, n: b"x" * n, MAX_AHEAD_BYTES), "r") as file:
            file.read_ahead(much, needed=True)
            other.read_ahead([(0, MIB)], needed=False)
            assert part(other, 0, 4) == second.content[:4]
            assert second.requests() == [(0, 4)]
            other.read_ahead([(0, MIB)], needed=True)
            assert part(other, 0, 4) == second.content[:4]
            other.forget([(0, MIB)])
            assert second.requests() == [(0, MIB)]
        other.read_ahead([(0, MIB)], needed=False)
        assert part(other, 0, 4) == second.content[:4]
    assert second.requests() == [(0, MIB)], "a closed file gives its memory back"
    assert first.requests() == []


def test_a_read_gets_the_error_of_its_request() -> None:
    def fail(_offset: int, _length: int) -> bytes:
        raise StorageError("read", "s3://b/k", "gone")

    with ObjectFile(ObjectReader(fail, SIZE), "r") as file:
        file.read_ahead([(0, 10)], needed=True)
        with pytest.raises(StorageError, match="gone"):
            part(file, 0, 5)


def test_requests_run_while_others_wait() -> None:
    gate = threading.Barrier(2)

    def read_range(_offset: int, length: int) -> bytes:
        gate.wait(20)
        return b"x" * length

    with ObjectFile(ObjectReader(read_range, SIZE), "r") as file:
        file.read_ahead([(0, 10), (20 * MIB, 10)], needed=True)
        assert part(file, 0, 5) == b"xxxxx"
