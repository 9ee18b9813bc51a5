"""Random access to an object of a store: one request per read, except for parts in memory."""

import io
from collections.abc import Callable, Sequence

import pyarrow as pa

ReadRange = Callable[[int, int], bytes]
"""Reads the bytes [offset, offset + length) of an object."""
Part = tuple[int, bytes]
"""An offset in an object and the bytes from there."""


class ObjectReader(io.RawIOBase):
    """A file object over an object.

    Args:
        read_range: sends the requests.
        size: of the object.
        parts: parts that are already in memory.
    """

    def __init__(self, read_range: ReadRange, size: int, parts: Sequence[Part] = ()) -> None:
        super().__init__()
        self._read_range = read_range
        self._size = size
        self._position = 0
        self._parts = tuple(parts)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def size(self) -> int:
        """Return the size of the object."""
        return self._size

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, all that are left if it is negative."""
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._bytes(self._position, wanted)
        self._position += len(data)
        return data

    def _bytes(self, offset: int, length: int) -> bytes:
        for start, data in self._parts:
            if start <= offset and offset + length <= start + len(data):
                return data[offset - start : offset - start + length]
        return self._read_range(offset, length)


def open_object(read_range: ReadRange, size: int, parts: Sequence[Part] = ()) -> pa.NativeFile:
    """Open an object for random access; one that is in memory needs no Python for its reads."""
    for start, data in parts:
        if start == 0 and len(data) == size:
            return pa.BufferReader(data)
    return pa.PythonFile(ObjectReader(read_range, size, parts), mode="r")
