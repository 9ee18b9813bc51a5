"""Reads of small files whose version is known from a listing, and opens of files of known size.

An object store lists objects with their entity tags (`FileStatus.etag`). If the content that the
process has last seen has the listed tag, it is returned without a request. A file that was replaced
since, such as the schema of a table that was dropped and created again, has another tag or the same
content. Storages without tags read the file.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache, partial
from typing import Protocol, cast, runtime_checkable

import pyarrow as pa

from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.threads import free_in_forks

MAX_KEPT_BYTES = 128 << 10
"""Maximum size of a content that is kept."""
_MAX_BYTES = 16 << 20


@runtime_checkable
class StoreReads(Protocol):
    """Reads that only object stores have."""

    def read_version(self, path: str, etag: str) -> bytes:
        """Return the current content of an object that was listed with an entity tag."""

    def read_immutable(self, path: str) -> bytes:
        """Return the content of an object whose name is used only once."""

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        """Open an object whose size is known, if the size is right."""


@cache
def _has_store_reads(kind: type[FileIO]) -> bool:
    """Return whether a class of storages has the reads; a check of each instance would be slow."""
    return issubclass(kind, StoreReads)


def _store_reads(file_io: FileIO) -> StoreReads | None:
    return cast("StoreReads", file_io) if _has_store_reads(type(file_io)) else None


def read_listed(file_io: FileIO, status: FileStatus) -> bytes:
    """Return the content of a file that was just listed.

    Raises:
        MissingFileError: the file does not exist any more.
    """
    store = _store_reads(file_io)
    if status.etag is None or store is None:
        return file_io.read(status.path)
    return store.read_version(status.path, status.etag)


def read_immutable(file_io: FileIO, path: str) -> bytes:
    """Return the content of a file whose name is used only once, such as a manifest.

    Raises:
        MissingFileError: the file does not exist; one that this process knows may be deleted.
    """
    store = _store_reads(file_io)
    return file_io.read(path) if store is None else store.read_immutable(path)


def read_immutable_part(file_io: FileIO, path: str, offset: int, length: int) -> bytes:
    """Return a part of a file whose name is used only once; small ones of stores are kept.

    Raises:
        MissingFileError: the file does not exist; one that this process knows may be deleted.
    """
    if _store_reads(file_io) is None:
        return file_io.read_range(path, offset, length)
    key = file_io, path, offset, length
    found = CONTENTS.find(key, None)
    if found is None:
        found = file_io.read_range(path, offset, length)
        CONTENTS.keep(key, "", found)
    return found


def range_reader(file_io: FileIO, path: str, size: int) -> Callable[[int, int], bytes]:
    """Return a function that reads parts of a file whose name is used only once.

    A small file of a store is read as a whole by the first call.
    """
    if size > MAX_KEPT_BYTES or _store_reads(file_io) is None:
        return partial(file_io.read_range, path)
    return lambda offset, length: read_immutable(file_io, path)[offset : offset + length]


def open_of_size(file_io: FileIO, path: str, size: int | None) -> pa.NativeFile:
    """Open a file for random access with a request of its own; see `requests_ahead.open_sized`."""
    store = _store_reads(file_io)
    return file_io.open(path) if size is None or store is None else store.open_sized(path, size)


class Contents:
    """LRU cache of small contents with their entity tags, limited by bytes; thread-safe."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[object, tuple[str, bytes]] = OrderedDict()
        self._used_bytes = 0
        self._lock = free_in_forks(threading.Lock())

    def find(self, key: object, etag: str | None) -> bytes | None:
        """Return the content of a key, if it is known with this entity tag; None: with any."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or (etag is not None and _plain(etag) != found[0]):
                return None
            self._kept.move_to_end(key)
            return found[1]

    def keep(self, key: object, etag: str | None, data: bytes) -> None:
        """Store a content, unless it is large or has no entity tag."""
        if etag is None or len(data) > MAX_KEPT_BYTES:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = (_plain(etag), data)
            self._used_bytes += len(data)
            while self._used_bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        """Remove all contents."""
        with self._lock:
            self._kept.clear()
            self._used_bytes = 0

    def _drop(self, key: object) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._used_bytes -= len(found[1])


CONTENTS = Contents()
"""The contents of objects that this process has read or written."""


def _plain(etag: str) -> str:
    """Return an entity tag without quotes, which some stores leave out in listings."""
    return etag.strip('"')
