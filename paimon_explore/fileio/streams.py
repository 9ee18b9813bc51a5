"""Translation of errors while a file is written through a stream."""

from paimon_explore.errors import PaimonError, StorageError


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
