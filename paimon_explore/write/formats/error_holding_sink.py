"""A sink that holds the first write error instead of raising it.

The ORC writer aborts the whole process if its sink raises while it writes a footer. This sink keeps
the error and discards all further bytes; `check` raises the error later.
"""

from typing import BinaryIO

import pyarrow as pa

from paimon_explore.write.formats.output_sink import OutputSink


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
