"""A copy-on-write overlay over another storage: writes and deletions stay in memory.

Used to replay commits without changing the table. Paths of the base storage can be hidden, as if
they did not exist yet.

A storage whose metadata files stay in memory until a transaction commits.

Data files and index files are written to the storage below: nothing refers to them before the
commit. Files of the staged folders (schemas, snapshots, manifests) are kept in memory, and files
that other processes add to these folders meanwhile can be hidden. So each operation of a
transaction commits as usual, to a table that only the transaction sees.
"""

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum

import pyarrow as pa

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio import paths
from paimon_explore.fileio.concurrent_requests import discard, max_requests
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.fileio.versioned_reads import StoreReads, open_of_size, read_immutable
from paimon_explore.frozen_dataclass import dataclass


class FileEvent(Enum):
    """The kind of change of a file."""

    CREATE = "about to be created"
    CREATED = "created"
    WRITTEN = "written"
    REMOVED = "removed"


@dataclass(kw_only=True, eq=False)
class OverlayFileIO:
    """A `FileIO` that reads from another storage and keeps writes in memory; not for pickling.

    Attributes:
        below: the base storage.
        hidden: returns whether a path of the base storage is hidden.
        watch: called before a file is created, and after it is created, written or removed; may
            raise.
        written: the files written to the overlay.
        removed: the deleted paths.
    """

    below: FileIO
    hidden: Callable[[str], bool] = field(default=lambda _: False)
    watch: Callable[[FileEvent, str, int], None] = field(default=lambda _act, _path, _size: None)
    written: dict[str, bytes] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        if path in self.written:
            return self.written[path]
        self._check_exists("read", path)
        return self.below.read(path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""
        if path in self.written:
            return self.written[path][offset : offset + length]
        self._check_exists("read", path)
        return self.below.read_range(path, offset, length)

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; the caller closes it."""
        if path in self.written:
            return pa.BufferReader(self.written[path])
        self._check_exists("open", path)
        return self.below.open(path)

    def read_version(self, path: str, etag: str) -> bytes:
        """Return the current content of an object that was listed with an entity tag."""
        if path in self.written or self._is_hidden(path) or not isinstance(self.below, StoreReads):
            return self.read(path)
        return self.below.read_version(path, etag)

    def read_immutable(self, path: str) -> bytes:
        """Return the content of a file whose name is used only once."""
        if path in self.written or self._is_hidden(path):
            return self.read(path)
        return read_immutable(self.below, path)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        """Open a file whose size is known."""
        if path in self.written or self._is_hidden(path):
            return self.open(path)
        return open_of_size(self.below, path, size)

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""
        if path in self.written:
            return self._written_status(path)
        self._check_exists("access", path)
        return self.below.status(path)

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""
        return path in self.written or (not self._is_hidden(path) and self.below.exists(path))

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, sorted by name."""
        found = {s.name: s for s in self.below.list(folder) if not self._is_hidden(s.path)}
        for path in self.written:
            if paths.parent(path) == folder.rstrip("/"):
                found[paths.name(path)] = self._written_status(path)
        return [found[name] for name in sorted(found)]

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files below a folder recursively, in no particular order."""
        prefix = f"{folder.rstrip('/')}/"
        for status in self.below.walk(folder):
            if status.path not in self.written and not self._is_hidden(status.path):
                yield status
        yield from (self._written_status(path) for path in self.written if path.startswith(prefix))

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically."""
        self.watch(FileEvent.CREATE, path, len(data))
        if self.exists(path):
            return False
        self.replace(path, data)
        self.watch(FileEvent.CREATED, path, len(data))
        return True

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file."""
        self.written[path] = bytes(data)
        self.removed.discard(path)
        self.watch(FileEvent.WRITTEN, path, len(data))

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it exists after the block, unless the block raises."""
        stream = pa.BufferOutputStream()
        yield stream
        self.replace(path, stream.getvalue().to_pybytes())

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""
        size = len(self.written.pop(path, b""))
        self.removed.add(path)
        self.watch(FileEvent.REMOVED, path, size)

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists."""
        for status in list(self.walk(path)):
            self.delete(status.path)

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder by copying and deleting."""
        for status in list(self.walk(source)):
            below = status.path.removeprefix(source.rstrip("/"))
            self.replace(f"{target.rstrip('/')}{below}", self.read(status.path))
            self.delete(status.path)

    def make_folder(self, path: str) -> None:
        """Do nothing: the overlay has no empty folders."""

    def _is_hidden(self, path: str) -> bool:
        return path in self.removed or self.hidden(path)

    def _check_exists(self, operation: str, path: str) -> None:
        if self._is_hidden(path):
            raise MissingFileError(operation, path)

    def _written_status(self, path: str) -> FileStatus:
        return FileStatus(path=path, size=len(self.written[path]))


@dataclass(kw_only=True, eq=False)
class StagedFileIO(OverlayFileIO):
    """An overlay that keeps the files of some folders only; others are created in the storage.

    Attributes:
        folders: the folders whose files are kept in memory.
        created: the files that were created in the storage, and not deleted since, in their order.
    """

    folders: frozenset[str]
    created: dict[str, None] = field(default_factory=dict)

    @property
    def max_requests(self) -> int:
        """How many requests are sent at the same time; see `concurrent_requests`."""
        return max_requests(self.below)

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically."""
        if self._is_staged(path):
            return super().create(path, data)
        self.created[path] = None
        return self.below.create(path, data)

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file."""
        if self._is_staged(path):
            super().replace(path, data)
            return
        self.created[path] = None
        self.below.replace(path, data)

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """Open a new file for writing; it exists after the block, unless the block raises."""
        if self._is_staged(path):
            with super().create_stream(path) as stream:
                yield stream
            return
        self.created[path] = None
        with self.below.create_stream(path) as stream:
            yield stream

    def delete(self, path: str) -> None:
        """Delete a file that the transaction created; other files stay."""
        if self._is_staged(path):
            super().delete(path)
        elif path in self.created:
            self.below.delete(path)
            del self.created[path]

    def make_folder(self, path: str) -> None:
        """Create a folder."""
        self.below.make_folder(path)

    def discard(self, kept: frozenset[str] = frozenset()) -> None:
        """Delete the created files; files that cannot be deleted remain as orphan files.

        Args:
            kept: names of files that are not deleted.
        """
        unneeded = [path for path in self.created if paths.name(path) not in kept]
        discard(self.below, unneeded)
        for path in unneeded:
            del self.created[path]

    def _is_staged(self, path: str) -> bool:
        return paths.parent(path) in self.folders
