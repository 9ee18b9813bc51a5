"""Errors of files that are written piece by piece."""

from collections.abc import Iterator
from contextlib import contextmanager

from paimon_explore.errors import PaimonError, StorageError


@contextmanager
def naming_stream(path: str) -> Iterator[None]:
    """Tell which file could not be written when the system says no in the middle of it.

    Errors of ours go through as they are: what is written may come from other files.

    Raises:
        StorageError: the disk is full, or the like.
    """
    try:
        yield
    except PaimonError:
        raise
    except OSError as error:
        raise StorageError("create", path, error.strerror or str(error)) from error
