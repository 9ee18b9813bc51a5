"""An in-memory file system of the process, for tests and demonstrations.

A `MemoryFileIO` has only the name of a set of files that the process keeps, so it can be pickled;
in another process the set is empty.
"""

import builtins
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

import pyarrow as pa

from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import masked
from paimon_explore.threads import free_in_forks


@dataclass(slots=True)
class _Files:
    content: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=lambda: free_in_forks(threading.RLock()))


_FILE_SETS: dict[str, _Files] = {}


@dataclass(frozen=True, slots=True)
class MemoryFileIO:
    """A named set of files in memory.

    Attributes:
        name: the file set; equal names share their files.
    """

    name: str = "default"

    def __repr__(self) -> str:
        """Return its location."""
        return f"MemoryFileIO({masked(f'memory://{self.name}')!r})"

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return self._content("read", path)[0]

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""
        return self._content("read", path)[0][offset : offset + length]

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; the caller closes it."""
        return pa.BufferReader(self._content("open", path)[0])

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""
        found = self._files.content.get(_key(path))
        if found is None and not self._is_folder(_key(path)):
            raise MissingFileError("access", path)
        return _status(path, found)

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        return _key(path) in self._files.content or self._is_folder(_key(path))

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, including hidden files, sorted by name; empty if it does not exist."""
        prefix = _key(folder) + "/"
        files = self._files
        with files.lock:
            below = [p for p in (*files.content, *files.folders) if p.startswith(prefix)]
            names = sorted({path[len(prefix) :].partition("/")[0] for path in below})
            return [
                _status(paths.join(folder, name), files.content.get(prefix + name))
                for name in names
            ]

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files (not folders) below a folder recursively, in no particular order."""
        prefix = _key(folder) + "/"
        for path, found in list(self._files.content.items()):
            if path.startswith(prefix):
                yield _status(paths.join(folder, path[len(prefix) :]), found)

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically."""
        files = self._files
        with files.lock:
            if _key(path) in files.content:
                return False
            self.replace(path, data)
            return True

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file."""
        if self._is_folder(_key(path)):
            raise StorageError("write", path, "the path is a folder")
        self._files.content[_key(path)] = (bytes(data), time.time_ns() // 1_000_000)

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it exists after the block, unless the block raises."""
        stream = pa.BufferOutputStream()
        yield stream
        self.replace(path, stream.getvalue().to_pybytes())

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        self._files.content.pop(_key(path), None)

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists."""
        key = _key(path)
        files = self._files
        with files.lock:
            for known in [p for p in files.content if p.startswith(key + "/")]:
                del files.content[known]
            files.folders.difference_update(
                [p for p in files.folders if p == key or p.startswith(key + "/")]
            )

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder."""
        old, new = _key(source), _key(target)
        files = self._files
        with files.lock:
            if not self._is_folder(old):
                raise MissingFileError("rename", source)
            for known in [p for p in files.content if p.startswith(old + "/")]:
                files.content[new + known[len(old) :]] = files.content.pop(known)
            moved = {p for p in files.folders if p == old or p.startswith(old + "/")}
            files.folders -= moved
            files.folders |= {new + p[len(old) :] for p in moved}

    def make_folder(self, path: str) -> None:
        """Create a folder."""
        self._files.folders.add(_key(path))

    @property
    def _files(self) -> _Files:
        return _FILE_SETS.setdefault(self.name, _Files())

    def _content(self, operation: str, path: str) -> tuple[bytes, int]:
        found = self._files.content.get(_key(path))
        if found is None:
            raise MissingFileError(operation, path)
        return found

    def _is_folder(self, key: str) -> bool:
        files = self._files
        with files.lock:
            known = (*files.content, *files.folders)
            return key in files.folders or any(path.startswith(key + "/") for path in known)


def _key(path: str) -> str:
    """Normalize a path: without scheme and trailing slashes."""
    rest = path.partition("://")[2] if "://" in path else path
    return "/" + rest.strip("/")


def _status(path: str, found: tuple[bytes, int] | None) -> FileStatus:
    if found is None:
        return FileStatus(path=path, is_folder=True)
    data, modified_ms = found
    return FileStatus(path=path, size=len(data), modified_ms=modified_ms)
