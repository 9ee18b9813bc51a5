"""Deletion of files of a failed operation; storage errors are ignored."""

from collections.abc import Iterable
from contextlib import suppress

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO


def discard(file_io: FileIO, paths: Iterable[str]) -> None:
    """Delete files of a failed operation; files that cannot be deleted remain as orphan files.

    Storage errors are ignored so that they do not hide the original error.
    """
    for path in paths:
        with suppress(StorageError):
            file_io.delete(path)
