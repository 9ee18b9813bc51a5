"""The `FileIO` protocol: the storage operations that the library needs.

Paths are absolute strings (see `paths`). Implementations can be pickled, so that splits can be sent
to other processes; connections are opened again there. Failures raise `StorageError` with operation
and path; a missing file raises `MissingFileError`. `translate_stream_errors` does the same for a
file that is written through a stream.
"""

import builtins
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

import pyarrow as pa

from paimon_explore.errors import PaimonError, StorageError
from paimon_explore.fileio import paths
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStatus:
    """Metadata of a file or folder.

    Attributes:
        path: the full path.
        size: size in bytes; 0 for a folder.
        is_folder: whether it is a folder (in object stores: a common prefix).
        modified_ms: modification time, milliseconds since 1970 UTC; 0 for a folder.
        etag: identifies the content, in stores that list it: two objects with the same path and
            entity tag have the same content.
    """

    path: str
    size: int = 0
    is_folder: bool = False
    modified_ms: int = 0
    etag: str | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return paths.name(self.path)


@runtime_checkable
class FileIO(Protocol):
    """Storage interface.

    `create` must be atomic: the file appears with its complete content or not at all, and an
    existing file is never replaced.
    """

    def read(self, path: str) -> bytes:
        """Return the content of a file."""

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length) of a file; fewer at the end of the file."""

    def open(self, path: str) -> pa.NativeFile:
        """Open a file for random access; the caller closes it."""

    def status(self, path: str) -> FileStatus:
        """Return the metadata of a file or folder."""

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists."""

    def list(self, folder: str) -> builtins.list[FileStatus]:
        """List a folder, including hidden files, sorted by name; empty if it does not exist."""

    def walk(self, folder: str) -> Iterator[FileStatus]:
        """Yield all files (not folders) below a folder recursively, in no particular order."""

    def create(self, path: str, data: bytes) -> bool:
        """Create a new file atomically, and missing parent folders.

        Returns:
            True if this call created the file, False if the file already exists (unchanged).
        """

    def replace(self, path: str, data: bytes) -> None:
        """Create or replace a file. Readers see the old or the new content."""

    def create_stream(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        """Open a new file for writing; it is complete after the block, or deleted if it raises.

        Only for file names that are unique (with a random part). The block closes the stream.
        """

    def delete(self, path: str) -> None:
        """Delete a file, if it exists."""

    def delete_folder(self, path: str) -> None:
        """Delete a folder recursively, if it exists."""

    def rename_folder(self, source: str, target: str) -> None:
        """Move a folder: atomically if the storage supports it, else by copying and deleting."""

    def make_folder(self, path: str) -> None:
        """Create a folder and its parents; in object stores by a hidden empty object."""


class translate_stream_errors:  # noqa: N801 - a context manager named like those of contextlib
    """Convert an `OSError` during a write to a `StorageError` that names the file.

    Errors of this package are not changed: the written data may come from other files.

    Raises:
        StorageError: the write failed, for example because the disk is full.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Convert an `OSError`."""
        if isinstance(error, OSError) and not isinstance(error, PaimonError):
            raise StorageError("create", self._path, error.strerror or str(error)) from error
