"""What the library asks of a storage: the `FileIO` protocol.

Paths are absolute text (see `paths`). An implementation holds no connection that cannot be made
again: it pickles, so that splits can carry it to other processes. Failures are `StorageError`s
that name operation and path; a file that is not there is a `MissingFileError`.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """One file or folder as a listing shows it.

    Attributes:
        path: the whole path.
        name: its last part.
        size: bytes; 0 for a folder.
        is_folder: whether it is a folder (on object stores: a common prefix).
        modified_ms: last modification, milliseconds since 1970 UTC; 0 for a folder.
    """

    path: str
    name: str
    size: int
    is_folder: bool
    modified_ms: int


@runtime_checkable
class FileIO(Protocol):
    """Bytes in, bytes out.

    The promise everything rests on is `create`: the file appears with its whole content or not at
    all, and an existing file is never replaced.
    """

    def read(self, path: str) -> bytes:
        """The whole content of a file."""
        ...

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Bytes [offset, offset + length) of a file; fewer when the file ends before."""
        ...

    def open(self, path: str) -> pa.NativeFile:
        """A file for random reading; the caller closes it."""
        ...

    def status(self, path: str) -> FileStatus:
        """Size and time of a file or folder."""
        ...

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        ...

    def list(self, folder: str) -> list[FileStatus]:
        """What lies directly in a folder, by name; hidden files too; nothing when it is absent."""
        ...

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """All files (not folders) below a folder, at any depth, in no order."""
        ...

    def create(self, path: str, data: bytes) -> bool:
        """Make a file that is not there yet, in one step; make missing parent folders.

        Returns:
            True if this call made the file, False if a file of that name exists (left as it is).
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write a file whether or not it exists. Readers see the old or the new content."""
        ...

    def create_stream(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        """A new file to write piece by piece; complete when the block ends, gone if it raises.

        For files whose name nobody else can have chosen (it holds a random part). The block closes
        the stream.
        """
        ...

    def delete(self, path: str) -> None:
        """Remove a file; not an error if it is absent."""
        ...

    def delete_folder(self, path: str) -> None:
        """Remove a folder with everything in it; not an error if it is absent."""
        ...

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder. One step where the storage can, else copy and delete."""
        ...

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents; where there are none, by a hidden empty file in it."""
        ...
