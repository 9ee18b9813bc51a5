"""A storage that does something else in the middle of a run."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import pyarrow as pa

from paimon_explore.fileio.file_io import FileIO, FileStatus


@dataclass(slots=True, eq=False)
class PausedFileIO:
    """Tells each operation before it happens.

    Attributes:
        inner: the storage.
        before: what is done before each operation; it gets a line like `read manifest-1`.
    """

    inner: FileIO
    before: Callable[[str], None] = field(default=lambda _: None)

    def _tell(self, operation: str, path: str) -> None:
        self.before(f"{operation} {path.rpartition('/')[2]}")

    def read(self, path: str) -> bytes:
        self._tell("read", path)
        return self.inner.read(path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self._tell("read_range", path)
        return self.inner.read_range(path, offset, length)

    def open(self, path: str) -> pa.NativeFile:
        self._tell("open", path)
        return self.inner.open(path)

    def status(self, path: str) -> FileStatus:
        self._tell("status", path)
        return self.inner.status(path)

    def exists(self, path: str) -> bool:
        self._tell("exists", path)
        return self.inner.exists(path)

    def list(self, folder: str) -> list[FileStatus]:
        self._tell("list", folder)
        return self.inner.list(folder)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        self._tell("walk", folder)
        return self.inner.walk(folder)

    def create(self, path: str, data: bytes) -> bool:
        self._tell("create", path)
        return self.inner.create(path, data)

    def replace(self, path: str, data: bytes) -> None:
        self._tell("replace", path)
        self.inner.replace(path, data)

    def create_stream(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        self._tell("create_stream", path)
        return self.inner.create_stream(path)

    def delete(self, path: str) -> None:
        self._tell("delete", path)
        self.inner.delete(path)

    def delete_folder(self, path: str) -> None:
        self._tell("delete_folder", path)
        self.inner.delete_folder(path)

    def rename_folder(self, source: str, target: str) -> None:
        self._tell("rename_folder", source)
        self.inner.rename_folder(source, target)

    def make_folder(self, path: str) -> None:
        self._tell("make_folder", path)
        self.inner.make_folder(path)
