"""File sets in memory that tests copy and throw away."""

from dataclasses import replace
from hashlib import sha256
from uuid import uuid4

import pyarrow as pa

from paimon_explore.fileio import memory
from paimon_explore.fileio.file_io import FileStatus
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.store import manifests
from support.paused_file_io import PausedFileIO


class ObjectStoreInMemory(PausedFileIO):
    """Files as an object store offers them: several requests at once, and entity tags."""

    max_requests = 2

    def list(self, folder: str) -> list[FileStatus]:
        return [
            one
            if one.is_folder
            else replace(one, etag=sha256(self.inner.read(one.path)).hexdigest())
            for one in super().list(folder)
        ]

    def read_version(self, path: str, etag: str) -> bytes:
        del etag
        return self.read(path)

    def read_immutable(self, path: str) -> bytes:
        return self.read(path)

    def open_sized(self, path: str, size: int) -> pa.NativeFile:
        del size
        return self.open(path)


def copied_files(source: MemoryFileIO) -> MemoryFileIO:
    """A file set of its own with the same files."""
    copy = MemoryFileIO(str(uuid4()))
    files = source._files
    memory._FILE_SETS[copy.name] = memory._Files(
        content=dict(files.content), folders=set(files.folders)
    )
    return copy


def forget_files(name: str) -> None:
    """Free a file set."""
    memory._FILE_SETS.pop(name, None)


def forget_manifests() -> None:
    """Empty the cache of manifests of this process, which would hide that files are gone."""
    manifests._SHARED.clear()
