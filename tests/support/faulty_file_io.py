"""A storage that fails at will: the k-th change of a run, before or after it took effect."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum

import pyarrow as pa

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO, FileStatus


class Fault(Enum):
    """How an operation fails."""

    BEFORE = "before its effect"
    AFTER = "after its effect: the reply is lost"
    CRASH = "the process ends before it"


class CrashError(Exception):
    """The process is gone: nothing it would do afterwards happens."""


@dataclass(slots=True, eq=False)
class FaultyFileIO:
    """Counts operations and fails one of them.

    Attributes:
        inner: the storage that is made faulty.
        fail_at: number of the operation that fails, from 1; 0 for none.
        fault: how.
        reads_too: whether reads are counted as well as changes.
        log: the operations so far.
    """

    inner: FileIO
    fail_at: int = 0
    fault: Fault = Fault.BEFORE
    reads_too: bool = False
    log: list[str] = field(default_factory=list)
    crashed: bool = False

    def _before(self, operation: str, path: str, *, change: bool) -> bool:
        """Count an operation; True if it has to fail after its effect."""
        if self.crashed:
            raise CrashError(f"{operation} {path}")
        if not change and not self.reads_too:
            return False
        self.log.append(f"{operation} {path.rpartition('/')[2]}")
        if len(self.log) != self.fail_at:
            return False
        if self.fault is Fault.CRASH:
            self.crashed = True
            raise CrashError(f"{operation} {path}")
        if self.fault is Fault.BEFORE:
            raise StorageError(operation, path, "injected, without effect")
        return True

    def _after(self, operation: str, path: str, *, fails: bool) -> None:
        if fails:
            raise StorageError(operation, path, "injected, after its effect")

    def read(self, path: str) -> bytes:
        fails = self._before("read", path, change=False)
        try:
            data = self.inner.read(path)
        finally:
            self._after("read", path, fails=fails)  # the reply is lost, also that there is no file
        return data

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        fails = self._before("read", path, change=False)
        try:
            data = self.inner.read_range(path, offset, length)
        finally:
            self._after("read", path, fails=fails)  # the reply is lost, also that there is no file
        return data

    def open(self, path: str) -> pa.NativeFile:
        self._after("open", path, fails=self._before("open", path, change=False))
        return self.inner.open(path)

    def status(self, path: str) -> FileStatus:
        self._after("status", path, fails=self._before("status", path, change=False))
        return self.inner.status(path)

    def exists(self, path: str) -> bool:
        self._after("exists", path, fails=self._before("exists", path, change=False))
        return self.inner.exists(path)

    def list(self, folder: str) -> list[FileStatus]:
        self._after("list", folder, fails=self._before("list", folder, change=False))
        return self.inner.list(folder)

    def walk(self, folder: str) -> Iterator[FileStatus]:
        self._after("walk", folder, fails=self._before("walk", folder, change=False))
        return self.inner.walk(folder)

    def create(self, path: str, data: bytes) -> bool:
        fails = self._before("create", path, change=True)
        made = self.inner.create(path, data)
        self._after("create", path, fails=fails)
        return made

    def replace(self, path: str, data: bytes) -> None:
        fails = self._before("replace", path, change=True)
        self.inner.replace(path, data)
        self._after("replace", path, fails=fails)

    def create_stream(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        return self._stream(path)

    @contextmanager
    def _stream(self, path: str) -> Iterator[pa.NativeFile]:
        fails = self._before("create_stream", path, change=True)
        with self.inner.create_stream(path) as sink:
            yield sink
        self._after("create_stream", path, fails=fails)

    def delete(self, path: str) -> None:
        fails = self._before("delete", path, change=True)
        self.inner.delete(path)
        self._after("delete", path, fails=fails)

    def delete_folder(self, path: str) -> None:
        fails = self._before("delete_folder", path, change=True)
        self.inner.delete_folder(path)
        self._after("delete_folder", path, fails=fails)

    def rename_folder(self, source: str, target: str) -> None:
        fails = self._before("rename_folder", source, change=True)
        self.inner.rename_folder(source, target)
        self._after("rename_folder", source, fails=fails)

    def make_folder(self, path: str) -> None:
        fails = self._before("make_folder", path, change=True)
        self.inner.make_folder(path)
        self._after("make_folder", path, fails=fails)
