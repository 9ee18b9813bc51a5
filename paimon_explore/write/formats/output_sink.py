"""The file object that pyarrow's writers write to; it forwards the bytes to another sink."""

from typing import BinaryIO

import pyarrow as pa


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
