"""Uploads of new files that run while the next files are written.

Nothing refers to a new data file before the commit, so its upload only has to end before the
snapshot is created. `uploading` returns a storage that starts uploads in the background; the caller
waits for all of them with `Uploads.finish`. Storages that are not remote write at once.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from paimon_explore.errors import PaimonError
from paimon_explore.fileio.concurrent_requests import max_requests, start
from paimon_explore.fileio.file_io import FileIO

if TYPE_CHECKING:
    from concurrent.futures import Future

_MAX_PENDING = 32
"""Maximum number of uploads that have not ended ..."""
_MAX_PENDING_BYTES = 512 << 20
"""... and of the size of their files, which are in temporary folders."""


class Uploads:
    """The uploads of one write, whose files several threads may write."""

    def __init__(self) -> None:
        self._running: deque[tuple[Future[None], int]] = deque()
        self._adding = threading.Lock()

    def add(self, upload: Callable[[], None], size: int) -> None:
        """Start an upload of a file of some size; waits for the oldest one if there are too many.

        Raises:
            StorageError: an earlier upload failed.
        """
        with self._adding:
            while self._running and self._is_full(size):
                self._running.popleft()[0].result()
            self._running.append((start(upload), size))

    def _is_full(self, size: int) -> bool:
        pending = sum(size for _, size in self._running)
        return len(self._running) >= _MAX_PENDING or pending + size > _MAX_PENDING_BYTES

    def finish(self) -> None:
        """Wait for all uploads.

        Raises:
            StorageError: the first error of an upload; all uploads have then ended.
        """
        try:
            while self._running:
                self._running.popleft()[0].result()
        finally:
            self.settle()

    def settle(self) -> None:
        """Wait for all uploads, and ignore their errors, because their files will be deleted."""
        while self._running:
            future, _ = self._running.popleft()
            if not future.cancel():
                with suppress(PaimonError):
                    future.result()


@runtime_checkable
class UploadingStore(Protocol):
    """A storage whose new files are uploaded when they are complete."""

    @property
    def uploads(self) -> Uploads | None:
        """Runs the uploads in the background; None: a file is uploaded when it is complete."""

    def with_uploads(self, uploads: Uploads) -> FileIO:
        """Return the same storage, equal to this one, with uploads in the background."""


def uploading(file_io: FileIO) -> tuple[FileIO, Uploads]:
    """Return a storage for new files, and its uploads, which have to be finished.

    A storage that already uploads in the background stays as it is: its owner waits.
    """
    uploads = Uploads()
    if max_requests(file_io) > 1 and isinstance(file_io, UploadingStore):
        return (file_io.with_uploads(uploads) if file_io.uploads is None else file_io), uploads
    return file_io, uploads
