"""Removal of files that nobody needs, as far as the storage lets it."""

from collections.abc import Iterable
from contextlib import suppress

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO


def discard(file_io: FileIO, paths: Iterable[str]) -> None:
    """Remove files of a failed attempt; one that cannot be removed is an orphan and does no harm.

    So the error that ended the attempt stays the one that is told.
    """
    for path in paths:
        with suppress(StorageError):
            file_io.delete(path)
