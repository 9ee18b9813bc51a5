"""A storage seen through a sheet of glass: reads go through, writes stay on the glass.

For demonstrations of what would happen: nothing below is ever changed. Paths can be hidden, as if
they were not there yet.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum

import pyarrow as pa

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO, FileStatus
from paimon_explore.frozen_dataclass import dataclass


class Act(Enum):
    """What happens to a file."""

    CREATE = "about to be created"
    CREATED = "created"
    WRITTEN = "written"
    REMOVED = "removed"


@dataclass(slots=True, kw_only=True, eq=False)
class OverlayFileIO:
    """A `FileIO` whose writes stay in memory; lives in one process.

    Attributes:
        below: the storage that is read.
        hidden: whether a path below is not to be seen.
        watch: hears of what is about to be created, was created, written, removed; may raise.
        written: the files on the glass.
        removed: paths that were deleted.
    """

    below: FileIO
    hidden: Callable[[str], bool] = field(default=lambda _: False)
    watch: Callable[[Act, str, int], None] = field(default=lambda _act, _path, _size: None)
    written: dict[str, bytes] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)

    def read(self, path: str) -> bytes:
        """The whole content of a file."""
        if path in self.written:
            return self.written[path]
        self._demand("read", path)
        return self.below.read(path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of a file; fewer when the file ends before."""
        if path in self.written:
            return self.written[path][offset : offset + length]
        self._demand("read", path)
        return self.below.read_range(path, offset, length)

    def open(self, path: str) -> pa.NativeFile:
        """A file for random reading; the caller closes it."""
        if path in self.written:
            return pa.BufferReader(self.written[path])
        self._demand("open", path)
        return self.below.open(path)

    def status(self, path: str) -> FileStatus:
        """Size and time of a file or folder."""
        if path in self.written:
            return self._own(path)
        self._demand("look at", path)
        return self.below.status(path)

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return path in self.written or (not self._is_gone(path) and self.below.exists(path))

    def list(self, folder: str) -> list[FileStatus]:
        """What lies directly in a folder, by name."""
        found = {s.name: s for s in self.below.list(folder) if not self._is_gone(s.path)}
        for path in self.written:
            if paths.parent(path) == folder.rstrip("/"):
                found[paths.name(path)] = self._own(path)
        return [found[name] for name in sorted(found)]

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All files below a folder, at any depth, in no order."""
        prefix = f"{folder.rstrip('/')}/"
        for status in self.below.walk(folder):
            if status.path not in self.written and not self._is_gone(status.path):
                yield status
        yield from (self._own(path) for path in self.written if path.startswith(prefix))

    def create(self, path: str, data: bytes) -> bool:
        """Make a file that is not there yet, in one step."""
        self.watch(Act.CREATE, path, len(data))
        if self.exists(path):
            return False
        self.replace(path, data)
        self.watch(Act.CREATED, path, len(data))
        return True

    def replace(self, path: str, data: bytes) -> None:
        """Write a file whether or not it exists."""
        self.written[path] = bytes(data)
        self.removed.discard(path)
        self.watch(Act.WRITTEN, path, len(data))

    @contextmanager
    def create_stream(self, path: str) -> Iterator[pa.NativeFile]:
        """A new file to write piece by piece; there when the block ends, absent if it raises."""
        stream = pa.BufferOutputStream()
        yield stream
        self.replace(path, stream.getvalue().to_pybytes())

    def delete(self, path: str) -> None:
        """Remove a file; not an error if it is absent."""
        size = len(self.written.pop(path, b""))
        self.removed.add(path)
        self.watch(Act.REMOVED, path, size)

    def delete_folder(self, path: str) -> None:
        """Remove a folder with everything in it; not an error if it is absent."""
        for status in list(self.walk(path)):
            self.delete(status.path)

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder: copy and delete."""
        for status in list(self.walk(source)):
            below = status.path.removeprefix(source.rstrip("/"))
            self.replace(f"{target.rstrip('/')}{below}", self.read(status.path))
            self.delete(status.path)

    def make_folder(self, path: str) -> None:
        """Make a folder, which is nothing here."""

    def _is_gone(self, path: str) -> bool:
        return path in self.removed or self.hidden(path)

    def _demand(self, operation: str, path: str) -> None:
        if self._is_gone(path):
            raise MissingFileError(operation, path)

    def _own(self, path: str) -> FileStatus:
        size = len(self.written[path])
        name = paths.name(path)
        return FileStatus(path=path, name=name, size=size, is_folder=False, modified_ms=0)
