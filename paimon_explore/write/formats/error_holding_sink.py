"""A sink that never fails in the hands of a library that could not bear it.

The ORC writer ends the whole process when its sink raises while it writes a footer. So the error is
kept, everything after it is thrown away, and whoever drives the library asks for it afterwards.
"""

from typing import BinaryIO

import pyarrow as pa


class SteadySink:
    """Takes bytes whether or not they can be stored.

    Args:
        sink: where they go.
    """

    def __init__(self, sink: pa.NativeFile | BinaryIO) -> None:
        self._sink = sink
        self._error: BaseException | None = None
        self._position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        """Pass bytes on, until that fails."""
        if self._error is None:
            try:
                self._sink.write(data)
            except BaseException as error:  # noqa: BLE001 - raised again by `check`
                self._error = error
        self._position += len(data)
        return len(data)

    def check(self) -> None:
        """Raise what went wrong since the sink was made."""
        if self._error is not None:
            raise self._error

    def tell(self) -> int:
        """Bytes taken so far."""
        return self._position

    def flush(self) -> None:
        """Nothing to do: the owner of the sink flushes it."""

    def close(self) -> None:
        """Nothing to do: the owner of the sink closes it."""

    def readable(self) -> bool:
        """It is not."""
        return False

    def writable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is not."""
        return False
