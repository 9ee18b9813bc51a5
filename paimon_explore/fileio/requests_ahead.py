"""Requests for files that are sent before a reader opens the files one after the other.

A reader that knows which files it will need, such as a merge of many files, lists them in a
`requests_ahead` block. Within it, `open_sized` and `read_part` take the answers to requests that
were sent ahead, and the next requests are sent. So the code that reads one file need not know the
others. A storage that is not remote is asked when a file is needed.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from paimon_explore.errors import PaimonError
from paimon_explore.fileio.concurrent_requests import READ_AHEAD_BYTES, max_requests, start
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.versioned_reads import open_of_size, read_immutable_part

if TYPE_CHECKING:
    from concurrent.futures import Future

FilePart: TypeAlias = tuple[str, int | None, int]
"""A path, an offset and a number of bytes of a file whose name is used only once; or a file to
open: its path, None and its size."""
_OPENED_BYTES = 1 << 20
"""Of a larger file, only the end is read when it is opened."""


class _RequestsAhead:
    """The requests of one reader, whose answers may be taken by several threads."""

    def __init__(self, file_io: FileIO, parts: Iterable[FilePart]) -> None:
        self.file_io = file_io
        self._rest = iter(parts)
        self._sent: dict[FilePart, Future[pa.NativeFile | bytes]] = {}
        self._lock = threading.Lock()
        self._send()

    def take(self, part: FilePart) -> "Future[pa.NativeFile | bytes] | None":
        """Return the answer to a request, once; None if it was not sent."""
        with self._lock:
            found = self._sent.pop(part, None)
            if found is not None:
                self._send()
            return found

    def _send(self) -> None:
        """Send the next requests, as many as the storage and the memory allow."""
        limit = max_requests(self.file_io)
        used = sum(min(size, _OPENED_BYTES) for _, _, size in self._sent)
        while len(self._sent) < limit and used < READ_AHEAD_BYTES:
            part = next(self._rest, None)
            if part is None:
                return
            if part not in self._sent:
                self._sent[part] = start(partial(_answer, self.file_io, part))
                used += min(part[2], _OPENED_BYTES)

    def close(self) -> None:
        """Wait for the answers that nobody needs."""
        with self._lock:
            unused = [one for one in self._sent.values() if not one.cancel()]
            self._sent.clear()
            self._rest = iter(())
        for future in unused:
            with suppress(PaimonError):
                answer = future.result()
                if isinstance(answer, pa.NativeFile):
                    answer.close()


_READERS: list[_RequestsAhead] = []
"""The readers of the process that have sent requests."""


@contextmanager
def requests_ahead(file_io: FileIO, parts: Iterable[FilePart]) -> Iterator[None]:
    """Send requests for files and parts of files, which the block reads in about this order.

    An error of a request is raised where its answer is taken.
    """
    if max_requests(file_io) < 2:  # noqa: PLR2004 - two at once
        yield
        return
    with closing(_RequestsAhead(file_io, parts)) as reader:
        _READERS.append(reader)
        try:
            yield
        finally:
            _READERS.remove(reader)


def open_sized(file_io: FileIO, path: str, size: int | None) -> pa.NativeFile:
    """Open a file for random access; the caller closes it.

    Args:
        file_io: the storage.
        path: the file.
        size: its size, if known; saves a request on object stores. A wrong size does no harm.
    """
    found = None if size is None else _sent_answer(file_io, (path, None, size))
    return found if isinstance(found, pa.NativeFile) else open_of_size(file_io, path, size)


def read_part(file_io: FileIO, path: str, offset: int, length: int) -> bytes:
    """Return the bytes [offset, offset + length) of a file whose name is used only once."""
    found = _sent_answer(file_io, (path, offset, length))
    if isinstance(found, bytes):
        return found
    return read_immutable_part(file_io, path, offset, length)


def _sent_answer(file_io: FileIO, part: FilePart) -> pa.NativeFile | bytes | None:
    for reader in tuple(_READERS):
        if reader.file_io == file_io:
            found = reader.take(part)
            if found is not None:
                return found.result()
    return None


def _answer(file_io: FileIO, part: FilePart) -> pa.NativeFile | bytes:
    path, offset, size = part
    if offset is None:
        return open_of_size(file_io, path, size)
    return read_immutable_part(file_io, path, offset, size)
