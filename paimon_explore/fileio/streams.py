"""Errors of files that are written piece by piece."""

from types import TracebackType

from paimon_explore.errors import PaimonError, StorageError


class naming_stream:  # noqa: N801 - reads as what it does, like those of contextlib
    """Tell which file could not be written when the system says no in the middle of it.

    Errors of ours go through as they are: what is written may come from other files.

    Raises:
        StorageError: the disk is full, or the like.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing to do yet."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Turn the system's error into ours."""
        if isinstance(error, OSError) and not isinstance(error, PaimonError):
            raise StorageError("create", self._path, error.strerror or str(error)) from error
