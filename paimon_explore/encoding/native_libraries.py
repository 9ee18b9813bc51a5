"""Use of the optional native libraries that read and write Lance, Vortex and Mosaic files."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import decoding
from paimon_explore.errors import CorruptFileError, PaimonError


class PositionalSource:
    """Reads ranges of a file for a native library, which may call it from several threads.

    Args:
        stream: the file, opened for random access.
    """

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream
        self._lock = Lock()
        self.error: BaseException | None = None
        """The first error of the storage; libraries raise one of their own instead."""

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return self._stream.size()

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes [offset, offset + length); fewer at the end of the file."""
        try:
            with self._lock:
                self._stream.seek(offset)
                return self._stream.read(length)
        except BaseException as error:
            self.error = self.error or error
            raise


@contextmanager
def native_decoding(path: str, what: str, source: PositionalSource | None = None) -> Iterator[None]:
    """Translate the errors of a native library on malformed bytes to a `CorruptFileError`.

    Args:
        path: the file, for errors.
        what: the part of the file that is decoded.
        source: what the library reads from; an error of the storage is raised as it is.
    """
    try:
        with decoding(path, what):
            yield
    except BaseException as error:
        if source is not None and source.error is not None:
            raise source.error from None
        # a panic of Rust has a class that cannot be imported and is no subclass of Exception
        is_native = isinstance(error, RuntimeError) and not isinstance(error, PaimonError)
        if not is_native and type(error).__name__ != "PanicException":
            raise
        raise CorruptFileError(path, what, _first_line(error)) from error


_ALIGNMENT = 64


def aligned(column: Column) -> Column:
    """Return a column whose values are aligned in memory, as native libraries require.

    Values of Arrow files and messages are aligned to 8 bytes only; decimals need 16.
    """
    if all(buffer is None or not buffer.address % _ALIGNMENT for buffer in column.buffers()):
        return column
    copied: Column = pa.concat_arrays([column, column.slice(0, 0)])
    return copied


def _first_line(error: BaseException) -> str:
    """Return the message without the native backtrace that follows it."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
