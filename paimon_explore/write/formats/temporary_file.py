"""A temporary file for libraries that write to a path of the local disk only."""

from pathlib import Path
from tempfile import NamedTemporaryFile

import pyarrow as pa

_COPY_BYTES = 4 << 20


class TemporaryLocalFile:
    """An empty file of the local disk; it is deleted by `remove`.

    Args:
        suffix: extension of the file, with the dot.
    """

    def __init__(self, suffix: str) -> None:
        with NamedTemporaryFile(prefix="paimon-explore-", suffix=suffix, delete=False) as file:
            self.path = file.name

    def copy_to(self, sink: pa.NativeFile) -> int:
        """Copy the content to a sink and return its size in bytes."""
        size = 0
        with Path(self.path).open("rb") as file:
            while chunk := file.read(_COPY_BYTES):
                size += sink.write(chunk)
        return size

    def remove(self) -> None:
        """Delete the file, if it still exists."""
        Path(self.path).unlink(missing_ok=True)
