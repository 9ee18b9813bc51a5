"""The file object that pyarrow's writers write to; it forwards the bytes to another sink.

A sink that holds the first write error instead of raising it.

The ORC writer aborts the whole process if its sink raises while it writes a footer. This sink keeps
the error and discards all further bytes; `check` raises the error later.

A temporary file for libraries that write to a path of the local disk only.

The compression codec of a data file, as its format names it.
"""

from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, TypeVar

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, choices

T = TypeVar("T")


class OutputSink:
    """A write-only Python file object that forwards bytes to a sink and leaves it open.

    Args:
        sink: receives the bytes.
    """

    def __init__(self, sink: pa.NativeFile | BinaryIO) -> None:
        self._sink = sink
        self._position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Forward bytes to the sink."""
        self._sink.write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._position

    def flush(self) -> None:
        """Do nothing: the owner of the sink flushes it."""

    def close(self) -> None:
        """Do nothing: the owner of the sink closes it."""

    def readable(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False


class ErrorHoldingSink(OutputSink):
    """A sink whose `write` never raises.

    Args:
        sink: receives the bytes.
    """

    def __init__(self, sink: pa.NativeFile | BinaryIO) -> None:
        super().__init__(sink)
        self._error: BaseException | None = None

    def write(self, data: bytes) -> int:
        """Forward bytes to the sink, until an error occurs."""
        if self._error is None:
            try:
                self._sink.write(data)
            except BaseException as error:  # noqa: BLE001 - raised again by `check`
                self._error = error
        self._position += len(data)
        return len(data)

    def check(self) -> None:
        """Raise the error that was held, if any."""
        if self._error is not None:
            raise self._error


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


def chosen_codec(codecs: Mapping[str, T], compression: str, file_format: str) -> T:
    """Return a format's codec for the value of `file.compression`.

    Args:
        codecs: the codecs of the format by the names in the option.
        compression: the value of the option.
        file_format: the name of the format, for the error.

    Raises:
        InvalidInputError: files of the format do not support the compression.
    """
    codec = codecs.get(compression.lower())
    if codec is None:
        raise InvalidInputError(
            f"{compression!r} is not a compression codec for {file_format} files.",
            hint=f"Set file.compression to one of {choices(codecs)}.",
        )
    return codec
