"""Random access to an object of a store: one request per read, except for parts in memory.

A reader that knows which parts it will need requests them ahead (`ReadsAhead`): parts that are near
each other in one request, large ones in several at the same time. Reads of these parts then wait
for the requests instead of sending others.
"""

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from paimon_explore.errors import PaimonError
from paimon_explore.fileio.concurrent_requests import start
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.threads import free_in_forks

if TYPE_CHECKING:
    from concurrent.futures import Future

ReadRange = Callable[[int, int], bytes]
"""Reads the bytes [offset, offset + length) of an object."""
Part = tuple[int, bytes]
"""An offset in an object and the bytes from there."""
Range = tuple[int, int]
"""Offset and length."""

MAX_AHEAD_BYTES = 256 << 20
"""Memory for parts of all objects that are requested before they are needed."""
_GAP_BYTES = 512 << 10
"""Bytes between two parts that are requested together: they take less time than a request."""
_REQUEST_BYTES = 8 << 20
"""Maximum size of a request of several parts."""


class _Room:
    """The memory for parts requested ahead by all readers of the process."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._lock = free_in_forks(threading.Lock())

    def take(self, size: int, *, needed: bool) -> bool:
        """Reserve memory; fails only if the parts are not needed yet."""
        with self._lock:
            fits = needed or self._used + size <= self._limit
            self._used += size if fits else 0
            return fits

    def give(self, size: int) -> None:
        """Return memory."""
        with self._lock:
            self._used -= size


_ROOM = _Room(MAX_AHEAD_BYTES)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A range that was requested ahead."""

    start: int
    end: int
    data: "Future[bytes]"


class ObjectReader(io.RawIOBase):
    """A file object over an object.

    Args:
        read_range: sends the requests.
        size: of the object.
        parts: parts that are already in memory.
    """

    def __init__(self, read_range: ReadRange, size: int, parts: Sequence[Part] = ()) -> None:
        super().__init__()
        self._read_range = read_range
        self._size = size
        self._position = 0
        self._parts = tuple(parts)
        self._ahead: dict[tuple[Range, ...], list[_Piece]] = {}

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def size(self) -> int:
        """Return the size of the object."""
        return self._size

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, all that are left if it is negative."""
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._bytes(self._position, wanted)
        self._position += len(data)
        return data

    def close(self) -> None:
        """Release the parts that were requested ahead."""
        for ranges in list(self._ahead):
            self.forget(ranges)
        super().close()

    def read_ahead(self, ranges: Sequence[Range], *, needed: bool) -> None:
        """Request parts; see `ReadsAhead`."""
        key = tuple(ranges)
        if key in self._ahead:
            return
        requests = list(_requests(ranges, self._size))
        if not _ROOM.take(sum(length for _, length in requests), needed=needed):
            return
        self._ahead[key] = [
            _Piece(offset, offset + length, start(partial(self._read_range, offset, length)))
            for offset, length in requests
        ]

    def forget(self, ranges: Sequence[Range]) -> None:
        """Release parts; see `ReadsAhead`."""
        for piece in self._ahead.pop(tuple(ranges), ()):
            if not piece.data.cancel():
                with suppress(PaimonError):
                    piece.data.result()
            _ROOM.give(piece.end - piece.start)

    def _bytes(self, offset: int, length: int) -> bytes:
        end = offset + length
        for first, data in self._parts:
            if first <= offset and end <= first + len(data):
                return data[offset - first : end - first]
        found = []
        at = offset
        for piece in sorted(self._pieces(), key=lambda piece: piece.start):
            if piece.start <= at < min(piece.end, end):
                until = min(piece.end, end)
                found.append(piece.data.result()[at - piece.start : until - piece.start])
                at = until
        return b"".join(found) if found and at == end else self._read_range(offset, length)

    def _pieces(self) -> Iterator[_Piece]:
        for pieces in list(self._ahead.values()):
            yield from pieces


def _requests(ranges: Sequence[Range], size: int) -> Iterator[Range]:
    """Combine ranges that are near each other, and divide large ones.

    >>> list(_requests([(5, 10), (20, 5), (9_000_000, 9_000_000)], 99_000_000))
    [(5, 20), (9000000, 8388608), (17388608, 611392)]
    """
    combined: list[list[int]] = []
    for offset, length in sorted(ranges):
        end = min(offset + length, size)
        if offset >= end:
            continue
        if combined and offset - combined[-1][1] <= _GAP_BYTES:
            combined[-1][1] = max(combined[-1][1], end)
        else:
            combined.append([offset, end])
    for first, end in combined:
        for offset in range(first, end, _REQUEST_BYTES):
            yield offset, min(_REQUEST_BYTES, end - offset)


class ObjectFile(pa.PythonFile):
    """An object opened for random access, whose parts can be requested ahead."""

    def __init__(self, reader: ObjectReader, _mode: Literal["r"]) -> None:
        """Open a file object; the mode is an argument of the base class."""
        super().__init__()  # type: ignore[call-arg]  # the arguments were passed to __new__
        self._reader = reader

    def read_ahead(self, ranges: Sequence[Range], *, needed: bool) -> None:
        """Request parts of the object, unless they are already.

        Args:
            ranges: offset and length of each part.
            needed: whether they are needed now; else they are only requested if there is memory.
        """
        self._reader.read_ahead(ranges, needed=needed)

    def forget(self, ranges: Sequence[Range]) -> None:
        """Release the memory of parts that were requested together."""
        self._reader.forget(ranges)


def open_object(read_range: ReadRange, size: int, parts: Sequence[Part] = ()) -> pa.NativeFile:
    """Open an object for random access; one that is in memory needs no Python for its reads."""
    for first, data in parts:
        if first == 0 and len(data) == size:
            return pa.BufferReader(data)
    return ObjectFile(ObjectReader(read_range, size, parts), "r")
